"""The other task of `task-switch-each-access`: small jobs on contexts of its own, each judged like the case's."""

from __future__ import annotations

from collections.abc import Callable

from cryplab.check.judge import Unsupported, judge
from cryplab.check.oracle import HASHES, Oracle
from cryplab.check.script import Step
from cryplab.check.target import Target

__all__ = ["OtherTask"]

KEY, IV = bytes(range(0x40, 0x50)), bytes(range(0x60, 0x70))


class OtherTask:
    """Work for the moments at which the core is taken away.

    Args:
        target: the firmware, with memory of its own for contexts and buffers.
        available: whether the firmware has a kind.
    """

    def __init__(self, target: Target, available: Callable[[str], bool]) -> None:
        self.target = target
        self._setup: list[Step] = []
        self._jobs: list[Step] = []
        if available("AES encryption key") and available("AES-ECB"):
            self._setup += [Step("open", 0, "AES"), Step("setkey", 0, key=KEY)]
            self._jobs.append(Step("crypt", 0, "ECB", data=IV))
        for name in HASHES:
            if available(f"{name} digest") and len(self._jobs) < 2:
                self._jobs.append(Step("digest", kind=name, data=KEY))
        if available("POLL"):
            self._setup.append(Step("open", 2, "POLL"))
            self._jobs.append(Step("random", 2, length=8))
        self._problems: list[str] = []
        self._turn = 0

    def begin(self) -> None:
        """Contexts anew, on a machine that was put back."""
        self.target.begin(0)
        self._oracle = Oracle()
        self._problems, self._turn = [], 0
        for step in self._setup:
            self._oracle.run(step)
            self.target.run(step)

    def work(self) -> None:
        """One job from start to end."""
        if not self._jobs:
            return
        step = self._jobs[self._turn % len(self._jobs)]
        self._turn += 1
        try:
            problems = judge(step, self._oracle.run(step), self.target.run(step))
        except Unsupported:
            return
        self._problems += [f"the other task's {step.does} {step.kind}: {problem}" for problem in problems]

    def problems(self) -> list[str]:
        """What went wrong since the last time."""
        found, self._problems = self._problems, []
        return found
