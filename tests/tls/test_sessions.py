"""Many sessions: nothing of the host stays behind, one after another; four boards at once have one server."""

from __future__ import annotations

import gc
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cryplab.machine import DEFAULT_DATE, Machine
from cryplab.tls import tls_client
from cryplab.tls.server import LoopbackServer, page
from firmware_builds import needs_gcc
from tls.servers import need_sources

pytestmark = [pytest.mark.slow, needs_gcc]
SUITE = "ECDHE-RSA-AES128-GCM-SHA256"
SESSIONS, FAILED = 4, 8
"Whole sessions, and connections that nobody answers: these make and end a machine, too, but no handshake."
BLOCKS_MOST, MAPPED_MOST = 5_000, 16 << 20
"Python's memory blocks, and mapped bytes, for a session: a machine that stays has 25,000 and 45 MiB."
BOARDS = 4


@pytest.fixture(autouse=True)
def _sources() -> None:
    need_sources("mbedtls", "lwip")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer("RSA", DEFAULT_DATE, page(b"Hello world!\n")) as running:
        yield running


def session(target: str, server: LoopbackServer) -> str:
    return tls_client(target, ca=server.ca, date=DEFAULT_DATE, suites=[SUITE], observe=False).failure


def held() -> tuple[int, int]:
    """Descriptors, and machines that live."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")), sum(isinstance(thing, Machine) for thing in gc.get_objects())


def memory() -> tuple[int, int]:
    """Python's memory blocks; bytes that are mapped."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return sys.getallocatedblocks(), pages * os.sysconf("SC_PAGE_SIZE")


def test_one_after_another_leaves_nothing(server: LoopbackServer) -> None:
    assert session(server.target, server) == ""
    before, memory_before = held(), memory()
    for _ in range(SESSIONS):
        assert session(server.target, server) == ""
    for _ in range(FAILED):
        assert session("localhost:1/", server).startswith("failed at connection: network_connect() failed")
    assert held() == before
    grown = [(now - then) / (SESSIONS + FAILED) for now, then in zip(memory(), memory_before, strict=True)]
    assert grown[0] < BLOCKS_MOST
    assert grown[1] < MAPPED_MOST
    assert server.served == 1 + SESSIONS


def test_four_boards_at_once() -> None:
    """Four processes; the server gives nobody the page before all four have done their handshake."""
    all_here = threading.Barrier(BOARDS, timeout=120)

    def answer(client: ssl.SSLSocket) -> None:
        all_here.wait()
        page(b"Hello to four\n")(client)

    with LoopbackServer("RSA", DEFAULT_DATE, answer) as server:
        options = ["--ca", str(server.ca), "--date", DEFAULT_DATE.isoformat(), "--suite", SUITE, "--json"]
        command = [sys.executable, "-m", "cryplab", "tls-client", server.target, "--expect", "Hello to four", *options]
        boards = [
            subprocess.Popen([*command, "--seed", str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for seed in range(BOARDS)
        ]
        said = [board.communicate() for board in boards]
        assert server.most_at_once == BOARDS
    results = [json.loads(out) for out, _ in said]
    assert [result["failure"] for result in results] == [""] * BOARDS, said
    assert {result["received"] for result in results} == {results[0]["received"]}
    assert [result["findings"] for result in results] == [[]] * BOARDS
    assert [board.returncode for board in boards] == [0] * BOARDS
