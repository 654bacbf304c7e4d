"""Sessions measured for `tls-bench`: one of each kind, in this process or in several at once."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import cryplab
from cryplab import errors
from cryplab.board import Board
from cryplab.errors import CryplabError
from cryplab.tls.client import tls_client

__all__ = ["Job", "Measured", "main", "measure_all"]


@dataclass(frozen=True, slots=True)
class Job:
    """A session with the server at `target`; what `tls_client` is asked for."""

    target: str
    ca: Path
    board: Board
    library: str
    build: str
    suite: str
    clock: str
    seed: int
    date: datetime
    source: str | Path | None

    def __str__(self) -> str:
        return f"{self.board.name}, {self.library}, {self.suite}, {self.build}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One session: virtual milliseconds of the handshake without waiting, KB/s (1024 bytes) of records received.

    Shares: of the handshake's and of the records' time, inside jobs of CRYP and HASH.
    """

    handshake_ms: float
    kib_per_second: float
    handshake_share: float
    record_share: float
    failure: str = ""


def measure(job: Job) -> Measured:
    """Run the session."""
    session = tls_client(
        job.target, board=job.board, library=job.library, build=job.build, suites=[job.suite], ca=job.ca,
        clock=job.clock, seed=job.seed, date=job.date, source=job.source, print_bytes=0, observe=False,
    )  # fmt: skip
    times = {phase.name: phase for phase in session.phases}
    handshake, response = times.get("handshake"), times.get("response")
    return Measured(
        handshake.busy_milliseconds if handshake else 0.0,
        response.kib_per_second if response else 0.0,
        handshake.hardware_share if handshake else 0.0,
        response.hardware_share if response else 0.0,
        f"{job}: {session.failure}" if session.failure else "",
    )


def measure_all(jobs: Sequence[Job], processes: int, heard: Callable[[str], None]) -> list[Measured]:
    """All sessions, in the order of `jobs`; several at once when there is more than one process.

    `heard` is called with what runs next, or what has ended. Raises: what `tls_client` raises.
    """
    if processes <= 1 or len(jobs) <= 1:
        found = []
        for job in jobs:
            heard(str(job))
            found.append(measure(job))
        return found
    shares = [jobs[first::processes] for first in range(min(processes, len(jobs)))]
    with ThreadPoolExecutor(len(shares)) as side_by_side:
        parts = list(side_by_side.map(lambda share: _in_process(share, heard), shares))
    return [parts[number % len(shares)][number // len(shares)] for number in range(len(jobs))]


def main() -> None:
    """A process that measures: pickled jobs on standard input; for each a pickled answer on standard output."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # a stray print must not get between the answers
    with answers:
        for job in pickle.load(sys.stdin.buffer):
            try:
                pickle.dump(measure(job), answers)
            except CryplabError as error:
                pickle.dump((type(error).__name__, str(error)), answers)
                return
            answers.flush()


def _in_process(jobs: Sequence[Job], heard: Callable[[str], None]) -> list[Measured]:
    paths = [str(Path(cryplab.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-c", "from cryplab.tls.measure import main; main()"]
    found: list[Measured] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            pickle.dump(list(jobs), process.stdin)
        for job in jobs:
            try:
                answer = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise CryplabError(f"the process that ran {job} ended early") from None
            if not isinstance(answer, Measured):
                name, message = answer
                raise getattr(errors, name, CryplabError)(message)
            heard(f"{job}: done")
            found.append(answer)
    return found
