"""Calling a firmware function from Python, by the AAPCS.

Arguments go to r0 to r3, then to the stack; the result is r0. The call runs on a stack of the bench's
own memory, in thread mode on the main stack, with interrupts as the firmware left them; it ends at
a trap that the link register points to. Registers are put back afterwards, memory and blocks are not:
that is what the function did. A call from `Machine.at_pause` runs below the one that pauses, as
another task's work does, and puts the floating-point registers back, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryplab.bench_memory import BENCH_BASE, BENCH_SIZE, TRAP
from cryplab.errors import GuestCrash, LimitReached
from cryplab.running import at_breakpoint, enter

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["call"]

RED_ZONE = 256
"Bytes below the stack pointer of a call that pauses which are left alone."
FP_REGISTERS = ("fpscr", *(f"s{n}" for n in range(32)))
SAVED = ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc", "xpsr")
WORD = 0xFFFF_FFFF


def call(machine: Machine, function: str | int, args: tuple[int | bytes | bytearray, ...], seconds: float) -> int:
    """See `Machine.call`."""
    core = machine.core
    entry = function if isinstance(function, int) else machine.symbol(function).entry
    if entry & ~1 in machine.stubs:
        return machine.stubs[entry & ~1]
    nested = machine.calls_open > 0
    before = {register: core.read_register(register) for register in ((*SAVED, *FP_REGISTERS) if nested else SAVED)}
    mark = machine.bench_memory.used
    words = [a & WORD if isinstance(a, int) else machine.allocate(bytes(a)) for a in args]
    top = before["sp"] - RED_ZONE if nested else BENCH_BASE + BENCH_SIZE
    sp = (top - 4 * max(0, len(words) - 4)) & ~7
    if len(words) > 4:
        machine.write_memory(sp, b"".join(word.to_bytes(4, "little") for word in words[4:]))
    for index, word in enumerate(words[:4]):
        core.write_register(f"r{index}", word)
    core.write_register("sp", sp)
    core.write_register("lr", TRAP | 1)
    core.write_register("xpsr", before["xpsr"] & 0x1FF | 1 << 24)
    core.write_register("pc", entry | 1)
    if entry & ~1 in machine.at_entry:
        enter(machine, entry & ~1)  # a run steps over the breakpoint that it starts from
    core.fault = None
    machine.stop_reason = ""
    machine.calls_made += not nested
    machine.calls_open += 1
    try:
        _until_trap(machine, function, seconds)
        return core.read_register("r0")
    finally:
        machine.calls_open -= 1
        for register, value in before.items():
            core.write_register(register, value)
        machine.bench_memory.used = mark


def _until_trap(machine: Machine, function: str | int, seconds: float) -> None:
    core, clock = machine.core, machine.clock
    limit = clock.now + clock.cycles_for(seconds)
    while True:
        stop = core.run(limit)
        pc = core.read_register("pc") & ~1
        if stop.reason in ("breakpoint", "bkpt") and pc == TRAP:
            return
        if stop.reason == "host" and not machine.stop_reason:
            machine.at_pause()
            continue
        name = machine.where(function) if isinstance(function, int) else function
        if stop.reason in ("fault", "lockup"):
            report = machine.crash_report()
            raise GuestCrash(f"{name} faulted: {report.splitlines()[0]}", report)
        if stop.reason == "cycle" and clock.now >= limit:
            raise LimitReached(
                f"{name} has not returned after {seconds:g} virtual seconds; it is at {machine.where(pc)}"
            )
        if stop.reason == "idle":
            raise LimitReached(f"{name} sleeps at {machine.where(pc)}, with nothing that could wake it")
        if stop.reason in ("bkpt", "breakpoint"):
            outcome = at_breakpoint(machine)
            if outcome is not None:
                raise GuestCrash(f"{name} ended the firmware: {outcome.text or outcome.reason}", outcome.crash)
        if stop.reason == "reset":
            raise GuestCrash(f"{name} reset the chip")
        if stop.reason == "host":
            raise LimitReached(f"{name} was stopped at {machine.where(pc)}")
