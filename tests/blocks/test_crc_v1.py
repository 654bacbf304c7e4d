"""The CRC unit against a plain CRC-32 and published check values."""

from __future__ import annotations

import random
import zlib

from cryplab.blocks.crc_v1 import CrcV1

DR, IDR, CR = 0x00, 0x04, 0x08


def reflect(word: int) -> int:
    return int(f"{word:032b}"[::-1], 2)


def test_published_value() -> None:
    """CRC-32/MPEG-2 of 0x12345678 as four bytes, most significant first (CRC catalogue algorithm)."""
    crc = CrcV1("CRC")
    crc.write(DR, 0x1234_5678)
    assert crc.read(DR) == 0xDF8A_8A2B


def test_against_zlib() -> None:
    """Ethernet's CRC is the same register reflected and inverted."""
    chance = random.Random(2)
    for length in range(20):
        crc = CrcV1("CRC")
        words = [chance.getrandbits(32) for _ in range(length)]
        for word in words:
            crc.write(DR, word)
        data = b"".join(reflect(word).to_bytes(4, "little") for word in words)
        assert crc.read(DR) == reflect(zlib.crc32(data) ^ 0xFFFF_FFFF)


def test_reset_bit_leaves_the_independent_byte() -> None:
    crc = CrcV1("CRC")
    crc.write(IDR, 0x1AB)
    crc.write(DR, 1)
    crc.write(CR, 1)
    assert (crc.read(DR), crc.read(IDR), crc.read(CR)) == (0xFFFF_FFFF, 0xAB, 0)


def test_a_word_takes_four_cycles() -> None:
    crc = CrcV1("CRC")
    for _ in range(3):
        crc.write(DR, 0)
    assert crc.clock.now == 8
    crc.read(DR)
    assert crc.clock.now == 12


def test_the_independent_byte_by_byte() -> None:
    crc = CrcV1("CRC")
    crc.write(IDR, 0xA5, 1)
    assert crc.read(IDR, 1) == 0xA5
    assert crc.reports.guest_errors == {}


def test_bytes_of_data_are_a_guest_error() -> None:
    crc = CrcV1("CRC")
    crc.write(DR, 1, 1)
    assert crc.read(DR) == 0xFFFF_FFFF
    assert len(crc.reports.guest_errors) == 1
