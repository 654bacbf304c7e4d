"""The NAT against plain sockets on the loopback, with a guest's stack written by hand."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from guest_stack import COOKIE, MAC, Socket, Stack

from cryplab.errors import UsageError
from cryplab.net import Impaired, Nat, parse_name
from cryplab.net.frames import ACK, RST, SYN, TCP, Ethernet, Icmp, Tcp, Udp, address
from cryplab.net.nat_tcp import RETRIES
from cryplab.network import make_wire

GATEWAY, NAMES = address("10.0.2.2"), address("10.0.2.3")
MIB = bytes(n * 7919 >> 5 & 0xFF for n in range(1 << 16)) * 16


@contextmanager
def server(serve: Callable[[socket.socket], None], clients: int = 1) -> Iterator[int]:
    """A server on the loopback in a thread; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)

    def work() -> None:
        for _ in range(clients):
            client, _ = listener.accept()
            client.settimeout(10)
            with client:
                serve(client)

    thread = threading.Thread(target=work)
    thread.start()
    yield listener.getsockname()[1]
    thread.join(10)
    listener.close()
    assert not thread.is_alive()


def echo(client: socket.socket) -> None:
    while data := client.recv(1 << 16):
        client.sendall(data)


@contextmanager
def guest(*allow: str, names: dict[str, str] | None = None, dhcp: bool = True) -> Iterator[Stack]:
    nat = Nat(allow, names=names)
    stack = Stack(nat)
    if dhcp:
        stack.dhcp()
    yield stack
    nat.close()


def nat_of(stack: Stack) -> Nat:
    assert isinstance(stack.wire, Nat)
    return stack.wire


# -- DHCP, ARP, DNS, ping --------------------------------------------------------------------------
def test_dhcp_gives_address_router_and_name_server() -> None:
    with guest(dhcp=False) as stack:
        options = stack.dhcp()
        assert stack.ip == address("10.0.2.15")
        assert options[1] == address("255.255.255.0")
        assert (options[3], options[6]) == (GATEWAY, NAMES)
        assert struct.unpack(">I", options[51])[0] >= 3600


def test_an_address_that_is_not_ours_is_refused() -> None:
    with guest(dhcp=False) as stack:
        head = struct.pack(">BBBBIHH", 1, 1, 6, 0, 7, 0, 0) + bytes(16) + MAC
        asked = bytes((53, 1, 3, 50, 4)) + address("192.168.1.5") + b"\xff"
        stack.send_udp(b"\xff" * 4, Udp(68, 67, head.ljust(236, b"\0") + COOKIE + asked))
        stack.step()
        [(_, answer)] = stack.udp
        assert answer.payload[240:243] == bytes((53, 1, 6)), "NAK"


def test_arp_answers_for_gateway_and_names_only() -> None:
    with guest() as stack:
        for target, answered in ((GATEWAY, True), (NAMES, True), (stack.ip, False), (address("10.0.2.9"), False)):
            stack.gateway_mac = b""
            stack.ask_arp(target)
            stack.step(0)
            assert bool(stack.gateway_mac) is answered, target


def ask_name(stack: Stack, name: str, kind: int = 1) -> tuple[int, list[str]]:
    """Response code and addresses."""
    labels = b"".join(bytes((len(part),)) + part.encode() for part in name.split("."))
    question = labels + b"\0" + struct.pack(">HH", kind, 1)
    stack.udp.clear()
    stack.send_udp(NAMES, Udp(5353, 53, struct.pack(">HHHHHH", 99, 0x0100, 1, 0, 0, 0) + question))
    stack.until(lambda: stack.udp)
    source, answer = stack.udp[0]
    assert (source, answer.source, answer.destination) == (NAMES, 53, 5353)
    ident, flags, questions, answers = struct.unpack(">HHHH", answer.payload[:8])
    assert (ident, flags >> 15, questions) == (99, 1, 1)
    at = 12 + len(question)
    found = []
    for _ in range(answers):
        pointer, record, klass, ttl, size = struct.unpack(">HHHIH", answer.payload[at : at + 12])
        assert (pointer, record, klass, size) == (0xC00C, 1, 1, 4)
        assert ttl
        found.append(socket.inet_ntoa(answer.payload[at + 12 : at + 16]))
        at += 16
    assert at == len(answer.payload)
    return flags & 15, found


def test_names_that_were_allowed_are_answered() -> None:
    with guest("localhost:443", names={"server.test": "localhost", "other.test": "127.0.0.1"}) as stack:
        assert ask_name(stack, "localhost") == (0, ["10.0.2.2"])
        assert ask_name(stack, "Server.TEST") == (0, ["10.0.2.2"])
        assert ask_name(stack, "other.test") == (0, ["10.0.2.2"])
        assert ask_name(stack, "localhost", kind=28) == (0, []), "no IPv6 address"
        assert ask_name(stack, "example.org") == (3, [])
        assert nat_of(stack).complaints() == [
            "the guest asked for the name example.org, which is not allowed; --allow example.org:PORT lets it pass"
        ]


def test_a_name_of_the_command_line_is_answered_but_opens_no_port() -> None:
    wire = make_wire("user", ["localhost:1"], dict([parse_name("Developer.mbed.org = LOCALHOST")]))
    stack = Stack(wire)
    stack.dhcp()
    assert ask_name(stack, "developer.mbed.org") == (0, ["10.0.2.2"])
    refused = stack.connect(GATEWAY, 443)
    stack.until(lambda: refused.state == "reset")
    wire.close()
    assert wire.complaints() == [
        "the guest asked for TCP to 10.0.2.2:443, which is not allowed; --allow localhost:443 lets it pass"
    ]


@pytest.mark.parametrize("text", ["", "a.test", "a.test=", "=localhost", "a=b=c", "a.test:80=localhost"])
def test_names_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_name(text)
    assert str(error.value) == (
        f"'{text}': expected HOST=ADDRESS, such as developer.mbed.org=localhost; a port goes with --allow"
    )


def test_ping_is_answered_by_the_gateway() -> None:
    with guest() as stack:
        stack.send_ip(GATEWAY, 1, Icmp(8, 0, b"\x12\x34\0\1payload").encode())
        stack.step(0)
        [raw] = stack.icmp
        answer = Icmp.decode(raw)
        assert answer == Icmp(0, 0, b"\x12\x34\0\1payload")


# -- UDP -------------------------------------------------------------------------------------------
def test_datagrams_are_relayed_both_ways() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as host:
        host.bind(("127.0.0.1", 0))
        host.settimeout(5)
        port = host.getsockname()[1]
        with guest(f"localhost:{port}") as stack:
            stack.udp.clear()
            stack.send_udp(GATEWAY, Udp(1111, port, b"question"))
            data, sender = host.recvfrom(100)
            assert data == b"question"
            host.sendto(b"answer", sender)
            stack.until(lambda: stack.udp)
            assert stack.udp == [(GATEWAY, Udp(port, 1111, b"answer"))]
            assert stack.wire.busy


def test_datagrams_elsewhere_are_refused() -> None:
    with guest("localhost:1") as stack:
        stack.send_udp(address("192.0.2.1"), Udp(1111, 123, b"time?"))
        stack.step(0)
        [raw] = stack.icmp
        assert raw[:2] == bytes((3, 13)), "administratively prohibited"
        assert nat_of(stack).complaints() == [
            "the guest asked for UDP to 192.0.2.1:123, which is not allowed; --allow 192.0.2.1:123 lets it pass"
        ]


# -- TCP -------------------------------------------------------------------------------------------
def transfer(stack: Stack, port: int, data: bytes) -> Socket:
    one = stack.connect(GATEWAY, port)
    stack.until(lambda: one.state == "open")
    one.out += data
    stack.until(lambda: len(one.received) >= len(data), steps=500_000)
    assert one.received == data
    return one


def test_a_mebibyte_both_ways_and_an_orderly_end() -> None:
    with server(echo) as port, guest(f"localhost:{port}") as stack:
        one = transfer(stack, port, MIB)
        one.closing = True
        stack.until(lambda: one.peer_closed)
        stack.until(lambda: not stack.wire.busy)
        for _ in range(2500):
            stack.step(0)
        assert nat_of(stack).connections == {}
        assert nat_of(stack).complaints() == []


@pytest.mark.parametrize("seed", [1, 2])
def test_a_mebibyte_both_ways_over_a_bad_wire(seed: int) -> None:
    nat = None
    with server(echo) as port:
        nat = Nat([f"localhost:{port}"])
        wire = Impaired(nat, loss=0.02, duplicate=0.02, reorder=0.02, seed=seed)
        stack = Stack(wire, nap=0)
        stack.dhcp()
        one = transfer(stack, port, MIB)
        one.closing = True
        stack.until(lambda: one.peer_closed or one.state == "reset")
        assert wire.lost > 20
        assert wire.doubled > 20
        assert wire.reordered > 20
        nat.close()


def test_impairments_are_the_same_for_the_same_seed() -> None:
    def fates(seed: int) -> list[bytes]:
        out: list[bytes] = []
        inner = Nat()
        inner.send = lambda frame, cycle: out.append(frame)  # type: ignore[method-assign]
        wire = Impaired(inner, loss=0.2, duplicate=0.2, reorder=0.2, seed=seed)
        for n in range(200):
            wire.send(bytes((n,)), 0)
        inner.close()
        return out

    assert fates(3) == fates(3) != fates(4)


def test_a_server_that_is_not_there_resets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "reset")
        assert nat_of(stack).complaints() == [f"connection to 10.0.2.2:{port}: Connection refused"]


def test_destinations_that_nobody_named_are_reset_without_a_connection() -> None:
    reached: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        with guest("localhost:1", "192.0.2.1:443") as stack:
            for peer, to in ((GATEWAY, port), (address("127.0.0.1"), port), (address("192.0.2.1"), 80)):
                one = stack.connect(peer, to)
                stack.step(0)
                assert one.state == "reset"
            assert len(nat_of(stack).refused) == 3
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not reached


def test_the_server_closes_first() -> None:
    with server(lambda client: client.sendall(b"bye")) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.peer_closed)
        assert one.received == b"bye"
        one.closing = True
        stack.until(lambda: not stack.wire.busy)


def test_the_server_resets() -> None:
    def rude(client: socket.socket) -> None:
        client.recv(1)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with server(rude) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "open")
        one.out += b"hello"
        stack.until(lambda: one.state == "reset")
        [complaint] = nat_of(stack).complaints()
        assert complaint.startswith(f"connection to 10.0.2.2:{port}: the host reset the connection")


def seeing(ends: list[object]) -> Callable[[socket.socket], None]:
    """What a server does that only waits for the end: a byte, none, or the reset goes into `ends`."""

    def see(client: socket.socket) -> None:
        try:
            ends.append(client.recv(1))
        except ConnectionResetError as error:
            ends.append(type(error))

    return see


def test_the_guest_resets() -> None:
    ends: list[object] = []
    with server(seeing(ends)) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "open")
        one.emit(RST)
        stack.until(lambda: ends)
    assert ends == [ConnectionResetError]


def test_a_guest_that_starts_anew_has_no_connections() -> None:
    ends: list[object] = []
    with server(seeing(ends)) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "open")
        stack.dhcp()
        stack.until(lambda: ends)
        assert nat_of(stack).complaints() == [f"connection to 10.0.2.2:{port}: the guest started anew"]
    assert ends == [ConnectionResetError]


def test_half_closed_connections_go_on_in_the_other_direction() -> None:
    def after_all(client: socket.socket) -> None:
        whole = b"".join(iter(lambda: client.recv(4096), b""))
        client.sendall(whole[::-1])

    with server(after_all) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "open")
        one.out += b"abc" * 5000
        one.closing = True
        stack.until(lambda: one.peer_closed)
        assert one.received == (b"abc" * 5000)[::-1]


def test_a_guest_that_falls_silent_is_given_up() -> None:
    def talk(client: socket.socket) -> None:
        client.sendall(b"x" * 5000)
        assert client.recv(1) == b""

    with server(talk) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        stack.until(lambda: one.state == "open")
        del stack.sockets[one.own_port]
        [connection] = nat_of(stack).connections.values()
        for _ in range(60_000):
            stack.step(0 if connection.to_guest else 0.001)
            if connection.failure:
                break
        assert connection.failure.endswith("the guest no longer answers")
        assert connection.retries == RETRIES + 1


def test_a_shut_window_is_probed_until_it_opens() -> None:
    with server(lambda client: client.sendall(b"later")) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        one.heard = lambda source, segment: seen.append(segment)  # type: ignore[method-assign]
        seen: list[Tcp] = []
        stack.until(lambda: seen)
        one.expected, one.acked = seen[0].seq + 1, seen[0].ack

        def window(size: int) -> None:
            segment = Tcp(one.own_port, port, one.acked, one.expected, ACK, size)
            stack.send_ip(GATEWAY, TCP, segment.encode(stack.ip, GATEWAY))

        window(0)
        seen.clear()
        stack.until(lambda: any(s.payload for s in seen))
        assert next(s for s in seen if s.payload).payload == b"l", "one byte, to see whether the window is open"
        window(1000)
        stack.until(lambda: any(s.payload == b"later" for s in seen))


def test_a_lost_answer_to_syn_is_sent_again() -> None:
    with server(lambda client: client.recv(1) and None) as port, guest(f"localhost:{port}") as stack:
        one = stack.connect(GATEWAY, port)
        syns: list[Tcp] = []
        real, one.heard = one.heard, lambda source, segment: syns.append(segment)  # type: ignore[method-assign]
        stack.until(lambda: len(syns) == 2)
        assert all(s.flags == SYN | ACK for s in syns)
        assert syns[0] == syns[1]
        one.heard = real  # type: ignore[method-assign]
        stack.until(lambda: one.state == "open")
        one.out += b"x"
        stack.until(lambda: not one.out)


def test_a_host_client_reaches_the_guests_server() -> None:
    nat = Nat(forward={0: 7})
    stack = Stack(nat)
    stack.dhcp()
    [port] = nat.forwards
    listening = Passive(stack, 7)
    answers: list[bytes] = []

    def client() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
            sock.sendall(b"from outside")
            answers.append(sock.recv(100))

    thread = threading.Thread(target=client)
    thread.start()
    stack.until(lambda: answers)
    thread.join()
    assert answers == [b"FROM OUTSIDE"]
    assert listening.accepted
    nat.close()


class Passive(Socket):
    """A guest's server of one connection that answers in capitals."""

    def __init__(self, stack: Stack, port: int) -> None:
        super().__init__(stack, GATEWAY, 0, port)
        self.accepted, self.state = False, "listening"
        stack.sockets[port] = self

    def heard(self, source: bytes, segment: Tcp) -> None:
        if segment.flags & SYN:
            self.accepted, self.port = True, segment.source
            self.expected = segment.seq + 1
            self.emit(SYN | ACK, mss=1460)
            self.acked, self.in_flight, self.state = self.acked + 1, 0, "open"
            return
        super().heard(source, segment)
        if self.received:
            self.out += bytes(self.received).upper()
            self.received.clear()


def test_no_sockets_are_left() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    with server(echo, clients=20) as port:
        before = descriptors()
        with guest(f"localhost:{port}") as stack:
            for n in range(20):
                one = stack.connect(GATEWAY, port, own_port=41_000 + n)
                stack.until(lambda one=one: one.state == "open")
                one.out += b"ping"
                stack.until(lambda one=one: one.received == b"ping")
                one.closing = True
                stack.until(lambda one=one: one.peer_closed)
            stack.until(lambda: not stack.wire.busy)
        assert descriptors() == before


def test_frames_that_are_no_frames_change_nothing() -> None:
    with guest() as stack:
        for raw in (b"", b"\0" * 13, b"\xff" * 60, Ethernet(stack.gateway_mac, MAC, 0x0800, b"\x45").encode()):
            stack.wire.send(raw, 0)
        whole = Udp(1, 53, b"\0" * 5).encode(stack.ip, NAMES)
        for size in range(len(whole)):
            stack.send_ip(NAMES, 17, whole[:size])
            stack.send_ip(GATEWAY, 6, whole[:size])
            stack.send_ip(GATEWAY, 1, whole[:size])
        stack.step(0)
        assert not stack.icmp


@pytest.mark.parametrize("text", ["localhost:http", ":443", "host:0", "host:70000"])
def test_destinations_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="expected HOST:PORT, such as localhost:4433"):
        Nat([text])
