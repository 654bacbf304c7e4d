"""A TLS server of our own on this host's loopback, for `tls-bench`: certificates made anew, one page of any size."""

from __future__ import annotations

import contextlib
import socket
import ssl
import tempfile
import threading
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

__all__ = ["LoopbackServer"]

RSA_BITS, RSA_EXPONENT = 2048, 65537
VALID = timedelta(days=30)
HOST = "localhost"
REQUEST_BYTES = 4096
PATIENCE_SECONDS = 60.0


class LoopbackServer:
    """Serves one page by TLS 1.2 with every suite that OpenSSL has, until the `with` block ends.

    Args:
        key: of the certificate, "RSA" (2048 bits) or "ECDSA" (P-256).
        today: the certificate is good a month before and after.
        page: the answer's body.
    """

    def __init__(self, key: str, today: datetime, page: bytes) -> None:
        self.page = page
        self._folder = tempfile.TemporaryDirectory(prefix="cryplab-tls-")
        self.ca = Path(self._folder.name) / "server.pem"
        "The server's certificate, which signs itself, with its key."
        self.ca.write_bytes(_identity(key, today))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.ca)
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def target(self) -> str:
        """For `tls_client`."""
        return f"{HOST}:{self.port}/"

    def _serve(self) -> None:
        while not self._ended:
            with contextlib.suppress(OSError):
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(PATIENCE_SECONDS)
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        if self._ended:
            return
        with self._context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(REQUEST_BYTES)
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(self.page)}\r\nConnection: close\r\n\r\n"
            secured.sendall(head.encode() + self.page)
            secured.unwrap()

    def close(self) -> None:
        """Stop listening."""
        self._ended = True
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            pass  # wakes the thread
        self._listener.close()
        self._thread.join()
        self._folder.cleanup()

    def __enter__(self) -> LoopbackServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _identity(key: str, today: datetime) -> bytes:
    own: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey = (
        rsa.generate_private_key(RSA_EXPONENT, RSA_BITS) if key == "RSA" else ec.generate_private_key(ec.SECP256R1())
    )
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    builder = x509.CertificateBuilder(name, name, own.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(today - VALID).not_valid_after(today + VALID)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem = serialization.Encoding.PEM
    plain = own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return builder.sign(own, hashes.SHA256()).public_bytes(pem) + plain
