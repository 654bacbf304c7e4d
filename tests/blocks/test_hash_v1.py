"""HASH of F2 and F41x: published vectors by all ways, context swaps as wolfSSL makes them, what it has not."""

from __future__ import annotations

import struct
from hashlib import md5, sha1

import pytest
from hash_driver import ALGO, BUSY, CR, CSR, DIGEST_BYTES, DINIS, HR, HRA, INIT, MDMAT, SR, HashDriver
from test_hash_v2_vectors import FOLDER, HMAC, MEANS, SHORT, compute

from cryplab.blocks.hash_v1 import HashV1
from cryplab.blocks.hash_v2 import HashV2
from cryplab.check.hash_vectors import read_hash_vectors

PUBLISHED = [pytest.param(n, p[n], id=f"{n}{k}") for k, p in (("", SHORT), ("-HMAC", HMAC)) for n in ("MD5", "SHA-1")]


class DriverV1(HashDriver):
    """The driver of version 2 with five digest words, and no more context registers than there are."""

    def __init__(self) -> None:
        super().__init__(HashV1("HASH"))

    def digest(self, algorithm: str) -> bytes:
        words = [self.read(HRA + 4 * n) for n in range(5)]
        assert words == [self.read(HR + 4 * n) for n in range(5)]
        return struct.pack(">5I", *words)[: DIGEST_BYTES[algorithm]]

    def save(self, registers: int = 51) -> tuple[int, int, int, list[int]]:
        return super().save(registers)


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(("algorithm", "path"), PUBLISHED)
def test_published_vectors(means: str, algorithm: str, path: str) -> None:
    if means == "dma in pieces":
        pytest.skip("version 1 has no MDMAT: the end of a transfer ends the message")
    driver, count = DriverV1(), 0
    for vector in read_hash_vectors(FOLDER / path):
        result = compute(driver, means, algorithm, vector)
        assert result[: len(vector.digest)] == vector.digest, f"{path}, line {vector.line}"
        count += 1
    assert count >= 6
    assert not driver.block.reports.guest_errors


@pytest.mark.parametrize(("algorithm", "library"), [("MD5", md5), ("SHA-1", sha1)])
def test_two_messages_saved_after_every_word(algorithm: str, library: object) -> None:
    """As with a port that buffers one word: CSR0 to CSR49 are saved with the FIFO part filled and DINIS = 0."""
    driver = DriverV1()
    messages = [bytes(range(200)), bytes(range(255, 55, -1))]
    contexts = []
    for _ in messages:
        driver.start(algorithm)
        contexts.append(driver.save(50))
    for at in range(0, 200, 4):
        for which, message in enumerate(messages):
            driver.restore(contexts[which])
            driver.feed(message[at : at + 4])
            driver.wait(BUSY, False)
            contexts[which] = driver.save(50)
    for which, message in enumerate(messages):
        driver.restore(contexts[which])
        driver.calculate(0)
        driver.wait(BUSY, False)
        assert driver.digest(algorithm) == library(message).digest()  # type: ignore[operator]
    assert not driver.block.reports.guest_errors


def test_context_registers_that_only_version_2_has_take_and_give_nothing() -> None:
    block = HashV1()
    for n in (51, 52, 53):
        block.write(CSR + 4 * n, 0xFFFF_FFFF)
        assert block.read(CSR + 4 * n) == 0
    assert not block.reports.guest_errors
    block.write(CSR + 4 * 54, 1)
    assert len(block.reports.guest_errors) == 1


def test_it_is_version_2_without_sha_2() -> None:
    assert set(HashV2.algorithms) - set(HashV1.algorithms) == {"SHA-224", "SHA-256", "SHA-224-HMAC", "SHA-256-HMAC"}
    assert not MDMAT & sum(f.bits for f in HashV1.CR.fields)
    block = HashV1()
    block.write(CR, ALGO["SHA-256"] | MDMAT | INIT)
    assert block.read(CR) == ALGO["MD5"]
    assert block.read(SR) == DINIS
