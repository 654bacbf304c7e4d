"""The clock tree by reads and writes, as start-up code drives it."""

from __future__ import annotations

import pytest

from cryplab.blocks.rcc_f4 import RccF4

CR, PLLCFGR, CFGR, CIR, AHB1RSTR, AHB2RSTR, AHB1ENR, AHB2ENR, APB1ENR, BDCR, CSR, DCKCFGR = (
    0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x30, 0x34, 0x40, 0x70, 0x74, 0x8C,
)  # fmt: skip
HSION, HSIRDY, HSEON, HSERDY, HSEBYP, PLLON, PLLRDY = 1, 2, 1 << 16, 1 << 17, 1 << 18, 1 << 24, 1 << 25
HSE_12 = 12_000_000
HSE_CYCLES, PLL_CYCLES = 32_000, 1_600  # 2 ms and 0.1 ms at 16 MHz


def pll(m: int, n: int, p: int, q: int, hse: int = 1) -> int:
    return q << 24 | hse << 22 | (p // 2 - 1) << 16 | n << 6 | m


@pytest.fixture
def rcc() -> RccF4:
    return RccF4("RCC", hse_hz=HSE_12)


def wait(rcc: RccF4, register: int, bit: int, limit: int = 1_000_000) -> int:
    start = rcc.clock.now
    while not rcc.read(register) & bit:
        assert rcc.clock.now - start < limit, f"bit {bit:#x} never rises"
        rcc.clock.advance(10)
    return rcc.clock.now - start


def start_hse_and_pll(rcc: RccF4, setting: int) -> None:
    rcc.write(CR, rcc.read(CR) | HSEON)
    wait(rcc, CR, HSERDY)
    rcc.write(PLLCFGR, setting)
    rcc.write(CR, rcc.read(CR) | PLLON)
    wait(rcc, CR, PLLRDY)


def test_reset_state(rcc: RccF4) -> None:
    assert rcc.read(CR) == 0x83
    assert rcc.read(PLLCFGR) == 0x2400_3010
    assert rcc.read(CSR) == 0x0E00_0000
    for name in ("SYSCLK", "HCLK", "PCLK1", "PCLK2", "TIMCLK1", "TIMCLK2", "HSI"):
        assert rcc.frequency(name) == 16_000_000
    for name in ("HSE", "LSE", "LSI", "PLL", "PLL48", "RTC"):
        assert rcc.frequency(name) == 0


def test_the_published_setting_gives_168_mhz(rcc: RccF4) -> None:
    start_hse_and_pll(rcc, pll(12, 336, 2, 7))
    rcc.write(CFGR, 5 << 10 | 4 << 13 | 2)
    assert rcc.read(CFGR) >> 2 & 3 == 2
    expected = {
        "SYSCLK": 168, "HCLK": 168, "PCLK1": 42, "PCLK2": 84, "TIMCLK1": 84, "TIMCLK2": 168, "PLL48": 48, "HSE": 12,
    }  # fmt: skip
    assert {name: rcc.frequency(name) / 1e6 for name in expected} == expected
    assert (rcc.divider("APB1"), rcc.divider("APB2"), rcc.divider("AHB2")) == (4, 2, 1)


@pytest.mark.parametrize(
    ("setting", "mhz", "mhz48"),
    [
        (pll(8, 360, 2, 7, hse=0), 360, None),
        (pll(16, 336, 4, 7, hse=0), 84, 48),
        (pll(16, 192, 8, 4, hse=0), 24, 48),
        (pll(16, 192, 6, 4, hse=0), 32, 48),
    ],
)
def test_pll_arithmetic_from_hsi(rcc: RccF4, setting: int, mhz: float, mhz48: float | None) -> None:
    rcc.write(PLLCFGR, setting)
    rcc.write(CR, rcc.read(CR) | PLLON)
    wait(rcc, CR, PLLRDY)
    assert rcc.frequency("PLL") == mhz * 1e6
    if mhz48:
        assert rcc.frequency("PLL48") == mhz48 * 1e6


def test_ready_flags_take_their_time_and_fall_at_once(rcc: RccF4) -> None:
    rcc.write(CR, rcc.read(CR) | HSEON)
    assert not rcc.read(CR) & HSERDY
    assert wait(rcc, CR, HSERDY) == HSE_CYCLES
    rcc.write(CR, rcc.read(CR) | PLLON)
    assert wait(rcc, CR, PLLRDY) == PLL_CYCLES
    rcc.write(CR, rcc.read(CR) & ~(PLLON | HSEON))
    assert rcc.read(CR) & (PLLRDY | HSERDY) == 0


def test_a_clock_fed_in_is_ready_soon(rcc: RccF4) -> None:
    rcc.write(CR, rcc.read(CR) | HSEBYP)
    rcc.write(CR, rcc.read(CR) | HSEON)
    assert wait(rcc, CR, HSERDY) < 100


def test_an_oscillator_that_is_not_fitted_is_never_ready() -> None:
    rcc = RccF4("RCC", hse_hz=0, lse_hz=0)
    rcc.write(CR, rcc.read(CR) | HSEON)
    rcc.write(BDCR, 1)
    rcc.clock.advance(100_000_000)
    assert not rcc.read(CR) & HSERDY
    assert not rcc.read(BDCR) & 2


def test_a_pll_waits_for_its_source(rcc: RccF4) -> None:
    rcc.write(PLLCFGR, pll(12, 336, 2, 7))
    rcc.write(CR, rcc.read(CR) | PLLON)
    rcc.clock.advance(10 * PLL_CYCLES)
    assert not rcc.read(CR) & PLLRDY
    rcc.write(CR, rcc.read(CR) | HSEON)
    assert wait(rcc, CR, PLLRDY) == HSE_CYCLES + PLL_CYCLES


def test_the_switch_waits_until_the_source_is_ready(rcc: RccF4) -> None:
    rcc.write(CR, rcc.read(CR) | HSEON)
    rcc.write(CFGR, 1)
    assert rcc.read(CFGR) == 1
    rcc.clock.advance(HSE_CYCLES)
    assert rcc.read(CFGR) == 1 | 1 << 2
    assert rcc.frequency("HCLK") == HSE_12


def test_the_source_of_the_system_clock_cannot_be_switched_off(rcc: RccF4) -> None:
    rcc.write(CR, 0)
    assert rcc.read(CR) & (HSION | HSIRDY) == HSION | HSIRDY
    start_hse_and_pll(rcc, pll(12, 336, 2, 7))
    rcc.write(CFGR, 2)
    rcc.write(CR, 0)
    assert rcc.read(CR) & (HSEON | PLLON | HSION) == HSEON | PLLON
    assert rcc.frequency("HCLK") == 168_000_000


def test_pll_configuration_while_it_runs_is_a_guest_error(rcc: RccF4) -> None:
    rcc.write(CR, rcc.read(CR) | PLLON)
    rcc.write(PLLCFGR, 0)
    assert rcc.read(PLLCFGR) == 0x2400_3010
    [error] = rcc.reports.guest_errors.values()
    assert error.text == "RCC.PLLCFGR written while PLL is on; ignored (RCC.CR.PLLON=1)"


@pytest.mark.parametrize(
    ("hpre", "ppre", "timpre", "hclk", "pclk", "timer"),
    [
        (0, 0, 0, 16, 16, 16),
        (0, 4, 0, 16, 8, 16),
        (0, 5, 0, 16, 4, 8),
        (0, 7, 0, 16, 1, 2),
        (0, 4, 1, 16, 8, 16),
        (0, 5, 1, 16, 4, 16),
        (0, 6, 1, 16, 2, 8),
        (8, 4, 0, 8, 4, 8),
        (11, 0, 0, 1, 1, 1),
        (12, 0, 0, 0.25, 0.25, 0.25),
        (15, 0, 0, 0.03125, 0.03125, 0.03125),
    ],
)
def test_dividers(rcc: RccF4, hpre: int, ppre: int, timpre: int, hclk: float, pclk: float, timer: float) -> None:
    rcc.write(DCKCFGR, timpre << 24)
    rcc.write(CFGR, ppre << 13 | ppre << 10 | hpre << 4)
    for bus in "12":
        assert rcc.frequency(f"PCLK{bus}") == pclk * 1e6
        assert rcc.frequency(f"TIMCLK{bus}") == timer * 1e6
    assert rcc.frequency("HCLK") == hclk * 1e6


def test_gates_and_resets_are_told_once_per_change(rcc: RccF4) -> None:
    told: list[tuple[str, bool]] = []
    rcc.on_gate = rcc.on_reset_bit = lambda path, on: told.append((path, on))
    rcc.write(AHB2ENR, 0x50)
    rcc.write(AHB2ENR, 0x50)
    rcc.write(AHB2ENR, 0x10)
    rcc.write(AHB2RSTR, 0x20)
    rcc.write(AHB2RSTR, 0)
    assert told == [
        ("RCC.AHB2ENR.RNGEN", True),
        ("RCC.AHB2ENR.CRYPEN", True),
        ("RCC.AHB2ENR.RNGEN", False),
        ("RCC.AHB2RSTR.HASHRST", True),
        ("RCC.AHB2RSTR.HASHRST", False),
    ]
    assert rcc.gate_open("AHB2ENR.CRYPEN")
    assert not rcc.gate_open("RCC.AHB2ENR.RNGEN")
    told.clear()
    rcc.reset()
    assert told == [("RCC.AHB2ENR.CRYPEN", False)]


def test_frequency_changes_are_told(rcc: RccF4) -> None:
    told: list[int] = []
    rcc.on_clock = lambda: told.append(rcc.frequency("HCLK"))
    rcc.write(CFGR, 8 << 4)
    rcc.write(CFGR, 8 << 4)
    rcc.write(CFGR, 0)
    assert told == [8_000_000, 16_000_000]


def test_ready_interrupt(rcc: RccF4) -> None:
    rcc.write(CIR, 1 << 11)
    rcc.write(CR, rcc.read(CR) | HSEON)
    rcc.clock.advance(HSE_CYCLES)
    assert rcc.irq.level
    assert rcc.read(CIR) == 1 << 11 | 1 << 3
    rcc.write(CIR, 1 << 11 | 1 << 19)
    assert not rcc.irq.level
    assert rcc.read(CIR) == 1 << 11


@pytest.mark.parametrize(("select", "hz"), [(0, 0), (1, 32_768), (2, 32_000), (3, 1_000_000)])
def test_rtc_clock(rcc: RccF4, select: int, hz: int) -> None:
    rcc.write(CR, rcc.read(CR) | HSEON)
    rcc.write(CFGR, 12 << 16)
    rcc.write(CSR, 1)
    rcc.write(BDCR, 1)
    rcc.clock.advance(HSE_CYCLES)
    assert rcc.read(BDCR) & 2
    rcc.write(BDCR, 1 | select << 8)
    assert rcc.frequency("RTC") == 0
    rcc.write(BDCR, 1 | select << 8 | 1 << 15)
    assert rcc.frequency("RTC") == hz


def test_backup_domain_is_protected_and_has_its_own_reset(rcc: RccF4) -> None:
    told: list[tuple[str, bool]] = []
    rcc.on_reset_bit = lambda path, on: told.append((path, on))
    rcc.backup_writable = lambda: False
    rcc.write(BDCR, 1)
    assert rcc.read(BDCR) == 0
    [error] = rcc.reports.guest_errors.values()
    assert error.text == "RCC.BDCR written while PWR_CR.DBP=0, the backup domain is protected; ignored"
    rcc.backup_writable = lambda: True
    rcc.write(BDCR, 0x8101)
    rcc.write(BDCR, 1 << 16)
    assert rcc.read(BDCR) == 1 << 16
    rcc.write(BDCR, 0)
    assert told == [("RCC.BDCR.BDRST", True), ("RCC.BDCR.BDRST", False)]


def test_reset_flags(rcc: RccF4) -> None:
    rcc.note_reset("SFTRSTF")
    assert rcc.read(CSR) == 0x1E00_0000
    rcc.write(CSR, 1 << 24)
    assert rcc.read(CSR) == 0


def test_a_system_reset_keeps_backup_domain_and_flags(rcc: RccF4) -> None:
    rcc.write(BDCR, 0x8101)
    rcc.clock.advance(HSE_CYCLES)
    start_hse_and_pll(rcc, pll(12, 336, 2, 7))
    rcc.write(CFGR, 2)
    rcc.note_reset("SFTRSTF")
    rcc.system_reset()
    assert rcc.frequency("HCLK") == 16_000_000
    assert rcc.frequency("RTC") == 32_768
    assert rcc.read(CSR) == 0x1E00_0000
    assert rcc.read(BDCR) == 0x8103


def test_snapshot_while_a_pll_starts(rcc: RccF4) -> None:
    rcc.write(CR, rcc.read(CR) | PLLON)
    clock, state = rcc.clock.save(), rcc.save()
    rcc.clock.advance(2 * PLL_CYCLES)
    assert rcc.read(CR) & PLLRDY
    rcc.clock.load(clock)
    rcc.load(state)
    assert not rcc.read(CR) & PLLRDY
    assert rcc.frequency("PLL") == 0
    rcc.clock.advance(PLL_CYCLES)
    assert rcc.read(CR) & PLLRDY
