"""Servers on this host's loopback, and certificates for them, made when first asked for."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from cryplab.errors import ToolError
from cryplab.guest import sources

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is missing; Debian has it in package openssl")
NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin")))
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is missing; Debian has it in package nginx")
NGINX_CONFIGURATION = """
daemon off;
master_process off;
pid {run}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 64; }}
http {{
    access_log off;
    default_type text/plain;
    root {folder};
    client_body_temp_path {run}/body; proxy_temp_path {run}/proxy; fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
    ssl_protocols TLSv1.2;
    ssl_ciphers ALL:@SECLEVEL=0;
    ssl_session_cache off;
{servers}
}}
"""
NGINX_SERVER = """
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {identity}; ssl_certificate_key {identity};
    }}
"""
NOW = datetime(2026, 6, 1, tzinfo=UTC)
"What the guests' clocks say; certificates are good for a month around it."
HELLO = b"Hello world!\n"


def need_sources(*libraries: str) -> None:
    """Skip the test when a library's sources cannot be had."""
    for library in libraries:
        try:
            sources.library(library)
        except ToolError as missing:
            pytest.skip(str(missing))


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
def nginx_server(identities: Mapping[str, Identity], folder: Path, run: Path) -> Iterator[dict[str, int]]:
    """nginx as a child that serves `folder` over TLS 1.2, a port for each identity; its own files are in `run`."""
    assert NGINX is not None
    ports = dict(zip(identities, _free_ports(len(identities)), strict=True))
    servers = "".join(NGINX_SERVER.format(port=ports[key], identity=identities[key].server) for key in identities)
    configuration = run / "nginx.conf"
    configuration.write_text(NGINX_CONFIGURATION.format(run=run, folder=folder, servers=servers))
    said = run / "nginx.log"
    with said.open("w") as log:
        command = [NGINX, "-p", str(run), "-e", "stderr", "-c", str(configuration)]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        for port in ports.values():
            while not _listens(port):
                if server.poll() is not None:
                    pytest.fail(f"nginx did not start: {said.read_text()}")
                time.sleep(0.05)
        yield ports
    finally:
        server.terminate()
        server.wait()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


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
