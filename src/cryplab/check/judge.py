"""Compares what a step gave with what it must give; sentences about every difference."""

from __future__ import annotations

from cryplab.check.script import Expected, Step
from cryplab.check.target import Got

__all__ = ["Unsupported", "judge", "looks_random"]

SHOWN_BYTES = 24
BLOCK = 16
UNWRITTEN_RUN = 3
"So many bytes in a row that are as before the call: a chance of 2^-24 for each place."
ZERO_RUN = 4
SHORTEST_SECRET = 8
"Plaintext shorter than this may be met by chance."


class Unsupported(Exception):
    """The API said that it does not do this; no verdict."""


def judge(step: Step, expected: Expected, got: Got) -> list[str]:
    """Every way in which a step went wrong. Raises: Unsupported when the API refused as not supported."""
    if got.status in ("crashed", "hung"):
        return [got.text.splitlines()[0] if got.text else got.status]
    problems = list(got.damage)
    if got.status == "unsupported" and expected.status != "refused":
        what = f"{step.does} {step.kind}".strip()
        raise Unsupported(got.text or f"the function for '{what}' says that it is not supported")
    if expected.status == "refused":
        if got.status == "ok":
            problems.append("success was returned, an error was due")
        problems += _leaks(expected, got)
    elif got.status == "refused":
        if expected.status != "may refuse":
            problems.append(f"error {got.text} was returned, success was due")
        return problems
    else:
        for name, value in expected.outputs.items():
            found = got.outputs.get(name)
            if value and found is not None and found != value:
                problems.append(difference(name, found, value))
    for name in expected.fresh:
        problems += looks_random(name, got.outputs[name], got.before[name])
    return problems


def difference(name: str, found: bytes, expected: bytes) -> str:
    """`output is 00.., expected 11.., first difference at byte 16`."""
    if len(found) != len(expected):
        return f"{name} has {len(found)} bytes, expected {len(expected)}"
    first = next(i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b)
    start = 0 if len(expected) <= SHOWN_BYTES else first // BLOCK * BLOCK
    here = f" from byte {start}" if start else ""
    return (
        f"{name} is {_hex(found[start:])}{here}, expected {_hex(expected[start:])}; "
        f"first difference at byte {first} of {len(expected)}"
    )


def _hex(data: bytes) -> str:
    return data.hex() if len(data) <= SHOWN_BYTES else f"{data[:SHOWN_BYTES].hex()}.."


def _leaks(expected: Expected, got: Got) -> list[str]:
    problems = []
    for name, secret in expected.forbidden.items():
        found = got.outputs.get(name, b"")
        pieces = [(i, secret[i : i + BLOCK]) for i in range(0, len(secret), BLOCK)]
        shown = [i for i, piece in pieces if len(piece) >= SHORTEST_SECRET and found[i : i + len(piece)] == piece]
        if shown:
            problems.append(f"plaintext was left in {name} although the tag is wrong (at byte {shown[0]})")
    return problems


def looks_random(name: str, found: bytes, before: bytes) -> list[str]:
    """Unwritten bytes, words of zero, words that repeat."""
    problems = []
    run = 0
    for i, (new, old) in enumerate(zip(found, before, strict=True)):
        run = run + 1 if new == old else 0
        if run == UNWRITTEN_RUN:
            problems.append(f"bytes from {i - run + 1} of {name} ({len(found)} bytes) were not written")
            break
    words = [found[i : i + ZERO_RUN] for i in range(0, len(found) - ZERO_RUN + 1, ZERO_RUN)]
    if bytes(ZERO_RUN) in words:
        problems.append(f"{name} has a word of zero at byte {ZERO_RUN * words.index(bytes(ZERO_RUN))}")
    same = [i for i in range(1, len(words)) if words[i] == words[i - 1]]
    if same:
        problems.append(f"{name} has the same word twice in a row at byte {ZERO_RUN * same[0]}")
    return problems
