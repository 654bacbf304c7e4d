"""ST NUCLEO-F439ZI: 144-pin Nucleo with an STM32F439ZI and Ethernet."""

from cryplab.board import Board
from cryplab.chip import MHZ
from cryplab.chips.stm32f439zi import STM32F439ZI

BOARD = Board(                       # source: UM1974, mbed OS TARGET_NUCLEO_F439ZI
    name="nucleo-f439zi",
    title="ST NUCLEO-F439ZI (STM32F439ZI)",
    chip=STM32F439ZI,
    hse_hz=8 * MHZ,
    hse_bypass=True,                 # the debugger's clock output
    lse_hz=32_768,
    console="USART3",                # PD8 transmit, PD9 receive
    phy="LAN8742A",
    phy_address=0,
    phy_interface="RMII",
    note="benchmark clock 180 MHz with over-drive, or 168 MHz when USB needs its 48 MHz",
)  # fmt: skip
