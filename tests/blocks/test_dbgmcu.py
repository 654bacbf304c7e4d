"""Who the chip is."""

from __future__ import annotations

from cryplab.blocks.dbgmcu import DbgmcuF4


def test_identity() -> None:
    assert DbgmcuF4("DBGMCU").read(0) == 0x2003_0419
    other = DbgmcuF4("DBGMCU", dev_id=0x413, rev_id=0x1007)
    other.reset()
    assert other.read(0) == 0x1007_0413


def test_freeze_bits_are_remembered_and_the_identity_is_not_written() -> None:
    block = DbgmcuF4("DBGMCU")
    block.write(0x04, 7)
    block.write(0x00, 0)
    assert block.read(0x04) == 7
    assert block.read(0x00) == 0x2003_0419
    assert len(block.reports.guest_errors) == 1
