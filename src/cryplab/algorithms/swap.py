"""DATATYPE: the order in which an engine takes the bits of a data word.

The operation works on each 32-bit word alone and is its own inverse; the order of the words in a
block never changes, the first word is the most significant.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache

__all__ = ["codec", "swap"]

Pack = Callable[..., bytes]
Unpack = Callable[[bytes], tuple[int, ...]]

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def swap(word: int, datatype: int) -> int:
    """Reorder one 32-bit word.

    Args:
        word: 32 bits, as written to a data input or read from a data output register.
        datatype: 0 leaves it, 1 exchanges halfwords, 2 reverses bytes, 3 reverses bits.
    """
    if datatype == 1:
        return word >> 16 | word << 16 & 0xFFFF_FFFF
    if datatype >= 2:
        data = word.to_bytes(4, "little")
        return int.from_bytes(data if datatype == 2 else data.translate(_REVERSED), "big")
    return word


@lru_cache(maxsize=16)
def codec(datatype: int, words: int) -> tuple[Pack, Unpack]:
    """Functions from `words` register words to a block's bytes (most significant first) and back."""
    plain = struct.Struct(f">{words}I")
    if datatype == 0:
        return plain.pack, plain.unpack
    if datatype == 2:
        reverse = struct.Struct(f"<{words}I")
        return reverse.pack, reverse.unpack

    def pack(*given: int) -> bytes:
        return plain.pack(*(swap(word, datatype) for word in given))

    def unpack(block: bytes) -> tuple[int, ...]:
        return tuple(swap(word, datatype) for word in plain.unpack(block))

    return pack, unpack
