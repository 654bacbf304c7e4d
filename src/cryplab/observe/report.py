"""What `run` tells at the end: crypto by operation and place, what broke a rule, what was not modelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from cryplab.observe.operations import OperationRow, operation_table
from cryplab.observe.profile import by_symbol
from cryplab.observe.software import SoftwareRow, software_table
from cryplab.show import hanging, plain_table

if TYPE_CHECKING:
    from cryplab.machine import Machine, Outcome

__all__ = ["RunReport", "run_report"]

SOFTWARE_LEAST_SHARE = 0.0005
LISTED = 20
FUNCTIONS_LISTED = 3
CALLERS_LISTED = 5
MUST_BE_A_WAIT = 1000
MEANING = (
    "  (cycles/B: from a job's first access to its last; engine: those in which the\n"
    "  block worked; share: theirs of the run)"
)
REASONS = {
    "finished": "finished",
    "until": "the awaited text was printed",
    "idle": "asleep, with nothing that could wake it",
    "time": "the time limit was reached",
    "stopped": "stopped",
    "fault": "the guest faulted",
    "lockup": "the core locked up",
    "reset": "the guest reset itself again and again",
}


@dataclass
class RunReport:
    """The answer of a run; `to_json` has the fields of the contract, `render` the text."""

    machine: Machine
    outcome: Outcome
    wall_seconds: float
    operations: list[OperationRow]
    software: list[SoftwareRow]
    findings: list[Any] = field(default_factory=list)
    quiet: bool = False
    "Show only what is wrong."
    verbose: bool = False
    "Show lists whole, callers, and how fast the run was."

    @property
    def seconds(self) -> float:
        """Virtual seconds since reset."""
        return self.machine.clock.seconds()

    @property
    def exit_code(self) -> int:
        """What the command line returns: 4 crashed, 1 findings or the guest reported failure, else 0."""
        if self.outcome.exit_code:
            return self.outcome.exit_code
        return 1 if self.findings else 0

    @property
    def end_sentence(self) -> str:
        """How it ended, with the virtual time."""
        text = self.outcome.text or REASONS[self.outcome.reason]
        code = f" with code {self.outcome.code}" if self.outcome.code is not None else ""
        return f"{text}{code}; virtual time {self.seconds:.6f} s, {self.machine.clock.now} cycles"

    def to_json(self) -> dict[str, Any]:
        """One document."""
        reports = self.machine.reports
        return {
            "board": self.machine.board.name,
            "console": self.machine.console.text,
            "seconds": self.seconds,
            "cycles": self.machine.clock.now,
            "clock_hz": self.machine.clock.hz,
            "wall_seconds": round(self.wall_seconds, 3),
            "seed": self.machine.seed,
            "operations": [row.as_json() for row in self.operations],
            "software": [row.as_json() for row in self.software],
            "findings": [finding.as_json() for finding in self.findings],
            "guest_errors": [
                {"block": e.block, "text": e.text, "rule": e.rule, "pc": e.where.pc, "cycle": e.where.cycle,
                 "where": self.machine.where(e.where.pc), "count": e.count}
                for e in reports.guest_errors.values()
            ],
            "not_modelled": [
                {"block": u.block, "what": u.what, "text": u.text, "pc": u.where.pc, "cycle": u.where.cycle,
                 "where": self.machine.where(u.where.pc), "count": u.count}
                for u in reports.unmodelled.values()
            ],
            "unmapped": [
                {"address": u.address, "access": "w" if u.write else "r", "pc": u.where.pc, "cycle": u.where.cycle,
                 "where": self.machine.where(u.where.pc), "count": u.count}
                for u in reports.unmapped_accesses.values()
            ],
            "network": self._network_json(),
            "end": {"reason": self.outcome.reason, "code": self.outcome.code, "text": self.end_sentence,
                    "crash": self.outcome.crash},
        }  # fmt: skip

    def _network_json(self) -> dict[str, Any]:
        network = self.machine.network
        return {"sent": network.sent, "received": network.received, "complaints": network.complaints}

    # -- text ----------------------------------------------------------------------------------
    def render(self) -> list[RenderableType]:
        """Behind the console text: operations, software, findings, what was not modelled, the end."""
        console = self.machine.console.text
        parts: list[RenderableType] = [] if console.endswith("\n") or not console else [""]
        if self.quiet:
            crash = ["", f"end: {self.end_sentence}", "", self.outcome.crash] if self.outcome.crash else []
            errors = self._guest_errors() if self.machine.reports.guest_errors else []
            return [*parts, *self._findings(), *errors, *crash]
        parts += ["", "crypto in hardware"]
        parts += self._operations() if self.operations else ["  none"]
        parts += ["", "crypto in software"]
        parts += [self._software()] if self.software else ["  none seen"]
        parts += self._findings()
        parts += self._guest_errors()
        parts += self._not_modelled()
        parts += self._network()
        parts += ["", f"end: {self.end_sentence}"]
        if self.verbose:
            parts += [self._speed()]
        if self.outcome.crash:
            parts += ["", self.outcome.crash]
        return parts

    def _operations(self) -> list[RenderableType]:
        table = plain_table("  operation", "key", "calls", "bytes", "block", "cycles/B", "engine", "share",
                            right=("key", "calls", "bytes", "cycles/B", "engine", "share"))  # fmt: skip
        for row in self.operations:
            felt, busy = row.elapsed_per_byte, row.busy_per_byte
            table.add_row(
                "  " + row.name,
                str(row.key_bits or "-"),
                str(row.calls),
                str(row.data_bytes),
                row.block + (" (DMA)" if row.by_dma == row.calls else " (part DMA)" if row.by_dma else ""),
                "-" if felt is None else f"{felt:.2f}",
                "-" if busy is None else f"{busy:.2f}",
                _percent(row.share),
            )
        parts: list[RenderableType] = [table, MEANING]
        if self.verbose:
            parts += ["", "  started by"]
            parts += [
                hanging(f"{row.name} {row.key_bits or ''}".rstrip() + f": {where}{_times(count)}", 4)
                for row in self.operations
                for where, count in sorted(row.callers.items(), key=lambda item: -item[1])[:CALLERS_LISTED]
            ]
        return parts

    def _software(self) -> RenderableType:
        """Two lines a row: share, algorithm and why; the functions, which may have long names."""
        table = plain_table("  share", "algorithm", right=("  share",))
        table.show_header = False
        for row in self.software:
            shown = row.functions if self.verbose else row.functions[:FUNCTIONS_LISTED]
            names = ", ".join(f.name for f in shown) + (", ..." if len(shown) < len(row.functions) else "")
            table.add_row("  " + _percent(row.share), f"{row.algorithm}: {row.reason}")
            table.add_row("", names)
        return table

    def _speed(self) -> str:
        wall = max(self.wall_seconds, 1e-9)
        millions = self.machine.core.instructions / 1e6
        rate = millions / wall
        return f"     wall time {self.wall_seconds:.2f} s, {millions:.1f} million instructions, {rate:.1f} MIPS"

    def _findings(self) -> list[RenderableType]:
        if not self.findings:
            return []
        parts: list[RenderableType] = ["", f"findings: {len(self.findings)}"]
        for finding in self.findings:
            parts += ["", finding.show()]
        return parts

    def _guest_errors(self) -> list[RenderableType]:
        errors = list(self.machine.reports.guest_errors.values())
        lines = [f"{self.machine.where(e.where.pc)}: {e.text}{_times(e.count)}" for e in errors]
        return ["", f"guest errors: {len(lines) or 'none'}", *self._listed(lines)]

    def _not_modelled(self) -> list[RenderableType]:
        reports = self.machine.reports
        lines = [
            f"{self.machine.where(u.where.pc)}: {u.what} {u.text}{_times(u.count)}" for u in reports.unmodelled.values()
        ]
        lines += [
            f"{self.machine.where(u.where.pc)}: nothing is mapped at {u.address:#010x}, "
            f"{'written' if u.write else 'read'}{_times(u.count)}"
            for u in reports.unmapped_accesses.values()
        ]
        parts = ["", f"not modelled or not mapped: {len(lines) or 'none'}", *self._listed(lines)]
        busiest = max(reports.unmodelled.values(), key=lambda u: u.count, default=None)
        if busiest and busiest.count >= MUST_BE_A_WAIT and self.outcome.reason == "time" and "+0x" in busiest.what:
            name, _, offset = busiest.what.partition("+")
            parts.append(
                hanging(f"the firmware waits for {busiest.what}? --set {name}.{offset}.BIT=VALUE lets it pass")
            )
        return parts

    def _network(self) -> list[RenderableType]:
        network = self.machine.network
        if not (network.sent or network.received or network.complaints):
            return []
        head = f"network: {network.sent} frames sent, {network.received} received"
        return ["", head, *self._listed(network.complaints)]

    def _listed(self, lines: list[str]) -> list[RenderableType]:
        """Lines with their continuation further in; the first ones unless `verbose`."""
        shown = lines if self.verbose else lines[:LISTED]
        parts: list[RenderableType] = [hanging(line) for line in shown]
        if len(shown) < len(lines):
            parts.append(f"  and {len(lines) - len(shown)} more (-v lists all)")
        return parts


def _percent(share: float) -> str:
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def run_report(machine: Machine, outcome: Outcome, wall_seconds: float = 0.0) -> RunReport:
    """Gather what a run has to tell."""
    cycles = machine.clock.now
    symbols = machine.image.symbols if machine.image else None
    operations = machine.reports.operations
    software: list[SoftwareRow] = []
    if symbols is not None:
        profile = by_symbol(machine.core.profile(), symbols)
        software = software_table(profile, cycles, machine.chip, operations, symbols)
        software = [row for row in software if row.share >= SOFTWARE_LEAST_SHARE]
    return RunReport(
        machine=machine,
        outcome=outcome,
        wall_seconds=wall_seconds,
        operations=operation_table(operations, cycles, machine.where),
        software=software,
        findings=list(machine.observer.findings) if machine.observer else [],
    )
