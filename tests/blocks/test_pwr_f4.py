"""Power control as start-up code polls it."""

from __future__ import annotations

import pytest

from cryplab.blocks.pwr_f4 import PwrF4

CR, CSR = 0x00, 0x04
DBP, ODEN, ODSWEN, VOSRDY, ODRDY, ODSWRDY = 1 << 8, 1 << 16, 1 << 17, 1 << 14, 1 << 16, 1 << 17
BRE, BRR = 1 << 9, 1 << 3


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_voltage_scale_is_reached(scale: int) -> None:
    pwr = PwrF4("PWR")
    assert pwr.read(CR) == 0xC000
    pwr.write(CR, scale << 14)
    assert pwr.read(CR) == scale << 14
    assert pwr.read(CSR) & VOSRDY


def test_over_drive_flags_follow_their_enables_both_ways() -> None:
    pwr = PwrF4("PWR")
    assert pwr.read(CSR) & (ODRDY | ODSWRDY) == 0
    pwr.write(CR, 0xC000 | ODEN)
    assert pwr.read(CSR) & (ODRDY | ODSWRDY) == ODRDY
    pwr.write(CR, 0xC000 | ODEN | ODSWEN)
    assert pwr.read(CSR) & (ODRDY | ODSWRDY) == ODRDY | ODSWRDY
    pwr.write(CR, 0xC000)
    assert pwr.read(CSR) & (ODRDY | ODSWRDY) == 0


def test_backup_domain_protection_and_regulator() -> None:
    pwr = PwrF4("PWR")
    assert not pwr.backup_writable()
    pwr.write(CR, DBP)
    assert pwr.read(CR) & DBP
    assert pwr.backup_writable()
    pwr.write(CSR, BRE)
    assert pwr.read(CSR) & BRR


def test_low_power_modes_are_reported_as_not_modelled() -> None:
    pwr = PwrF4("PWR")
    pwr.write(CR, 1 << 1)
    assert ("PWR", "PWR.CR.PDDS") in pwr.reports.unmodelled
