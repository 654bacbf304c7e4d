"""ST NUCLEO-F429ZI: the NUCLEO-F439ZI with the chip that has no CRYP and no HASH."""

from dataclasses import replace

from cryplab.boards.nucleo_f439zi import BOARD as NUCLEO_F439ZI
from cryplab.chips.stm32f439zi import STM32F429ZI

BOARD = replace(                     # source: UM1974, mbed OS TARGET_NUCLEO_F429ZI
    NUCLEO_F439ZI,
    name="nucleo-f429zi",
    title="ST NUCLEO-F429ZI (STM32F429ZI)",
    chip=STM32F429ZI,
)  # fmt: skip
