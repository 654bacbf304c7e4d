"""The NAT's datagrams: sockets that come and go with the guest's time."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator

import pytest

from cryplab.net.nat_udp import Datagrams, Ends

ENDS = Ends(5000, bytes((10, 0, 2, 2)), 7)


class Time:
    """The guest's seconds."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(5)
        yield sock


@pytest.fixture
def now() -> Time:
    return Time()


@pytest.fixture
def datagrams(now: Time) -> Iterator[Datagrams]:
    with selectors.DefaultSelector() as selector:
        opened = Datagrams(selector, now)
        yield opened
        opened.close()


def test_an_answer_comes_by_the_selector(datagrams: Datagrams, server: socket.socket) -> None:
    datagrams.associate(ENDS, server.getsockname())
    assert datagrams.send(ENDS, b"ask")
    asked, sender = server.recvfrom(100)
    server.sendto(b"answer to " + asked, sender)
    ((key, _),) = datagrams.selector.select(5)
    assert key.data.ends == ENDS
    assert datagrams.receive(key.data) == b"answer to ask"
    assert datagrams.receive(key.data) is None


def test_answers_are_awaited_for_5_seconds(datagrams: Datagrams, server: socket.socket, now: Time) -> None:
    assert not datagrams.awaited
    datagrams.associate(ENDS, server.getsockname())
    now.seconds += 4.9
    assert datagrams.awaited
    now.seconds += 0.2
    assert not datagrams.awaited
    datagrams.send(ENDS, b"again")
    assert datagrams.awaited


def test_what_is_silent_for_a_minute_is_closed(datagrams: Datagrams, server: socket.socket, now: Time) -> None:
    datagrams.associate(ENDS, server.getsockname())
    datagrams.associate(ENDS._replace(guest_port=5001), server.getsockname())
    now.seconds += 40
    datagrams.send(ENDS, b"still here")
    now.seconds += 21
    datagrams.close_idle()
    assert list(datagrams.open) == [ENDS]
    assert len(datagrams.selector.get_map()) == 1


def test_nobody_listens(datagrams: Datagrams) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        target = gone.getsockname()
    datagrams.associate(ENDS, target)
    assert datagrams.send(ENDS, b"to nobody")  # the host's ICMP comes after the first
    datagrams.selector.select(5)
    assert not datagrams.send(ENDS, b"to nobody")
