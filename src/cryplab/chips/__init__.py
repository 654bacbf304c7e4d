"""The chips, data only: one file for a chip and its relative without crypto. `find` looks one up by name."""

from __future__ import annotations

from cryplab.chip import Chip
from cryplab.chips.stm32f217ig import STM32F207IG, STM32F215RG, STM32F217IG
from cryplab.chips.stm32f417ig import STM32F405RG, STM32F407IG, STM32F415RG, STM32F417IG
from cryplab.chips.stm32f437ii import STM32F427II, STM32F437II
from cryplab.chips.stm32f437vg import STM32F427VG, STM32F437VG
from cryplab.chips.stm32f439zi import STM32F429ZI, STM32F439ZI
from cryplab.errors import BoardError, nearest

__all__ = ["CHIPS", "find", "names"]

CHIPS: dict[str, Chip] = {
    c.name: c
    for c in (
        STM32F207IG, STM32F215RG, STM32F217IG,
        STM32F405RG, STM32F407IG, STM32F415RG, STM32F417IG,
        STM32F427II, STM32F427VG, STM32F429ZI, STM32F437II, STM32F437VG, STM32F439ZI,
    )
}  # fmt: skip

FAMILY = "stm32"


def names() -> list[str]:
    """Names of the chips that cryplab knows."""
    return sorted(CHIPS)


def find(name: str) -> Chip:
    """The chip of a name: `stm32f437vg`, in any case, without `stm32`, or as ordered: `STM32F437VGT6`.

    Raises: BoardError naming the nearest.
    """
    wanted = name.strip().lower()
    if not wanted.startswith(FAMILY):
        wanted = FAMILY + wanted
    for known, chip in CHIPS.items():
        if wanted.startswith(known):
            return chip
    raise BoardError(f"there is no chip '{name}'{nearest(name, CHIPS) or '.'} Chips: {', '.join(CHIPS)}")
