"""A wire: what an Ethernet port sends into and hears from, and when there is something to wait for.

`machine.connect(wire)` gives each frame that leaves the port to `send`, and sets `on_frame`, which the wire calls with
each frame that comes in. Frames are bytes from destination address to payload, without CRC. The machine calls `poll`
between slices of its run, and `wait` when the guest sleeps.
"""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["Impaired", "Wire"]

HELD_SECONDS = 2e-3


def _unheard(frame: bytes) -> None:
    """Nothing is connected."""


class Wire:
    """A wire with nobody at the other end; subclasses bring the other end.

    `now`: virtual seconds of the guest, set by the machine. `slice_seconds`: how often `poll` should be called.
    """

    slice_seconds = 250e-6

    def __init__(self) -> None:
        self.on_frame: Callable[[bytes], None] = _unheard
        self.now: Callable[[], float] = lambda: 0.0
        self.paced = False
        "Whether the other end lives in the host's time."

    def slice_end(self, seconds: float) -> float:
        """Until which virtual second the guest may run before it must come back."""
        return seconds + self.slice_seconds

    def send(self, frame: bytes, cycle: int) -> None:
        """A frame has left the port at a cycle."""

    def poll(self) -> None:
        """Bring what has arrived, do what is due."""

    def idle(self) -> None:
        """The guest sleeps, and nothing of its own will wake it."""

    @property
    def busy(self) -> bool:
        """Whether something may come in without the guest's doing; then a sleeping guest is worth waiting for."""
        return False

    def wait(self, seconds: float) -> bool:
        """Sleep up to so many wall seconds until something arrives; whether it did. No sleep: nothing can come."""
        return False

    def complaints(self) -> list[str]:
        """What was refused and what broke, a sentence each."""
        return []

    def close(self) -> None:
        """Give back what the wire holds of the host."""


class Impaired(Wire):
    """Another wire that loses, doubles and reorders frames, both ways, the same for the same seed.

    Args:
        wire: the wire behind it.
        loss, duplicate, reorder: probabilities of a frame, 0 to 1; a reordered frame comes after the next one, or after
            2 virtual milliseconds.
        seed: of the choices.
    """

    def __init__(
        self, wire: Wire, *, loss: float = 0.0, duplicate: float = 0.0, reorder: float = 0.0, seed: int = 0
    ) -> None:
        super().__init__()
        self.wire = wire
        self.loss, self.duplicate, self.reorder = loss, duplicate, reorder
        self.slice_seconds, self.paced = wire.slice_seconds, wire.paced
        self.lost = self.doubled = self.reordered = 0
        self._random = random.Random(seed)
        self._held_at = 0.0
        self._held: dict[bool, list[bytes]] = {True: [], False: []}
        wire.on_frame = self._incoming
        wire.now = lambda: self.now()

    def _fate(self, frame: bytes, outgoing: bool) -> list[bytes]:
        """What comes out when a frame goes in."""
        held, self._held[outgoing] = self._held[outgoing], []
        choose = self._random.random
        if choose() < self.loss:
            self.lost += 1
            return held
        frames = [frame]
        if choose() < self.duplicate:
            self.doubled += 1
            frames *= 2
        if choose() < self.reorder and not held:
            self.reordered += 1
            self._held[outgoing], self._held_at = frames, self.now()
            return []
        return frames + held

    def slice_end(self, seconds: float) -> float:
        """As the wire behind it wants."""
        return self.wire.slice_end(seconds)

    def idle(self) -> None:
        """Tell the wire behind it."""
        self.wire.idle()

    def send(self, frame: bytes, cycle: int) -> None:
        """Outward."""
        for each in self._fate(frame, True):
            self.wire.send(each, cycle)

    def _incoming(self, frame: bytes) -> None:
        for each in self._fate(frame, False):
            self.on_frame(each)

    def poll(self) -> None:
        """As the wire behind it does; what was held for long enough goes on."""
        self.wire.poll()
        if self.now() - self._held_at > HELD_SECONDS:
            held, self._held = self._held, {True: [], False: []}
            for frame in held[True]:
                self.wire.send(frame, 0)
            for frame in held[False]:
                self.on_frame(frame)

    @property
    def _holds(self) -> bool:
        return any(self._held.values())

    @property
    def busy(self) -> bool:
        """As the wire behind it is, or a frame is held."""
        return self.wire.busy or self._holds

    def wait(self, seconds: float) -> bool:
        """As the wire behind it does."""
        return self.wire.wait(seconds)

    def complaints(self) -> list[str]:
        """As the wire behind it has them."""
        return self.wire.complaints()

    def close(self) -> None:
        """Close the wire behind it."""
        self.wire.close()
