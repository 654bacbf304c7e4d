"""A wire: what an Ethernet port sends into and hears from, and when there is something to wait for.

`machine.connect(wire)` gives each frame that leaves the port to `send`, and sets `on_frame`, which the wire calls with
each frame that comes in. Frames are bytes from destination address to payload, without CRC. The machine calls `poll`
between slices of its run, and `wait` when the guest sleeps.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from cryplab.errors import UsageError, nearest

__all__ = ["Impaired", "Wire", "parse_impairment"]

HELD_SECONDS = 2e-3
IMPAIRMENTS = ("loss", "duplicate", "reorder")


def parse_impairment(text: str) -> dict[str, float]:
    """What `Impaired` shall do, from `loss=0.02,duplicate=1%`; nothing from an empty text.

    Raises: UsageError for another name, or what is no probability.
    """
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in IMPAIRMENTS:
            raise UsageError(f"'{part}'{nearest(name, IMPAIRMENTS) or '.'} A wire can do {', '.join(IMPAIRMENTS)}")
        try:
            found[name] = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            raise UsageError(f"'{part}': expected a probability, such as {name}=0.02 or {name}=2%") from None
        _check(name, found[name])
    return found


def _check(name: str, probability: float) -> None:
    if not 0 <= probability <= 1:
        raise UsageError(f"{name} {probability:g}: expected a probability, 0 to 1")


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
    Raises: UsageError for what is no probability.
    """

    def __init__(
        self, wire: Wire, *, loss: float = 0.0, duplicate: float = 0.0, reorder: float = 0.0, seed: int = 0
    ) -> None:
        super().__init__()
        for name, value in zip(IMPAIRMENTS, (loss, duplicate, reorder), strict=True):
            _check(name, value)
        self.wire, self.seed = wire, seed
        self.passed = 0
        "Frames that went in, both ways."
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
        self.passed += 1
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
        """Tell the wire behind it, unless a frame is held that will go on by itself."""
        if not self._holds:
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

    def told(self) -> str:
        """What it did, in a line."""
        return (
            f"the wire lost {self.lost} of {self.passed} frames, doubled {self.doubled} and reordered "
            f"{self.reordered}, as asked (seed {self.seed})"
        )

    def complaints(self) -> list[str]:
        """What it did; then as the wire behind it has them."""
        return [self.told(), *self.wire.complaints()]

    def close(self) -> None:
        """Close the wire behind it."""
        self.wire.close()
