"""GHASH, the universal hash of GCM, one block at a time.

Elements of GF(2^128) are integers whose most significant bit is the coefficient of 1, as SP 800-38D
reads a 16-byte block, most significant byte first.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["ghash", "multiply"]

_ONE_TO_128 = 0xE1 << 120  # x^128 = x^7 + x^2 + x + 1


def _times_x(value: int) -> int:
    return (value >> 1) ^ (_ONE_TO_128 if value & 1 else 0)


def _times_x8(value: int) -> int:
    for _ in range(8):
        value = _times_x(value)
    return value


_OVERFLOW = tuple(_times_x8(byte) for byte in range(256))
"What the low byte becomes when a value is multiplied by x^8."


@lru_cache(maxsize=64)
def _multiples(h: int) -> tuple[int, ...]:
    """Products of `h` with every polynomial of degree below 8; bit 7 of the index is the coefficient of 1."""
    table = [0] * 256
    power = h
    for bit in range(7, -1, -1):
        for low in range(1 << bit, 256, 2 << bit):  # the higher bits vary, the lower are 0
            table[low] = power ^ table[low ^ 1 << bit]
        power = _times_x(power)
    return tuple(table)


def multiply(value: int, h: int) -> int:
    """The product of two elements; fast when `h` is used again."""
    table, overflow = _multiples(h), _OVERFLOW
    product = 0
    for byte in value.to_bytes(16, "little"):
        product = (product >> 8) ^ overflow[product & 0xFF] ^ table[byte]
    return product


def ghash(state: int, block: bytes, h: int) -> int:
    """The state after one more block of 16 bytes."""
    return multiply(state ^ int.from_bytes(block, "big"), h)
