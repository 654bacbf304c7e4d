"""The Ethernet block by reads, writes and descriptors, on memory and a wire of its own."""

from __future__ import annotations

import zlib
from itertools import pairwise

import pytest
from eth_bench import (
    BUFFERS,
    DC,
    DFRF,
    DIC,
    DMABMR,
    DMACHTDR,
    DMAIER,
    DMAMFBOCR,
    DMAOMR,
    DMARPDR,
    DMARSWTR,
    DMASR,
    DMATDLAR,
    DMATPDR,
    DTCEFD,
    FES,
    FS,
    IC,
    IPCO,
    LS,
    MACCR,
    MACDBGR,
    MACFCR,
    MACFFR,
    MACHTHR,
    MACHTLR,
    MACSR,
    MMCCR,
    MMCTIMR,
    MMCTIR,
    OTHER,
    OWN,
    RFCECR,
    RGUFCR,
    RSF,
    SSIR,
    ST,
    STATION,
    TER,
    TGFCR,
    TSCR,
    TSF,
    TSHR,
    TSHUR,
    TSLR,
    TSLUR,
    TTSE,
    TX_RING,
    Bench,
    frame,
)  # fmt: skip

from cryplab.blocks.phy import Dp83848
from cryplab.net.frames import ACK, TCP, TYPE_IPV4, UDP, Ethernet, Ipv4, Tcp, Udp, address

TS, TBUS, RS, ROS, RBUS, NIS, AIS = 1 << 0, 1 << 2, 1 << 6, 1 << 4, 1 << 7, 1 << 16, 1 << 15
LINE_64 = 92  # cycles of 8 + 60 + 4 bytes at 100 Mbit/s and 16 MHz


@pytest.fixture(params=[False, True], ids=["normal", "enhanced"])
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(enhanced=request.param)


# -- transmitting ----------------------------------------------------------------------------------
def test_a_frame_is_padded_sent_and_given_back(bench: Bench) -> None:
    bench.tx(0, OTHER + STATION + b"\x88\xb5hello")
    bench.put(DMATDLAR, TX_RING)
    bench.put(DMAIER, NIS | TS)
    bench.start()
    assert bench.sent == [frame(to=OTHER, source=STATION)]
    assert not bench.tx_status(0) & OWN
    assert bench.get(DMACHTDR) == bench.tx_at(1)
    assert bench.get(DMASR) >> 20 & 7 == 6, "suspended: the next descriptor is not owned"
    assert bench.get(TGFCR) == 1


def test_interrupt_and_its_clearing(bench: Bench) -> None:
    bench.put(DMATDLAR, TX_RING)
    bench.put(DMAIER, NIS | TS)
    bench.start()
    bench.tx(0, frame(to=OTHER))
    bench.put(DMATPDR, 0)
    bench.run()
    assert bench.get(DMASR) & (NIS | TS | TBUS) == NIS | TS | TBUS
    assert bench.eth.irq.level
    bench.put(DMASR, NIS)
    assert bench.eth.irq.level, "the cause still stands"
    bench.put(DMASR, NIS | TS)
    assert not bench.eth.irq.level


def test_time_on_the_line() -> None:
    bench = Bench()
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    times: list[int] = []
    bench.eth.transmit = lambda data: times.append(bench.eth.clock.now)
    for n in range(4):
        bench.tx(n, frame(bytes(1000), to=OTHER))
    bench.put(DMATPDR, 0)
    bench.run(200_000)
    per_frame = round((8 + 1014 + 4 + 12) * 8 / 100e6 * 16e6)
    gaps = [after - before for before, after in pairwise(times)]
    assert all(per_frame <= gap <= per_frame + 300 for gap in gaps), (gaps, per_frame)


def test_two_buffers_and_several_descriptors_make_one_frame() -> None:
    bench = Bench()
    head, middle, tail = frame(bytes(range(100)))[:40], bytes(50), b"tail"
    bench.tx(0, head, FS, chained=False)
    bench.tx(1, middle, 0, chained=False)
    bench.tx(2, tail, IC | LS, chained=False)
    buffer_1 = BUFFERS + 0xF000 - 0x4000
    bench.memory.master_write_bytes(buffer_1, b"second buffer", "test")
    words = bench.memory.words(bench.tx_at(0), 4)
    bench.memory.put(bench.tx_at(0), words[0], words[1] | 13 << 16, words[2], buffer_1)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    assert bench.sent == [head + b"second buffer" + middle + tail]
    assert [bench.tx_status(n) & OWN for n in range(3)] == [0, 0, 0]


def test_ring_wraps_and_descriptors_may_lie_apart() -> None:
    bench = Bench()
    bench.put(DMABMR, 0x0002_0100 | 2 << 2)  # DSL: two words between
    bench.size = 6
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    for n in range(7):
        bench.tx(n % 3, frame(bytes((n,))), count=3, chained=False)
        bench.put(DMATPDR, 0)
        bench.run()
    assert [data[14] for data in bench.sent] == list(range(7))
    assert bench.tx_status(2) & TER


def test_own_crc_of_the_driver() -> None:
    bench = Bench()
    data = frame()
    bench.tx(0, data + zlib.crc32(data).to_bytes(4, "little"), IC | FS | LS | DC)
    bench.tx(1, data + b"oops", IC | FS | LS | DC)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    assert bench.sent == [data], "every receiver drops a frame with a wrong CRC"


def test_a_descriptor_out_of_reach_is_a_fatal_bus_error(bench: Bench) -> None:
    bench.put(DMATDLAR, 0x1000_0000)
    bench.put(DMAIER, AIS | 1 << 13)
    bench.start()
    bench.put(DMATDLAR, 0x1000_0000)
    bench.put(DMAOMR, TSF | ST)
    bench.run()
    assert bench.eth.irq.level
    assert bench.get(DMASR) & (1 << 13 | AIS) == 1 << 13 | AIS
    assert bench.get(DMASR) >> 23 & 7 == 0b111, "descriptor, read, transmit"
    [error] = {e.text for e in bench.eth.reports.guest_errors.values()}
    assert error == "ETH: fatal bus error of the transmit DMA: ETH cannot reach 0x10000000"


def ip_frame(protocol: int, payload: bytes) -> bytes:
    packet = Ipv4(address("10.0.2.15"), address("10.0.2.2"), protocol, payload)
    return Ethernet(OTHER, STATION, TYPE_IPV4, packet.encode()).encode()


SAMPLES = {
    "tcp": ip_frame(TCP, Tcp(1, 2, 3, 4, ACK, 5, b"odd").encode(address("10.0.2.15"), address("10.0.2.2"))),
    "udp": ip_frame(UDP, Udp(1, 2, b"data").encode(address("10.0.2.15"), address("10.0.2.2"))),
    "ping": ip_frame(1, bytes.fromhex("0800f7fd00010001")),
}
AT = {"tcp": 50, "udp": 40, "ping": 36}


@pytest.mark.parametrize("kind", SAMPLES)
def test_checksums_are_inserted(kind: str) -> None:
    right = SAMPLES[kind]
    without = bytearray(right)
    without[24:26] = without[AT[kind] : AT[kind] + 2] = b"\0\0"
    bench = Bench()
    bench.tx(0, bytes(without), IC | FS | LS | 3 << 22)
    bench.tx(1, bytes(without), IC | FS | LS | 1 << 22)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    assert bench.sent[0] == right
    assert bench.sent[1][:26] == right[:26]
    assert bench.sent[1][AT[kind] : AT[kind] + 2] == b"\0\0"


def test_checksums_need_store_and_forward() -> None:
    bench = Bench(mode=RSF)
    bench.tx(0, SAMPLES["tcp"], IC | FS | LS | 3 << 22)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    [error] = bench.eth.reports.guest_errors.values()
    assert error.text == "ETH: TDES0.CIC=3 needs DMAOMR.TSF=1; no checksum is inserted"


# -- receiving -------------------------------------------------------------------------------------
@pytest.mark.parametrize("chained", [True, False])
def test_frames_come_into_the_ring(bench: Bench, chained: bool) -> None:
    bench.rx_ring(3, chained=chained)
    bench.put(DMAIER, NIS | RS)
    bench.start()
    for n in range(5):
        bench.eth.receive(frame(bytes((n,))))
        bench.run()
        assert bench.eth.irq.level
        bench.put(DMASR, NIS | RS)
        status, data = bench.rx(n % 3)
        body = frame(bytes((n,)))
        assert data == body + zlib.crc32(body).to_bytes(4, "little")
        assert status & 0xFFFF == 1 << 9 | 1 << 8 | 1 << 5, "first, last, a type"
        bench.rx_give(n % 3)
    assert bench.get(RGUFCR) == 5


def test_a_frame_over_several_buffers() -> None:
    bench = Bench()
    bench.rx_ring(4, buffer_bytes=64)
    bench.start()
    body = frame(bytes(range(150)))
    bench.eth.receive(body)
    bench.run()
    statuses = [bench.memory.words(bench.rx_at(n), 1)[0] for n in range(4)]
    assert [s >> 8 & 3 for s in statuses[:3]] == [2, 0, 1]
    assert statuses[2] >> 16 & 0x3FFF == len(body) + 4
    assert statuses[3] == OWN
    pieces = b"".join(bytes(bench.memory.ram[bench.rx_buffer(n) - 0x2000_0000 :][:64]) for n in range(3))
    assert pieces[: len(body)] == body


def test_cut_when_the_next_descriptor_is_not_free() -> None:
    bench = Bench()
    bench.rx_ring(2, buffer_bytes=64)
    bench.memory.put(bench.rx_at(1), 0)
    bench.start()
    bench.eth.receive(frame(bytes(100)))
    bench.run()
    status, _ = bench.rx(0)
    assert status & (1 << 15 | 1 << 14 | 1 << 8) == 1 << 15 | 1 << 14 | 1 << 8


def test_no_descriptor_loses_frames_and_counts_them() -> None:
    bench = Bench()
    bench.rx_ring(2)
    bench.put(DMAIER, AIS | RBUS)
    bench.start()
    for n in range(4):
        bench.eth.receive(frame(bytes((n,))))
        bench.run()
    assert bench.eth.irq.level
    assert bench.get(DMASR) >> 17 & 7 == 4, "suspended"
    assert bench.get(DMAMFBOCR) == 2
    assert bench.get(DMAMFBOCR) == 0, "cleared by reading"
    bench.rx_give(0)
    bench.eth.receive(frame(b"\x09"))
    bench.run()
    assert bench.rx(0)[1][14] == 9, "the next frame makes the DMA look again"


def test_frames_wait_in_the_fifo_until_it_overflows() -> None:
    bench = Bench(mode=TSF | RSF | DFRF)
    bench.rx_ring(1)
    bench.memory.put(bench.rx_at(0), 0)
    bench.start()
    for n in range(4):
        bench.eth.receive(frame(bytes((n,)) * 900))
        bench.run()
    assert bench.get(DMASR) & (ROS | RBUS) == ROS | RBUS
    assert bench.get(MACDBGR) >> 8 & 3 == 2
    assert bench.get(DMAMFBOCR) >> 17 & 0x7FF == 2, "two of 918 bytes fit"
    for n in range(2):
        bench.rx_give(0)
        bench.put(DMARPDR, 0)
        bench.run()
        assert bench.rx(0)[1][14] == n


def test_receive_watchdog_delays_the_interrupt() -> None:
    bench = Bench()
    bench.rx_ring(2)
    words = bench.memory.words(bench.rx_at(0), 2)
    bench.memory.put(bench.rx_at(0), words[0], words[1] | DIC)
    bench.put(DMARSWTR, 10)
    bench.start()
    bench.eth.receive(frame())
    bench.run(1000)
    assert bench.rx(0)[0] & 1 << 8
    assert not bench.get(DMASR) & RS
    bench.run(2560)
    assert bench.get(DMASR) & RS


def test_broken_frames_are_counted_and_dropped_unless_forwarded() -> None:
    bench = Bench()
    bench.rx_ring(2)
    bench.start()
    bench.eth.receive(frame(), broken=True)
    bench.run()
    assert bench.get(RFCECR) == 1
    assert bench.rx(0)[0] == OWN
    bench.put(DMAOMR, bench.get(DMAOMR) | 1 << 7)
    bench.eth.receive(frame(), broken=True)
    bench.run()
    assert bench.rx(0)[0] & (1 << 15 | 1 << 1) == 1 << 15 | 1 << 1


# -- checksums of received frames ------------------------------------------------------------------
def spoilt(kind: str, at: int) -> bytes:
    data = bytearray(SAMPLES[kind])
    data[at] ^= 0x10
    return b"".join((STATION, OTHER, data[12:]))


ARP = frame(kind=0x0806)
CASES = {  # RM0090, table of the receive descriptor: (FT, IPHCE, PCE), extended status
    "tcp": (spoilt("tcp", 0), (1, 0, 0), 0x42),
    "udp": (spoilt("udp", 0), (1, 0, 0), 0x41),
    "ping": (spoilt("ping", 0), (1, 0, 0), 0x43),
    "payload": (spoilt("tcp", 55), (1, 0, 1), 0x52),
    "header": (spoilt("tcp", 22), (1, 1, 0), 0x48),
    "arp": (ARP, (0, 1, 1), 0x20),
}


@pytest.mark.parametrize("case", CASES)
def test_checksums_are_judged(bench: Bench, case: str) -> None:
    data, normal, extended = CASES[case]
    bench.mode |= DTCEFD
    bench.rx_ring(2)
    bench.put(MACCR, bench.get(MACCR) | IPCO)
    bench.start()
    bench.eth.receive(data)
    bench.run()
    status, _ = bench.rx(0)
    if bench.size == 4:
        assert (status >> 5 & 1, status >> 7 & 1, status & 1) == normal
    else:
        assert status & 1 == (case != "arp")
        if case != "arp":
            assert bench.memory.words(bench.rx_at(0), 5)[4] == extended


def test_frames_with_wrong_payload_checksums_are_dropped() -> None:
    bench = Bench()
    bench.rx_ring(2)
    bench.put(MACCR, bench.get(MACCR) | IPCO)
    bench.start()
    bench.eth.receive(CASES["payload"][0])
    bench.eth.receive(CASES["tcp"][0])
    bench.run()
    assert bench.rx(0)[1][:60] == CASES["tcp"][0]
    assert bench.rx(1)[0] == OWN


# -- filter ----------------------------------------------------------------------------------------
def passes(to: bytes, macffr: int, *, hashes: int = 0, source: bytes = OTHER) -> bool:
    bench = Bench()
    bench.rx_ring(2)
    bench.put(MACFFR, macffr)
    bench.put(MACHTLR, hashes & 0xFFFF_FFFF)
    bench.put(MACHTHR, hashes >> 32)
    bench.start()
    bench.eth.receive(frame(to=to, source=source))
    bench.run()
    return bench.rx(0)[0] != OWN


GROUP = bytes.fromhex("01005e7f0001")


@pytest.mark.parametrize(
    ("to", "macffr", "expected"),
    [
        (STATION, 0, True), (OTHER, 0, False), (OTHER, 1, True), (OTHER, 1 << 31, True),
        (b"\xff" * 6, 0, True), (b"\xff" * 6, 1 << 5, False), (GROUP, 0, False), (GROUP, 1 << 4, True),
        (STATION, 1 << 3, False), (OTHER, 1 << 3, True),
    ],
)  # fmt: skip
def test_the_address_filter(to: bytes, macffr: int, expected: bool) -> None:
    assert passes(to, macffr) is expected


def test_the_hash_filter() -> None:
    # 802.3 CRC-32 of the address sent least significant bit first, its register's upper 6 bits before inversion undone
    register = 0xFFFF_FFFF
    for byte in GROUP:
        for bit in range(8):
            carry = (register >> 31) ^ (byte >> bit & 1)
            register = register << 1 & 0xFFFF_FFFF ^ (0x04C1_1DB7 if carry else 0)
    bit = (register ^ 0xFFFF_FFFF) >> 26
    assert passes(GROUP, 1 << 2, hashes=1 << bit)
    assert not passes(GROUP, 1 << 2, hashes=~(1 << bit) & (1 << 64) - 1)


# -- flow control, counters, loop back, power, time ------------------------------------------------
def test_pause_holds_the_transmitter_back() -> None:
    bench = Bench()
    bench.put(MACFCR, 1 << 2)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    pause = bytes.fromhex("0180c2000001") + OTHER + bytes.fromhex("880800010064")
    bench.eth.receive(pause.ljust(60, b"\0"))
    bench.run(LINE_64 + 10)
    bench.tx(0, frame())
    bench.put(DMATPDR, 0)
    bench.run(100 * 512 * 16 // 100 - 300)
    assert not bench.sent
    bench.run(1000)
    assert len(bench.sent) == 1


def test_a_pause_frame_is_sent_on_demand() -> None:
    bench = Bench()
    bench.start()
    bench.put(MACFCR, 0x1234 << 16 | 1 << 1 | 1)
    [pause] = bench.sent
    assert pause == (bytes.fromhex("0180c2000001") + STATION + bytes.fromhex("880800011234")).ljust(60, b"\0")
    assert not bench.get(MACFCR) & 1


def test_a_counter_at_half_asks_for_an_interrupt() -> None:
    bench = Bench()
    bench.put(MMCCR, 1 << 4)
    assert bench.get(TGFCR) == 0x7FFF_FFF0
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    for n in range(16):
        assert not bench.eth.irq.level
        bench.tx(n % 4, frame())
        bench.put(DMATPDR, 0)
        bench.run()
    assert bench.get(MMCTIR) == 1 << 21
    assert bench.get(MACSR) & (1 << 4 | 1 << 6) == 1 << 4 | 1 << 6
    assert bench.eth.irq.level
    bench.put(MMCTIMR, 1 << 21)
    assert not bench.eth.irq.level
    bench.put(MMCTIMR, 0)
    bench.get(TGFCR)
    assert not bench.eth.irq.level


def test_loop_back_needs_no_link() -> None:
    bench = Bench()
    assert bench.eth.phy is not None
    bench.eth.phy.unplug()
    bench.put(MACCR, bench.get(MACCR) | 1 << 12)
    bench.rx_ring(2)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    bench.tx(0, frame())
    bench.put(DMATPDR, 0)
    bench.run()
    assert bench.rx(0)[1][:60] == frame()
    assert not bench.sent


def test_without_link_nothing_passes_and_a_wrong_speed_is_told() -> None:
    bench = Bench()
    assert bench.eth.phy is not None
    bench.rx_ring(2)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    bench.eth.phy.unplug()
    bench.tx(0, frame())
    bench.put(DMATPDR, 0)
    bench.eth.receive(frame())
    bench.run()
    assert not bench.sent
    assert bench.rx(0)[0] == OWN
    assert not bench.tx_status(0) & OWN, "sent all the same"
    bench.eth.phy.plug(bench.eth.clock.seconds())
    bench.run()
    bench.put(MACCR, bench.get(MACCR) & ~FES)
    bench.eth.receive(frame())
    bench.run()
    [error] = bench.eth.reports.guest_errors.values()
    assert error.text == ("ETH: MACCR.FES says 10 Mbit/s, the PHY has a link of 100 Mbit/s; no frame gets through")


def test_a_magic_packet_wakes() -> None:
    bench = Bench()
    bench.rx_ring(2)
    bench.start()
    bench.put(0x2C, 1 << 1 | 1)
    bench.eth.receive(frame(b"x"))
    bench.run()
    assert not bench.eth.wakeup.level
    bench.eth.receive(frame(b"\xff" * 6 + STATION * 16))
    bench.run()
    assert bench.eth.wakeup.level
    assert bench.eth.irq.level
    assert bench.get(0x2C) & (1 << 5 | 1) == 1 << 5
    assert not bench.eth.irq.level
    assert bench.rx(0)[0] == OWN, "frames are dropped while asleep"


def test_time_stamps(bench: Bench) -> None:
    bench.put(TSCR, 1 << 9 | 1 << 8 | 1)
    bench.put(SSIR, 62)
    bench.put(TSHUR, 1000)
    bench.put(TSLUR, 999_999_000)
    bench.put(TSCR, 1 << 9 | 1 << 8 | 1 << 2 | 1)
    bench.run(100)
    assert (bench.get(TSHR), bench.get(TSLR)) == (1001, 100 * 62 - 1000)
    bench.rx_ring(2)
    bench.put(DMATDLAR, TX_RING)
    bench.tx(0, frame(), IC | FS | LS | TTSE)
    bench.start()
    bench.eth.receive(frame())
    bench.run()
    assert bench.tx_status(0) & 1 << 17
    low = 6 if bench.size == 8 else 2
    sent = bench.memory.words(bench.tx_at(0) + 4 * low, 2)
    taken = bench.memory.words(bench.rx_at(0) + 4 * low, 2)
    assert sent[1] == taken[1] == 1001
    assert sent[0] < taken[0] < 10**9


# -- reset, management bus -------------------------------------------------------------------------
def test_software_reset_takes_its_time_and_the_rest_with_it() -> None:
    bench = Bench()
    bench.put(MACCR, FES)
    bench.put(DMABMR, 1)
    assert bench.get(DMABMR) == 0x0002_0101
    bench.run(1000)
    assert bench.get(DMABMR) == 0x0002_0100
    assert bench.get(MACCR) == 0x8000


def test_without_phy_the_reset_never_ends() -> None:
    bench = Bench()
    bench.eth.phy = None
    bench.put(DMABMR, 1)
    bench.run(1_000_000)
    assert bench.get(DMABMR) & 1
    [error] = bench.eth.reports.guest_errors.values()
    assert error.text == "ETH.DMABMR.SR stays 1: the board has no PHY that would give the MAC its clock"


def mdio(bench: Bench, phy: int, register: int, write: int | None = None, clock: int = 0) -> tuple[int, int]:
    """Returns what was read and the cycles that MB was set."""
    if write is not None:
        bench.put(0x14, write)
    start = bench.eth.clock.now
    bench.put(0x10, phy << 11 | register << 6 | clock << 2 | (write is not None) << 1 | 1)
    while bench.get(0x10) & 1:
        bench.run(10)
    return bench.get(0x14), bench.eth.clock.now - start


def test_management_frames_reach_the_phy() -> None:
    bench = Bench()
    assert mdio(bench, 0, 2)[0] == 0x0007
    assert mdio(bench, 0, 3)[0] & 0xFFF0 == 0xC130
    assert mdio(bench, 1, 2)[0] == 0xFFFF, "nobody there"
    assert 64 * 42 <= mdio(bench, 0, 1, clock=0)[1] < 64 * 42 + 20
    assert 64 * 102 <= mdio(bench, 0, 1, clock=4)[1] < 64 * 102 + 20


def test_the_management_bus_is_busy() -> None:
    bench = Bench()
    bench.put(0x10, 2 << 6 | 1)
    bench.put(0x10, 3 << 6 | 1)
    [error] = bench.eth.reports.guest_errors.values()
    assert error.text == "ETH.MACMIIAR written (0x000000c1) while MB=1; ignored"
    bench.run(10_000)
    assert bench.get(0x14) == 0x0007


def test_a_driver_polls_the_phy_until_the_link_is_up() -> None:
    bench = Bench(Dp83848(1))
    mdio(bench, 1, 0, write=0x8000)
    while mdio(bench, 1, 0)[0] & 0x8000:
        bench.run(100)
    assert mdio(bench, 1, 0)[0] & 1 << 12
    polls = 0
    while not mdio(bench, 1, 1)[0] & 1 << 2:
        polls += 1
    assert polls
    assert mdio(bench, 1, 0x10)[0] & 0b10111 == 0b10101, "link, 100, full, done"


# -- snapshot --------------------------------------------------------------------------------------
def test_a_snapshot_in_the_middle_of_frames(bench: Bench) -> None:
    bench.rx_ring(2)
    bench.put(DMATDLAR, TX_RING)
    bench.start()
    bench.tx(0, frame())
    bench.put(DMATPDR, 0)
    bench.eth.receive(frame(b"in"))
    bench.run(60)
    clock, state, ram = bench.eth.clock.save(), bench.eth.save(), bytes(bench.memory.ram)
    ends = []
    for _ in range(2):
        bench.eth.clock.load(clock)
        bench.eth.load(state)
        bench.memory.ram[:] = ram
        bench.sent.clear()
        bench.run()
        ends.append((bytes(bench.memory.ram), list(bench.sent), bench.get(DMASR)))
    assert ends[0] == ends[1]
    assert ends[0][1] == [frame()]
    assert bench.rx(0)[1][:60] == frame(b"in")
