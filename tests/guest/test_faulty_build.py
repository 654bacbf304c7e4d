"""The faulty build of the mbed TLS programs: right with one AES context at a time, wrong and found with two."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from tests.firmware_builds import needs_gcc

from cryplab import guest
from cryplab.machine import Machine

pytestmark = [needs_gcc, pytest.mark.slow]

BOARD, CONTEXT_BYTES, BLOCK = "ublox-c030-u201", 64, 16
KEYS = (bytes(range(16)), bytes(range(100, 116)))
TEXT = b"sixteen bytes..."


class Bench:
    """A booted machine, AES contexts and blocks."""

    def __init__(self) -> None:
        self.machine = Machine(BOARD)
        self.machine.load(guest.build("selftest", BOARD, build="faulty"))
        self.observer = self.machine.observe()
        self.machine.run(seconds=0.0005)

    def context(self, key: bytes) -> int:
        """A context with its key."""
        address = self.machine.allocate(CONTEXT_BYTES)
        self.machine.call("mbedtls_aes_init", address)
        assert self.machine.call("mbedtls_aes_setkey_enc", address, key, 8 * len(key)) == 0
        return address

    def encrypt(self, context: int) -> bytes:
        """TEXT by AES-ECB."""
        out = self.machine.allocate(BLOCK)
        assert self.machine.call("mbedtls_aes_crypt_ecb", context, 1, TEXT, out) == 0
        return self.machine.read_memory(out, BLOCK)


def wanted(key: bytes) -> bytes:
    """By another implementation."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(TEXT)


def test_one_context_is_right() -> None:
    """Why benchmark and self-tests pass."""
    bench = Bench()
    for key in KEYS:
        context = bench.context(key)
        assert [bench.encrypt(context) for _ in range(3)] == [wanted(key)] * 3
    assert not list(bench.observer.findings)


def test_two_contexts_in_turn_are_wrong_and_found() -> None:
    """O1 names both contexts, the line where data go in and the line where the other key was written."""
    bench = Bench()
    first, second = (bench.context(key) for key in KEYS)
    assert bench.encrypt(first) == wanted(KEYS[0])
    assert bench.encrypt(second) == wanted(KEYS[1])
    assert bench.encrypt(first) != wanted(KEYS[0])
    finding = bench.observer.findings[0]
    assert (finding.rule, finding.kind) == ("O1", "context-lost-on-interleave")
    assert finding.context == f"AES context {first:#010x}"
    assert finding.earlier is not None
    assert finding.earlier.context == f"AES context {second:#010x}"
    assert [Path(place.file).name for place in (finding.where, finding.earlier.where)] == ["cryp.h", "cryp.c"]
    assert "mbedtls_aes_crypt_ecb at aes_alt.c" in finding.stack[0]


def test_only_its_aes_is_its_own() -> None:
    """All other drivers are the hardware build's."""
    folder = Path(guest.__file__).parent / "ports" / "mbedtls" / "faulty"
    assert sorted(file.name for file in folder.iterdir()) == ["aes_alt.c", "aes_alt.h"]
