"""Errors injected on purpose, by name: what silicon can do to a driver and a test bench seldom does.

    from cryplab import inject

    for injection in inject.parse(["rng-seed-error=3", "cryp-slow"], seed=7):
        injection.arm(machine)

Everything follows from the name, its value and the seed, so the printed line repeats it. What a right driver owes:

`survive`: every result stays right. `report`: either the result is right all the same (after the recovery that the
manual describes), or the function returns an error; wrong data with success is a fault.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cryplab.errors import BoardError, UsageError, nearest

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["INJECTIONS", "TASK_SWITCH", "Injection", "Known", "parse", "switch_at_each_access"]

Owes = Literal["survive", "report"]
RANDOM = ("RNG",)
ENGINES = ("CRYP", "HASH")
ACCESSED = ("CRYP", "HASH", "RNG")
TASK_SWITCH = "task-switch-each-access"
SLOW_RNG = 16
STUCK_WORD = 0x5A5A_5A5A
MOST_WORDS, MOST_ITEMS = 8, 32
"A seeded choice of the word, or the DMA item, that fails lies below these."

VTOR, SET_ENABLE = 0xE000_ED08, 0xE000_E100
VECTORS_MOST = 256
HANDLER = bytes.fromhex("4ff0a530 4ff0a531 4ff0a532 4ff0a533 4ff0a53c 0028 7047")
"""An interrupt handler that writes every register that it may (r0 to r3, r12, flags), as compiled code does."""
HANDLER_ROOM = 32


@dataclass(frozen=True, slots=True)
class Known:
    """What can be injected: blocks it needs, what a right driver owes, what happens in one sentence."""

    name: str
    blocks: tuple[str, ...]
    owes: Owes
    text: str
    arm: Callable[[Machine, Injection], None]


@dataclass(frozen=True, slots=True)
class Injection:
    """One error, ready to be armed on a machine; `value` is what stood behind `=`, or None for a seeded choice."""

    known: Known
    value: int | None
    seed: int

    @property
    def name(self) -> str:
        """As on the command line."""
        return self.known.name if self.value is None else f"{self.known.name}={self.value}"

    @property
    def owes(self) -> Owes:
        """What a right driver owes."""
        return self.known.owes

    def choose(self, most: int) -> int:
        """The value given, else one from the seed: 1 to `most`."""
        if self.value is not None:
            return self.value
        return random.Random(f"{self.seed}/{self.known.name}").randrange(1, most + 1)

    def arm(self, machine: Machine) -> None:
        """Make it happen from now on; again after each `Machine.restore`. Raises: BoardError without the block."""
        if not any(block in machine.blocks for block in self.known.blocks):
            raise BoardError(f"--inject {self.name}: {machine.chip.name} has no {' or '.join(self.known.blocks)}")
        self.known.arm(machine, self)


# -- random number generator -----------------------------------------------------------------------
def _rng(machine: Machine) -> Any:
    return machine.blocks["RNG"]


def _seed_error(machine: Machine, injection: Injection) -> None:
    rng = _rng(machine)
    rng.seed_error_at = rng._made + injection.choose(MOST_WORDS)


def _clock_error(machine: Machine, injection: Injection) -> None:
    _rng(machine).clock_error = True


def _stuck(machine: Machine, injection: Injection) -> None:
    _rng(machine).stuck_word = STUCK_WORD if injection.value is None else injection.value


def _slow_words(machine: Machine, injection: Injection) -> None:
    _rng(machine).slow = SLOW_RNG if injection.value is None else injection.value


def _zero_word(machine: Machine, injection: Injection) -> None:
    rng = _rng(machine)
    rng.zero_at = rng._made + injection.choose(MOST_WORDS)


# -- engines and DMA -------------------------------------------------------------------------------
def _speed(block: str, speed: str) -> Callable[[Machine, Injection], None]:
    def arm(machine: Machine, injection: Injection) -> None:
        engine: Any = machine.blocks[block]
        engine.speed = speed

    return arm


def _dma_error(machine: Machine, injection: Injection) -> None:
    """The first transfer on each stream that serves CRYP or HASH fails."""
    for wire in machine.chip.dma:
        if wire.request.partition(".")[0] in ENGINES:
            controller: Any = machine.blocks[wire.controller]
            controller.inject_error(wire.stream, injection.choose(MOST_ITEMS))


# -- at each access --------------------------------------------------------------------------------
def _after_each_access(machine: Machine, blocks: Iterable[str], after: Callable[[], None]) -> None:
    """Call back behind every access to registers of the blocks, once per machine and reason."""
    bus, core = machine.bus, machine.core
    ranges = []
    for name in blocks:
        if name not in machine.blocks:
            continue
        slot = bus.slot_of(name)
        ranges.append((slot.base, slot.base + slot.size))
        for address, read, write in bus.bindings(slot):
            core.bind(address, _then(read, after) if read else None, _then(write, after) if write else None)
    read_slowly, write_slowly = core.on_read, core.on_write

    def on_read(address: int, width: int) -> int:
        value = read_slowly(address, width)
        if any(first <= address < end for first, end in ranges):
            after()
        return value

    def on_write(address: int, value: int, width: int) -> None:
        write_slowly(address, value, width)
        if any(first <= address < end for first, end in ranges):
            after()

    core.on_read, core.on_write = on_read, on_write


def _then(access: Callable[..., Any], after: Callable[[], None]) -> Callable[..., Any]:
    def both(*arguments: Any) -> Any:
        result = access(*arguments)
        after()
        return result

    return both


def _interrupts(machine: Machine, injection: Injection) -> None:
    """A vector table of the bench, the firmware's but for one interrupt that nothing uses; it is raised each time."""
    number = machine.core.interrupts - 1
    count = 16 + number
    handler = machine.allocate(HANDLER + bytes(HANDLER_ROOM - len(HANDLER)), align=4)
    place = machine.allocate(4 * (count + 1), align=4 * VECTORS_MOST)

    def take_over() -> None:
        """At first, and again when the firmware has set VTOR."""
        present = int(machine.bus.read(VTOR, 4))
        if present != place:
            table = machine.read_memory(present, 4 * count) + (handler | 1).to_bytes(4, "little")
            machine.write_memory(place, table)
            machine.bus.write(VTOR, place, 4)
            machine.bus.write(SET_ENABLE + 4 * (number // 32), 1 << number % 32, 4)

    def pulse() -> None:
        take_over()
        machine.core.set_interrupt(number, True)
        machine.core.set_interrupt(number, False)

    take_over()
    _hook_once(machine, "irq-each-access", pulse)


def _hook_once(machine: Machine, reason: str, after: Callable[[], None]) -> None:
    hooks = machine.access_hooks

    def after_access() -> None:
        for hook in hooks.values():
            hook()

    if not hooks:
        _after_each_access(machine, ACCESSED, after_access)
    hooks[reason] = after


def switch_at_each_access(machine: Machine, other: Callable[[], None], most: int = 200) -> None:
    """Another task takes the core after each access to CRYP, HASH or RNG, runs `other` to its end, and gives it back.

    Args:
        machine: its `call` is what is interrupted.
        other: makes calls of its own with `machine.call`; they are not interrupted again.
        most: switches in one call.

    As a kernel's switch it waits while interrupts are masked (PRIMASK, BASEPRI) or a handler runs.
    """
    state = {"inside": False, "pending": False, "left": most, "call": -1}

    def after() -> None:
        if state["inside"]:
            return
        if state["call"] != machine.calls_made:
            state["call"], state["left"] = machine.calls_made, most
        if state["left"] > 0:
            state["pending"] = True
            machine.core.stop()

    def at_pause() -> None:
        core = machine.core
        if not state["pending"] or state["inside"]:
            return
        masked = core.read_register("primask") or core.read_register("basepri") or core.read_register("xpsr") & 0x1FF
        if masked:
            return
        state["pending"], state["inside"] = False, True
        state["left"] -= 1
        try:
            other()
        finally:
            state["inside"] = False

    machine.at_pause = at_pause
    _hook_once(machine, TASK_SWITCH, after)


def _tasks(machine: Machine, injection: Injection) -> None:
    """`check` brings the other task (`switch_at_each_access`) before this is armed."""
    if TASK_SWITCH not in machine.access_hooks:
        raise UsageError(
            f"--inject {injection.name}: there is no other task here; use it with check, "
            "or call inject.switch_at_each_access with one"
        )


INJECTIONS = {
    known.name: known
    for known in (
        Known("rng-seed-error", RANDOM, "report", "the Nth word is a seed error (SECS, SEIS)", _seed_error),
        Known("rng-clock-error", RANDOM, "report", "the RNG clock counts as too slow (CECS, CEIS)", _clock_error),
        Known("rng-stuck", RANDOM, "report", "every word has the same value", _stuck),
        Known("rng-slow", RANDOM, "survive", f"words take {SLOW_RNG} times as long", _slow_words),
        Known("rng-zero", RANDOM, "report", "the Nth word is 0", _zero_word),
        Known("cryp-slow", ("CRYP",), "survive", "the longest latency of CRYP", _speed("CRYP", "slow")),
        Known("cryp-fast", ("CRYP",), "survive", "CRYP's results are there at once", _speed("CRYP", "fast")),
        Known("hash-slow", ("HASH",), "survive", "the longest latency of HASH", _speed("HASH", "slow")),
        Known("hash-fast", ("HASH",), "survive", "HASH's results are there at once", _speed("HASH", "fast")),
        Known(
            "dma-error",
            ENGINES,
            "report",
            "a transfer error at the Nth item on the streams of CRYP and HASH",
            _dma_error,
        ),
        Known(
            "irq-each-access", ACCESSED, "survive", "an interrupt after each access to CRYP, HASH or RNG", _interrupts
        ),
        Known(
            TASK_SWITCH,
            ACCESSED,
            "survive",
            "another task at each access, where the firmware has locks",
            _tasks,
        ),
    )
}


def parse(names: Iterable[str], seed: int = 0) -> list[Injection]:
    """Injections by name, `NAME` or `NAME=NUMBER`. Raises: UsageError naming the nearest."""
    found = []
    for text in names:
        name, equals, value = text.partition("=")
        if name not in INJECTIONS:
            raise UsageError(
                f"--inject {text}: no such error{nearest(name, INJECTIONS)}; there are {', '.join(INJECTIONS)}"
            )
        try:
            number = int(value, 0) if equals else None
        except ValueError:
            raise UsageError(f"--inject {text}: '{value}' is no number") from None
        found.append(Injection(INJECTIONS[name], number, seed))
    return found
