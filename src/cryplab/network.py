"""A machine's Ethernet port: its wire, and how the guest's time and the host's go together.

The guest's time is virtual. While somebody outside may answer and the guest sleeps, a slice of virtual time takes
at least as long on the wall, asleep at the sockets; a guest that does not sleep, because it works, polls or sits in
`b .`, may be ahead of the host by LEAD_MOST_SECONDS, then it waits for the wall, too. A long handshake takes what
emulation takes. With nothing open outside, time goes as fast as it can.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cryplab.blocks.eth_v1 import EthV1
from cryplab.errors import UsageError
from cryplab.net.nat import Nat
from cryplab.net.pcap import PcapWriter
from cryplab.net.tap import Tap
from cryplab.net.wire import Wire

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["Network"]

FOREVER = 1e9
LONGEST_NAP_SECONDS, NAP_GROWTH = 10e-3, 1.25
"While nothing comes, a sleeping guest is looked at less often; an answer seems late by a fifth of the wait at most."
LEAD_MOST_SECONDS, LEAD_LEFT_SECONDS = 20e-3, 10e-3
"How far virtual time may run ahead of the wall while somebody may answer, and how far it still is after a nap."
LONGEST_SLICE_SECONDS = 0.25
"More than that at once was no run: a snapshot was restored."
MOST_WAITING = 64
"Frames between wire and FIFO: with more, nothing is taken from the host."


def make_wire(net: str | Wire, allow: Iterable[str], names: Mapping[str, str] | None = None) -> Wire:
    """The wire that `--net` names; `names` as in `Nat`. Raises: UsageError, InputError."""
    if isinstance(net, Wire):
        return net
    if net == "user":
        return Nat(allow, names=names)
    if net.startswith("tap:"):
        return Tap(net.removeprefix("tap:"))
    if net == "hub":
        raise UsageError("net 'hub': a hub joins machines; make a net.Hub and connect them to it")
    raise UsageError(f"net '{net}': expected user, hub or tap:NAME")


class Network:
    """What `Machine.connect` and `Machine.run` need."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.wire: Wire | None = None
        self.pcap: PcapWriter | None = None
        self.sent = self.received = 0
        "Frames that have passed the port."
        self.complaints: list[str] = []
        "What the wire refused or lost, in words."
        self._nap = 0.0
        "Wall seconds that the last waits have grown to."
        self._waited_until = 0.0
        self._lead = 0.0
        "Virtual seconds that the guest is ahead of the wall since somebody outside may answer."
        self._looked_at = 0.0, 0.0
        "Virtual and wall seconds of the last exchange."

    @property
    def port(self) -> EthV1:
        """The Ethernet block. Raises: UsageError when chip or board has none."""
        block = self.machine.blocks.get("ETH")
        if not isinstance(block, EthV1):
            raise UsageError(f"{self.machine.chip.name} has no Ethernet that is modelled")
        if block.phy is None:
            raise UsageError(f'{self.machine.board.name} has no Ethernet PHY; a board file names one: phy = "LAN8742A"')
        return block

    def connect(self, net: str | Wire, allow: Iterable[str] = ()) -> Wire:
        """See `Machine.connect`."""
        port = self.port
        wire = make_wire(net, allow)
        if self.wire is not None:
            self.wire.close()
        self.wire = wire
        wire.on_frame, wire.now = port.receive, self.machine.clock.seconds
        port.transmit, port.tap = self._send, self._passed
        return wire

    def disconnect(self) -> None:
        """Unplug and close the wire and the capture."""
        if self.wire is not None:
            self.wire.close()
            self.complaints += self.wire.complaints()
            self.wire, self.port.transmit = None, _to_nobody
        if self.pcap is not None:
            self.pcap.close()
            self.pcap = None

    def plug(self) -> None:
        """Put the cable in: the link comes up after auto-negotiation."""
        phy = self.port.phy
        assert phy is not None
        phy.plug(self.machine.clock.seconds())

    def unplug(self) -> None:
        """Pull the cable out: the link is down at once, frames on the line are lost."""
        phy = self.port.phy
        assert phy is not None
        phy.unplug()

    def capture(self, path: str | Path) -> None:
        """See `Machine.capture`."""
        port = self.port
        self.pcap, port.tap = PcapWriter(path, self.machine.date.timestamp()), self._passed

    def _passed(self, frame: bytes, outgoing: bool) -> None:
        self.sent += outgoing
        self.received += not outgoing
        if self.pcap is not None:
            self.pcap.write(frame, self.machine.clock.seconds())

    def _send(self, frame: bytes) -> None:
        self._nap = 0.0
        if self.wire is not None:
            self.wire.send(frame, self.machine.clock.now)

    # -- time ----------------------------------------------------------------------------------
    def slice_seconds(self) -> float:
        """How long the guest may run before the wire must be looked at."""
        if self.wire is None:
            return FOREVER
        now = self.machine.clock.seconds()
        return max(self.wire.slice_end(now) - now, self._nap)

    def exchange(self) -> None:
        """A slice is over: bring what has arrived, asleep for a while when the guest sleeps."""
        if self.wire is None:
            return
        if self.wire.paced:
            if self.machine.core.asleep:
                self._sleep(self.wire)
            self._keep_pace(self.wire)
        if self.port.waiting < MOST_WAITING:
            self.wire.poll()

    def wait_for_something(self) -> bool:
        """The guest sleeps and nothing of its own will wake it; False when nothing from outside will, either."""
        if self.wire is None:
            return False
        self.wire.idle()
        if not self.wire.busy:
            return False
        clock = self.machine.clock
        clock.after(max(1, clock.cycles_for(self.slice_seconds())), _nothing)
        return True

    def _sleep(self, wire: Wire) -> None:
        if not wire.busy:
            self._nap = 0.0
            return
        nap = max(self._nap, wire.slice_seconds)
        worked = time.monotonic() - self._waited_until
        came = wire.wait(max(0.0, nap - worked))
        self._nap = 0.0 if came else min(LONGEST_NAP_SECONDS, NAP_GROWTH * nap)
        self._waited_until = time.monotonic()

    def _keep_pace(self, wire: Wire) -> None:
        """A guest that is awake waits at the sockets when it is too far ahead; what it lags behind is forgotten."""
        virtual, wall = self.machine.clock.seconds(), time.monotonic()
        passed = max(0.0, virtual - self._looked_at[0]), wall - self._looked_at[1]
        self._looked_at = virtual, wall
        if not wire.busy or passed[0] > LONGEST_SLICE_SECONDS:
            self._lead = 0.0
            return
        self._lead = max(0.0, self._lead + passed[0] - passed[1])
        if self._lead > LEAD_MOST_SECONDS:
            wire.wait(self._lead - LEAD_LEFT_SECONDS)


def _to_nobody(frame: bytes) -> None:
    """No cable."""


def _nothing() -> None:
    """Time passes."""
