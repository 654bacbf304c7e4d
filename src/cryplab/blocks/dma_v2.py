"""DMA controller, version 2 (STM32F2, F4, F7, H7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from cryplab.blocks.dma_v2_registers import STREAMS, DmaV2Registers
from cryplab.clock import Event
from cryplab.errors import Unreachable
from cryplab.wires import DmaRequest

__all__ = ["BusMaster", "DmaV2"]

P_TO_M, M_TO_P, M_TO_M = 0, 1, 2
FE, DME, TE, HT, TC = 1 << 0, 1 << 2, 1 << 3, 1 << 4, 1 << 5
ALL_FLAGS = FE | DME | TE | HT | TC
FLAG_SHIFTS = (0, 6, 16, 22)
FIFO_BYTES = 16
BEATS = (1, 4, 8, 16)
CHUNK_ITEMS = 16  # of a memory to memory transfer between two arbitrations

SERVICE_CYCLES = 4  # a request is seen, arbitrated and answered
MEMORY_CYCLES = 4  # one access: arbitration, address, bus matrix, data
PERIPHERAL_CYCLES = 4
BURST_CYCLES = 2  # memory access inside a burst


class _OnPurpose(Unreachable):
    """The bus error that `inject_error` asked for."""


class BusMaster(Protocol):
    """What the controller needs of the bus; both raise `errors.Unreachable`."""

    def master_read(self, address: int, width: int, master: str) -> int:
        """Read `width` bytes."""

    def master_write(self, address: int, value: int, width: int, master: str) -> None:
        """Write `width` bytes."""


@dataclass(slots=True)
class Stream:
    """What a stream knows beside its registers."""

    peripheral: int = 0
    memory: int = 0
    programmed: int = 0
    "NDTR as software wrote it: circular mode and the next enable take it again."
    half: bool = False
    fifo: bytearray = field(default_factory=bytearray)
    fail_after: int = -1
    "Items until an injected bus error; negative for none."


class DmaV2(DmaV2Registers):
    """Eight streams, eight request channels each, direct and FIFO mode, circular and double buffer mode.

    The machine sets `bus` and calls `connect(stream, channel, request)` for each wire. One request is served at a
    time, the stream of highest priority first, of equal ones the lowest number.

    Time in HCLK cycles: 4 to answer a request, then 4 for each access on either port, 2 for a memory access in a
    burst; an APB peripheral of divider d costs 2 d more.

    Departures: the words that one request stands for move at once when the last of them would have; the two ports do
    not overlap; the FIFO is not filled ahead of requests; a bus error is the only cause of TEIF; DMEIF and
    under- or overrun of the FIFO do not arise; the core is not slowed down by DMA accesses.

    Source: RM0090, DMA chapter; access times from AN4031.
    """

    lines = tuple(f"stream{n}" for n in range(STREAMS))
    saved = ("_streams", "_event", "_chosen")

    def __init__(self, *args: Any, memory_to_memory: bool = True, **kwargs: Any) -> None:
        self.bus: BusMaster | None = None
        self._memory_to_memory = memory_to_memory
        self._wires: dict[tuple[int, int], DmaRequest] = {}
        self._event: Event | None = None
        self._busy = False
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """All streams off."""
        self.clock.cancel(self._event)
        self._event = None
        self._chosen = 0
        self._streams = [Stream() for _ in range(STREAMS)]
        self._update_lines()

    # -- wiring --------------------------------------------------------------------------------
    def connect(self, stream: int, channel: int, request: DmaRequest) -> None:
        """Wire a request to a channel of a stream; a request may have several such places."""
        self._wires[stream, channel] = request
        request.connect(self._arbitrate)

    def inject_error(self, stream: int, after_items: int = 0) -> None:
        """Make the bus fail on a stream after so many items more."""
        self._streams[stream].fail_after = after_items

    def _request(self, n: int) -> DmaRequest | None:
        return self._wires.get((n, self.cr[n].CHSEL))

    # -- flags ---------------------------------------------------------------------------------
    def flags(self, n: int) -> int:
        """The five flags of a stream: FEIF bit 0, DMEIF 2, TEIF 3, HTIF 4, TCIF 5."""
        word = self.hisr.value if n >= 4 else self.lisr.value
        return word >> FLAG_SHIFTS[n % 4] & ALL_FLAGS

    def _raise(self, n: int, bits: int) -> None:
        reg = self.hisr if n >= 4 else self.lisr
        reg.value |= bits << FLAG_SHIFTS[n % 4]
        self._update_lines()

    @DmaV2Registers.LIFCR.written
    def _clear_low(self) -> None:
        self.lisr.value &= ~self.lifcr.value
        self._update_lines()

    @DmaV2Registers.HIFCR.written
    def _clear_high(self) -> None:
        self.hisr.value &= ~self.hifcr.value
        self._update_lines()

    @DmaV2Registers.FCR.written
    def _fifo_setting(self, n: int) -> None:
        self._update_lines()

    def _update_lines(self) -> None:
        for n in range(STREAMS):
            cr, flags = self.cr[n], self.flags(n)
            enabled = cr.DMEIE * DME | cr.TEIE * TE | cr.HTIE * HT | cr.TCIE * TC | self.fcr[n].FEIE * FE
            getattr(self, f"stream{n}").set(flags & enabled)

    # -- stream registers ----------------------------------------------------------------------
    @DmaV2Registers.NDTR.being_written
    def _guard_count(self, n: int, value: int) -> int | None:
        return self._guard(n, "NDTR", value)

    @DmaV2Registers.PAR.being_written
    def _guard_peripheral(self, n: int, value: int) -> int | None:
        return self._guard(n, "PAR", value)

    @DmaV2Registers.M0AR.being_written
    def _guard_memory_0(self, n: int, value: int) -> int | None:
        other = self.cr[n].DBM and self.cr[n].CT == 1
        return value if other else self._guard(n, "M0AR", value)

    @DmaV2Registers.M1AR.being_written
    def _guard_memory_1(self, n: int, value: int) -> int | None:
        other = self.cr[n].DBM and self.cr[n].CT == 0
        return value if other else self._guard(n, "M1AR", value)

    def _guard(self, n: int, register: str, value: int) -> int | None:
        if not self.cr[n].EN:
            return value
        self.guest_error(f"{self.name}.S{n}{register} written ({value:#010x}) while S{n}CR.EN=1; ignored")
        return None

    @DmaV2Registers.NDTR.written
    def _count_written(self, n: int) -> None:
        self._streams[n].programmed = self.ndtr[n].NDT

    @DmaV2Registers.CR.being_written
    def _guard_configuration(self, n: int, value: int) -> int:
        """While the stream is on, only EN and the interrupt enables can change."""
        cr = self.cr[n]
        if not cr.EN:
            if value & self.CR.EN.bits:
                self._prepare(n, value)
            return value
        free = sum(f.bits for f in (self.CR.EN, self.CR.TCIE, self.CR.HTIE, self.CR.TEIE, self.CR.DMEIE))
        if (value ^ cr.value) & ~free & self.CR.plain and value & self.CR.EN.bits:
            self.guest_error(f"{self.name}.S{n}CR: configuration changed while EN=1; ignored")
        if not value & self.CR.EN.bits:
            self._stop_by_software(n)
        return cr.value & ~free | value & free

    def _prepare(self, n: int, value: int) -> None:
        """The stream is about to be enabled: latch addresses and count."""
        stream = self._streams[n]
        if self.flags(n):
            self.guest_error(f"{self.name}: stream {n} enabled while flags of its last transfer are set")
        if not self.ndtr[n].NDT:
            self.ndtr[n].NDT = stream.programmed
        stream.programmed, stream.half = self.ndtr[n].NDT, False
        stream.fifo = bytearray()
        stream.peripheral = self.par[n].PA
        second = self.CR.CT.of(value) and self.CR.DBM.of(value)
        stream.memory = self.m1ar[n].M1A if second else self.m0ar[n].M0A

    @DmaV2Registers.CR.written
    def _configured(self, n: int) -> None:
        cr = self.cr[n]
        if cr.EN and self._fifo_misfit(n):
            cr.EN = 0
            self._raise(n, FE)
        elif cr.EN and cr.DIR == M_TO_M and not self._memory_to_memory:
            self.guest_error(f"{self.name}: stream {n} set to memory to memory, which {self.name} cannot do")
            cr.EN = 0
            self._raise(n, TE)
        self._update_lines()
        self._arbitrate()

    def _fifo_misfit(self, n: int) -> bool:
        """Whether bursts do not fit the FIFO: memory bursts the threshold, peripheral bursts its size."""
        cr, fcr = self.cr[n], self.fcr[n]
        if not fcr.DMDIS:
            return False
        threshold = (fcr.FTH + 1) * FIFO_BYTES // 4
        burst = BEATS[cr.MBURST] << cr.MSIZE
        return bool(cr.MBURST and threshold % burst) or BEATS[cr.PBURST] << cr.PSIZE > FIFO_BYTES

    def _stop_by_software(self, n: int) -> None:
        """EN cleared before the end: what is in the FIFO goes to memory and TCIF rises."""
        if self._chosen == n:
            self.clock.cancel(self._event)
            self._event = None
        if self.ndtr[n].NDT:
            try:
                self._drain(n, self._streams[n], everything=True)
            except Unreachable:
                self._raise(n, TE)
            self._raise(n, TC)

    @DmaV2Registers.FCR.being_read
    def _fifo_level(self, n: int) -> int:
        level = len(self._streams[n].fifo)
        self.fcr[n].FS = 4 if not level else 5 if level >= FIFO_BYTES else level * 4 // FIFO_BYTES
        return self.fcr[n].value

    # -- arbitration and time ------------------------------------------------------------------
    def _wanting(self, n: int) -> int:
        """Items that stream `n` could move now."""
        cr = self.cr[n]
        left = self.ndtr[n].NDT
        if not cr.EN or not left:
            return 0
        if cr.DIR == M_TO_M:
            return min(left, CHUNK_ITEMS)
        request = self._request(n)
        return min(left, request.words) if request else 0

    def _arbitrate(self) -> None:
        """Choose the next stream and let its time pass; nothing while one is being served."""
        if self._event is not None or self._busy:
            return
        wanting = [n for n in range(STREAMS) if self._wanting(n)]
        if wanting:
            self._chosen = max(wanting, key=lambda n: (self.cr[n].PL, -n))
            self._event = self.clock.after(self._cycles(self._chosen), self._serve)

    def _cycles(self, n: int) -> int:
        """HCLK cycles that one service of a stream takes."""
        cr, items = self.cr[n], self._wanting(n)
        direct = not self.fcr[n].DMDIS and cr.DIR != M_TO_M
        memory = MEMORY_CYCLES if direct or not cr.MBURST else BURST_CYCLES
        moved_bytes = items << cr.PSIZE
        memory_items = items if direct else -(-moved_bytes // (1 << cr.MSIZE))
        return SERVICE_CYCLES + items * (PERIPHERAL_CYCLES + self._bridge(self.par[n].PA)) + memory_items * memory

    def _bridge(self, address: int) -> int:
        """What a peripheral behind an APB bridge costs more."""
        if not 0x4000_0000 <= address < 0x4002_0000:
            return 0
        apb = self.frequency("PCLK1" if address < 0x4001_0000 else "PCLK2")
        return 2 * max(1, self.frequency("HCLK") // apb) if apb else 0

    # -- moving --------------------------------------------------------------------------------
    def _serve(self) -> None:
        """Move what the chosen stream's request stands for."""
        self._event = None
        n, self._busy = self._chosen, True
        try:
            for _ in range(self._wanting(n)):
                if not self._wanting(n):
                    break
                self._move(n)
        except Unreachable as error:
            self._fail(n, "" if isinstance(error, _OnPurpose) else str(error))
        finally:
            self._busy = False
        self._arbitrate()

    def _fail(self, n: int, reason: str) -> None:
        """A bus error: the stream is switched off, TEIF rises. `reason` is empty when the guest is not to blame."""
        self.cr[n].EN = 0
        self._streams[n].fifo = bytearray()
        if reason:
            self.guest_error(f"{self.name}: transfer error on stream {n}: {reason}")
        self._raise(n, TE)

    def _move(self, n: int) -> None:
        """One item of PSIZE."""
        cr, stream, width = self.cr[n], self._streams[n], 1 << self.cr[n].PSIZE
        if stream.fail_after == 0:
            stream.fail_after = -1
            raise _OnPurpose(stream.peripheral, self.name)
        stream.fail_after -= stream.fail_after > 0
        if cr.DIR == M_TO_P:
            value = self._fill(n, stream, width)
            self._master().master_write(stream.peripheral, value, width, self.name)
        else:
            value = self._master().master_read(stream.peripheral, width, self.name)
            stream.fifo += value.to_bytes(width, "little")
        if cr.PINC:
            stream.peripheral += 4 if cr.PINCOS else width
        self.ndtr[n].NDT -= 1
        if cr.DIR != M_TO_P:
            self._drain(n, stream, everything=not self.ndtr[n].NDT)
        request = None if cr.DIR == M_TO_M else self._request(n)
        if request:
            request.moved()
        self._after_item(n, stream, request)

    def _master(self) -> BusMaster:
        if self.bus is None:
            raise Unreachable(0, self.name)
        return self.bus

    def _memory_width(self, n: int) -> int:
        """MSIZE; direct mode takes PSIZE on both sides."""
        direct = not self.fcr[n].DMDIS and self.cr[n].DIR != M_TO_M
        return 1 << (self.cr[n].PSIZE if direct else self.cr[n].MSIZE)

    def _fill(self, n: int, stream: Stream, width: int) -> int:
        """Read memory until the FIFO holds an item, and take it."""
        step = self._memory_width(n)
        while len(stream.fifo) < width:
            stream.fifo += self._master().master_read(stream.memory, step, self.name).to_bytes(step, "little")
            stream.memory += step if self.cr[n].MINC else 0
        value = int.from_bytes(stream.fifo[:width], "little")
        del stream.fifo[:width]
        return value

    def _drain(self, n: int, stream: Stream, *, everything: bool) -> None:
        """Write the FIFO to memory once it has reached its threshold, or everything at the end."""
        step = self._memory_width(n)
        threshold = (self.fcr[n].FTH + 1) * FIFO_BYTES // 4 if self.fcr[n].DMDIS else step
        if self.cr[n].DIR == M_TO_P or (len(stream.fifo) < threshold and not everything):
            return
        while len(stream.fifo) >= step or (everything and stream.fifo):
            width = step if len(stream.fifo) >= step else 1
            value = int.from_bytes(stream.fifo[:width], "little")
            del stream.fifo[:width]
            self._master().master_write(stream.memory, value, width, self.name)
            stream.memory += width if self.cr[n].MINC else 0

    def _after_item(self, n: int, stream: Stream, request: DmaRequest | None) -> None:
        cr, left = self.cr[n], self.ndtr[n].NDT
        if not stream.half and left <= stream.programmed // 2:
            stream.half = True
            self._raise(n, HT)
        if left:
            return
        if cr.CIRC or cr.DBM:
            if cr.DBM:
                cr.CT ^= 1
            self.ndtr[n].NDT, stream.half = stream.programmed, False
            stream.peripheral = self.par[n].PA
            stream.memory = self.m1ar[n].M1A if cr.CT and cr.DBM else self.m0ar[n].M0A
        else:
            cr.EN = 0
        if request:
            request.last()
        self._raise(n, TC)
