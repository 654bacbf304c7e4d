"""SysTick through its registers."""

import random

import pytest
from private_bench import ICSR

CSR, RVR, CVR = 0x0, 0x4, 0x8


def test_counts_down_and_reloads(bench):
    systick = bench.block["SYSTICK"]
    systick.write(RVR, 9)
    systick.write(CVR, 0xFFFF)
    systick.write(CSR, 5)
    values = []
    for _ in range(22):
        bench.clock.advance(1)
        values.append(systick.read(CVR))
    assert values == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] * 2 + [9, 8]


def test_countflag_is_cleared_by_reading_and_by_writing_the_value(bench):
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


def test_exception_at_each_zero(bench):
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


def test_writing_the_value_makes_no_exception_and_restarts_the_period(bench):
    systick = bench.block["SYSTICK"]
    systick.write(RVR, 99)
    systick.write(CSR, 7)
    bench.clock.advance(60)
    systick.write(CVR, 0)
    bench.clock.advance(99)
    assert not bench.pending()
    bench.clock.advance(1)
    assert bench.pending()


def test_reload_of_zero_stops_it(bench):
    systick = bench.block["SYSTICK"]
    systick.write(CSR, 7)
    bench.clock.advance(1000)
    assert systick.read(CVR) == 0
    assert not bench.pending()


def test_an_eighth_of_the_clock(bench):
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
def test_against_a_counter_stepped_one_by_one(bench, seed):
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


def test_snapshot(bench):
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
