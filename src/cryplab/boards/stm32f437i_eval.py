"""ST STM32437I-EVAL: evaluation board with an STM32F437II."""

from cryplab.board import Board
from cryplab.chip import MHZ
from cryplab.chips.stm32f437ii import STM32F437II

BOARD = Board(                       # source: UM1662; wolfSSL's STM32 benchmark list (clock)
    name="stm32f437i-eval",
    title="ST STM32437I-EVAL (STM32F437II)",
    chip=STM32F437II,
    hse_hz=25 * MHZ,
    lse_hz=32_768,
    console="USART1",                # PA9 transmit, PA10 receive
    phy="DP83848",
    phy_address=1,
    phy_interface="MII",
    sram_base=0x6400_0000,
    sram_kib=2048,
    note="benchmark clock 160 MHz: M 25, N 320, P 2, APB1 40 MHz, APB2 80 MHz, 5 wait states",
)  # fmt: skip
