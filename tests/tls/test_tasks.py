"""TLS under the small preemptive kernel: several sessions at once share CRYP and HASH."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from cryplab import guest
from cryplab.errors import UsageError
from cryplab.machine import Machine, Outcome
from cryplab.net import Nat
from cryplab.tls import echo, tls_client
from cryplab.tls.echo import EchoResult, tls_echo
from cryplab.tls.server import LoopbackServer, page
from cryplab.tls.suites import choose
from firmware_builds import needs_gcc
from tls.servers import NOW, make_identity, need_sources

BOARD, PORT = "nucleo-f439zi", 4433
SESSIONS, BLOCKS, SIZE = 3, 4, 8192
GCM = ["AES-128-GCM"]
BLOCK = bytes(range(256)) * 8


@pytest.fixture(scope="module")
def built() -> None:
    need_sources("mbedtls", "lwip", "wolfssl")


def switches(text: str) -> int:
    """What the program printed at its end."""
    (found,) = re.findall(r"(\d+) task switches", text)
    return int(found)


# ---- usage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "build", "message"),
    [
        ("benchmark", "hardware", "benchmark has no tasks; tls_client, echo_client, echo_server have"),
        ("echo_server", "hal-style", "the hal-style build has no tasks: its driver's lock answers busy"),
    ],
)
def test_builds_that_have_no_tasks(program: str, build: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        guest.build(program, BOARD, build=build, tasks=True)


def test_more_tasks_than_there_can_be() -> None:
    with pytest.raises(UsageError, match="5 tasks: expected 0 to 4"):
        tls_echo(64, tasks=5)


# ---- a board serves clients of this host ---------------------------------------------------------


class Clients:
    """So many clients of this host at a board's echo server, each with texts of its own."""

    def __init__(self, port: int, ca: Path) -> None:
        self.port = port
        self.context = ssl.create_default_context(cafile=str(ca))
        self.right = [0] * SESSIONS
        "Blocks that came back as they were sent."
        self.threads = [threading.Thread(target=self._talk, args=(number,)) for number in range(SESSIONS)]

    def _talk(self, number: int) -> None:
        text = bytes(byte ^ 85 * number for byte in BLOCK)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        try:
            with self.context.wrap_socket(plain, server_hostname="localhost") as secured:
                for _ in range(BLOCKS):
                    secured.sendall(text)
                    back = bytearray()
                    while len(back) < len(text) and (part := secured.recv(4096)):
                        back += part
                    self.right[number] += back == text
                secured.unwrap()
        except (ssl.SSLError, OSError):
            plain.close()


def serve(folder: Path, build: str) -> tuple[Machine, Outcome, list[int]]:
    identity = make_identity(folder, "ECDSA", last_day=NOW + timedelta(days=9000))
    wire = Nat(forward={0: PORT})
    (host_port,) = wire.forwards
    machine = Machine(BOARD, net=wire)
    wishes = echo.wish(identity.server.read_bytes(), PORT, NOW, suites=choose(GCM), sessions=SESSIONS)
    echo.load(machine, echo.SERVER, wishes, build=build, tasks=True)
    clients = Clients(host_port, identity.ca)
    assert machine.run(seconds=30, until=f"session {SESSIONS}: Listening").reason == "until", machine.console.text
    for thread in clients.threads:
        thread.start()
    outcome = machine.run(seconds=60)
    machine.disconnect()
    for thread in clients.threads:
        thread.join()
    return machine, outcome, clients.right


@needs_gcc
@pytest.mark.slow
def test_three_sessions_at_once_share_the_engines(built: None, tmp_path: Path) -> None:
    machine, outcome, right = serve(tmp_path, "hardware")
    assert (outcome.reason, outcome.code) == ("finished", 0), machine.console.text
    assert right == [BLOCKS] * SESSIONS
    assert machine.observer is not None
    assert list(machine.observer.findings) == [], machine.observer.findings.show()
    assert switches(machine.console.text) > 500
    established = machine.console.text.index("bytes sent back")
    assert machine.console.text[:established].count("connection established") == SESSIONS, "all at once"


@needs_gcc
@pytest.mark.slow
def test_the_fault_of_2017_spoils_sessions_and_names_both_contexts(built: None, tmp_path: Path) -> None:
    machine, outcome, right = serve(tmp_path, "faulty")
    assert (outcome.reason, outcome.code) == ("finished", 1)
    assert right != [BLOCKS] * SESSIONS
    assert "mbedtls_ssl_read() failed" in machine.console.text or "handshake() failed" in machine.console.text
    assert machine.observer is not None
    finding = next(f for f in machine.observer.findings if f.rule == "O1" and f.block == "CRYP")
    contexts = set(re.findall(r"AES context (0x\w+)", f"{finding.text} {finding.earlier}"))
    assert len(contexts) == 2, finding.show()


# ---- two boards ----------------------------------------------------------------------------------


def fine(result: EchoResult, size: int) -> EchoResult:
    assert result.failure == "", [side.machine.console.text for side in result.sides]
    assert [echo.echoed(side.machine) for side in result.sides] == [size, size]
    assert result.exit_code == 0, [finding.show() for side in result.sides for finding in side.findings]
    return result


@needs_gcc
@pytest.mark.slow
def test_three_sessions_between_two_boards_are_the_same_each_time(built: None, tmp_path: Path) -> None:
    """wolfSSL, whose handshakes are short."""

    def run(name: str) -> tuple[list[int], list[int], bytes]:
        result = tls_echo(SIZE, tasks=SESSIONS, library="wolfssl", suites=GCM, pcap=tmp_path / name, seed=3)
        fine(result, SESSIONS * SIZE)
        machines = [side.machine for side in result.sides]
        counted = [switches(machine.console.text) for machine in machines]
        return [machine.clock.now for machine in machines], counted, (tmp_path / name).read_bytes()

    first = run("first.pcap")
    assert run("second.pcap") == first
    assert min(first[1]) > 200


# ---- the client ----------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.slow
def test_the_client_beside_a_task_that_ciphers(built: None) -> None:
    with LoopbackServer("ECDSA", NOW, page(b"Hello world!")) as host:
        result = tls_client(
            f"localhost:{host.port}/hello.txt", ca=host.ca, suites=GCM, date=NOW, tasks=True, expect="Hello world!"
        )
    assert result.failure == "", result.console
    assert result.findings == []
    rounds, wrong = re.findall(r"(\d+) rounds of AES and SHA, (\d+) wrong", result.console)[0]
    assert int(rounds) > 100
    assert wrong == "0"
    assert switches(result.console) > 100
