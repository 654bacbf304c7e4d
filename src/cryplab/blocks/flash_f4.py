"""Flash memory interface of STM32F427 to F439."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cryplab.clock import Event
from cryplab.registers import Block, Reg, r, rc_w1, rs, rw, w

__all__ = ["FlashF4"]


class FlashF4(Block):
    """Wait states, accelerator, unlock, erase and programming of the main flash."""

    class ACR(Reg, at=0x00):
        """access control register"""

        DCRST = rw(12, "data cache reset; only while DCEN is 0")
        ICRST = rw(11, "instruction cache reset; only while ICEN is 0")
        DCEN = rw(10, "data cache on")
        ICEN = rw(9, "instruction cache on")
        PRFTEN = rw(8, "prefetch on")
        LATENCY = rw(3, 0, "wait states")

    class KEYR(Reg, at=0x04):
        """flash key register"""

        KEY = w(31, 0, "0x45670123, then 0xCDEF89AB, unlock CR")

    class OPTKEYR(Reg, at=0x08):
        """flash option key register"""

        OPTKEY = w(31, 0, "0x08192A3B, then 0x4C5D6E7F, unlock OPTCR")

    class SR(Reg, at=0x0C):
        """flash status register"""

        BSY = r(16, "an operation is in progress")
        RDERR = rc_w1(8, "read protection (PCROP) error")
        PGSERR = rc_w1(7, "programming sequence error")
        PGPERR = rc_w1(6, "programming parallelism error: width is not PSIZE")
        PGAERR = rc_w1(5, "programming alignment error")
        WRPERR = rc_w1(4, "write protection error")
        OPERR = rc_w1(1, "operation error; only with CR.ERRIE")
        EOP = rc_w1(0, "operation ended; only with CR.EOPIE")

    class CR(Reg, at=0x10, reset=0x8000_0000):
        """flash control register"""

        LOCK = rs(31, "locked; cleared by the key sequence")
        ERRIE = rw(25, "interrupt on errors")
        EOPIE = rw(24, "interrupt at the end of an operation")
        STRT = rs(16, "start erasing; cleared with BSY")
        MER1 = rw(15, "mass erase of bank 2")
        PSIZE = rw(9, 8, "parallelism", values={0: "x8", 1: "x16", 2: "x32", 3: "x64"})
        SNB = rw(7, 3, "sector number; 16 and on are sectors 12 and on")
        MER = rw(2, "mass erase of bank 1")
        SER = rw(1, "sector erase")
        PG = rw(0, "programming")

    class OPTCR(Reg, at=0x14, reset=0x0FFF_AAED):
        """flash option control register"""

        SPRMOD = rw(31, "protection mode of nWRP bits", modelled=False)
        DB1M = rw(30, "dual bank on 1 MB parts", modelled=False)
        nWRP = rw(27, 16, "0: sector is write protected")
        RDP = rw(15, 8, "read protection level, 0xAA: none")
        nRST_STDBY = rw(7, "no reset when entering Standby")
        nRST_STOP = rw(6, "no reset when entering Stop")
        WDG_SW = rw(5, "independent watchdog started by software")
        BFB2 = rw(4, "boot from bank 2", modelled=False)
        BOR_LEV = rw(3, 2, "brown-out level")
        OPTSTRT = rs(1, "program the options; cleared with BSY")
        OPTLOCK = rs(0, "locked; cleared by the key sequence")

    class OPTCR1(Reg, at=0x18, reset=0x0FFF_0000):
        """flash option control register 1"""

        nWRP = rw(27, 16, "0: sector of bank 2 is write protected")

    acr: ACR
    keyr: KEYR
    optkeyr: OPTKEYR
    sr: SR
    cr: CR
    optcr: OPTCR
    optcr1: OPTCR1

    lines = ("irq",)
