"""The cases of a check, group by group. Every case is made from its title and the seed alone, so it can be made again.

Groups: vectors, zero, lengths, splits, in-place, alignment, edges, continuation, wrap, keys, contexts, clone,
turnaround, tags, aad, ivs, orders, interleave, records, random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cryplab.check.cases.common import LEVELS, Level, Maker
from cryplab.check.script import ONE_DIRECTION, Case, Step, key_kind

__all__ = ["GROUPS", "LEVELS", "Level", "all_cases"]

GROUPS = {
    "vectors": "published vectors: FIPS, SP 800-38, NIST CAVP, RFCs",
    "zero": "empty messages, empty parts, empty additional data",
    "lengths": "every length from 0 to 130, around 1 KiB and 64 KiB",
    "splits": "a message in parts: every split, random splits",
    "in-place": "output over input, where the API allows it",
    "alignment": "key, IV, input, output, tag at odd addresses",
    "edges": "no memory behind the last byte of a buffer",
    "continuation": "IV, counter and offset carried from call to call",
    "wrap": "counters that overflow 32, 64, 128 bits",
    "keys": "other keys and key sizes on the same context",
    "contexts": "contexts freed, reused, while others are open",
    "clone": "a running hash cloned, both go on",
    "turnaround": "encrypt, then decrypt, then encrypt on one context",
    "tags": "wrong tag, text, IV, additional data: refused, no plaintext; tag lengths",
    "aad": "additional data of 0 to 70 and 65280 bytes",
    "ivs": "IVs of other lengths than 12 bytes",
    "orders": "one algorithm right after another, every pair",
    "interleave": "two to twelve contexts in turn",
    "records": "a sequence of TLS records",
    "random": "random numbers: whole buffer, no constant words",
}


def all_cases(level: Level, seed: int, available: Callable[[str], bool] = lambda kind: True) -> Iterator[Case]:
    """Every case whose kinds (`Case.kinds`) are all available; where one direction is not, as much as goes without."""
    from cryplab.check.cases import aead, ciphers, hashes, mixed, published

    make = Maker(level, seed, available)
    for source in (published.cases, ciphers.cases, aead.cases, hashes.cases, mixed.cases):
        yield from (fitted for case in source(make) if (fitted := _fit(case, available)))


def _fit(case: Case, available: Callable[[str], bool]) -> Case | None:
    """The case; all in the direction that can be called when the key's other one cannot; None when it cannot be run."""
    if all(map(available, case.kinds)):
        return case
    if case.published or case.group == "turnaround" or not any(map(available, filter(_sets_key, case.kinds))):
        return None
    case = replace(case, steps=tuple(_one_way(case.steps, available)))
    return case if all(map(available, case.kinds)) else None


def _sets_key(kind: str) -> bool:
    return kind.endswith(" key")


def _one_way(steps: Iterable[Step], available: Callable[[str], bool]) -> Iterator[Step]:
    """Keys in the direction that there is, and the blocks after them."""
    kinds: dict[int, str] = {}
    ways: dict[int, bool] = {}
    for step in steps:
        if step.does == "open":
            kinds[step.context] = step.kind
        elif step.does == "setkey" and kinds[step.context] in ONE_DIRECTION:
            if not available(key_kind(kinds[step.context], len(step.key), step.encrypt)):
                step = replace(step, encrypt=not step.encrypt)
            ways[step.context] = step.encrypt
        elif step.does == "crypt" and step.kind in ("ECB", "CBC"):
            step = replace(step, encrypt=ways[step.context])
        yield step
