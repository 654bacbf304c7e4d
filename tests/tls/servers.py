"""Servers on this host's loopback, and certificates for them, made when first asked for."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is missing; Debian has it in package openssl")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
"What the guests' clocks say; certificates are good for a month around it."
HELLO = b"Hello world!\n"


@dataclass(frozen=True)
class Identity:
    """`ca`: PEM of the CA; `server`: PEM of the server's certificate and key."""

    ca: Path
    server: Path


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make_identity(folder: Path, key: str, *, host: str = "localhost", last_day: datetime | None = None) -> Identity:
    """A CA and a server certificate with RSA-2048 or ECDSA P-256 keys."""

    def new() -> rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey:
        return rsa.generate_private_key(65537, 2048) if key == "RSA" else ec.generate_private_key(ec.SECP256R1())

    ca_key, server_key = new(), new()
    first, last = NOW - timedelta(days=30), last_day or NOW + timedelta(days=30)

    def certificate(name: str, public: rsa.RSAPublicKey | ec.EllipticCurvePublicKey, ca: bool) -> x509.Certificate:
        builder = x509.CertificateBuilder(_name("cryplab test CA"), _name(name), public, x509.random_serial_number())
        builder = builder.not_valid_before(first).not_valid_after(last)
        builder = builder.add_extension(x509.BasicConstraints(ca, None), critical=True)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name.replace(" ", "-"))]), False)
        return builder.sign(ca_key, hashes.SHA256())

    folder.mkdir(parents=True, exist_ok=True)
    pem = serialization.Encoding.PEM
    plain = server_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    ca_file, server_file = folder / "ca.pem", folder / "server.pem"
    ca_file.write_bytes(certificate("cryplab test CA", ca_key.public_key(), True).public_bytes(pem))
    server_file.write_bytes(certificate(host, server_key.public_key(), False).public_bytes(pem) + plain)
    return Identity(ca_file, server_file)


@contextlib.contextmanager
def openssl_server(identity: Identity, folder: Path) -> Iterator[int]:
    """`openssl s_server` that serves `folder` over TLS 1.2; gives its port, and ends it by its process id."""
    assert OPENSSL is not None
    command = [
        OPENSSL, "s_server", "-accept", "127.0.0.1:0", "-cert", str(identity.server), "-tls1_2", "-WWW",
        "-cipher", "ALL:@SECLEVEL=0",
    ]  # fmt: skip
    server = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if match := re.search(r"ACCEPT 127\.0\.0\.1:(\d+)", line):
                yield int(match[1])
                break
        else:
            pytest.fail("openssl s_server did not start")
    finally:
        server.terminate()
        server.stdout.close()
        server.wait()


@contextlib.contextmanager
def plain_server(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A TCP server that does `answer` with its one connection; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
        thread.join()
