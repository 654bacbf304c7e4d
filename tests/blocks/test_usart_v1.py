"""The serial port by reads and writes, with time from a clock of its own."""

from __future__ import annotations

import pytest

from cryplab.blocks.usart_v1 import UsartV1

SR, DR, BRR, CR1, CR2, CR3 = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
ORE, IDLE, RXNE, TC, TXE = 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7
UE, M, TE, RE = 1 << 13, 1 << 12, 1 << 3, 1 << 2
TXEIE, TCIE, RXNEIE, IDLEIE = 1 << 7, 1 << 6, 1 << 5, 1 << 4
BIT = 139  # 16 MHz / 115200
FRAME = 10 * BIT


@pytest.fixture
def uart() -> UsartV1:
    block = UsartV1("USART1")
    block.sent = []
    block.transmit = block.sent.append
    block.write(BRR, BIT)
    block.write(CR1, UE | TE | RE)
    return block


def test_polled_send_takes_a_frame_per_byte(uart: UsartV1) -> None:
    for byte in b"hello":
        while not uart.read(SR) & TXE:
            uart.clock.advance(1)
        uart.write(DR, byte)
    while not uart.read(SR) & TC:
        uart.clock.advance(1)
    assert bytes(uart.sent) == b"hello"
    assert uart.clock.now == 5 * FRAME


def test_txe_falls_while_two_bytes_wait_and_tc_waits_for_the_last(uart: UsartV1) -> None:
    assert uart.read(SR) == TXE | TC
    uart.write(DR, 0x41)
    assert uart.read(SR) == TXE
    uart.write(DR, 0x42)
    assert uart.read(SR) == 0
    uart.clock.advance(FRAME)
    assert uart.read(SR) == TXE
    uart.clock.advance(FRAME - 1)
    assert uart.read(SR) == TXE
    uart.clock.advance(1)
    assert uart.read(SR) == TXE | TC


def test_tc_stays_when_sr_was_not_read_before_dr_is_written(uart: UsartV1) -> None:
    uart.write(DR, 0x41)
    assert uart.read(SR) & TC
    uart.write(DR, 0x42)
    assert not uart.read(SR) & TC


def test_status_at_the_access_does_not_wait_for_the_event(uart: UsartV1) -> None:
    uart.write(DR, 0x41)
    uart.clock.source.set_cycles(FRAME)  # time has come, events have not run: in the middle of a basic block
    uart.read(SR)
    assert uart.read(SR) & TC
    uart.clock.run_due()
    assert uart.sent == [0x41]


def test_a_third_byte_overwrites_the_waiting_one_and_is_reported(uart: UsartV1) -> None:
    for byte in b"abc":
        uart.write(DR, byte)
    uart.clock.advance(10 * FRAME)
    assert bytes(uart.sent) == b"ac"
    [error] = uart.reports.guest_errors.values()
    assert error.text == "USART1.DR written while SR.TXE=0; the byte before is lost"


@pytest.mark.parametrize(("setting", "why"), [((CR1, UE), "transmitter is off"), ((BRR, 0), "no baud rate")])
def test_nothing_is_sent_without_transmitter_or_baud_rate(uart: UsartV1, setting: tuple[int, int], why: str) -> None:
    uart.write(*setting)
    uart.write(DR, 0x41)
    uart.clock.advance(10 * FRAME)
    assert uart.sent == []
    assert [why in e.text for e in uart.reports.guest_errors.values()] == [True]


@pytest.mark.parametrize(
    ("cr1", "cr2", "brr", "cycles"),
    [
        (0, 0, 0x683, 10 * 0x683),  # 9600 baud at 16 MHz
        (M, 0, 139, 11 * 139),
        (0, 2 << 12, 139, 11 * 139),
        (1 << 15, 0, 0x0085, 10 * (8 * 8 + 5)),  # 8 samples per bit
    ],
)
def test_frame_time(uart: UsartV1, cr1: int, cr2: int, brr: int, cycles: int) -> None:
    uart.write(CR1, UE | TE | cr1)
    uart.write(CR2, cr2)
    uart.write(BRR, brr)
    assert uart.frame_cycles() == cycles


def test_frame_time_follows_the_bus_clock(uart: UsartV1) -> None:
    uart.frequency = {"HCLK": 168_000_000, "PCLK1": 42_000_000}.__getitem__
    uart.write(BRR, 0x16D)  # 115200 baud at 42 MHz
    assert uart.frame_cycles() == 10 * 0x16D * 4


def test_received_bytes_come_one_frame_apart_and_wait_to_be_read(uart: UsartV1) -> None:
    uart.receive(b"ok")
    assert not uart.read(SR) & RXNE
    uart.clock.advance(FRAME)
    assert uart.read(SR) & RXNE
    uart.clock.advance(100 * FRAME)
    assert uart.read(DR) == ord("o")
    assert not uart.read(SR) & RXNE
    uart.clock.advance(FRAME)
    assert uart.read(DR) == ord("k")
    assert not uart.read(SR) & ORE


def test_an_impatient_sender_overruns(uart: UsartV1) -> None:
    uart.patient = False
    uart.receive(b"ab")
    uart.clock.advance(3 * FRAME)
    assert uart.read(SR) & (ORE | RXNE) == ORE | RXNE
    assert uart.read(DR) == ord("a")
    assert not uart.read(SR) & (ORE | RXNE)


def test_idle_line_after_the_last_byte_is_cleared_by_sr_then_dr(uart: UsartV1) -> None:
    uart.receive(b"x")
    uart.clock.advance(2 * FRAME)
    assert uart.read(SR) & IDLE
    uart.read(DR)
    assert not uart.read(SR) & IDLE


def test_bytes_wait_until_the_receiver_is_on() -> None:
    uart = UsartV1("USART1")
    uart.receive(b"x")
    uart.clock.advance(10 * FRAME)
    uart.write(BRR, BIT)
    uart.write(CR1, UE | RE)
    uart.clock.advance(FRAME)
    assert uart.read(DR) == ord("x")


def test_interrupt_lines(uart: UsartV1) -> None:
    on = UE | TE | RE
    uart.write(CR1, on | TXEIE)
    assert uart.irq.level
    uart.write(CR1, on | RXNEIE)
    assert not uart.irq.level
    uart.receive(b"x")
    uart.clock.advance(FRAME)
    assert uart.irq.level
    uart.read(DR)
    assert not uart.irq.level
    uart.write(CR1, on | TCIE)
    assert uart.irq.level
    uart.write(SR, 0)
    assert not uart.irq.level


def test_dma_requests_follow_txe_and_rxne(uart: UsartV1) -> None:
    uart.write(CR3, 1 << 7 | 1 << 6)
    assert uart.dma_tx.words == 1
    uart.write(DR, 1)
    uart.dma_tx.moved()
    assert uart.dma_tx.words == 1
    uart.write(DR, 2)
    assert uart.dma_tx.words == 0
    uart.clock.advance(FRAME)
    assert uart.dma_tx.words == 1
    assert uart.dma_rx.words == 0
    uart.receive(b"x")
    uart.clock.advance(FRAME)
    assert uart.dma_rx.words == 1


def test_end_of_run_hands_over_what_was_on_its_way(uart: UsartV1) -> None:
    uart.write(DR, 0x41)
    uart.write(DR, 0x42)
    uart.finish()
    assert uart.sent == [0x41, 0x42]


def test_snapshot_in_the_middle_of_a_frame(uart: UsartV1) -> None:
    uart.write(DR, 0x41)
    clock, state = uart.clock.save(), uart.save()
    uart.clock.advance(2 * FRAME)
    uart.clock.load(clock)
    uart.load(state)
    uart.clock.advance(FRAME)
    assert uart.sent == [0x41, 0x41]
    assert uart.clock.now == FRAME
