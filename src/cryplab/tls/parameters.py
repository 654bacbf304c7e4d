"""What the host tells the guest's TLS client, in the layout of guest/programs/tls_parameters.h."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from cryplab.errors import InputError, UsageError
from cryplab.tls.suites import Suite

__all__ = ["Parameters", "Target", "parse_target", "read_ca"]

LAYOUT = struct.Struct("<IIIIHH6s21H128s128s256s64sI8192s")
"`struct cryplab_tls_parameters`."
MAGIC = 0x53544C43
SUITES_MOST, CA_BYTES_MOST = 21, 8192
HOST_BYTES, PATH_BYTES, EXPECT_BYTES = 127, 255, 63
VERIFY_NONE, VERIFY_REQUIRED = 0, 2
MAC = bytes.fromhex("020000000001")
HTTPS_PORT = 443
LOOPBACK, GUEST_LOOPBACK = ("localhost", "127.0.0.1", "10.0.2.2"), "10.0.2.2"


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go, as the user wrote it."""

    host: str
    port: int
    path: str

    @property
    def guest_host(self) -> str:
        """What the guest connects to: the host's loopback is 10.0.2.2 there."""
        return GUEST_LOOPBACK if self.host in LOOPBACK else self.host

    @property
    def allow(self) -> str:
        """What the wire must let through."""
        return f"{'localhost' if self.host in LOOPBACK else self.host}:{self.port}"


def parse_target(text: str) -> Target:
    """`HOST:PORT[/PATH]`; port 443 and path / when they are not given. Raises: UsageError."""
    where, slash, path = text.removeprefix("https://").partition("/")
    host, colon, port = where.partition(":")
    if not host or (colon and not port.isdigit()) or (port and not 0 < int(port) < 1 << 16):
        raise UsageError(f"'{text}': expected HOST:PORT or HOST:PORT/PATH, such as localhost:4433/hello.txt")
    target = Target(host.lower(), int(port or HTTPS_PORT), slash + path or "/")
    _fits("host name", target.host, HOST_BYTES)
    _fits("path", target.path, PATH_BYTES)
    return target


def _fits(what: str, text: str, most: int) -> bytes:
    try:
        raw = text.encode("ascii")
    except UnicodeEncodeError:
        raise UsageError(f"{what} '{text}': the guest knows ASCII only") from None
    if len(raw) > most:
        raise UsageError(f"{what} of {len(raw)} bytes; the guest has room for {most}")
    return raw


def read_ca(path: str | Path) -> bytes:
    """The certificates of a PEM or DER file, as PEM with the closing zero that mbed TLS wants.

    Raises: InputError when the file is missing, is no certificate, or too much for the guest.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected a CA certificate, PEM or DER") from None
    try:
        if b"-----BEGIN" in data:
            certificates = x509.load_pem_x509_certificates(data)
        else:
            certificates = [x509.load_der_x509_certificate(data)]
    except ValueError:
        raise InputError(f"{path}: no certificate in it; expected a CA certificate, PEM or DER") from None
    pem = b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates) + b"\0"
    if len(pem) > CA_BYTES_MOST:
        raise InputError(
            f"{path}: {len(certificates)} certificates of {len(pem)} bytes; the guest has room for {CA_BYTES_MOST}: "
            "give only the CA that signed the server's"
        )
    return pem


@dataclass(frozen=True, slots=True)
class Parameters:
    """Wishes for one session; times are virtual milliseconds."""

    target: Target
    suites: tuple[Suite, ...]
    ca: bytes
    date: datetime
    server_name: str = ""
    expect: str = ""
    limit_ms: int = 20_000
    print_bytes: int = 2048

    def encode(self) -> bytes:
        """The block for guest memory. Raises: UsageError when something does not fit."""
        if len(self.suites) > SUITES_MOST:
            raise UsageError(f"{len(self.suites)} cipher suites; the guest has room for {SUITES_MOST}")
        numbers = [suite.number for suite in self.suites]
        name = self.server_name or self.target.host
        return LAYOUT.pack(
            MAGIC, int(self.date.timestamp()), self.limit_ms, self.print_bytes, self.target.port,
            VERIFY_REQUIRED if self.ca else VERIFY_NONE, MAC, *numbers, *[0] * (SUITES_MOST - len(numbers)),
            _fits("host name", self.target.guest_host, HOST_BYTES), _fits("server name", name, HOST_BYTES),
            _fits("path", self.target.path, PATH_BYTES), _fits("text to expect", self.expect, EXPECT_BYTES),
            len(self.ca), self.ca,
        )  # fmt: skip
