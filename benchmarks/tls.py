"""Cost of a TLS handshake: virtual seconds for a wall second, and the memory of a machine.

    python benchmarks/tls.py [--board nucleo-f439zi] [--library mbedtls] [--suite NAME ...] [--clock fast] [--observe]

For each suite and build a session with a server of our own on the loopback. "virtual/wall" and "virtual/processor" are
of the handshake alone, waiting for the server included; "session" and the last column of all of it, from the making of
the machine on. Each session translates the guest's code anew, which is about half of its time.
"""

import argparse
import bisect
import gc
import os
import time
from contextlib import ExitStack
from pathlib import Path

from cryplab.board import find
from cryplab.guest import build
from cryplab.machine import DEFAULT_DATE, Machine
from cryplab.tls import TlsResult, choose, tls_client
from cryplab.tls.server import LoopbackServer, page

MIB = 1 << 20
BUILDS = ("software", "hardware")
SUITES = ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256")

HEAD = f"{'suite':30} {'build':9} {'virtual ms':>10} virtual/wall virtual/processor session s processor s"


class Stopwatch:
    """Wall and processor time at virtual seconds, taken after each slice of a run."""

    def __init__(self) -> None:
        self.virtual, self.wall, self.processor = [], [], []

    def __call__(self, seconds: float) -> None:
        self.virtual.append(seconds)
        self.wall.append(time.monotonic())
        self.processor.append(time.process_time())

    def between(self, first: float, last: float) -> tuple[float, float]:
        """Wall and processor seconds between two virtual ones."""
        a, b = bisect.bisect_left(self.virtual, first), bisect.bisect_left(self.virtual, last)
        b = min(b, len(self.virtual) - 1)
        return self.wall[b] - self.wall[a], self.processor[b] - self.processor[a]


def resident() -> float:
    """MiB of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def handshake_seconds(session: TlsResult) -> tuple[float, float]:
    """Virtual seconds at which it began and ended: the phases follow one another from the first one on."""
    at = {phase.name: phase for phase in session.phases}
    hz, machine = at["handshake"].hz, session.report.machine
    later = sum(at[name].cycles for name in ("handshake", "request", "response") if name in at)
    begun = (machine.clock.now - later) / hz
    return begun, begun + at["handshake"].cycles / hz


def measure(server: LoopbackServer, suite: str, name: str, options: argparse.Namespace) -> str:
    """One line of the table."""
    watch, began, used = Stopwatch(), time.monotonic(), time.process_time()
    session = tls_client(
        server.target, board=options.board, library=options.library, build=name, suites=[suite], ca=server.ca,
        clock=options.clock, date=DEFAULT_DATE, observe=options.observe, on_time=watch, print_bytes=0,
    )  # fmt: skip
    whole = time.monotonic() - began, time.process_time() - used
    if session.failure:
        return f"{suite} {name}: {session.failure}"
    virtual = session.phase("handshake").cycles / session.phase("handshake").hz
    wall, processor = watch.between(*handshake_seconds(session))
    return (
        f"{suite:30} {name:9} {1000 * virtual:10.0f} {virtual / wall:12.2f} {virtual / processor:17.2f} "
        f"{whole[0]:9.2f} {whole[1]:11.2f}"
    )


def memory(server: LoopbackServer, suite: str, options: argparse.Namespace) -> list[str]:
    """What machines take, one after another, all kept."""
    firmware = build("tls_client", find(options.board), library=options.library)
    kept: list[object] = []
    before = resident()
    machine = Machine(options.board)
    machine.load(firmware)
    lines = [f"loaded, with the firmware's symbols: {resident() - before:.1f} MiB"]
    kept.append(machine)
    for which in ("after a session, with source lines", "one more, after a session", "one more, after a session"):
        before = resident()
        kept.append(
            tls_client(
                server.target, board=options.board, library=options.library, suites=[suite], ca=server.ca,
                date=DEFAULT_DATE, observe=options.observe, print_bytes=0,
            )
        )  # fmt: skip
        lines.append(f"{which}: {resident() - before:.1f} MiB")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", default="nucleo-f439zi")
    parser.add_argument("--library", choices=("mbedtls", "wolfssl"), default="mbedtls")
    parser.add_argument("--suite", action="append", help=f"default {' and '.join(SUITES)}")
    parser.add_argument("--clock", choices=("fast", "exact"), default="fast")
    parser.add_argument("--observe", action="store_true", help="with the rules of `cryplab explain`")
    options = parser.parse_args()
    with ExitStack() as ends:
        for number, suite in enumerate(options.suite or SUITES):
            key = choose([suite])[0].key
            server = ends.enter_context(LoopbackServer(key, DEFAULT_DATE, page(b"Hello world!\n")))
            if not number:
                print("memory of a machine, resident", *memory(server, suite, options), "", sep="\n  ")
                print(HEAD)
            for name in BUILDS:
                build("tls_client", find(options.board), library=options.library, build=name)
                print(measure(server, suite, name, options), flush=True)


if __name__ == "__main__":
    main()
