"""Shrinking: what is left is needed."""

from cryplab.check.script import Place, Step
from cryplab.check.shrink import shrink


def test_steps_bytes_and_places_that_do_not_matter_go() -> None:
    steps = [Step("update", n % 3, data=bytes(40), place=Place(input=1)) for n in range(12)]

    def fails(some: tuple[Step, ...]) -> bool:
        return sum(len(step.data) >= 5 for step in some if step.context == 1) >= 2

    small = shrink(steps, fails)
    assert [(step.context, len(step.data), step.place) for step in small] == [(1, 8, Place()), (1, 8, Place())]


def test_what_cannot_be_smaller_stays() -> None:
    steps = (Step("a"), Step("b"))
    assert shrink(steps, lambda some: some == steps) == steps


def test_tries_are_bounded() -> None:
    calls = 0

    def fails(some: tuple[Step, ...]) -> bool:
        nonlocal calls
        calls += 1
        return True

    shrink([Step("x", n) for n in range(500)], fails, tries=7)
    assert calls == 7


def test_data_that_must_be_long_becomes_zeros() -> None:
    steps = (Step("update", data=bytes(range(256)) * 256), Step("update", data=b"left as it is"))
    small = shrink(steps, lambda some: len(some) == 2 and len(some[0].data) > 0xFFFF and len(some[1].data) == 13)
    assert [step.data for step in small] == [bytes(0x10000), b"left as it is"]
