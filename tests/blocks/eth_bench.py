"""An Ethernet block alone: memory at 0x20000000, a wire of two lists, descriptors as a driver writes them."""

from __future__ import annotations

from cryplab.blocks.eth_v1 import EthV1
from cryplab.blocks.phy import Lan8742A, Phy
from cryplab.errors import Unreachable

RAM, RAM_BYTES = 0x2000_0000, 0x10000
TX_RING, RX_RING, BUFFERS = RAM + 0x1000, RAM + 0x2000, RAM + 0x4000
BUFFER_BYTES = 1536
MACCR, MACFFR, MACHTHR, MACHTLR, MACMIIAR, MACMIIDR, MACFCR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18
MACPMTCSR, MACDBGR, MACSR, MACIMR, MACA0HR, MACA0LR, MACA1HR, MACA1LR = 0x2C, 0x34, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C
MMCCR, MMCRIR, MMCTIR, MMCTIMR, TGFCR, RFCECR, RGUFCR = 0x100, 0x104, 0x108, 0x110, 0x168, 0x194, 0x1C4
TSCR, SSIR, TSHR, TSLR, TSHUR, TSLUR, TSAR = 0x700, 0x704, 0x708, 0x70C, 0x710, 0x714, 0x718
DMABMR, DMATPDR, DMARPDR, DMARDLAR, DMATDLAR, DMASR = 0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1014
DMAOMR, DMAIER, DMAMFBOCR, DMARSWTR, DMACHTDR, DMACHRDR = 0x1018, 0x101C, 0x1020, 0x1024, 0x1048, 0x104C
OWN, IC, LS, FS, DC, DP, TTSE, TER, TCH = (1 << n for n in (31, 30, 29, 28, 27, 26, 25, 21, 20))
RER, RCH, DIC = 1 << 15, 1 << 14, 1 << 31
RE, TE, IPCO, DUPLEX, FES = 1 << 2, 1 << 3, 1 << 10, 1 << 11, 1 << 14
SR, ST, TSF, DFRF, RSF, DTCEFD, FEF, OSF = 1 << 1, 1 << 13, 1 << 21, 1 << 24, 1 << 25, 1 << 26, 1 << 7, 1 << 2
STATION = bytes.fromhex("0280e1000001")
OTHER = bytes.fromhex("525400123456")


class Memory:
    """Bytes; everything else is unreachable."""

    def __init__(self) -> None:
        self.ram = bytearray(RAM_BYTES)

    def master_read_bytes(self, address: int, size: int, master: str) -> bytes:
        at = self._at(address, size, master)
        return bytes(self.ram[at : at + size])

    def master_write_bytes(self, address: int, data: bytes, master: str) -> None:
        at = self._at(address, len(data), master)
        self.ram[at : at + len(data)] = data

    @staticmethod
    def _at(address: int, size: int, master: str) -> int:
        if not RAM <= address <= RAM + RAM_BYTES - size:
            raise Unreachable(address, master)
        return address - RAM

    def words(self, address: int, count: int) -> list[int]:
        raw = self.ram[address - RAM : address - RAM + 4 * count]
        return [int.from_bytes(raw[at : at + 4], "little") for at in range(0, len(raw), 4)]

    def put(self, address: int, *words: int) -> None:
        raw = b"".join(word.to_bytes(4, "little") for word in words)
        self.ram[address - RAM : address - RAM + len(raw)] = raw


class Bench:
    """A block with link at 100 Mbit/s full duplex, both processes on, station address set, 16 MHz."""

    def __init__(self, phy: Phy | None = None, *, enhanced: bool = False, mode: int = TSF | RSF) -> None:
        self.eth = EthV1("ETH")
        self.memory = self.eth.bus = Memory()
        self.eth.phy = phy or Lan8742A(0)
        self.sent: list[bytes] = []
        self.eth.transmit = self.sent.append
        self.mode, self.size = mode, 8 if enhanced else 4
        self.eth.clock.advance(40_000)  # the PHY negotiates
        assert not self.get(DMABMR) & 1
        self.put(DMABMR, 0x0002_0100 | enhanced << 7)
        self.put(MACA0HR, int.from_bytes(STATION[4:], "little"))
        self.put(MACA0LR, int.from_bytes(STATION[:4], "little"))
        self.put(MACCR, FES | DUPLEX)

    def put(self, register: int, value: int) -> None:
        self.eth.write(register, value)

    def get(self, register: int) -> int:
        return self.eth.read(register)

    def run(self, cycles: int = 20_000) -> None:
        self.eth.clock.advance(cycles)

    def start(self, more: int = 0) -> None:
        """Both processes on."""
        self.put(MACCR, self.get(MACCR) | RE | TE)
        self.put(DMAOMR, self.mode | SR | ST | more)
        self.run()
        self.put(DMASR, 0x1_E7FF)

    # -- descriptors ---------------------------------------------------------------------------
    def rx_ring(self, count: int = 4, *, chained: bool = True, buffer_bytes: int = BUFFER_BYTES) -> None:
        for n in range(count):
            last = n == count - 1
            at, buffer = self.rx_at(n), self.rx_buffer(n)
            following = self.rx_at((n + 1) % count) if chained else 0
            control = buffer_bytes | (RCH if chained else RER if last else 0)
            self.memory.put(at, OWN, control, buffer, following)
        self.put(DMARDLAR, RX_RING)

    def rx_at(self, n: int) -> int:
        return RX_RING + 4 * self.size * n

    def rx_buffer(self, n: int) -> int:
        return BUFFERS + 0x600 * n

    def rx_give(self, n: int) -> None:
        self.memory.put(self.rx_at(n), OWN)

    def rx(self, n: int) -> tuple[int, bytes]:
        """Status word and the buffer's bytes as far as the frame length goes."""
        status = self.memory.words(self.rx_at(n), 1)[0]
        at = self.rx_buffer(n) - RAM
        return status, bytes(self.memory.ram[at : at + (status >> 16 & 0x3FFF)])

    def tx_at(self, n: int) -> int:
        return TX_RING + 4 * self.size * n

    def tx(self, n: int, data: bytes, control: int = IC | FS | LS, *, count: int = 4, chained: bool = True) -> None:
        """Fill descriptor n of a ring of `count` and hand it over."""
        at, buffer = self.tx_at(n), BUFFERS + 0x8000 + 0x600 * n
        self.memory.master_write_bytes(buffer, data, "test")
        following = self.tx_at((n + 1) % count) if chained else 0
        control |= TCH if chained else TER if n == count - 1 else 0
        self.memory.put(at, OWN | control, len(data), buffer, following)

    def tx_status(self, n: int) -> int:
        return self.memory.words(self.tx_at(n), 1)[0]


def frame(payload: bytes = b"hello", to: bytes = STATION, kind: int = 0x88B5, source: bytes = OTHER) -> bytes:
    """A frame of a type for experiments."""
    return (to + source + kind.to_bytes(2, "big") + payload).ljust(60, b"\0")
