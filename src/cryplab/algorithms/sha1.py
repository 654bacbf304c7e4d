"""SHA-1 (FIPS 180-4): compression with visible chaining value."""

from __future__ import annotations

from struct import unpack

from cryplab.algorithms.chained import ChainedHash, State

__all__ = ["SHA1", "compress_1"]

MASK = 0xFFFF_FFFF
INITIAL = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)


def compress_1(state: State, block: bytes) -> State:
    """The chaining value after one block of 64 bytes."""
    w = list(unpack(">16I", block))
    for t in range(16, 80):
        x = w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]
        w.append((x << 1 | x >> 31) & MASK)
    a, b, c, d, e = state
    for x in w[:20]:
        a, b, c, d, e = (
            ((a << 5 | a >> 27) + (d ^ b & (c ^ d)) + e + 0x5A82_7999 + x) & MASK,
            a,
            b << 30 & MASK | b >> 2,
            c,
            d,
        )
    for x in w[20:40]:
        a, b, c, d, e = (
            ((a << 5 | a >> 27) + (b ^ c ^ d) + e + 0x6ED9_EBA1 + x) & MASK,
            a,
            b << 30 & MASK | b >> 2,
            c,
            d,
        )
    for x in w[40:60]:
        a, b, c, d, e = (
            ((a << 5 | a >> 27) + (b & c ^ d & (b ^ c)) + e + 0x8F1B_BCDC + x) & MASK,
            a,
            b << 30 & MASK | b >> 2,
            c,
            d,
        )
    for x in w[60:]:
        a, b, c, d, e = (
            ((a << 5 | a >> 27) + (b ^ c ^ d) + e + 0xCA62_C1D6 + x) & MASK,
            a,
            b << 30 & MASK | b >> 2,
            c,
            d,
        )
    return tuple((old + new) & MASK for old, new in zip(state, (a, b, c, d, e), strict=True))


SHA1 = ChainedHash("SHA-1", "sha1", 64, 20, 8, "big", INITIAL, compress_1)
