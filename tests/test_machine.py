"""The machine: running to an end, consoles, faults with their report, calls, stubs, snapshots."""

from pathlib import Path

import pytest

from cryplab.errors import FirmwareError, GuestCrash, LimitReached, StrictError, UsageError
from cryplab.machine import BENCH_BASE, Machine, Outcome
from tests.firmware_builds import build, needs_gcc, objcopy

pytestmark = needs_gcc


def start(mode: int = 0, path: Path | None = None, **options: object) -> Machine:
    machine = Machine("ublox-c030-u201", **options)  # type: ignore[arg-type]
    machine.load(path or build("small"), base=0x0800_0000)
    if machine.image is not None and "start_mode" in machine.image.symbols:
        machine.write_memory(machine.symbol("start_mode").address, mode.to_bytes(4, "little"))
    return machine


def run(mode: int, seconds: float = 0.1) -> tuple[Machine, Outcome]:
    machine = start(mode)
    return machine, machine.run(seconds=seconds)


@pytest.mark.parametrize("form", ["elf", "ihex", "binary"])
def test_the_same_firmware_in_three_formats(form: str) -> None:
    path = build("small") if form == "elf" else objcopy(build("small"), form)
    machine = start(path=path)
    outcome = machine.run(seconds=0.1)
    assert machine.console.text == "hello\nmemory ok\n"
    assert (outcome.reason, outcome.exit_code) == ("idle", 0)


def test_two_runs_take_the_same_cycles() -> None:
    assert run(0)[0].clock.now == run(0)[0].clock.now


def test_until_ends_the_run_when_the_text_appears() -> None:
    machine = start()
    assert machine.run(until="hel", seconds=0.1).reason == "until"
    assert machine.run(until="ok", seconds=0.1).reason == "until"
    assert machine.console.text == "hello\nmemory ok\n"


def test_a_store_through_a_null_pointer_meets_the_flash_that_is_seen_at_0() -> None:
    machine = start()
    machine.bus.write(0, 0x1234_5678, 4)
    assert machine.reports.unmapped_accesses == {}
    (error,) = machine.reports.guest_errors.values()
    assert error.text.startswith("FLASH: store to 0x00000000 while CR.PG=0")


@pytest.mark.parametrize(("mode", "text"), [(1, "by itm\n"), (2, "by rtt, longer than the ring of sixteen\n")])
def test_other_consoles(mode: int, text: str) -> None:
    machine, outcome = run(mode, seconds=0.2)
    assert machine.console.text == text
    assert outcome.reason == "idle"


def test_semihosting_exit_code_is_the_guests_verdict() -> None:
    _, outcome = run(5)
    assert (outcome.reason, outcome.code, outcome.exit_code) == ("finished", 7, 1)


def test_a_fault_is_reported_with_line_registers_and_stack_after_the_handler_spoke() -> None:
    machine, outcome = run(3)
    assert outcome.exit_code == 4
    assert machine.console.text == "in the fault handler\n"
    lines = outcome.crash.splitlines()
    assert lines[0].startswith("BusFault at 0x")
    assert "(bad_load" in lines[0]
    assert "small.c:" in lines[0]
    assert lines[0].endswith("data access to where nothing lives, address 0x30000000")
    stack = [line for line in lines if line.startswith("  #")]
    assert [name for name in ("bad_load", "outer", "main", "Reset_Handler") if any(name in s for s in stack)] == [
        "bad_load",
        "outer",
        "main",
        "Reset_Handler",
    ]


def test_lockup_and_jump_to_nowhere() -> None:
    machine, outcome = run(8)
    assert (outcome.reason, outcome.exit_code) == ("lockup", 4)
    assert "0x30000000" in outcome.crash.splitlines()[0]
    assert machine.console.text == "in the fault handler\n"


def test_a_breakpoint_instruction_without_debugger() -> None:
    _, outcome = run(6)
    assert outcome.exit_code == 4
    assert outcome.crash.startswith("BKPT #3 at 0x")


@pytest.mark.parametrize("mode", [4, 7])
def test_asleep_for_ever_is_told_at_once(mode: int) -> None:
    _, outcome = run(mode)
    assert outcome.reason == "idle"


def test_one_that_never_ends_stops_at_its_limit() -> None:
    machine, outcome = run(9, seconds=0.01)
    assert outcome.reason == "time"
    assert 0.01 <= machine.clock.seconds() < 0.0101


# -- calls -----------------------------------------------------------------------------------------
@pytest.fixture
def machine() -> Machine:
    machine = start()
    machine.run(until="ok", seconds=0.1)
    return machine


def test_arguments_in_registers_on_the_stack_and_in_memory(machine: Machine) -> None:
    assert machine.call("add6", 1, 2, 3, 4, 5, 6) == 91
    assert machine.call("sum_bytes", b"\x01\x02\xff", 3) == 258
    buffer = machine.allocate(16)
    machine.call("fill", buffer, 16, 0xA5)
    assert machine.read_memory(buffer, 16) == b"\xa5" * 16


def test_a_call_leaves_the_firmware_as_it_was(machine: Machine) -> None:
    before = [machine.core.read_register(f"r{n}") for n in range(13)]
    machine.call("count_calls")
    assert [machine.core.read_register(f"r{n}") for n in range(13)] == before
    assert machine.call("count_calls") == 2


def test_calls_that_go_wrong(machine: Machine) -> None:
    with pytest.raises(GuestCrash, match="outer faulted: BusFault at 0x") as caught:
        machine.call("outer")
    assert "bad_load" in caught.value.report
    with pytest.raises(LimitReached, match=r"spin has not returned after 0.001 virtual seconds; it is at 0x"):
        machine.call("spin", seconds=0.001)
    assert machine.call("slow_id") == 7
    with pytest.raises(FirmwareError, match="has no symbol 'slow_ip'; did you mean 'slow_id'"):
        machine.call("slow_ip")


def test_bench_memory_is_given_back(machine: Machine) -> None:
    first = machine.allocate(b"abc", align=64)
    assert first % 64 == 0
    assert machine.read_memory(first, 3) == b"abc"
    with pytest.raises(UsageError, match="1048576 bytes do not fit the bench memory"):
        machine.allocate(1 << 20)
    machine.free_all()
    assert machine.allocate(4) == BENCH_BASE + 16


def test_stubs_return_at_once(machine: Machine) -> None:
    machine.stub(["slow_id=0x12345678", "spin"])
    assert machine.call("slow_id") == 0x12345678
    machine.call("spin")
    with pytest.raises(UsageError, match="'x' is no number"):
        machine.stub(["slow_id=x"])


def test_snapshot_and_restore(machine: Machine) -> None:
    state = machine.snapshot()
    now = machine.clock.now
    results = []
    for _ in range(3):
        machine.restore(state)
        results.append((machine.clock.now, machine.call("count_calls"), machine.clock.now))
    assert results == [(now, 1, results[0][2])] * 3


def test_strict_stops_at_the_first_broken_rule() -> None:
    machine = start(strict=True)
    machine.run(until="ok", seconds=0.1)
    with pytest.raises(StrictError, match=r"CRYP.CR read while its clock is off \(RCC.AHB2ENR.CRYPEN=0\)"):
        machine.call("sum_bytes", 0x5006_0000, 4)
