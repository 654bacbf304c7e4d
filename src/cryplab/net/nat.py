"""A user-mode NAT: the guest's network is answered here, and its connections become sockets of the host.

No rights are needed. The guest gets 10.0.2.15 by DHCP; 10.0.2.2 is the gateway and the host's loopback, 10.0.2.3 the
name server. Only destinations that the user allowed are reached; the rest is refused as a network would.
"""

from __future__ import annotations

import contextlib
import errno
import queue
import selectors
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cryplab.net import nat_dhcp, nat_dns
from cryplab.net.allow import GATEWAY, HOST_LOOPBACK, AllowList, resolve
from cryplab.net.frames import (
    ACK,
    BROADCAST,
    ICMP,
    RST,
    SYN,
    TCP,
    TYPE_ARP,
    TYPE_IPV4,
    UDP,
    Arp,
    Ethernet,
    Icmp,
    Ipv4,
    Tcp,
    Udp,
    address,
    dotted,
)  # fmt: skip
from cryplab.net.nat_tcp import Connection, State
from cryplab.net.wire import Wire

__all__ = ["GUEST", "NAME_SERVER", "Nat"]

GUEST, NAME_SERVER = address("10.0.2.15"), address("10.0.2.3")
OUR_MAC = bytes.fromhex("52550a000202")
IN_PROGRESS = (errno.EINPROGRESS, errno.EWOULDBLOCK)
EVERYBODY = b"\xff\xff\xff\xff"
DHCP_SERVER, DHCP_CLIENT, DNS_PORT = 67, 68, 53
ARP_ASKS, ARP_ANSWERS = 1, 2
ECHO_REQUEST, ECHO_ANSWER, UNREACHABLE = 8, 0, 3
PROHIBITED, PORT_UNREACHABLE = 13, 3
DATAGRAM_BYTES = 65_535
UDP_IDLE_SECONDS, UDP_ANSWER_SECONDS = 60.0, 5.0
FIRST_FORWARD_PORT = 49_152
ISS_STEP = 64_000


@dataclass(slots=True)
class Association:
    """A guest's UDP port and destination, and the host's socket for it."""

    sock: socket.socket
    guest_port: int
    peer: bytes
    peer_port: int
    last: float


class Nat(Wire):
    """The wire to the host.

    Connections and what they hold are the host's: a snapshot of the machine does not keep them.

    Args:
        allow: destinations, `HOST:PORT` or `HOST`; `localhost` is the host's loopback, 10.0.2.2 for the guest.
        names: further names that the name server knows, with what they stand for (`{"server.test": "localhost"}`).
        forward: ports of the host's loopback -> ports of the guest that they lead to; 0 takes any free one.
    Raises: UsageError for a destination that makes no sense, OSError when a port to forward is taken.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        names: Mapping[str, str] | None = None,
        forward: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__()
        self.paced = True
        self.allowed = AllowList(allow)
        self.names = {name.lower(): target for name, target in (names or {}).items()}
        self.selector: selectors.BaseSelector = selectors.DefaultSelector()
        self.connections: dict[tuple[int, bytes, int], Connection] = {}
        self.associations: dict[tuple[int, bytes, int], Association] = {}
        self.refused: dict[str, str] = {}
        "What the guest asked for and may not reach, each once, and what would allow it."
        self.failures: list[str] = []
        "Connections that broke, in words."
        self.guest_mac: bytes | None = None
        self.guest = GUEST
        "The guest's address: that of its last packet."
        self.lease = nat_dhcp.Lease(GUEST, GATEWAY, NAME_SERVER)
        self._answers: queue.SimpleQueue[tuple[int, nat_dns.Question, list[bytes]]] = queue.SimpleQueue()
        self._asking = 0
        self._bell: socket.socket | None = None
        self._ring: socket.socket | None = None
        self._iss, self._forward_port, self._ident = ISS_STEP, FIRST_FORWARD_PORT, 0
        self.forwards: dict[int, int] = {}
        "Ports of the host's loopback that lead to ports of the guest."
        self._listeners: list[socket.socket] = []
        for host_port, guest_port in (forward or {}).items():
            self._listen(host_port, guest_port)

    # -- from the guest ------------------------------------------------------------------------
    def send(self, frame: bytes, cycle: int) -> None:
        """A frame of the guest."""
        outer = Ethernet.decode(frame)
        if outer is None or not (outer.destination == OUR_MAC or outer.destination[0] & 1):
            return
        if outer.kind == TYPE_ARP:
            self._arp(outer)
        elif outer.kind == TYPE_IPV4:
            packet = Ipv4.decode(outer.payload)
            if packet is not None:
                self.guest_mac = outer.source
                if any(packet.source):
                    self.guest = packet.source
                self._packet(packet)

    def _arp(self, outer: Ethernet) -> None:
        """Gateway and name server exist; nobody else does, so that a guest may probe its own address."""
        asked = Arp.decode(outer.payload)
        if asked is None:
            return
        self.guest_mac = outer.source
        if asked.operation == ARP_ASKS and asked.target in (GATEWAY, NAME_SERVER):
            answer = Arp(ARP_ANSWERS, OUR_MAC, asked.target, asked.sender_mac, asked.sender)
            self.on_frame(Ethernet(outer.source, OUR_MAC, TYPE_ARP, answer.encode()).encode())

    def _packet(self, packet: Ipv4) -> None:
        if packet.protocol == TCP:
            segment = Tcp.decode(packet)
            if segment is not None:
                self._segment(packet, segment)
        elif packet.protocol == UDP:
            datagram = Udp.decode(packet)
            if datagram is not None:
                self._datagram(packet, datagram)
        elif packet.protocol == ICMP:
            self._icmp(packet)

    def _icmp(self, packet: Ipv4) -> None:
        message = Icmp.decode(packet.payload)
        if message is None or message.kind != ECHO_REQUEST:
            return
        if packet.destination in (GATEWAY, NAME_SERVER):
            self.emit(ICMP, packet.destination, Icmp(ECHO_ANSWER, 0, message.rest).encode())
        else:
            self._unreachable(packet, PROHIBITED)

    def _unreachable(self, packet: Ipv4, code: int) -> None:
        quoted = packet.encode()[:28]
        self.emit(ICMP, GATEWAY, Icmp(UNREACHABLE, code, b"\0\0\0\0" + quoted).encode())

    def _refuse(self, what: str, host: bytes | str, port: int | str) -> None:
        name = "localhost" if host == GATEWAY else dotted(host) if isinstance(host, bytes) else host
        self.refused.setdefault(what, f"--allow {name}:{port} lets it pass")

    # -- to the guest --------------------------------------------------------------------------
    def emit(self, protocol: int, source: bytes, payload: bytes, destination: bytes = b"") -> None:
        """Send an IPv4 packet to the guest."""
        self._ident = (self._ident + 1) & 0xFFFF
        destination = destination or self.guest
        packet = Ipv4(source, destination, protocol, payload, ident=self._ident)
        mac = BROADCAST if destination == EVERYBODY or self.guest_mac is None else self.guest_mac
        self.on_frame(Ethernet(mac, OUR_MAC, TYPE_IPV4, packet.encode()).encode())

    def emit_segment(self, connection: Connection, segment: Tcp) -> None:
        """Send a segment of a connection to the guest."""
        self.emit(TCP, connection.peer, segment.encode(connection.peer, connection.guest), connection.guest)

    def _emit_datagram(self, source: bytes, datagram: Udp, destination: bytes = b"") -> None:
        to = destination or self.guest
        self.emit(UDP, source, datagram.encode(source, to), to)

    # -- TCP -----------------------------------------------------------------------------------
    def _segment(self, packet: Ipv4, segment: Tcp) -> None:
        key = (segment.source, packet.destination, segment.destination)
        known = self.connections.get(key)
        opening = segment.flags & (SYN | ACK | RST) == SYN
        if known is not None and not (opening and known.state is State.DONE):
            known.segment(segment)
        elif opening:
            self._open(packet, segment, key)
        elif not segment.flags & RST:
            self._reset(packet, segment)

    def _reset(self, packet: Ipv4, segment: Tcp) -> None:
        """RST, as RFC 9293 has it for a connection that does not exist."""
        length = len(segment.payload) + bool(segment.flags & SYN)
        seq = segment.ack if segment.flags & ACK else 0
        answer = Tcp(segment.destination, segment.source, seq, (segment.seq + length) % (1 << 32), RST | ACK, 0)
        self.emit(TCP, packet.destination, answer.encode(packet.destination, packet.source), packet.source)

    def _open(self, packet: Ipv4, segment: Tcp, key: tuple[int, bytes, int]) -> None:
        target = self.allowed.host_address(packet.destination, segment.destination)
        if target is None:
            where = f"{dotted(packet.destination)}:{segment.destination}"
            self._refuse(f"TCP to {where}", packet.destination, segment.destination)
            self._reset(packet, segment)
            return
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(
            self, packet.source, segment.source, packet.destination, segment.destination, sock, self._next_iss()
        )  # fmt: skip
        self.connections[key] = connection
        error = sock.connect_ex(target)
        connection.opened_by(segment)
        if error and error not in IN_PROGRESS:
            connection.refuse(error)

    def _next_iss(self) -> int:
        self._iss = (self._iss + ISS_STEP) % (1 << 32)
        return self._iss

    def _listen(self, host_port: int, guest_port: int) -> None:
        listener = socket.create_server((HOST_LOOPBACK, host_port))
        listener.setblocking(False)
        self._listeners.append(listener)
        self.forwards[listener.getsockname()[1]] = guest_port
        self.selector.register(listener, selectors.EVENT_READ, guest_port)

    def _accept(self, listener: socket.socket, guest_port: int) -> None:
        """A client of the host becomes a connection from the gateway to the guest's server."""
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        self._forward_port = self._forward_port + 1 if self._forward_port < 65_535 else FIRST_FORWARD_PORT
        key = (guest_port, GATEWAY, self._forward_port)
        connection = Connection(self, self.guest, guest_port, GATEWAY, self._forward_port, sock, self._next_iss())
        self.connections[key] = connection
        connection.open_to_guest()

    # -- UDP -----------------------------------------------------------------------------------
    def _datagram(self, packet: Ipv4, datagram: Udp) -> None:
        if datagram.destination == DHCP_SERVER:
            self._dhcp(datagram)
        elif packet.destination == NAME_SERVER and datagram.destination == DNS_PORT:
            self._dns(datagram)
        elif packet.destination != EVERYBODY and not packet.destination[0] >= 224:
            self._relay(packet, datagram)

    def _dhcp(self, datagram: Udp) -> None:
        if nat_dhcp.is_discover(datagram.payload):
            for connection in self.connections.values():
                if connection.state is not State.DONE:
                    connection.abort("the guest started anew", tell_guest=False)
        answer = nat_dhcp.answer(datagram.payload, self.lease)
        if answer is not None:
            payload, broadcast = answer
            to = EVERYBODY if broadcast else GUEST
            self._emit_datagram(GATEWAY, Udp(DHCP_SERVER, DHCP_CLIENT, payload), to)

    def _dns(self, datagram: Udp) -> None:
        question = nat_dns.parse_question(datagram.payload)
        if question is None:
            return
        target = self.names.get(question.name, question.name)
        if target == question.name and not self.allowed.has_name(question.name):
            self._refuse(f"the name {question.name}", question.name, "PORT")
            self._answer(datagram.source, question, None)
        elif not question.wants_address:
            self._answer(datagram.source, question, [])
        elif target == "localhost":
            self._answer(datagram.source, question, [GATEWAY])
        else:
            self._asking += 1
            self._hang_bell()
            thread = threading.Thread(target=self._resolve, args=(datagram.source, question, target), daemon=True)
            thread.start()

    def _hang_bell(self) -> None:
        """What wakes `wait` when a name was resolved."""
        if self._bell is None:
            self._bell, self._ring = socket.socketpair()
            self._bell.setblocking(False)
            self.selector.register(self._bell, selectors.EVENT_READ, None)

    def _resolve(self, port: int, question: nat_dns.Question, target: str) -> None:
        """In a thread, since the host's resolver may take its time."""
        found = resolve(target)
        self._answers.put((port, question, found))
        if self._ring is not None:
            with contextlib.suppress(OSError):
                self._ring.send(b"!")

    def _answer(self, port: int, question: nat_dns.Question, addresses: list[bytes] | None) -> None:
        self._emit_datagram(NAME_SERVER, Udp(DNS_PORT, port, nat_dns.encode_answer(question, addresses)))

    def _resolved(self) -> None:
        if self._bell is not None:
            self._bell.recv(DATAGRAM_BYTES)
        while not self._answers.empty():
            port, question, found = self._answers.get()
            self._asking -= 1
            self.allowed.learn(self.names.get(question.name, question.name), found)
            self._answer(port, question, found or None)

    def _relay(self, packet: Ipv4, datagram: Udp) -> None:
        key = (datagram.source, packet.destination, datagram.destination)
        known = self.associations.get(key)
        if known is None:
            target = self.allowed.host_address(packet.destination, datagram.destination)
            if target is None:
                where = f"{dotted(packet.destination)}:{datagram.destination}"
                self._refuse(f"UDP to {where}", packet.destination, datagram.destination)
                self._unreachable(packet, PROHIBITED)
                return
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setblocking(False)
            sock.connect(target)
            known = Association(sock, datagram.source, packet.destination, datagram.destination, self.now())
            self.associations[key] = known
            self.selector.register(sock, selectors.EVENT_READ, known)
        known.last = self.now()
        try:
            known.sock.send(datagram.payload)
        except ConnectionRefusedError:
            self._unreachable(packet, PORT_UNREACHABLE)
        except OSError:
            return

    def _datagram_came(self, association: Association) -> None:
        try:
            payload = association.sock.recv(DATAGRAM_BYTES)
        except OSError:
            return
        association.last = self.now()
        self._emit_datagram(association.peer, Udp(association.peer_port, association.guest_port, payload))

    # -- the wire ------------------------------------------------------------------------------
    def poll(self) -> None:
        """Serve sockets that are ready, and timers of the guest's time."""
        for key, events in self.selector.select(0):
            if key.data is None:
                self._resolved()
            elif isinstance(key.data, Connection):
                key.data.ready(events)
            elif isinstance(key.data, Association):
                self._datagram_came(key.data)
            else:
                assert isinstance(key.fileobj, socket.socket)
                self._accept(key.fileobj, key.data)
        for name, connection in list(self.connections.items()):
            connection.tick()
            if connection.state is State.DONE and self.now() >= connection.done_at:
                del self.connections[name]
                if connection.failure:
                    self.failures.append(connection.failure)
        for name, association in list(self.associations.items()):
            if self.now() - association.last > UDP_IDLE_SECONDS:
                self._forget(association)
                del self.associations[name]

    def _forget(self, association: Association) -> None:
        self.selector.unregister(association.sock)
        association.sock.close()

    @property
    def busy(self) -> bool:
        """A connection is open, an answer is awaited, or a host's client may come."""
        now = self.now()
        return (
            bool(self._listeners or self._asking)
            or any(c.state is not State.DONE for c in self.connections.values())
            or any(now - a.last < UDP_ANSWER_SECONDS for a in self.associations.values())
        )

    def wait(self, seconds: float) -> bool:
        """Until a socket has something, at most so long."""
        return bool(self.selector.select(seconds))

    def complaints(self) -> list[str]:
        """What the guest may not reach and how it may, then connections that broke."""
        lines = [f"the guest asked for {what}, which is not allowed; {hint}" for what, hint in self.refused.items()]
        broken = [c.failure for c in self.connections.values() if c.failure]
        return lines + [f"connection to {failure}" for failure in self.failures + broken]

    def close(self) -> None:
        """Close every socket."""
        for connection in self.connections.values():
            connection.finish()
        for association in self.associations.values():
            self._forget(association)
        for listener in self._listeners:
            listener.close()
        self.connections, self.associations, self._listeners = {}, {}, []
        self.selector.close()
        for end in (self._bell, self._ring):
            if end is not None:
                end.close()
