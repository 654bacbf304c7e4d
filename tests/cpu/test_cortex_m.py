"""The core without a machine: guests of a few instructions."""

import gc
import signal
import struct

import pytest
from snippets import FLASH, IO, RAM, Guest

from cryplab.cpu.cortex_m import BusError, CortexM
from cryplab.errors import FirmwareError, UsageError

END = 1
"Each snippet ends in a branch to `b .`: it takes 1 cycle; its refill counts with the block that it leads to."

LOOP = """
    movs r0, #100
    movs r1, #0
1:  adds r1, r0
    subs r0, #1
    bne 1b
"""
LOOP_CYCLES = 2 + 99 * 5 + 3 + 1
"MOVS twice; ADDS, SUBS, BNE with 2 cycles of refill (flags from directly before), the last not taken; the branch."


def test_a_loop_runs_and_ends_idle():
    guest = Guest(LOOP)
    stop = guest.core.run()
    assert stop.reason == "idle"
    assert guest.register("r1") == 5050
    assert stop.cycle == LOOP_CYCLES


def test_slices_count_what_one_run_counts():
    guest = Guest(LOOP)
    for limit in range(1, LOOP_CYCLES):
        assert guest.core.run(limit).reason == "cycle"
    stop = guest.core.run()
    assert (stop.reason, stop.cycle, guest.register("r1")) == ("idle", LOOP_CYCLES, 5050)


def test_a_run_stops_at_the_first_block_at_or_after_its_limit():
    guest = Guest(LOOP)
    stop = guest.core.run(20)
    assert stop.reason == "cycle"
    assert 20 <= stop.cycle < 25


def test_branch_to_self_jumps_to_the_limit():
    guest = Guest("nop")
    event = []
    guest.clock.at(1_000_000_000, lambda: event.append(guest.clock.now))
    guest.clock.at(3_000_000_000, lambda: None)
    stop = guest.core.run(2_000_000_000)
    assert stop.reason == "cycle"
    assert 2_000_000_000 <= stop.cycle < 2_000_000_004
    assert 1_000_000_000 <= event[0] < 1_000_000_004
    assert guest.core.run(9_000_000_000).reason == "idle"  # nothing is due any more
    assert 3_000_000_000 <= guest.core.cycles < 3_000_000_004


def test_breakpoint_at_block_start_and_inside_a_block():
    guest = Guest("nop\nmovs r0, #1\nmovs r0, #2\nmovs r0, #3\n")
    inside = guest.start + 4
    guest.core.breakpoint(inside)
    stop = guest.core.run()
    assert (stop.reason, stop.pc, stop.cycle, guest.register("r0")) == ("breakpoint", inside, 2, 1)
    guest.core.breakpoint(inside, on=False)
    guest.core.breakpoint(inside + 2)
    assert guest.core.run() == ("breakpoint", inside + 2, 3)
    assert guest.core.run().reason == "idle"
    assert guest.core.cycles == 4 + END


def test_breakpoint_in_a_loop_hits_every_round_but_not_where_the_run_starts():
    guest = Guest(LOOP)
    guest.core.breakpoint(guest.start + 4)
    rounds = []
    while guest.core.run().reason == "breakpoint":
        rounds.append(guest.register("r0"))
    assert rounds == list(range(100, 0, -1))
    assert guest.core.cycles == LOOP_CYCLES


def test_breakpoint_inside_code_that_ran_before():
    guest = Guest(LOOP)
    guest.core.run(60)
    guest.core.breakpoint(guest.start + 6)  # SUBS, second in its block
    stop = guest.core.run()
    assert (stop.reason, stop.pc) == ("breakpoint", guest.start + 6)
    guest.core.breakpoint(guest.start + 6, on=False)
    assert guest.core.run().reason == "idle"
    assert (guest.register("r1"), guest.core.cycles) == (5050, LOOP_CYCLES)


def test_bound_word_sees_pc_and_cycle_of_the_access():
    guest = Guest(f"ldr r0, ={IO}\nnop\nnop\nldr r1, [r0, #4]\nnop\nstr r1, [r0, #8]\n")
    seen = []

    def read():
        seen.append((guest.core.pc - guest.start, guest.clock.now))
        return 0x1234_5678

    guest.core.bind(IO + 4, read, None)
    guest.core.bind(IO + 8, None, lambda value: seen.append((guest.core.pc - guest.start, guest.clock.now, value)))
    guest.core.run()
    # MOV 1, NOP 1, NOP 1, load 2, NOP 1
    assert seen == [(8, 3), (12, 6, 0x1234_5678)]
    assert guest.register("r1") == 0x1234_5678


def test_words_of_a_multiple_load_are_a_cycle_apart():
    guest = Guest(f"ldr r0, ={IO}\nldm r0!, {{r1-r4}}\n")
    seen = []
    for at in range(4):
        guest.core.bind(IO + 4 * at, lambda: seen.append(guest.clock.now) or len(seen), None)
    guest.core.run()
    assert seen == [1, 2, 3, 4]
    assert [guest.register(f"r{n}") for n in range(1, 5)] == [1, 2, 3, 4]


def test_narrow_and_unbound_accesses_go_to_the_slow_path():
    guest = Guest(f"ldr r0, ={IO}\nldrb r1, [r0, #5]\nldrh r2, [r0, #6]\nldr r3, [r0, #8]\nstrb r1, [r0, #1]\n")
    seen = []
    guest.core.bind(IO + 4, lambda: 0, lambda value: None)
    guest.core.on_read = lambda address, width: seen.append((address - IO, width)) or 0x1_00AB
    guest.core.on_write = lambda address, value, width: seen.append((address - IO, value, width))
    guest.core.run()
    assert seen == [(5, 1), (6, 2), (8, 4), (1, 0xAB, 1)]
    assert [guest.register(f"r{n}") for n in range(1, 4)] == [0xAB, 0x00AB, 0x1_00AB]


def test_a_closed_gate_bypasses_bound_callables():
    guest = Guest(f"ldr r0, ={IO}\nldr r1, [r0]\n")
    guest.core.bind(IO, lambda: 1, None)
    guest.core.on_read = lambda address, width: 2
    guest.core.gate(IO, 0x400, open=False)
    guest.core.run()
    assert guest.register("r1") == 2
    guest.core.gate(IO, 0x400, open=True)
    guest.core.reset(FLASH)
    guest.core.run()
    assert guest.register("r1") == 1


def test_stall_lengthens_the_access_and_all_after_it():
    guest = Guest(f"ldr r0, ={IO}\nldr r1, [r0]\nldr r2, [r0, #4]\n")
    seen = []
    guest.core.bind(IO, lambda: guest.clock.stall(10) or 0, None)
    guest.core.bind(IO + 4, lambda: seen.append(guest.clock.now) or 0, None)
    stop = guest.core.run()
    # MOV 1, address made by it 1, load 2; the second load pairs: 1
    assert seen == [14]
    assert stop.cycle == 15 + END


def test_events_due_run_before_the_access():
    guest = Guest(f"ldr r0, ={IO}\nmovs r3, #0\n1: ldr r1, [r0]\nadds r3, #1\ncmp r1, #0\nbeq 1b\n")
    state = {"done": 0}
    guest.clock.at(100, lambda: state.update(done=1, at=guest.clock.now))
    guest.core.bind(IO, lambda: state["done"], None)
    guest.core.run()
    assert 100 <= state["at"] < 107  # a round of the loop takes 7 cycles
    assert guest.register("r3") == (state["at"] - 2) // 7 + 1


def test_trace_records_cycle_pc_address_value_width_write():
    guest = Guest(f"ldr r0, ={IO}\nldr r1, [r0]\nstrh r1, [r0, #2]\n")
    guest.core.on_read = lambda address, width: 0x55AA_1234
    guest.core.on_write = lambda address, value, width: None
    guest.core.trace(True)
    guest.core.run()
    data = guest.core.take_trace()
    assert list(struct.iter_unpack("<QIIIBB2x", data)) == [
        (1, guest.start + 4, IO, 0x55AA_1234, 4, 0),
        (4, guest.start + 6, IO + 2, 0x1234, 2, 1),
    ]
    assert guest.core.take_trace() == b""


def test_an_exception_of_a_callback_ends_the_run_and_comes_out():
    guest = Guest(f"ldr r0, ={IO}\nldr r1, [r0]\nldr r2, [r0]\nb 1f\n1: movs r4, #1\n")
    calls = []

    def broken():
        calls.append(1)
        raise ZeroDivisionError("on purpose")

    guest.core.bind(IO, broken, None)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        guest.core.run()
    assert len(calls) == 1
    assert guest.register("r4") == 0
    assert guest.core.run().reason == "idle"
    assert guest.register("r4") == 1


def test_run_inside_a_callback_is_refused():
    guest = Guest(f"ldr r0, ={IO}\nldr r1, [r0]\n")
    guest.core.bind(IO, lambda: guest.core.run() and 0, None)
    with pytest.raises(RuntimeError, match="running already"):
        guest.core.run()


def test_stop_from_a_callback_returns_at_the_next_block():
    guest = Guest(f"ldr r0, ={IO}\nstr r0, [r0]\nmovs r1, #1\nb 1f\n1: movs r1, #2\n")
    guest.core.bind(IO, None, lambda value: guest.core.stop())
    stop = guest.core.run()
    assert (stop.reason, guest.register("r1")) == ("host", 1)
    guest.core.run()
    assert guest.register("r1") == 2


@pytest.mark.parametrize(("condition", "expected"), [("eq", 7), ("ne", 0)])
def test_io_in_an_it_block_skips_nothing_after_it(condition, expected):
    """Unicorn's memory hooks leave the IT bits set; the engine repairs them."""
    other = "ne" if condition == "eq" else "eq"
    guest = Guest(
        f"""
        ldr r0, ={IO}
        movs r1, #0
        movs r2, #0
        cmp r1, #0
        ite {condition}
        ldr{condition} r1, [r0]
        ldr{other} r3, [r0, #4]
        b 1f
    1:  adds r2, #1
        adds r2, #1
        adds r2, #1
        """
    )
    guest.core.bind(IO, lambda: 7, None)
    guest.core.bind(IO + 4, lambda: 9, None)
    guest.core.run()
    assert guest.register("r1") == expected
    assert guest.register("r2") == 3


@pytest.mark.parametrize("event", [None, 5, 150, 151, 152, 153, 154, 155, 156])
def test_io_in_an_it_block_that_crosses_a_page(event):
    """The engine cuts blocks at pages of 1024 bytes: here after the first of three loads under one IT."""
    guest = Guest(
        f"""
        ldr r0, ={IO}
        movs r2, #0
        cmp r2, #0
        b 1f
        .org 0x3F4
    1:  nop
        nop
        nop
        nop
        ittt eq
        ldreq r1, [r0]
        ldreq r3, [r0, #4]
        ldreq r4, [r0, #8]
        b 2f
    2:  adds r2, #1
        adds r2, #1
        """,
        {16: "handler"},
        "handler: adds r5, #1\ncmp r5, #0\nite eq\nmoveq r7, r5\nmovne r6, r5\nbx lr\n",
    )
    for at in range(3):
        guest.core.bind(IO + 4 * at, lambda at=at: 7 + at, None)
    guest.core.engine.change("enabled", 16, 1, True)
    if event is not None:
        for cycle in range(event % 10 + 1, event % 10 + 200, 26):
            guest.clock.at(cycle, lambda: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    guest.core.run()
    assert [guest.register(f"r{n}") for n in (1, 3, 4, 2, 7)] == [7, 8, 9, 2, 0]


def test_an_it_block_skips_in_a_page_that_is_met_for_the_first_time():
    """What repairs IT bits after an access must not take those of code that goes on in another page."""
    guest = Guest(
        f"""
        ldr r0, ={RAM}
        movs r1, #0
        movs r3, #0
        movs r2, #0
        cmp r2, #0
        b 1f
        .org 0x3FC
    1:  ittt ne
        ldrne r1, [r0]
        movne r3, #1
        addne r2, #1
        b 2f
    2:  adds r2, #8
        """
    )
    guest.core.run()
    assert [guest.register(f"r{n}") for n in (1, 3, 2)] == [0, 0, 8]


def test_flash_reads_in_an_it_block_skip_nothing_when_followed():
    guest = Guest(
        f"ldr r0, ={FLASH}\nmovs r2, #0\ncmp r2, #0\nittt eq\nldreq r1, [r0]\nldreq r3, [r0, #4]\naddeq r2, #1\n"
        "b 1f\n1: adds r2, #1\nadds r2, #1\n",
        exact=True,
    )
    guest.core.set_flash(5, True, True, True)
    guest.core.run()
    assert guest.register("r1") == 0x2000_8000
    assert guest.register("r2") == 3


def test_bit_band_of_ram_and_of_peripherals():
    guest = Guest(
        f"""
        ldr r0, ={0x2200_0000 + 0x100 * 32 + 4 * 9}
        movs r1, #1
        str r1, [r0]
        ldr r2, [r0]
        ldr r3, [r0, #4]
        ldr r0, ={0x4200_0000 + 0x10 * 32 + 4 * 31}
        strb r1, [r0]
        ldr r4, [r0]
        str r3, [r0, #-4]
        """
    )
    store = {0x10: 0x4000_0001}
    writes = []
    guest.core.bind(IO + 0x10, lambda: store[0x10], lambda value: writes.append(value) or store.update({0x10: value}))
    guest.core.run()
    assert guest.word(RAM + 0x100) == 1 << 9
    assert (guest.register("r2"), guest.register("r3"), guest.register("r4")) == (1, 0, 1)
    assert writes == [0xC000_0001, 0x8000_0001]


def test_alias_shows_the_same_memory():
    guest = Guest("movs r0, #0\nldr r1, [r0]\n")
    guest.core.map_alias(0, FLASH, 0x1_0000)
    guest.core.run()
    assert guest.register("r1") == guest.word(FLASH)
    assert guest.core.read_memory(4, 4) == guest.core.read_memory(FLASH + 4, 4)


def test_a_store_to_flash_goes_to_the_bus_and_changes_nothing():
    guest = Guest(f"ldr r0, ={FLASH + 0x8000}\nmovs r1, #3\nstr r1, [r0]\nb 1f\n1: ldr r2, [r0]\nadds r3, r1, #1\n")
    seen = []
    guest.core.on_write = lambda address, value, width: seen.append((address, value, width))
    assert guest.core.run().reason == "idle"
    assert seen == [(FLASH + 0x8000, 3, 4)]
    assert (guest.register("r2"), guest.register("r3")) == (0, 4)


def test_code_in_ram_that_changes_is_counted_anew():
    # MOVS r1, #n; BX lr is written, called, written again, called again
    guest = Guest(
        f"""
        ldr r0, ={RAM + 0x100}
        ldr r2, =0x47702101
        str r2, [r0]
        adds r5, r0, #1
        blx r5
        mov r6, r1
        ldr r2, =0xbf002102
        ldr r3, =0x4770bf00
        str r2, [r0]
        str r3, [r0, #4]
        blx r5
        """
    )
    guest.core.run()
    assert (guest.register("r6"), guest.register("r1")) == (1, 2)
    profile = guest.core.profile()
    assert profile[RAM + 0x100][0] == 2 + 4  # both forms, once each


def test_code_that_the_host_changes_runs_as_changed():
    guest = Guest("movs r0, #1\n")
    guest.core.run()
    guest.core.write_memory(guest.start, b"\x05\x20")  # MOVS r0, #5
    guest.core.reset(FLASH)
    guest.core.run()
    assert guest.register("r0") == 5
    code = RAM + 0x200
    guest.core.write_memory(code, b"\x01\x20\x00\xbe")
    guest.core.write_register("pc", code)
    assert guest.core.run().reason == "bkpt"
    guest.ram[0x200:0x202] = b"\x09\x20"  # behind the core's back
    guest.core.write_register("pc", code)
    guest.core.run()
    assert guest.register("r0") == 9


def test_save_and_load_take_back_registers_and_cycles():
    guest = Guest(LOOP + "vmov s3, r1\n")
    guest.core.engine.cpacr = 0xF << 20
    guest.core.run(50)
    state, memory = guest.core.save(), bytes(guest.ram)
    first = guest.core.run()
    result = [guest.register(f"r{n}") for n in range(16)] + [guest.register("s3")]
    guest.core.load(state)
    guest.ram[:] = memory
    assert guest.register("r1") != 5050
    assert guest.core.run() == first
    assert [guest.register(f"r{n}") for n in range(16)] + [guest.register("s3")] == result
    other = Guest(LOOP)
    with pytest.raises(ValueError, match="another core"):
        other.core.load(state)


def test_profile_counts_instructions_times_and_cycles():
    guest = Guest(LOOP)
    stop = guest.core.run()
    profile = guest.core.profile()
    assert sum(cycles for _, _, cycles in profile.values()) == stop.cycle
    assert profile[guest.start + 4][:2] == (99 * 3, 99)
    assert profile[guest.start][:2] == (5, 1)
    assert guest.core.instructions == 303
    guest.core.clear_profile()
    assert guest.core.instructions == 0


def test_two_guests_count_the_same():
    def run():
        guest = Guest(f"ldr r4, ={FLASH}\nmovs r5, #200\n1: ldr r0, [r4], #4\nsubs r5, #1\nbne 1b\n")
        guest.core.set_flash(5, True, True, True)
        return guest.core.run().cycle

    assert run() == run()


def test_flash_lines_cost_wait_states():
    def cycles(wait_states, icache):
        guest = Guest("nop\n" * 64)
        guest.core.set_flash(wait_states, False, icache, False)
        return guest.core.run().cycle

    assert cycles(0, True) == 64 + END
    # 128 bytes of code from 0x100 and the branch behind it: 9 lines of 16 bytes
    assert cycles(5, True) == 64 + END + 9 * 5


def test_registers_by_name():
    guest = Guest("nop")
    guest.core.write_register("r7", 0xDEAD_BEEF)
    guest.core.write_register("s31", 0x3F80_0000)
    assert guest.register("r7") == 0xDEAD_BEEF
    assert guest.register("s31") == 0x3F80_0000
    assert guest.register("sp") == guest.register("msp") == 0x2000_8000
    assert guest.register("pc") == guest.start
    with pytest.raises(UsageError, match=r"no register 'primsk'; did you mean 'primask'"):
        guest.core.read_register("primsk")


def test_bad_use_is_one_sentence():
    with pytest.raises(UsageError, match=r"no core 'cortex-m5'; did you mean 'cortex-m[34]'\?"):
        CortexM("cortex-m5")
    guest = Guest("nop")
    with pytest.raises(FirmwareError, match=r"0x30000000\.\.0x30000003 is not in the chip's memory"):
        guest.core.read_memory(0x3000_0000, 4)
    with pytest.raises(UsageError, match="interrupt 240: this core has 0 to 239"):
        guest.core.set_interrupt(240, True)


def test_bus_error_leaves_registers_and_later_instructions_alone():
    guest = Guest(f"ldr r0, ={IO}\nmovs r1, #1\nldr r1, [r0], #4\nmovs r2, #2\n")

    def nobody():
        raise BusError

    guest.core.bind(IO, nobody, None)
    assert guest.core.run().reason == "fault"
    assert guest.core.fault.registers["r0"] == IO
    assert guest.core.fault.registers["r1"] == 1
    assert guest.register("r2") == 0


def test_cores_are_freed():
    before = len([o for o in gc.get_objects() if isinstance(o, CortexM)])
    for _ in range(3):
        guest = Guest("nop")
        guest.core.run()
        guest.core.save()
        del guest
    gc.collect()
    assert len([o for o in gc.get_objects() if isinstance(o, CortexM)]) <= before


TABLE = FLASH + 0x4000
LOOKUPS = f"""
    ldr r4, ={TABLE}
    ldr r5, =12000
    ldr r6, =0x9E3779B9
    movs r0, #1
1:  mul r0, r0, r6
    adds r0, #77
    lsrs r1, r0, #22
    bic r1, #3
    ldr r2, [r4, r1]
    adds r3, r2
    lsrs r1, r0, #12
    uxtb r1, r1
    ldr r2, [r4, r1]
    adds r3, r2
    subs r5, #1
    bne 1b
"""


def table_cycles(exact):
    guest = Guest(LOOKUPS, exact=exact)
    guest.core.set_flash(5, True, True, True)
    return guest, guest.core.run().cycle


def test_fast_clock_learns_data_stalls_of_the_flash():
    exact, expected = table_cycles(True)
    fast, cycles = table_cycles(False)
    assert fast.core.engine.samples >= 1
    assert exact.core.engine.samples == 0
    assert fast.register("r3") == exact.register("r3")
    no_stalls = 12000 * 16
    assert expected > no_stalls + 12000 * 5  # the first look-up nearly always misses 8 lines of 64
    assert abs(cycles - expected) < 0.03 * expected
    assert table_cycles(False)[1] == cycles


def test_samples_go_on_after_time_went_back():
    guest = Guest(LOOKUPS, exact=False)
    guest.core.set_flash(5, True, True, True)
    state = guest.core.save()
    guest.core.source.set_cycles(10**12)
    guest.core.run()
    first = guest.core.engine.samples
    guest.core.load(state)
    for _ in range(40):  # 13 million cycles
        guest.core.run()
        guest.core.write_register("pc", guest.start)
    assert first >= 1
    assert guest.core.engine.samples > first


def test_restoring_a_snapshot_undoes_flash_programming():
    guest = Guest("movs r0, #1\n")
    state = guest.core.save()
    guest.core.run()
    guest.core.write_memory(guest.start, b"\x02\x20")
    guest.core.load(state)
    guest.core.run()
    assert guest.register("r0") == 2
    guest.flash[guest.start - FLASH] = 1  # as Machine.restore puts memory back
    guest.core.load(state)
    guest.core.run()
    assert guest.register("r0") == 1


def test_a_signal_ends_a_run_that_never_ends_by_itself():
    guest = Guest("1: adds r0, #1\nb 1b\n")

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            guest.core.run()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert guest.core.run(guest.core.cycles + 1000).reason == "cycle"
