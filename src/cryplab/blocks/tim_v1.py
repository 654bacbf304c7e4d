"""Timers of STM32F1, F2, F4: general purpose with 32 or 16 bits, and basic."""

from __future__ import annotations

from typing import Any

from cryplab.clock import NEVER, Event
from cryplab.registers import Block, Field, Reg, RegArray, rc_w0, rw, w
from cryplab.served import Status
from cryplab.wires import Line

__all__ = ["TimBasicV1", "TimV1", "TimV1Bits16"]

FULL_16 = 0xFFFF
FULL_32 = 0xFFFF_FFFF
INTERRUPT_BITS = 0x5F  # UIE, CC1IE to CC4IE, TIE in DIER; UIF, CC1IF to CC4IF, TIF in SR


class TimBasicV1(Block):
    """Basic timer (TIM6, TIM7): a 16-bit up-counter with prescaler and update event.

    Counting needs no event of its own: CNT is worked out from the clock when it is read, and the clock is asked to
    call back only for an interrupt or DMA request that software has enabled. Option `kernel`: TIMCLK1 or TIMCLK2.

    Departures: master and slave modes are remembered only; the prescaler's phase restarts when the timer clock
    changes.

    Source: RM0090, chapters Basic timers and General-purpose timers.
    """

    class CR1(Reg, at=0x00):
        """control register 1"""

        ARPE = rw(7, "ARR is buffered until the update event")
        OPM = rw(3, "one pulse: stop at the update event")
        URS = rw(2, "only overflow raises UIF, not UG")
        UDIS = rw(1, "no update events")
        CEN = rw(0, "counter enable")

    class CR2(Reg, at=0x04):
        """control register 2"""

        MMS = rw(6, 4, "trigger output")

    class DIER(Reg, at=0x0C):
        """DMA and interrupt enable register"""

        UDE = rw(8, "DMA request at update", modelled=False)
        UIE = rw(0, "interrupt at update")

    class SR(Reg, at=0x10):
        """status register"""

        UIF = rc_w0(0, "update event happened")

    class EGR(Reg, at=0x14):
        """event generation register"""

        UG = w(0, "update now: counter and prescaler restart")

    class CNT(Reg, at=0x24):
        """counter"""

        CNT = rw(15, 0, "counter value")

    class PSC(Reg, at=0x28):
        """prescaler, taken over at the update event"""

        PSC = rw(15, 0, "divider minus 1")

    class ARR(Reg, at=0x2C, reset=FULL_16):
        """auto-reload register"""

        ARR = rw(15, 0, "last value of the counter")

    cr1: CR1
    cr2: CR2
    dier: DIER
    sr: SR
    egr: EGR
    cnt: CNT
    psc: PSC
    arr: ARR

    irq: Line

    lines = ("irq",)
    loads = {"SR": "_flags", "CNT": "_counter"}
    saved = ("_anchor", "_rest", "_count", "_psc", "_arr", "_ratio", "_event", "_flags", "_counter")

    def __init__(self, *args: Any, kernel: str = "TIMCLK1", **kwargs: Any) -> None:
        self.kernel = kernel
        self._event: Event | None = None
        self._flags, self._counter = Status(), Status()
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """Stopped at 0."""
        self.clock.cancel(self._event)
        self._event = None
        self._flags.until = self._counter.until = 0
        self._anchor = self.clock.now
        "Cycle up to which counting has been worked out."
        self._rest = 0
        "What had passed of the next count at `_anchor`, in units of 1 / `_ratio[1]` cycles."
        self._count = 0
        self._psc, self._arr = 0, self.arr.ARR
        self._ratio = self._rate()
        self.irq.set(False)

    def clock_changed(self) -> None:
        """Count up to now at the old rate, go on at the new one."""
        self._catch_up()
        self._set_rate()
        self._schedule()

    # -- counting ------------------------------------------------------------------------------
    def _rate(self) -> tuple[int, int]:
        """Cycles of a count as a fraction; 0 as numerator while nothing counts."""
        timer, core = self.frequency(self.kernel), self.frequency("HCLK")
        return (core * (self._psc + 1), timer) if timer and core else (0, 1)

    def _set_rate(self) -> None:
        rate = self._rate()
        if rate != self._ratio:
            self._ratio, self._rest = rate, 0

    def _channels(self) -> tuple[tuple[Field, int], ...]:
        """Flag and compare value of each channel that compares."""
        return ()

    def _is_counting(self) -> bool:
        return bool(self.cr1.CEN and self._ratio[0] and self._arr)

    def _catch_up(self) -> None:
        """Bring counter and flags up to the present cycle."""
        now = self.clock.now
        passed, self._anchor = now - self._anchor, now
        if not self._is_counting():
            return
        per_count, scale = self._ratio
        counts, self._rest = divmod(passed * scale + self._rest, per_count)
        while counts:
            counts = self._run(counts)

    def _run(self, counts: int) -> int:
        """Count on; returns what remains when an overflow has changed period or rate."""
        to_overflow = self._to_overflow()
        if counts < to_overflow:
            self._compare(self._count + 1, self._count + counts)
            self._count += counts
            return 0
        counts -= to_overflow
        overrun = self._count > self._arr  # ARR was lowered below the counter: it rolls over without an update
        self._compare(self._count + 1, self.CNT.CNT.mask if overrun else self._arr, overflow=not overrun)
        self._count = 0
        self._compare(0, 0)
        if overrun or self.cr1.UDIS:
            return counts
        rate = self._ratio
        self._update_event()
        self.sr.UIF = 1
        if self.cr1.OPM:
            self.cr1.CEN = 0
            self._rest = 0
            return 0
        if self._ratio != rate:  # a new prescaler counts the rest of the time
            rest = (counts * rate[0] + self._rest) * self._ratio[1] // rate[1]
            counts, self._rest = divmod(rest, self._ratio[0])
        whole, left = divmod(counts, self._arr + 1) if self._arr else (0, 0)
        if whole:
            self._compare(0, self._arr, overflow=True)
        return left

    def _to_overflow(self) -> int:
        last = self._arr if self._count <= self._arr else self.CNT.CNT.mask
        return last - self._count + 1

    def _compare(self, first: int, last: int, *, overflow: bool = False) -> None:
        """Set the flag of each channel whose value the counter passed; one beyond ARR matches at the overflow."""
        for flag, value in self._channels():
            if first <= value <= last or (overflow and value > self._arr):
                self.sr.value |= flag.bits

    def _update_event(self) -> None:
        """Prescaler and auto-reload take over their buffered values."""
        self._psc, self._arr = self.psc.PSC, self.arr.ARR
        self._ratio = self._rate()

    # -- what is due ---------------------------------------------------------------------------
    def _schedule(self) -> None:
        """Ask the clock to call back when the next enabled flag rises; drive the interrupt line."""
        self.clock.cancel(self._event)
        self._event = None
        self._flags.until = self._counter.until = 0
        pending = self.sr.value & self.dier.value & INTERRUPT_BITS
        self.irq.set(bool(pending))
        wanted = self.dier.value & INTERRUPT_BITS & ~self.sr.value
        if (cycle := self._when(wanted)) != NEVER:
            self._event = self.clock.at(cycle, self._due)

    def _when(self, wanted: int) -> int:
        """The cycle at which the first of the wanted flags of SR rises, counted from `_anchor`, which is now."""
        to_overflow = self._to_overflow()
        counts = [to_overflow] if wanted & self.SR.UIF.bits and not self.cr1.UDIS else []
        for flag, value in self._channels():
            if wanted & flag.bits:
                counts.append(self._counts_to(value, to_overflow))
        return self._cycle_after(min(counts)) if counts and self._is_counting() else NEVER

    def _cycle_after(self, counts: int) -> int:
        per_count, scale = self._ratio
        return self._anchor - (self._rest - counts * per_count) // scale

    def _counts_to(self, value: int, to_overflow: int) -> int:
        """Counts until the counter matches a compare value; one beyond ARR matches at an overflow."""
        if self._count < value < self._count + to_overflow:
            return value - self._count
        return to_overflow if value > self._arr else to_overflow + value

    def _due(self) -> None:
        self._event = None
        self._catch_up()
        self._schedule()

    # -- registers -----------------------------------------------------------------------------
    @CNT.being_read
    def _read_count(self) -> int:
        """The core answers until the next count."""
        self._catch_up()
        self._counter.value, self._counter.until = self._count, self._cycle_after(1) if self._is_counting() else NEVER
        return self._count

    @CNT.written
    def _write_count(self) -> None:
        self._catch_up()
        self._count = self.cnt.CNT
        self._schedule()

    @SR.being_read
    def _read_status(self) -> None:
        """The core answers until a flag may rise, or the counter's period may change, which it does with UIF."""
        self._catch_up()
        self._flags.value, self._flags.until = self.sr.value, self._when(INTERRUPT_BITS)

    @CR1.being_written
    @DIER.being_written
    @SR.being_written
    @EGR.being_written
    @PSC.being_written
    @ARR.being_written
    def _before_write(self, value: int) -> int:
        self._catch_up()
        return value

    @CR1.being_read
    def _read_control(self) -> None:
        self._catch_up()  # one pulse mode clears CEN

    @CR1.written
    @DIER.written
    @SR.written
    @PSC.written
    def _after_write(self) -> None:
        self._schedule()

    @ARR.written
    def _write_reload(self) -> None:
        if not self.cr1.ARPE:
            self._arr = self.arr.ARR
        self._schedule()

    @EGR.written
    def _generate(self) -> None:
        if self.egr.UG:
            self._count = self._rest = 0
            if not self.cr1.UDIS:
                self._update_event()
                if not self.cr1.URS:
                    self.sr.UIF = 1
        self._generate_channels()
        self._schedule()

    def _generate_channels(self) -> None:
        """A basic timer has none."""


class TimV1(TimBasicV1):
    """General-purpose timer with a 32-bit counter (TIM2, TIM5) and four output-compare channels.

    Departures: up-counting only; capture inputs, external clocks, slave modes and output pins are remembered only;
    compare values take effect at once, also with OCxPE; no DMA requests.
    """

    class CR1(TimBasicV1.CR1):
        """control register 1"""

        CKD = rw(9, 8, "filter clock divider")
        CMS = rw(6, 5, "centre-aligned mode", modelled=False)
        DIR = rw(4, "count down", modelled=False)

    class CR2(TimBasicV1.CR2):
        """control register 2"""

        TI1S = rw(7, "TI1 is the XOR of three inputs")
        CCDS = rw(3, "capture/compare DMA request at update")

    class SMCR(Reg, at=0x08):
        """slave mode control register"""

        ETP = rw(15, "external trigger inverted")
        ECE = rw(14, "external clock mode 2", modelled=False)
        ETPS = rw(13, 12, "external trigger prescaler")
        ETF = rw(11, 8, "external trigger filter")
        MSM = rw(7, "synchronise with slaves")
        TS = rw(6, 4, "trigger selection")
        SMS = rw(2, 0, "slave mode", modelled=False)

    class DIER(TimBasicV1.DIER):
        """DMA and interrupt enable register"""

        TDE = rw(14, "DMA request at trigger", modelled=False)
        CC4DE = rw(12, "DMA request of channel 4", modelled=False)
        CC3DE = rw(11, "DMA request of channel 3", modelled=False)
        CC2DE = rw(10, "DMA request of channel 2", modelled=False)
        CC1DE = rw(9, "DMA request of channel 1", modelled=False)
        TIE = rw(6, "interrupt at trigger")
        CC4IE = rw(4, "interrupt of channel 4")
        CC3IE = rw(3, "interrupt of channel 3")
        CC2IE = rw(2, "interrupt of channel 2")
        CC1IE = rw(1, "interrupt of channel 1")

    class SR(TimBasicV1.SR):
        """status register"""

        CC4OF = rc_w0(12, "channel 4 captured twice")
        CC3OF = rc_w0(11, "channel 3 captured twice")
        CC2OF = rc_w0(10, "channel 2 captured twice")
        CC1OF = rc_w0(9, "channel 1 captured twice")
        TIF = rc_w0(6, "trigger came")
        CC4IF = rc_w0(4, "counter matched CCR4")
        CC3IF = rc_w0(3, "counter matched CCR3")
        CC2IF = rc_w0(2, "counter matched CCR2")
        CC1IF = rc_w0(1, "counter matched CCR1")

    class EGR(TimBasicV1.EGR):
        """event generation register"""

        TG = w(6, "trigger now")
        CC4G = w(4, "channel 4 event now")
        CC3G = w(3, "channel 3 event now")
        CC2G = w(2, "channel 2 event now")
        CC1G = w(1, "channel 1 event now")

    class CCMR(Reg, at=0x18, array=2, names=("CCMR1", "CCMR2")):
        """capture/compare mode registers of channels 1 and 2, 3 and 4; output view"""

        OC2CE = rw(15, "second channel: clear by ETRF")
        OC2M = rw(14, 12, "second channel: output mode")
        OC2PE = rw(11, "second channel: CCR buffered")
        OC2FE = rw(10, "second channel: fast")
        CC2S = rw(9, 8, "second channel: 0 output, else capture", modelled=False)
        OC1CE = rw(7, "first channel: clear by ETRF")
        OC1M = rw(6, 4, "first channel: output mode")
        OC1PE = rw(3, "first channel: CCR buffered")
        OC1FE = rw(2, "first channel: fast")
        CC1S = rw(1, 0, "first channel: 0 output, else capture", modelled=False)

    class CCER(Reg, at=0x20):
        """capture/compare enable register"""

        CC4NP = rw(15, "channel 4 capture polarity")
        CC4P = rw(13, "channel 4 polarity")
        CC4E = rw(12, "channel 4 output on")
        CC3NP = rw(11, "channel 3 capture polarity")
        CC3P = rw(9, "channel 3 polarity")
        CC3E = rw(8, "channel 3 output on")
        CC2NP = rw(7, "channel 2 capture polarity")
        CC2P = rw(5, "channel 2 polarity")
        CC2E = rw(4, "channel 2 output on")
        CC1NP = rw(3, "channel 1 capture polarity")
        CC1P = rw(1, "channel 1 polarity")
        CC1E = rw(0, "channel 1 output on")

    class CNT(Reg, at=0x24):
        """counter"""

        CNT = rw(31, 0, "counter value")

    class ARR(Reg, at=0x2C, reset=FULL_32):
        """auto-reload register"""

        ARR = rw(31, 0, "last value of the counter")

    class CCR(Reg, at=0x34, array=4, names=("CCR1", "CCR2", "CCR3", "CCR4")):
        """capture/compare registers of the four channels"""

        CCR = rw(31, 0, "value that CNT is compared with")

    class DCR(Reg, at=0x48):
        """DMA control register"""

        DBL = rw(12, 8, "burst length minus 1", modelled=False)
        DBA = rw(4, 0, "first register of a burst")

    class DMAR(Reg, at=0x4C):
        """DMA address for full transfer"""

        DMAB = rw(15, 0, "burst access", modelled=False)

    class OR(Reg, at=0x50):
        """option register"""

        TI4_RMP = rw(7, 6, "TIM5 channel 4 input")
        ITR1_RMP = rw(11, 10, "TIM2 internal trigger 1")

    smcr: SMCR
    ccmr: RegArray[CCMR]
    ccer: CCER
    ccr: RegArray[CCR]
    dcr: DCR
    dmar: DMAR

    def _channels(self) -> tuple[tuple[Field, int], ...]:
        """A channel compares unless CCxS makes it a capture input."""
        first, second = self.ccmr
        captures = (first.CC1S, first.CC2S, second.CC1S, second.CC2S)
        flags = (self.SR.CC1IF, self.SR.CC2IF, self.SR.CC3IF, self.SR.CC4IF)
        return tuple((f, c.value) for f, c, s in zip(flags, self.ccr, captures, strict=True) if not s)

    @CCR.being_written
    @CCMR.being_written
    def _before_channel_write(self, index: int, value: int) -> int:
        return self._before_write(value)

    @CCR.written
    @CCMR.written
    def _after_channel_write(self, index: int) -> None:
        self._schedule()

    def _generate_channels(self) -> None:
        """CCxG sets CCxIF."""
        egr, sr = self.egr, self.sr
        assert isinstance(egr, TimV1.EGR)
        assert isinstance(sr, TimV1.SR)
        sr.CC1IF |= egr.CC1G
        sr.CC2IF |= egr.CC2G
        sr.CC3IF |= egr.CC3G
        sr.CC4IF |= egr.CC4G
        sr.TIF |= egr.TG


class TimV1Bits16(TimV1):
    """General-purpose timer with a 16-bit counter (TIM3, TIM4)."""

    class CNT(Reg, at=0x24):
        """counter"""

        CNT = rw(15, 0, "counter value")

    class ARR(Reg, at=0x2C, reset=FULL_16):
        """auto-reload register"""

        ARR = rw(15, 0, "last value of the counter")

    class CCR(Reg, at=0x34, array=4, names=("CCR1", "CCR2", "CCR3", "CCR4")):
        """capture/compare registers of the four channels"""

        CCR = rw(15, 0, "value that CNT is compared with")

    ccr: RegArray[CCR]  # type: ignore[assignment]
