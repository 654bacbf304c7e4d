"""One trace, several listeners: the raw accesses of a core, handed to everybody who wants them, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["Taps"]

Listener = Callable[[bytes], None]


class _Traced(Protocol):
    def trace(self, on: bool) -> None: ...
    def take_trace(self) -> bytes: ...


class Taps:
    """Turns the core's trace on while anybody listens.

    Args:
        core: the core, or what stands for it: `trace(on)` and `take_trace()`.
    """

    def __init__(self, core: _Traced) -> None:
        self._core = core
        self._listeners: list[Listener] = []

    def add(self, listener: Listener) -> None:
        """From now on this listener gets the records."""
        self.drain()
        self._listeners.append(listener)
        self._core.trace(True)

    def remove(self, listener: Listener) -> None:
        """It gets what has come so far, and no more."""
        self.drain()
        self._listeners.remove(listener)
        if not self._listeners:
            self._core.trace(False)

    def drain(self) -> None:
        """Hand out what the core has recorded."""
        if self._listeners:
            chunk = self._core.take_trace()
            if chunk:
                for listener in self._listeners:
                    listener(chunk)
