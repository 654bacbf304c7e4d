"""ST STM3221G-EVAL: evaluation board with an STM32F217IG."""

from cryplab.board import Board
from cryplab.chip import MHZ
from cryplab.chips.stm32f217ig import STM32F217IG

BOARD = Board(                       # source: UM1057; ST's template for the board (clock)
    name="stm3221g-eval",
    title="ST STM3221G-EVAL (STM32F217IG)",
    chip=STM32F217IG,
    hse_hz=25 * MHZ,
    lse_hz=32_768,
    console="USART3",                # PC10 transmit, PC11 receive
    phy="DP83848",
    phy_address=1,
    phy_interface="MII",
    sram_base=0x6400_0000,
    sram_kib=2048,
    note="benchmark clock 120 MHz: M 25, N 240, P 2, APB1 30 MHz, APB2 60 MHz, 3 wait states",
)  # fmt: skip
