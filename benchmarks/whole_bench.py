"""The whole `bench` of one board and library, registers served by calls alone and by the core, in one run.

    python benchmarks/whole_bench.py [--board ublox-c030-u201] [--library mbedtls] [--build hardware] [--seconds 1.0]

Builds run one after the other in this process with the exact clock. Every row must have the same cycles both times;
the exit code is 1 when one has not. `--seconds 0` leaves out the rest, which is speed.py: MB/s through CRYP and HASH,
million instructions per second beside plain Unicorn and QEMU.
"""

import argparse
import sys
import time
from functools import partial
from unittest.mock import patch

import speed

from cryplab import board as boards
from cryplab import guest
from cryplab.bench.measure import BuildRun, Job, run_job
from cryplab.machine import Machine

Timed = tuple[list[BuildRun], float, float]


def whole(jobs: list[Job], native: bool) -> Timed:
    """All rows of all builds, wall seconds, processor seconds."""
    with patch("cryplab.bench.measure.Machine", partial(Machine, native_registers=native)):
        wall, used = time.perf_counter(), time.process_time()
        runs = [run_job(job) for job in jobs]
        return runs, time.perf_counter() - wall, time.process_time() - used


def differing(before: list[BuildRun], after: list[BuildRun]) -> list[str]:
    """Rows that are not the same to the cycle."""
    pairs = [(b.build, x, y) for b, a in zip(before, after, strict=True) for x, y in zip(b.rows, a.rows, strict=True)]
    return [f"{build}: {x.name}: {x.column.cycles} cycles, then {y.column.cycles}" for build, x, y in pairs if x != y]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="ublox-c030-u201")
    parser.add_argument("--library", default="mbedtls")
    parser.add_argument("--build", default="hardware", help="beside software")
    parser.add_argument("--seconds", type=float, default=1.0, help="about so long for each line of speed.py")
    options = parser.parse_args()
    reference = options.library != "wolfssl"  # wolfCrypt's own program prints its rows
    jobs = [
        Job(
            build,
            boards.find(options.board),
            guest.build("benchmark", options.board, options.library, build),
            reference=reference,
        )
        for build in ("software", options.build)
    ]
    called, called_wall, called_used = whole(jobs, native=False)
    served, served_wall, served_used = whole(jobs, native=True)
    wrong = differing(called, served)
    rows = sum(len(run.rows) for run in served)
    print(f"{options.board}, {options.library}: {rows} rows of {', '.join(run.build for run in served)}, exact clock")
    print(f"registers by calls alone   {called_wall:7.1f} s   {called_used:7.1f} s of the processor")
    print(f"served by the core         {served_wall:7.1f} s   {served_used:7.1f} s of the processor")
    print(f"ratio                      {called_wall / served_wall:7.2f}     {called_used / served_used:7.2f}")
    print(f"rows that differ: {len(wrong)}", *wrong, sep="\n  ")
    if options.seconds:
        speed.report(options.seconds)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
