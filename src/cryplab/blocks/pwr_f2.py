"""Power control of STM32F205 to F217, and of F405 to F417."""

from __future__ import annotations

from cryplab.blocks.pwr_f4 import PwrF4
from cryplab.registers import rw

__all__ = ["PwrF2", "PwrF41"]

OVERDRIVE = ("UDEN", "ODSWEN", "ODEN", "ADCDC1", "MRUDS", "LPUDS")


class PwrF41(PwrF4):
    """One bit of voltage scale, no over-drive; backup domain protection.

    Departures: those of `PwrF4`.

    Source: RM0090, PWR chapter of STM32F405xx, F407xx, F415xx and F417xx; reset values from the vendor's SVD.
    """

    class CR(PwrF4.CR, reset=0x0000_4000, without=(*OVERDRIVE, "VOS")):
        """power control register"""

        VOS = rw(14, "voltage scale", values={0: "scale 2", 1: "scale 1"})

    class CSR(PwrF4.CSR, without=("UDRDY", "ODSWRDY", "ODRDY")):
        """power control and status register"""


class PwrF2(PwrF41):
    """Backup domain protection; the F2 has neither voltage scale nor over-drive.

    Departures: those of `PwrF4`.

    Source: RM0033, PWR chapter.
    """

    class CR(PwrF41.CR, reset=0, without=("VOS",)):
        """power control register"""

    class CSR(PwrF41.CSR, without=("VOSRDY",)):
        """power control and status register"""

    def _status(self) -> None:
        """There is no voltage scale to wait for."""
