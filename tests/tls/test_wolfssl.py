"""The TLS client with wolfSSL: its transcript, its words, and the fault of its STM32 port that only TLS shows."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from cryplab.errors import ToolError
from cryplab.guest import build
from cryplab.tls import SUITES, Suite, TlsResult, tls_client, tls_echo
from firmware_builds import needs_gcc
from tls.servers import NOW, Identity, need_sources, needs_openssl, plain_server

pytestmark = [pytest.mark.slow, needs_gcc]
BAD_RECORD_MAC = 20
# source: wolfssl/error-ssl.h, wolfssl/wolfcrypt/error-crypt.h
FATAL_ALERT, NAME_MISMATCH, CA_EXPIRED = -313, -322, -151


@pytest.fixture(scope="module", autouse=True)
def _sources() -> None:
    need_sources("wolfssl", "lwip")


class Session:
    """Calls `tls_client` with what all tests have in common."""

    def __init__(self, ports: dict[str, int], identities: dict[str, Identity]) -> None:
        self.ports, self.identities = ports, identities

    def __call__(self, name: str, **options: Any) -> TlsResult:
        wanted: Suite = next(suite for suite in SUITES if suite.openssl == name)
        settings = {"ca": self.identities[wanted.key].ca, "date": NOW, "suites": [wanted.name], **options}
        settings = {"library": "wolfssl", "expect": "Hello world!", **settings}
        return tls_client(f"localhost:{self.ports[wanted.key]}/hello.txt", **settings)


@pytest.fixture(scope="module")
def session(ports: dict[str, int], identities: dict[str, Identity]) -> Session:
    return Session(ports, identities)


@needs_openssl
@pytest.mark.parametrize(
    "name",
    ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-CCM8", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA"],
)
def test_hardware_build(session: Session, identities: dict[str, Identity], name: str) -> None:
    result = session(name)
    assert result.failure == "", result.console
    assert result.suite == next(suite.name for suite in SUITES if suite.openssl == name)
    assert "Certificate verification passed" in result.console
    assert "HTTPS: Received 'Hello world!' status ... [OK]" in result.console
    assert list(result.findings) == []
    assert "CRYP" in {row.block for row in result.report.operations}
    certificate = x509.load_pem_x509_certificate(identities[name.split("-")[1]].server.read_bytes())
    assert certificate_lines(result.console) == lines_of(certificate)


def certificate_lines(console: str) -> dict[str, str]:
    """What stands under `Server certificate:`, by label; names of the alternative names joined."""
    block = console.split("Server certificate:\n")[1].split("Certificate verification")[0]
    pairs = [line.split(":", 1) for line in block.splitlines()]
    return {label.strip(): text.strip() for label, text in pairs}


def lines_of(certificate: x509.Certificate) -> dict[str, str]:
    """The same from another X.509 library."""
    ec = certificate.signature_algorithm_oid.dotted_string.startswith("1.2.840.10045")
    serial = f"{certificate.serial_number:X}"
    serial = serial.zfill(len(serial) + len(serial) % 2)
    size = certificate.public_key().key_size  # type: ignore[union-attr]
    return {
        "cert. version": "3",
        "serial number": ":".join(serial[i : i + 2] for i in range(0, len(serial), 2)),
        "issuer name": certificate.issuer.rfc4514_string(),
        "subject name": certificate.subject.rfc4514_string(),
        "issued  on": f"{certificate.not_valid_before_utc:%Y-%m-%d %H:%M:%S}",
        "expires on": f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M:%S}",
        "signed using": "SHA256wECDSA" if ec else "sha256WithRSAEncryption",
        "EC key size" if ec else "RSA key size": f"{size} bits",
        "basic constraints": "CA=false",
        "subject alt name": "",
        "dNSName": "localhost",
    }


@needs_openssl
def test_what_the_library_says_of_a_wrong_name_and_an_old_ca(session: Session) -> None:
    result = session("ECDHE-ECDSA-AES128-SHA", server_name="elsewhere.test")
    assert (result.ending.error, result.ending.verify_flags) == (NAME_MISMATCH, -NAME_MISMATCH)
    assert result.failure == (
        "failed at handshake: wolfSSL_connect() failed: -322: peer subject name mismatch; "
        "the board asked for elsewhere.test, its date is 2026-06-01"
    )
    assert "Certificate verification failed:\n    peer subject name mismatch" in result.console
    assert "Server certificate:" in result.console
    result = session("ECDHE-ECDSA-AES128-SHA", date=NOW + timedelta(days=60))
    assert result.ending.error == CA_EXPIRED
    assert "failed at setting up: wolfSSL_CTX_load_verify_buffer() failed: -151: ASN date error" in result.failure


def test_a_server_of_something_else_and_one_that_ends_early(identities: dict[str, Identity]) -> None:
    settings: dict[str, Any] = {"ca": identities["RSA"].ca, "date": NOW, "library": "wolfssl"}
    with plain_server(lambda connection: connection.sendall(b"220 mail.test ESMTP\r\n" * 4)) as port:
        failure = tls_client(f"localhost:{port}", **settings).failure
    assert "-326: record layer version error; what came is no TLS record; is it a TLS server that listens" in failure

    def read_and_close(connection: socket.socket) -> None:
        connection.recv(4096)

    with plain_server(read_and_close) as port:
        failure = tls_client(f"localhost:{port}", **settings).failure
    assert "the server closed the connection in the middle" in failure or "connection refused or reset" in failure


@needs_openssl
def test_the_ports_hash_fails_in_tls_and_is_explained(session: Session) -> None:
    """F217: HMAC-SHA-1 of a record is fed 64, then 13 bytes, and more; the port loses count at the thirteen."""
    result = session("ECDHE-RSA-AES128-SHA", board="stm3221g-eval", build="faulty")
    assert (result.ending.error, result.ending.alert) == (FATAL_ALERT, BAD_RECORD_MAC)
    finding = result.findings[0]
    assert (finding.rule, finding.kind) == ("O8", "partial-last-block")
    assert "had been given 77 bytes when 20 words were in HASH" in finding.text
    assert any("TLS_hmac" in caller for caller in finding.stack)
    gcm = session("ECDHE-RSA-AES128-GCM-SHA256", board="stm3221g-eval", build="faulty")
    assert (gcm.failure, list(gcm.findings)) == ("", [])  # its digests are SHA-256, which F217 has not


@needs_openssl
def test_without_hash_the_same_suite_passes(session: Session) -> None:
    result = session("ECDHE-RSA-AES128-SHA", board="stm3221g-eval")
    assert result.failure == "", result.console
    assert list(result.findings) == []
    assert {row.block for row in result.report.operations} == {"CRYP", "RNG"}


def test_echo_between_two_boards() -> None:
    result = tls_echo(8 * 1024, library="wolfssl", suites=["ECDHE-ECDSA-AES128-CCM"])
    assert result.failure == ""
    assert result.exit_code == 0
    assert result.echoed == 8 * 1024


def test_a_folder_with_wolfcrypt_alone(tmp_path: Path) -> None:
    (tmp_path / "wolfcrypt" / "src").mkdir(parents=True)
    (tmp_path / "wolfcrypt" / "src" / "aes.c").touch()
    with pytest.raises(ToolError, match=r"no TLS of wolfSSL here, src/ssl\.c is missing"):
        build("tls_client", "nucleo-f439zi", "wolfssl", source=tmp_path)
