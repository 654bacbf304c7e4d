"""Address decoding, clock gates, resets, bridges, forced bits, other masters."""

import pytest

from cryplab.bus import Bus, Remembered
from cryplab.clock import Clock
from cryplab.errors import BoardError, Unreachable
from cryplab.registers import Block, Reg, rw
from cryplab.reports import Reports


class Toy(Block):
    """Two plain registers."""

    class CR(Reg, at=0x00):
        """control"""

        ON = rw(0, "on")
        LEVEL = rw(7, 4, "level")

    class DATA(Reg, at=0x04):
        """data"""

        DATA = rw(31, 0, "data")

    cr: CR
    data: DATA


@pytest.fixture
def bus() -> Bus:
    bus = Bus(Clock(), Reports())
    toy = Toy("TOY", clock=bus.clock, reports=bus.reports)
    bus.attach(0x5006_0000, 0x400, toy, bus="AHB2", clock_bit="RCC.AHB2ENR.TOYEN")
    bus.attach(0x4000_0000, 0x400, Toy("SLOW", clock=bus.clock, reports=bus.reports), bus="APB1")
    bus.attach(0x4001_2000, 0x400, Remembered("ADC1", clock=bus.clock, reports=bus.reports))
    return bus


def errors(bus: Bus) -> list[str]:
    return [e.text for e in bus.reports.guest_errors.values()]


def test_accesses_reach_the_block_and_unmapped_is_counted(bus: Bus) -> None:
    bus.write(0x5006_0004, 0x1234, 4)
    assert bus.read(0x5006_0004, 4) == 0x1234
    assert bus.read(0x5006_0400, 4) == 0
    bus.write(0x4FFF_FFFC, 1, 4)
    assert set(bus.reports.unmapped_accesses) == {(0x5006_0400, False), (0x4FFF_FFFC, True)}


def test_a_gated_block_reads_as_0_and_says_which_bit(bus: Bus) -> None:
    bus.write(0x5006_0004, 5, 4)
    bus.slot_of("TOY").open = False
    bus.write(0x5006_0004, 9, 4)
    assert bus.read(0x5006_0004, 4) == 0
    assert errors(bus) == [
        "TOY.DATA written while its clock is off (RCC.AHB2ENR.TOYEN=0); ignored",
        "TOY.DATA read while its clock is off (RCC.AHB2ENR.TOYEN=0); reads as 0",
    ]
    bus.slot_of("TOY").open = True
    assert bus.read(0x5006_0004, 4) == 5


def test_apb_loads_wait_and_stores_are_posted(bus: Bus) -> None:
    bus.bridges["APB1"].divider = 4
    bus.read(0x4000_0004, 4)
    assert bus.clock.now == 9  # 2 * 4 + 1, phase 0
    before = bus.clock.now
    bus.write(0x4000_0004, 1, 4)
    assert bus.clock.now == before
    bus.read(0x4000_0004, 4)  # waits for the store, then for itself
    assert bus.clock.now == 12 + 10 + 2 + 9


def test_ahb_costs_nothing_more(bus: Bus) -> None:
    bus.read(0x5006_0004, 4)
    assert bus.clock.now == 0


def test_not_modelled_blocks_remember_and_are_named(bus: Bus) -> None:
    bus.write(0x4001_2008, 0xAB00, 4)
    assert bus.read(0x4001_2009, 1) == 0xAB
    assert [u.what for u in bus.reports.unmodelled.values()] == ["ADC1+0x008"]


def test_forced_bits(bus: Bus) -> None:
    bus.force("TOY.CR.LEVEL", 3)
    bus.force("ADC1.0x00.1", 1)
    assert bus.read(0x5006_0000, 4) == 0x30
    assert bus.read(0x4001_2000, 4) == 0x2


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("TOI.CR.ON", "the chip has no peripheral 'TOI'; did you mean 'TOY'?"),
        ("TOY.CRX.ON", "TOY.CRX.ON: TOY has no register 'CRX'; did you mean 'CR'?"),
        ("TOY.CR.LEVL", "TOY.CR.LEVL: TOY.CR has no field 'LEVL'; did you mean 'LEVEL'?"),
        ("ADC1.SR.EOC", "ADC1.SR.EOC: ADC1 has no register 'SR'; it is not modelled: name an offset and a bit"),
        ("TOY", "'TOY': expected BLOCK.REG.FIELD, such as RCC.CR.HSERDY or ADC.0x00.1"),
    ],
)
def test_force_says_what_there_is(bus: Bus, path: str, sentence: str) -> None:
    with pytest.raises(BoardError) as caught:
        bus.force(path, 1)
    assert str(caught.value).startswith(sentence)


def test_masters_reach_memory_but_not_core_coupled_memory(bus: Bus) -> None:
    ram, ccm, flash = bytearray(16), bytearray(16), bytes(range(16))
    bus.attach_memory(0x2000_0000, memoryview(ram))
    bus.attach_memory(0x1000_0000, memoryview(ccm), dma=False)
    bus.attach_memory(0x0800_0000, memoryview(flash))
    bus.master_write(0x2000_0004, 0x11223344, 4, "DMA2")
    assert ram[4:8] == bytes.fromhex("44332211")
    assert bus.master_read(0x0800_0002, 2, "DMA2") == 0x0302
    with pytest.raises(Unreachable, match="DMA2 cannot reach 0x10000000"):
        bus.master_read(0x1000_0000, 4, "DMA2")
    with pytest.raises(Unreachable):
        bus.master_write(0x0800_0000, 1, 4, "DMA2")
