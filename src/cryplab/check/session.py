"""One machine under check: booted, watched, put back before each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryplab import inject
from cryplab.board import Board
from cryplab.check import presence
from cryplab.check.api import Api, hal_interrupts, known
from cryplab.check.api.mbedtls import KINDS
from cryplab.check.cases.ciphers import MODES
from cryplab.check.judge import Unsupported, judge
from cryplab.check.oracle import HASHES, Misuse, Oracle
from cryplab.check.script import ONE_DIRECTION, Case, Expected, Step, key_kind
from cryplab.check.target import ARENA, ARENA_BYTES, OTHER_ARENA, Got, Target
from cryplab.check.tasks import OtherTask
from cryplab.errors import GuestCrash
from cryplab.machine import Machine
from cryplab.observe.findings import Finding
from cryplab.observe.observer import Region

__all__ = ["APIS", "BOOT_SECONDS", "Ran", "Session", "all_kinds", "at_edge", "booted"]

APIS = ("auto", *(api.name for api in known.KNOWN))
RANDOM_KINDS = ("POLL", "CTR-DRBG", "HASH-DRBG")
BY_INTERRUPT = "hal-it"
GCM_PARTS = ("GCM starts", "GCM starts decrypt")
SWITCHES_PER_CALL = 24
BOOT_SECONDS = 10.0
"Virtual time in which the firmware must come to its first crypto call, sleep or end."


@dataclass(slots=True)
class Ran:
    """What became of a case. `step`: number of the step that failed, -1 for none; `calls` made."""

    problems: list[str] = field(default_factory=list)
    step: int = -1
    calls: int = 0
    status: str = "ok"
    report: str = ""
    unsupported: str = ""
    findings: list[Finding] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Wrong output, damage, crash or a finding."""
        return bool(self.problems or self.findings)

    @property
    def category(self) -> str:
        """What must stay the same while a case is made smaller."""
        if self.problems:
            return self.status if self.status in ("crashed", "hung") else "wrong"
        return f"finding {self.findings[0].rule}" if self.findings else "ok"


def all_kinds(api: Api) -> list[str]:
    """Every kind of context, mode and call that cases may need."""
    modes = [f"{mode.kind}-{mode.mode}" for mode in MODES]
    kinds = [*KINDS, *modes, *(f"{mode} any length" for mode in modes)]
    kinds += [f"{name} {what}" for name in HASHES for what in ("digest", "hmac", "clone", "starts")]
    kinds += [f"HMAC-{name} starts" for name in HASHES]
    kinds += [f"{kind} life" for kind in (*ONE_DIRECTION, "GCM", "CCM", *HASHES)]
    ways = (True, False)
    kinds += [key_kind(kind, size, way) for kind in ONE_DIRECTION for size in (16, 24) for way in ways]
    return [*kinds, *(f"{kind} {what}" for kind in ("GCM", "CCM") for what in ("seal", "unseal")), *GCM_PARTS]


def boot(machine: Machine, entries: Sequence[str], init: Sequence[str] = (), seconds: float = BOOT_SECONDS) -> str:
    """Run to the first call of one of `entries`, to sleep, the end or so many virtual seconds; then call `init`.

    Returns: where the firmware is, in words. Raises: GuestCrash when it faults on the way.
    """
    assert machine.image is not None
    at = {machine.symbol(name).entry & ~1: name for name in entries if name in machine.image.symbols}
    for address in at:
        machine.core.breakpoint(address)
    outcome = machine.run(seconds=seconds)
    for address in at:
        machine.core.breakpoint(address, False)
    if outcome.exit_code == 4:
        raise GuestCrash(f"the firmware {outcome.reason}ed before its first crypto call", outcome.crash)
    pc = machine.core.read_register("pc") & ~1
    where = (
        f"at its first call of {at[pc]}"
        if pc in at
        else {"time": f"after {seconds:g} virtual seconds"}.get(
            outcome.reason, f"{outcome.reason} at {machine.where(pc)}"
        )
    )
    for name in init:
        machine.call(name)
    return where


class Session:
    """A machine with its firmware booted, and a snapshot to come back to.

    Args:
        firmware: ELF with symbols.
        board: name, file or Board.
        api: one of APIS.
        init: functions without arguments, called after the boot.
        seed: of the RNG and of what lies around buffers.
        injections: see `cryplab.inject`.
        observe: with the rules of `observe/` on.
    """

    def __init__(
        self, firmware: str | Path, board: str | Path | Board, *, api: str = "auto", init: Sequence[str] = (),
        seed: int = 0, injections: Sequence[str] = (), observe: bool = True,
    ) -> None:  # fmt: skip
        self.machine = Machine(board, seed=seed)
        self.machine.load(firmware)
        assert self.machine.image is not None
        self.api = known.choose(api, self.machine.image)
        self.observer = self.machine.observe(deep=True) if observe else None
        self.where = boot(self.machine, known.entries(self.machine.image.symbols, self.api), (*init, *self.api.prepare))
        if self.api.name == BY_INTERRUPT:
            hal_interrupts.follow(self.machine)
        self.presence = presence.find(self.machine.image, self.api, all_kinds(self.api))
        self.target = Target(self.machine, self.api, seed=seed)
        self.injections = inject.parse(injections, seed)
        self.other = self._other_task(seed)
        if self.observer is not None:
            self.observer.memories += [Region("check's memory", base, ARENA_BYTES) for base in (ARENA, OTHER_ARENA)]
        self._new_findings()
        self.snapshot = self.machine.snapshot()

    def fresh(self) -> None:
        """Back to the booted chip."""
        self.machine.restore(self.snapshot)
        for injection in self.injections:
            injection.arm(self.machine)
        if self.other is not None:
            self.other.begin()

    def run(self, case: Case | Sequence[Step], fill: int = 0) -> Ran:
        """Run a case from the booted chip. Raises: Misuse for steps that make no sense."""
        steps = case.steps if isinstance(case, Case) else tuple(case)
        published = case.published if isinstance(case, Case) else {}
        oracle = Oracle()
        expected = [oracle.run(step) for step in steps]
        self.fresh()
        self.target.begin(fill)
        before = self.target.calls
        ran = Ran()
        for number, (step, must) in enumerate(zip(steps, expected, strict=True)):
            if must.forbidden and self._kind(step) in self.api.keeps_refused:
                must = Expected(must.status, must.outputs)
            if number in published:
                must = Expected(must.status, {**must.outputs, **published[number]}, must.forbidden, must.fresh)
            try:
                self._step(ran, number, step, must)
            except Unsupported as no:
                ran.unsupported = "" if self.injections else str(no)
                break
            if ran.problems:
                break
        ran.calls = self.target.calls - before
        ran.findings = self._new_findings()
        return ran

    def _new_findings(self) -> list[Finding]:
        """What the rules found since the last time; every case starts with none."""
        if self.observer is None:
            return []
        found = self.observer.take_findings()
        self.machine.reports.clear()
        return found

    def _other_task(self, seed: int) -> OtherTask | None:
        """What interrupts calls under task-switch-each-access."""
        if not any(injection.known.name == inject.TASK_SWITCH for injection in self.injections):
            return None
        other = OtherTask(Target(self.machine, self.api, seed=seed + 1, base=OTHER_ARENA), self.presence)
        inject.switch_at_each_access(self.machine, other.work, most=SWITCHES_PER_CALL)
        return other

    def _kind(self, step: Step) -> str:
        """Of the context that a step uses."""
        return self.target.chains[step.context].kind if step.context in self.target.chains else step.kind

    def _may_fail(self, step: Step) -> bool:
        """An injected error that a driver may report concerns this step."""
        kind = self._kind(step)
        return any(
            injection.owes == "report" and ("RNG" not in injection.known.blocks or kind in RANDOM_KINDS)
            for injection in self.injections
        )

    def _step(self, ran: Ran, number: int, step: Step, must: Expected) -> None:
        got: Got = self.target.run(step)
        if must.status == "ok" and got.status == "refused" and self._may_fail(step):
            raise Unsupported("the injected error was reported")
        problems = judge(step, must, got)
        if self.other is not None:
            problems += self.other.problems()
        if problems:
            ran.problems, ran.step, ran.status = problems, number, got.status
            ran.report = got.text if got.status == "crashed" else ""

    def fails_like(self, category: str, steps: Sequence[Step]) -> bool:
        """Whether these steps fail in the same way."""
        try:
            return self.run(steps).category == category
        except Misuse:
            return False


# -- for pasted programs ---------------------------------------------------------------------------
def booted(
    firmware: str | Path, board: str | Path | Board, *, api: str = "auto", init: Sequence[str] = (), seed: int = 0,
    inject: Sequence[str] = (),
) -> Machine:  # fmt: skip
    """A machine whose firmware has come to its first crypto call, as `check` starts from."""
    session = Session(firmware, board, api=api, init=init, seed=seed, injections=inject, observe=False)
    session.fresh()
    return session.machine


def at_edge(machine: Machine, data: bytes) -> int:
    """Put bytes where no memory follows the last one; returns their address. `machine` is of `booted`."""
    address = ARENA + ARENA_BYTES - len(data)
    machine.write_memory(address, data)
    return address
