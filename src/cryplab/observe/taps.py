"""One trace, several listeners: the raw accesses of a core, handed to everybody who wants them, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["Taps", "taps_of"]

Listener = Callable[[bytes], None]


class _Traced(Protocol):
    def trace(self, on: bool, addresses: Iterable[int] = ...) -> None: ...
    def take_trace(self) -> bytes: ...


class Taps:
    """Turns the core's trace on while anybody listens.

    Args:
        core: the core, or what stands for it: `trace(on)` and `take_trace()`.
    """

    def __init__(self, core: _Traced) -> None:
        self._core = core
        self._listeners: list[Listener] = []
        self._wanted: dict[Listener, frozenset[int]] = {}

    def add(self, listener: Listener, addresses: Iterable[int] = ()) -> None:
        """From now on this listener gets the records: of the pages of these addresses at least, else of all."""
        self.drain()
        self._listeners.append(listener)
        self._wanted[listener] = frozenset(addresses)
        self._trace()

    def _trace(self) -> None:
        wanted = [self._wanted[listener] for listener in self._listeners]
        everything = not all(wanted)
        self._core.trace(bool(wanted), () if everything else frozenset().union(*wanted))

    def remove(self, listener: Listener) -> None:
        """It gets what has come so far, and no more."""
        self.drain()
        self._listeners.remove(listener)
        self._wanted.pop(listener, None)
        self._trace()

    def drain(self) -> None:
        """Hand out what the core has recorded."""
        if self._listeners:
            chunk = self._core.take_trace()
            if chunk:
                for listener in self._listeners:
                    listener(chunk)


def taps_of(machine: Machine) -> Taps:
    """The machine's one distributor of its trace."""
    if machine.taps is None:
        machine.taps = Taps(machine.core)
        machine.core.on_trace = machine.taps.drain
    return machine.taps
