"""Register table of the real-time clock, version 2 (STM32F4, L1)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, RegArray, r, rc_w0, rw, w

__all__ = ["RtcV2Registers"]


class RtcV2Registers(Block):
    """Registers of the calendar, alarms, wake-up timer and backup words; `RtcV2` gives them their meaning.

    Source: RM0090, RTC chapter.
    """

    class TR(Reg, at=0x00):
        """time register, BCD"""

        PM = rw(22, "afternoon, in 12-hour format")
        HT = rw(21, 20, "hour tens")
        HU = rw(19, 16, "hour units")
        MNT = rw(14, 12, "minute tens")
        MNU = rw(11, 8, "minute units")
        ST = rw(6, 4, "second tens")
        SU = rw(3, 0, "second units")

    class DR(Reg, at=0x04, reset=0x0000_2101):
        """date register, BCD"""

        YT = rw(23, 20, "year tens")
        YU = rw(19, 16, "year units")
        WDU = rw(15, 13, "weekday, 1 is Monday, 7 Sunday")
        MT = rw(12, "month tens")
        MU = rw(11, 8, "month units")
        DT = rw(5, 4, "day tens")
        DU = rw(3, 0, "day units")

    class CR(Reg, at=0x08):
        """control register"""

        COE = rw(23, "calibration output on", modelled=False)
        OSEL = rw(22, 21, "alarm output", modelled=False)
        POL = rw(20, "output polarity")
        COSEL = rw(19, "calibration output 1 Hz, not 512 Hz")
        BKP = rw(18, "a bit to remember daylight saving")
        SUB1H = w(17, "one hour back")
        ADD1H = w(16, "one hour on")
        TSIE = rw(15, "interrupt on TSF")
        WUTIE = rw(14, "interrupt on WUTF")
        ALRBIE = rw(13, "interrupt on ALRBF")
        ALRAIE = rw(12, "interrupt on ALRAF")
        TSE = rw(11, "time stamp on", modelled=False)
        WUTE = rw(10, "wake-up timer on")
        ALRBE = rw(9, "alarm B on")
        ALRAE = rw(8, "alarm A on")
        DCE = rw(7, "coarse calibration on", modelled=False)
        FMT = rw(6, "12-hour format")
        BYPSHAD = rw(5, "read the calendar directly, not the shadow registers")
        REFCKON = rw(4, "reference clock detection on", modelled=False)
        TSEDGE = rw(3, "time stamp edge")
        WUCKSEL = rw(2, 0, "wake-up clock: 0 to 3 RTC clock / 16, 8, 4, 2; 4, 5 seconds; 6, 7 seconds, 2^16 more")

    class ISR(Reg, at=0x0C, reset=0x0000_0007):
        """initialization and status register"""

        RECALPF = r(16, "recalibration pending")
        TAMP2F = rc_w0(14, "tamper 2 detected")
        TAMP1F = rc_w0(13, "tamper 1 detected")
        TSOVF = rc_w0(12, "time stamp overflow")
        TSF = rc_w0(11, "time stamp taken")
        WUTF = rc_w0(10, "wake-up timer reached 0")
        ALRBF = rc_w0(9, "alarm B matched")
        ALRAF = rc_w0(8, "alarm A matched")
        INIT = rw(7, "enter initialization mode")
        INITF = r(6, "in initialization mode: TR, DR and PRER can be written")
        RSF = rc_w0(5, "shadow registers hold the present time")
        INITS = r(4, "calendar was set: the year is not 0")
        SHPF = r(3, "shift pending")
        WUTWF = r(2, "WUTR can be written")
        ALRBWF = r(1, "alarm B can be written")
        ALRAWF = r(0, "alarm A can be written")

    class PRER(Reg, at=0x10, reset=0x007F_00FF):
        """prescaler register"""

        PREDIV_A = rw(22, 16, "asynchronous divider minus 1")
        PREDIV_S = rw(14, 0, "synchronous divider minus 1")

    class WUTR(Reg, at=0x14, reset=0x0000_FFFF):
        """wake-up timer register"""

        WUT = rw(15, 0, "reload value: WUT + 1 wake-up clocks")

    class CALIBR(Reg, at=0x18):
        """coarse calibration register"""

        DCS = rw(7, "negative")
        DC = rw(4, 0, "calibration", modelled=False)

    class ALRMR(Reg, at=0x1C, array=2, names=("ALRMAR", "ALRMBR")):
        """alarm registers, BCD"""

        MSK4 = rw(31, "day does not matter")
        WDSEL = rw(30, "DU is the weekday")
        DT = rw(29, 28, "day tens")
        DU = rw(27, 24, "day units or weekday")
        MSK3 = rw(23, "hour does not matter")
        PM = rw(22, "afternoon")
        HT = rw(21, 20, "hour tens")
        HU = rw(19, 16, "hour units")
        MSK2 = rw(15, "minute does not matter")
        MNT = rw(14, 12, "minute tens")
        MNU = rw(11, 8, "minute units")
        MSK1 = rw(7, "second does not matter")
        ST = rw(6, 4, "second tens")
        SU = rw(3, 0, "second units")

    class WPR(Reg, at=0x24):
        """write protection register"""

        KEY = w(7, 0, "0xCA, then 0x53, unlock; anything else locks")

    class SSR(Reg, at=0x28):
        """sub-second register"""

        SS = r(15, 0, "counts down from PREDIV_S in each second")

    class SHIFTR(Reg, at=0x2C):
        """shift control register"""

        ADD1S = w(31, "one second on", modelled=False)
        SUBFS = w(14, 0, "fraction of a second back", modelled=False)

    class TSTR(Reg, at=0x30):
        """time stamp time register"""

        PM = r(22, "afternoon, in 12-hour format")
        HT = r(21, 20, "hour tens")
        HU = r(19, 16, "hour units")
        MNT = r(14, 12, "minute tens")
        MNU = r(11, 8, "minute units")
        ST = r(6, 4, "second tens")
        SU = r(3, 0, "second units")

    class TSDR(Reg, at=0x34):
        """time stamp date register"""

        WDU = r(15, 13, "weekday")
        MT = r(12, "month tens")
        MU = r(11, 8, "month units")
        DT = r(5, 4, "day tens")
        DU = r(3, 0, "day units")

    class TSSSR(Reg, at=0x38):
        """time stamp sub-second register"""

        SS = r(15, 0, "as SSR")

    class CALR(Reg, at=0x3C):
        """fine calibration register"""

        CALP = rw(15, "one pulse more every 2^11", modelled=False)
        CALW8 = rw(14, "8-second cycle")
        CALW16 = rw(13, "16-second cycle")
        CALM = rw(8, 0, "pulses less", modelled=False)

    class TAFCR(Reg, at=0x40):
        """tamper and alternate function register"""

        ALARMOUTTYPE = rw(18, "alarm output push-pull")
        TSINSEL = rw(17, "time stamp pin")
        TAMP1INSEL = rw(16, "tamper 1 pin")
        TAMPPUDIS = rw(15, "no pull-up")
        TAMPPRCH = rw(14, 13, "precharge")
        TAMPFLT = rw(12, 11, "filter")
        TAMPFREQ = rw(10, 8, "sampling frequency")
        TAMPTS = rw(7, "time stamp at tamper")
        TAMP2TRG = rw(4, "tamper 2 edge")
        TAMP2E = rw(3, "tamper 2 on", modelled=False)
        TAMPIE = rw(2, "interrupt on tamper")
        TAMP1TRG = rw(1, "tamper 1 edge")
        TAMP1E = rw(0, "tamper 1 on", modelled=False)

    class ALRMSSR(Reg, at=0x44, array=2, names=("ALRMASSR", "ALRMBSSR")):
        """alarm sub-second registers"""

        MASKSS = rw(27, 24, "bits compared", modelled=False)
        SS = rw(14, 0, "sub-second value")

    class BKPR(Reg, at=0x50, array=20, names=tuple(f"BKP{n}R" for n in range(20))):
        """backup registers"""

        BKP = rw(31, 0, "kept while VBAT lasts")

    tr: TR
    dr: DR
    cr: CR
    isr: ISR
    prer: PRER
    wutr: WUTR
    calibr: CALIBR
    alrmr: RegArray[ALRMR]
    wpr: WPR
    ssr: SSR
    shiftr: SHIFTR
    calr: CALR
    tafcr: TAFCR
    alrmssr: RegArray[ALRMSSR]
    bkpr: RegArray[BKPR]
