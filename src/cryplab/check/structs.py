"""What a caller does beside calls: fills in structs of the firmware, and waits for what goes on in the background."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cryplab.errors import FirmwareError, LimitReached
from cryplab.layout import layouts
from cryplab.machine import Machine

__all__ = ["fill", "wait"]

WAIT_CODE = bytes.fromhex("0278 8a42 fcd0 1046 7047")
"2: ldrb r2, [r0]; cmp r2, r1; beq 2b; mov r0, r2; bx lr"


def fill(machine: Machine, type_: str, address: int, members: Mapping[str, int]) -> None:
    """Set members of a C struct by path, `{"Init.KeySize": 0}`.

    Raises: FirmwareError when the firmware's debug information does not describe one.
    """
    assert machine.image is not None
    found = layouts(Path(machine.image.path), {type_}).get(type_)
    for path, value in members.items():
        if found is None or path not in found:
            raise FirmwareError(f"{machine.image.path} does not describe {type_}.{path}: compile with -g")
        machine.write_memory(address + found[path].offset, value.to_bytes(found[path].size, "little"))


def wait(machine: Machine, address: int, busy: int, seconds: float) -> int:
    """Let the machine run while the byte at an address has this value; interrupts and DMA go on meanwhile.

    Args:
        seconds: of virtual time, at most.
    Returns: what the byte became. Raises: LimitReached when it did not change, GuestCrash.
    """
    mark = machine.bench_memory.used
    code = machine.allocate(WAIT_CODE, align=4)
    try:
        return machine.call(code, address, busy, seconds=seconds)
    except LimitReached as reached:
        inside = "" if f"at {code:#010x}" in str(reached) else f"; {reached}"
        state = f"the byte at {address:#010x} is still {busy} (busy) after {seconds:g} virtual seconds"
        raise LimitReached(f"nothing ends the job: {state}{inside}") from None
    finally:
        machine.bench_memory.used = mark
