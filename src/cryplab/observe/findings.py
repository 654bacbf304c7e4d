"""Findings: broken rules as a user reads them, each with its evidence, the same one counted once.

A finding names the rule (O1 to O22) and the kind of fault, says what happened in the words of the manual, where
(function, source line, call stack), in which operation and for which context, which earlier write it collides
with, and what usually repairs it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Earlier", "Finding", "Findings", "Place"]

COLUMNS = 80
HANGING = 10


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction of the firmware: `0x08001234 get_word+0x1c at rng.c:41`."""

    pc: int
    cycle: int = 0
    function: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        name = f" {self.function}" if self.function else ""
        source = f" at {self.file.rsplit('/', 1)[-1]}:{self.line}" if self.line else ""
        return f"{self.pc:#010x}{name}{source}"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The access that this one collides with, and whose it was."""

    what: str
    where: Place
    context: str = ""

    def __str__(self) -> str:
        owner = f", for {self.context}" if self.context else ""
        return f"{self.what} at {self.where}, cycle {self.where.cycle}{owner}"


@dataclass(slots=True)
class Finding:
    """One broken rule.

    `registers` maps `BLOCK.REG` to its value in words; `operation` is the call in progress with its context;
    `stack` lists callers, innermost first; `count` is how often it was met.
    """

    rule: str
    kind: str
    title: str
    text: str
    block: str
    where: Place
    registers: dict[str, str] = field(default_factory=dict)
    operation: str = ""
    context: str = ""
    stack: list[str] = field(default_factory=list)
    earlier: Earlier | None = None
    repair: str = ""
    count: int = 1

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two findings the same one."""
        return self.rule, self.kind, self.block, self.where.pc, self.earlier.where.pc if self.earlier else 0

    def show(self) -> str:
        """The finding for a terminal of 80 columns."""
        lines = [f"{self.rule} {self.kind}: {self.title}" + (f" ({self.count} times)" if self.count > 1 else "")]
        parts = [("at", str(self.where)), ("", self.text)]
        if self.operation:
            parts.append(("during", self.operation))
        if self.earlier:
            parts.append(("earlier", str(self.earlier)))
        parts += [("register", f"{name} = {value}") for name, value in self.registers.items()]
        parts += [("called by" if not n else "", line) for n, line in enumerate(self.stack)]
        if self.repair:
            parts.append(("repair", self.repair))
        for label, text in parts:
            lines += _labelled(label, text)
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        found = asdict(self)
        if self.earlier:
            found["earlier"]["text"] = str(self.earlier)
        found["where"]["text"] = str(self.where)
        return found


def _labelled(label: str, text: str) -> list[str]:
    first = f"  {label:<{HANGING}}"
    return textwrap.wrap(
        text, COLUMNS, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False
    ) or [first.rstrip()]


class Findings(Sequence[Finding]):
    """The list of a run: in order of first appearance; the same finding met again is counted."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], Finding] = {}

    def add(self, finding: Finding) -> bool:
        """Count it; True when it is a new one."""
        known = self._found.setdefault(finding.key, finding)
        if known is finding:
            return True
        known.count += finding.count
        return False

    def again(self, key: tuple[Any, ...]) -> bool:
        """Count one that is known; False when it is not."""
        known = self._found.get(key)
        if known is None:
            return False
        known.count += 1
        return True

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: Any) -> Any:
        return list(self._found.values())[index]

    def clear(self) -> None:
        """Forget all."""
        self._found.clear()

    def show(self) -> str:
        """All of them, a blank line between; `no findings` when there is none."""
        return "\n\n".join(finding.show() for finding in self) or "no findings"

    def as_json(self) -> list[dict[str, Any]]:
        """For `--json`."""
        return [finding.as_json() for finding in self]
