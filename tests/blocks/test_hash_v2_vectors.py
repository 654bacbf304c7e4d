"""Published vectors through the registers of HASH: by polling, by interrupt, by DMA, with context swaps."""

from __future__ import annotations

from pathlib import Path

import pytest
from hash_driver import HashDriver

from cryplab.check.hash_vectors import HashVector, read_hash_vectors, read_monte_vectors

vectors = pytest.importorskip("cryptography_vectors", reason="cryptography-vectors is not installed")
FOLDER = Path(vectors.__file__).parent

SHORT = {
    "MD5": "hashes/MD5/rfc-1321.txt",
    "SHA-1": "hashes/SHA1/SHA1ShortMsg.rsp",
    "SHA-224": "hashes/SHA2/SHA224ShortMsg.rsp",
    "SHA-256": "hashes/SHA2/SHA256ShortMsg.rsp",
}
LONG = {
    "SHA-1": "hashes/SHA1/SHA1LongMsg.rsp",
    "SHA-224": "hashes/SHA2/SHA224LongMsg.rsp",
    "SHA-256": "hashes/SHA2/SHA256LongMsg.rsp",
}
MONTE = {name: path.replace("LongMsg", "Monte") for name, path in LONG.items()}
HMAC = {
    "MD5": "HMAC/rfc-2202-md5.txt",
    "SHA-1": "HMAC/rfc-2202-sha1.txt",
    "SHA-224": "HMAC/rfc-4231-sha224.txt",
    "SHA-256": "HMAC/rfc-4231-sha256.txt",
}
COUNTS = {"MD5": 7, "SHA-1": 65, "SHA-224": 65, "SHA-256": 65}
MEANS = ("polled", "interrupt", "dma", "dma in pieces", "swapped")


def compute(driver: HashDriver, means: str, algorithm: str, vector: HashVector) -> bytes:
    if means == "polled":
        return driver.polled(algorithm, vector.message, vector.bits, vector.key)
    if means == "interrupt":
        return driver.by_interrupt(algorithm, vector.message, vector.key)
    if means == "swapped":
        return swapped(driver, algorithm, vector)
    return driver.by_dma(algorithm, vector.message, vector.key, 3 if means == "dma in pieces" else 1)


def swapped(driver: HashDriver, algorithm: str, vector: HashVector) -> bytes:
    """Save, hash something else and restore, wherever a block has just been processed and between phases."""
    key = vector.key
    driver.start(algorithm, 2, key)
    for part in [vector.message] if key is None else [key, vector.message, key]:
        for at in range(0, len(part), 64):
            # the first word of the next block starts the one before it
            driver.feed(part[at : at + 64] if not at else part[at + 4 : at + 64])
            if at + 64 < len(part):
                driver.feed(part[at + 64 : at + 68])
                swap(driver)
        driver.calculate(8 * len(part))
        driver.wait(0x8, False)
        if part is not key or not driver.read(0x24) & 2:
            swap_unless_done(driver)
    return driver.digest(algorithm)


def swap(driver: HashDriver) -> None:
    driver.wait(0x8, False)
    context = driver.save()
    assert driver.polled("MD5", b"abc") == bytes.fromhex("900150983cd24fb0d6963f7d28e17f72")
    driver.restore(context)


def swap_unless_done(driver: HashDriver) -> None:
    if not driver.read(0x24) & 2:
        swap(driver)


def passed(means: str, algorithm: str, path: str) -> int:
    driver = HashDriver()
    count = 0
    for vector in read_hash_vectors(FOLDER / path):
        result = compute(driver, means, algorithm, vector)
        assert result[: len(vector.digest)] == vector.digest, f"{path}, line {vector.line}"
        count += 1
    assert not driver.block.reports.guest_errors
    return count


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("algorithm", SHORT)
def test_short_messages(means: str, algorithm: str) -> None:
    assert passed(means, algorithm, SHORT[algorithm]) == COUNTS[algorithm]


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("algorithm", HMAC)
def test_hmac(means: str, algorithm: str) -> None:
    assert passed(means, algorithm, HMAC[algorithm]) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("algorithm", LONG)
def test_long_messages(means: str, algorithm: str) -> None:
    assert passed(means, algorithm, LONG[algorithm]) == 64


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", MONTE)
def test_monte_carlo(algorithm: str) -> None:
    driver = HashDriver(cycles_per_access=20)
    for vector in read_monte_vectors(FOLDER / MONTE[algorithm]):
        assert vector.run(lambda message: driver.polled(algorithm, message)) == vector.digest
