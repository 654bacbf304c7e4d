"""Streams of modes: SP 800-38A appendix F, and what `iv` shows between blocks."""

import pytest

from cryplab.algorithms.aes import block_encryption
from cryplab.algorithms.modes import CbcDecryption, CbcEncryption, Counter32, Ecb, cipher_of

KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
TEXT = [bytes.fromhex(block) for block in (
    "6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51",
    "30c81c46a35ce411e5fbc1191a0a52ef", "f69f2445df4f9b17ad2b417be66c3710")]  # fmt: skip
ECB = ["3ad77bb40d7a3660a89ecaf32466ef97", "f5d3d58503b9699de785895a96fdbaaf",
       "43b1cd7f598ece23881b00e3ed030688", "7b0c785e27e8ad3f8223207104725dd4"]  # fmt: skip
CBC = ["7649abac8119b246cee98e9b12e9197d", "5086cb9b507219ee95db113a917678b2",
       "73bed6b8e3c1743b7116e69e22229516", "3ff1caa1681fac09120eca307586e1a7"]  # fmt: skip
CTR = ["874d6191b620e3261bef6864990db6ce", "9806f66b7970fdff8617187bb9fffdff",
       "5ae4df3edbd5d35e5b4f09020db03eab", "1e031dda2fbe03d1792170a0f3009cee"]  # fmt: skip


def test_electronic_code_book() -> None:
    cipher = cipher_of("AES", KEY)
    forth, back = Ecb(cipher, bytes(16), decrypt=False), Ecb(cipher, bytes(16), decrypt=True)
    assert [forth.step(block).hex() for block in TEXT] == ECB
    assert [back.step(bytes.fromhex(block)) for block in ECB] == TEXT
    assert forth.iv == bytes(16)


def test_chaining_shows_the_ciphertext() -> None:
    cipher, iv = cipher_of("AES", KEY), bytes(range(16))
    forth, back = CbcEncryption(cipher, iv), CbcDecryption(cipher, iv)
    for text, expected in zip(TEXT, CBC, strict=True):
        assert forth.step(text).hex() == expected == forth.iv.hex()
        assert back.step(bytes.fromhex(expected)) == text
        assert back.iv.hex() == expected


def test_counter_mode_shows_the_next_counter() -> None:
    start = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    stream = Counter32(cipher_of("AES", KEY), start)
    assert [stream.step(block).hex() for block in TEXT] == CTR
    assert stream.iv.hex() == "f0f1f2f3f4f5f6f7f8f9fafbfcfdff03"


def test_the_counter_wraps_without_a_carry() -> None:
    stream = Counter32(cipher_of("AES", KEY), bytes.fromhex("ffffffffffffffffffffffffffffffff"))
    out = [stream.step(bytes(16)) for _ in range(3)]
    counters = ("ff" * 16, "ff" * 12 + "00000000", "ff" * 12 + "00000001")
    assert out == [block_encryption(KEY)(bytes.fromhex(counter)) for counter in counters]
    assert stream.iv.hex() == "ff" * 12 + "00000002"


@pytest.mark.parametrize(("algorithm", "key", "text", "expected"), [
    ("DES", "133457799bbcdff1", "0123456789abcdef", "85e813540f0ab405"),
    ("DES", "123456789abddef0", "0123456789abcdef", "85e813540f0ab405"),  # other parity
    ("TDES", "0123456789abcdef23456789abcdef01456789abcdef0123", "5468652071756663", "a826fd8ce53b855f"),
])  # fmt: skip
def test_des(algorithm: str, key: str, text: str, expected: str) -> None:
    stream = Ecb(cipher_of(algorithm, bytes.fromhex(key)), bytes(8), decrypt=False)
    assert stream.step(bytes.fromhex(text)).hex() == expected
