"""SHA-224 and SHA-256 (FIPS 180-4): compression with visible chaining value."""

from __future__ import annotations

from math import isqrt
from struct import unpack

from cryplab.algorithms.chained import ChainedHash, State

__all__ = ["SHA224", "SHA256", "compress_256"]

MASK = 0xFFFF_FFFF


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return found


def _cube_root(number: int) -> int:
    """Integer part of a cube root."""
    root = 1 << -(-number.bit_length() // 3)
    while root**3 > number:  # Newton's steps, from above
        root = (2 * root + number // root**2) // 3
    return root


# the standard's constants: the first 32 bits of the fractions of primes' cube and square roots
K256 = tuple(_cube_root(p << 96) & MASK for p in _primes(64))
INITIAL_256 = tuple(isqrt(p << 64) & MASK for p in _primes(8))
# SHA-224 starts from the second 32 bits of the fractions of the ninth to sixteenth primes' square roots
INITIAL_224 = tuple(isqrt(p << 128) & MASK for p in _primes(16)[8:])


def compress_256(state: State, block: bytes) -> State:
    """The chaining value after one block of 64 bytes.

    A word is doubled into 64 bits where it is rotated: rotating right is then one shift, and one mask at the
    end of each sum serves for all.
    """
    w = list(unpack(">16I", block))
    for t in range(16, 64):
        x, y = w[t - 15], w[t - 2]
        xx, yy = x << 32 | x, y << 32 | y
        s0 = xx >> 7 ^ xx >> 18 ^ x >> 3
        s1 = yy >> 17 ^ yy >> 19 ^ y >> 10
        w.append((w[t - 16] + s0 + w[t - 7] + s1) & MASK)
    a, b, c, d, e, f, g, h = state
    for k, x in zip(K256, w, strict=True):
        ee, aa = e << 32 | e, a << 32 | a
        t1 = h + (ee >> 6 ^ ee >> 11 ^ ee >> 25) + (g ^ e & (f ^ g)) + k + x
        t2 = (aa >> 2 ^ aa >> 13 ^ aa >> 22) + (a & b ^ c & (a ^ b))
        a, b, c, d, e, f, g, h = (t1 + t2) & MASK, a, b, c, (d + t1) & MASK, e, f, g
    return tuple((old + new) & MASK for old, new in zip(state, (a, b, c, d, e, f, g, h), strict=True))


SHA224 = ChainedHash("SHA-224", "sha224", 64, 28, 8, "big", INITIAL_224, compress_256)
SHA256 = ChainedHash("SHA-256", "sha256", 64, 32, 8, "big", INITIAL_256, compress_256)
