"""DATATYPE: the order in which an engine takes the bits of a data word.

The operation works on each 32-bit word alone and is its own inverse; the order of the words in a
block never changes, the first word is the most significant.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

__all__ = ["Arrange", "arrange", "arranged"]

Arrange = Callable[[bytes], bytes]

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def arrange(datatype: int) -> Arrange | None:
    """What turns words, lowest byte first, into a block's bytes and back; None when they are the same."""
    return ARRANGE[datatype]


def arranged(step: Arrange, change: Arrange | None) -> Arrange:
    """The step from block to block as one from words to words; `change` is what `arrange` gave."""
    if change is None:
        return step
    return lambda words: change(step(change(words)))


def _exchanged(unit: str, data: bytes) -> bytes:
    words = array(unit, data)
    words.byteswap()
    return words.tobytes()


ARRANGE: tuple[Arrange | None, ...] = (
    lambda data: _exchanged("I", data),
    lambda data: _exchanged("H", data),
    None,
    lambda data: data.translate(_REVERSED),
)
"By DATATYPE."
