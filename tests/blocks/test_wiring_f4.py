"""Pins, RTC and protection reach each other."""

from __future__ import annotations

from cryplab.blocks.exti_v1 import ExtiV1
from cryplab.blocks.gpio_v2 import GpioV2
from cryplab.blocks.pwr_f4 import PwrF4
from cryplab.blocks.rcc_f4 import RccF4
from cryplab.blocks.rtc_v2 import RtcV2
from cryplab.blocks.syscfg_f4 import SyscfgF4
from cryplab.blocks.wiring_f4 import connect
from cryplab.registers import Block


def system() -> dict[str, Block]:
    made = (PwrF4("PWR"), RccF4("RCC"), RtcV2("RTC"), ExtiV1("EXTI"), SyscfgF4("SYSCFG"), GpioV2("GPIOA"))
    blocks: dict[str, Block] = {block.name: block for block in (*made, GpioV2("GPIOC"))}
    connect(blocks)
    return blocks


def test_a_pin_reaches_exti_only_from_the_chosen_port() -> None:
    blocks = system()
    exti, port_a, port_c = blocks["EXTI"], blocks["GPIOA"], blocks["GPIOC"]
    assert isinstance(port_a, GpioV2)
    assert isinstance(port_c, GpioV2)
    blocks["SYSCFG"].write(0x14, 2 << 4)  # line 13: port C
    exti.write(0x00, 1 << 13)
    exti.write(0x08, 1 << 13)
    port_a.drive(13, 1)
    assert exti.read(0x14) == 0
    port_c.drive(13, 1)
    assert exti.read(0x14) == 1 << 13


def test_dbp_guards_rtc_and_bdcr() -> None:
    blocks = system()
    blocks["RTC"].write(0x50, 1)
    blocks["RCC"].write(0x70, 1)
    assert (blocks["RTC"].read(0x50), blocks["RCC"].read(0x70)) == (0, 0)
    blocks["PWR"].write(0x00, 1 << 8)
    blocks["RTC"].write(0x50, 1)
    blocks["RCC"].write(0x70, 1)
    assert (blocks["RTC"].read(0x50), blocks["RCC"].read(0x70)) == (1, 1)


def test_rtc_alarm_comes_through_exti_line_17() -> None:
    blocks = system()
    rtc, exti = blocks["RTC"], blocks["EXTI"]
    assert isinstance(rtc, RtcV2)
    assert isinstance(exti, ExtiV1)
    exti.write(0x00, 1 << 17)
    exti.write(0x08, 1 << 17)
    rtc.alarm.set(True)
    assert exti.rtc_alarm.level


def test_what_is_absent_is_left_alone() -> None:
    connect({})
