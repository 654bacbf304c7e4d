"""Handles and interrupt handlers: a firmware's handler works on the firmware's handle, check's calls on their own.

    void CRYP_IRQHandler(void) { HAL_CRYP_IRQHandler(&hcryp); }

The bench gives the HAL's handler the handle of the call that has started last, as a firmware with more than one handle
must do. Everything else is the firmware's: the vector, the handler, the priority, what is enabled.
"""

from __future__ import annotations

from collections.abc import Callable

from cryplab.errors import LimitReached
from cryplab.machine import Machine

__all__ = ["HANDLERS", "follow"]

HANDLERS = {
    "CRYP": ("HAL_CRYP_IRQHandler", "HAL_CRYPEx_GCMCCM_IRQHandler"),
    "HASH": ("HAL_HASH_IRQHandler", "HAL_HASHEx_IRQHandler"),
    "RNG": ("HAL_RNG_IRQHandler",),
}


STORM = 40_000
"No job of `check` takes so many: 64 KiB are 4,096 blocks."


class _Handle:
    """The handle of one block's last call."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.address, self.served = machine, 0, 0

    def started(self) -> None:
        """A function that works by interrupt begins."""
        self.address, self.served = self.machine.core.read_register("r0"), 0

    def serve(self) -> int | None:
        """The HAL's handler begins: the handle it gets. Raises: LimitReached when it does so without end."""
        self.served += 1
        if self.served > STORM:
            where = self.machine.where(self.machine.core.pc)
            self.served = 0
            raise LimitReached(f"{where} was entered {STORM} times for one call: nothing makes the interrupt go away")
        return self.address or None


def follow(machine: Machine) -> None:
    """From now on the HAL's handlers get the handle that is at work."""
    assert machine.image is not None
    for block, handlers in HANDLERS.items():
        handle = _Handle(machine)
        begins = ("HAL_HASH", "HAL_HMAC") if block == "HASH" else (f"HAL_{block}",)
        for symbol in machine.image.symbols:
            if symbol.name in handlers:
                _at(machine, symbol.address, handle.serve)
            elif symbol.name.startswith(begins) and symbol.name.endswith("_IT"):
                _at(machine, symbol.address, handle.started)


def _at(machine: Machine, address: int, does: Callable[[], int | None]) -> None:
    machine.at_entry[address & ~1] = does
    machine.core.breakpoint(address & ~1)
