"""Interrupts at every boundary change no result; two tasks that share the crypto blocks end right."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import cryplab
from cryplab.machine import Machine
from tests.firmware_builds import FOLDER, build, needs_gcc

pytestmark = needs_gcc

DEVICE = Path(cryplab.__path__[0]) / "guest" / "device"
START = (f"-I{DEVICE}", str(FOLDER / "start.c"))
MESSAGE, ROUNDS = 1200, 6
LENGTH = 192
HANDLER = 0x1FF
"Bits of xPSR that are 0 outside handlers."


def machine_with(name: str, *flags: str, clock: str = "fast") -> Machine:
    machine = Machine("ublox-c030-u201", clock=clock)  # type: ignore[arg-type]
    machine.load(build(name, *flags, *START))
    return machine


# -- one computation, interrupted ------------------------------------------------------------------
class Results:
    """What steady.c leaves."""

    SIZE = 32 + 64 + 4 + 4 + 32

    def __init__(self, machine: Machine) -> None:
        raw = machine.read_memory(machine.symbol("results").address, self.SIZE)
        self.digest = struct.pack(">8I", *struct.unpack("<8I", raw[:32]))
        self.cipher = raw[32:96]
        self.rest = raw[96:]
        self.interrupts = machine.read_word(machine.symbol("interrupts").address)
        self.cycles = machine.clock.now


def steady(*flags: str, every: int = 0, first: int = 0, clock: str = "fast") -> Results:
    """Run steady.c; `every` N cycles from cycle `first` on, interrupt 0 is pended from outside.

    Not while its handler runs, and not twice at one place in a row: the computation would stand still.
    """
    machine = machine_with("steady", *flags, clock=clock)
    core = machine.core
    last: list[int | None] = [None]

    def pend() -> None:
        machine.clock.after(every, pend)
        if core.read_register("xpsr") & HANDLER:
            return
        last[0] = None if core.pc == last[0] else core.pc
        if last[0] is not None:
            core.set_interrupt(0, True)
            core.set_interrupt(0, False)

    if every:
        machine.clock.after(first or every, pend)
    outcome = machine.run(seconds=1)
    assert (outcome.reason, outcome.code) == ("finished", 0), outcome.crash
    return Results(machine)


@pytest.fixture(scope="module")
def alone() -> Results:
    found = steady()
    message = bytes((5 * i + 1) & 0xFF for i in range(LENGTH))
    key = bytes((16 * i + 3) & 0xFF for i in range(16))
    assert found.digest == hashlib.sha256(message).digest()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    assert found.cipher == encryptor.update(message[:64])
    assert found.interrupts == 0
    return found


def same(found: Results, alone: Results) -> None:
    assert (found.digest, found.cipher, found.rest) == (alone.digest, alone.cipher, alone.rest)


@pytest.mark.parametrize("clock", ["fast", "exact"])
def test_an_interrupt_at_every_block_boundary_changes_no_result(alone: Results, clock: str) -> None:
    """One cycle apart: an interrupt is due at every block start that is not in the handler itself."""
    found = steady(every=1, clock=clock)
    same(found, alone)
    assert found.interrupts > 3000
    assert found.cycles == steady(every=1, clock=clock).cycles


@pytest.mark.parametrize("every", [*range(2, 60, 7), 61, 97, 128, 211, 499, 1009])
def test_an_interrupt_after_every_so_many_cycles_changes_no_result(alone: Results, every: int) -> None:
    found = steady(every=every)
    same(found, alone)
    assert found.interrupts > 10


@pytest.mark.slow
@pytest.mark.parametrize("every", range(60, 400, 9))
def test_more_distances(alone: Results, every: int) -> None:
    same(steady(every=every, first=1 + every % 7), alone)


@pytest.mark.parametrize("period", [100, 137, 250, 1000])
def test_a_short_systick_changes_no_result(alone: Results, period: int) -> None:
    found = steady(f"-DPERIOD={period}")
    same(found, alone)
    assert found.interrupts > 20
    assert found.cycles == steady(f"-DPERIOD={period}").cycles


# -- two tasks -------------------------------------------------------------------------------------
def expected(number: int) -> tuple[bytes, bytes, float]:
    """Digest, text and sum of one task, by another implementation."""
    key = struct.pack(">8I", *(0x0102_0304 * (i + 1) + number for i in range(8)))
    iv = struct.pack(">4I", *(0xA0B0_C0D0 + 16 * i + number for i in range(4)))
    cipher = Cipher(algorithms.AES(key), modes.CBC(iv))
    work = cipher.decryptor() if number else cipher.encryptor()
    text = bytes((7 * i + 13 * number) & 0xFF for i in range(MESSAGE))
    digest, whole = b"", MESSAGE - MESSAGE % 64
    for _ in range(ROUNDS):
        digest = hashlib.sha256(text).digest()
        text = work.update(text[:whole]) + text[whole:]
    return digest, text, ROUNDS * (whole // 64) * 10 * (0.25 if number else 0.5)


def two_tasks(*flags: str, end: str = "finished") -> tuple[Machine, list[tuple[bytes, bytes, float]]]:
    machine = machine_with("two_tasks", *flags)
    outcome = machine.run(seconds=0.1)
    assert outcome.reason == end, outcome.crash
    base, size = machine.symbol("results").address, 32 + MESSAGE + 8
    found = []
    for number in range(2):
        raw = machine.read_memory(base + number * size, size)
        digest = struct.pack(">8I", *struct.unpack("<8I", raw[:32]))
        found.append((digest, raw[32 : 32 + MESSAGE], struct.unpack("<f", raw[-8:-4])[0]))
    return machine, found


@pytest.mark.parametrize("period", [400, 1000, 3001, 20000])
def test_two_tasks_with_a_lock_end_right(period: int) -> None:
    machine, found = two_tasks(f"-DPERIOD={period}")
    assert found == [expected(0), expected(1)]
    assert machine.read_word(machine.symbol("switches").address) > 20
    assert machine.reports.guest_errors == {}
    assert two_tasks(f"-DPERIOD={period}")[0].clock.now == machine.clock.now


@pytest.mark.parametrize("period", [2200, 2500, 4001])
def test_two_tasks_whose_switch_swaps_both_blocks_end_right(period: int) -> None:
    machine, found = two_tasks(f"-DPERIOD={period}", "-DSWAP_ON_SWITCH")
    assert found == [expected(0), expected(1)]
    assert machine.read_word(machine.symbol("switches").address) > 20
    assert machine.reports.guest_errors == {}


def test_two_tasks_without_lock_or_swap_end_wrong() -> None:
    """The same firmware with its only protection taken away waits for ever: the proof above can fail."""
    _, found = two_tasks("-DPERIOD=1000", "-DNO_LOCK", end="time")
    assert found[0] != expected(0)
    assert found[1] != expected(1)
