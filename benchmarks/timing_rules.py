"""What each timing rule is worth: software benchmarks with one rule changed, against the published rows.

    python benchmarks/timing_rules.py [--board BOARD] [--source FOLDER] [--rows GLOBS] [--change GLOB]

Prints a row of docs/timing.md per change: mean, spread and median error of predicted over published cycles. Boards are
those of `cryplab accuracy`: ublox-c030-u201 (M4, mbed TLS), stm3221g-eval (M3, wolfSSL), stm32f437i-eval (M4, wolfSSL).
With the sources of mbed TLS 2.5.0 the library is that of ublox-c030-u201's rows; what is left is rules and compiler.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fnmatch import fnmatchcase
from unittest.mock import patch

from cryplab import board as boards
from cryplab.bench.campaigns import CAMPAIGNS, Campaign
from cryplab.bench.formats import lower_is_better
from cryplab.bench.measure import Job, run_job
from cryplab.bench.published import find
from cryplab.bench.rows import convert
from cryplab.cpu import thumb, timing
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.thumb import LOAD, STORE, Decoded
from cryplab.guest.build import build

SOFTWARE = "software"
ROWS = {"ublox-c030-u201": "SHA-256,AES-CBC*,AES-CCM*,CTR*,HMAC*,RSA-2048*,ECDH-*"}
"Without rows that hang on 64-bit code of another compiler, and rows of the same kind; all rows where none are named."
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


def store_after_store(true: Cost, walk: timing._Walk, now: Decoded) -> int:
    return true(walk, now) + (walk.before.kind == STORE and now.kind == STORE)


def multiplies(long: int, accumulating: int) -> Change:
    """Other long multiplies of the M3."""
    names = {"umull": long, "smull": long, "umlal": accumulating, "smlal": accumulating}
    return patch.dict(thumb.COST_M3, names)


def divisions(cycles: int) -> Change:
    return patch.multiple(thumb, COST={core: costs | dict.fromkeys(("sdiv", "udiv"), cycles)
                                       for core, costs in thumb.COST.items()})  # fmt: skip


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
    "a store after a store waits for the write buffer": lambda: cost(store_after_store),
    "divisions always 2": lambda: divisions(2),
    "divisions always 12": lambda: divisions(12),
    "M3: long multiplies 5, 6 with accumulation": lambda: multiplies(5, 6),
    "M3: long multiplies 4, 5 with accumulation": lambda: multiplies(4, 5),
    "M3: long multiplies 3, 4 with accumulation": lambda: multiplies(3, 4),
    "IT free": lambda: cost(lambda t, w, n: 0 if n.kind == thumb.IT else t(w, n)),
    "no flash wait states": lambda: flash(wait_states=0),
    "no prefetch": lambda: flash(prefetch=False),
    "no data lines": lambda: flash(dcache=False),
    "no instruction lines": lambda: flash(icache=False),
}


def ratios(campaign: Campaign, job: Job) -> list[float]:
    """Predicted over published cycles, row by row."""
    thumb.decode.cache_clear()
    found = []
    for row in run_job(job).rows:
        published = find(campaign.board, campaign.library, SOFTWARE, row.name)
        value = convert(published.number, published.unit, row.unit) if published and published.number else None
        if value:
            ratio = row.column.value / value
            found.append(ratio if lower_is_better(row.unit) else 1 / ratio)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = {campaign.board: campaign for campaign in CAMPAIGNS}
    parser.add_argument("--board", choices=known, default="ublox-c030-u201")
    parser.add_argument("--source", help="library sources, default the Debian source package")
    parser.add_argument("--rows", help="globs of row names, up to 63 characters; not for stm32f437i-eval")
    parser.add_argument("--change", default="*", help="glob of changes; those of the M3 only where it is")
    options = parser.parse_args()
    campaign = known[options.board]
    board = boards.find(campaign.board)
    elf = build(campaign.program, board, campaign.library, dict(campaign.builds)[SOFTWARE], options.source)
    reference = (campaign.library, campaign.program) != ("wolfssl", "benchmark")
    rows = ROWS.get(campaign.board, "") if options.rows is None else options.rows
    job = Job(SOFTWARE, board, elf, row_filter=rows, reference=reference)
    print("| change | rows | mean | spread | median error |\n|---|---|---|---|---|")
    for name, change in CHANGES.items():
        if not fnmatchcase(name, options.change) or (name.startswith("M3") and board.chip.core != "cortex-m3"):
            continue
        with change():
            found = ratios(campaign, job)
        error = statistics.median(abs(ratio - 1) for ratio in found)
        figures = f"{len(found)} | {statistics.mean(found):.3f} | {statistics.pstdev(found):.3f} | {error:.1%}"
        print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
