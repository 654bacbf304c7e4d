"""The boards that come with cryplab, one file each, data only."""

from __future__ import annotations

from cryplab.board import Board
from cryplab.boards.nucleo_f429zi import BOARD as NUCLEO_F429ZI
from cryplab.boards.nucleo_f439zi import BOARD as NUCLEO_F439ZI
from cryplab.boards.stm32f437i_eval import BOARD as STM32F437I_EVAL
from cryplab.boards.stm3221g_eval import BOARD as STM3221G_EVAL
from cryplab.boards.ublox_c030_u201 import BOARD as UBLOX_C030_U201

__all__ = ["BOARDS"]

BOARDS: dict[str, Board] = {
    b.name: b for b in (UBLOX_C030_U201, NUCLEO_F439ZI, NUCLEO_F429ZI, STM32F437I_EVAL, STM3221G_EVAL)
}
