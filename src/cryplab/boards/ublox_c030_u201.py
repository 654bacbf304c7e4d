"""u-blox C030-U201: cellular IoT starter kit with an STM32F437VG."""

from cryplab.board import Board
from cryplab.chip import MHZ
from cryplab.chips.stm32f437vg import STM32F437VG

BOARD = Board(                       # source: mbed OS, TARGET_UBLOX_C030 (system_clock.c, PinNames.h)
    name="ublox-c030-u201",
    title="u-blox C030-U201 (STM32F437VG)",
    chip=STM32F437VG,
    hse_hz=12 * MHZ,
    lse_hz=32_768,
    console="USART1",                # PA9 transmit, PA10 receive
    note="benchmark clock 168 MHz: HSE 12 MHz, M 12, N 336, P 2; AHB 168, APB1 42, APB2 84 MHz, 5 wait states",
)  # fmt: skip
