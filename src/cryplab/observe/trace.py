"""`--trace FILE`: every register access as one JSON line, decoded when written.

Fields: cycle, pc, symbol, block, register, access ("r" or "w"), value, fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from cryplab.errors import InputError
from cryplab.observe.events import RECORD
from cryplab.observe.taps import taps_of

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["TraceWriter", "decode"]


def decode(machine: Machine, raw: bytes) -> Iterator[dict[str, Any]]:
    """Raw records as dictionaries, in the block's own words."""
    for cycle, pc, address, value, _width, kind in RECORD.iter_unpack(raw):
        if kind > 1:
            continue
        slot = machine.bus.slot_at(address)
        line: dict[str, Any] = {"cycle": cycle, "pc": pc, "symbol": _symbol(machine, pc)}
        if slot is None:
            line |= {"block": None, "register": f"{address:#010x}"}
        else:
            place = slot.block.place(address - slot.base)
            line["block"] = slot.block.name
            line["register"] = place.name if place else f"+{address - slot.base:#05x}"
        line |= {"access": "w" if kind else "r", "value": value}
        if slot is not None and place:
            line["fields"] = place.reg.decode(value)
        yield line


def _symbol(machine: Machine, pc: int) -> str:
    return machine.image.symbols.describe(pc) if machine.image else ""


class TraceWriter:
    """A context manager that writes a machine's accesses to a file while it runs."""

    def __init__(self, machine: Machine, path: Path) -> None:
        self.machine, self.path = machine, path
        self._file: IO[str] | None = None

    def __enter__(self) -> TraceWriter:
        try:
            self._file = open(self.path, "w", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write the trace to {self.path}: {error.strerror}") from None
        taps_of(self.machine).add(self._write)
        return self

    def _write(self, raw: bytes) -> None:
        """What has come so far."""
        if self._file is not None:
            for line in decode(self.machine, raw):
                self._file.write(json.dumps(line) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        taps_of(self.machine).remove(self._write)
        if self._file is not None:
            self._file.close()
            self._file = None
