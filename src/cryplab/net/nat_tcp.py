"""One TCP connection of the NAT: the guest's segments on one side, a non-blocking socket of the host on the other.

The NAT is the guest's peer, it ends the guest's TCP and speaks for the host. Times are the guest's virtual seconds.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from cryplab.net.frames import ACK, FIN, PSH, RST, SYN, Tcp, dotted

__all__ = ["Connection", "Owner", "State"]

BUFFER_BYTES = 65_535
READ_BYTES = 65_536
OUR_MSS, DEFAULT_MSS, SMALLEST_MSS = 1460, 536, 64
FIRST_WINDOW_SEGMENTS = 4
RTO_SECONDS, RTO_MAX_SECONDS, RETRIES = 0.25, 4.0, 10
DUPLICATES = 3
LINGER_SECONDS = 2.0
NUMBERS = 1 << 32


def behind(a: int, b: int) -> int:
    """How far sequence number `a` is ahead of `b`, from -2^31 on."""
    return (a - b + (NUMBERS >> 1)) % NUMBERS - (NUMBERS >> 1)


class State(Enum):
    """Of a connection; `DONE` still answers a late FIN."""

    CONNECTING = auto()
    SYN_SENT = auto()
    SYN_RECEIVED = auto()
    OPEN = auto()
    DONE = auto()


class Owner(Protocol):
    """What a connection needs of the NAT."""

    selector: selectors.BaseSelector
    now: Callable[[], float]

    def emit_segment(self, connection: Connection, segment: Tcp) -> None:
        """Send a segment to the guest."""


class Connection:
    """A connection between a guest's port and a host's socket.

    Args:
        owner: the NAT.
        guest, guest_port: the guest's end; peer, peer_port: the other end as the guest sees it.
        sock: non-blocking; connecting to the host's server, or accepted from a host's client.
        iss: our first sequence number.
    """

    def __init__(
        self, owner: Owner, guest: bytes, guest_port: int, peer: bytes, peer_port: int, sock: socket.socket, iss: int
    ) -> None:
        self.owner, self.sock = owner, sock
        self.guest, self.guest_port, self.peer, self.peer_port = guest, guest_port, peer, peer_port
        self.state = State.CONNECTING
        self.sent_to = self.acked = iss  # next number to send, oldest not acknowledged
        self.highest = iss
        self.expected = 0
        self.to_host, self.to_guest = bytearray(), bytearray()
        self.guest_window, self.mss = 0, DEFAULT_MSS
        self.congestion, self.threshold = FIRST_WINDOW_SEGMENTS * DEFAULT_MSS, BUFFER_BYTES
        self.guest_closed = self.host_closed = self.fin_sent = self.half_closed = False
        self.retry_at: float | None = None
        self.rto, self.retries, self.duplicates = RTO_SECONDS, 0, 0
        self.done_at = 0.0
        self._interest = 0
        self.bytes_out = self.bytes_in = self.resent = 0
        self.failure = ""

    # -- the guest's side ----------------------------------------------------------------------
    def opened_by(self, segment: Tcp) -> None:
        """The guest's SYN; the answer waits until the host's side is connected."""
        self.expected = (segment.seq + 1) % NUMBERS
        self.mss = max(SMALLEST_MSS, min(OUR_MSS, segment.mss or DEFAULT_MSS))
        self.congestion = FIRST_WINDOW_SEGMENTS * self.mss
        self.guest_window = segment.window
        self.watch()

    def open_to_guest(self) -> None:
        """A host's client wants to reach the guest's server."""
        self.state = State.SYN_SENT
        self._syn()

    def _syn(self) -> None:
        self.sent_to = (self.acked + 1) % NUMBERS
        self.highest = self.sent_to
        flags = SYN | (ACK if self.state is State.SYN_RECEIVED else 0)
        self._emit(flags, self.acked, mss=OUR_MSS)
        self._arm()

    def segment(self, segment: Tcp) -> None:
        """A segment of the guest."""
        if segment.flags & RST:
            if self.state is not State.SYN_SENT or segment.ack == self.sent_to:
                self.abort("the guest reset the connection", tell_guest=False)
        elif self.state is State.SYN_SENT:
            self._answered(segment)
        elif segment.flags & SYN:
            if self.state is State.SYN_RECEIVED:
                self._syn()
            elif self.state is State.OPEN:
                self._acknowledge()
        elif self.state in (State.SYN_RECEIVED, State.OPEN, State.DONE):
            self._established(segment)

    def _answered(self, segment: Tcp) -> None:
        if segment.flags & (SYN | ACK) == SYN | ACK and segment.ack == self.sent_to:
            self.state, self.acked = State.OPEN, segment.ack
            self.opened_by(segment)
            self._disarm()
            self._acknowledge()
            self._push()

    def _established(self, segment: Tcp) -> None:
        if segment.flags & ACK:
            self._acked(segment)
        if self.state is State.DONE:
            if segment.payload or segment.flags & FIN:
                self._acknowledge()
            return
        if segment.payload or segment.flags & FIN:
            self._take(segment)
        self._push()
        self._maybe_done()

    def _acked(self, segment: Tcp) -> None:
        progress = behind(segment.ack, self.acked)
        window_before, self.guest_window = self.guest_window, segment.window
        if progress > 0 and behind(segment.ack, self.highest) <= 0:
            if self.state is State.SYN_RECEIVED:
                self.state, progress = State.OPEN, progress - 1
                self.acked = (self.acked + 1) % NUMBERS
                self.watch()
            data = min(progress, len(self.to_guest))
            del self.to_guest[:data]
            self.bytes_in += data
            self.acked = segment.ack
            if behind(self.sent_to, self.acked) < 0:
                self.sent_to = self.acked
            self.duplicates = self.retries = 0
            self.rto = RTO_SECONDS
            step = self.mss if self.congestion < self.threshold else max(1, self.mss * self.mss // self.congestion)
            self.congestion = min(BUFFER_BYTES, self.congestion + step)
            self._disarm()
            if self.sent_to != self.acked:
                self._arm()
            self.watch()
        elif progress == 0 and self.sent_to != self.acked and not segment.payload and window_before == segment.window:
            self.duplicates += 1
            if self.duplicates == DUPLICATES:
                self._lost(timeout=False)

    def _take(self, segment: Tcp) -> None:
        """In-order bytes go to the host; what comes too early or does not fit is not acknowledged."""
        skip = behind(self.expected, segment.seq)
        if skip < 0 or skip > len(segment.payload):
            self._acknowledge()
            return
        fresh = segment.payload[skip:]
        room = BUFFER_BYTES - len(self.to_host)
        if self.guest_closed:
            fresh = b""
        taken = fresh[:room]
        self.to_host += taken
        self.bytes_out += len(taken)
        self.expected = (self.expected + len(taken)) % NUMBERS
        if segment.flags & FIN and len(taken) == len(fresh) and not self.guest_closed:
            self.expected = (self.expected + 1) % NUMBERS
            self.guest_closed = True
        self._flush()
        self._acknowledge()

    def _push(self) -> None:
        """Send what the guest's window and the congestion window allow, and the FIN behind it."""
        if self.state is not State.OPEN:
            return
        window = min(self.guest_window, self.congestion)
        while True:
            offset = behind(self.sent_to, self.acked)
            size = min(self.mss, len(self.to_guest) - offset, window - offset)
            if size <= 0:
                break
            data = bytes(self.to_guest[offset : offset + size])
            self._emit(ACK | PSH, self.sent_to, data)
            self._advance(size)
        offset = behind(self.sent_to, self.acked)
        fin_acked = self.fin_sent and self.acked == self.highest
        if self.host_closed and not fin_acked and offset == len(self.to_guest):
            self._emit(ACK | FIN, self.sent_to)
            self.fin_sent = True
            self._advance(1)
        if self.retry_at is None and (self.sent_to != self.acked or self.to_guest):
            self._arm()

    def _advance(self, size: int) -> None:
        self.sent_to = (self.sent_to + size) % NUMBERS
        if behind(self.sent_to, self.highest) > 0:
            self.highest = self.sent_to
        if self.retry_at is None:
            self._arm()

    def _acknowledge(self) -> None:
        self._emit(ACK, self.sent_to)

    def _emit(self, flags: int, seq: int, data: bytes = b"", mss: int = 0) -> None:
        window = BUFFER_BYTES - len(self.to_host)
        self.owner.emit_segment(
            self, Tcp(self.peer_port, self.guest_port, seq, self.expected, flags, window, data, mss)
        )

    # -- timers --------------------------------------------------------------------------------
    def _arm(self) -> None:
        self.retry_at = self.owner.now() + self.rto

    def _disarm(self) -> None:
        self.retry_at = None

    def tick(self) -> None:
        """Called now and then: resend what was not acknowledged in time."""
        if self.retry_at is None or self.owner.now() < self.retry_at:
            return
        self.retries += 1
        self.rto = min(RTO_MAX_SECONDS, 2 * self.rto)
        if self.retries > RETRIES:
            self.abort("the guest no longer answers", tell_guest=True)
        elif self.state in (State.SYN_RECEIVED, State.SYN_SENT):
            self.resent += 1
            self._syn()
        else:
            self._lost(timeout=True)

    def _lost(self, *, timeout: bool) -> None:
        """Begin again at what the guest has; a shut window gets a probe of one byte."""
        self.resent += 1
        flight = behind(self.sent_to, self.acked)
        self.threshold = max(2 * self.mss, flight // 2)
        self.congestion = self.mss if timeout else self.threshold
        self.retry_at = None
        if timeout:
            self.sent_to = self.acked
            if self.to_guest and not self.guest_window:
                self._emit(ACK | PSH, self.acked, bytes(self.to_guest[:1]))
                self._advance(1)
            self._push()
        elif self.to_guest:
            self._emit(ACK | PSH, self.acked, bytes(self.to_guest[: self.mss]))
        elif self.fin_sent:
            self._emit(ACK | FIN, self.acked)
        if self.retry_at is None:
            self._arm()

    # -- the host's side -----------------------------------------------------------------------
    def watch(self) -> None:
        """Tell the selector what this connection waits for."""
        wanted = 0
        if self.state is State.CONNECTING or self.to_host:
            wanted |= selectors.EVENT_WRITE
        if self.state is State.OPEN and not self.host_closed and len(self.to_guest) < BUFFER_BYTES:
            wanted |= selectors.EVENT_READ
        if wanted == self._interest:
            return
        if not self._interest:
            self.owner.selector.register(self.sock, wanted, self)
        elif not wanted:
            self.owner.selector.unregister(self.sock)
        else:
            self.owner.selector.modify(self.sock, wanted, self)
        self._interest = wanted

    def ready(self, events: int) -> None:
        """The socket can be read or written."""
        if self.state is State.CONNECTING:
            self._connected()
            return
        if events & selectors.EVENT_WRITE:
            window_was_shut = len(self.to_host) >= BUFFER_BYTES - self.mss
            self._flush()
            if window_was_shut and self.state is State.OPEN:
                self._acknowledge()
        if events & selectors.EVENT_READ and self.state is State.OPEN:
            self._read()
        if self.state is State.OPEN:
            self._push()
            self._maybe_done()

    def _connected(self) -> None:
        error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self.refuse(error)
            return
        self.state = State.SYN_RECEIVED
        self._syn()
        self.watch()

    def _read(self) -> None:
        try:
            data = self.sock.recv(min(READ_BYTES, BUFFER_BYTES - len(self.to_guest)))
        except BlockingIOError:
            return
        except OSError as error:
            self.abort(f"the host reset the connection: {error.strerror}", tell_guest=True)
            return
        if data:
            self.to_guest += data
        else:
            self.host_closed = True
        self.watch()

    def _flush(self) -> None:
        """Write to the host what it takes; then pass on the guest's FIN."""
        try:
            while self.to_host:
                del self.to_host[: self.sock.send(self.to_host)]
        except BlockingIOError:
            pass
        except OSError as error:
            self.abort(f"the host closed the connection: {error.strerror}", tell_guest=True)
            return
        if self.guest_closed and not self.to_host and not self.half_closed:
            self.half_closed = True
            try:
                self.sock.shutdown(socket.SHUT_WR)
            except OSError:
                self.host_closed = True
        self.watch()

    @property
    def where(self) -> str:
        """The peer as the guest sees it, `10.0.2.2:443`."""
        return f"{dotted(self.peer)}:{self.peer_port}"

    # -- ends ----------------------------------------------------------------------------------
    def _maybe_done(self) -> None:
        """Both directions closed and acknowledged."""
        if self.guest_closed and self.fin_sent and self.acked == self.highest and not self.to_host:
            self.finish()

    def refuse(self, error: int) -> None:
        """The host's side cannot be reached: RST answers the guest's SYN."""
        self.failure = f"{self.where}: {os.strerror(error)}"
        self._emit(RST | ACK, 0)
        self.finish()

    def abort(self, why: str, *, tell_guest: bool) -> None:
        """End at once, with RST to whom does not know."""
        self.failure = f"{self.where}: {why}"
        if tell_guest:
            self._emit(RST | ACK, self.sent_to)
        else:
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.finish()

    def finish(self) -> None:
        """Give the socket back; late segments are still answered for a while."""
        if self.state is State.DONE:
            return
        if self._interest:
            self.owner.selector.unregister(self.sock)
            self._interest = 0
        self.sock.close()
        self.state, self.done_at = State.DONE, self.owner.now() + LINGER_SECONDS
        self._disarm()
