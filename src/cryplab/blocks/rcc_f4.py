"""Reset and clock control of STM32F427 to F439."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cryplab.blocks.rcc_f4_gates import RccF4Gates
from cryplab.clock import Event
from cryplab.registers import Reg, r, rw, w
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


class RccF4(RccF4Gates):
    """Clock tree, clock gates and resets of STM32F42x and F43x.

    The board gives `hse_hz` and `lse_hz` (0: not fitted, its ready flag never rises). The machine listens
    through `on_gate(path, open)` and `on_reset_bit(path, held)` with paths such as `RCC.AHB2ENR.CRYPEN`, and
    through `on_clock()` after any frequency has changed.

    Departures: start-up times are fixed (HSE 2 ms, PLL 0.1 ms, LSE 2 ms instead of up to 2 s); limits of
    frequency, voltage scale and over-drive are not enforced; MCO outputs, spread spectrum and the clock
    security system are not modelled; low-power enables have no effect; the LTDC's bits exist on F437 too.

    Source: RM0090, RCC chapter of STM32F42xxx and STM32F43xxx.
    """

    class CR(Reg, at=0x00, reset=0x0000_0083):
        """clock control register"""

        PLLSAIRDY = r(29, "PLLSAI locked")
        PLLSAION = rw(28, "PLLSAI on")
        PLLI2SRDY = r(27, "PLLI2S locked")
        PLLI2SON = rw(26, "PLLI2S on")
        PLLRDY = r(25, "main PLL locked")
        PLLON = rw(24, "main PLL on; cannot be cleared while it is the system clock")
        CSSON = rw(19, "clock security system on", modelled=False)
        HSEBYP = rw(18, "HSE is fed in, not a crystal; written while HSEON is 0")
        HSERDY = r(17, "HSE stable")
        HSEON = rw(16, "HSE on; cannot be cleared while it is the system clock")
        HSICAL = r(15, 8, "HSI calibration")
        HSITRIM = rw(7, 3, "HSI trimming")
        HSIRDY = r(1, "HSI stable")
        HSION = rw(0, "HSI on; cannot be cleared while it is the system clock")

    class PLLCFGR(Reg, at=0x04, reset=0x2400_3010):
        """main PLL configuration; written only while the PLL is off"""

        PLLQ = rw(27, 24, "divider for the 48 MHz clock, 2 to 15")
        PLLSRC = rw(22, "source of all PLLs", values={0: "HSI", 1: "HSE"})
        PLLP = rw(17, 16, "divider for the system clock", values={0: "2", 1: "4", 2: "6", 3: "8"})
        PLLN = rw(14, 6, "multiplier, 50 to 432")
        PLLM = rw(5, 0, "divider of the source, 2 to 63")

    class CFGR(Reg, at=0x08):
        """clock configuration register"""

        MCO2 = rw(31, 30, "clock output 2", modelled=False)
        MCO2PRE = rw(29, 27, "divider of clock output 2", modelled=False)
        MCO1PRE = rw(26, 24, "divider of clock output 1", modelled=False)
        I2SSRC = rw(23, "I2S clock", values={0: "PLLI2S", 1: "I2S_CKIN"})
        MCO1 = rw(22, 21, "clock output 1", modelled=False)
        RTCPRE = rw(20, 16, "HSE divider for the RTC, 0 and 1: no clock")
        PPRE2 = rw(15, 13, "APB2 divider", values={4: "2", 5: "4", 6: "8", 7: "16"})
        PPRE1 = rw(12, 10, "APB1 divider", values={4: "2", 5: "4", 6: "8", 7: "16"})
        HPRE = rw(7, 4, "AHB divider", values={8 + i: str(d) for i, d in enumerate(AHB_DIVIDERS[8:])})
        SWS = r(3, 2, "system clock in use", values={0: "HSI", 1: "HSE", 2: "PLL"})
        SW = rw(1, 0, "system clock wanted", values={0: "HSI", 1: "HSE", 2: "PLL"})

    class CIR(Reg, at=0x0C):
        """clock interrupt register"""

        CSSC = w(23, "clear CSSF")
        PLLSAIRDYC = w(22, "clear PLLSAIRDYF")
        PLLI2SRDYC = w(21, "clear PLLI2SRDYF")
        PLLRDYC = w(20, "clear PLLRDYF")
        HSERDYC = w(19, "clear HSERDYF")
        HSIRDYC = w(18, "clear HSIRDYF")
        LSERDYC = w(17, "clear LSERDYF")
        LSIRDYC = w(16, "clear LSIRDYF")
        PLLSAIRDYIE = rw(14, "interrupt when PLLSAI has locked")
        PLLI2SRDYIE = rw(13, "interrupt when PLLI2S has locked")
        PLLRDYIE = rw(12, "interrupt when the main PLL has locked")
        HSERDYIE = rw(11, "interrupt when HSE is stable")
        HSIRDYIE = rw(10, "interrupt when HSI is stable")
        LSERDYIE = rw(9, "interrupt when LSE is stable")
        LSIRDYIE = rw(8, "interrupt when LSI is stable")
        CSSF = r(7, "HSE has failed")
        PLLSAIRDYF = r(6, "PLLSAI has locked, with its interrupt enabled")
        PLLI2SRDYF = r(5, "PLLI2S has locked, with its interrupt enabled")
        PLLRDYF = r(4, "main PLL has locked, with its interrupt enabled")
        HSERDYF = r(3, "HSE has become stable, with its interrupt enabled")
        HSIRDYF = r(2, "HSI has become stable, with its interrupt enabled")
        LSERDYF = r(1, "LSE has become stable, with its interrupt enabled")
        LSIRDYF = r(0, "LSI has become stable, with its interrupt enabled")

    class BDCR(Reg, at=0x70):
        """backup domain control register; written only while PWR_CR.DBP is 1"""

        BDRST = rw(16, "backup domain held in reset")
        RTCEN = rw(15, "RTC clock on")
        RTCSEL = rw(9, 8, "RTC clock; changed only by a backup reset", values={0: "none", 1: "LSE", 2: "LSI", 3: "HSE"})
        LSEBYP = rw(2, "LSE is fed in, not a crystal")
        LSERDY = r(1, "LSE stable")
        LSEON = rw(0, "LSE on")

    class CSR(Reg, at=0x74, reset=0x0E00_0000):
        """control and status register"""

        LPWRRSTF = r(31, "reset came from a low-power mode")
        WWDGRSTF = r(30, "reset came from the window watchdog")
        IWDGRSTF = r(29, "reset came from the independent watchdog")
        SFTRSTF = r(28, "reset came from software")
        PORRSTF = r(27, "reset came from power-on")
        PINRSTF = r(26, "reset came from the NRST pin")
        BORRSTF = r(25, "reset came from a brown-out")
        RMVF = w(24, "clear the reset flags")
        LSIRDY = r(1, "LSI stable")
        LSION = rw(0, "LSI on")

    class SSCGR(Reg, at=0x80):
        """spread spectrum clock generation"""

        SSCGEN = rw(31, "spread spectrum on", modelled=False)
        SPREADSEL = rw(30, "centre or down spread")
        INCSTEP = rw(27, 13, "incrementation step")
        MODPER = rw(12, 0, "modulation period")

    class PLLI2SCFGR(Reg, at=0x84, reset=0x2400_3000):
        """PLLI2S configuration"""

        PLLI2SR = rw(30, 28, "divider for I2S, 2 to 7")
        PLLI2SQ = rw(27, 24, "divider for SAI, 2 to 15")
        PLLI2SN = rw(14, 6, "multiplier, 50 to 432")

    class PLLSAICFGR(Reg, at=0x88, reset=0x2400_3000):
        """PLLSAI configuration"""

        PLLSAIR = rw(30, 28, "divider for LTDC, 2 to 7")
        PLLSAIQ = rw(27, 24, "divider for SAI, 2 to 15")
        PLLSAIN = rw(14, 6, "multiplier, 50 to 432")

    class DCKCFGR(Reg, at=0x8C):
        """dedicated clocks configuration"""

        TIMPRE = rw(24, "timer clocks: 0 twice the APB clock, 1 four times, at most HCLK")
        SAI1BSRC = rw(23, 22, "SAI1-B clock")
        SAI1ASRC = rw(21, 20, "SAI1-A clock")
        PLLSAIDIVR = rw(17, 16, "divider of PLLSAI for LTDC")
        PLLSAIDIVQ = rw(12, 8, "divider of PLLSAI for SAI")
        PLLI2SDIVQ = rw(4, 0, "divider of PLLI2S for SAI")

    cr: CR
    pllcfgr: PLLCFGR
    cfgr: CFGR
    cir: CIR
    bdcr: BDCR
    csr: CSR
    sscgr: SSCGR
    plli2scfgr: PLLI2SCFGR
    pllsaicfgr: PLLSAICFGR
    dckcfgr: DCKCFGR

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
    @RccF4Gates.AHB1ENR.written
    def _gates_ahb1(self) -> None:
        self._announce("AHB1ENR", self.on_gate)

    @RccF4Gates.AHB2ENR.written
    def _gates_ahb2(self) -> None:
        self._announce("AHB2ENR", self.on_gate)

    @RccF4Gates.AHB3ENR.written
    def _gates_ahb3(self) -> None:
        self._announce("AHB3ENR", self.on_gate)

    @RccF4Gates.APB1ENR.written
    def _gates_apb1(self) -> None:
        self._announce("APB1ENR", self.on_gate)

    @RccF4Gates.APB2ENR.written
    def _gates_apb2(self) -> None:
        self._announce("APB2ENR", self.on_gate)

    @RccF4Gates.AHB1RSTR.written
    def _resets_ahb1(self) -> None:
        self._announce("AHB1RSTR", self.on_reset_bit)

    @RccF4Gates.AHB2RSTR.written
    def _resets_ahb2(self) -> None:
        self._announce("AHB2RSTR", self.on_reset_bit)

    @RccF4Gates.AHB3RSTR.written
    def _resets_ahb3(self) -> None:
        self._announce("AHB3RSTR", self.on_reset_bit)

    @RccF4Gates.APB1RSTR.written
    def _resets_apb1(self) -> None:
        self._announce("APB1RSTR", self.on_reset_bit)

    @RccF4Gates.APB2RSTR.written
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

    @CR.being_written
    def _keep_what_runs(self, value: int) -> int:
        """The source of the system clock stays on, whatever is written."""
        used = SOURCES[self.cfgr.SWS]
        feed = ("HSI", "HSE")[self.pllcfgr.PLLSRC]
        for source in {used, feed if used == "PLL" else used}:
            value |= getattr(self.CR, READY[source][1]).bits
        return value

    @CR.written
    def _switch_oscillators(self) -> None:
        for source in ("HSI", "HSE", "PLL", "PLLI2S", "PLLSAI"):
            self._switch(source)
        self._recalculate()

    @BDCR.being_written
    def _guard_backup(self, value: int) -> int | None:
        if self.backup_writable():
            return value
        self.guest_error(f"{self.name}.BDCR written while PWR_CR.DBP=0, the backup domain is protected; ignored")
        return None

    @BDCR.written
    def _switch_lse(self) -> None:
        if self.bdcr.BDRST:
            self.bdcr.value = self.BDCR.BDRST.bits
        self._announce("BDCR", self._backup_reset_bit)
        self._switch("LSE")
        self._recalculate()

    def _backup_reset_bit(self, path: str, held: bool) -> None:
        if path.endswith(".BDRST"):
            self.on_reset_bit(path, held)

    @CSR.written
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

    @CIR.written
    def _clear_flags(self) -> None:
        for f in self.CIR.fields:
            if f.name.endswith("F") and getattr(self.cir, f.name[:-1] + "C"):
                setattr(self.cir, f.name, 0)
        self._update_irq()

    def _update_irq(self) -> None:
        enables = {f.name.removesuffix("IE"): f for f in self.CIR.fields if f.name.endswith("IE")}
        self.irq.set(any(e.of(self.cir.value) and getattr(self.cir, f"{name}F") for name, e in enables.items()))

    # -- the tree ------------------------------------------------------------------------------
    @PLLCFGR.being_written
    def _main_pll_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLL", "PLLCFGR", value)

    @PLLI2SCFGR.being_written
    def _plli2s_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLLI2S", "PLLI2SCFGR", value)

    @PLLSAICFGR.being_written
    def _pllsai_must_be_off(self, value: int) -> int | None:
        return self._pll_must_be_off("PLLSAI", "PLLSAICFGR", value)

    def _pll_must_be_off(self, pll: str, register: str, value: int) -> int | None:
        if getattr(self.cr, f"{pll}ON"):
            self.guest_error(f"{self.name}.{register} written while {pll} is on; ignored ({self.name}.CR.{pll}ON=1)")
            return None
        return value

    @PLLCFGR.written
    @CFGR.written
    @DCKCFGR.written
    @PLLI2SCFGR.written
    @PLLSAICFGR.written
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
