"""Private peripherals through their registers; the core does not run."""

import random

import pytest

from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.private import Private

PENDING_SYSTICK = 1 << 26
ICSR, VTOR, AIRCR, SHCSR, CPACR = 0x04, 0x08, 0x0C, 0x24, 0x88
CSR, RVR, CVR = 0x0, 0x4, 0x8


class Bench:
    def __init__(self, model="cortex-m4", interrupts=91):
        self.core = CortexM(model, interrupts=interrupts)
        self.private = Private(self.core)
        self.clock = self.private.clock
        self.block = {block.name: block for _, _, block in self.private.slots()}
        self.core.reset(0)

    def pending(self):
        return bool(self.block["SCB"].read(ICSR) & PENDING_SYSTICK)


@pytest.fixture
def bench():
    return Bench()


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


class TestSysTick:
    def test_counts_down_and_reloads(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 9)
        systick.write(CVR, 0xFFFF)
        systick.write(CSR, 5)
        values = []
        for _ in range(22):
            bench.clock.advance(1)
            values.append(systick.read(CVR))
        assert values == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] * 2 + [9, 8]

    def test_countflag_is_cleared_by_reading_and_by_writing_the_value(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 9)
        systick.write(CSR, 5)
        bench.clock.advance(9)
        assert systick.read(CSR) == 5
        bench.clock.advance(1)
        assert systick.read(CSR) == 0x1_0005
        assert systick.read(CSR) == 5
        bench.clock.advance(10)
        systick.write(CVR, 0)
        assert systick.read(CSR) == 5

    def test_exception_at_each_zero(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 99)
        systick.write(CVR, 0)
        systick.write(CSR, 7)
        for _ in range(3):
            bench.clock.advance(99)
            assert not bench.pending()
            bench.clock.advance(1)
            assert bench.pending()
            bench.block["SCB"].write(ICSR, 1 << 25)  # PENDSTCLR
            assert not bench.pending()

    def test_writing_the_value_makes_no_exception_and_restarts_the_period(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 99)
        systick.write(CSR, 7)
        bench.clock.advance(60)
        systick.write(CVR, 0)
        bench.clock.advance(99)
        assert not bench.pending()
        bench.clock.advance(1)
        assert bench.pending()

    def test_reload_of_zero_stops_it(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(CSR, 7)
        bench.clock.advance(1000)
        assert systick.read(CVR) == 0
        assert not bench.pending()

    def test_an_eighth_of_the_clock(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 9)
        systick.write(CSR, 1)
        bench.clock.advance(8 * 4)
        assert systick.read(CVR) == 6
        bench.clock.advance(7)
        assert systick.read(CVR) == 6
        bench.clock.advance(1)
        assert systick.read(CVR) == 5

    @pytest.mark.parametrize("seed", range(5))
    def test_against_a_counter_stepped_one_by_one(self, bench, seed):
        source = random.Random(seed)
        systick = bench.block["SYSTICK"]
        reload = count = flag = pended = 0
        on = False
        for _ in range(400):
            action = source.randrange(8)
            if action == 0:
                reload = source.randrange(30)
                systick.write(RVR, reload)
            elif action == 1:
                systick.write(CVR, 1)
                count = flag = 0
            elif action == 2:
                on = not on
                systick.write(CSR, 6 | on)
            elif action == 3:
                assert systick.read(CSR) == flag << 16 | 6 * bool(systick.csr.value) | on
                flag = 0
            for _ in range(source.randrange(25)):
                bench.clock.advance(1)
                if on:
                    if count == 0:
                        count = reload
                    else:
                        count -= 1
                        if count == 0:
                            flag, pended = 1, pended + 1
            assert systick.read(CVR) == count
            assert bench.pending() == bool(pended)
            bench.block["SCB"].write(ICSR, 1 << 25)
            pended = 0

    def test_snapshot(self, bench):
        systick = bench.block["SYSTICK"]
        systick.write(RVR, 99)
        systick.write(CSR, 7)
        bench.clock.advance(50)
        states = systick.save(), bench.core.save(), bench.clock.save()
        bench.clock.advance(500)
        for part, state in zip((systick, bench.core, bench.clock), states, strict=True):
            part.load(state)
        assert systick.read(CVR) == 50
        bench.clock.advance(49)
        assert not bench.pending()
        bench.clock.advance(1)
        assert bench.pending()


class TestNvic:
    def test_enable_pending_and_clear(self, bench):
        nvic = bench.block["NVIC"]
        nvic.write(0x08, 0xFFFF_FFFF)  # ISER2: interrupts 64 to 90 exist
        assert nvic.read(0x08) == nvic.read(0x88) == 0x07FF_FFFF
        nvic.write(0x88, 0xF)
        assert nvic.read(0x08) == 0x07FF_FFF0
        nvic.write(0x100, 1 << 5)
        assert nvic.read(0x100) == nvic.read(0x180) == 1 << 5
        nvic.write(0x180, 1 << 5)
        assert nvic.read(0x100) == 0

    def test_an_input_that_is_high_stays_pending(self, bench):
        nvic = bench.block["NVIC"]
        bench.core.set_interrupt(7, True)
        nvic.write(0x180, 1 << 7)
        assert nvic.read(0x100) == 1 << 7
        bench.core.set_interrupt(7, False)
        assert nvic.read(0x100) == 1 << 7  # latched
        nvic.write(0x180, 1 << 7)
        assert nvic.read(0x100) == 0

    def test_priorities_by_byte_keep_their_neighbours_and_have_four_bits(self, bench):
        nvic = bench.block["NVIC"]
        nvic.write(0x300 + 81, 0xA7, 1)
        nvic.write(0x300 + 82, 0xFF, 1)
        assert nvic.read(0x300 + 80) == 0x00F0_A000
        assert nvic.read(0x300 + 81, 1) == 0xA0
        assert bench.core.engine.priority(16 + 81) == 0xA0

    def test_software_trigger(self, bench):
        bench.block["STIR"].write(0, 33)
        assert bench.block["NVIC"].read(0x104) == 2


class TestScb:
    def test_icsr_names_the_pending_exception_of_highest_priority(self, bench):
        scb, nvic = bench.block["SCB"], bench.block["NVIC"]
        for number, priority in ((3, 0x80), (40, 0x20)):
            nvic.write(number // 32 * 4, 1 << number % 32)
            nvic.write(0x300 + number, priority, 1)
            nvic.write(0x100 + number // 32 * 4, 1 << number % 32)
        word = scb.read(ICSR)
        assert word >> 12 & 0x1FF == 16 + 40
        assert word & 1 << 22
        assert word & 0x1FF == 0

    def test_aircr_needs_its_key(self, bench):
        scb = bench.block["SCB"]
        scb.write(AIRCR, 0x1234_0300)
        assert scb.read(AIRCR) == 0xFA05_0000
        scb.write(AIRCR, 0x05FA_0300)
        assert scb.read(AIRCR) == 0xFA05_0300
        assert bench.core.engine.group_mask == 0xF0

    def test_vtor_and_system_priorities(self, bench):
        scb = bench.block["SCB"]
        scb.write(VTOR, 0x0800_4000)
        assert scb.read(VTOR) == bench.core.engine.vtor == 0x0800_4000
        scb.write(0x23, 0xFF, 1)  # SysTick
        assert bench.core.engine.priority(15) == 0xF0
        assert scb.read(0x20) == 0xF000_0000

    def test_shcsr_enables_faults(self, bench):
        scb = bench.block["SCB"]
        scb.write(SHCSR, 5 << 16)
        assert scb.read(SHCSR) == 5 << 16
        assert bench.core.engine.bits("enabled", 0) & 0x70 == 0x50

    def test_cpacr_is_0_without_fpu(self):
        for model, expected in (("cortex-m4", 0x00F0_0000), ("cortex-m3", 0)):
            scb = Bench(model).block["SCB"]
            scb.write(CPACR, 0x00F0_0000)
            assert scb.read(CPACR) == expected


class TestDebug:
    def test_cycle_counter_needs_both_enables(self, bench):
        dwt, debug = bench.block["DWT"], bench.block["COREDEBUG"]
        dwt.write(0, 0x4000_0001)
        bench.clock.advance(10)
        assert dwt.read(4) == 0
        debug.write(0xC, 1 << 24)
        bench.clock.advance(10)
        assert dwt.read(4) == 10
        dwt.write(4, 0xFFFF_FFFE)
        bench.clock.advance(5)
        assert dwt.read(4) == 3
        debug.write(0xC, 0)
        bench.clock.advance(5)
        assert dwt.read(4) == 3

    def test_stimulus_port_0_is_text(self, bench):
        sent = []
        bench.private.itm_output = sent.append
        itm = bench.block["ITM"]
        assert itm.read(0) & 1
        itm.write(0, ord("A"), 1)
        itm.write(0, 0x4443, 2)
        itm.write(0, 0x4847_4645)
        itm.write(4, 0x49, 1)
        itm.write(0xE80, 0)
        itm.write(0, 0x4A, 1)
        assert b"".join(sent) == b"ACDEFGH"


def test_mpu_remembers_each_region(bench):
    mpu = bench.block["MPU"]
    mpu.write(0x8, 2)
    mpu.write(0xC, 0x2000_0000)
    mpu.write(0x10, 0x0306_0021)
    mpu.write(0xC, 0x0800_0000 | 1 << 4 | 5)  # VALID, region 5
    mpu.write(0x10, 0x0602_0027)
    assert mpu.read(0x8) == 5
    assert (mpu.read(0xC), mpu.read(0x10)) == (0x0800_0005, 0x0602_0027)
    mpu.write(0x8, 2)
    assert (mpu.read(0xC), mpu.read(0x10)) == (0x2000_0002, 0x0306_0021)
