"""STM32F2 and F41x against the numbers of the vendor's headers: what is there, where, and what is not there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cryplab.chip import Chip
from cryplab.chips import CHIPS

HEADER = Path(__file__).with_name("stm32f2_f41_header.csv")
COLUMNS = {
    "stm32f207ig": "f207", "stm32f215rg": "f215", "stm32f217ig": "f217", "stm32f407ig": "f417", "stm32f415rg": "f415",
    "stm32f417ig": "f417", "stm32f405rg": "f415",
}  # fmt: skip
OURS = [pytest.param(CHIPS[name], column, id=name) for name, column in COLUMNS.items()]
NO_BASE = {"SYSTEM", "OPTIONS", "DEVICEID", "FSMC_BANK1"}
NO_CRYPTO = {"stm32f405rg", "stm32f407ig"}
"Chips whose own header we take from the relative with crypto."
DISAGREE = {
    ("CRYP", "CR", "ALGOMODE"): "the header of F415 and F417 lists bit 19, which the manual has not",
    ("CRYP", "CR", "GCM_CCMPH"): "the header of F415 and F417 lists phases, which the manual has not",
    ("CRYP", "RISR", "INRIS"): "the header swaps the bits; the manual and the reset value 1 say bit 0",
    ("CRYP", "RISR", "OUTRIS"): "the header swaps the bits; the manual and the reset value 1 say bit 0",
    ("HASH", "CR", "ALGO"): "one bit in the manual; the header of F417 has the mask of version 2",
    ("FLASH", "OPTCR1", "nWRP"): "the header of F417 has the second bank's register, which parts of 1 MB have not",
}
INSTANCE = {"DMA": "DMA2", "TIM": "TIM2", "USART": "USART1"}


def rows(kind: str, column: str) -> dict[tuple[str, str, str], str]:
    with HEADER.open(encoding="utf-8") as lines:
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        return {(r["block"], r["register"], r["field"]): r[column] for r in table if r["kind"] == kind}


@pytest.mark.parametrize(("chip", "column"), OURS)
def test_bases_both_ways(chip: Chip, column: str) -> None:
    header = {block: int(number, 0) for (block, _, _), number in rows("base", column).items() if number != "-"}
    if chip.name in NO_CRYPTO:
        del header["CRYP"], header["HASH"]
    header["ADC"] &= ~0xFFF  # three converters in one place
    ours = {p.name: p.base for p in chip.peripherals if p.name not in NO_BASE}
    assert ours == header


@pytest.mark.parametrize(("chip", "column"), OURS)
def test_interrupts(chip: Chip, column: str) -> None:
    header = {block: int(number) for (block, _, _), number in rows("irq", column).items() if number != "-"}
    renamed = {"TIM6": "TIM6_DAC", "HASH": "HASH_RNG", "RNG": "HASH_RNG"}
    compared = 0
    for at in chip.modelled:
        for line, number in at.irqs.items():
            if at.name == "EXTI":
                continue
            wanted = f"{at.name}_Stream{line[-1]}" if at.name.startswith("DMA") else renamed.get(at.name, at.name)
            if wanted not in header:
                wanted = at.name  # without HASH the RNG is alone
            assert (wanted, header[wanted]) == (wanted, number)
            compared += 1
    assert compared >= 28
    assert chip.interrupts == max(header.values()) + 1


@pytest.mark.parametrize(("chip", "column"), [p for p in OURS if p.id in ("stm32f217ig", "stm32f417ig")])
def test_every_field_is_where_the_header_has_it_and_no_other_is_there(chip: Chip, column: str) -> None:
    blocks = {at.name: at.block for at in chip.modelled}
    compared = 0
    for (block_name, register, name), place in rows("field", column).items():
        if (block_name, register, name) in DISAGREE:
            continue
        block = blocks[INSTANCE.get(block_name, block_name)]
        reg = next((p.reg for p in block.places.values() if p.name == register.replace("Sx", "S0")), None)
        found = next((f for f in reg.fields if f.name == name), None) if reg else None
        ours = f"{found.lo}:{found.hi - found.lo + 1}" if found else "-"
        assert (block_name, register, name, ours) == (block_name, register, name, place)
        compared += 1
    assert compared > 600
