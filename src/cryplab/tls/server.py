"""A TLS server of our own on this host's loopback, for `tls-bench` and `tls-echo`: several clients at once."""

from __future__ import annotations

import contextlib
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType

from cryplab.tls.certificates import HOST, make_identity

__all__ = ["LoopbackServer", "echo", "page"]

REQUEST_BYTES = CHUNK_BYTES = 4096
PATIENCE_SECONDS = 60.0
WAITING_MOST = 64
"Connections that the host keeps until they are taken."


def page(body: bytes) -> Callable[[ssl.SSLSocket], None]:
    """Answers any request with this page, then closes."""

    def answer(client: ssl.SSLSocket) -> None:
        client.recv(REQUEST_BYTES)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        client.sendall(head.encode() + body)
        client.unwrap()

    return answer


def echo(client: ssl.SSLSocket) -> None:
    """Sends back what comes, until the client has closed."""
    while data := client.recv(CHUNK_BYTES):
        client.sendall(data)


class LoopbackServer:
    """Speaks TLS 1.2 with every suite that OpenSSL has, a thread for each client, until the `with` block ends.

    Args:
        key: of the certificate, "RSA" (2048 bits) or "ECDSA" (P-256).
        today: the certificate is good a month before and after.
        answer: what is done with a client, `page(body)` or `echo`; what it raises as OSError ends that client alone.
    """

    def __init__(self, key: str, today: datetime, answer: Callable[[ssl.SSLSocket], None]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cryplab-tls-")
        self.ca = Path(self._folder.name) / "server.pem"
        "The server's certificate, which signs itself, with its key."
        self.ca.write_bytes(make_identity(key, today))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.ca)
        self._context, self._answer = context, answer
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=WAITING_MOST)
        self.port: int = self._listener.getsockname()[1]
        self.served = self.most_at_once = 0
        "Clients whose handshake went well; how many were there at the same time at most."
        self._here = 0
        self._counting = threading.Lock()
        self._ended = False
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def target(self) -> str:
        """For `tls_client`."""
        return f"{HOST}:{self.port}/"

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads = [known for known in self._threads if known.is_alive()] + [thread]
        thread.start()

    def _accept(self) -> None:
        while not self._ended:
            with contextlib.suppress(OSError):
                connection, _ = self._listener.accept()
                if self._ended:
                    connection.close()
                    return
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.settimeout(PATIENCE_SECONDS)
            with self._context.wrap_socket(connection, server_side=True) as secured:
                with self._counting:
                    self.served, self._here = self.served + 1, self._here + 1
                    self.most_at_once = max(self.most_at_once, self._here)
                try:
                    self._answer(secured)
                finally:
                    with self._counting:
                        self._here -= 1

    def close(self) -> None:
        """Stop listening; wait for the clients that are there."""
        self._ended = True
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            pass  # wakes the thread
        self._listener.close()
        for thread in self._threads:
            thread.join()
        self._folder.cleanup()

    def __enter__(self) -> LoopbackServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
