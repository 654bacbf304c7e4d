"""A hub that joins boards in one process, in virtual time: no host network, the same bytes and cycles each run.

The boards run in turn, each for a slice as long as a frame is on its way; a frame that one sends during a slice
reaches the others in their next one, at the same virtual time in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from cryplab.errors import UsageError
from cryplab.net.wire import Wire

if TYPE_CHECKING:
    from cryplab.machine import Machine, Outcome

__all__ = ["Hub", "HubPort"]

LATENCY_SECONDS = 100e-6
NEVER_SECONDS = 1e9


class HubPort(Wire):
    """The wire between one board and the hub."""

    def __init__(self, hub: Hub, machine: Machine) -> None:
        super().__init__()
        self.hub, self.machine = hub, machine
        self.slice_seconds = hub.latency
        self.asleep = False
        self.coming = 0
        "Frames on their way to it."

    def send(self, frame: bytes, cycle: int) -> None:
        """To all others."""
        self.hub.spread(self, frame, self.machine.clock.seconds(cycle))

    def deliver(self, frame: bytes, seconds: float) -> None:
        """A frame arrives at a virtual time."""
        clock = self.machine.clock
        self.coming += 1

        def arrive() -> None:
            self.coming -= 1
            self.on_frame(frame)

        clock.at(clock.now + max(0, clock.cycles_for(seconds - clock.seconds())), arrive)

    def slice_end(self, seconds: float) -> float:
        """The end of the hub's round."""
        return self.hub.round_end

    def idle(self) -> None:
        """This board ends when the others sleep, too."""
        self.asleep = True

    @property
    def busy(self) -> bool:
        """Whether somebody else may still send, or a frame is on its way."""
        return bool(self.coming) or self.hub.others_awake(self)


class Hub:
    """Joins machines. Connect them, load their firmware, then `run`.

    Args:
        latency: virtual seconds of a frame from one board to the next; also the length of a turn.
    """

    def __init__(self, latency: float = LATENCY_SECONDS) -> None:
        if latency <= 0:
            raise UsageError(f"latency {latency}: expected more than 0 s")
        self.latency = latency
        self.ports: list[HubPort] = []
        self.round_end = 0.0
        self.frames = 0
        self._running: set[HubPort] = set()

    def connect(self, machine: Machine, through: Callable[[Wire], Wire] | None = None) -> HubPort:
        """Plug a machine in; `through` may put an `Impaired` wire between.

        Raises: UsageError when its chip or board has no Ethernet.
        """
        port = HubPort(self, machine)
        machine.connect(through(port) if through else port)
        self.ports.append(port)
        return port

    def spread(self, sender: HubPort, frame: bytes, seconds: float) -> None:
        """A frame goes to every port but its own."""
        self.frames += 1
        for port in self.ports:
            if port is not sender:
                port.deliver(frame, seconds + self.latency)

    def others_awake(self, port: HubPort) -> bool:
        """Whether another board runs, or will be woken by a frame."""
        return any(other.coming or not other.asleep for other in self._running if other is not port)

    def run(
        self,
        *,
        seconds: float = 60.0,
        wait_for: Sequence[Machine] = (),
        until: Mapping[Machine, str] | None = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> list[Outcome]:
        """Run all boards for so many virtual seconds at most; outcomes in the order of connection.

        `wait_for`: the run ends when these have ended, the others are stopped then; default all. `until`: a board ends
        when it has printed this. `on_progress(virtual seconds)` is called now and then.
        """
        texts = until or {}
        turns = {
            port: port.machine.running(
                seconds=seconds, until=texts.get(port.machine), on_progress=None if number else on_progress
            )
            for number, port in enumerate(self.ports)
        }
        outcomes: dict[HubPort, Outcome] = {}
        awaited = {port for port in self.ports if not wait_for or port.machine in wait_for}
        self._running = set(self.ports)
        self.round_end = min(port.machine.clock.seconds() for port in self.ports)
        while awaited - set(outcomes):
            self.round_end += self.latency
            for port in self.ports:
                if port not in outcomes:
                    self._turn(port, turns[port], outcomes)
        for port in self.ports:
            if port not in outcomes:
                port.machine.stop()
                self.round_end = NEVER_SECONDS
                self._turn(port, turns[port], outcomes)
        return [outcomes[port] for port in self.ports]

    def _turn(self, port: HubPort, turn: Generator[None, None, Outcome], outcomes: dict[HubPort, Outcome]) -> None:
        """One board runs to the end of the round."""
        port.asleep = False
        while port.machine.clock.seconds() < self.round_end:
            try:
                next(turn)
            except StopIteration as end:
                outcomes[port] = end.value
                self._running.discard(port)
                return
