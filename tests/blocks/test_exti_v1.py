"""Edges, masks, software triggers."""

from __future__ import annotations

import pytest

from cryplab.blocks.exti_v1 import ExtiV1

IMR, EMR, RTSR, FTSR, SWIER, PR = range(0, 0x18, 4)


@pytest.mark.parametrize(
    ("line", "wire"),
    [(0, "exti0"), (4, "exti4"), (5, "exti9_5"), (9, "exti9_5"), (10, "exti15_10"), (15, "exti15_10"),
     (16, "pvd"), (17, "rtc_alarm"), (21, "tamp_stamp"), (22, "rtc_wkup")],
)  # fmt: skip
def test_each_line_reaches_its_interrupt(line: int, wire: str) -> None:
    exti = ExtiV1("EXTI")
    exti.write(IMR, 1 << line)
    exti.write(RTSR, 1 << line)
    exti.set_line(line, 1)
    assert exti.read(PR) == 1 << line
    assert [name for name in exti.lines if getattr(exti, name).level] == [wire]
    exti.write(PR, 1 << line)
    assert not getattr(exti, wire).level


@pytest.mark.parametrize(("rising", "falling", "count"), [(1, 0, 1), (0, 1, 1), (1, 1, 2), (0, 0, 0)])
def test_edges(rising: int, falling: int, count: int) -> None:
    exti, seen = ExtiV1("EXTI"), 0
    exti.write(IMR, 1)
    exti.write(RTSR, rising)
    exti.write(FTSR, falling)
    for level in (1, 1, 0, 0):
        exti.set_line(0, level)
        seen += exti.read(PR)
        exti.write(PR, 1)
    assert seen == count


def test_a_masked_line_does_nothing_but_an_event_is_told() -> None:
    exti, events = ExtiV1("EXTI"), []
    exti.on_event = lambda: events.append(1)
    exti.write(RTSR, 6)
    exti.write(EMR, 4)
    exti.set_line(1, 1)
    exti.set_line(2, 1)
    assert exti.read(PR) == 0
    assert events == [1]


def test_software_trigger_is_cleared_with_pr() -> None:
    exti = ExtiV1("EXTI")
    exti.write(IMR, 8)
    exti.write(SWIER, 8)
    assert exti.read(PR) == 8
    assert exti.exti3.level
    exti.write(PR, 8)
    assert (exti.read(PR), exti.read(SWIER)) == (0, 0)
    exti.write(SWIER, 8)
    assert exti.read(PR) == 8
