"""The cases of a check, group by group. Every case is made from its title and the seed alone, so it can be made again.

Groups: vectors, zero, lengths, splits, in-place, alignment, edges, continuation, wrap, keys, contexts, clone,
turnaround, tags, aad, ivs, orders, interleave, records, random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cryplab.check.cases.common import LEVELS, Level, Maker
from cryplab.check.script import Case

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
    """Every case whose kinds (`Case.kinds`) are all available."""
    from cryplab.check.cases import aead, ciphers, hashes, mixed, published

    make = Maker(level, seed, available)
    for source in (published.cases, ciphers.cases, aead.cases, hashes.cases, mixed.cases):
        yield from (case for case in source(make) if all(map(available, case.kinds)))
