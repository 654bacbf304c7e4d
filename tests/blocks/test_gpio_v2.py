"""Pins by reads and writes."""

from __future__ import annotations

import pytest

from cryplab.blocks.gpio_v2 import GpioV2

MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFRL, AFRH = range(0, 0x28, 4)
OUTPUT_5 = 1 << 10


@pytest.fixture
def port() -> GpioV2:
    return GpioV2("GPIOB")


def test_reset_values_of_the_debug_port() -> None:
    port = GpioV2("GPIOA", moder=0xA800_0000, ospeedr=0x0C00_0000, pupdr=0x6400_0000)
    assert port.read(MODER) == 0xA800_0000
    port.write(MODER, 0)
    port.reset()
    assert (port.read(MODER), port.read(OSPEEDR), port.read(PUPDR)) == (0xA800_0000, 0x0C00_0000, 0x6400_0000)


def test_bsrr_sets_and_clears_and_setting_wins(port: GpioV2) -> None:
    port.write(BSRR, 0x0000_00F0)
    assert port.read(ODR) == 0xF0
    port.write(BSRR, 0x00F0_0010)
    assert port.read(ODR) == 0x10
    assert port.read(BSRR) == 0


def test_bsrr_by_halves(port: GpioV2) -> None:
    port.write(BSRR, 0x0003, 2)
    port.write(BSRR + 2, 0x0001, 2)
    assert port.read(ODR) == 0x2


def test_output_levels_are_told_when_they_change(port: GpioV2) -> None:
    told: list[tuple[int, int]] = []
    port.on_output = lambda pin, level: told.append((pin, level))
    port.write(MODER, OUTPUT_5)
    port.write(BSRR, 1 << 5)
    port.write(BSRR, 1 << 5)
    port.write(BSRR, 1 << 21)
    assert told == [(5, 0), (5, 1), (5, 0)]


def test_an_input_shows_what_drives_it_or_its_pull(port: GpioV2) -> None:
    assert port.read(IDR) == 0
    port.drive(3, 1)
    assert port.read(IDR) == 8
    port.write(PUPDR, 1 << 4)
    assert port.read(IDR) == 8 | 4
    port.drive(2, 0)
    port.drive(3, None)
    assert port.read(IDR) == 0


def test_an_output_reads_back_and_open_drain_gives_way(port: GpioV2) -> None:
    port.write(MODER, OUTPUT_5)
    port.write(ODR, 1 << 5)
    port.drive(5, 0)
    assert port.read(IDR) == 1 << 5
    port.write(OTYPER, 1 << 5)
    assert port.read(IDR) == 0
    port.drive(5, None)
    assert port.read(IDR) == 1 << 5


def test_input_changes_are_told(port: GpioV2) -> None:
    told: list[tuple[int, int]] = []
    port.on_input = lambda pin, level: told.append((pin, level))
    port.drive(13, 1)
    port.drive(13, 1)
    port.drive(13, 0)
    assert told == [(13, 1), (13, 0)]


def lock(port: GpioV2, pins: int) -> None:
    for word in (1 << 16 | pins, pins, 1 << 16 | pins):
        port.write(LCKR, word)


def test_lock_sequence_freezes_the_configuration(port: GpioV2) -> None:
    lock(port, 0x8001)
    assert port.read(LCKR) == 0x1_8001
    for register in (MODER, OTYPER, OSPEEDR, PUPDR, AFRL, AFRH):
        port.write(register, 0xFFFF_FFFF)
    assert port.read(MODER) == 0x3FFF_FFFC
    assert port.read(OTYPER) == 0x7FFE
    assert port.read(OSPEEDR) == 0x3FFF_FFFC
    assert port.read(PUPDR) == 0x3FFF_FFFC
    assert (port.read(AFRL), port.read(AFRH)) == (0xFFFF_FFF0, 0x0FFF_FFFF)
    port.write(LCKR, 0)
    assert port.read(LCKR) == 0x1_8001
    port.write(ODR, 0xFFFF)
    assert port.read(ODR) == 0xFFFF
    port.reset()
    assert port.read(LCKR) == 0


@pytest.mark.parametrize(
    "words", [(0x1_0001, 0x1, 0x1_0003), (0x1_0001, 0x1_0001, 0x1_0001), (0x1, 0x1_0001, 0x1), (0x1_0001, 0x1, 0x1)]
)
def test_a_broken_lock_sequence_locks_nothing(port: GpioV2, words: tuple[int, ...]) -> None:
    for word in words:
        port.write(LCKR, word)
    port.write(MODER, 1)
    assert port.read(MODER) == 1
