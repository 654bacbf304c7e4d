"""The DMA controller by reads and writes, on a bus of bytes with a word port at 0x50060000."""

from __future__ import annotations

import pytest

from cryplab.blocks.dma_v2 import DmaV2
from cryplab.errors import Unreachable
from cryplab.wires import DmaRequest

PORT, RAM, CCM = 0x5006_0000, 0x2000_0000, 0x1000_0000
LISR, HISR, LIFCR, HIFCR = 0x00, 0x04, 0x08, 0x0C
CR, NDTR, PAR, M0AR, M1AR, FCR = 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24
EN, TEIE, HTIE, TCIE = 1 << 0, 1 << 2, 1 << 3, 1 << 4
M2P, M2M, CIRC, PINC, MINC, DBM, CT = 1 << 6, 2 << 6, 1 << 8, 1 << 9, 1 << 10, 1 << 18, 1 << 19
P8, P16, P32, M8, M16, M32 = 0, 1 << 11, 2 << 11, 0, 1 << 13, 2 << 13
MBURST4, DMDIS, FULL = 1 << 23, 1 << 2, 3
FE, TE, HT, TC = 1, 8, 16, 32
SHIFT = (0, 6, 16, 22)


class Bus:
    """Bytes of RAM, and a port that takes and gives words."""

    def __init__(self) -> None:
        self.ram = bytearray(1024)
        self.taken: list[tuple[int, int]] = []
        self.gives: list[int] = []

    def master_read(self, address: int, width: int, master: str) -> int:
        if address == PORT:
            return self.gives.pop(0)
        at = self._at(address, width, master)
        return int.from_bytes(self.ram[at : at + width], "little")

    def master_write(self, address: int, value: int, width: int, master: str) -> None:
        if address == PORT:
            self.taken.append((value, width))
            return
        at = self._at(address, width, master)
        self.ram[at : at + width] = value.to_bytes(width, "little")

    def _at(self, address: int, width: int, master: str) -> int:
        if not RAM <= address <= RAM + len(self.ram) - width:
            raise Unreachable(address, master)
        return address - RAM


class Bench:
    """A controller with one wired request, and words for stream registers."""

    def __init__(self, stream: int = 6, channel: int = 2) -> None:
        self.dma = DmaV2("DMA2")
        self.bus = self.dma.bus = Bus()
        self.stream = stream
        self.request = DmaRequest("CRYP.dma_in")
        self.dma.connect(stream, channel, self.request)
        self.channel = channel << 25

    def put(self, register: int, value: int) -> None:
        self.dma.write(register + 0x18 * self.stream, value)

    def get(self, register: int) -> int:
        return self.dma.read(register + 0x18 * self.stream)

    def start(self, cr: int, count: int, memory: int = RAM, port: int = PORT, fcr: int | None = None) -> None:
        self.put(PAR, port)
        self.put(M0AR, memory)
        self.put(NDTR, count)
        if fcr is not None:
            self.put(FCR, fcr)
        self.put(CR, cr | self.channel | EN)

    @property
    def flags(self) -> int:
        return self.dma.read(HISR if self.stream >= 4 else LISR) >> SHIFT[self.stream % 4] & 0x3D


@pytest.mark.parametrize("stream", range(8))
def test_memory_to_peripheral_on_every_stream(stream: int) -> None:
    bench = Bench(stream)
    bench.bus.ram[:8] = bytes(range(8))
    ended = []
    bench.request.on_last = lambda: ended.append(bench.get(NDTR))
    bench.start(M2P | MINC | P32 | M32, 2)
    bench.dma.clock.advance(100)
    assert bench.bus.taken == []
    bench.request.ask(4)
    bench.dma.clock.advance(100)
    assert bench.bus.taken == [(0x0302_0100, 4), (0x0706_0504, 4)]
    assert (bench.get(NDTR), bench.get(CR) & EN, bench.flags) == (0, 0, HT | TC)
    assert ended == [0]
    bench.dma.write(HIFCR if stream >= 4 else LIFCR, 0x3D << SHIFT[stream % 4])
    assert bench.flags == 0


def test_a_request_on_another_channel_moves_nothing() -> None:
    bench = Bench()
    bench.channel = 3 << 25
    bench.start(M2P | MINC | P32 | M32, 1)
    bench.request.ask(1)
    bench.dma.clock.advance(100)
    assert bench.bus.taken == []


def test_peripheral_to_memory() -> None:
    bench = Bench()
    bench.bus.gives = [0x0302_0100, 0x0706_0504, 0x0B0A_0908]
    bench.start(MINC | P32 | M32, 3)
    bench.request.ask(2)
    bench.dma.clock.advance(100)
    assert (bench.get(NDTR), bench.flags) == (1, HT)
    bench.request.ask(1)
    bench.dma.clock.advance(100)
    assert bytes(bench.bus.ram[:12]) == bytes(range(12))
    assert bench.flags == HT | TC


@pytest.mark.parametrize(
    ("cr", "fcr", "words", "cycles"),
    [
        (P32 | M32, 0, 1, 4 + 8),
        (P32 | M32, 0, 4, 4 + 32),
        (P32 | M32 | MBURST4, DMDIS | FULL, 4, 4 + 16 + 8),
    ],
)
def test_time_of_a_request(cr: int, fcr: int, words: int, cycles: int) -> None:
    bench = Bench()
    bench.start(M2P | MINC | cr, 8, fcr=fcr)
    bench.request.ask(words)
    bench.dma.clock.advance(cycles - 1)
    assert bench.get(NDTR) == 8
    bench.dma.clock.advance(1)
    assert bench.get(NDTR) == 8 - words


def test_an_apb_peripheral_costs_the_bridge() -> None:
    bench = Bench()
    bench.dma.frequency = {"HCLK": 168, "PCLK1": 42, "PCLK2": 84}.__getitem__
    taken = []
    bench.bus.master_write = lambda address, value, width, master: taken.append(address)  # type: ignore[method-assign]
    bench.start(M2P | MINC, 1, port=0x4000_4404)
    bench.request.ask(1)
    bench.dma.clock.advance(4 + 8 + 7)
    assert taken == []
    bench.dma.clock.advance(1)
    assert taken == [0x4000_4404]


def test_higher_priority_then_lower_number() -> None:
    dma = DmaV2("DMA2")
    dma.bus = Bus()
    order: list[int] = []
    requests = {}
    for n in (1, 2, 5, 7):
        requests[n] = DmaRequest(f"R{n}")
        dma.connect(n, 0, requests[n])
        requests[n].on_last = lambda n=n: order.append(n)
        dma.write(PAR + 0x18 * n, RAM + 16 * n)
        dma.write(M0AR + 0x18 * n, RAM + 512)
        dma.write(NDTR + 0x18 * n, 1)
    blocker = DmaRequest("R0")
    dma.connect(0, 0, blocker)
    dma.write(PAR, RAM)
    dma.write(M0AR, RAM + 512)
    dma.write(NDTR, 1)
    dma.write(CR, EN)
    blocker.ask(1)  # being served while the others come up
    for n, priority in ((1, 0), (2, 3), (5, 0), (7, 3)):
        dma.write(CR + 0x18 * n, EN | priority << 16)
        requests[n].ask(1)
    dma.clock.advance(1000)
    assert order == [2, 7, 1, 5]


def test_memory_to_memory_needs_no_request() -> None:
    bench = Bench()
    bench.bus.ram[:100] = bytes(range(100))
    bench.start(M2M | PINC | MINC | P32 | M32, 25, memory=RAM + 512, port=RAM, fcr=DMDIS | FULL)
    bench.dma.clock.advance(1000)
    assert bytes(bench.bus.ram[512:612]) == bytes(range(100))
    assert bench.flags == HT | TC


def test_dma1_has_no_memory_to_memory() -> None:
    bench = Bench()
    bench.dma = DmaV2("DMA1", memory_to_memory=False)
    bench.start(M2M | P32 | M32, 1)
    assert bench.flags == TE


@pytest.mark.parametrize(("sizes", "count"), [(P8 | M32, 16), (P16 | M32, 8), (P32 | M8, 4), (P32 | M16, 4)])
def test_fifo_packs_and_unpacks(sizes: int, count: int) -> None:
    bench = Bench()
    bench.bus.ram[:16] = bytes(range(16))
    bench.start(M2P | MINC | sizes, count, fcr=DMDIS | FULL)
    bench.request.ask(count)
    bench.dma.clock.advance(1000)
    assert b"".join(value.to_bytes(width, "little") for value, width in bench.bus.taken) == bytes(range(16))


def test_fifo_keeps_data_until_its_threshold() -> None:
    bench = Bench()
    bench.bus.gives = list(range(1, 7))
    bench.start(MINC | P32 | M32, 6, fcr=DMDIS | FULL)
    bench.request.ask(3)
    bench.dma.clock.advance(100)
    assert bytes(bench.bus.ram[:24]) == bytes(24)
    assert bench.get(FCR) >> 3 & 7 == 3
    bench.request.ask(2)
    bench.dma.clock.advance(100)
    assert bench.bus.ram[0:16:4] == b"\1\2\3\4"
    assert bench.bus.ram[16] == 0
    bench.request.ask(1)
    bench.dma.clock.advance(100)
    assert bench.bus.ram[0:24:4] == b"\1\2\3\4\5\6"
    assert bench.get(FCR) >> 3 & 7 == 4


def test_burst_that_does_not_fit_the_threshold_is_a_fifo_error() -> None:
    bench = Bench()
    bench.put(FCR, 1 << 7 | DMDIS | 1)
    bench.start(M2P | MINC | P32 | M32 | MBURST4, 4)
    assert (bench.flags, bench.get(CR) & EN) == (FE, 0)
    assert bench.dma.stream6.level


def test_circular_mode_starts_over() -> None:
    bench = Bench()
    bench.bus.ram[:8] = bytes(range(8))
    bench.start(M2P | MINC | P32 | M32 | CIRC, 2)
    for _ in range(5):
        bench.request.ask(1)
        bench.dma.clock.advance(50)
    assert [value for value, _ in bench.bus.taken] == [0x0302_0100, 0x0706_0504] * 2 + [0x0302_0100]
    assert (bench.get(NDTR), bench.get(CR) & EN) == (1, EN)


def test_double_buffer_mode_swaps_targets() -> None:
    bench = Bench()
    bench.bus.gives = list(range(1, 9))
    bench.put(M1AR, RAM + 64)
    bench.start(MINC | P32 | M32 | DBM, 2)
    for expected in (0, 0, CT, CT):
        assert bench.get(CR) & CT == expected
        bench.request.ask(1)
        bench.dma.clock.advance(50)
    assert (bytes(bench.bus.ram[0:8:4]), bytes(bench.bus.ram[64:72:4])) == (b"\1\2", b"\3\4")
    bench.put(M1AR, RAM + 128)  # the idle buffer can be exchanged
    bench.request.ask(2)
    bench.dma.clock.advance(50)
    bench.request.ask(1)
    bench.dma.clock.advance(50)
    assert bench.bus.ram[128] == 7


def test_interrupt_lines() -> None:
    bench = Bench()
    line = bench.dma.stream6
    bench.start(M2P | MINC | P32 | M32 | HTIE | TCIE, 4)
    bench.request.ask(2)
    bench.dma.clock.advance(50)
    assert line.level
    bench.dma.write(HIFCR, HT << 16)
    assert not line.level
    bench.request.ask(2)
    bench.dma.clock.advance(50)
    assert line.level


def test_memory_out_of_reach_is_a_transfer_error() -> None:
    bench = Bench()
    bench.start(M2P | MINC | P32 | M32 | TEIE, 4, memory=CCM)
    bench.request.ask(4)
    bench.dma.clock.advance(100)
    assert (bench.flags, bench.get(CR) & EN, bench.get(NDTR)) == (TE, 0, 4)
    assert bench.dma.stream6.level
    [error] = bench.dma.reports.guest_errors.values()
    assert error.text == "DMA2: transfer error on stream 6: DMA2 cannot reach 0x10000000"


def test_injected_error() -> None:
    bench = Bench()
    bench.dma.inject_error(6, after_items=2)
    bench.start(M2P | MINC | P32 | M32, 4)
    bench.request.ask(4)
    bench.dma.clock.advance(100)
    assert (bench.flags, len(bench.bus.taken)) == (TE | HT, 2)


def test_a_running_stream_cannot_be_configured() -> None:
    bench = Bench()
    bench.start(M2P | MINC | P32 | M32, 4)
    for register in (NDTR, PAR, M0AR, M1AR):
        before = bench.get(register)
        bench.put(register, 0x123)
        assert bench.get(register) == before
    bench.put(CR, bench.get(CR) ^ MINC)
    assert bench.get(CR) & MINC
    assert len(bench.dma.reports.guest_errors) == 5


def test_switching_off_early_sets_tcif_and_empties_the_fifo() -> None:
    bench = Bench()
    bench.bus.gives = [1, 2, 3]
    bench.start(MINC | P32 | M32, 8, fcr=DMDIS | FULL)
    bench.request.ask(3)
    bench.dma.clock.advance(100)
    bench.put(CR, bench.get(CR) & ~EN)
    assert bench.bus.ram[0:12:4] == b"\1\2\3"
    assert (bench.get(NDTR), bench.flags) == (5, TC)


def test_enabling_again_takes_the_programmed_count() -> None:
    bench = Bench()
    bench.start(M2P | MINC | P32 | M32, 3)
    bench.request.ask(3)
    bench.dma.clock.advance(100)
    bench.dma.write(HIFCR, 0x3D << 16)
    bench.put(CR, bench.get(CR) | EN)
    assert bench.get(NDTR) == 3


def test_snapshot_in_the_middle_of_a_transfer() -> None:
    bench = Bench()
    bench.bus.ram[:8] = bytes(range(8))
    bench.start(M2P | MINC | P32 | M32, 2)
    bench.request.ask(1)
    clock, state = bench.dma.clock.save(), bench.dma.save()
    bench.dma.clock.advance(100)
    bench.request.words = 1  # the request belongs to another block
    bench.dma.clock.load(clock)
    bench.dma.load(state)
    bench.dma.clock.advance(100)
    assert [value for value, _ in bench.bus.taken] == [0x0302_0100] * 2
