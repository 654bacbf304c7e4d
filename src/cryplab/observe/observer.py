"""The observer: takes the stream of accesses and calls, keeps the shadows, runs the rules, collects findings.

Built for a machine by `attach.observe`; tests feed it records by hand. Accesses are judged in chunks, so what
a rule peeks at (memory) is as it is at the end of the chunk: whoever delivers a call or ends a run drains first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cryplab.layout import Layout
from cryplab.observe import rules
from cryplab.observe.api import Function, known_functions
from cryplab.observe.contexts import Call, Contexts, ReadMemory
from cryplab.observe.events import EXCEPTION_ENTRY, EXCEPTION_EXIT, RECORD, WRITE, CallEntry
from cryplab.observe.explain import KINDS
from cryplab.observe.findings import Earlier, Finding, Findings, Place
from cryplab.observe.rules.o11_waits import STORM, DeadWait
from cryplab.observe.shadow import CrypShadow, DmaShadow, HashShadow, RccShadow, RngShadow, Shadow, Stamp
from cryplab.observe.shadow.base import Handler
from cryplab.reports import GuestError

__all__ = ["Observer", "Region", "Watched"]

KINDS_OF_SHADOW: dict[str, type[Shadow]] = {
    "cryp": CrypShadow, "hash": HashShadow, "rng": RngShadow, "dma": DmaShadow,
}  # fmt: skip
LONGEST_WAIT_SECONDS = 0.005
"A wait without change for so long is a dead one: no job of these blocks takes 1 ms."
TAIL_CHAIN_CYCLES = 40
EXTERNAL = 16
GUEST_ERROR_KINDS = {
    "O2": "stale-config-carryover", "O4": "handshake-ignored", "O5": "write-while-busy", "O8": "hmac-key-handling",
    "O12": "clock-not-enabled", "O15": "dma-memory-region", "O16": "rng-not-ready-accepted",
    "O17": "rng-error-unrecovered", "O19": "wrong-register-value",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Watched:
    """A block to watch. `declared`: offset -> bits that the part has; `reset` and `gate`: RCC offset and mask."""

    name: str
    base: int
    kind: str
    size: int = 0x400
    declared: dict[int, int] = field(default_factory=dict)
    irqs: tuple[int, ...] = ()
    reset: tuple[int, int] | None = None
    gate: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A memory: name, first address, size in bytes, reachable by DMA, writable."""

    name: str
    base: int
    size: int
    dma: bool = True
    writable: bool = True


class Observer:
    """Watches one run.

    Args:
        blocks: what to watch.
        read_memory: guest bytes at an address, None where there is no memory.
        memories: for the reach of DMA.
        rcc: base of RCC, for resets and gates of the watched blocks.
        functions: known crypto functions; default all tables.
        layout: where the members of a C struct lie, by its name; None when not known.
        place: instruction address and cycle to function and source line.
        unwind: callers of a call, innermost first, while it is open.
        frequency: hertz of a clock of the clock tree by name, None when unknown.
        hz: core clock, hertz.
        handler: address of the handler of an exception number, 0 when unknown.
        deep: buffers have unique contents (`check`): report matches that `run` would doubt.
    """

    def __init__(
        self,
        blocks: Iterable[Watched],
        *,
        read_memory: ReadMemory = lambda address, size: None,
        memories: Iterable[Region] = (),
        rcc: int | None = None,
        functions: dict[str, Function] | None = None,
        layout: Callable[[str], Layout | None] = lambda name: None,
        place: Callable[[int, int], Place] = lambda pc, cycle: Place(pc, cycle),
        unwind: Callable[[Call], list[str]] = lambda call: [],
        frequency: Callable[[str], int | None] = lambda name: None,
        hz: Callable[[], int] = lambda: 168_000_000,
        handler: Callable[[int], int] = lambda number: 0,
        deep: bool = False,
    ) -> None:
        self.read_memory, self.memories, self.deep = read_memory, list(memories), deep
        self.place, self.unwind, self.frequency, self.hz, self.handler = place, unwind, frequency, hz, handler
        self.contexts = Contexts(functions or known_functions(), read_memory, layout)
        self._found = Findings()
        self._out_of_reach: dict[tuple[str, int], tuple[Any, ...]] = {}
        "Findings of O12 by block and place, and by block and (negative) cycle of the cause."
        self.drain: Callable[[], None] = lambda: None
        "Makes the accesses so far arrive; set by whoever feeds the observer."
        self._reads: dict[int, Handler] = {}
        self._writes: dict[int, Handler] = {}
        self._watched: list[tuple[Watched, Shadow]] = []
        self._frames: dict[int, int] = {}
        self._handlers: list[int] = []
        self._threads = 0
        self._last_exit = (0, 0, 0)
        self._patience_hz = 0
        self.cycle = 0
        for watched in blocks:
            self._watch(watched)
        self.shadows: list[Shadow] = [shadow for _, shadow in self._watched]
        if rcc is not None:
            self._watch_rcc(rcc)
        self.rules = [rule(self) for rule in rules.ALL]
        self._listen()
        self._blank = self.save()

    # -- building ------------------------------------------------------------------------------
    def _watch(self, watched: Watched) -> None:
        shadow = KINDS_OF_SHADOW[watched.kind](watched.name, self.contexts, watched.declared)
        self._watched.append((watched, shadow))
        self._bind(watched.base, shadow)

    def _bind(self, base: int, shadow: Shadow) -> None:
        self._reads |= {base + offset: handler for offset, handler in shadow.reads.items()}
        self._writes |= {base + offset: handler for offset, handler in shadow.writes.items()}

    def _watch_rcc(self, base: int) -> None:
        resets: dict[int, dict[int, Shadow]] = {}
        gates: dict[int, dict[int, Shadow]] = {}
        for watched, shadow in self._watched:
            for where, table in ((watched.reset, resets), (watched.gate, gates)):
                if where is not None:
                    table.setdefault(where[0], {})[where[1]] = shadow
        self.rcc = RccShadow("RCC", self.contexts, resets, gates)
        self._bind(base, self.rcc)
        self.shadows.append(self.rcc)

    def _listen(self) -> None:
        """Methods of the rules by name: `cryp_use` hears moment `use` of CRYP."""
        for shadow in self.shadows:
            for rule in self.rules:
                for name in dir(rule):
                    kind, _, moment = name.partition("_")
                    if kind == shadow.kind and moment:
                        shadow.listeners.setdefault(moment, []).append(getattr(rule, name))
        self._begins = [r.call_begins for r in self.rules if hasattr(r, "call_begins")]
        self._ends = [r.call_ends for r in self.rules if hasattr(r, "call_ends")]
        self._run_ends = [r.run_ends for r in self.rules if hasattr(r, "run_ends")]

    @property
    def addresses(self) -> list[int]:
        """Registers that it listens to."""
        return [*self._reads, *self._writes]

    # -- the stream ----------------------------------------------------------------------------
    def accesses(self, chunk: bytes) -> None:
        """Records of the core, in order."""
        reads, writes = self._reads, self._writes
        hz = self.hz()
        if hz != self._patience_hz:
            self._patience_hz = hz
            for shadow in self.shadows:
                shadow.patience = int(LONGEST_WAIT_SECONDS * hz)
        cycle = self.cycle
        for cycle, pc, address, value, width, kind in RECORD.iter_unpack(chunk):
            if kind == WRITE:
                handler = writes.get(address)
            elif not kind:
                handler = reads.get(address)
            else:
                self._exception(kind, cycle, pc, address, value)
                continue
            if handler is not None and width == 4:
                handler(cycle, pc, value)
        self.cycle = cycle

    def enter(self, entry: CallEntry) -> None:
        """A known function begins. Accesses before it must have arrived."""
        if self.contexts.covers(entry):
            return
        for shadow in self.shadows:
            shadow.call_changed()
        call = self.contexts.enter(entry)
        if call.function.does == "clone":
            for shadow in self.shadows:
                if isinstance(shadow, HashShadow):
                    shadow.cloned(call)
        for begins in self._begins:
            begins(call)

    def leave(self, address: int, sp: int, result: int, cycle: int) -> bool:
        """A return address is reached with this stack pointer; r0 is the result. False when no call ended."""
        for shadow in self.shadows:
            shadow.call_changed()
        ended = self.contexts.leave(address, sp, result)
        for call in ended:
            if not call.blocks and not call.object.marked and call.function.does not in ("random", "seed"):
                continue  # it touched no block, and nothing that one is used for
            stamp = Stamp(cycle, call.entry.address, call)
            for ends in self._ends:
                ends(call, result, stamp)
        return bool(ended)

    def finish(self, reason: str = "", pc: int = 0, cycle: int | None = None) -> None:
        """The run ended: judge what is still open."""
        self.drain()
        for shadow in self.shadows:
            shadow.call_changed()
        stamp = Stamp(self.cycle if cycle is None else cycle, pc, None)
        for ends in self._run_ends:
            ends(reason, stamp)

    # -- snapshot ------------------------------------------------------------------------------
    def save(self) -> Any:
        """State for `Machine.snapshot`; findings are no part of it."""
        self.drain()
        return copy.deepcopy(
            (
                self.contexts.save(),
                [shadow.save() for shadow in self.shadows],
                (self._frames, self._handlers, self._threads, self._last_exit, self.cycle),
            )
        )

    def load(self, state: Any) -> None:
        """Take back what `save` gave, as often as wanted; None stands for a time before the observer."""
        self.drain()
        contexts, shadows, exceptions = copy.deepcopy(self._blank if state is None else state)
        self.contexts.load(contexts)
        for shadow, saved in zip(self.shadows, shadows, strict=True):
            shadow.load(saved)
        self._frames, self._handlers, self._threads, self._last_exit, self.cycle = exceptions

    # -- exceptions and threads ----------------------------------------------------------------
    def _exception(self, kind: int, cycle: int, pc: int, frame: int, number: int) -> None:
        if kind == EXCEPTION_ENTRY:
            if not self._handlers:
                self._frames[frame] = self.contexts.thread
            self._handlers.append(number)
            self._count_storm(cycle, pc, number)
            self.contexts.begin(-number)
            self._switch(-number)
        elif kind == EXCEPTION_EXIT:
            if self._handlers:
                self._handlers.pop()
            self._last_exit = (cycle, number, self._last_exit[2])
            if self._handlers:
                self._switch(-self._handlers[-1])
                return
            thread = self._frames.pop(frame, None)
            if thread is None:
                self._threads += 1
                thread = self._threads
            self._switch(thread)

    def _switch(self, thread: int) -> None:
        if thread != self.contexts.thread:
            for shadow in self.shadows:
                shadow.dirty = True  # a save or restore that is under way goes on afterwards
            self.contexts.switch(thread)

    def _count_storm(self, cycle: int, pc: int, number: int) -> None:
        before, last, count = self._last_exit
        chained = number == last and cycle - before <= TAIL_CHAIN_CYCLES
        count = count + 1 if chained else 0
        self._last_exit = (before, last, count)
        if count != STORM:
            return
        for watched, shadow in self._watched:
            if number - EXTERNAL in watched.irqs:
                for rule in self.rules:
                    if isinstance(rule, DeadWait):
                        rule.storm(number, count, Stamp(cycle, self.handler(number) or pc, None), shadow)
                return

    def own_handler(self, shadow: Shadow, thread: int) -> bool:
        """The code that runs is an interrupt handler of this block (or of a DMA controller)."""
        if thread >= 0:
            return False
        number = -thread - EXTERNAL
        return any(number in watched.irqs for watched, s in self._watched if s is shadow or isinstance(s, DmaShadow))

    def thread_name(self, thread: int) -> str:
        """For a sentence."""
        return f"the handler of exception {-thread}" if thread < 0 else f"thread {thread}"

    # -- what rules ask ------------------------------------------------------------------------
    def block_at(self, address: int) -> tuple[Shadow | None, int]:
        """The watched block at an address, and the offset in it."""
        for watched, shadow in self._watched:
            if watched.base <= address < watched.base + watched.size:
                return shadow, address - watched.base
        return None, 0

    def memory_at(self, address: int, size: int) -> tuple[str, bool, bool]:
        """Name, reachable by DMA, writable; an empty name when no memory holds the range."""
        if not self.memories:
            return "memory", True, True
        for region in self.memories:
            if region.base <= address and address + size <= region.base + region.size:
                return region.name, region.dma, region.writable
        return "", False, False

    def microseconds(self, cycles: int) -> float:
        """At the present core clock."""
        return cycles / self.hz() * 1e6

    # -- findings ------------------------------------------------------------------------------
    @property
    def findings(self) -> Findings:
        """What was found so far."""
        self.drain()
        return self._found

    def take_findings(self) -> list[Finding]:
        """What was found since the last time; each finding is given once."""
        found = list(self.findings)
        self._found.clear()
        return found

    def report(
        self,
        rule: str,
        kind: str,
        block: str,
        stamp: Stamp,
        title: str,
        text: str,
        registers: dict[str, str],
        earlier: tuple[str, Stamp] | None,
        call: Call | None,
    ) -> None:
        """A rule was broken."""
        if self._found.again((rule, kind, block, stamp.pc, earlier[1].pc if earlier else 0)):
            return
        before = None
        if earlier is not None:
            what, at = earlier
            before = Earlier(what, self.place(at.pc, at.cycle), str(at.call.object) if at.call else "")
        self._found.add(
            Finding(
                rule,
                kind,
                title,
                text,
                block,
                self.place(stamp.pc, stamp.cycle),
                registers,
                str(call) if call else "",
                str(call.object) if call else "",
                self._stack(call),
                before,
                KINDS[kind].repair,
            )
        )

    def _stack(self, call: Call | None) -> list[str]:
        if call is None:
            return []
        if call.stack is None:
            call.stack = self.unwind(call)
        return call.stack

    def guest_error(self, error: GuestError) -> None:
        """A block (or the bus) reported an access that broke a declared rule."""
        if not error.rule and all(error.block != watched.name for watched, _ in self._watched):
            return
        rule = error.rule or "O19"
        kind = GUEST_ERROR_KINDS.get(rule, "unknown")
        if rule == "O12":
            self._unreachable(kind, error)
            return
        key = (rule, kind, error.block, error.where.pc, 0)
        if self._found.again(key):
            return
        self.drain()
        if self._found.again(key):
            return
        self._report_error(rule, kind, error, None)

    def _unreachable(self, kind: str, error: GuestError) -> None:
        """A block with its clock off, or in reset: accesses until that changes are one finding, with who did it."""
        at = (error.block, error.where.pc)
        known = self._out_of_reach.get(at)
        if known is not None and self._found.again(known):
            return
        self.drain()
        shadow = next((s for s in self.shadows if s.name == error.block), None)
        earlier = None
        if shadow is not None:
            in_reset = "held in reset" in error.text
            by = shadow.reset_by if in_reset else shadow.gated_by
            what = "its reset bit was set in RCC" if in_reset else "its clock was switched off in RCC"
            earlier = (what, by) if by is not None else None
        cause = (error.block, -earlier[1].cycle if earlier else 0)
        known = self._out_of_reach.get(cause)
        if known is None or not self._found.again(known):
            known = ("O12", kind, error.block, error.where.pc, earlier[1].pc if earlier else 0)
            self._report_error("O12", kind, error, earlier)
        self._out_of_reach[at] = self._out_of_reach[cause] = known

    def _report_error(self, rule: str, kind: str, error: GuestError, earlier: tuple[str, Stamp] | None) -> None:
        self.report(
            rule, kind, error.block, Stamp(error.where.cycle, error.where.pc, None), error.text.split(",")[0],
            error.text + ".", {}, earlier, self.contexts.current,
        )  # fmt: skip
