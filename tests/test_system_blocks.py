"""Firmware that starts and uses the chip as vendor code does, on the running machine."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cryplab.machine import Machine
from tests.firmware_builds import build, needs_gcc

pytestmark = needs_gcc

BEFORE_TYPING = """\
clocks ok
id 004100283235470f34393330 flash {flash:08x} device 20030419
timers ok
flash ok
dma ok
exti ok
crc ok
date 00268101 time 00000000
rtc ok
backup memory ok
type>"""
AFTER_TYPING = """\
hello
reset by software ok
"""


@pytest.mark.parametrize("clock", ["fast", "exact"])
@pytest.mark.parametrize(
    ("board", "flags", "flash_kib"),
    [("ublox-c030-u201", (), 1024), ("nucleo-f439zi", ("-DPLLM=8", "-DBYPASS", "-DON_USART3"), 2048)],
)
def test_vendor_like_firmware(board: str, flags: tuple[str, ...], flash_kib: int, clock: str) -> None:
    machine = Machine(board, clock=clock)  # type: ignore[arg-type]
    machine.load(build("system", *flags))
    outcome = machine.run(until="type>", seconds=5)
    assert machine.console.text == BEFORE_TYPING.format(flash=flash_kib)
    assert outcome.reason == "until"
    assert machine.clock.hz == 168_000_000
    machine.type_in(b"hello")
    outcome = machine.run(seconds=1)
    assert machine.console.text == BEFORE_TYPING.format(flash=flash_kib) + AFTER_TYPING
    assert outcome.reason == "idle"
    [error] = machine.reports.guest_errors.values()
    assert error.text == "DMA2: transfer error on stream 0: DMA2 cannot reach 0x10000000"
    assert machine.reports.unmodelled == {}
    assert machine.reports.unmapped_accesses == {}


def test_the_date_is_the_users() -> None:
    machine = Machine("ublox-c030-u201", date=datetime(2031, 12, 24, 18, 30, 15, tzinfo=UTC))
    machine.load(build("system"))
    machine.run(until="rtc ok", seconds=5)
    assert "date 00317224 time 00183015" in machine.console.text


def test_a_snapshot_while_typing_is_awaited() -> None:
    machine = Machine("ublox-c030-u201")
    machine.load(build("system"))
    machine.run(until="type>", seconds=5)
    snapshot = machine.snapshot()
    ends = []
    for _ in range(2):
        machine.restore(snapshot)
        machine.type_in(b"hello")
        machine.run(seconds=1)
        ends.append(machine.clock.now)
        assert "reset by software ok" in machine.console.text
    assert ends[0] == ends[1]
