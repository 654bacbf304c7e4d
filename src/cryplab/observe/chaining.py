"""Chaining values by the definition of CBC and CTR."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryplab.observe.contexts import Call

__all__ = ["COUNTER_BLOCK", "next_value"]

COUNTER_BLOCK = 16


def next_value(call: Call, offset: int | None, read_memory: Callable[[int, int], bytes | None]) -> bytes | None:
    """The chaining value behind a call that has ended, from what it was given and gave; None when it cannot be known.

    Args:
        call: in CBC or CTR, with its IV in `iv_before`.
        offset: bytes of the first counter block's key stream that were used before, None when unknown.
        read_memory: of the guest, as it is now.
    """
    size, length = len(call.iv_before), call.get("length")
    if not length:
        return call.iv_before
    if call.function.mode == "CTR":
        return None if offset is None else _next_counter(call.iv_before, offset, length)
    if length % size:
        return None
    if call.encrypts:
        return read_memory(call.get("output") + length - size, size)
    return call.input_before[-size:] if len(call.input_before) == length else None


def _next_counter(counter: bytes, offset: int, length: int) -> bytes:
    """One increment for each block whose key stream was made."""
    fresh = length - (COUNTER_BLOCK - offset) % COUNTER_BLOCK
    blocks = -(-fresh // COUNTER_BLOCK) if fresh > 0 else 0
    return ((int.from_bytes(counter, "big") + blocks) % (1 << 128)).to_bytes(COUNTER_BLOCK, "big")
