"""FSMC and what answers behind it: register by register, and by the firmware of an evaluation board."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.firmware_builds import FOLDER, needs_gcc
from tests.firmware_builds import build as build_alone

from cryplab import board, show
from cryplab.blocks.external_bank import ExternalBank
from cryplab.blocks.fsmc_v1 import FmcV1, FsmcV1
from cryplab.bus import Bus
from cryplab.clock import Clock
from cryplab.errors import BoardError, BusError, Unreachable
from cryplab.machine import Machine
from cryplab.reports import Reports

MIB = 1 << 20
SELECT = 64 * MIB
M3 = ("-mcpu=cortex-m3", "-mfloat-abi=soft")


def bank(sram_at: int = 0, sram_bytes: int = 0) -> ExternalBank:
    one = ExternalBank("FSMC_BANK1")
    one.base = 0x6000_0000
    one.controller = FsmcV1("FSMC")
    one.sram_at, one.sram_bytes = sram_at, sram_bytes
    return one


def errors(one: ExternalBank) -> list[str]:
    return [error.text for error in one.reports.guest_errors.values()]


def test_reset_leaves_chip_select_1_enabled() -> None:
    """The values that the vendor's driver restores."""
    fsmc = FsmcV1("FSMC")
    assert [fsmc.read(8 * n) for n in range(4)] == [0x30DB, 0x30D2, 0x30D2, 0x30D2]
    assert [fsmc.read(4 + 8 * n) for n in range(4)] == [fsmc.read(0x104 + 8 * n) for n in range(4)] == [0x0FFF_FFFF] * 4
    assert [fsmc.read(at) for at in (0x60, 0x64, 0x68, 0x6C, 0x80, 0xA0, 0xB0)] == [
        0x18, 0x40, 0xFCFC_FCFC, 0xFCFC_FCFC, 0x18, 0x18, 0xFCFC_FCFC,
    ]  # fmt: skip
    assert [FmcV1("FMC").read(at) for at in (0x140, 0x144, 0x148, 0x158)] == [0x2D0, 0x2D0, 0x0FFF_FFFF, 0]


def test_nothing_is_wired_and_it_is_said_once_a_chip_select() -> None:
    one = bank()
    one.write(0, 0x1234, 2)
    assert (one.read(0, 2), one.read(SELECT - 4)) == (0, 0)
    one.controller.write(0x10, 0x1011)  # type: ignore[union-attr]
    assert one.read(2 * SELECT + 2, 2) == 0
    assert errors(one) == []
    assert [(use.what, use.text, use.count) for use in one.reports.unmodelled.values()] == [
        (f"FSMC_BANK1 chip select {n}, {at}:", "nothing is wired there on this board; reads give 0, writes are lost", k)
        for n, at, k in ((1, "0x60000000", 3), (3, "0x68000000", 1))
    ]


@pytest.mark.parametrize("select", [1, 2, 3, 4])
def test_sram_of_a_board(select: int) -> None:
    one = bank((select - 1) * SELECT, 2 * MIB)
    one.controller.write(8 * (select - 1), 0x1011)  # type: ignore[union-attr]
    start, last = (select - 1) * SELECT, (select - 1) * SELECT + 2 * MIB - 1
    assert one.read(last - 3) == 0
    one.write(start + 1, 0x8765_4321)
    one.write(last, 0x5A, 1)
    assert [one.read(start), one.read(start + 4, 1), one.read(start + 3, 2), one.read(last, 1)] == [
        0x6543_2100, 0x87, 0x8765, 0x5A,
    ]  # fmt: skip
    assert one.reports.unmodelled == {}
    assert one.read(last + 1) == 0
    assert len(one.reports.unmodelled) == 1
    state = one.save()
    one.write(last, 0, 1)
    one.system_reset()
    assert one.read(last, 1) == 0
    one.load(state)
    assert one.read(last, 1) == 0x5A
    one.reset()
    assert one.read(last, 1) == 0


def test_what_faults_and_why() -> None:
    one = bank(SELECT, MIB)
    with pytest.raises(BusError):
        one.read(SELECT)
    one.controller.write(8, 1)  # type: ignore[union-attr]
    assert one.read(SELECT) == 0
    with pytest.raises(BusError):
        one.write(SELECT + 4, 1)
    one.clocked = lambda: False
    with pytest.raises(BusError):
        one.read(0)
    assert errors(one) == [
        "0x64000000 read while FSMC.BCR2.MBKEN=0; the bus answers with a fault",
        "0x64000004 written while FSMC.BCR2.WREN=0; the bus answers with a fault",
        "0x60000000 read while FSMC's clock is off; the bus answers with a fault",
    ]


def test_a_bus_master_reaches_it_too() -> None:
    bus, one = Bus(Clock(), Reports()), bank(0, MIB)
    bus.attach(one.base, one.size, one)
    bus.master_write(0x6000_0010, 0xABCD, 2, "DMA2")
    assert bus.master_read(0x6000_0010, 4, "DMA2") == 0xABCD
    with pytest.raises(Unreachable):
        bus.master_read(0x6400_0000, 4, "DMA2")
    with pytest.raises(Unreachable):
        bus.master_write(0x6400_0000, 0, 4, "DMA2")


def test_regs_of_a_space_without_registers() -> None:
    page = show.registers(board.find("nucleo-f439zi").chip, "FMC_BANK1")
    assert page.to_json() == {"block": "FMC_BANK1", "version": "ExternalBank", "registers": []}
    with pytest.raises(BoardError) as error:
        show.registers(board.find("nucleo-f439zi").chip, "FMC_BANK1.CR")
    assert str(error.value) == "FMC_BANK1 has no register 'CR'. It has none"


@needs_gcc
@pytest.mark.parametrize(
    ("name", "flags", "printed"),
    [
        ("stm3221g-eval", M3, "no display\nSRAM\n"),
        ("stm32f437i-eval", (), "no display\nSRAM\n"),
        ("nucleo-f439zi", (), "no display\nno SRAM\n"),
        ("stm3221g-eval", ("-DDISABLED", *M3), "no display\nfault\n"),
        ("nucleo-f439zi", ("-DASLEEP",), "fault\n"),
    ],
)
def test_firmware_of_an_evaluation_board(name: str, flags: tuple[str, ...], printed: str) -> None:
    machine = Machine(name)
    machine.load(build_alone("external", str(FOLDER / "start.c"), *flags))
    machine.run(seconds=1)
    assert machine.console.text == printed
    texts = [error.text for error in machine.reports.guest_errors.values()]
    assert bool([text for text in texts if text.endswith("the bus answers with a fault")]) is ("fault" in printed)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("sram_base = 0x2000_0000\nsram_kib = 64", "SRAM of 64 KiB at 0x20000000: expected it within one of the four "),
        ("sram_base = 0x63FF_FC00\nsram_kib = 2", "SRAM of 2 KiB at 0x63fffc00: expected it within one of the four "),
        ("sram_base = 0x6000_0000\nsram_kib = -1", "SRAM of -1 KiB at 0x60000000: expected it within one of the four "),
    ],
)
def test_sram_of_a_board_file(lines: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'chip = "F417IG"\n{lines}\n')
    with pytest.raises(BoardError) as error:
        board.find(path)
    assert str(error.value) == f"{path}: mine: {sentence}64 MiB at 0x60000000..0x6fffffff"
    path.write_text('chip = "F417IG"\nsram_base = 0x6C00_0000\nsram_kib = 65536\n')
    wired = Machine(board.find(path)).blocks["FSMC_BANK1"]
    assert isinstance(wired, ExternalBank)
    assert (wired.sram_at, wired.sram_bytes) == (3 * SELECT, SELECT)
