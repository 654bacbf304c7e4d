"""A process that runs one build: takes a pickled `Job` on standard input, answers on standard output.

Answers are pickled pairs: ("progress", (rows, virtual seconds)), then ("done", BuildRun) or
("error", (class name, message, report)).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cryplab
from cryplab import errors
from cryplab.bench.measure import BuildRun, Job, run_job
from cryplab.errors import CryplabError, GuestCrash

__all__ = ["main", "run_in_process"]


def main() -> None:
    """Serve one job."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # a stray print must not get between the answers

    def answer(kind: str, content: Any) -> None:
        pickle.dump((kind, content), answers)
        answers.flush()

    with answers:
        try:
            job: Job = pickle.load(sys.stdin.buffer)
            answer("done", run_job(job, lambda rows, seconds: answer("progress", (rows, seconds))))
        except CryplabError as error:
            answer("error", (type(error).__name__, str(error), getattr(error, "report", "")))


def run_in_process(job: Job, progress: Callable[[int, float], None], keep: list[Any]) -> BuildRun:
    """Run a job in a process of its own.

    Args:
        job: what to run.
        progress: called with rows and virtual seconds.
        keep: the process is put there, so that the caller can end it.
    Raises: what `run_job` raises; CryplabError when the process died.
    """
    package = str(Path(cryplab.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", "from cryplab.bench.worker import main; main()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        keep.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            pickle.dump(job, process.stdin)
        while True:
            try:
                kind, content = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise CryplabError(f"the process that ran the {job.build} build ended early") from None
            if kind == "done":
                run: BuildRun = content
                return run
            if kind == "error":
                raise _rebuilt(*content)
            progress(*content)


def _rebuilt(name: str, message: str, report: str) -> CryplabError:
    """The exception that the process raised."""
    kind: type[CryplabError] = getattr(errors, name, CryplabError)
    return GuestCrash(message, report) if issubclass(kind, GuestCrash) else kind(message)
