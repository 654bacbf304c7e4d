"""Long TLS conversations: two boards over the hub, a board with a server and a client of this host."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from cryplab.errors import ToolError
from cryplab.guest import sources
from cryplab.machine import Machine
from cryplab.net import Hub, Nat
from firmware_builds import needs_gcc
from tls import echo
from tls.servers import NOW, Identity, make_identity, plain_server

pytestmark = [pytest.mark.slow, needs_gcc]
SIZE = 64 * 1024
LONG = 1024 * 1024
SERVER, CLIENT = "10.0.0.1", "10.0.0.2"
PORT = 4433
BLOCK = bytes(range(256)) * 8


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    for library in ("mbedtls", "lwip"):
        try:
            sources.library(library)
        except ToolError as missing:
            pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("certificate")
    return make_identity(folder, "ECDSA", last_day=NOW + timedelta(days=9000))  # this host's clients look, too


def over_the_hub(identity: Identity, size: int, server_build: str, client_build: str) -> tuple[bytes, list[Machine]]:
    """All frames with the client's cycle, and both machines."""
    hub = Hub()
    server, client = Machine("nucleo-f439zi", seed=1), Machine("nucleo-f439zi", seed=2)
    hub.connect(server)
    hub.connect(client)
    echo.load(server, "echo_server", identity.server, PORT, build=server_build, own=SERVER, number=1)
    echo.load(
        client, "echo_client", identity.ca, PORT, build=client_build, own=CLIENT, peer=SERVER, size=size, number=2
    )
    seen = bytearray()
    client.network.port.tap = lambda frame, outgoing: seen.extend(frame + client.clock.now.to_bytes(8, "little"))
    outcomes = hub.run(seconds=60)
    texts = server.console.text + client.console.text
    assert [(outcome.reason, outcome.code) for outcome in outcomes] == [("finished", 0)] * 2, texts
    assert f"{size} bytes sent back" in server.console.text
    assert f"{size} bytes came back right" in client.console.text
    assert [echo.echoed(machine) for machine in (server, client)] == [size, size]
    return bytes(seen), [server, client]


def test_two_boards_are_the_same_each_time(identity: Identity) -> None:
    first, machines = over_the_hub(identity, SIZE, "hardware", "software")
    cycles = [machine.clock.now for machine in machines]
    second, machines = over_the_hub(identity, SIZE, "hardware", "software")
    assert [machine.clock.now for machine in machines] == cycles
    assert first == second


def test_a_mebibyte_both_ways_over_the_hub(identity: Identity) -> None:
    over_the_hub(identity, LONG, "hardware", "hardware")


def echo_by_ssl(identity: Identity) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(identity.server)
    return context


@pytest.mark.parametrize("build", ["hardware", "software"])
def test_client_with_a_server_of_this_host(identity: Identity, build: str) -> None:
    context = echo_by_ssl(identity)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            while data := secured.recv(4096):
                secured.sendall(data)

    with plain_server(serve) as port:
        machine = Machine("nucleo-f439zi", net="user", allow=[f"localhost:{port}"])
        echo.load(machine, "echo_client", identity.ca, port, build=build, peer="10.0.2.2", size=SIZE)
        outcome = machine.run(seconds=60)
        machine.disconnect()
    assert (outcome.reason, outcome.code) == ("finished", 0), machine.console.text
    assert echo.echoed(machine) == SIZE


def test_server_with_a_client_of_this_host(identity: Identity) -> None:
    """Through a port of the loopback that leads to the board."""
    wire = Nat(forward={0: PORT})
    (host_port,) = wire.forwards
    machine = Machine("nucleo-f439zi", net=wire)
    echo.load(machine, "echo_server", identity.server, PORT)
    context = ssl.create_default_context(cafile=str(identity.ca))
    got = bytearray()

    def talk() -> None:
        plain = socket.create_connection(("127.0.0.1", host_port), timeout=120)
        with context.wrap_socket(plain, server_hostname="localhost") as secured:
            for number in range(8):
                secured.sendall(BLOCK)
                while len(got) < len(BLOCK) * (number + 1):
                    got.extend(secured.recv(4096))
            secured.unwrap()

    thread = threading.Thread(target=talk)
    outcome = machine.run(seconds=30, until="Listening at port")
    assert outcome.reason == "until", machine.console.text
    thread.start()
    outcome = machine.run(seconds=60)
    thread.join()
    machine.disconnect()
    assert (outcome.reason, outcome.code) == ("finished", 0), machine.console.text
    assert bytes(got) == 8 * BLOCK


def test_the_layout_is_the_headers() -> None:
    """The size that the guest has room for."""
    text = (Path(echo.guest.__file__).parent / "programs" / "echo.h").read_text()
    assert "char pem[4096];" in text
    assert echo.LAYOUT.size == 16 + 2 + 4 + 6 + 64 + 64 + 4 + 4096
