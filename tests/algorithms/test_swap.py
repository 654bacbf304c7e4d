"""DATATYPE against the worked examples of RM0090's chapter CRYP and of FIPS 197 C.1's block."""

import pytest

from cryplab.algorithms.swap import arrange, arranged

EXAMPLES = [
    (0, 0x4E6F7720, 0x4E6F7720), (0, 0x69732074, 0x69732074),
    (1, 0x4E6F7720, 0x77204E6F), (1, 0x69732074, 0x20746973), (1, 0xABCD7720, 0x7720ABCD), (1, 0x6973FE01, 0xFE016973),
    (2, 0x4E6F7720, 0x20776F4E), (2, 0x69732074, 0x74207369), (2, 0xABCD7720, 0x2077CDAB), (2, 0x6973FE01, 0x01FE7369),
    (3, 0x4E6F7720, 0x04EEF672), (3, 0x69732074, 0x2E04CE96), (3, 0xABCD7720, 0x04EEB3D5), (3, 0x6973FE01, 0x807FCE96),
]  # fmt: skip


@pytest.mark.parametrize(("datatype", "word", "swapped"), EXAMPLES)
def test_a_block_is_its_swapped_words_most_significant_byte_first(datatype: int, word: int, swapped: int) -> None:
    change = arrange(datatype) or bytes
    data = swapped.to_bytes(4, "big") + bytes(4)
    words = word.to_bytes(4, "little") + bytes(4)
    assert change(words) == data
    assert change(data) == words


def test_a_step_works_on_the_block() -> None:
    step = arranged(lambda block: block[:4] + bytes(4), arrange(1))
    assert step(bytes.fromhex("20776f4e74207369")) == bytes.fromhex("20776f4e00000000")
    assert arranged(bytes, None) is bytes
