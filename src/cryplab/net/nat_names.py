"""The NAT asks the host's resolver for addresses of names, without waiting for it."""

from __future__ import annotations

import contextlib
import queue
import selectors
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from cryplab.net.allow import resolve
from cryplab.net.nat_dns import Question

__all__ = ["Asked", "Resolver"]

RING_BYTES = 4096


@dataclass(slots=True)
class Asked:
    """A question of the guest's `port`, the name that the host is asked for, and the addresses that it gave."""

    port: int
    question: Question
    name: str
    addresses: list[bytes] = field(default_factory=list)


class Resolver:
    """Asks in a thread for each name, since the host's resolver may take its time.

    Args:
        selector: has an event, with this object as data, when answers have come.
    """

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self.selector = selector
        self.awaited = 0
        "Answers still to come."
        self._answers: queue.SimpleQueue[Asked] = queue.SimpleQueue()
        self._bell: tuple[socket.socket, socket.socket] | None = None
        "The end that the selector watches, the end that threads ring at."

    def ask(self, asked: Asked) -> None:
        """Look a name up; `answers` gives it back."""
        self.awaited += 1
        if self._bell is None:
            self._bell = socket.socketpair()
            self._bell[0].setblocking(False)
            self.selector.register(self._bell[0], selectors.EVENT_READ, self)
        threading.Thread(target=self._look_up, args=(asked, self._bell[1]), daemon=True).start()

    def _look_up(self, asked: Asked, ring: socket.socket) -> None:
        asked.addresses = resolve(asked.name)
        self._answers.put(asked)
        with contextlib.suppress(OSError):  # closed meanwhile
            ring.send(b"!")

    def answers(self) -> Iterator[Asked]:
        """What has been answered since; the selector has said that there is something."""
        if self._bell is not None:
            self._bell[0].recv(RING_BYTES)
        while not self._answers.empty():
            self.awaited -= 1
            yield self._answers.get()

    def close(self) -> None:
        """Ask for nothing more."""
        for end in self._bell or ():
            end.close()
