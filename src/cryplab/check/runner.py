"""Runs all cases of a check, side by side, and collects verdicts and failures."""

from __future__ import annotations

import fnmatch
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryplab.board import Board
from cryplab.check.cases import Level, all_cases
from cryplab.check.paste import as_python
from cryplab.check.report import CheckResult, Failure, Verdict
from cryplab.check.script import Case, Step
from cryplab.check.session import Ran, Session
from cryplab.check.shrink import shrink
from cryplab.errors import FirmwareError, UsageError

__all__ = ["check"]

Progress = Callable[[str], None]
SHRUNK_PER_GROUP = 1
"Failures of one group of one algorithm that are made small; the others are counted and named."
NAMED_PER_GROUP = 3
HANGS_PER_GROUP, HANGS_PER_ALGORITHM = 2, 6
"After so many the rest is left out: each costs a virtual second."
BATCH = 40
SECOND_RUN = 1
"The second run of a case has other contents around its buffers."


@dataclass
class _Options:
    firmware: Path
    board: str | Path | Board
    api: str
    init: tuple[str, ...]
    level: Level
    seed: int
    injections: tuple[str, ...]
    observe: bool
    board_name: str


@dataclass
class _Part:
    """What one process found."""

    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    findings: dict[Any, Any] = field(default_factory=dict)
    calls: int = 0


def check(
    firmware: str | Path,
    board: str | Path | Board,
    *,
    api: str = "auto",
    init: Sequence[str] = (),
    level: Level = "default",
    only: str = "",
    jobs: int = 1,
    seed: int = 0,
    inject: Sequence[str] = (),
    observe: bool = True,
    progress: Progress | None = None,
) -> CheckResult:
    """Call a firmware's crypto functions and judge what they do.

    Args:
        firmware: ELF with symbols.
        board: name, file or Board.
        api: auto, or one of `cryplab.check.session.APIS`.
        init: functions that the firmware must have called first, in order.
        level: quick, default or thorough.
        only: cases whose title `ALGORITHM/GROUP/NAME` matches; several patterns with commas, each may be a prefix.
        jobs: processes.
        seed: of every random choice.
        inject: errors injected, see `cryplab.inject`.
        observe: with the rules of `observe/` on.
        progress: called with a line of text now and then.
    Raises: FirmwareError, BoardError, UsageError, GuestCrash (the firmware does not boot).
    """
    started = time.monotonic()
    name = board.name if isinstance(board, Board) else str(board)
    options = _Options(Path(firmware), board, api, tuple(init), level, seed, tuple(inject), observe, name)
    session = _session(options)
    cases = [case for case in all_cases(level, seed, session.presence) if _wanted(case, only)]
    if not cases and only:
        raise UsageError(f"--only {only}: no case of this firmware has such a title; titles are ALGORITHM/GROUP/NAME")
    if not cases:
        keep = session.presence.linker_options() or "-Wl,--whole-archive around the crypto library"
        raise FirmwareError(f"{firmware}: no algorithm has all the functions that check calls; link with {keep}")
    say = progress or (lambda _line: None)
    parts = _run_all(session, options, cases, jobs, say)
    result = CheckResult(
        firmware=str(firmware), board=name, api=session.api.name, level=level, seed=seed, inject=list(inject),
        where=session.where, missing=list(session.presence.missing.values()),
        notes=session.presence.notes(),
    )  # fmt: skip
    for part in parts:
        result.merge(part.verdicts, part.failures, part.findings.values(), part.calls)
    result.wall_seconds = time.monotonic() - started
    return result


def _session(options: _Options) -> Session:
    return Session(
        options.firmware, options.board, api=options.api, init=options.init, seed=options.seed,
        injections=options.injections, observe=options.observe,
    )  # fmt: skip


def _wanted(case: Case, only: str) -> bool:
    patterns = [p.strip() for p in only.split(",") if p.strip()]
    return not patterns or any(fnmatch.fnmatchcase(case.title.lower(), f"{p.lower()}*") for p in patterns)


# -- side by side ----------------------------------------------------------------------------------
_inherited: tuple[Session, _Options, list[Case]] | None = None
"What a forked process has from its parent."


def _run_all(session: Session, options: _Options, cases: list[Case], jobs: int, say: Progress) -> Iterator[_Part]:
    batches = [range(start, min(start + BATCH, len(cases))) for start in range(0, len(cases), BATCH)]
    jobs = min(jobs, len(batches))
    if jobs <= 1:
        worker = _Worker(session, options)
        for batch in batches:
            yield worker.run([cases[i] for i in batch])
            say(f"{batch.stop} of {len(cases)} cases")
        return
    global _inherited
    _inherited = (session, options, cases)
    try:
        with multiprocessing.get_context("fork").Pool(jobs, initializer=_begin) as pool:
            done = 0
            for part in pool.imap(_run_batch, batches):
                done += BATCH
                yield part
                say(f"{min(done, len(cases))} of {len(cases)} cases")
    finally:
        _inherited = None


_worker: _Worker | None = None


def _begin() -> None:
    """In a new process: an emulator does not survive a fork, so it gets a machine of its own."""
    global _worker
    assert _inherited is not None
    _worker = _Worker(_session(_inherited[1]), _inherited[1])


def _run_batch(batch: range) -> _Part:
    assert _worker is not None
    assert _inherited is not None
    return _worker.run([_inherited[2][i] for i in batch])


class _Worker:
    """Runs batches on its machine."""

    def __init__(self, session: Session, options: _Options) -> None:
        self.session, self.options = session, options
        self._hangs: dict[tuple[str, str], int] = {}
        self._shrunk: dict[tuple[str, str], int] = {}

    def run(self, cases: Sequence[Case]) -> _Part:
        part = _Part()
        for case in cases:
            self._one(case, part)
        return part

    def _one(self, case: Case, part: _Part) -> None:
        key = (case.algorithm, case.group)
        hangs = sum(count for (algorithm, _), count in self._hangs.items() if algorithm == case.algorithm)
        verdict = part.verdicts.setdefault(key, Verdict(*key))
        if self._hangs.get(key, 0) >= HANGS_PER_GROUP or hangs >= HANGS_PER_ALGORITHM:
            verdict.skipped += 1
            return
        ran = self.session.run(case)
        part.calls += ran.calls
        if not ran.failed and self.options.level == "thorough":
            ran = self.session.run(case, SECOND_RUN)
            part.calls += ran.calls
            verdict.calls += ran.calls
        verdict.cases += 1
        verdict.calls += ran.calls
        verdict.unsupported += bool(ran.unsupported)
        if ran.unsupported:
            verdict.why[ran.unsupported] = verdict.why.get(ran.unsupported, 0) + 1
        for finding in ran.findings:
            part.findings.setdefault(finding.key, finding)
        if ran.failed:
            verdict.failed += 1
            if ran.status == "hung":
                self._hangs[key] = self._hangs.get(key, 0) + 1
            part.failures.append(self._failure(case, ran))

    def _failure(self, case: Case, ran: Ran) -> Failure:
        key = (case.algorithm, case.group)
        steps: tuple[Step, ...] = case.steps[: ran.step + 1] if ran.step >= 0 else case.steps
        count = self._shrunk.get(key, 0)
        self._shrunk[key] = count + 1
        failure = Failure(case.title, case.algorithm, case.group, ran.problems, ran.status, ran.report)
        if count >= SHRUNK_PER_GROUP:
            return failure
        tries = 400 if ran.status != "hung" else 6
        small = shrink(steps, lambda s: self.session.fails_like(ran.category, s), tries)
        again = self.session.run(small)
        failure.alone = again.category == ran.category
        if failure.alone:
            failure.problems = again.problems or failure.problems
        else:
            small = steps
        failure.steps = [str(step) for step in small]
        options = "".join(
            f", {name}={value!r}"
            for name, value in (
                ("api", "" if self.options.api == "auto" else self.options.api),
                ("init", list(self.options.init)),
                ("seed", self.options.seed),
                ("inject", list(self.options.injections)),
            )
            if value
        )
        failure.python = as_python(
            small,
            self.session.api,
            firmware=str(self.options.firmware),
            board=self.options.board_name,
            options=options,
            why=failure.problems,
        )
        return failure
