"""Running a machine: in slices, until something ends the run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryplab.consoles import SemihostRequest
from cryplab.cpu.cortex_m import Stop

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["FINISHED_SYMBOL", "Outcome", "at_breakpoint", "enter", "running"]

RTT_SYMBOL, RTT_POLL_SECONDS = "_SEGGER_RTT", 0.001
SLICE_SECONDS = 0.25
"A run comes back to Python so often, for progress."
AFTER_FAULT_SECONDS = 0.05
"A guest that faulted goes on for so long, so that its own handler can print."
FINISHED_SYMBOL, EXIT_CODE_SYMBOL = "cryplab_stopped", "cryplab_exit_code"
BKPT, BKPT_SEMIHOSTING = 0xBE00, 0xAB
MAX_RESETS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    `reason`: "finished" (the guest said so), "until" (text seen), "idle" (asleep with nothing to come),
    "time" (virtual time used up), "stopped" (by the user), "fault", "lockup", "reset".
    `code`: the guest's exit code when it gave one. `exit_code`: what the command line returns.
    """

    reason: str
    code: int | None = None
    text: str = ""
    crash: str = ""

    @property
    def exit_code(self) -> int:
        """0 done, 1 the guest reported failure, 4 crashed."""
        if self.reason in ("fault", "lockup", "reset"):
            return 4
        return 1 if self.code else 0


def running(
    machine: Machine, until: str | None, seconds: float, on_progress: Callable[[float], None] | None
) -> Generator[None, None, Outcome]:
    """See `Machine.running`."""
    outcome = yield from _Run(machine, until, seconds, on_progress).slices()
    _poll_rtt(machine)
    for block in machine.blocks.values():
        block.finish()
    if machine.observer:
        machine.observer.finish(outcome.reason, machine.core.pc)
    return outcome


class _Run:
    """A run between its slices: the time at which it ends, resets so far, the first crash in words."""

    def __init__(
        self, machine: Machine, until: str | None, seconds: float, on_progress: Callable[[float], None] | None
    ) -> None:
        self.machine, self.on_progress = machine, on_progress
        self.end_seconds = machine.clock.seconds() + seconds
        has_rtt = machine.image is not None and machine.image.symbols.get(RTT_SYMBOL) is not None
        self.slice_seconds = RTT_POLL_SECONDS if has_rtt else SLICE_SECONDS
        self.crash = ""
        self.resets = 0
        machine.stop_reason = ""
        machine.console.watch(until, self._until_seen)

    def _until_seen(self) -> None:
        self.machine.stop_reason = "until"
        self.machine.core.stop()

    def slices(self) -> Generator[None, None, Outcome]:
        """Yields after each slice of time."""
        machine, clock = self.machine, self.machine.clock
        while (left := self.end_seconds - clock.seconds()) > 0 and machine.stop_reason != "until":
            seconds = min(left, self.slice_seconds, machine.network.slice_seconds())
            stop = machine.core.run(clock.now + max(1, clock.cycles_for(seconds)))
            _poll_rtt(machine)
            if self.on_progress:
                self.on_progress(clock.seconds())
            if stop.reason == "cycle":
                machine.network.exchange()
                yield
                continue
            outcome = self._outcome(stop)
            if outcome:
                return outcome
        return self._conclusion()

    def _outcome(self, stop: Stop) -> Outcome | None:
        """How the run ends because of what stopped the core; None when it goes on."""
        machine = self.machine
        match stop.reason:
            case "host" if machine.stop_reason:
                return self._conclusion()
            case "bkpt" | "breakpoint":
                return at_breakpoint(machine)
            case "fault":
                self.crash = self.crash or machine.crash_report()
                self.end_seconds = min(self.end_seconds, machine.clock.seconds() + AFTER_FAULT_SECONDS)
            case "lockup":
                return Outcome("lockup", text="the core locked up", crash=self.crash or machine.crash_report())
            case "reset":
                self.resets += 1
                if self.crash or self.resets > MAX_RESETS:
                    return self._conclusion()
                machine.system_reset()
            case "idle":
                if self.crash:
                    return self._conclusion()
                if not machine.network.wait_for_something():
                    return Outcome("idle", text="asleep, with nothing that could wake it")
        return None

    def _conclusion(self) -> Outcome:
        """How a run ends that a crash, a person, a text, too many resets or the time ended."""
        if self.crash:
            return Outcome("fault", text="the guest faulted", crash=self.crash)
        return Outcome(self.machine.stop_reason or ("reset" if self.resets > MAX_RESETS else "time"))


def _poll_rtt(machine: Machine) -> None:
    """A probe polls from outside; events of the clock would keep a sleeping guest from being idle."""
    symbol = machine.image.symbols.get(RTT_SYMBOL) if machine.image else None
    if symbol and (machine.rtt.at is not None or machine.rtt.find(symbol.address, machine.hardware.rams)):
        machine.rtt.poll(machine.clock.now)


def at_breakpoint(machine: Machine) -> Outcome | None:
    """The core stands at a breakpoint: stubs and semihosting are served and it goes on; the guest's end finishes it."""
    core = machine.core
    pc = core.read_register("pc") & ~1
    if pc in machine.at_entry:
        enter(machine, pc)
        return None
    if pc in machine.stubs:
        core.write_register("r0", machine.stubs[pc])
        core.write_register("pc", core.read_register("lr"))
        return None
    done = machine.image.symbols.get(FINISHED_SYMBOL) if machine.image else None
    if machine.image and done and pc == done.entry & ~1:
        code_at = machine.image.symbols.get(EXIT_CODE_SYMBOL)
        return Outcome("finished", code=machine.read_word(code_at.address) if code_at else 0)
    instruction = int.from_bytes(machine.read_memory(pc, 2), "little")
    if instruction == BKPT | BKPT_SEMIHOSTING:
        return _serve_semihosting(machine, pc)
    if instruction & 0xFF00 == BKPT:
        text = f"BKPT #{instruction & 0xFF}"
        crash = machine.crash_report(f"{text} at {machine.where(pc)}, and no debugger is there")
        return Outcome("fault", text=f"{text} with no debugger", crash=crash)
    return Outcome("stopped", text=f"breakpoint at {machine.where(pc)}")


def enter(machine: Machine, pc: int) -> None:
    """Do what the bench has to do at a function's entry; its first argument may become another."""
    argument = machine.at_entry[pc]()
    if argument is not None:
        machine.core.write_register("r0", argument)


def _serve_semihosting(machine: Machine, pc: int) -> Outcome | None:
    core, semihosting = machine.core, machine.semihosting
    request = SemihostRequest(core.read_register("r0"), core.read_register("r1"))
    core.write_register("r0", semihosting.serve(request, machine.clock.now))
    core.write_register("pc", pc + 2)
    if semihosting.exit_code is None:
        return None
    code, semihosting.exit_code = semihosting.exit_code, None
    return Outcome("finished", code=code)
