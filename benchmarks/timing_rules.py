"""What each timing rule is worth: the software benchmark with one rule changed, against the published rows.

    python benchmarks/timing_rules.py [--source MBEDTLS] [--rows GLOBS]

Prints a row of docs/timing.md per change: mean, spread and median error of predicted over published cycles. With the
sources of mbed TLS 2.5.0 the library is that of the published rows, and what is left is rules and compiler.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from unittest.mock import patch

from cryplab import board as boards
from cryplab.bench.formats import lower_is_better
from cryplab.bench.measure import Job, run_job
from cryplab.bench.published import find
from cryplab.cpu import thumb, timing
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.thumb import LOAD, STORE, Decoded
from cryplab.guest.build import build

BOARD = "ublox-c030-u201"
ROWS = "SHA-256,AES-CBC*,AES-CCM*,CTR*,HMAC*,RSA-2048*,ECDH-*"
Cost = Callable[[timing._Walk, Decoded], int]
Change = AbstractContextManager[object]


@contextmanager
def cost(wrap: Callable[[Cost, timing._Walk, Decoded], int]) -> Iterator[None]:
    """Another cost of an instruction; `wrap` gets the true one, the walk and the instruction."""
    true = timing._Walk._cost
    with patch.object(timing._Walk, "_cost", lambda walk, now: wrap(true, walk, now)):
        yield


def as_if_before(true: Cost, walk: timing._Walk, now: Decoded, **changes: object) -> int:
    """The cost with other properties of the instruction before."""
    before, walk.before = walk.before, walk.before._replace(**changes)  # type: ignore[arg-type]
    try:
        return true(walk, now)
    finally:
        walk.before = before


def never_pair(true: Cost, walk: timing._Walk, now: Decoded) -> int:
    return as_if_before(true, walk, now, write_back=True) if walk.before.kind == LOAD else true(walk, now)


def pair_after_store(true: Cost, walk: timing._Walk, now: Decoded) -> int:
    pairs = walk.before.kind == STORE and now.kind == LOAD and not (walk.before.write_back or now.write_back)
    return 1 if pairs else true(walk, now)


def flash(**changes: object) -> Change:
    """Other flash settings than the firmware asks for."""
    true = CortexM.set_flash

    def set_flash(core: CortexM, wait_states: int, prefetch: bool, icache: bool, dcache: bool) -> None:
        asked = {"wait_states": wait_states, "prefetch": prefetch, "icache": icache, "dcache": dcache}
        true(core, **(asked | changes))  # type: ignore[arg-type]

    return patch.object(CortexM, "set_flash", set_flash)


CHANGES: dict[str, Callable[[], Change]] = {
    "none": nullcontext,
    "conditional branches always with 1 of refill": lambda: patch.object(timing, "FLAGS_JUST_SET", 0),
    "one more refill for every B, BL, Bcond": lambda: patch.object(thumb, "REFILL_NEAR", 2),
    "CBZ, CBNZ with 1 of refill": lambda: patch.object(thumb, "REFILL_COMPARE", 1),
    "BX, BLX with 1 of refill": lambda: patch.object(thumb, "REFILL_REGISTER", 1),
    "BX, BLX with 3 of refill": lambda: patch.object(thumb, "REFILL_REGISTER", 3),
    "POP, LDM, LDR to PC with 2 of refill": lambda: patch.object(thumb, "REFILL_LOAD", 2),
    "no runs of unaligned wide instructions": lambda: patch.object(timing, "WIDE_RUN", 1 << 30),
    "no extra cycle for an unaligned target": lambda: patch.object(timing, "UNALIGNED_TARGET", 0),
    "no stall for an address just made": lambda: cost(lambda t, w, n: as_if_before(t, w, n, computes=0)),
    "loads never pair": lambda: cost(never_pair),
    "a load pairs with a store before it": lambda: cost(pair_after_store),
    "IT free": lambda: cost(lambda t, w, n: 0 if n.kind == thumb.IT else t(w, n)),
    "no flash wait states": lambda: flash(wait_states=0),
    "no prefetch": lambda: flash(prefetch=False),
    "no data lines": lambda: flash(dcache=False),
    "no instruction lines": lambda: flash(icache=False),
}


def ratios(job: Job) -> list[float]:
    """Predicted over published cycles, row by row."""
    thumb.decode.cache_clear()
    found = []
    for row in run_job(job).rows:
        published = find(BOARD, "mbedtls", "software", row.name)
        if published and published.number:
            ratio = row.column.value / published.number
            found.append(ratio if lower_is_better(row.unit) else 1 / ratio)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", help="library sources, default the Debian source package")
    parser.add_argument("--rows", default=ROWS, help="globs of row names, up to 63 characters")
    options = parser.parse_args()
    elf = build("benchmark", BOARD, source=options.source)
    job = Job("software", boards.find(BOARD), elf, row_filter=options.rows)
    print("| change | mean | spread | median error |\n|---|---|---|---|")
    for name, change in CHANGES.items():
        with change():
            found = ratios(job)
        error = statistics.median(abs(ratio - 1) for ratio in found)
        print(f"| {name} | {statistics.mean(found):.3f} | {statistics.pstdev(found):.3f} | {error:.1%} |", flush=True)


if __name__ == "__main__":
    main()
