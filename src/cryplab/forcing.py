"""What a user forces: bits that read as wanted, functions that return at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryplab.errors import UsageError

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["force", "stub"]

WORD = 0xFFFF_FFFF


def force(machine: Machine, text: str) -> None:
    """Make bits of a block read as wanted: `BLOCK.REG.FIELD=VALUE`. Raises: UsageError."""
    path, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: expected BLOCK.REG.FIELD=VALUE")
    try:
        number = int(value, 0)
    except ValueError:
        raise UsageError(f"--set {text}: '{value}' is no number") from None
    slot = machine.bus.force(path, number)
    for offset in slot.forced:
        machine.core.bind(slot.base + offset, None, None)


def stub(machine: Machine, text: str) -> None:
    """Make a function return a value at once: `SYMBOL=VALUE` (value optional, default 0).

    The function's first instruction becomes a breakpoint of the bench; no code is patched.
    Raises: UsageError, FirmwareError for an unknown symbol.
    """
    name, _, value = text.partition("=")
    try:
        number = int(value or "0", 0) & WORD
    except ValueError:
        raise UsageError(f"--stub {text}: '{value}' is no number; expected SYMBOL=VALUE") from None
    entry = machine.symbol(name).entry & ~1
    machine.stubs[entry] = number
    machine.core.breakpoint(entry)
