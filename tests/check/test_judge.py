"""Verdicts on single steps."""

import pytest

from cryplab.check.judge import Unsupported, judge, looks_random
from cryplab.check.script import Expected, Step
from cryplab.check.target import Got

STEP = Step("crypt", kind="ECB")
MINUS_0X12 = 0xFFFF_FFEE


def test_difference_says_where() -> None:
    got = Got(outputs={"output": bytes(32)})
    problems = judge(STEP, Expected(outputs={"output": bytes(31) + b"\x01"}), got)
    assert problems == [
        "output is 00000000000000000000000000000000 from byte 16, expected 00000000000000000000000000000001; "
        "first difference at byte 31 of 32"
    ]


def test_error_returned() -> None:
    got = Got("refused", MINUS_0X12, text="-0x0012")
    assert judge(STEP, Expected(), got) == ["error -0x0012 was returned, success was due"]
    assert judge(STEP, Expected("may refuse"), got) == []


def test_success_where_an_error_was_due() -> None:
    secret = bytes(range(40))
    leaking = Got("ok", outputs={"output": secret})
    problems = judge(STEP, Expected("refused", forbidden={"output": secret}), leaking)
    assert problems[0] == "success was returned, an error was due"
    assert problems[1] == "plaintext was left in output although the tag is wrong (at byte 0)"
    wiped = Got("refused", outputs={"output": bytes(40)})
    assert judge(STEP, Expected("refused", forbidden={"output": secret}), wiped) == []


def test_unsupported() -> None:
    with pytest.raises(Unsupported):
        judge(STEP, Expected(), Got("unsupported"))


@pytest.mark.parametrize(
    ("found", "before", "message"),
    [
        (b"\x11\x22\x33\x44\x55\x66\x77\x88", b"\xaa" * 8, None),
        (b"\x11\x22\x33\x44\xaa\xaa\xaa\xaa", b"\xaa" * 8, "bytes from 4 of output (8 bytes) were not written"),
        (b"\x11\x22\x33\x44\x00\x00\x00\x00", b"\xaa" * 8, "output has a word of zero at byte 4"),
        (b"\x11\x22\x33\x44\x11\x22\x33\x44", b"\xaa" * 8, "output has the same word twice in a row at byte 4"),
    ],
)
def test_random_bytes(found: bytes, before: bytes, message: str | None) -> None:
    assert looks_random("output", found, before) == ([message] if message else [])
