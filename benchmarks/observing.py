"""Cost of the observer: the benchmark of mbed TLS with findings on against off, in one run.

    python benchmarks/observing.py [--board ublox-c030-u201] [--clock fast] [--rows 'AES*'] [--repeat 2]

For each build: processor seconds without and with findings (the best of the repetitions, in turn), their ratio,
findings, and whether virtual time is the same to the cycle. Exit code 1 when it is not, when a ratio is 1.5 or more,
and when there is a finding.
"""

import argparse
import sys
import time

from cryplab.guest.build import build
from cryplab.machine import Machine

BUILDS = ("hardware", "hal-style")
GOAL = 1.5
FILTER, MAGIC, WANTED = "cryplab_filter", "cryplab_filter_magic", 0x43524C42
FILTER_BYTES = 64
SECONDS_MOST = 600.0


def once(firmware: object, options: argparse.Namespace, *, observe: bool) -> tuple[float, int, int]:
    """Processor seconds, virtual cycles and findings of one run."""
    machine = Machine(options.board, clock=options.clock)
    machine.reports.operations_kept = 0
    machine.load(firmware)
    if options.rows:
        machine.write_memory(machine.symbol(FILTER).address, options.rows.encode().ljust(FILTER_BYTES, b"\0"))
        machine.write_memory(machine.symbol(MAGIC).address, WANTED.to_bytes(4, "little"))
    observer = machine.observe() if observe else None
    began = time.process_time()
    machine.run(seconds=SECONDS_MOST)
    if observer is not None:
        observer.drain()
    return time.process_time() - began, machine.clock.now, len(list(observer.findings)) if observer else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="ublox-c030-u201")
    parser.add_argument("--clock", choices=("fast", "exact"), default="fast")
    parser.add_argument("--rows", default="", help="a pattern of row names; default all")
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    bad = False
    print(f"{'build':10} {'off s':>7} {'on s':>7} {'ratio':>6}  findings  cycles")
    for name in BUILDS:
        firmware = build("benchmark", options.board, build=name)
        runs = {on: [] for on in (False, True)}
        for _ in range(options.repeat):
            for on in (False, True):
                runs[on].append(once(firmware, options, observe=on))
        off, on = (min(run[0] for run in runs[which]) for which in (False, True))
        same = len({run[1] for kind in runs.values() for run in kind}) == 1
        found = runs[True][0][2]
        bad |= not same or found > 0 or on / off >= GOAL
        print(f"{name:10} {off:7.2f} {on:7.2f} {on / off:6.2f}  {found:8}  {'the same' if same else 'DIFFERENT'}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
