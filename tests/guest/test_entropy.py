"""Entropy from the RNG: what is given out, and what happens when the generator fails on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cryplab.blocks.rng_v1 import WordSource
from cryplab.errors import ToolError
from cryplab.guest import build
from cryplab.machine import Machine
from firmware_builds import needs_gcc

pytestmark = [needs_gcc, pytest.mark.slow]
SOURCE_FAILED = -0x3C
SEED = 5


@pytest.fixture
def machine() -> Machine:
    try:
        elf = build("selftest", "ublox-c030-u201", build="software")
    except ToolError as missing:
        pytest.skip(str(missing))
    made = Machine("ublox-c030-u201", seed=SEED)
    made.load(elf)
    made.run(seconds=0.005)  # clocks are up
    return made


def poll(machine: Machine, size: int) -> tuple[int, bytes, int]:
    """Result code, bytes, and how many were said to be given."""
    out, given = machine.allocate(b"\xa5" * size), machine.allocate(4)
    code = machine.call("mbedtls_hardware_poll", 0, out, size, given)
    return code - (1 << 32) if code >> 31 else code, machine.read_memory(out, size), machine.read_word(given)


def words(count: int) -> list[bytes]:
    source = WordSource(SEED)
    return [source.next_word().to_bytes(4, "little") for _ in range(count)]


def test_first_word_is_not_given_out(machine: Machine) -> None:
    assert poll(machine, 8) == (0, b"".join(words(3)[1:]), 8)


def test_odd_sizes_and_none(machine: Machine) -> None:
    assert poll(machine, 0) == (0, b"", 0)
    made = words(6)
    assert poll(machine, 7) == (0, (made[1] + made[2])[:7], 7)
    assert poll(machine, 1) == (0, made[3][:1], 1)


def seed_error(rng: Any) -> None:
    rng.seed_error_at = 3


def zero_word(rng: Any) -> None:
    rng.zero_at = 4


def slow(rng: Any) -> None:
    rng.slow = 50


@pytest.mark.parametrize("fault", [seed_error, zero_word, slow])
def test_recovers(machine: Machine, fault: Callable[[Any], None]) -> None:
    fault(machine.blocks["RNG"])
    code, data, given = poll(machine, 64)
    assert (code, given) == (0, 64)
    chunks = [data[i : i + 4] for i in range(0, 64, 4)]
    assert len(set(chunks)) == 16
    assert bytes(4) not in chunks
    assert set(chunks) <= set(words(40))


def stuck(rng: Any) -> None:
    rng.stuck_word = 0x1234_5678


def no_clock(rng: Any) -> None:
    rng.clock_error = True


def much_too_slow(rng: Any) -> None:
    rng.slow = 100_000


@pytest.mark.parametrize("fault", [stuck, no_clock, much_too_slow])
def test_fails_in_bounded_time_and_gives_nothing(machine: Machine, fault: Callable[[Any], None]) -> None:
    poll(machine, 16)  # it ran well before
    fault(machine.blocks["RNG"])
    start = machine.clock.seconds()
    code, data, given = poll(machine, 16)
    assert (code, data, given) == (SOURCE_FAILED, bytes(16), 0)
    assert machine.clock.seconds() - start < 0.1


def test_works_again_when_the_clock_is_back(machine: Machine) -> None:
    rng: Any = machine.blocks["RNG"]
    rng.clock_error = True
    assert poll(machine, 4)[0] == SOURCE_FAILED
    rng.clock_error = False
    assert poll(machine, 4)[0] == 0
