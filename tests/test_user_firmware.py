"""A firmware as a user would bring it, built as vendor tools build it, runs with no option but --board."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cryplab.machine import Machine
from tests.firmware_builds import build_project, needs_gcc, objcopy

pytestmark = needs_gcc

NUCLEO = ("-DCORE_MHZ=180", "-DHSE_BYPASS", "-DHSE_VALUE=8000000u", "-DFLASH_KIB=2048")
UBLOX = ("-DCORE_MHZ=168", "-DHSE_VALUE=12000000u", "-DFLASH_KIB=1024", "-DCONSOLE_USART1")


def finished(board: str, path: Path, **options: object) -> Machine:
    """Run until the firmware counts its failures; check by check it must be right."""
    machine = Machine(board)
    machine.load(path, **options)  # type: ignore[arg-type]
    outcome = machine.run(until="failed\n", seconds=20)
    lines = machine.console.text.splitlines()
    assert outcome.reason == "until", lines
    assert [line for line in lines if line.endswith("FAILED")] == []
    assert re.fullmatch(r"done: \d\d checks, 0 failed", lines[-1])
    assert {"this by interrupt", "this by DMA", "date 2026-01-01 00:00:00"} <= set(lines)
    assert machine.reports.guest_errors == {}
    assert {u.block for u in machine.reports.unmodelled.values()} == {"IWDG"}
    return machine


@pytest.mark.parametrize(("board", "flags", "hz"), [
    ("nucleo-f439zi", NUCLEO, 180_000_000),
    ("ublox-c030-u201", UBLOX, 168_000_000),
])  # fmt: skip
@pytest.mark.parametrize("level", ["-O2", "-O0", "-Os"])
def test_it_runs_with_the_board_alone(board: str, flags: tuple[str, ...], hz: int, level: str) -> None:
    machine = finished(board, build_project("hal_like", *flags, level))
    assert machine.clock.hz == hz
    operations = machine.reports.operations
    assert [o.name for o in operations] == ["AES-CBC-128"] * 6 + ["SHA-256"] * 2 + ["RNG"]
    assert [o.dma for o in operations] == [False] * 4 + [True] * 2 + [False, True, False]


@pytest.mark.parametrize("form", ["ihex", "binary"])
def test_as_hex_and_bin(form: str) -> None:
    path = objcopy(build_project("hal_like", *NUCLEO), form)
    finished("nucleo-f439zi", path, base=0x0800_0000 if form == "binary" else None)


def test_the_same_cycles_twice() -> None:
    path = build_project("hal_like", *NUCLEO)
    first, second = (finished("nucleo-f439zi", path).clock.now for _ in range(2))
    assert first == second


def test_a_wait_on_a_block_that_is_not_modelled_passes_by_set() -> None:
    machine = Machine("nucleo-f439zi")
    machine.load(build_project("hal_like", *NUCLEO, "-DWITH_ADC"))
    machine.force(["ADC.0x000.1=1"])
    machine.run(until="failed\n", seconds=20)
    assert re.search(r"ADC conversion +ok", machine.console.text)
    stuck = Machine("nucleo-f439zi")
    stuck.load(build_project("hal_like", *NUCLEO, "-DWITH_ADC"))
    stuck.run(until="failed\n", seconds=20)
    assert re.search(r"ADC conversion +FAILED", stuck.console.text)


def test_the_clock_follows_the_boards_crystal() -> None:
    """Built for 8 MHz and run with 12 MHz: half as fast again."""
    machine = Machine("ublox-c030-u201")
    machine.load(build_project("hal_like", *NUCLEO))
    machine.run(seconds=0.05)
    assert machine.clock.hz == 270_000_000
