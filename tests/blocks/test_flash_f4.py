"""The flash interface by reads and writes, on a piece of memory."""

from __future__ import annotations

import pytest

from cryplab.blocks.flash_f4 import FlashF4

ACR, KEYR, OPTKEYR, SR, CR, OPTCR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14
KEY1, KEY2 = 0x4567_0123, 0xCDEF_89AB
PG, SER, MER, MER1, STRT, EOPIE, ERRIE, LOCK = 1, 2, 4, 1 << 15, 1 << 16, 1 << 24, 1 << 25, 1 << 31
X8, X32 = 0 << 8, 2 << 8
EOP, OPERR, WRPERR, PGAERR, PGPERR, PGSERR, BSY = 1, 2, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 16
BASE = 0x0800_0000
KIB = 1024


def flash(mib: int = 1, *, unlocked: bool = True) -> FlashF4:
    block = FlashF4("FLASH")
    block.memory = memoryview(bytearray(bytes(mib * KIB * KIB)))
    if unlocked:
        block.write(KEYR, KEY1)
        block.write(KEYR, KEY2)
    return block


def snb(number: int) -> int:
    return number << 3


def errors(block: FlashF4) -> list[str]:
    return [e.text for e in block.reports.guest_errors.values()]


def test_access_control_is_told() -> None:
    block, told = flash(), []
    block.on_access_control = lambda *setting: told.append(setting)
    block.write(ACR, 5 | 7 << 8)
    assert told == [(5, True, True, True)]
    assert block.read(ACR) == 0x705


def test_cache_reset_while_the_cache_is_on_is_a_guest_error() -> None:
    block = flash()
    block.write(ACR, 1 << 9 | 1 << 11)
    assert block.read(ACR) == 1 << 9
    assert errors(block) == ["FLASH.ACR.ICRST set while ICEN=1; the cache is not reset"]


def test_locked_until_both_keys() -> None:
    block = flash(unlocked=False)
    assert block.read(CR) == LOCK
    block.write(CR, PG)
    assert block.read(CR) == LOCK
    assert "while LOCK=1; ignored" in errors(block)[0]
    block.write(KEYR, KEY1)
    assert block.read(CR) == LOCK
    block.write(KEYR, KEY2)
    assert block.read(CR) == 0
    block.write(CR, LOCK)
    assert block.read(CR) == LOCK


def test_a_wrong_key_locks_until_reset() -> None:
    block = flash(unlocked=False)
    block.write(KEYR, KEY2)
    assert errors(block) == ["FLASH.KEYR got 0xcdef89ab, expected 0x45670123; locked until reset"]
    for _ in range(2):
        block.write(KEYR, KEY1)
        block.write(KEYR, KEY2)
    assert block.read(CR) == LOCK
    block.reset()
    block.write(KEYR, KEY1)
    block.write(KEYR, KEY2)
    assert block.read(CR) == 0


@pytest.mark.parametrize(
    ("sector", "offset", "size", "milliseconds"),
    [(0, 0, 16, 250), (3, 48, 16, 250), (4, 64, 64, 550), (5, 128, 128, 1000), (11, 896, 128, 1000)],
)
def test_sector_erase(sector: int, offset: int, size: int, milliseconds: int) -> None:
    block, told = flash(), []
    block.on_changed = lambda *place: told.append(place)
    block.write(CR, SER | X32 | snb(sector))
    block.write(CR, SER | X32 | snb(sector) | STRT)
    assert told == [(BASE + offset * KIB, size * KIB)]
    assert bytes(block.memory).count(0xFF) == size * KIB
    assert set(block.memory[offset * KIB : (offset + size) * KIB]) == {0xFF}
    assert block.clock.now == milliseconds * 16_000
    assert block.read(CR) & STRT == 0


def test_erase_in_bank_2_runs_beside_the_core() -> None:
    block = flash(mib=2)
    block.write(CR, SER | EOPIE | snb(16) | X32 | STRT)
    assert block.clock.now == 0
    assert block.read(SR) == BSY
    block.write(CR, PG)
    assert "while SR.BSY=1; ignored" in errors(block)[0]
    block.clock.advance(250 * 16_000)
    assert block.read(SR) == EOP
    assert block.irq.level
    block.write(SR, EOP)
    assert not block.irq.level
    assert set(block.memory[1024 * KIB : 1040 * KIB]) == {0xFF}


@pytest.mark.parametrize(("bits", "start", "end"), [(MER, 0, 1), (MER1, 1, 2), (MER | MER1, 0, 2)])
def test_mass_erase(bits: int, start: int, end: int) -> None:
    block = flash(mib=2)
    block.write(CR, bits | X32 | STRT)
    assert bytes(block.memory).count(0xFF) == (end - start) * 1024 * KIB
    assert block.memory[start * 1024 * KIB] == 0xFF


def test_erase_of_a_sector_that_is_not_there() -> None:
    block = flash()
    block.write(CR, SER | snb(12) | STRT)
    assert block.read(SR) == PGSERR
    assert bytes(block.memory).count(0xFF) == 0


def test_programming_only_clears_bits() -> None:
    block = flash()
    block.write(CR, SER | X32 | STRT)
    block.write(CR, PG | X32)
    block.program(BASE + 8, 0x1234_5678, 4)
    assert bytes(block.memory[8:12]) == bytes.fromhex("78563412")
    block.program(BASE + 8, 0xFF00_FF00, 4)
    assert bytes(block.memory[8:12]) == bytes.fromhex("00560012")
    assert block.read(SR) == 0


def test_programming_takes_16_microseconds_and_tells() -> None:
    block, told = flash(), []
    block.on_changed = lambda *place: told.append(place)
    block.write(CR, PG | X8 | EOPIE)
    block.program(BASE + 3, 0x00, 1)
    assert block.clock.now == 256
    assert told == [(BASE + 3, 1)]
    assert block.read(SR) == EOP


@pytest.mark.parametrize(
    ("cr", "address", "width", "flag"),
    [
        (0, BASE, 1, PGSERR),
        (0, 0, 4, PGSERR),
        (PG | X8, BASE, 4, PGPERR),
        (PG | X32, BASE, 2, PGPERR),
        (PG | X32, BASE + 14, 4, PGAERR),
    ],
)
def test_programming_errors_change_nothing(cr: int, address: int, width: int, flag: int) -> None:
    block = flash()
    block.memory[:32] = b"\xff" * 32
    block.write(CR, cr | ERRIE)
    block.program(address, 0, width)
    assert block.read(SR) == flag | OPERR
    assert block.irq.level
    assert bytes(block.memory[:32]) == b"\xff" * 32
    block.write(SR, flag | OPERR)
    assert block.read(SR) == 0


def test_write_protection_by_option_bytes() -> None:
    block = flash()
    block.write(OPTCR, 0)
    assert "OPTLOCK=1; ignored" in errors(block)[0]
    block.write(OPTKEYR, 0x0819_2A3B)
    block.write(OPTKEYR, 0x4C5D_6E7F)
    block.write(OPTCR, block.read(OPTCR) & ~(1 << 17))
    block.write(CR, SER | snb(1) | STRT)
    assert block.read(SR) == WRPERR
    block.write(SR, WRPERR)
    block.write(CR, PG)
    block.program(BASE + 16 * KIB, 0, 1)
    assert block.read(SR) == WRPERR
    block.program(BASE + 32 * KIB, 0, 1)
    assert block.memory[32 * KIB] == 0
