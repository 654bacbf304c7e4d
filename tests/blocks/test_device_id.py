"""Identity words as vendor code reads them."""

from __future__ import annotations

from cryplab.blocks.device_id import DeviceIdF4
from cryplab.machine import Machine

BASE = 0x1FFF_7800
UID, FLASH_SIZE, PACKAGE = 0x1FFF_7A10, 0x1FFF_7A22, 0x1FFF_7BF0


def test_words_at_their_addresses() -> None:
    block = DeviceIdF4("DEVICEID", unique_id=(1, 2, 3), flash_kib=2048, package=5)
    assert [block.read(UID - BASE + 4 * n) for n in range(3)] == [1, 2, 3]
    assert block.read(FLASH_SIZE - BASE, 2) == 2048
    assert block.read(PACKAGE - BASE) == 5 << 8
    assert block.read(UID - BASE + 4, 1) == 2


def test_one_time_area_is_blank_and_stays_so() -> None:
    block = DeviceIdF4("DEVICEID")
    block.write(0, 0)
    assert block.read(0) == 0xFFFF_FFFF


def test_another_seed_is_another_chip() -> None:
    """Firmware makes its Ethernet address of the lowest word; two boards on a wire must not have the same."""
    block = DeviceIdF4("DEVICEID", unique_id=(0xFFFF_FFFF, 2, 3))
    block.seed = 1
    block.reset()
    assert [block.read(UID - BASE + 4 * n) for n in range(3)] == [0, 2, 3]
    assert {Machine("nucleo-f439zi", seed=n).bus.read(UID, 4) for n in range(3)} == {0x0041_0028 + n for n in range(3)}
