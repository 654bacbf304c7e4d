"""Is the key in CRYP the one that the call's context was given, and if not, why not?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cryplab.observe.contexts import Call, ReadMemory
from cryplab.observe.shadow.base import Stamp, from_words, to_words
from cryplab.observe.shadow.cryp import KEY_NAMES, CrypShadow

__all__ = ["Verdict", "expected_key", "judge_key"]

Why = Literal[
    "right", "unknown", "other", "size", "never", "reset", "late", "zero", "reversed", "misplaced", "old", "differs"
]
WORD_BYTES = 4


@dataclass(slots=True)
class Verdict:
    """`names` and `words` are the key registers in force; `writer` who wrote the first of them that matters."""

    why: Why
    names: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    writer: Stamp | None = None


RIGHT = Verdict("right")


def expected_key(call: Call, algorithm: str) -> bytes | None:
    """The key of the call's context as the block's key registers should hold it; None when not known."""
    key = call.object.key
    if not key:
        return None
    if algorithm == "TDES" and len(key) == 8:
        return key * 3
    if algorithm == "TDES" and len(key) == 16:
        return key + key[:8]
    return key


def judge_key(shadow: CrypShadow, call: Call | None, read_memory: ReadMemory) -> Verdict:
    """Compare the key registers that the mode needs with the key that the call's context was given.

    Made once for each use of the block: rules ask one after the other.
    """
    known = shadow.verdict
    if not isinstance(known, Verdict):
        known = shadow.verdict = _judge(shadow, call, read_memory)
    return known


def _judge(shadow: CrypShadow, call: Call | None, read_memory: ReadMemory) -> Verdict:
    if call is not None and call.object.key and _holds(shadow, call):
        return RIGHT
    span = shadow.key_span
    words = [shadow.key[i] for i in span]
    stamps = [shadow.key_stamps[i] for i in span]
    verdict = Verdict("right", [KEY_NAMES[i] for i in span], words)
    written = [s for s in stamps if s is not None]
    verdict.writer = written[0] if written else None
    key = expected_key(call, shadow.mode[0]) if call else None
    if call is None or key is None:
        strangers = [s for s in written if call and s.call and not call.related(s.call)]
        if strangers:
            verdict.why, verdict.writer = "other", strangers[0]
        else:
            verdict.why = "never" if len(written) < len(stamps) else "unknown"
        return verdict
    wanted = to_words(key)
    if tuple(words) == wanted:
        return verdict
    strangers = [s for s in written if s.call and s.call.object is not call.object and s.call.object.address]
    if strangers:
        verdict.why, verdict.writer = "other", strangers[0]
    elif len(written) < len(stamps):
        verdict.why = _missing(shadow, wanted)
    else:
        verdict.why = _own_fault(shadow, call, wanted, words, written[0], read_memory)
    return verdict


def _holds(shadow: CrypShadow, call: Call) -> bool:
    """The quick way to the usual answer."""
    span, known = shadow.key_span, call.object.key_words
    place = (shadow.mode[0], span.start)
    wanted = known.get(place)
    if wanted is None:
        wanted = known[place] = list(to_words(expected_key(call, shadow.mode[0]) or b""))
    return len(wanted) == len(span) and shadow.key[span.start : span.stop] == wanted


def _missing(shadow: CrypShadow, wanted: tuple[int, ...]) -> Why:
    if tuple(shadow.key[: len(wanted)]) == wanted:
        return "misplaced"
    return "reset" if shadow.reset_by is not None else "never"


def _own_fault(
    shadow: CrypShadow,
    call: Call,
    wanted: tuple[int, ...],
    words: list[int],
    writer: Stamp,
    read_memory: ReadMemory,
) -> Why:
    target = call.object
    now = read_memory(target.key_pointer, len(wanted) * WORD_BYTES)
    if now is not None and now == from_words(words) and now != from_words(list(wanted)):
        return "late"
    if not any(words):
        return "zero"
    if len(words) != len(wanted):
        return "size"
    if tuple(int.from_bytes(w.to_bytes(WORD_BYTES, "little"), "big") for w in words) == wanted:
        return "reversed"
    if tuple(words[::-1]) == wanted:
        return "reversed"
    if tuple(shadow.key[: len(wanted)]) == wanted:
        return "misplaced"
    if target.set_by is not None and writer.cycle < target.set_by.entry.cycle:
        return "old"
    return "differs"
