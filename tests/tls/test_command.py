"""`cryplab tls-client` and `tls-bench` on the command line: wrong input; results are tested in Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cryplab.cli import tls
from cryplab.tls import DEFAULT_BOARD
from tls.servers import make_identity


def cryplab(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cryplab", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["tls-client"], 2, "missing argument 'HOST:PORT[/PATH]'"),
        (["tls-client", "host:x"], 2, "'host:x': expected HOST:PORT or HOST:PORT/PATH, such as localhost"),
        (["tls-client", "host:1", "--suite", "AES-GMC"], 2, "no cipher suite 'AES-GMC'; did you mean 'AES-GCM'?"),
        (["tls-client", "host:1", "--ca", "none.pem"], 3, "none.pem: No such file or directory; expected a CA cert"),
        (["tls-client", "h:1", "--board", "ublox-c030-u201"], 2, "ublox-c030-u201: tls_client needs an Ethernet port"),
        (["tls-client", "h:1", "--library", "wolfssl", "--suite", "C0AD"], 2, "wolfssl has no ECDHE-ECDSA-AES256-CCM"),
        (["tls-client", "h:1", "--library", "wolfssl", "--build", "hal-style"], 2, "wolfssl has no hal-style build"),
        (["tls-bench", "--suite", "RC4"], 2, "no cipher suite 'RC4'"),
        (["tls-bench", "-j", "0"], 2, "0 sessions at the same time: expected 1 or more"),
        (["tls-echo", "64kB"], 2, "invalid value for 'BYTES': '64kB' is no size; expected 65536, 64KiB or 1MiB"),
        (["tls-echo", "1", "--impair", "los=1"], 2, "'los=1'; did you mean 'loss'? A wire can do loss, duplicate, reo"),
        (["run", "none.elf", "--impair", "loss=1%"], 2, "--impair goes with --net; without it there is no wire"),
    ],
)  # fmt: skip
def test_one_sentence(arguments: list[str], code: int, message: str) -> None:
    done = cryplab(*arguments)
    assert done.returncode == code
    assert done.stderr.startswith(f"cryplab: {message}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_default_board_is_the_librarys() -> None:
    assert tls.BOARD == DEFAULT_BOARD


def test_ca_that_is_none(tmp_path: Path) -> None:
    identity = make_identity(tmp_path, "ECDSA")
    key_only = tmp_path / "key.pem"
    text = identity.server.read_text()
    key_only.write_text(text[text.index("-----BEGIN PRIVATE KEY") :])
    done = cryplab("tls-client", "localhost:1", "--ca", key_only)
    assert done.returncode == 3
    assert done.stderr == f"cryplab: {key_only}: no certificate in it; expected a CA certificate, PEM or DER\n"
