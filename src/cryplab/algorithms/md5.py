"""MD5 (RFC 1321): compression with visible chaining value.

The words of the chaining value are MD5's own A to D; a digest is their bytes, least significant first.
"""

from __future__ import annotations

import math
from struct import unpack

from cryplab.algorithms.chained import ChainedHash, State

__all__ = ["MD5", "compress_5"]

MASK = 0xFFFF_FFFF
INITIAL = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
SINES = tuple(int(abs(math.sin(i + 1)) * (1 << 32)) for i in range(64))
SHIFTS = ((7, 12, 17, 22) * 4, (5, 9, 14, 20) * 4, (4, 11, 16, 23) * 4, (6, 10, 15, 21) * 4)
ORDERS = tuple(tuple((step * i + start) % 16 for i in range(16)) for step, start in ((1, 0), (5, 1), (3, 5), (7, 0)))
STEPS = tuple(tuple(zip(SHIFTS[n], ORDERS[n], SINES[16 * n : 16 * n + 16], strict=True)) for n in range(4))


def compress_5(state: State, block: bytes) -> State:
    """The chaining value after one block of 64 bytes."""
    x = unpack("<16I", block)
    a, b, c, d = state
    for turn, order, sine in STEPS[0]:
        t = (a + (d ^ b & (c ^ d)) + x[order] + sine) & MASK
        a, b, c, d = d, (b + (t << turn | t >> 32 - turn)) & MASK, b, c
    for turn, order, sine in STEPS[1]:
        t = (a + (c ^ d & (b ^ c)) + x[order] + sine) & MASK
        a, b, c, d = d, (b + (t << turn | t >> 32 - turn)) & MASK, b, c
    for turn, order, sine in STEPS[2]:
        t = (a + (b ^ c ^ d) + x[order] + sine) & MASK
        a, b, c, d = d, (b + (t << turn | t >> 32 - turn)) & MASK, b, c
    for turn, order, sine in STEPS[3]:
        t = (a + (c ^ (b | ~d & MASK)) + x[order] + sine) & MASK
        a, b, c, d = d, (b + (t << turn | t >> 32 - turn)) & MASK, b, c
    return tuple((old + new) & MASK for old, new in zip(state, (a, b, c, d), strict=True))


MD5 = ChainedHash("MD5", "md5", 64, 16, 8, "little", INITIAL, compress_5)
