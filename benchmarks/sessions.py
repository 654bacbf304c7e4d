"""TLS sessions one after another in one process: what each costs, and whether anything of the host is left behind.

    python benchmarks/sessions.py [--count 200] [--every 20] [--board nucleo-f439zi] [--suite NAME] [--restored]

A server of our own on the loopback, in the same process. Each session is a new machine, as `cryplab tls-client` makes
it; with --restored one machine goes back to a snapshot that was taken when it had its address (a snapshot holds no
socket of the host, so the wire is new). Memory is measured after a garbage collection and `malloc_trim`. Exit code 1
when a session fails, when descriptors or threads are left, or when memory grows by more than 64 KiB a session.
"""

import argparse
import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable

from cryplab.board import find
from cryplab.guest import build
from cryplab.machine import DEFAULT_DATE, Machine
from cryplab.net import Nat
from cryplab.tls import choose, tls_client
from cryplab.tls.parameters import Parameters, parse_target, read_ca
from cryplab.tls.server import LoopbackServer, page

MIB, KIB = 1 << 20, 1 << 10
GROWTH_MOST = 64 * KIB
"Caches of bounded size fill up; a machine that stays is a hundred times as much."
WARM_UP = 10
"Sessions before memory is looked at: what is loaded only once."
HAS_ADDRESS = "Client IP Address is"
PAGE = b"Hello world!\n"


def memory() -> int:
    """Resident bytes of this process, after everything that is free was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def fresh(server: LoopbackServer, options: argparse.Namespace) -> Callable[[], str]:
    """A session with a machine of its own."""

    def session() -> str:
        return tls_client(
            server.target, board=options.board, ca=server.ca, date=DEFAULT_DATE, suites=[options.suite],
            observe=options.observe,
        ).failure  # fmt: skip

    return session


def restored(server: LoopbackServer, options: argparse.Namespace) -> Callable[[], str]:
    """A session of the one machine, which goes on from where it got its address."""
    target = parse_target(server.target)
    machine = Machine(options.board, net=Nat([target.allow]))
    machine.load(build("tls_client", find(options.board)))
    wishes = Parameters(target, tuple(choose([options.suite])), read_ca(server.ca), DEFAULT_DATE).encode()
    machine.write_memory(machine.symbol("cryplab_tls").address, wishes)
    if options.observe:
        machine.observe()
    assert machine.run(until=HAS_ADDRESS).reason == "until", machine.console.text
    snapshot = machine.snapshot()

    def session() -> str:
        machine.connect(Nat([target.allow]))
        machine.restore(snapshot)
        machine.reports.clear()
        outcome = machine.run()
        machine.disconnect()
        return "" if (outcome.reason, outcome.code) == ("finished", 0) else machine.console.text

    return session


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--board", default="nucleo-f439zi")
    parser.add_argument("--suite", default="ECDHE-RSA-AES128-GCM-SHA256")
    parser.add_argument("--restored", action="store_true")
    parser.add_argument("--observe", action="store_true", help="with the rules of `cryplab explain`")
    options = parser.parse_args()
    with LoopbackServer(choose([options.suite])[0].key, DEFAULT_DATE, page(PAGE)) as server:
        session = (restored if options.restored else fresh)(server, options)
        failed = any([session() for _ in range(WARM_UP)])
        start = now = memory()
        held, threads, wall = descriptors(), threading.active_count(), time.monotonic()
        print(f"{'sessions':>8} {'MiB':>7} {'processor s':>12} {'descriptors':>12} {'threads':>8}")
        used = time.process_time()
        for number in range(1, options.count + 1):
            why = session()
            if why:
                print(f"session {number} failed: {why}")
                failed = True
            if number % options.every == 0 or number == options.count:
                now, each = memory(), (time.process_time() - used) / number
                print(f"{number:8} {now / MIB:7.1f} {each:12.2f} {descriptors():12} {threading.active_count():8}")
        time.sleep(0.1)  # the server's last thread
        growth = (now - start) / options.count
        left = descriptors() - held, threading.active_count() - threads
    print(
        f"{options.count} sessions, {(time.monotonic() - wall) / options.count:.2f} s of wall time each; "
        f"memory grew by {growth / KIB:.1f} KiB a session; left: {left[0]} descriptors, {left[1]} threads"
    )
    return failed or growth > GROWTH_MOST or max(left) > 0


if __name__ == "__main__":
    sys.exit(main())
