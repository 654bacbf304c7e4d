"""Long TLS conversations: two boards over the hub, a board with a server and a client of this host."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from cryplab import guest
from cryplab.errors import UsageError
from cryplab.machine import Machine
from cryplab.net import Nat
from cryplab.tls import echo
from cryplab.tls.certificates import seeded_identity
from cryplab.tls.echo import EchoResult, tls_echo
from cryplab.tls.suites import choose
from firmware_builds import GCC, needs_gcc
from tls.servers import NOW, make_identity, need_sources

slow = pytest.mark.slow
SIZE = 64 * 1024
LONG = 1024 * 1024
PORT = 4433
BLOCK = bytes(range(256)) * 8
HEADER = Path(guest.__file__).parent / "programs" / "echo.h"


@pytest.fixture(scope="module")
def built() -> None:
    need_sources("mbedtls", "lwip")


def right(result: EchoResult, size: int) -> EchoResult:
    consoles = [side.machine.console.text for side in result.sides]
    assert result.failure == "", consoles
    assert [echo.echoed(side.machine) for side in result.sides] == [size] * len(result.sides)
    assert f"{size} bytes came back right" in consoles[0]
    return result


@needs_gcc
@slow
def test_two_boards_are_the_same_each_time(built: None, tmp_path: Path) -> None:
    """Every frame, with its time, and both boards' cycles."""

    def run(name: str) -> tuple[list[int], bytes]:
        file = tmp_path / name
        result = tls_echo(SIZE, build="hardware", peer_build="software", pcap=file)
        right(result, SIZE)
        for side in result.sides:
            assert "TLS-ECDHE-ECDSA-WITH-AES-128-GCM-SHA256" in side.machine.console.text
        return [side.machine.clock.now for side in result.sides], file.read_bytes()

    first = run("first.pcap")
    assert len(first[1]) > 2 * SIZE
    assert run("second.pcap") == first


@needs_gcc
@slow
def test_a_mebibyte_both_ways_over_the_hub(built: None) -> None:
    right(tls_echo(LONG, net="hub"), LONG)


@needs_gcc
@slow
@pytest.mark.parametrize("build", ["hardware", "software"])
def test_a_mebibyte_both_ways_on_a_bad_wire(built: None, build: str) -> None:
    """A server of this host behind the NAT; frames are lost, doubled and reordered in both directions."""
    impair = {"loss": 0.01, "duplicate": 0.01, "reorder": 0.01}
    result = right(tls_echo(LONG, net="user", build=build, impair=impair, seed=3), LONG)
    assert "of 3" in result.wire  # thousands of frames
    assert not result.wire.startswith("the wire lost 0 ")


@needs_gcc
@slow
def test_a_bad_wire_between_two_boards(built: None) -> None:
    result = right(tls_echo(SIZE, impair={"loss": 0.02, "reorder": 0.05}, suites=["AES-CBC-SHA"]), SIZE)
    assert not result.wire.startswith("the wire lost 0 ")


@needs_gcc
@slow
def test_server_with_a_client_of_this_host(built: None, tmp_path: Path) -> None:
    """Through a port of the loopback that leads to the board."""
    identity = make_identity(tmp_path, "ECDSA", last_day=NOW + timedelta(days=9000))  # this host's clients look, too
    wire = Nat(forward={0: PORT})
    (host_port,) = wire.forwards
    machine = Machine("nucleo-f439zi", net=wire)
    echo.load(machine, echo.SERVER, echo.wish(identity.server.read_bytes(), PORT, NOW))
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


@needs_gcc
@slow
def test_a_client_that_finds_no_server(built: None) -> None:
    """Failure is a sentence of the side that failed."""
    machine = Machine("nucleo-f439zi", net="user")
    echo.load(machine, echo.CLIENT, echo.wish(b"", PORT, NOW, peer="10.0.2.2", size=1))
    side = echo.Side("client", "hardware", machine, machine.run(seconds=60))
    machine.disconnect()
    assert side.failure.startswith("client: ")
    assert "failed" in side.failure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "0 bytes to echo: expected 1 to 1073741824"),
        ({"net": "tap:x"}, "net 'tap:x': expected hub or user"),
        ({"net": "user", "peer_build": "software"}, "a second board goes with net 'hub'"),
        ({"suites": ["ECDHE-RSA-AES128-SHA"]}, "no suite with an ECDSA key among them"),
        ({"impair": {"loss": 2.0}}, "loss 2: expected a probability, 0 to 1"),
    ],
)
def test_wrong_wishes(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tls_echo(**{"size": 1, **options})  # type: ignore[arg-type]


def test_a_key_that_is_too_long() -> None:
    with pytest.raises(UsageError, match="certificate and key of 4097 bytes; the guest has room for 4096"):
        echo.wish(b"x" * 4096, PORT, NOW)


@needs_gcc
def test_the_layout_is_the_compilers(tmp_path: Path) -> None:
    """The block as the C compiler makes it of the structure in echo.h."""
    assert GCC is not None
    text = HEADER.read_text()
    declared = text[text.index("struct cryplab_echo {") : text.index("};", text.index("struct cryplab_echo {")) + 2]
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stdint.h>\n#define TLS_SUITES_MOST 21\n" + declared + "\nconst struct cryplab_echo known = {\n"
        ".magic = 0x4F484345u, .date = 1780272000, .limit_ms = 30000, .bytes = 77, .port = 4433,\n"
        '.address = {10, 0, 0, 2}, .mac = {2, 0, 0, 0, 0, 5}, .suites = {0xC02B}, .peer = "10.0.0.1",\n'
        '.name = "localhost", .pem_bytes = 4, .pem = "PEM"};\n'
    )
    made, raw = tmp_path / "layout.o", tmp_path / "layout.bin"
    subprocess.run([GCC, "-mcpu=cortex-m4", "-mthumb", "-c", str(source), "-o", str(made)], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".rodata", str(made), str(raw)], check=True)
    suites = choose(["ECDHE-ECDSA-AES128-GCM-SHA256"])
    wishes = echo.wish(b"PEM", 4433, NOW, suites=suites, own="10.0.0.2", peer="10.0.0.1", size=77, number=5)
    assert wishes == raw.read_bytes()


def test_seeded_identities_are_good_and_repeat() -> None:
    first, again, other = (seeded_identity(seed, NOW) for seed in (1, 1, 2))
    assert first == again != other
    certificate = x509.load_pem_x509_certificate(first)
    certificate.verify_directly_issued_by(certificate)
    assert certificate.not_valid_before_utc < NOW < certificate.not_valid_after_utc
