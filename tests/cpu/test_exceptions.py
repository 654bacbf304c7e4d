"""Exceptions: entry, return, priorities, masks, sleep, faults (ARMv7-M Architecture Reference Manual, B1.5)."""

import random

import pytest
from snippets import FLASH, IO, RAM, STACK_TOP, Guest

NMI, HARD_FAULT, MEM_MANAGE, BUS_FAULT, USAGE_FAULT, SVCALL, PENDSV, SYSTICK = 2, 3, 4, 5, 6, 11, 14, 15
IRQ0 = 16
ICSR, PENDSVSET = 0xE000_ED04, 1 << 28
SPIN = "1: adds r7, #1\ncmp r6, #0\nbeq 1b\n"
"Runs until a handler sets r6."


def interrupt_at(guest, number, cycle, priority=0):
    guest.core.engine.change("enabled", IRQ0 + number, 1, True)
    guest.core.engine.priority(IRQ0 + number, priority)
    guest.clock.at(cycle, lambda: guest.core.set_interrupt(number, True))


def test_entry_stacks_the_frame_and_return_restores_it():
    values = {f"r{n}": 0x1111_1111 * (n + 1) for n in (0, 1, 2, 3, 12)}
    guest = Guest(
        "movs r4, #0\n2: cmp r4, #0\nbeq 2b\nmov r11, r0\n",
        {IRQ0: "handler"},
        """
        handler: mov r8, lr
        mrs r9, ipsr
        mrs r10, msp
        movs r0, #0
        mov r1, r0
        mov r2, r0
        mov r3, r0
        mov r12, r0
        ldr r6, [r10, #24]
        ldr r5, [r10, #28]
        movs r4, #1
        bx lr
        """,
    )
    for name, value in values.items():
        guest.core.write_register(name, value)
    guest.core.write_register("lr", 0x1234_5679)
    guest.core.engine.change("enabled", IRQ0, 1, True)
    guest.clock.at(50, lambda: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    assert guest.core.run().reason == "idle"
    assert guest.register("r8") == 0xFFFF_FFF9
    assert guest.register("r9") == IRQ0
    frame = guest.register("r10")
    assert frame == STACK_TOP - 32
    assert [guest.word(frame + 4 * n) for n in range(6)] == [*values.values(), 0x1234_5679]
    assert guest.register("r6") == guest.start + 2  # loop
    assert guest.register("r5") & 0x0100_01FF == 0x0100_0000
    assert guest.register("r5") & 0x4000_0000  # Z, from CMP
    assert {name: guest.register(name) for name in values} == values
    assert guest.register("lr") == 0x1234_5679
    assert guest.register("sp") == STACK_TOP
    assert guest.register("r11") == values["r0"]


def test_entry_is_at_the_first_block_start_when_due_and_takes_12_cycles():
    guest = Guest(SPIN, {IRQ0: "handler"}, f"handler: ldr r0, ={IO}\nldr r1, [r0]\nmovs r6, #1\nbx lr\n")
    seen = []
    guest.core.bind(IO, lambda: seen.append(guest.clock.now) or guest.core.set_interrupt(0, False) or 0, None)
    interrupt_at(guest, 0, 103)
    guest.core.run()
    # rounds of ADDS, CMP, BEQ 1 + 2 from cycle 0; refill counts with the block it leads to: starts at 0, 3, 8, 13 ...
    assert seen == [103 + 12 + 1]


def test_an_even_stack_pointer_is_aligned_to_8_and_comes_back():
    guest = Guest("push {r0}\n" + SPIN + "pop {r0}\n", {IRQ0: "handler"}, "handler: mov r8, sp\nmovs r6, #1\nbx lr\n")
    guest.core.engine.change("enabled", IRQ0, 1, True)
    guest.clock.at(50, lambda: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    guest.core.run()
    assert guest.register("r8") == STACK_TOP - 8 - 32
    assert guest.register("sp") == STACK_TOP


ORDER = f"""
ldr r0, ={IO}
movs r1, #1
str r1, [r0]
nop
b 1f
1: nop
"""


def raise_all(guest, *numbers):
    guest.core.bind(IO, None, lambda value: [guest.core.set_interrupt(n, True) for n in numbers] and None)


def note(number):
    """A handler that tells it began and ended, and takes its input back."""
    return f"h{number}: ldr r0, ={IO}\nmovs r1, #{number}\nstr r1, [r0, #4]\nnop\nstr r1, [r0, #8]\nbx lr\n"


def notes(guest, seen):
    def begin(value):
        guest.core.set_interrupt(value, False)
        seen.append(("begin", value, guest.clock.now))

    guest.core.bind(IO + 4, None, begin)
    guest.core.bind(IO + 8, None, lambda value: seen.append(("end", value, guest.clock.now)))


def test_pending_interrupts_run_by_priority_then_number_and_tail_chain_in_6_cycles():
    guest = Guest(ORDER, {IRQ0 + n: f"h{n}" for n in (1, 2, 3)}, note(1) + note(2) + note(3))
    for number, priority in ((1, 0x80), (2, 0x40), (3, 0x40)):
        guest.core.engine.change("enabled", IRQ0 + number, 1, True)
        guest.core.engine.priority(IRQ0 + number, priority)
    seen = []
    raise_all(guest, 1, 2, 3)
    notes(guest, seen)
    guest.core.run()
    assert [(what, n) for what, n, _ in seen] == [(w, n) for n in (2, 3, 1) for w in ("begin", "end")]
    # from the last store (1) and BX LR (1) through 6 cycles to the store of the next: MOV 1, MOVS 1
    assert seen[2][2] - seen[1][2] == 2 + 6 + 2


def test_a_higher_priority_preempts_and_a_lower_one_waits():
    outer = f"h1: ldr r0, ={IO}\nmovs r1, #1\nstr r1, [r0, #4]\nstr r1, [r0, #12]\nb 2f\n2: str r1, [r0, #8]\nbx lr\n"
    guest = Guest(ORDER, {IRQ0 + n: f"h{n}" for n in (1, 2, 3)}, outer + note(2) + note(3))
    for number, priority in ((1, 0x80), (2, 0x40), (3, 0xC0)):
        guest.core.engine.change("enabled", IRQ0 + number, 1, True)
        guest.core.engine.priority(IRQ0 + number, priority)
    seen = []
    raise_all(guest, 1)
    notes(guest, seen)
    guest.core.bind(IO + 12, None, lambda v: guest.core.set_interrupt(2, True) or guest.core.set_interrupt(3, True))
    guest.core.run()
    assert [(w, n) for w, n, _ in seen] == [
        ("begin", 1), ("begin", 2), ("end", 2), ("end", 1), ("begin", 3), ("end", 3),
    ]  # fmt: skip


def test_priority_grouping_takes_preemption_away():
    outer = f"h1: ldr r0, ={IO}\nmovs r1, #1\nstr r1, [r0, #4]\nstr r1, [r0, #12]\nb 2f\n2: str r1, [r0, #8]\nbx lr\n"
    guest = Guest(ORDER, {IRQ0 + n: f"h{n}" for n in (1, 2)}, outer + note(2))
    guest.bus.write(0xE000_ED0C, 0x05FA_0700, 4)  # PRIGROUP 7: no bit preempts
    for number, priority in ((1, 0x80), (2, 0x40)):
        guest.core.engine.change("enabled", IRQ0 + number, 1, True)
        guest.core.engine.priority(IRQ0 + number, priority)
    seen = []
    raise_all(guest, 1)
    notes(guest, seen)
    guest.core.bind(IO + 12, None, lambda value: guest.core.set_interrupt(2, True))
    guest.core.run()
    assert [(w, n) for w, n, _ in seen] == [("begin", 1), ("end", 1), ("begin", 2), ("end", 2)]


def test_an_input_still_high_pends_again_when_its_handler_returns():
    guest = Guest(SPIN, {IRQ0: "handler"}, f"handler: ldr r0, ={IO}\nldr r1, [r0]\nadds r5, #1\nmov r6, r1\nbx lr\n")
    calls = []

    def third_time_lowers():
        calls.append(1)
        if len(calls) == 3:
            guest.core.set_interrupt(0, False)
        return len(calls) == 3

    guest.core.bind(IO, third_time_lowers, None)
    interrupt_at(guest, 0, 30)
    assert guest.core.run().reason == "idle"
    assert guest.register("r5") == 3


@pytest.mark.parametrize(
    ("mask", "unmask"),
    [
        ("cpsid i", "cpsie i"),
        ("cpsid f", "cpsie f"),
        ("movs r0, #0x40\nmsr basepri, r0", "movs r0, #0\nmsr basepri, r0"),
        ("movs r0, #1\nmsr primask, r0", "movs r0, #0\nmsr primask, r0"),
    ],
)
def test_a_masked_interrupt_is_taken_on_the_instruction_after_unmasking(mask, unmask):
    guest = Guest(
        f"{mask}\nldr r1, ={IO}\nstr r1, [r1]\nmovs r2, #200\n1: subs r2, #1\nbne 1b\n"
        f"mov r3, r5\n{unmask}\nmov r4, r5\n",
        {IRQ0: "handler"},
        "handler: adds r5, #1\nbx lr\n",
    )
    guest.core.engine.change("enabled", IRQ0, 1, True)
    guest.core.engine.priority(IRQ0, 0x40)
    guest.core.bind(IO, None, lambda v: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    guest.core.run()
    assert (guest.register("r3"), guest.register("r4"), guest.register("r5")) == (0, 1, 1)


def test_basepri_lets_a_higher_priority_through():
    guest = Guest(
        f"movs r0, #0x40\nmsr basepri, r0\nldr r1, ={IO}\nstr r1, [r1]\nb 1f\n1: mov r3, r5\n",
        {IRQ0: "handler"},
        "handler: adds r5, #1\nbx lr\n",
    )
    guest.core.engine.change("enabled", IRQ0, 1, True)
    guest.core.engine.priority(IRQ0, 0x30)
    guest.core.bind(IO, None, lambda v: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    guest.core.run()
    assert guest.register("r3") == 1


def test_svc_pendsv_and_psp():
    guest = Guest(
        f"""
        ldr r0, ={RAM + 0x4000}
        msr psp, r0
        movs r0, #2
        msr control, r0
        isb
        movs r0, #11
        svc #0x5A
        mov r8, r0
        ldr r1, ={ICSR}
        ldr r2, ={PENDSVSET}
        str r2, [r1]
        dsb
        isb
        mov r9, r5
        mrs r10, control
        """,
        {SVCALL: "svc_handler", PENDSV: "pendsv_handler"},
        """
        svc_handler: mov r6, lr
        mrs r1, psp
        ldr r2, [r1, #24]
        ldrb r7, [r2, #-2]
        ldr r3, [r1]
        adds r3, #100
        str r3, [r1]
        bx lr
        pendsv_handler: push {r4, lr}
        mrs r4, control
        adds r5, r4, #1
        pop {r4, pc}
        """,
    )
    assert guest.core.run().reason == "idle"
    assert guest.register("r6") == 0xFFFF_FFFD
    assert guest.register("r7") == 0x5A
    assert guest.register("r8") == 111
    assert guest.register("r9") == 1  # CONTROL.SPSEL reads 0 in the handler
    assert guest.register("r10") == 2
    assert guest.register("psp") == RAM + 0x4000
    assert guest.register("msp") == STACK_TOP


def test_two_tasks_switched_by_pendsv_keep_their_registers():
    task = "1: adds r4, #{step}\nmov r5, r4\nmov r6, r5\nsvc #0\ncmp r4, r6\nbne failed\nb 1b\n"
    guest = Guest(
        f"""
        ldr r0, ={RAM + 0x4000}
        msr psp, r0
        movs r0, #2
        msr control, r0
        isb
        movs r4, #0
        """
        + task.format(step=1)
        + "failed: b failed\n",
        {SVCALL: "svc_handler", PENDSV: "switch", SYSTICK: "tick"},
        f"""
        second: {task.format(step=3)}
        svc_handler: bx lr
        tick: ldr r0, ={ICSR}
        ldr r1, ={PENDSVSET}
        str r1, [r0]
        bx lr
        switch: mrs r0, psp
        stmdb r0!, {{r4-r11}}
        ldr r1, ={RAM}
        ldr r2, [r1, #4]
        str r2, [r1]
        str r0, [r1, #4]
        ldr r0, [r1]
        ldmia r0!, {{r4-r11}}
        msr psp, r0
        bx lr
        """,
    )
    # the second task's first frame
    image = bytes(guest.flash[:0x400])
    second = image.find(b"\x03\x34") + FLASH  # ADDS r4, #3
    frame = [0] * 8 + [0, 0, 0, 0, 0, 0, second, 1 << 24]
    base = RAM + 0x3000 - 4 * len(frame)
    guest.core.write_memory(base, b"".join(w.to_bytes(4, "little") for w in frame))
    guest.core.write_memory(RAM + 4, base.to_bytes(4, "little"))
    guest.bus.write(0xE000_ED20, 0x00FF_0000, 4)  # PendSV lowest
    guest.bus.write(0xE000_E014, 250, 4)
    guest.bus.write(0xE000_E010, 7, 4)
    assert guest.core.run(100_000).reason == "cycle"
    saved = guest.word(RAM + 4)
    task_a, task_b = sorted((guest.register("r4"), guest.word(saved)))
    assert 500 < task_a < task_b
    assert task_b % 3 == 0 or task_a % 3 == 0


def test_unprivileged_thread_is_interrupted_and_stays_unprivileged():
    guest = Guest(
        f"""
        ldr r0, ={RAM + 0x4000}
        msr psp, r0
        movs r0, #3
        msr control, r0
        isb
        svc #1
        mrs r8, control
        movs r1, #1
        msr primask, r1
        mrs r9, primask
        mov r10, sp
        """,
        {SVCALL: "handler"},
        "handler: mrs r6, control\nmrs r7, psp\nmov r5, sp\nbx lr\n",
    )
    assert guest.core.run().reason == "idle"
    assert guest.register("r6") == 1
    assert guest.register("r7") == RAM + 0x4000 - 32
    assert guest.register("r5") == STACK_TOP
    assert guest.register("r8") == 3
    assert guest.register("r9") == 0
    assert guest.register("r10") == RAM + 0x4000


def test_floating_point_frame():
    guest = Guest(
        """
        ldr r0, =0xE000ED88
        ldr r1, =0xF00000
        str r1, [r0]
        dsb
        isb
        vmov.f32 s0, #1.0
        vmov.f32 s15, #2.0
        vmov.f32 s16, #3.0
        vcmp.f32 s0, s15
        svc #0
        vmrs APSR_nzcv, fpscr
        ite mi
        movmi r8, #1
        movpl r8, #2
        """,
        {SVCALL: "handler"},
        """
        handler: mov r6, lr
        mov r7, sp
        vmov.f32 s0, #5.0
        vmov.f32 s15, #6.0
        vcmp.f32 s15, s0
        bx lr
        """,
    )
    assert guest.core.run().reason == "idle"
    assert guest.register("r6") == 0xFFFF_FFE9
    assert guest.register("r7") == STACK_TOP - 104
    assert guest.word(STACK_TOP - 104 + 32) == 0x3F80_0000
    assert [guest.register(name) for name in ("s0", "s15", "s16")] == [0x3F80_0000, 0x4000_0000, 0x4040_0000]
    assert guest.register("r8") == 1


def test_wfi_sleeps_to_the_event_and_wakes_with_primask_set():
    guest = Guest("cpsid i\nwfi\nmov r8, r5\ncpsie i\nmov r9, r5\n", {IRQ0: "handler"}, "handler: adds r5, #1\nbx lr\n")
    guest.core.engine.change("enabled", IRQ0, 1, True)
    guest.clock.at(1_000_000, lambda: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    stop = guest.core.run()
    assert stop.reason == "idle"
    assert 1_000_000 < stop.cycle < 1_000_050
    assert (guest.register("r8"), guest.register("r9")) == (0, 1)


def test_asleep_with_nothing_to_come_is_idle():
    guest = Guest("wfi\n")
    assert guest.core.run().reason == "idle"
    assert guest.core.run(10_000).reason == "idle"


def test_wfe_takes_the_event_of_sev_and_sleeps_without():
    guest = Guest("sev\nwfe\nmovs r1, #1\nyield\nwfe\nmovs r2, #1\n", {IRQ0: "handler"}, "handler: bx lr\n")
    guest.core.engine.change("enabled", IRQ0, 1, True)
    assert guest.core.run().reason == "idle"
    assert (guest.register("r1"), guest.register("r2")) == (1, 0)
    guest.core.set_interrupt(0, True)
    guest.core.set_interrupt(0, False)
    guest.core.run()
    assert guest.register("r2") == 1


def test_sleep_on_exit_returns_to_sleep():
    guest = Guest(
        "ldr r0, =0xE000ED10\nmovs r1, #2\nstr r1, [r0]\nwfi\nmovs r2, #1\n",
        {IRQ0: "handler"},
        "handler: adds r5, #1\nbx lr\n",
    )
    guest.core.engine.change("enabled", IRQ0, 1, True)
    for cycle in (1000, 2000):
        guest.clock.at(cycle, lambda: guest.core.set_interrupt(0, True) or guest.core.set_interrupt(0, False))
    assert guest.core.run().reason == "idle"
    assert (guest.register("r5"), guest.register("r2")) == (2, 0)


# -- faults ------------------------------------------------------------------------------------------
FAULTS = [
    ("ldr r0, =0x30000000\nnop\nldr r1, [r0]\n", 4, "BusFault", 1 << 9 | 1 << 15, 0x3000_0000),
    ("ldr r0, =0x30000000\nnop\nstrb r1, [r0]\n", 4, "BusFault", 1 << 9 | 1 << 15, 0x3000_0000),
    ("nop\nudf #0\n", 2, "UsageFault", 1 << 16, None),
    ("nop\nvadd.f32 s0, s1, s2\n", 2, "UsageFault", 1 << 19, None),
    ("adds r1, #2\nnop\nldm r1, {r2, r3}\n", 4, "UsageFault", 1 << 24, None),
    ("ldr r1, =0x20000102\nb 1f\n1: adds r1, #4\nldrd r2, r3, [r1, #8]\n", None, "UsageFault", 1 << 24, None),
    ("ldr r0, =0x40000002\nnop\nldr r1, [r0]\n", None, "UsageFault", 1 << 24, None),
]


@pytest.mark.parametrize(("code", "offset", "kind", "cfsr", "address"), FAULTS)
@pytest.mark.parametrize("enabled", [False, True])
def test_faults_name_instruction_and_cause(code, offset, kind, cfsr, address, enabled):
    guest = Guest(
        code,
        {HARD_FAULT: "hard", BUS_FAULT: "own", USAGE_FAULT: "own"},
        "hard: movs r7, #3\nb done\nown: movs r7, #6\ndone: ldr r6, [sp, #24]\n3: b 3b\n",
    )
    if enabled:
        guest.bus.write(0xE000_ED24, 7 << 16, 4)
    stop = guest.core.run()
    assert stop.reason == "fault"
    fault = guest.core.fault
    assert (fault.kind, fault.cfsr | (1 << 15 if address else 0), fault.address) == (kind, cfsr, address)
    assert guest.core.run().reason == "idle"
    assert guest.register("r7") == (6 if enabled else 3)
    assert guest.register("r6") == fault.pc
    if offset is not None and "=0x3" not in code:
        assert fault.pc == guest.start + offset
    assert guest.bus.read(0xE000_ED28, 4) == cfsr
    assert guest.bus.read(0xE000_ED2C, 4) == (0 if enabled else 1 << 30)
    if address:
        assert guest.bus.read(0xE000_ED38, 4) == address


def test_a_core_without_fpu_faults_on_floating_point():
    guest = Guest("nop\nvadd.f32 s0, s1, s2\n", {HARD_FAULT: "hard"}, "hard: b hard\n", model="cortex-m3")
    guest.bus.write(0xE000_ED88, 0x00F0_0000, 4)
    assert guest.core.run().reason == "fault"
    assert (guest.core.fault.kind, guest.core.fault.cfsr) == ("UsageFault", 1 << 19)


def test_a_branch_to_an_even_address_is_invstate():
    guest = Guest(f"ldr r0, ={FLASH + 0x200}\nbx r0\n", {HARD_FAULT: "hard"}, "hard: b hard\n")
    assert guest.core.run().reason == "fault"
    assert guest.core.fault.pc == FLASH + 0x200
    assert guest.core.fault.cfsr == 1 << 17
    assert guest.core.fault.cause == "branch to an even address (not Thumb)"


def test_a_jump_to_nowhere_is_a_bus_fault_with_the_target():
    guest = Guest("ldr r0, =0x30000001\nblx r0\n", {HARD_FAULT: "hard"}, "hard: b hard\n")
    assert guest.core.run().reason == "fault"
    assert (guest.core.fault.pc, guest.core.fault.cfsr) == (0x3000_0000, 1 << 8)
    assert guest.core.fault.registers["lr"] == guest.start + 4 + 1


def test_execution_in_an_io_window_is_a_memory_fault():
    guest = Guest("ldr r0, =0x40000101\nblx r0\n", {HARD_FAULT: "hard"}, "hard: b hard\n")
    assert guest.core.run().reason == "fault"
    assert (guest.core.fault.kind, guest.core.fault.pc, guest.core.fault.cfsr) == ("MemManage", 0x4000_0100, 1)


def test_a_fault_in_the_hard_fault_handler_locks_up():
    guest = Guest("udf #0\n", {HARD_FAULT: "hard"}, "hard: udf #1\n")
    assert guest.core.run().reason == "fault"
    first = guest.core.fault
    assert guest.core.run().reason == "lockup"
    assert guest.core.fault == first
    assert first.pc == guest.start


def test_svc_with_interrupts_masked_is_a_hard_fault():
    guest = Guest("cpsid i\nsvc #0\n", {HARD_FAULT: "hard", SVCALL: "hard"}, "hard: mrs r7, ipsr\n3: b 3b\n")
    assert guest.core.run().reason == "fault"
    guest.core.run()
    assert guest.register("r7") == HARD_FAULT


def test_a_stack_that_is_no_memory_is_reported():
    guest = Guest("ldr r0, =0x30000100\nmov sp, r0\nsvc #0\n", {HARD_FAULT: "hard"}, "hard: b hard\n")
    assert guest.core.run().reason in ("fault", "lockup")


def test_returning_from_a_fault_that_skips_the_instruction_goes_on():
    guest = Guest(
        "ldr r0, =0x30000000\nmovs r1, #5\nldr r1, [r0]\nmovs r2, #7\n",
        {HARD_FAULT: "hard"},
        "hard: ldr r3, [sp, #24]\nadds r3, #2\nstr r3, [sp, #24]\nbx lr\n",
    )
    assert guest.core.run().reason == "fault"
    assert guest.core.run().reason == "idle"
    assert (guest.register("r1"), guest.register("r2")) == (5, 7)


def test_bkpt_and_reset_request_come_back_to_the_host():
    guest = Guest("movs r0, #1\nbkpt #0xAB\nldr r0, =0xE000ED0C\nldr r1, =0x05FA0004\nstr r1, [r0]\nb .\n")
    stop = guest.core.run()
    assert (stop.reason, stop.pc) == ("bkpt", guest.start + 2)
    guest.core.write_register("pc", stop.pc + 2)
    assert guest.core.run().reason == "reset"


# -- torture -----------------------------------------------------------------------------------------
TORTURE = """
    ldr r0, =0xE000ED88
    ldr r1, =0xF00000
    str r1, [r0]
    dsb
    isb
    ldr r6, =3000
    movs r4, #0
    movs r5, #1
    vmov.f32 s0, #1.0
    vmov.f32 s5, #0.5
    vmov.f32 s16, #1.5
2:  tst r6, #3
    itett eq
    addeq r4, r6
    eorne r5, r4
    lsleq r5, #1
    addeq r5, r6
    vadd.f32 s15, s0, s5
    vmul.f32 s0, s15, s5
    vadd.f32 s17, s16, s0
    vsub.f32 s16, s17, s15
    push {r4, r5, r6, lr}
    adds r4, r5
    eors r5, r6
    pop {r4, r5, r6, lr}
    subs r6, #1
    bne 2b
"""
WRECK = """
wreck: movs r0, #0
    mvns r1, r0
    mov r2, r1
    mov r3, r1
    mov r12, r1
    vmov s0, r1
    vmov s5, r0
    vmov s15, r1
    adds r0, #1
    ittet ne
    addne r1, #1
    addne r1, #1
    moveq r2, r1
    addne r1, #1
    bx lr
"""
RESULTS = ("r4", "r5", "s0", "s5", "s15", "s16", "s17", "sp")


def torture(seed):
    guest = Guest(TORTURE, {IRQ0: "wreck", IRQ0 + 1: "wreck"}, WRECK, exact=True)
    guest.core.set_flash(5, True, True, True)
    for number in (0, 1):
        guest.core.engine.change("enabled", IRQ0 + number, 1, True)
        guest.core.engine.priority(IRQ0 + number, 0x80 - 0x40 * number)
    taken = [0]
    if seed is not None:
        source = random.Random(seed)

        def fire():
            taken[0] += 1
            number = source.randrange(2)
            guest.core.set_interrupt(number, True)
            guest.core.set_interrupt(number, False)
            guest.clock.after(source.randrange(1, 150), fire)

        guest.clock.after(5, fire)
    stop = guest.core.run(200_000) if seed is not None else guest.core.run()
    return [guest.register(name) for name in RESULTS], stop.cycle, taken[0], guest.core.instructions


def test_an_interrupt_at_every_block_boundary_changes_no_result():
    plain = torture(None)
    more = WRECK.replace("bx lr", f"ldr r3, ={IO}\nstr r3, [r3]\nbx lr")
    guest = Guest(TORTURE, {IRQ0: "wreck"}, more)
    guest.core.engine.change("enabled", IRQ0, 1, True)
    taken = []

    def fire():
        taken.append(guest.core.pc)
        guest.core.set_interrupt(0, True)
        guest.core.set_interrupt(0, False)

    # the store takes 2 (its address was just made), BX LR 1, the exit 12: a cycle later the next block has begun
    guest.core.bind(IO, None, lambda value: guest.clock.after(16, fire))
    guest.clock.after(1, fire)
    assert guest.core.run(2_000_000).reason == "cycle"
    assert [guest.register(name) for name in RESULTS[:-1]] == plain[0][:-1]  # SP: the last handler may still run
    heads = [pc for pc in taken if pc == taken[5]]
    assert len(heads) > 2900  # the loop makes 3000 rounds


def test_interrupts_in_it_blocks_and_floating_point_change_no_result():
    plain = torture(None)[0]
    first = torture(1)
    assert first[2] > 1000
    assert first[0] == plain
    assert torture(1) == first
    assert torture(2)[0] == plain
