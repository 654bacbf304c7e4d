"""What a run has to tell: guest errors, operations, what was not modelled, what was not mapped.

Blocks and the bus call `Reports`; the machine adds where it happened (pc, cycle); the commands print.
The same report met many times is one entry with a count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cryplab.errors import StrictError

__all__ = ["GuestError", "Location", "NotModelled", "Operation", "Reports", "Unmapped"]


@dataclass(frozen=True, slots=True)
class Location:
    """Where the guest was: program counter and cycle."""

    pc: int = 0
    cycle: int = 0


@dataclass(slots=True)
class GuestError:
    """One access or sequence that broke a rule of the manual."""

    block: str
    text: str
    rule: str = ""
    where: Location = field(default_factory=Location)
    count: int = 1


@dataclass(slots=True)
class NotModelled:
    """A register or field that we know and do not do was used."""

    block: str
    what: str
    text: str
    where: Location = field(default_factory=Location)
    count: int = 1


@dataclass(slots=True)
class Unmapped:
    """Nothing lives at this address."""

    address: int
    write: bool
    where: Location = field(default_factory=Location)
    count: int = 1


@dataclass(slots=True)
class Operation:
    """One crypto job seen at a block, from its start to its result.

    `data_bytes` counts message bytes that the engine processed (whole blocks for ciphers),
    `busy_cycles` the cycles in which the engine worked, `calls` is 1 here and the sum in tables.
    `words_in` and `words_out` count words through the data registers (or DMA).
    """

    block: str
    algorithm: str
    mode: str
    direction: str = ""
    key_bits: int = 0
    data_bytes: int = 0
    busy_cycles: int = 0
    words_in: int = 0
    words_out: int = 0
    dma: bool = False
    first_cycle: int = 0
    last_cycle: int = 0
    pc: int = 0
    calls: int = 1

    @property
    def name(self) -> str:
        """`AES-CBC-128`, `SHA-256`, `RNG`."""
        parts = [self.algorithm]
        if self.mode:
            parts.append(self.mode)
        if self.key_bits and self.algorithm == "AES":
            parts.append(str(self.key_bits))
        return "-".join(parts)


class Reports:
    """Collects; `where` is set by the machine to tell pc and cycle of the access in progress."""

    def __init__(self, *, strict: bool = False, operations_kept: int = 200_000) -> None:
        self.strict = strict
        self.operations_kept = operations_kept
        self.where: Callable[[], Location] = Location
        self.on_operation: Callable[[Operation], None] | None = None
        self.on_guest_error: Callable[[GuestError], None] | None = None
        "Hears every guest error, repeated ones too; set by the observer."
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.guest_errors: dict[tuple[str, str, int], GuestError] = {}
        self.unmodelled: dict[tuple[str, str], NotModelled] = {}
        self.unmapped_accesses: dict[tuple[int, bool], Unmapped] = {}
        self.operations: list[Operation] = []
        self.operations_dropped = 0

    def guest_error(self, error: GuestError) -> None:
        """Count a broken rule, by block, sentence and place."""
        error.where = self.where()
        if self.on_guest_error:
            self.on_guest_error(error)
        known = self.guest_errors.setdefault((error.block, error.text, error.where.pc), error)
        if known is not error:
            known.count += 1
        if self.strict:
            raise StrictError(f"guest error at {error.where.pc:#010x}: {error.text}")

    def not_modelled(self, use: NotModelled) -> None:
        """Count the use of something not modelled."""
        use.where = self.where()
        known = self.unmodelled.setdefault((use.block, use.what), use)
        if known is not use:
            known.count += 1
        if self.strict:
            raise StrictError(f"not modelled, used at {use.where.pc:#010x}: {use.what} {use.text}")

    def unmapped(self, address: int, write: bool) -> None:
        """Count an access to where nothing lives."""
        access = Unmapped(address, write, self.where())
        known = self.unmapped_accesses.setdefault((address, write), access)
        if known is not access:
            known.count += 1
        if self.strict:
            verb = "written" if write else "read"
            raise StrictError(f"unmapped address {address:#010x} {verb} at {access.where.pc:#010x}")

    def operation(self, operation: Operation) -> None:
        """Take a finished operation."""
        if len(self.operations) < self.operations_kept:
            self.operations.append(operation)
        else:
            self.operations_dropped += 1
        if self.on_operation:
            self.on_operation(operation)
