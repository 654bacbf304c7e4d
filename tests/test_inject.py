"""Injected errors by name: what is armed, that it repeats, what is said of bad names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cryplab import inject
from cryplab.errors import BoardError, UsageError
from cryplab.machine import Machine
from firmware_builds import build, needs_gcc

sys.path.insert(0, str(Path(__file__).parent / "check"))

BOARD = "ublox-c030-u201"


def armed(*names: str, seed: int = 0, board: str = BOARD) -> Machine:
    machine = Machine(board)
    for injection in inject.parse(names, seed):
        injection.arm(machine)
    return machine


def test_every_name_is_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "check.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [name for name in inject.INJECTIONS if not any(f"`{name}" in row for row in rows)] == []
    for name, known in inject.INJECTIONS.items():
        (row,) = (row for row in rows if f"`{name}" in row)
        assert ("survives" in row) == (known.owes == "survive"), name


def test_random_number_generator() -> None:
    machine = armed("rng-seed-error=3", "rng-clock-error", "rng-stuck=0x11", "rng-slow=4", "rng-zero=2")
    rng = machine.blocks["RNG"]
    assert (rng.seed_error_at, rng.clock_error, rng.stuck_word, rng.slow, rng.zero_at) == (3, True, 0x11, 4, 2)


def test_choice_follows_from_the_seed() -> None:
    chosen = [armed("rng-seed-error", seed=seed).blocks["RNG"].seed_error_at for seed in (1, 1, 2, 3, 4)]
    assert chosen[0] == chosen[1]
    assert len(set(chosen)) > 1
    assert all(1 <= number <= 8 for number in chosen)


def test_speeds() -> None:
    machine = armed("cryp-slow", "hash-fast")
    assert (machine.blocks["CRYP"].speed, machine.blocks["HASH"].speed) == ("slow", "fast")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cryp-slo", "--inject cryp-slo: no such error; did you mean 'cryp-slow'?; there are rng-seed-error, "),
        ("rng-zero=first", "--inject rng-zero=first: 'first' is no number"),
    ],
)
def test_bad_names(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        inject.parse([name])
    assert str(error.value).startswith(message)


def test_chip_without_the_block() -> None:
    with pytest.raises(BoardError, match="--inject cryp-slow: stm32f429zi has no CRYP"):
        armed("cryp-slow", board="nucleo-f429zi")


def test_task_switch_needs_a_task() -> None:
    with pytest.raises(UsageError, match="there is no other task here; use it with check"):
        armed("task-switch-each-access")


@needs_gcc
def test_interrupt_comes_after_each_access() -> None:
    import wrong

    from cryplab.check import booted

    counts = []
    for names in ((), ("irq-each-access",)):
        machine = booted(wrong.build(), wrong.BOARD, inject=names)
        context, output = machine.allocate(64), machine.allocate(16)
        machine.call("mbedtls_aes_init", context)
        machine.call("mbedtls_aes_setkey_enc", context, bytes(range(16)), 128)
        before = machine.clock.now
        machine.call("mbedtls_aes_crypt_ecb", context, 1, bytes(16), output)
        counts.append(machine.clock.now - before)
        assert machine.read_memory(output, 16).hex() == "c6a13b37878f5b826f4f8162a1c8d879"
    accesses = 1 + 8 + 1 + 4 + 4 + 1  # CR, key, CR, DIN, DOUT, CR
    assert counts[1] - counts[0] > 24 * accesses  # entry and exit take 12 cycles each, at least


@needs_gcc
def test_other_task_runs_between_accesses() -> None:
    machine = Machine(BOARD)
    machine.load(build("small"))
    machine.allocate(4)
    with pytest.raises(UsageError):
        inject.parse(["task-switch-each-access"])[0].arm(machine)
    inject.switch_at_each_access(machine, lambda: None)
    inject.parse(["task-switch-each-access"])[0].arm(machine)
