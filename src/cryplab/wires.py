"""What connects blocks: interrupt and other lines, and DMA requests."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["DmaRequest", "Line"]


class Line:
    """One wire out of a block, such as its interrupt request."""

    __slots__ = ("_sinks", "level", "name")

    def __init__(self, name: str) -> None:
        self.name, self.level = name, False
        self._sinks: list[Callable[[bool], None]] = []

    def connect(self, sink: Callable[[bool], None]) -> None:
        """Call `sink(level)` now and at each change."""
        self._sinks.append(sink)
        sink(self.level)

    def set(self, level: bool | int) -> None:
        """Drive the wire."""
        level = bool(level)
        if level != self.level:
            self.level = level
            for sink in self._sinks:
                sink(level)

    def pulse(self) -> None:
        """Up and down again."""
        self.set(True)
        self.set(False)


class DmaRequest:
    """A block's DMA request. One request stands until the words it is worth have been moved.

    The block calls `ask(words)`; the controller moves words and calls `moved()` for each and
    `last()` when its own counter has reached 0. `drop()` takes a request back.
    """

    __slots__ = ("_served", "_wake", "name", "on_last", "words")

    def __init__(self, name: str) -> None:
        self.name = name
        self.words = 0
        self._wake: Callable[[], None] | None = None
        self._served: Callable[[], None] | None = None
        self.on_last: Callable[[], None] | None = None

    def connect(self, wake: Callable[[], None]) -> None:
        """Controller side: `wake()` is called when a request comes up."""
        self._wake = wake

    def when_served(self, served: Callable[[], None]) -> None:
        """Block side: `served()` is called when all words of a request were moved."""
        self._served = served

    def ask(self, words: int) -> None:
        """Block side: request that `words` words be moved; nothing happens while one stands."""
        if self.words == 0 and words:
            self.words = words
            if self._wake:
                self._wake()

    def drop(self) -> None:
        """Block side: no request any more."""
        self.words = 0

    def moved(self) -> None:
        """Controller side: one word of the request was moved."""
        if self.words:
            self.words -= 1
            if self.words == 0 and self._served:
                self._served()

    def last(self) -> None:
        """Controller side: the transfer has ended (its counter is 0)."""
        if self.on_last:
            self.on_last()
