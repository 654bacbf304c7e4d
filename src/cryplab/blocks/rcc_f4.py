"""Reset and clock control of STM32F427 to F439."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cryplab.blocks.rcc_f4_registers import RccF4Registers
from cryplab.clock import Event
from cryplab.wires import Line

__all__ = ["RccF4"]

HSI_HZ = 16_000_000
LSI_HZ = 32_000
SOURCES = ("HSI", "HSE", "PLL")
AHB_DIVIDERS = (1,) * 8 + (2, 4, 8, 16, 64, 128, 256, 512)
APB_DIVIDERS = (1,) * 4 + (2, 4, 8, 16)
START_SECONDS = {
    "HSI": 2.2e-6, "HSE": 2e-3, "BYPASS": 1e-6, "LSE": 2e-3, "LSI": 40e-6,
    "PLL": 100e-6, "PLLI2S": 100e-6, "PLLSAI": 100e-6,
}  # fmt: skip
READY = {  # oscillator: (register with its switch, switch, ready flag, flag in CIR)
    "HSI": ("cr", "HSION", "HSIRDY", "HSIRDYF"),
    "HSE": ("cr", "HSEON", "HSERDY", "HSERDYF"),
    "PLL": ("cr", "PLLON", "PLLRDY", "PLLRDYF"),
    "PLLI2S": ("cr", "PLLI2SON", "PLLI2SRDY", "PLLI2SRDYF"),
    "PLLSAI": ("cr", "PLLSAION", "PLLSAIRDY", "PLLSAIRDYF"),
    "LSE": ("bdcr", "LSEON", "LSERDY", "LSERDYF"),
    "LSI": ("csr", "LSION", "LSIRDY", "LSIRDYF"),
}


def _none(*_: Any) -> None:
    """Nobody listens."""


def _always() -> bool:
    return True


class RccF4(RccF4Registers):
    """Clock tree, clock gates and resets of STM32F42x and F43x.

    The board gives `hse_hz` and `lse_hz` (0: not fitted, its ready flag never rises). The machine listens
    through `on_gate(path, open)` and `on_reset_bit(path, held)` with paths such as `RCC.AHB2ENR.CRYPEN`, and
    through `on_clock()` after any frequency has changed.

    Departures: start-up times are fixed (HSE 2 ms, PLL 0.1 ms, LSE 2 ms instead of up to 2 s); limits of
    frequency, voltage scale and over-drive are not enforced; MCO outputs, spread spectrum and the clock
    security system are not modelled; low-power enables have no effect; the LTDC's bits exist on F437 too.

    Source: RM0090, RCC chapter of STM32F42xxx and STM32F43xxx.
    """

    irq: Line

    lines = ("irq",)
    saved = ("_starting", "_last", "_hz")

    def __init__(self, *args: Any, hse_hz: int = 8_000_000, lse_hz: int = 32_768, **kwargs: Any) -> None:
        self.hse_hz, self.lse_hz = hse_hz, lse_hz
        self.on_gate: Callable[[str, bool], None] = _none
        self.on_reset_bit: Callable[[str, bool], None] = _none
        self.on_clock: Callable[[], None] = _none
        self.backup_writable: Callable[[], bool] = _always
        self._starting: dict[str, Event] = {}
        self._last: dict[int, int] = {}
        self._hz: dict[str, int] = {}
        super().__init__(*args, **kwargs)
        self.frequency = self.hz

    # -- what the machine asks -----------------------------------------------------------------
    def hz(self, name: str) -> int:
        """Hertz of a clock by name, 0 while it does not run.

        Names: SYSCLK, HCLK, PCLK1, PCLK2, TIMCLK1, TIMCLK2, PLL48, RTC, HSI, HSE, LSE, LSI, PLL, PLLI2S, PLLSAI.
        """
        return self._hz[name]

    def divider(self, bus: str) -> int:
        """HCLK cycles per cycle of `AHB1`, `AHB2`, `AHB3` (always 1), `APB1` or `APB2`."""
        prescaler = {"APB1": self.cfgr.PPRE1, "APB2": self.cfgr.PPRE2}.get(bus, 0)
        return APB_DIVIDERS[prescaler]

    def gate_open(self, path: str) -> bool:
        """Whether a clock gate such as `AHB2ENR.CRYPEN` (or with `RCC.` in front) is open."""
        return self._bit(path)

    def held(self, path: str) -> bool:
        """Whether a reset bit such as `AHB2RSTR.CRYPRST` holds its block in reset."""
        return self._bit(path)

    def _bit(self, path: str) -> bool:
        reg, field = path.removeprefix("RCC.").split(".")
        return bool(getattr(getattr(self, reg.lower()), field))

    def note_reset(self, flag: str) -> None:
        """Set a reset flag of CSR: `SFTRSTF`, `PINRSTF`, `IWDGRSTF`, `WWDGRSTF`, `LPWRRSTF`."""
        setattr(self.csr, flag, 1)

    def system_reset(self) -> None:
        """All but the backup domain and the reset flags go back to their reset state."""
        backup, flags = self.bdcr.value, self.csr.value
        ready_later = self._starting.pop("LSE", None)
        self.reset()
        self.bdcr.value, self.csr.value = backup, flags & ~(self.CSR.LSION.bits | self.CSR.LSIRDY.bits)
        if ready_later is not None:
            self._starting["LSE"] = ready_later
        self._recalculate()

    def on_reset(self) -> None:
        """HSI is the system clock, everything else stands still."""
        for event in self._starting.values():
            self.clock.cancel(event)
        self._starting = {}
        if not self._last:
            self._last = {offset: state.value for offset, state in self._stored.items()}
        for name in self.registers:
            if name.endswith("RSTR"):
                self._announce(name, self.on_reset_bit)
            elif name.endswith("ENR"):
                self._announce(name, self.on_gate)
        self._last = {offset: state.value for offset, state in self._stored.items()}
        self.irq.set(False)
        self._recalculate()

    # -- oscillators and PLLs ------------------------------------------------------------------
    @RccF4Registers.AHB1ENR.written
    def _gates_ahb1(self) -> None:
        self._announce("AHB1ENR", self.on_gate)

    @RccF4Registers.AHB2ENR.written
    def _gates_ahb2(self) -> None:
        self._announce("AHB2ENR", self.on_gate)

    @RccF4Registers.AHB3ENR.written
    def _gates_ahb3(self) -> None:
        self._announce("AHB3ENR", self.on_gate)

    @RccF4Registers.APB1ENR.written
    def _gates_apb1(self) -> None:
        self._announce("APB1ENR", self.on_gate)

    @RccF4Registers.APB2ENR.written
    def _gates_apb2(self) -> None:
        self._announce("APB2ENR", self.on_gate)

    @RccF4Registers.AHB1RSTR.written
    def _resets_ahb1(self) -> None:
        self._announce("AHB1RSTR", self.on_reset_bit)

    @RccF4Registers.AHB2RSTR.written
    def _resets_ahb2(self) -> None:
        self._announce("AHB2RSTR", self.on_reset_bit)

    @RccF4Registers.AHB3RSTR.written
    def _resets_ahb3(self) -> None:
        self._announce("AHB3RSTR", self.on_reset_bit)

    @RccF4Registers.APB1RSTR.written
    def _resets_apb1(self) -> None:
        self._announce("APB1RSTR", self.on_reset_bit)

    @RccF4Registers.APB2RSTR.written
    def _resets_apb2(self) -> None:
        self._announce("APB2RSTR", self.on_reset_bit)

    def _announce(self, reg_name: str, listener: Callable[[str, bool], None]) -> None:
        """Tell the listener of every bit of a register that has changed."""
        reg = self.registers[reg_name]
        now = self._stored[reg.offset].value
        changed = now ^ self._last[reg.offset]
        self._last[reg.offset] = now
        for f in reg.fields:
            if changed & f.bits:
                listener(f"{self.name}.{reg_name}.{f.name}", bool(now & f.bits))

    @RccF4Registers.CR.being_written
    def _keep_what_runs(self, value: int) -> int:
        """The source of the system clock stays on, whatever is written."""
        used = SOURCES[self.cfgr.SWS]
        feed = ("HSI", "HSE")[self.pllcfgr.PLLSRC]
        for source in {used, feed if used == "PLL" else used}:
            value |= getattr(self.CR, READY[source][1]).bits
        return value

    @RccF4Registers.CR.written
    def _switch_oscillators(self) -> None:
        for source in ("HSI", "HSE", "PLL", "PLLI2S", "PLLSAI"):
            self._switch(source)
        self._recalculate()

    @RccF4Registers.BDCR.being_written
    def _guard_backup(self, value: int) -> int | None:
        if self.backup_writable():
            return value
        self.guest_error(f"{self.name}.BDCR written while PWR_CR.DBP=0, the backup domain is protected; ignored")
        return None

    @RccF4Registers.BDCR.written
    def _switch_lse(self) -> None:
        if self.bdcr.BDRST:
            self.bdcr.value = self.BDCR.BDRST.bits
        self._announce("BDCR", self._backup_reset_bit)
        self._switch("LSE")
        self._recalculate()

    def _backup_reset_bit(self, path: str, held: bool) -> None:
        if path.endswith(".BDRST"):
            self.on_reset_bit(path, held)

    @RccF4Registers.CSR.written
    def _switch_lsi(self) -> None:
        if self.csr.RMVF:
            self.csr.value &= self.CSR.LSION.bits | self.CSR.LSIRDY.bits
        self._switch("LSI")
        self._recalculate()

    def _switch(self, source: str) -> None:
        """Start or stop an oscillator or PLL as its switch says."""
        reg_name, switch, ready, _ = READY[source]
        reg = getattr(self, reg_name)
        if not getattr(reg, switch):
            self.clock.cancel(self._starting.pop(source, None))
            setattr(reg, ready, 0)
        elif not getattr(reg, ready) and source not in self._starting and self._feeds(source):
            seconds = START_SECONDS["BYPASS" if source == "HSE" and self.cr.HSEBYP else source]
            cycles = max(1, self.clock.cycles_for(seconds))
            self._starting[source] = self.clock.after(cycles, partial(self._ready, source))

    def _feeds(self, source: str) -> bool:
        """Whether an oscillator is fitted; a PLL needs its source to run."""
        if source.startswith("PLL"):
            feed = "HSE" if self.pllcfgr.PLLSRC else "HSI"
            return bool(getattr(self.cr, READY[feed][2]))
        return {"HSE": self.hse_hz, "LSE": self.lse_hz}.get(source, 1) > 0

    def _ready(self, source: str) -> None:
        reg_name, _, ready, flag = READY[source]
        self._starting.pop(source, None)
        setattr(getattr(self, reg_name), ready, 1)
        if getattr(self.cir, flag[:-1] + "IE"):
            setattr(self.cir, flag, 1)
        for pll in ("PLL", "PLLI2S", "PLLSAI"):
            self._switch(pll)
        self._update_irq()
        self._recalculate()

    @RccF4Registers.CIR.written
    def _clear_flags(self) -> None:
        for f in self.CIR.fields:
            if f.name.endswith("F") and getattr(self.cir, f.name[:-1] + "C"):
                setattr(self.cir, f.name, 0)
        self._update_irq()

    def _update_irq(self) -> None:
        enables = {f.name.removesuffix("IE"): f for f in self.CIR.fields if f.name.endswith("IE")}
        self.irq.set(any(e.of(self.cir.value) and getattr(self.cir, f"{name}F") for name, e in enables.items()))

    # -- the tree ------------------------------------------------------------------------------
    @RccF4Registers.PLLCFGR.being_written
    def _main_pll_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLL", "PLLCFGR", value)

    @RccF4Registers.PLLI2SCFGR.being_written
    def _plli2s_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLLI2S", "PLLI2SCFGR", value)

    @RccF4Registers.PLLSAICFGR.being_written
    def _pllsai_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLLSAI", "PLLSAICFGR", value)

    def _pll_must_be_off(self, pll: str, register: str, value: int) -> int | None:
        if getattr(self.cr, f"{pll}ON"):
            self.guest_error(f"{self.name}.{register} written while {pll} is on; ignored ({self.name}.CR.{pll}ON=1)")
            return None
        return value

    @RccF4Registers.PLLCFGR.written
    @RccF4Registers.CFGR.written
    @RccF4Registers.DCKCFGR.written
    @RccF4Registers.PLLI2SCFGR.written
    @RccF4Registers.PLLSAICFGR.written
    def _recalculate(self) -> None:
        """Follow SW when the source is ready, then work out every frequency."""
        wanted = self.cfgr.SW
        if wanted < len(SOURCES) and getattr(self.cr, READY[SOURCES[wanted]][2]):
            self.cfgr.SWS = wanted
        hz = self._frequencies()
        if hz != self._hz:
            self._hz = hz
            self.on_clock()

    def _frequencies(self) -> dict[str, int]:
        hsi = HSI_HZ if self.cr.HSIRDY else 0
        hse = self.hse_hz if self.cr.HSERDY else 0
        lse = self.lse_hz if self.bdcr.LSERDY else 0
        lsi = LSI_HZ if self.csr.LSIRDY else 0
        feed = hse if self.pllcfgr.PLLSRC else hsi
        step = feed / self.pllcfgr.PLLM if self.pllcfgr.PLLM else 0.0
        vco = step * self.pllcfgr.PLLN if self.cr.PLLRDY else 0.0
        pll = round(vco / (2 * self.pllcfgr.PLLP + 2))
        sysclk = (hsi, hse, pll)[self.cfgr.SWS]
        hclk = sysclk // AHB_DIVIDERS[self.cfgr.HPRE]
        hse_rtc = hse // self.cfgr.RTCPRE if self.cfgr.RTCPRE > 1 else 0
        rtc = (0, lse, lsi, hse_rtc)[self.bdcr.RTCSEL] if self.bdcr.RTCEN else 0
        return {
            "HSI": hsi,
            "HSE": hse,
            "LSE": lse,
            "LSI": lsi,
            "PLL": pll,
            "PLLI2S": round(step * self.plli2scfgr.PLLI2SN) if self.cr.PLLI2SRDY else 0,
            "PLLSAI": round(step * self.pllsaicfgr.PLLSAIN) if self.cr.PLLSAIRDY else 0,
            "PLL48": round(vco / self.pllcfgr.PLLQ) if self.pllcfgr.PLLQ else 0,
            "SYSCLK": sysclk,
            "HCLK": hclk,
            "PCLK1": hclk // APB_DIVIDERS[self.cfgr.PPRE1],
            "PCLK2": hclk // APB_DIVIDERS[self.cfgr.PPRE2],
            "TIMCLK1": self._timer_hz(hclk, APB_DIVIDERS[self.cfgr.PPRE1]),
            "TIMCLK2": self._timer_hz(hclk, APB_DIVIDERS[self.cfgr.PPRE2]),
            "RTC": rtc,
        }

    def _timer_hz(self, hclk: int, divider: int) -> int:
        """Timers count with HCLK, or with 2 (TIMPRE: 4) times the APB clock when that is slower."""
        factor = 4 if self.dckcfgr.TIMPRE else 2
        return hclk if divider <= factor else hclk // divider * factor
