"""What a crashed guest is told by: kind of fault, source line, registers, call stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryplab.errors import FirmwareError
from cryplab.unwind import call_stack, show_stack

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["describe_crash"]

REGISTERS = (*(f"r{n}" for n in range(13)), "sp", "lr", "pc", "xpsr")


def describe_crash(machine: Machine, headline: str = "") -> str:
    """The report of the first fault since reset; first line is a sentence that stands alone."""
    fault = machine.core.fault
    registers = dict(fault.registers) if fault else {name: machine.core.read_register(name) for name in REGISTERS}
    if fault and not headline:
        headline = f"{fault.kind} at {machine.where(fault.pc)}: {fault.cause}"
    elif not headline:
        headline = f"stopped at {machine.where(registers['pc'])}"
    lines = [headline, ""]
    for start in range(0, len(REGISTERS), 4):
        row = REGISTERS[start : start + 4]
        lines.append("  " + "  ".join(f"{name:>4} {registers.get(name, 0):08x}" for name in row))
    if machine.image is not None:
        frames = call_stack(machine.image, registers, lambda address: _word(machine, address))
        if frames:
            lines += ["", *("  " + line for line in show_stack(frames).splitlines())]
    return "\n".join(lines)


def _word(machine: Machine, address: int) -> int | None:
    try:
        return machine.read_word(address)
    except FirmwareError:
        return None
