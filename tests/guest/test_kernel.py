"""The small preemptive kernel: turns, waiting, registers, stacks; tests/firmware/kernel.c has the scenarios."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import pytest

from cryplab.guest.build import HERE, target_flags
from cryplab.guest.targets import BOARDS
from cryplab.machine import Machine, Outcome
from firmware_builds import FOLDER, GCC, needs_gcc

pytestmark = needs_gcc
FILTER_MAGIC = 0x43524C42.to_bytes(4, "little")


@functools.cache
def build(board: str) -> Path:
    target = BOARDS[board]
    folder = Path(tempfile.mkdtemp(prefix="cryplab-test-"))
    (folder / "board.h").write_text(target.header())
    sources = [FOLDER / "kernel.c", *(HERE / "common").glob("*.c"), *(HERE / "kernel").glob("*.c")]
    out = folder / "kernel.elf"
    command = [
        str(GCC), *target_flags(target), "-std=gnu11", "-Os", "-g", "-Wall", "-Wextra", "-Werror", "-fno-builtin",
        "-ffunction-sections", "-DCRYPLAB_KERNEL", f"-I{folder}",
        *(f"-I{HERE / name}" for name in ("common", "device", "kernel")), *map(str, sources),
        "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments",
        f"-T{HERE / 'common' / 'cortex-m.ld'}", f"-Wl,--defsym=FLASH_SIZE={target.chip.flash}",
        f"-Wl,--defsym=RAM_SIZE={target.chip.ram}", "-o", str(out),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return out


def run(scenario: str, board: str = "nucleo-f439zi") -> tuple[Machine, Outcome]:
    machine = Machine(board)
    machine.load(build(board))
    machine.write_memory(machine.symbol("cryplab_filter").address, scenario.encode() + b"\0")
    machine.write_memory(machine.symbol("cryplab_filter_magic").address, FILTER_MAGIC)
    outcome = machine.run(seconds=1)
    assert not machine.reports.unmodelled
    return machine, outcome


@pytest.mark.parametrize("board", ["nucleo-f439zi", "stm3221g-eval"])
@pytest.mark.parametrize(
    ("scenario", "order"),
    [
        ("turns", "ABCABCABCABC"),
        ("mutexes", "ABCABCABC9"),
        ("sleeps", "CBA1i"),
        ("semaphores", "110AmBl7"),
        ("registers", "3s"),
    ],
)
def test_order(scenario: str, order: str, board: str) -> None:
    machine, outcome = run(scenario, board)
    assert (machine.console.text, outcome.reason, outcome.code) == (order + "\n", "finished", 0)


def test_a_switch_comes_every_millisecond() -> None:
    """Three tasks that work twelve turns in all."""
    machine, _ = run("turns")
    assert 0.010 < machine.clock.seconds() < 0.017


def test_every_run_is_the_same() -> None:
    assert run("mutexes")[0].clock.now == run("mutexes")[0].clock.now


def test_a_stack_that_is_overrun_ends_the_program() -> None:
    machine, outcome = run("overrun")
    assert (outcome.reason, outcome.code) == ("finished", 98)
    assert "task 1: stack overrun" in machine.console.text
