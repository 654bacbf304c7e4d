"""Power control of STM32F427 to F439."""

from __future__ import annotations

from cryplab.registers import Block, Reg, r, rw, w

__all__ = ["PwrF4"]


class PwrF4(Block):
    """Voltage scale, over-drive, backup domain protection.

    Departures: every ready flag follows its enable at once; voltage scale and over-drive limit nothing;
    low-power modes, PVD and wake-up pin are remembered only.

    Source: RM0090, PWR chapter of STM32F42xxx and STM32F43xxx.
    """

    class CR(Reg, at=0x00, reset=0x0000_C000):
        """power control register"""

        UDEN = rw(19, 18, "under-drive in Stop mode", modelled=False)
        ODSWEN = rw(17, "over-drive: switch the supply")
        ODEN = rw(16, "over-drive: enable")
        VOS = rw(15, 14, "voltage scale", values={1: "scale 3", 2: "scale 2", 3: "scale 1"})
        ADCDC1 = rw(13, "ADC accuracy option")
        MRUDS = rw(11, "main regulator in under-drive, Stop mode")
        LPUDS = rw(10, "low-power regulator in under-drive, Stop mode")
        FPDS = rw(9, "flash powered down in Stop mode")
        DBP = rw(8, "1: the backup domain can be written")
        PLS = rw(7, 5, "PVD level")
        PVDE = rw(4, "voltage detector on", modelled=False)
        CSBF = w(3, "clear CSR.SBF")
        CWUF = w(2, "clear CSR.WUF")
        PDDS = rw(1, "deep sleep is Standby, not Stop", modelled=False)
        LPDS = rw(0, "low-power regulator in Stop mode")

    class CSR(Reg, at=0x04):
        """power control and status register"""

        UDRDY = rw(19, 18, "under-drive ready")
        ODSWRDY = r(17, "over-drive supply switched")
        ODRDY = r(16, "over-drive ready")
        VOSRDY = r(14, "voltage scale reached")
        BRE = rw(9, "backup regulator on")
        EWUP = rw(8, "wake-up pin enabled")
        BRR = r(3, "backup regulator ready")
        PVDO = r(2, "supply below the PVD level")
        SBF = r(1, "device was in Standby")
        WUF = r(0, "wake-up event received")

    cr: CR
    csr: CSR

    def backup_writable(self) -> bool:
        """Whether RTC, backup registers and RCC_BDCR can be written: CR.DBP."""
        return bool(self.cr.DBP)

    @CSR.being_read
    def _status(self) -> None:
        self.csr.VOSRDY = 1

    @CR.written
    @CSR.written
    def _follow(self) -> None:
        """Ready flags follow their enables."""
        self.csr.ODRDY = self.cr.ODEN
        self.csr.ODSWRDY = self.cr.ODEN & self.cr.ODSWEN
        self.csr.BRR = self.csr.BRE
        if self.cr.CSBF:
            self.csr.SBF = 0
        if self.cr.CWUF:
            self.csr.WUF = 0
