"""A user-mode NAT: the guest's network is answered here, and its connections become sockets of the host.

No rights are needed. The guest gets 10.0.2.15 by DHCP; 10.0.2.2 is the gateway and the host's loopback, 10.0.2.3 the
name server. Only destinations that the user allowed are reached; the rest is refused as a network would.
"""

from __future__ import annotations

import errno
import selectors
import socket
from collections.abc import Iterable, Mapping

from cryplab.net import nat_dhcp, nat_dns
from cryplab.net.allow import GATEWAY, HOST_LOOPBACK, AllowList
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
from cryplab.net.nat_names import Asked, Resolver
from cryplab.net.nat_tcp import Connection, State
from cryplab.net.nat_udp import Association, Datagrams, Ends
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
FIRST_FORWARD_PORT = 49_152
ISS_STEP = 64_000


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
        self.datagrams = Datagrams(self.selector, lambda: self.now())
        self.refused: dict[str, str] = {}
        "What the guest asked for and may not reach, each once, and what would allow it."
        self.failures: list[str] = []
        "Connections that broke, in words."
        self.guest_mac: bytes | None = None
        self.guest = GUEST
        "The guest's address: that of its last packet."
        self.lease = nat_dhcp.Lease(GUEST, GATEWAY, NAME_SERVER)
        self._resolver = Resolver(self.selector)
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

    def _host_address(self, protocol: str, packet: Ipv4, port: int) -> tuple[str, int] | None:
        """Where the host reaches the packet's destination; None, and it is noted, when the guest may not."""
        target = self.allowed.host_address(packet.destination, port)
        if target is None:
            self._refuse(f"{protocol} to {dotted(packet.destination)}:{port}", packet.destination, port)
        return target

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
        target = self._host_address("TCP", packet, segment.destination)
        if target is None:
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
            self._resolver.ask(Asked(datagram.source, question, target))

    def _answer(self, port: int, question: nat_dns.Question, addresses: list[bytes] | None) -> None:
        self._emit_datagram(NAME_SERVER, Udp(DNS_PORT, port, nat_dns.encode_answer(question, addresses)))

    def _resolved(self) -> None:
        for asked in self._resolver.answers():
            self.allowed.learn(asked.name, asked.addresses)
            self._answer(asked.port, asked.question, asked.addresses or None)

    def _relay(self, packet: Ipv4, datagram: Udp) -> None:
        ends = Ends(datagram.source, packet.destination, datagram.destination)
        if ends not in self.datagrams.open:
            target = self._host_address("UDP", packet, datagram.destination)
            if target is None:
                self._unreachable(packet, PROHIBITED)
                return
            self.datagrams.associate(ends, target)
        if not self.datagrams.send(ends, datagram.payload):
            self._unreachable(packet, PORT_UNREACHABLE)

    def _datagram_came(self, association: Association) -> None:
        payload, ends = self.datagrams.receive(association), association.ends
        if payload is not None:
            self._emit_datagram(ends.peer, Udp(ends.peer_port, ends.guest_port, payload))

    # -- the wire ------------------------------------------------------------------------------
    def poll(self) -> None:
        """Serve sockets that are ready, and timers of the guest's time."""
        for key, events in self.selector.select(0):
            if key.data is self._resolver:
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
        self.datagrams.close_idle()

    @property
    def busy(self) -> bool:
        """A connection is open, an answer is awaited, or a host's client may come."""
        return (
            bool(self._listeners or self._resolver.awaited)
            or any(c.state is not State.DONE for c in self.connections.values())
            or self.datagrams.awaited
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
        self.failures += [connection.failure for connection in self.connections.values() if connection.failure]
        self.datagrams.close()
        for listener in self._listeners:
            listener.close()
        self.connections, self._listeners = {}, []
        self.selector.close()
        self._resolver.close()
