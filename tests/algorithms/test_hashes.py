"""Compression functions against hashlib, and published vectors that are not whole bytes."""

import hashlib
import random

import pytest

from cryplab.algorithms.chained import ChainedHash, RunningHash
from cryplab.algorithms.md5 import MD5
from cryplab.algorithms.sha1 import SHA1
from cryplab.algorithms.sha2 import K256, SHA224, SHA256

ALL = (MD5, SHA1, SHA224, SHA256)

# NIST SHAVS example vectors, also in RFC 6234: algorithm, message, bits, digest
BIT_VECTORS = (
    (SHA1, "98", 5, "29826b003b906e660eff4027ce98af3531ac75ba"),
    (SHA1, "49b2aec2594bbe3a3b117542d94ac880", 123, "6239781e03729919c01955b3ffa8acb60b988340"),
    (
        SHA1,
        "65f932995ba4ce2cb1b4a2e71ae70220aacec8962dd4499cbd7c887a94eaaa101ea5aabc529b4e7e43665a5af2cd03fe"
        "678ea6a5005bba3b082204c28b9109f469dac92aaab3aa7c11a1b32ae0",
        611,
        "8c5b2a5ddae5a97fc7f9d85661c672adbf7933d4",
    ),
    (SHA224, "68", 5, "e3b048552c3c387bcab37f6eb06bb79b96a4aee5ff27f51531a9551c"),
    (SHA224, "f07006f25a0bea68cd76a29587c28da0", 123, "1b01db6cb4a9e43ded1516beb3db0b87b6d1ea43187462c608137150"),
    (
        SHA224,
        "a2be6e463281090294d9ce94826569423a3a305ed5e2116cd4a4c987fc0657006491b149ccd4b51130ac62b19dc248c7"
        "44543d20cd3952dced1f06cc3b18b91f3f55633ecc3085f4907060d2e0",
        611,
        "54bea6eab8195a2eb0a7906a4b4a876666300eefbd1f3b8474f9cd57",
    ),
    (SHA256, "68", 5, "d6d3e02a31a84a8caa9718ed6c2057be09db45e7823eb5079ce7a573a3760f95"),
    (
        SHA256,
        "be2746c6db52765fdb2f88700f9a7360",
        123,
        "77ec1dc89c821ff2a1279089fa091b35b8cd960bcaf7de01c6a7680756beb972",
    ),
    (
        SHA256,
        "3e740371c810c2b99fc04e804907ef7cf26be28b57cb58a3e2f3c007166e49c12e9ba34c0104069129ea7615642545703a2bd901e16eb0"
        "e05deba014ebff6406a07d54364eff742da779b0b3a0",
        611,
        "3e9ad6468bbbad2ac3c2cdc292e018ba5fd70b960cf1679777fce708fdb066e9",
    ),
)


def run(algorithm: ChainedHash, message: bytes, bits: int, *, look: bool, continue_at: int | None = None) -> bytes:
    """Hash block by block; look at the chaining value after each, or go on from one in a new object."""
    running = RunningHash(algorithm)
    whole = max(bits - 1, 0) // 512
    for n in range(whole):
        running.update(message[64 * n : 64 * n + 64])
        if look:
            running.state()
        if n == continue_at:
            running = RunningHash(algorithm, running.state(), running.bits)
    return running.finish(message[64 * whole :], bits - 512 * whole)


@pytest.mark.parametrize("algorithm", ALL, ids=lambda a: a.name)
def test_every_length_against_hashlib(algorithm: ChainedHash) -> None:
    chance = random.Random(1)
    for length in (*range(0, 131), 500, 1000):
        message = chance.randbytes(length)
        expected = hashlib.new(algorithm.library, message).digest()
        assert run(algorithm, message, 8 * length, look=False) == expected
        assert run(algorithm, message, 8 * length, look=True, continue_at=0) == expected


@pytest.mark.parametrize(("algorithm", "message", "bits", "digest"), BIT_VECTORS)
def test_messages_that_are_not_whole_bytes(algorithm: ChainedHash, message: str, bits: int, digest: str) -> None:
    assert run(algorithm, bytes.fromhex(message), bits, look=False).hex() == digest
    # bits behind the end do not count
    assert run(algorithm, bytes.fromhex(message + "ff"), bits, look=True).hex() == digest


def test_constants_of_the_standard() -> None:
    assert (K256[0], K256[1], K256[63]) == (0x428A2F98, 0x71374491, 0xC67178F2)
    assert (SHA256.initial[0], SHA256.initial[7]) == (0x6A09E667, 0x5BE0CD19)
    assert (SHA224.initial[0], SHA224.initial[7]) == (0xC1059ED8, 0xBEFA4FA4)


@pytest.mark.parametrize("algorithm", ALL, ids=lambda a: a.name)
def test_state_and_digest_are_one_another(algorithm: ChainedHash) -> None:
    digest = bytes(range(algorithm.digest_bytes))
    assert algorithm.digest_of(algorithm.state_from(digest)) == digest


def test_padding_blocks_at_the_edge() -> None:
    assert [SHA256.padding_blocks(bits) for bits in (0, 447, 448, 511, 512)] == [1, 1, 2, 2, 2]
