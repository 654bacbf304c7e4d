"""Makes a failing case small: fewer steps, fewer bytes, no odd places, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cryplab.check.script import ALIGNED, Step

__all__ = ["shrink"]

Steps = tuple[Step, ...]
MOST_TRIES = 400
BLOCKS = (16, 8)
LONG = 4096
"Bytes: data that must be longer than this to fail becomes zeros, which can be written down."


def shrink(steps: Sequence[Step], fails: Callable[[Steps], bool], tries: int = MOST_TRIES) -> Steps:
    """The smallest steps found for which `fails` is True.

    Args:
        steps: of a case that fails.
        fails: runs steps from a fresh start; False for steps that make no sense, too.
        tries: calls of `fails` at most.
    """
    best: Steps = tuple(steps)
    left = tries
    changed = True
    while changed and left > 0:
        changed = False
        for candidate in _smaller(best):
            left -= 1
            if fails(candidate):
                best, changed = candidate, True
                break
            if left <= 0:
                break
    return best


def _smaller(steps: Steps) -> Iterator[Steps]:
    """Boldest first."""
    yield from _without_runs(steps)
    for context in sorted({step.context for step in steps}):
        rest = tuple(
            step for step in steps if step.context != context and (step.does != "clone" or step.source != context)
        )
        if rest and rest != steps:
            yield rest
    for i in range(len(steps) - 1, -1, -1):
        if len(steps) > 1:
            yield steps[:i] + steps[i + 1 :]
    for i, step in enumerate(steps):
        for smaller in _simpler(step):
            yield (*steps[:i], smaller, *steps[i + 1 :])


def _without_runs(steps: Steps) -> Iterator[Steps]:
    size = len(steps) // 2
    while size > 1:
        for start in range(len(steps) - size, -1, -size):
            yield steps[:start] + steps[start + size :]
        size //= 2


def _simpler(step: Step) -> Iterator[Step]:
    if step.place != ALIGNED:
        yield replace(step, place=ALIGNED)
    if step.does == "unseal":  # its tag belongs to its text
        return
    for length in sorted({0, 1, len(step.data) // 2, *BLOCKS, len(step.data) // 16 * 16}):
        if length < len(step.data):
            yield replace(step, data=step.data[:length])
    if len(step.data) > LONG and any(step.data):
        yield replace(step, data=bytes(len(step.data)))
    if step.does in ("seal", "starts") and step.aad:
        yield replace(step, aad=b"")
