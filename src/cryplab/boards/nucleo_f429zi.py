"""ST NUCLEO-F429ZI: the NUCLEO-F439ZI with the chip that has no CRYP and no HASH."""

from cryplab.board import Board
from cryplab.chip import MHZ
from cryplab.chips.stm32f439zi import STM32F429ZI

BOARD = Board(                       # source: UM1974, mbed OS TARGET_NUCLEO_F429ZI
    name="nucleo-f429zi",
    title="ST NUCLEO-F429ZI (STM32F429ZI)",
    chip=STM32F429ZI,
    hse_hz=8 * MHZ,
    hse_bypass=True,                 # the debugger's clock output
    lse_hz=32_768,
    console="USART3",                # PD8 transmit, PD9 receive
    phy="LAN8742A",
    phy_address=0,
    phy_interface="RMII",
    note="benchmark clock 180 MHz with over-drive, or 168 MHz when USB needs its 48 MHz",
)  # fmt: skip
