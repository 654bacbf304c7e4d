"""Debug and trace blocks of Cortex-M that firmware touches itself: DWT, ITM, TPIU, core debug.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), C1.
"""

from __future__ import annotations

from collections.abc import Callable

from cryplab.clock import Clock
from cryplab.registers import Block, Reg, RegArray, r, rs, rw, w
from cryplab.reports import Reports

__all__ = ["CoreDebug", "Dwt", "Itm", "Tpiu"]

WORD = 0xFFFF_FFFF


class CoreDebug(Block):
    """Core debug registers as firmware sees them; no debugger is attached, so C_DEBUGEN stays 0."""

    size = 0x10

    class DHCSR(Reg, at=0x00):
        """debug halting control and status register"""

        S_REGRDY = r(16, "register transfer done")
        C_DEBUGEN = r(0, "a debugger is attached")

    class DCRSR(Reg, at=0x04):
        """debug core register selector register"""

        REGSEL = w(6, 0, "register", modelled=False)

    class DCRDR(Reg, at=0x08):
        """debug core register data register"""

        DATA = rw(31, 0, "data")

    class DEMCR(Reg, at=0x0C):
        """debug exception and monitor control register"""

        TRCENA = rw(24, "DWT and ITM enable")
        MON_EN = rw(16, "DebugMonitor exception enable", modelled=False)
        VECTORCATCH = rw(10, 0, "halt on exceptions; without a debugger nothing happens")

    dhcsr: DHCSR
    dcrsr: DCRSR
    dcrdr: DCRDR
    demcr: DEMCR

    def __init__(self, name: str | None = None, *, clock: Clock | None = None, reports: Reports | None = None) -> None:
        self.on_trace_enable: Callable[[], None] | None = None
        super().__init__(name, clock=clock, reports=reports)

    @DEMCR.being_written
    def before_enable(self, value: int) -> int:
        """The cycle counter counts up to here."""
        if self.on_trace_enable:
            self.on_trace_enable()
        return value


class Dwt(Block):
    """Data watchpoint and trace unit: the cycle counter.

    CYCCNT counts core cycles while CTRL.CYCCNTENA and DEMCR.TRCENA are 1, exact to the access that reads it.

    Departures: the other counters stand still; comparators are remembered and match nothing.
    """

    size = 0x1000

    class CTRL(Reg, at=0x00, reset=0x4000_0000):
        """control register"""

        NUMCOMP = r(31, 28, "number of comparators")
        EVENTS = rw(22, 16, "event generation enables", modelled=False)
        PCSAMPLENA = rw(12, "program counter samples", modelled=False)
        SYNCTAP = rw(11, 10, "synchronisation tap")
        CYCTAP = rw(9, "POSTCNT tap")
        POSTINIT = rw(8, 5, "POSTCNT start")
        POSTPRESET = rw(4, 1, "POSTCNT reload")
        CYCCNTENA = rw(0, "cycle counter enable")

    class CYCCNT(Reg, at=0x04):
        """cycle count register"""

        COUNT = rw(31, 0, "cycles, modulo 2^32")

    class EVENTCNT(Reg, at=0x08, array=5, names=("CPICNT", "EXCCNT", "SLEEPCNT", "LSUCNT", "FOLDCNT")):
        """event counters"""

        COUNT = rw(7, 0, "stands still")

    class PCSR(Reg, at=0x1C):
        """program counter sample register"""

        SAMPLE = r(31, 0, "0: not sampled")

    class COMP(Reg, at=0x20, array=4, step=16):
        """comparator register"""

        COMP = rw(31, 0, "reference")

    class MASK(Reg, at=0x24, array=4, step=16):
        """comparator mask register"""

        MASK = rw(4, 0, "bits that do not count")

    class FUNCTION(Reg, at=0x28, array=4, step=16):
        """comparator function register"""

        FUNCTION = rw(3, 0, "what happens on a match", modelled=False)

    class LAR(Reg, at=0xFB0):
        """lock access register"""

        KEY = w(31, 0, "0xC5ACCE55 unlocks; there is no lock")

    ctrl: CTRL
    cyccnt: CYCCNT
    eventcnt: RegArray[EVENTCNT]
    pcsr: PCSR
    comp: RegArray[COMP]
    mask: RegArray[MASK]
    function: RegArray[FUNCTION]
    lar: LAR

    saved = ("_count", "_since")

    def __init__(
        self,
        name: str | None = None,
        *,
        clock: Clock | None = None,
        reports: Reports | None = None,
        debug: CoreDebug | None = None,
    ) -> None:
        self._debug = debug
        super().__init__(name, clock=clock, reports=reports)
        if debug:
            debug.on_trace_enable = self._follow

    def on_reset(self) -> None:
        """Count 0."""
        self._count, self._since = 0, self.clock.now

    def _follow(self) -> None:
        now = self.clock.now
        if self.ctrl.CYCCNTENA and (self._debug is None or self._debug.demcr.TRCENA):
            self._count += now - self._since
        self._since = now

    @CTRL.being_written
    def before_control(self, value: int) -> int:
        """Count with the old setting up to now."""
        self._follow()
        return value

    @CYCCNT.being_read
    def read_count(self) -> int:
        """Cycles now."""
        self._follow()
        return self._count & WORD

    @CYCCNT.written
    def set_count(self) -> None:
        """Goes on from here."""
        self._count, self._since = self.cyccnt.value, self.clock.now


class Itm(Block):
    """Instrumentation trace: what is written to stimulus port 0 is text for the console.

    After reset it is enabled, as a trace probe would have it, and its FIFO is always ready.

    Departures: DEMCR.TRCENA need not be set; ports 1 to 31 go nowhere.
    """

    size = 0x1000

    class STIM(Reg, at=0x000, array=32):
        """stimulus port"""

        DATA = rw(31, 0, "written: data to send, 8, 16 or 32 bits; read: bit 0 is 1 when ready")

    class TER(Reg, at=0xE00, reset=WORD):
        """trace enable register"""

        STIMENA = rw(31, 0, "enable of each port")

    class TPR(Reg, at=0xE40):
        """trace privilege register"""

        PRIVMASK = rw(3, 0, "ports for privileged code alone, by eights")

    class TCR(Reg, at=0xE80, reset=1):
        """trace control register"""

        BUSY = r(23, "0: never busy")
        TRACEBUSID = rw(22, 16, "stream number")
        GTSFREQ = rw(11, 10, "global time stamps")
        TSPRESCALE = rw(9, 8, "prescaler of time stamps")
        SWOENA = rw(4, "asynchronous clock for time stamps")
        TXENA = rw(3, "pass on events of DWT")
        SYNCENA = rw(2, "synchronisation packets")
        TSENA = rw(1, "time stamps")
        ITMENA = rw(0, "enable")

    class LAR(Reg, at=0xFB0):
        """lock access register"""

        KEY = w(31, 0, "0xC5ACCE55 unlocks; there is no lock")

    class LSR(Reg, at=0xFB4):
        """lock status register"""

        ACCESS = r(1, "0: not locked")
        PRESENT = r(0, "0: there is no lock")

    stim: RegArray[STIM]
    ter: TER
    tpr: TPR
    tcr: TCR
    lar: LAR
    lsr: LSR

    def __init__(self, name: str | None = None, *, clock: Clock | None = None, reports: Reports | None = None) -> None:
        self.output: Callable[[bytes], None] = lambda data: None
        super().__init__(name, clock=clock, reports=reports)

    def _send(self, port: int, value: int, width: int) -> None:
        if port == 0 and self.tcr.ITMENA and self.ter.value & 1:
            self.output(value.to_bytes(width, "little"))

    @STIM.being_read
    def ready(self, port: int) -> int:
        """The FIFO takes a word."""
        return 1

    @STIM.being_written
    def send_word(self, port: int, value: int) -> None:
        """Four bytes."""
        self._send(port, value, 4)

    def write(self, offset: int, value: int, width: int = 4) -> None:
        """A narrow write to a port sends as many bytes."""
        place = self.place(offset)
        if width < 4 and place is not None and place.reg is self.STIM:
            self._send(place.index, value, width)
        else:
            super().write(offset, value, width)


class Tpiu(Block):
    """Trace port interface: firmware sets it up for SWO; nothing follows, text arrives through ITM anyway."""

    size = 0x1000

    class SSPSR(Reg, at=0x000, reset=0x0000_000B):
        """supported port sizes"""

        SIZES = r(31, 0, "one bit each")

    class CSPSR(Reg, at=0x004, reset=1):
        """current port size"""

        SIZE = rw(31, 0, "one bit")

    class ACPR(Reg, at=0x010):
        """asynchronous clock prescaler"""

        PRESCALER = rw(12, 0, "divider, less 1")

    class SPPR(Reg, at=0x0F0, reset=1):
        """selected pin protocol"""

        TXMODE = rw(1, 0, "protocol", values={0: "parallel", 1: "Manchester", 2: "NRZ"})

    class FFSR(Reg, at=0x300, reset=0x8):
        """formatter and flush status"""

        FTNONSTOP = rs(3, "formatter cannot be stopped")

    class FFCR(Reg, at=0x304, reset=0x102):
        """formatter and flush control"""

        TRIGIN = rw(8, "trigger input")
        ENFCONT = rw(1, "continuous formatting")

    sspsr: SSPSR
    cspsr: CSPSR
    acpr: ACPR
    sppr: SPPR
    ffsr: FFSR
    ffcr: FFCR
