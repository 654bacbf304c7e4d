"""The NAT's datagrams: for each port of the guest and its destination a socket of the host, until it is silent."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Association", "Datagrams", "Ends"]

DATAGRAM_BYTES = 65_535
IDLE_SECONDS, ANSWER_SECONDS = 60.0, 5.0


class Ends(NamedTuple):
    """The guest's port, and the address and port that it sends to."""

    guest_port: int
    peer: bytes
    peer_port: int


@dataclass(slots=True)
class Association:
    """The host's socket for one pair of ends, and when it was last used, in seconds of the guest."""

    ends: Ends
    sock: socket.socket
    last: float


class Datagrams:
    """Associations that are open.

    Args:
        selector: has an event, with the association as data, when an answer has come.
        now: seconds of the guest.
    """

    def __init__(self, selector: selectors.BaseSelector, now: Callable[[], float]) -> None:
        self.selector, self.now = selector, now
        self.open: dict[Ends, Association] = {}

    def associate(self, ends: Ends, target: tuple[str, int]) -> None:
        """Open the host's socket to where the destination is for the host."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        sock.connect(target)
        self.open[ends] = Association(ends, sock, self.now())
        self.selector.register(sock, selectors.EVENT_READ, self.open[ends])

    def send(self, ends: Ends, payload: bytes) -> bool:
        """Send by an open association; False when the host says that nobody listens there."""
        association = self.open[ends]
        association.last = self.now()
        try:
            association.sock.send(payload)
        except ConnectionRefusedError:
            return False
        except OSError:
            pass  # lost, as datagrams may be
        return True

    def receive(self, association: Association) -> bytes | None:
        """What has come, if anything has."""
        try:
            payload = association.sock.recv(DATAGRAM_BYTES)
        except OSError:
            return None
        association.last = self.now()
        return payload

    @property
    def awaited(self) -> bool:
        """Whether an answer may still come."""
        now = self.now()
        return any(now - association.last < ANSWER_SECONDS for association in self.open.values())

    def close_idle(self) -> None:
        """Close what has been silent for long."""
        now = self.now()
        for association in list(self.open.values()):
            if now - association.last > IDLE_SECONDS:
                self._close(association)

    def close(self) -> None:
        """Close all."""
        for association in list(self.open.values()):
            self._close(association)

    def _close(self, association: Association) -> None:
        self.selector.unregister(association.sock)
        association.sock.close()
        del self.open[association.ends]
