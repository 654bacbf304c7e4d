"""The AES key schedule both ways, against FIPS 197 appendix A."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cryplab.algorithms.aes import block_decryption, block_encryption, cipher_key, prepared_key

SCHEDULES = [  # cipher key, last round key
    ("2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"),
    ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "e98ba06f448c773c8ecc720401002202"),
    ("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "fe4890d1e6188d0b046df344706c631e"),
]


@pytest.mark.parametrize(("key", "last"), SCHEDULES)
def test_the_schedule_ends_in_the_published_round_key(key: str, last: str) -> None:
    prepared = prepared_key(bytes.fromhex(key))
    assert len(prepared) == len(key) // 2
    assert prepared[-16:].hex() == last


@given(st.sampled_from((16, 24, 32)).flatmap(lambda size: st.binary(min_size=size, max_size=size)))
def test_walking_back_finds_the_key(key: bytes) -> None:
    assert cipher_key(prepared_key(key)) == key
    assert prepared_key(cipher_key(key)) == key


def test_blocks_of_fips_197() -> None:
    text, key = bytes.fromhex("00112233445566778899aabbccddeeff"), bytes(range(32))
    for size, cipher in ((16, "69c4e0d86a7b0430d8cdb78070b4c55a"), (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
                         (32, "8ea2b7ca516745bfeafc49904b496089")):  # fmt: skip
        assert block_encryption(key[:size])(text).hex() == cipher
        assert block_decryption(key[:size])(bytes.fromhex(cipher)) == text
