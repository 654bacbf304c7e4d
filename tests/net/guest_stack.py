"""A guest's network stack by hand, for tests of the NAT: frames in and out, a TCP that is slow but right."""

from __future__ import annotations

import struct
from collections.abc import Callable

from cryplab.net.frames import (
    ACK,
    BROADCAST,
    FIN,
    PSH,
    RST,
    SYN,
    TCP,
    TYPE_ARP,
    TYPE_IPV4,
    UDP,
    Arp,
    Ethernet,
    Ipv4,
    Tcp,
    Udp,
    address,
)  # fmt: skip
from cryplab.net.wire import Wire

MAC = bytes.fromhex("0280e1000001")
COOKIE = b"\x63\x82\x53\x63"
MSS = 1460
WINDOW = 4 * MSS
NUMBERS = 1 << 32
RETRY_SECONDS = 0.5
STEP_SECONDS = 1e-3


class Stack:
    """One guest at a wire. Time is virtual and moves with `step`; `nap` is how long a step waits for the host."""

    def __init__(self, wire: Wire, nap: float = 0.002) -> None:
        self.nap = nap
        self.wire, self.time = wire, 0.0
        wire.on_frame, wire.now = self.heard, lambda: self.time
        self.ip, self.gateway_mac = address("0.0.0.0"), b""
        self.frames: list[Ethernet] = []
        self.sockets: dict[int, Socket] = {}
        self.udp: list[tuple[bytes, Udp]] = []
        self.icmp: list[bytes] = []

    def heard(self, raw: bytes) -> None:
        frame = Ethernet.decode(raw)
        assert frame is not None
        self.frames.append(frame)

    def step(self, nap: float | None = None) -> None:
        """The wire works, then the guest does."""
        if not self.frames:
            self.wire.wait(self.nap if nap is None else nap)
        self.wire.poll()
        frames, self.frames = self.frames, []
        for frame in frames:
            self.take(frame)
        for one in list(self.sockets.values()):
            one.tick()
        self.time += STEP_SECONDS

    def until(self, done: Callable[[], object], steps: int = 20_000) -> None:
        for _ in range(steps):
            if done():
                return
            self.step()
        raise AssertionError("it did not happen")

    def take(self, frame: Ethernet) -> None:
        if frame.kind == TYPE_ARP:
            arp = Arp.decode(frame.payload)
            assert arp is not None
            if arp.operation == 2:
                self.gateway_mac = arp.sender_mac
        elif frame.kind == TYPE_IPV4:
            packet = Ipv4.decode(frame.payload)
            assert packet is not None, "header checksum"
            if packet.protocol == TCP:
                segment = Tcp.decode(packet)
                assert segment is not None, "TCP checksum"
                if segment.destination in self.sockets:
                    self.sockets[segment.destination].heard(packet.source, segment)
            elif packet.protocol == UDP:
                datagram = Udp.decode(packet)
                assert datagram is not None, "UDP checksum"
                self.udp.append((packet.source, datagram))
            else:
                self.icmp.append(packet.payload)

    # -- sending -------------------------------------------------------------------------------
    def send_ip(self, destination: bytes, protocol: int, payload: bytes) -> None:
        packet = Ipv4(self.ip, destination, protocol, payload)
        mac = self.gateway_mac if destination != b"\xff" * 4 else BROADCAST
        self.wire.send(Ethernet(mac, MAC, TYPE_IPV4, packet.encode()).encode(), 0)

    def send_udp(self, destination: bytes, datagram: Udp) -> None:
        self.send_ip(destination, UDP, datagram.encode(self.ip, destination))

    def ask_arp(self, target: bytes) -> None:
        request = Arp(1, MAC, self.ip, b"\0" * 6, target)
        self.wire.send(Ethernet(BROADCAST, MAC, TYPE_ARP, request.encode()).encode(), 0)

    # -- DHCP ----------------------------------------------------------------------------------
    def dhcp(self) -> dict[int, bytes]:
        """Discover, offer, request, ack; takes the address. Returns the options of the ack."""
        offer, options = self._dhcp_round(bytes((53, 1, 1)))
        assert options[53] == b"\x02"
        offered = offer[16:20]
        asked = bytes((53, 1, 3, 50, 4)) + offered + bytes((54, 4)) + options[54]
        ack, options = self._dhcp_round(asked)
        assert options[53] == b"\x05"
        assert ack[16:20] == offered
        self.ip = offered
        self.ask_arp(options[3])
        self.until(lambda: self.gateway_mac)
        return options

    def _dhcp_round(self, body: bytes) -> tuple[bytes, dict[int, bytes]]:
        head = struct.pack(">BBBBIHH", 1, 1, 6, 0, 0x3903F326, 0, 0) + bytes(16) + MAC
        message = head.ljust(236, b"\0") + COOKIE + body + b"\xff"
        self.udp.clear()
        for _ in range(10):
            self.send_udp(b"\xff" * 4, Udp(68, 67, message))
            for _ in range(5):
                self.step()
            if self.udp:
                break
        _, datagram = self.udp[0]
        assert datagram.payload[4:8] == message[4:8], "transaction"
        options, at, raw = {}, 240, datagram.payload
        while raw[at] != 255:
            options[raw[at]] = raw[at + 2 : at + 2 + raw[at + 1]]
            at += 2 + raw[at + 1]
        return raw, options

    # -- TCP -----------------------------------------------------------------------------------
    def connect(self, destination: bytes, port: int, own_port: int = 40_000) -> Socket:
        self.sockets[own_port] = one = Socket(self, destination, port, own_port)
        one.emit(SYN, mss=MSS)
        return one


class Socket:
    """One end of a connection: sends one segment at a time, resends after a while, takes what is in order."""

    def __init__(self, stack: Stack, peer: bytes, port: int, own_port: int) -> None:
        self.stack, self.peer, self.port, self.own_port = stack, peer, port, own_port
        self.state = "syn sent"
        self.acked, self.expected = 1000, 0
        self.out, self.received = bytearray(), bytearray()
        self.in_flight = 1
        self.sent_at = stack.time
        self.closing = self.fin_sent = self.peer_closed = False
        self.window = MSS

    def emit(self, flags: int, seq: int | None = None, data: bytes = b"", mss: int = 0) -> None:
        number = self.acked if seq is None else seq
        segment = Tcp(self.own_port, self.port, number % NUMBERS, self.expected, flags, WINDOW, data, mss)
        self.stack.send_ip(self.peer, TCP, segment.encode(self.stack.ip, self.peer))
        self.sent_at = self.stack.time

    def heard(self, source: bytes, segment: Tcp) -> None:
        assert source == self.peer
        if segment.flags & RST:
            self.state = "reset"
            return
        if self.state == "syn sent" and segment.flags & SYN:
            self.expected, self.acked = (segment.seq + 1) % NUMBERS, segment.ack
            self.state, self.in_flight = "open", 0
            assert segment.mss == MSS
            self.emit(ACK)
            return
        self.window = segment.window
        new = (segment.ack - self.acked) % NUMBERS
        if 0 < new <= self.in_flight:
            del self.out[:new]
            self.acked, self.in_flight = segment.ack, self.in_flight - new
        if segment.payload or segment.flags & (FIN | SYN):
            if segment.seq == self.expected and not segment.flags & SYN:
                self.received += segment.payload
                self.expected = (self.expected + len(segment.payload)) % NUMBERS
                if segment.flags & FIN:
                    self.peer_closed, self.expected = True, (self.expected + 1) % NUMBERS
            self.emit(ACK, self.acked + self.in_flight)
        self.tick()

    def tick(self) -> None:
        """Send what there is, four segments at most; resend when nothing came back."""
        late = self.stack.time - self.sent_at > RETRY_SECONDS
        if self.state == "syn sent":
            if late:
                self.emit(SYN, mss=MSS)
            return
        if self.state != "open":
            return
        if late:
            self.in_flight = 0
        room = min(self.window, 4 * MSS)
        while self.in_flight < min(len(self.out), room):
            data = bytes(self.out[self.in_flight : self.in_flight + MSS])
            data = data[: room - self.in_flight]
            self.emit(ACK | PSH, self.acked + self.in_flight, data)
            self.in_flight += len(data)
        if self.closing and self.in_flight == len(self.out) and not (self.fin_sent and not late):
            self.emit(FIN | ACK, self.acked + self.in_flight)
            self.fin_sent = True
            self.in_flight += 1
            self.closing = False
