"""What all shadows share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cryplab.observe.contexts import Call, Contexts

__all__ = ["WORD", "Handler", "Polls", "Race", "Shadow", "Stamp", "from_words", "swapped", "to_words"]

WORD = 0xFFFF_FFFF
FIXED = {"name", "contexts", "declared", "listeners", "reads", "writes", "patience", "has_npblb", "reserved"}
"Attributes of a shadow that no access changes."
Handler = Callable[[int, int, int], None]
"Called with cycle, pc and value of an access."


class Stamp(NamedTuple):
    """When, where and for which call something was written."""

    cycle: int
    pc: int
    call: Call | None


def to_words(data: bytes) -> tuple[int, ...]:
    """Bytes as big-endian words, as key and IV registers hold them."""
    return tuple(int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4))


def from_words(words: tuple[int, ...] | list[int]) -> bytes:
    """The reverse of `to_words`."""
    return b"".join(word.to_bytes(4, "big") for word in words)


def swapped(word: int, datatype: int) -> int:
    """A data word as DATATYPE reorders it: 0 none, 1 halfwords, 2 bytes, 3 bits."""
    if datatype == 1:
        return (word >> 16 | word << 16) & WORD
    if datatype == 2:
        return int.from_bytes(word.to_bytes(4, "little"), "big")
    if datatype == 3:
        return int(f"{word:032b}"[::-1], 2)
    return word


class Polls:
    """A status register that is read again and again with the same value, and nothing else happening."""

    __slots__ = ("count", "last", "shown", "since", "value")
    GAP = 20_000
    "Cycles between two reads of one wait; more is another wait."

    def __init__(self) -> None:
        self.value = self.shown = -1
        self.since = self.last = self.count = 0

    def read(self, cycle: int, value: int) -> int:
        """Count a read; returns for how many cycles this wait has lasted."""
        if value != self.value or cycle - self.last > self.GAP:
            self.value, self.shown, self.since, self.count = value, value, cycle, 0
        self.last = cycle
        self.count += 1
        return cycle - self.since

    def over(self) -> None:
        """Something else happened; `shown`, `count`, `since` and `last` still tell of the wait that ended."""
        self.value = -1


class Race:
    """One control register: was it changed by other code between somebody's read and write?

    A write is taken for the second half of a read-modify-write only when its value can come from the read: in the same
    call (or in one inside it), and not when the thread saved the block's state since (`saved`). Otherwise it restores.
    """

    __slots__ = ("_reads", "_writes")

    def __init__(self) -> None:
        self._reads: dict[int, Stamp] = {}
        self._writes: tuple[int, Stamp, int] | None = None

    def read(self, thread: int, stamp: Stamp) -> None:
        """A thread (or handler) reads it."""
        self._reads[thread] = stamp

    def saved(self, thread: int) -> None:
        """A thread goes on to read the block's state: what it read here belongs to a context that it puts aside."""
        self._reads.pop(thread, None)

    def written(self, thread: int, stamp: Stamp, value: int, old: int) -> Stamp | None:
        """A thread writes it; returns the write of somebody else that is lost by this."""
        read, last = self._reads.pop(thread, None), self._writes
        lost: Stamp | None = None
        if read is not None and last is not None and _goes_on(read.call, stamp.call):
            other, other_stamp, changed = last
            if other != thread and other_stamp.cycle > read.cycle and (value ^ old) & changed:
                lost = other_stamp
        if value != old:
            self._writes = (thread, stamp, value ^ old)
        return lost


def _goes_on(before: Call | None, now: Call | None) -> bool:
    """What ran in one call (None: in no known one) goes on in the other."""
    if before is None or now is None:
        return before is now
    return before.open and now.within(before)


class Shadow:
    """One block as seen from outside.

    Args:
        name: the block's name on the chip.
        contexts: calls in progress, for the owner of each access.
        declared: bits of each register by offset that the block declares (for reserved bits), may be empty.
    """

    kind = ""
    patience = WORD
    "Cycles that a wait without change may last."

    def __init__(self, name: str, contexts: Contexts, declared: dict[int, int] | None = None) -> None:
        self.name, self.contexts = name, contexts
        self.declared = declared or {}
        self.listeners: dict[str, list[Callable[..., None]]] = {}
        self.reads: dict[int, Handler] = {}
        self.writes: dict[int, Handler] = {}
        self.dirty = True
        "Something that a use depends on has changed since the last word of data."
        self.reset_by: Stamp | None = None
        self.gated_by: Stamp | None = None
        self.cr_race = Race()
        self.clear()

    def clear(self) -> None:
        """Back to the reset state. Overridden."""

    def save(self) -> dict[str, Any]:
        """What a snapshot keeps: all that the accesses have told."""
        return {name: value for name, value in vars(self).items() if name not in FIXED}

    def load(self, state: dict[str, Any]) -> None:
        """Take back what `save` gave."""
        vars(self).update(state)

    def stamp(self, cycle: int, pc: int) -> Stamp:
        """Now, here, for the call in progress."""
        return Stamp(cycle, pc, self.contexts.current)

    def race(self, register: Race, name: str, stamp: Stamp, value: int, old: int) -> None:
        """A control register is written: tell when that undoes another's change."""
        lost = register.written(self.contexts.thread, stamp, value, old)
        if lost is not None:
            self.emit("lost_update", stamp, name, lost, value)

    def emit(self, moment: str, *args: Any) -> None:
        """Tell the rules that listen to this moment."""
        for listener in self.listeners.get(moment, ()):
            listener(self, *args)

    def reset(self, stamp: Stamp) -> None:
        """RCC's reset bit was set."""
        self.emit("reset", stamp)
        self.clear()
        self.reset_by = stamp
        self.dirty = True

    def used(self, stamp: Stamp) -> None:
        """The call in progress used this block."""
        call = stamp.call
        while call is not None:
            call.blocks.add(self.name)
            call = call.caller

    def call_changed(self) -> None:
        """A call began or ended."""
        self.dirty = True
