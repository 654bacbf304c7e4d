"""GHASH against the values printed with the GCM test cases of McGrew and Viega."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cryplab.algorithms.ghash import ghash, multiply

ELEMENT = st.integers(0, (1 << 128) - 1)
ONE = 1 << 127


def hashed(h: str, data: str) -> str:
    state = 0
    blocks = bytes.fromhex(data)
    for i in range(0, len(blocks), 16):
        state = ghash(state, blocks[i : i + 16], int(h, 16))
    return f"{state:032x}"


@pytest.mark.parametrize(
    ("h", "data", "expected"),
    [
        (
            "66e94bd4ef8a2c3b884cfa59ca342b2e",
            "0388dace60b6a392f328c2b971b2fe7800000000000000000000000000000080",
            "f38cbb1ad69223dcc3457ae5b6b0f885",
        ),
        (
            "b83b533708bf535d0aa6e52980d53b78",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
            "00000000000000000000000000000200",
            "7f1b32b81b820d02614f8895ac1d4eac",
        ),
    ],
)
def test_published_values(h: str, data: str, expected: str) -> None:
    assert hashed(h, data) == expected


def schoolbook(left: int, right: int) -> int:
    """SP 800-38D, algorithm 1."""
    product = 0
    for bit in range(127, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = right >> 1 ^ (0xE1 << 120 if right & 1 else 0)
    return product


@given(ELEMENT, ELEMENT)
def test_multiplication_is_the_standards(left: int, right: int) -> None:
    assert multiply(left, right) == schoolbook(left, right)
    assert multiply(left, ONE) == left
