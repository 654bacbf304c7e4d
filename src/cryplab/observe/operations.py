"""Crypto that went through hardware: operations of one kind become one row of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cryplab.reports import Operation

__all__ = ["OperationRow", "cycles_inside", "operation_table"]

DES_KEY_BITS = {"DES": 0, "TDES": 0}  # their key sizes are part of the name


@dataclass(slots=True)
class OperationRow:
    """All operations of one block, algorithm, mode and key size.

    `data_bytes` counts message bytes; `busy_cycles` those in which the engine worked, `share` theirs of the run;
    `elapsed_cycles` those from the first access of an operation to its last, time that two
    operations share counted once: a message that waits in the engine between its parts is under way, too.
    `by_dma` of the `calls` moved their data by DMA.
    """

    block: str
    algorithm: str
    mode: str
    key_bits: int
    calls: int = 0
    by_dma: int = 0
    data_bytes: int = 0
    busy_cycles: int = 0
    elapsed_cycles: int = 0
    share: float = 0.0
    callers: dict[str, int] = field(default_factory=dict)
    covered_until: int = -1

    @property
    def name(self) -> str:
        """`AES-CBC`, `SHA-256`: key size has a column of its own."""
        return f"{self.algorithm}-{self.mode}" if self.mode else self.algorithm

    @property
    def elapsed_per_byte(self) -> float | None:
        """Cycles per byte as the firmware felt them; None without message bytes."""
        return self.elapsed_cycles / self.data_bytes if self.data_bytes else None

    @property
    def busy_per_byte(self) -> float | None:
        """Cycles per byte of the engine alone; None without message bytes."""
        return self.busy_cycles / self.data_bytes if self.data_bytes else None

    def add(self, operation: Operation) -> None:
        """Count one more."""
        self.calls += operation.calls
        self.by_dma += operation.calls if operation.dma else 0
        self.data_bytes += operation.data_bytes
        self.busy_cycles += operation.busy_cycles
        begin = max(operation.first_cycle, self.covered_until)
        self.elapsed_cycles += max(0, operation.last_cycle - begin)
        self.covered_until = max(self.covered_until, operation.last_cycle)

    def as_json(self) -> dict[str, Any]:
        """The fields of `operations[]`; cycles per byte are null for an operation without message."""
        return {
            "algorithm": self.algorithm,
            "mode": self.mode,
            "key_bits": self.key_bits,
            "block": self.block,
            "calls": self.calls,
            "dma_calls": self.by_dma,
            "bytes": self.data_bytes,
            "cycles": self.elapsed_cycles,
            "engine_cycles": self.busy_cycles,
            "cycles_per_byte": _rounded(self.elapsed_per_byte),
            "engine_cycles_per_byte": _rounded(self.busy_per_byte),
            "share": round(self.share, 6),
            "callers": dict(sorted(self.callers.items(), key=lambda c: (-c[1], c[0]))),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def operation_table(
    operations: Iterable[Operation], run_cycles: int, where: Callable[[int], str] | None = None
) -> list[OperationRow]:
    """Merge operations into rows, largest share of the run first.

    Args:
        operations: in the order in which they ended.
        run_cycles: cycles of the whole run, for `share`.
        where: names the function at an address (`Symbols.describe` or the like), for `callers`.
    """
    rows: dict[tuple[str, str, str, int], OperationRow] = {}
    named: dict[int, str] = {}
    for operation in operations:
        bits = DES_KEY_BITS.get(operation.algorithm, operation.key_bits)
        key = (operation.block, operation.algorithm, operation.mode, bits)
        row = rows.get(key)
        if row is None:
            row = rows[key] = OperationRow(*key)
        row.add(operation)
        if where is not None:
            caller = named.get(operation.pc) or named.setdefault(operation.pc, where(operation.pc))
            row.callers[caller] = row.callers.get(caller, 0) + operation.calls
    for row in rows.values():
        row.share = row.busy_cycles / run_cycles if run_cycles else 0.0
    return sorted(rows.values(), key=lambda r: (-r.share, r.block, r.name, r.key_bits))


def cycles_inside(operations: Iterable[Operation], begin: int, end: int) -> int:
    """Cycles of the window [begin, end) in which at least one operation was under way; others do not count."""
    covered, until = 0, begin
    parts = ((max(o.first_cycle, begin), min(o.last_cycle, end)) for o in operations)
    spans = sorted((first, last) for first, last in parts if first < last)
    for first, last in spans:
        if last > until:
            covered += last - max(first, until)
            until = last
    return covered
