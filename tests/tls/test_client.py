"""The TLS client on a virtual board against servers on this host."""

from __future__ import annotations

import re
import socket
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cryplab.errors import UsageError
from cryplab.net import Impaired, Nat
from cryplab.tls import SUITES, Suite, TlsResult, tls_bench, tls_client
from firmware_builds import needs_gcc
from tls.servers import NOW, Identity, need_sources, needs_openssl, plain_server

pytestmark = [pytest.mark.slow, needs_gcc, needs_openssl]
FATAL_ALERT, BAD_MAC, CERTIFICATE_WRONG, SERVER_CLOSED = -0x7780, -0x7180, -0x2700, -0x7280
BAD_RECORD_MAC = 20
TRANSCRIPT = (
    "Using Ethernet LWIP",
    "Client IP Address is 10.0.2.15",
    "Connecting with localhost",
    "Starting the TLS handshake...",
    "TLS connection to localhost established",
    "Server certificate:",
    "Certificate verification passed",
    "HTTPS: Received 58 chars from server",
    "HTTPS: Received 200 OK status ... [OK]",
    "HTTPS: Received 'Hello world!' status ... [OK]",
    "HTTPS: Received message:",
    "Hello world!",
)


@pytest.fixture(scope="module", autouse=True)
def _sources() -> None:
    need_sources("mbedtls", "lwip")


class Session:
    """Calls `tls_client` with what all tests have in common."""

    def __init__(self, ports: dict[str, int], identities: dict[str, Identity]) -> None:
        self.ports, self.identities = ports, identities

    def __call__(self, suite: Suite, **options: Any) -> TlsResult:
        port, identity = self.ports[suite.key], self.identities[suite.key]
        settings = {"ca": identity.ca, "date": NOW, "suites": [suite.name], "expect": "Hello world!", **options}
        return tls_client(f"localhost:{port}/hello.txt", **settings)


@pytest.fixture(scope="module")
def session(ports: dict[str, int], identities: dict[str, Identity]) -> Session:
    return Session(ports, identities)


def suite(name: str) -> Suite:
    return next(suite for suite in SUITES if suite.openssl == name)


def lines_in_order(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for line in lines if line in TRANSCRIPT]


# ---- sessions that go well -------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", SUITES, ids=lambda s: s.openssl)
def test_every_suite_in_the_hardware_build(session: Session, wanted: Suite) -> None:
    result = session(wanted)
    assert result.failure == "", result.console
    assert result.suite == wanted.name
    assert lines_in_order(result.console) == list(TRANSCRIPT)
    assert list(result.findings) == []
    assert result.phase("handshake").hardware_share > 0
    assert result.phase("request").hardware_share > 0.1
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "name",
    ["ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-CCM"],
)
def test_software_build(session: Session, name: str) -> None:
    result = session(suite(name), build="software")
    assert result.failure == "", result.console
    assert lines_in_order(result.console) == list(TRANSCRIPT)
    assert {row.block for row in result.report.operations} == {"RNG"}
    assert list(result.findings) == []


def test_capture_and_exact_clock(session: Session, tmp_path: Path) -> None:
    """The capture holds the handshake; the fast clock is near the exact one."""
    file = tmp_path / "session.pcap"
    exact = session(suite("ECDHE-RSA-AES128-GCM-SHA256"), clock="exact", pcap=file)
    captured = file.read_bytes()
    assert captured[:4] == bytes.fromhex("4d3cb2a1")
    assert b"GET /hello.txt" not in captured
    assert b"localhost" in captured  # the server name of the hello
    fast = session(suite("ECDHE-RSA-AES128-GCM-SHA256"))
    assert fast.phase("handshake").busy_milliseconds == pytest.approx(
        exact.phase("handshake").busy_milliseconds, rel=0.05
    )


# ---- the fault of 2017 -----------------------------------------------------------------------------


def test_faulty_build_gets_the_fatal_alert(session: Session) -> None:
    """The server cannot read our Finished: two contexts share the key registers."""
    result = session(suite("ECDHE-RSA-AES128-GCM-SHA256"), build="faulty")
    assert "mbedtls_ssl_handshake() failed: -0x7780" in result.console
    assert (result.ending.error, result.ending.alert) == (FATAL_ALERT, BAD_RECORD_MAC)
    finding = result.findings[0]
    assert (finding.rule, finding.kind) == ("O1", "context-lost-on-interleave")
    assert finding.context != finding.earlier.context
    assert finding.where.line
    assert "failed at handshake" in result.failure
    assert "alert 20 (bad_record_mac)" in result.failure
    assert result.exit_code == 1


def test_faulty_build_with_chained_blocks(session: Session) -> None:
    """Here each context's first use is right, so the handshake passes and the first record fails."""
    result = session(suite("ECDHE-RSA-AES128-SHA"), build="faulty")
    assert "TLS connection to localhost established" in result.console
    assert result.ending.error in (FATAL_ALERT, BAD_MAC)
    assert "O1" in {finding.rule for finding in result.findings}


# ---- servers and certificates that are wrong -------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"date": NOW + timedelta(days=60)}, "The certificate validity has expired"),
        ({"date": NOW - timedelta(days=60)}, "The certificate validity starts in the future"),
        ({"server_name": "elsewhere.test"}, "The certificate Common Name (CN) does not match with the expected CN"),
        ({"ca": "other"}, "The certificate is not correctly signed by the trusted CA"),
    ],
)
def test_bad_certificates(
    session: Session, identities: dict[str, Identity], change: dict[str, Any], words: str
) -> None:
    if change.get("ca"):
        change = {"ca": identities["RSA"].ca}
    result = session(suite("ECDHE-ECDSA-AES128-GCM-SHA256"), **change)
    assert result.ending.error == CERTIFICATE_WRONG
    assert "Certificate verification failed:" in result.console
    assert words in result.console
    asked, today = change.get("server_name", "localhost"), change.get("date", NOW)
    assert result.failure.endswith(f"{words} (the board asked for {asked}, its date is {today:%Y-%m-%d})")
    assert "Server certificate:" in result.console
    assert result.exit_code == 1


def test_without_ca(session: Session) -> None:
    result = session(suite("ECDHE-ECDSA-AES128-GCM-SHA256"), ca=None)
    assert "Certificate not verified: no CA was given" in result.console
    assert result.exit_code == 0


def test_nobody_listens(identities: dict[str, Identity]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    result = tls_client(f"localhost:{port}", ca=identities["RSA"].ca, date=NOW)
    assert "network_connect() failed: connection refused or reset (-5)" in result.failure
    assert result.failure.startswith("failed at connection: ")
    assert result.failure.endswith(f"the wire: 10.0.2.2:{port}: Connection refused")
    assert result.exit_code == 1


def test_server_closes_early(identities: dict[str, Identity]) -> None:
    def read_and_close(connection: socket.socket) -> None:
        connection.recv(4096)

    with plain_server(read_and_close) as port:
        result = tls_client(f"localhost:{port}", ca=identities["RSA"].ca, date=NOW)
    assert result.failure.startswith("failed at handshake: mbedtls_ssl_handshake() failed: ")
    assert result.ending.error == SERVER_CLOSED
    assert "the server closed the connection in the middle of the conversation" in result.failure


def test_server_speaks_something_else(identities: dict[str, Identity]) -> None:
    with plain_server(lambda connection: connection.sendall(b"220 mail.test ESMTP\r\n" * 4)) as port:
        result = tls_client(f"localhost:{port}", ca=identities["RSA"].ca, date=NOW)
    assert re.search(r"mbedtls_ssl_handshake\(\) failed: -0x7[0-9a-f]{3} .*SSL - ", result.failure)
    assert result.failure.endswith("what came is no TLS record; is it a TLS server that listens there?")


def test_server_says_nothing(identities: dict[str, Identity]) -> None:
    with plain_server(lambda connection: time.sleep(2)) as port:
        result = tls_client(f"localhost:{port}", ca=identities["RSA"].ca, date=NOW, limit_seconds=1)
    assert "mbedtls_ssl_handshake() failed: no answer in time (-6)" in result.failure


def test_board_without_ethernet() -> None:
    with pytest.raises(UsageError, match="ublox-c030-u201: tls_client needs an Ethernet port; nucleo-f439zi, "):
        tls_client("localhost:1", board="ublox-c030-u201")


# ---- other boards, names, a bad wire ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("ECDHE-RSA-AES128-SHA", "hardware"),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", "hardware"),
        ("ECDHE-RSA-AES256-GCM-SHA384", "software"),  # what takes most of the RAM: a chain with RSA, tables of AES
    ],
)
def test_a_chip_with_the_older_engines(session: Session, name: str, build: str) -> None:
    """STM32F217: MII, 120 MHz, 128 KiB of RAM, RTC of version 1."""
    result = session(suite(name), board="stm3221g-eval", build=build)
    assert result.failure == "", result.console
    assert lines_in_order(result.console) == list(TRANSCRIPT)
    assert ("CRYP" in {row.block for row in result.report.operations}) == (build == "hardware")


def test_names_are_looked_up(ports: dict[str, int], identities: dict[str, Identity]) -> None:
    port = ports["ECDSA"]
    wire = Nat([f"localhost:{port}"], names={"server.test": "localhost"})
    options: dict[str, Any] = {"ca": identities["ECDSA"].ca, "date": NOW, "server_name": "localhost"}
    result = tls_client(f"server.test:{port}/hello.txt", wire=wire, **options)
    assert result.failure == ""
    unknown = tls_client(f"server.test:{port}/hello.txt", wire=Nat([f"localhost:{port}"]), **options)
    assert "network_resolve() failed: the host name is not known (-4)" in unknown.failure


def test_a_wire_that_loses_and_reorders(
    ports: dict[str, int], identities: dict[str, Identity], folder: Path, tmp_path: Path
) -> None:
    (folder / "long.txt").write_bytes(b"0123456789abcdef" * 4096)
    port = ports["ECDSA"]
    wire = Impaired(Nat([f"localhost:{port}"]), loss=0.03, duplicate=0.03, reorder=0.03, seed=1)
    result = tls_client(f"localhost:{port}/long.txt", ca=identities["ECDSA"].ca, date=NOW, wire=wire)
    assert wire.lost
    assert wire.doubled
    assert wire.reordered
    assert result.failure == "", result.console
    assert result.ending.received == 16 * 4096 + 45  # behind the headers


def test_bench_of_suites() -> None:
    """Two sessions at once, in processes of their own."""
    result = tls_bench(suites=["ECDHE-RSA-AES128-SHA"], jobs=2)
    (row,) = result.rows
    software, hardware = row.builds["software"], row.builds["hardware"]
    assert result.exit_code == 0
    assert hardware.kib_per_second > 4 * software.kib_per_second
    assert hardware.handshake_ms == pytest.approx(software.handshake_ms, rel=0.05)  # public keys are software
    assert software.record_share == software.handshake_share == 0
    assert hardware.record_share > 0.1 > hardware.handshake_share > 0
    assert result.to_json()["rows"][0]["hardware"]["hardware_share"] == round(hardware.record_share, 6)
    result.as_markdown = True
    lines = [part for part in result.render() if isinstance(part, str) and part.startswith("|")]
    assert [line.count("|") for line in lines] == [8, 8, 8]
    assert lines[2].startswith("| RSA-AES128-SHA | ")
