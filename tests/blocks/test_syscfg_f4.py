"""Memory remap, EXTI ports, compensation cell."""

from __future__ import annotations

from cryplab.blocks.syscfg_f4 import SyscfgF4

MEMRMP, PMC, EXTICR1, EXTICR4, CMPCR = 0x00, 0x04, 0x08, 0x14, 0x20


def test_remap_is_told_once_per_change_and_at_reset() -> None:
    syscfg, told = SyscfgF4("SYSCFG"), []
    syscfg.on_remap = told.append
    syscfg.write(MEMRMP, 3)
    syscfg.write(MEMRMP, 3)
    syscfg.reset()
    assert told == [3, 0]


def test_port_of_each_line() -> None:
    syscfg = SyscfgF4("SYSCFG")
    syscfg.write(EXTICR1, 0x3210)
    syscfg.write(EXTICR4, 0xA000)
    assert [syscfg.port(line) for line in (0, 1, 2, 3, 4, 15)] == [0, 1, 2, 3, 0, 10]


def test_compensation_cell_gets_ready() -> None:
    syscfg = SyscfgF4("SYSCFG")
    syscfg.write(CMPCR, 1)
    assert syscfg.read(CMPCR) == 0x101
