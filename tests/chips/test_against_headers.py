"""Our chips against the numbers of the vendor's headers: two hands, one truth."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from cryplab.chip import Chip
from cryplab.chips import CHIPS
from cryplab.registers import Field

LATER = {name: chip for name, chip in CHIPS.items() if name[5:8] in ("f42", "f43")}
HEADER = Path(__file__).with_name("stm32f43x_header.csv")
DISAGREE = {
    ("CRYP", "CR", "ALGOMODE"): "split field: the header's mask joins bits 5:3 and 19",
    ("CRYP", "RISR", "INRIS"): "the header swaps the bits; the manual and the reset value 1 say bit 0",
    ("CRYP", "RISR", "OUTRIS"): "the header swaps the bits; the manual and the reset value 1 say bit 0",
}
INSTANCE = {"DMA": "DMA2", "TIM": "TIM2", "USART": "USART1"}
CLOCK_NAME = {"ETH": "ETHMAC"}
EXTI_LINES = {
    "PVD": "pvd", "TAMP_STAMP": "tamp_stamp", "RTC_WKUP": "rtc_wkup", "RTC_Alarm": "rtc_alarm", "ETH_WKUP": "eth_wkup",
    "OTG_FS_WKUP": "otg_fs_wkup", "OTG_HS_WKUP": "otg_hs_wkup",
}  # fmt: skip
NO_MODEL = {"SYSTEM", "OPTIONS", "OPTIONS2", "DEVICEID", "FMC_BANK1"}
"Places that the header has no base of its own for."


class Row(NamedTuple):
    kind: str
    block: str
    register: str
    field: str
    number: int
    width: int
    chips: str


def rows(kind: str) -> list[Row]:
    with HEADER.open(encoding="utf-8") as lines:
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [
            Row(**{**r, "number": int(r["number"], 0), "width": int(r["width"] or 0)})  # type: ignore[arg-type]
            for r in table
            if r["kind"] == kind
        ]


def belongs(row: Row, chip: Chip) -> bool:
    return row.chips == "both" or chip.name[5:9] in ("f439", "f429")


@pytest.mark.parametrize("chip", LATER.values(), ids=LATER)
def test_bases_both_ways(chip: Chip) -> None:
    header = {row.block: row.number for row in rows("base") if belongs(row, chip)}
    if "f43" not in chip.name:
        header.pop("CRYP")
        header.pop("HASH")
    ours = {p.name: p.base for p in chip.peripherals if p.name not in NO_MODEL}
    assert ours == header


@pytest.mark.parametrize("chip", LATER.values(), ids=LATER)
def test_interrupts(chip: Chip) -> None:
    header = {row.block: row.number for row in rows("irq")}
    compared = 0
    for at in chip.modelled:
        for line, number in at.irqs.items():
            wanted = {
                "TIM6": "TIM6_DAC", "HASH": "HASH_RNG", "RNG": "HASH_RNG",
            }.get(at.name, at.name)  # fmt: skip
            if at.name.startswith("DMA"):
                wanted = f"{at.name}_Stream{line[-1]}"
            elif at.name == "EXTI":
                named = {ours: theirs for theirs, ours in EXTI_LINES.items()}
                wanted = named.get(line, line.upper())
            assert (wanted, header[wanted]) == (wanted, number)
            compared += 1
    assert compared >= 40
    assert chip.interrupts == max(header.values()) + 1 == 91


def test_every_field_that_the_header_has_too() -> None:
    chip = CHIPS["stm32f439zi"]
    blocks = {at.name: at.block for at in chip.modelled}
    compared = 0
    for row in rows("field"):
        if (row.block, row.register, row.field) in DISAGREE:
            continue
        block = blocks[INSTANCE.get(row.block, row.block)]
        register = row.register.replace("Sx", "S0")
        reg = next(p.reg for p in block.places.values() if p.name == register)
        field = next((f for f in reg.fields if f.name == row.field), None)
        assert isinstance(field, Field), row
        assert (field.lo, field.hi - field.lo + 1) == (row.number, row.width), row
        compared += 1
    assert compared > 700


def test_clock_and_reset_bits_of_every_block_are_those_of_its_name() -> None:
    for chip in CHIPS.values():
        for at in chip.modelled:
            if at.clock:
                assert at.clock.endswith(f".{CLOCK_NAME.get(at.name, at.name)}EN"), at
                assert at.reset == at.clock.replace("ENR.", "RSTR.")[:-2] + "RST", at
