"""What is wired between the system blocks of STM32F4, inside the chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from cryplab.blocks.eth_v1 import EthV1
from cryplab.blocks.external_bank import ExternalBank
from cryplab.blocks.exti_v1 import ExtiV1
from cryplab.blocks.fsmc_v1 import FsmcV1
from cryplab.blocks.gpio_v2 import GpioV2
from cryplab.blocks.pwr_f4 import PwrF4
from cryplab.blocks.rcc_f4 import RccF4
from cryplab.blocks.rtc_v2 import RtcV2
from cryplab.blocks.syscfg_f4 import SyscfgF4
from cryplab.registers import Block

__all__ = ["connect"]

PORTS = "ABCDEFGHIJK"
EXTI_RTC_ALARM, EXTI_ETHERNET, EXTI_TAMPER_STAMP, EXTI_RTC_WAKEUP = 17, 19, 21, 22


def connect(blocks: Mapping[str, Block]) -> None:
    """Wire PWR's backup protection, RTC's and Ethernet's lines to EXTI, pins to EXTI as SYSCFG chooses, FSMC's banks.

    What is absent is left.
    """
    pwr, rcc, rtc = blocks.get("PWR"), blocks.get("RCC"), blocks.get("RTC")
    exti, syscfg = blocks.get("EXTI"), blocks.get("SYSCFG")
    if isinstance(pwr, PwrF4):
        for guarded in (rcc, rtc):
            if isinstance(guarded, RccF4 | RtcV2):
                guarded.backup_writable = pwr.backup_writable
    if isinstance(exti, ExtiV1) and isinstance(rtc, RtcV2):
        rtc.alarm.connect(_line(exti, EXTI_RTC_ALARM))
        rtc.tamper_stamp.connect(_line(exti, EXTI_TAMPER_STAMP))
        rtc.wakeup.connect(_line(exti, EXTI_RTC_WAKEUP))
    ethernet = blocks.get("ETH")
    if isinstance(exti, ExtiV1) and isinstance(ethernet, EthV1):
        ethernet.wakeup.connect(_line(exti, EXTI_ETHERNET))
    if isinstance(ethernet, EthV1) and isinstance(rcc, RccF4) and isinstance(syscfg, SyscfgF4):
        ethernet.why_no_clock = _ethernet_clocks(ethernet, rcc, syscfg)
    for name in ("FSMC", "FMC"):
        controller, bank = blocks.get(name), blocks.get(f"{name}_BANK1")
        if isinstance(controller, FsmcV1) and isinstance(bank, ExternalBank) and isinstance(rcc, RccF4):
            bank.controller, bank.clocked = controller, partial(rcc.gate_open, f"RCC.AHB3ENR.{name}EN")
    if isinstance(exti, ExtiV1) and isinstance(syscfg, SyscfgF4):
        for number, letter in enumerate(PORTS):
            port = blocks.get(f"GPIO{letter}")
            if isinstance(port, GpioV2):
                port.on_input = _pins(exti, syscfg, number)


def _line(exti: ExtiV1, line: int) -> Callable[[bool], None]:
    return lambda level: exti.set_line(line, level)


def _ethernet_clocks(ethernet: EthV1, rcc: RccF4, syscfg: SyscfgF4) -> Callable[[], str]:
    """The MAC's two line clocks come from the PHY, as SYSCFG_PMC chooses, and RCC gates them."""

    def why_not() -> str:
        for gate in ("ETHMACTXEN", "ETHMACRXEN"):
            if not rcc.gate_open(f"RCC.AHB1ENR.{gate}"):
                return f"RCC.AHB1ENR.{gate}=0"
        chosen = "RMII" if syscfg.pmc.MII_RMII_SEL else "MII"
        wired = ethernet.phy.interface if ethernet.phy else ""
        if wired and wired != chosen:
            return f"SYSCFG.PMC.MII_RMII_SEL={syscfg.pmc.MII_RMII_SEL} chooses {chosen}, the board's PHY uses {wired}"
        return ""

    return why_not


def _pins(exti: ExtiV1, syscfg: SyscfgF4, port: int) -> Callable[[int, int], None]:
    """A pin reaches its EXTI line when SYSCFG_EXTICR names its port."""

    def follow(pin: int, level: int) -> None:
        if syscfg.port(pin) == port:
            exti.set_line(pin, level)

    return follow
