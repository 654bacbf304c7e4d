"""System control block and its neighbours through their registers."""

from private_bench import ICSR, Bench

VTOR, AIRCR, SHCSR, CPACR = 0x08, 0x0C, 0x24, 0x88


def test_reset_values_that_the_manuals_give(bench):
    scb = bench.block["SCB"]
    assert scb.read(0x00) == 0x410F_C241  # CPUID, Cortex-M4 r0p1
    assert Bench("cortex-m3").block["SCB"].read(0x00) == 0x412F_C230  # Cortex-M3 r2p0
    assert scb.read(AIRCR) == 0xFA05_0000
    assert scb.read(0x14) == 0x200  # CCR: STKALIGN
    assert bench.block["MPU"].read(0) == 0x800
    assert bench.block["SCNSCB"].read(4) == 2  # 91 interrupts: 3 groups of 32
    assert bench.block["FPU"].read(0) == 0xC000_0000
    assert bench.block["FPU"].read(0xC) == 0x1011_0021


def test_icsr_names_the_pending_exception_of_highest_priority(bench):
    scb, nvic = bench.block["SCB"], bench.block["NVIC"]
    for number, priority in ((3, 0x80), (40, 0x20)):
        nvic.write(number // 32 * 4, 1 << number % 32)
        nvic.write(0x300 + number, priority, 1)
        nvic.write(0x100 + number // 32 * 4, 1 << number % 32)
    word = scb.read(ICSR)
    assert word >> 12 & 0x1FF == 16 + 40
    assert word & 1 << 22
    assert word & 0x1FF == 0


def test_aircr_needs_its_key(bench):
    scb = bench.block["SCB"]
    scb.write(AIRCR, 0x1234_0300)
    assert scb.read(AIRCR) == 0xFA05_0000
    scb.write(AIRCR, 0x05FA_0300)
    assert scb.read(AIRCR) == 0xFA05_0300
    assert bench.core.engine.group_mask == 0xF0


def test_vtor_and_system_priorities(bench):
    scb = bench.block["SCB"]
    scb.write(VTOR, 0x0800_4000)
    assert scb.read(VTOR) == bench.core.engine.vtor == 0x0800_4000
    scb.write(0x23, 0xFF, 1)  # SysTick
    assert bench.core.engine.priority(15) == 0xF0
    assert scb.read(0x20) == 0xF000_0000


def test_shcsr_enables_faults(bench):
    scb = bench.block["SCB"]
    scb.write(SHCSR, 5 << 16)
    assert scb.read(SHCSR) == 5 << 16
    assert bench.core.engine.bits("enabled", 0) & 0x70 == 0x50


def test_cpacr_is_0_without_fpu():
    for model, expected in (("cortex-m4", 0x00F0_0000), ("cortex-m3", 0)):
        scb = Bench(model).block["SCB"]
        scb.write(CPACR, 0x00F0_0000)
        assert scb.read(CPACR) == expected
