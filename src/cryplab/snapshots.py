"""A machine's whole state, taken and put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["Snapshot", "put_back", "take"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A machine's whole state; `Machine.restore` takes it back as often as wanted."""

    memories: tuple[bytes, ...]
    blocks: tuple[Any, ...]
    slots: tuple[tuple[bool, bool], ...]
    bridges: tuple[int, ...]
    clock: Any
    core: Any
    console: Any
    bench_used: int
    observer: Any = None


def take(machine: Machine) -> Snapshot:
    """See `Machine.snapshot`."""
    return Snapshot(
        memories=tuple(bytes(view) for view in machine.hardware.memories),
        blocks=tuple(block.save() for block in machine.blocks.values()),
        slots=tuple((slot.open, slot.in_reset) for slot in machine.bus.slots),
        bridges=tuple(bridge.busy_until for bridge in machine.bus.bridges.values()),
        clock=machine.clock.save(),
        core=machine.core.save(),
        console=machine.console.save(),
        bench_used=machine.bench_memory.used,
        observer=machine.observer.save() if machine.observer else None,
    )


def put_back(machine: Machine, snapshot: Snapshot) -> None:
    """See `Machine.restore`. Core and clock come before blocks, which look at the time."""
    hardware = machine.hardware
    if machine.observer:
        machine.observer.load(snapshot.observer)
    for view, data in zip(hardware.memories, snapshot.memories, strict=True):
        view[:] = data
    machine.core.load(snapshot.core)
    machine.clock.load(snapshot.clock)
    for block, state in zip(machine.blocks.values(), snapshot.blocks, strict=True):
        block.load(state)
    hardware.lines_were_loaded()
    hardware.set_bridges()
    for bridge, busy in zip(machine.bus.bridges.values(), snapshot.bridges, strict=True):
        bridge.busy_until = busy
    for slot, (is_open, in_reset) in zip(machine.bus.slots, snapshot.slots, strict=True):
        if (slot.open, slot.in_reset) != (is_open, in_reset):
            slot.open, slot.in_reset = is_open, in_reset
            hardware.set_reachable(slot)
    machine.console.load(snapshot.console)
    machine.bench_memory.used = snapshot.bench_used
