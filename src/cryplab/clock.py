"""Virtual time: cycles of the core clock, and what is due at which cycle.

A `Clock` alone is a clock for tests: `advance` moves it. In a machine the native run loop counts
and the same object answers `now`, exact to the access in progress.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

__all__ = ["Clock", "Event", "TimeSource"]

NEVER = (1 << 63) - 1


class Event:
    """Something due at a cycle; `cancel` it with the clock."""

    __slots__ = ("callback", "cycle", "order")

    def __init__(self, cycle: int, order: int, callback: Callable[[], None] | None) -> None:
        self.cycle, self.order, self.callback = cycle, order, callback

    def __lt__(self, other: Event) -> bool:
        return (self.cycle, self.order) < (other.cycle, other.order)

    def __deepcopy__(self, memo: object) -> Event:
        return self  # blocks may name one in `saved`: the clock restores its content

    @property
    def pending(self) -> bool:
        """Still to come."""
        return self.callback is not None


class TimeSource:
    """What a clock counts with. This one stands still until told; the native engine is another."""

    __slots__ = ("cycles", "deadline")

    def __init__(self) -> None:
        self.cycles = 0
        self.deadline = NEVER

    def now(self) -> int:
        """Cycles since reset, at the access in progress if there is one."""
        return self.cycles

    def stall(self, cycles: int) -> None:
        """The access in progress takes so many cycles more."""
        self.cycles += cycles

    def set_deadline(self, cycle: int) -> None:
        """Stop running code at the first block start at or after this cycle."""
        self.deadline = cycle

    def set_cycles(self, cycle: int) -> None:
        """Jump (idle skipped, snapshot restored)."""
        self.cycles = cycle


class Clock:
    """Cycles of the core clock since reset. Events run in order of cycle, then of scheduling.

    Args:
        hz: core clock at reset, in hertz.
        source: what counts; default a counter moved by `advance`.
    """

    def __init__(self, hz: int = 16_000_000, source: TimeSource | None = None) -> None:
        self.source = source or TimeSource()
        self._heap: list[Event] = []
        self._order = 0
        self._hz = hz
        self._since_cycle = 0
        self._since_seconds = 0.0
        self._followers: list[Callable[[], None]] = []
        # `now` is asked at nearly every register access: one call, no property chain
        self.read_now: Callable[[], int] = self.source.now

    @property
    def now(self) -> int:
        """The present cycle."""
        return self.read_now()

    # -- frequency -----------------------------------------------------------------------------
    @property
    def hz(self) -> int:
        """Core clock, hertz."""
        return self._hz

    def set_hz(self, hz: int) -> None:
        """The firmware switched the core clock; `on_frequency` callbacks run before and after."""
        if hz == self._hz:
            return
        now = self.now
        self._since_seconds += (now - self._since_cycle) / self._hz
        self._since_cycle = now
        self._hz = hz
        for follow in self._followers:
            follow()

    def on_frequency(self, callback: Callable[[], None]) -> None:
        """Call back after each change of the core clock."""
        self._followers.append(callback)

    def seconds(self, cycle: int | None = None) -> float:
        """Virtual seconds since reset at a cycle (default now) of the present clock setting."""
        at = self.now if cycle is None else cycle
        return self._since_seconds + (at - self._since_cycle) / self._hz

    def cycles_for(self, seconds: float) -> int:
        """Cycles that so many seconds take at the present core clock."""
        return round(seconds * self._hz)

    # -- events --------------------------------------------------------------------------------
    def at(self, cycle: int, callback: Callable[[], None]) -> Event:
        """Call back at a cycle (at once when it is past, at the next run of events)."""
        self._order += 1
        event = Event(cycle, self._order, callback)
        heapq.heappush(self._heap, event)
        if self._heap[0] is event:
            self.source.set_deadline(cycle)
        return event

    def after(self, cycles: int, callback: Callable[[], None]) -> Event:
        """Call back so many cycles from now."""
        return self.at(self.now + cycles, callback)

    def cancel(self, event: Event | None) -> None:
        """Forget an event; None or one that has run is no error."""
        if event is not None:
            event.callback = None

    @property
    def next_cycle(self) -> int:
        """Cycle of the earliest event, or a very large number."""
        heap = self._heap
        while heap and heap[0].callback is None:
            heapq.heappop(heap)
        return heap[0].cycle if heap else NEVER

    def run_due(self, now: int | None = None) -> int:
        """Run every event due by `now` (default the present); returns the next deadline."""
        limit = self.now if now is None else now
        while self.next_cycle <= limit:
            event = heapq.heappop(self._heap)
            callback, event.callback = event.callback, None
            assert callback is not None
            callback()
        cycle = self.next_cycle
        self.source.set_deadline(cycle)
        return cycle

    def stall(self, cycles: int) -> None:
        """The bus access in progress takes so many cycles more."""
        self.source.stall(cycles)

    def advance(self, cycles: int) -> None:
        """Tests without a core: let time pass, running events at their cycles."""
        end = self.source.cycles + cycles
        while (due := self.next_cycle) <= end:
            self.source.set_cycles(max(due, self.source.cycles))
            self.run_due()
            end = max(end, self.source.cycles)
        self.source.set_cycles(end)

    # -- snapshot ------------------------------------------------------------------------------
    def save(self) -> Any:
        """State for a snapshot. Events are kept by their callbacks (bound methods of blocks)."""
        events = [(e.cycle, e.order, e.callback, e) for e in self._heap if e.callback is not None]
        return (self.now, events, self._order, self._hz, self._since_cycle, self._since_seconds)

    def load(self, state: Any) -> None:
        """Take back what `save` gave; event objects that blocks hold stay valid."""
        now, events, self._order, hz, self._since_cycle, self._since_seconds = state
        for event in self._heap:
            event.callback = None
        self._heap = []
        for cycle, order, callback, event in events:
            event.cycle, event.order, event.callback = cycle, order, callback
            self._heap.append(event)
        heapq.heapify(self._heap)
        changed, self._hz = hz != self._hz, hz
        self.source.set_cycles(now)
        self.source.set_deadline(self.next_cycle)
        if changed:
            for follow in self._followers:
                follow()
