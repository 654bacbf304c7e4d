"""Register table of the Ethernet MAC, version 1 (STM32F2, F4, F7)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, RegArray, r, rc_w1, rs, rw, w

__all__ = ["EthV1Registers"]

ADDRESS_STEP = 8


class EthV1Registers(Block):
    """Registers of MAC, management counters, time stamps and DMA; `EthV1` gives them their meaning.

    Source: RM0090, Ethernet chapter.
    """

    size = 0x1400

    # -- MAC -----------------------------------------------------------------------------------
    class MACCR(Reg, at=0x000, reset=0x0000_8000):
        """MAC configuration register"""

        CSTF = rw(25, "strip the CRC of frames with a type")
        WD = rw(23, "receive watchdog off: frames over 2048 bytes pass")
        JD = rw(22, "jabber timer off: frames over 2048 bytes are sent")
        IFG = rw(19, 17, "gap between frames: 96 bit times less 8 per step")
        CSD = rw(16, "carrier sense off, half duplex", modelled=False)
        FES = rw(14, "speed", values={0: "10 Mbit/s", 1: "100 Mbit/s"})
        ROD = rw(13, "do not receive one's own, half duplex")
        LM = rw(12, "loop frames back")
        DM = rw(11, "duplex", values={0: "half", 1: "full"})
        IPCO = rw(10, "check IPv4 and payload checksums of received frames")
        RD = rw(9, "no retry after a collision")
        APCS = rw(7, "strip pad and CRC of frames with a length")
        BL = rw(6, 5, "back-off limit")
        DC = rw(4, "deferral check")
        TE = rw(3, "transmitter enable")
        RE = rw(2, "receiver enable")

    class MACFFR(Reg, at=0x004):
        """MAC frame filter register"""

        RA = rw(31, "receive all, whatever the filter says")
        HPF = rw(10, "hash or perfect filter")
        SAF = rw(9, "drop what the source address filter refuses")
        SAIF = rw(8, "source address filter inverted")
        PCF = rw(7, 6, "control frames", values={0: "none", 1: "all but pause", 2: "all", 3: "by address"})
        BFD = rw(5, "no broadcast frames")
        PAM = rw(4, "all multicast frames")
        DAIF = rw(3, "destination address filter inverted")
        HM = rw(2, "multicast by hash")
        HU = rw(1, "unicast by hash")
        PM = rw(0, "promiscuous")

    class MACHTHR(Reg, at=0x008):
        """MAC hash table high register"""

        HTH = rw(31, 0, "hashes 32 to 63")

    class MACHTLR(Reg, at=0x00C):
        """MAC hash table low register"""

        HTL = rw(31, 0, "hashes 0 to 31")

    class MACMIIAR(Reg, at=0x010):
        """MAC MII address register"""

        PA = rw(15, 11, "PHY address")
        MR = rw(10, 6, "PHY register")
        CR = rw(4, 2, "MDC is HCLK divided by", values={0: "42", 1: "62", 2: "16", 3: "26", 4: "102"})
        MW = rw(1, "write")
        MB = rs(0, "busy; 1 starts, cleared by hardware")

    class MACMIIDR(Reg, at=0x014):
        """MAC MII data register"""

        MD = rw(15, 0, "word written or read")

    class MACFCR(Reg, at=0x018):
        """MAC flow control register"""

        PT = rw(31, 16, "pause time that is sent, in slots of 512 bits")
        ZQPD = rw(7, "no pause frame of time 0")
        PLT = rw(5, 4, "pause low threshold")
        UPFD = rw(3, "pause frames to the station's own address count too")
        RFCE = rw(2, "obey pause frames")
        TFCE = rw(1, "send pause frames, or back pressure")
        FCB_BPA = rw(0, "full duplex: 1 sends a pause frame, cleared then; half duplex: back pressure")

    class MACVLANTR(Reg, at=0x01C):
        """MAC VLAN tag register"""

        VLANTC = rw(16, "compare 12 bits")
        VLANTI = rw(15, 0, "tag looked for")

    class MACRWUFFR(Reg, at=0x028):
        """MAC remote wake-up frame filter register"""

        RWUFF = rw(31, 0, "eight words through one address", modelled=False)

    class MACPMTCSR(Reg, at=0x02C):
        """MAC power management control and status register"""

        WFFRPR = w(31, "wake-up filter pointer to 0")
        GU = rw(9, "any unicast frame wakes", modelled=False)
        WFR = r(6, "wake-up frame was received; cleared by reading")
        MPR = r(5, "magic packet was received; cleared by reading")
        WFE = rw(2, "wake-up frames count", modelled=False)
        MPE = rw(1, "magic packets count")
        PD = rs(0, "power down: frames are dropped until one wakes")

    class MACDBGR(Reg, at=0x034):
        """MAC debug register"""

        TFF = r(25, "transmit FIFO full")
        TFNE = r(24, "transmit FIFO not empty")
        TFWA = r(22, "transmit FIFO being written")
        TFRS = r(21, 20, "transmit FIFO read state")
        MTP = r(19, "transmitter in pause")
        MTFCS = r(18, 17, "transmit frame controller", values={0: "idle", 1: "waits", 2: "pause", 3: "sends"})
        MMTEA = r(16, "transmitter active")
        RFFL = r(9, 8, "receive FIFO", values={0: "empty", 1: "low", 2: "high", 3: "full"})
        RFRCS = r(6, 5, "receive FIFO read state")
        RFWRA = r(4, "receive FIFO being written")
        MSFRWCS = r(2, 1, "small FIFO state")
        MMRPEA = r(0, "receiver active")

    class MACSR(Reg, at=0x038):
        """MAC interrupt status register"""

        TSTS = r(9, "time stamp trigger", modelled=False)
        MMCTS = r(6, "a transmit counter asks")
        MMCRS = r(5, "a receive counter asks")
        MMCS = r(4, "a counter asks")
        PMTS = r(3, "a frame has woken")

    class MACIMR(Reg, at=0x03C):
        """MAC interrupt mask register"""

        TSTIM = rw(9, "time stamp trigger masked")
        PMTIM = rw(3, "wake-up masked")

    class MACA0HR(Reg, at=0x040, reset=0x8000_FFFF):
        """MAC address 0 high register"""

        MO = r(31, "always 1")
        MACA0H = rw(15, 0, "bytes 5 (high) and 4 of the station address")

    class MACA0LR(Reg, at=0x044, reset=0xFFFF_FFFF):
        """MAC address 0 low register"""

        MACA0L = rw(31, 0, "bytes 3 (high) to 0; byte 0 is first on the wire")

    class MACAHR(Reg, at=0x048, reset=0x0000_FFFF, array=3, step=ADDRESS_STEP, names=("MACA1HR", "MACA2HR", "MACA3HR")):
        """MAC address 1 to 3 high register"""

        AE = rw(31, "address takes part")
        SA = rw(30, "compared with", values={0: "destination", 1: "source"})
        MBC = rw(29, 24, "bytes left out: bit 5 is byte 5 (in the high register)")
        MACAH = rw(15, 0, "bytes 5 (high) and 4")

    class MACALR(Reg, at=0x04C, reset=0xFFFF_FFFF, array=3, step=ADDRESS_STEP, names=("MACA1LR", "MACA2LR", "MACA3LR")):
        """MAC address 1 to 3 low register"""

        MACAL = rw(31, 0, "bytes 3 (high) to 0")

    # -- management counters -------------------------------------------------------------------
    class MMCCR(Reg, at=0x100):
        """MMC control register"""

        MCFHP = rw(5, "preset to", values={0: "0x7FFFFFF0", 1: "0xFFFFFFF0"})
        MCP = rw(4, "preset all counters; cleared by hardware")
        MCF = rw(3, "freeze")
        ROR = rw(2, "reset on read")
        CSR = rw(1, "no roll-over")
        CR = w(0, "reset all counters")

    class MMCRIR(Reg, at=0x104):
        """MMC receive interrupt register"""

        RGUFS = r(17, "good unicast counter at half or full; cleared by reading the counter")
        RFAES = r(6, "alignment error counter at half or full")
        RFCES = r(5, "CRC error counter at half or full")

    class MMCTIR(Reg, at=0x108):
        """MMC transmit interrupt register"""

        TGFS = r(21, "good frames counter at half or full; cleared by reading the counter")
        TGFMSCS = r(15, "more collisions counter at half or full")
        TGFSCS = r(14, "single collision counter at half or full")

    class MMCRIMR(Reg, at=0x10C):
        """MMC receive interrupt mask register"""

        RGUFM = rw(17, "good unicast counter masked")
        RFAEM = rw(6, "alignment error counter masked")
        RFCEM = rw(5, "CRC error counter masked")

    class MMCTIMR(Reg, at=0x110):
        """MMC transmit interrupt mask register"""

        TGFM = rw(21, "good frames counter masked")
        TGFMSCM = rw(15, "more collisions counter masked")
        TGFSCM = rw(14, "single collision counter masked")

    class MMCTGFSCCR(Reg, at=0x14C):
        """MMC transmitted good frames after a single collision"""

        TGFSCC = r(31, 0, "frames")

    class MMCTGFMSCCR(Reg, at=0x150):
        """MMC transmitted good frames after more than one collision"""

        TGFMSCC = r(31, 0, "frames")

    class MMCTGFCR(Reg, at=0x168):
        """MMC transmitted good frames"""

        TGFC = r(31, 0, "frames")

    class MMCRFCECR(Reg, at=0x194):
        """MMC received frames with CRC error"""

        RFCEC = r(31, 0, "frames")

    class MMCRFAECR(Reg, at=0x198):
        """MMC received frames with alignment error"""

        RFAEC = r(31, 0, "frames")

    class MMCRGUFCR(Reg, at=0x1C4):
        """MMC received good unicast frames"""

        RGUFC = r(31, 0, "frames")

    # -- time stamps ---------------------------------------------------------------------------
    class PTPTSCR(Reg, at=0x700, reset=0x0000_2000):
        """PTP time stamp control register"""

        TSPFFMAE = rw(18, "PTP frames by destination address")
        TSCNT = rw(17, 16, "clock node type")
        TSSMRME = rw(15, "snapshot of messages to the master")
        TSSEME = rw(14, "snapshot of event messages")
        TSSIPV4FE = rw(13, "snapshot of IPv4 frames")
        TSSIPV6FE = rw(12, "snapshot of IPv6 frames")
        TSSPTPOEFE = rw(11, "snapshot of PTP over Ethernet")
        TSPTPPSV2E = rw(10, "PTP version 2")
        TSSSR = rw(9, "subsecond rolls over at", values={0: "2^31", 1: "10^9"})
        TSSARFE = rw(8, "snapshot of all received frames")
        TTSARU = rw(5, "update the addend; cleared by hardware")
        TSITE = rw(4, "interrupt at the target time", modelled=False)
        TSSTU = rw(3, "add or subtract the update; cleared by hardware")
        TSSTI = rw(2, "set the time; cleared by hardware")
        TSFCU = rw(1, "update", values={0: "coarse", 1: "fine"})
        TSE = rw(0, "time stamps on")

    class PTPSSIR(Reg, at=0x704):
        """PTP subsecond increment register"""

        STSSI = rw(7, 0, "added at each step")

    class PTPTSHR(Reg, at=0x708):
        """PTP time stamp high register"""

        STS = r(31, 0, "seconds")

    class PTPTSLR(Reg, at=0x70C):
        """PTP time stamp low register"""

        STPNS = r(31, "negative")
        STSS = r(30, 0, "subseconds")

    class PTPTSHUR(Reg, at=0x710):
        """PTP time stamp high update register"""

        TSUS = rw(31, 0, "seconds")

    class PTPTSLUR(Reg, at=0x714):
        """PTP time stamp low update register"""

        TSUPNS = rw(31, "subtract")
        TSUSS = rw(30, 0, "subseconds")

    class PTPTSAR(Reg, at=0x718):
        """PTP time stamp addend register"""

        TSA = rw(31, 0, "fine update: added to a 32-bit accumulator in each HCLK cycle; its carry is a step")

    class PTPTTHR(Reg, at=0x71C):
        """PTP target time high register"""

        TTSH = rw(31, 0, "seconds")

    class PTPTTLR(Reg, at=0x720):
        """PTP target time low register"""

        TTSL = rw(31, 0, "subseconds")

    class PTPTSSR(Reg, at=0x728):
        """PTP time stamp status register"""

        TSTTR = r(1, "target time reached")
        TSSO = r(0, "seconds overflowed")

    class PTPPPSCR(Reg, at=0x72C):
        """PTP pulse per second control register"""

        PPSFREQ = rw(3, 0, "pulses per second, power of 2", modelled=False)

    # -- DMA -----------------------------------------------------------------------------------
    class DMABMR(Reg, at=0x1000, reset=0x0002_0101):
        """DMA bus mode register"""

        MB = rw(26, "mixed bursts")
        AAB = rw(25, "aligned bursts")
        FPM = rw(24, "burst lengths times four")
        USP = rw(23, "receive has its own burst length")
        RDP = rw(22, 17, "receive burst length, words")
        FB = rw(16, "fixed bursts")
        RTPR = rw(15, 14, "receive to transmit priority")
        PBL = rw(13, 8, "burst length, words")
        EDFE = rw(7, "enhanced descriptors of 8 words")
        DSL = rw(6, 2, "words between two descriptors that are not chained")
        DA = rw(1, "arbitration", values={0: "round robin", 1: "receive first"})
        SR = rs(0, "software reset; cleared by hardware when all clocks, the PHY's too, have passed")

    class DMATPDR(Reg, at=0x1004):
        """DMA transmit poll demand register"""

        TPD = w(31, 0, "any value: look at the descriptor again")

    class DMARPDR(Reg, at=0x1008):
        """DMA receive poll demand register"""

        RPD = w(31, 0, "any value: look at the descriptor again")

    class DMARDLAR(Reg, at=0x100C):
        """DMA receive descriptor list address register"""

        SRL = rw(31, 2, "word address of the first descriptor")

    class DMATDLAR(Reg, at=0x1010):
        """DMA transmit descriptor list address register"""

        STL = rw(31, 2, "word address of the first descriptor")

    class DMASR(Reg, at=0x1014):
        """DMA status register"""

        TSTS = r(29, "time stamp trigger")
        PMTS = r(28, "a frame has woken")
        MMCS = r(27, "a counter asks")
        EBS = r(
            25, 23, "what failed: bit 25 descriptor (else buffer), 24 read (else write), 23 transmit (else receive)"
        )
        TPS = r(22, 20, "transmit process", values={0: "stopped", 1: "fetches", 2: "waits for status", 3: "reads",
                                                    6: "suspended", 7: "closes"})  # fmt: skip
        RPS = r(19, 17, "receive process", values={0: "stopped", 1: "fetches", 3: "waits for a frame", 4: "suspended",
                                                   5: "closes", 7: "writes"})  # fmt: skip
        NIS = rc_w1(16, "normal interrupt: any of TS, TBUS, RS, ERS that is enabled")
        AIS = rc_w1(15, "abnormal interrupt: any other that is enabled")
        ERS = rc_w1(14, "early receive: the first buffer of a frame is full")
        FBES = rc_w1(13, "fatal bus error")
        ETS = rc_w1(10, "early transmit: a frame is in the FIFO")
        RWTS = rc_w1(9, "receive watchdog: a frame over 2048 bytes")
        RPSS = rc_w1(8, "receive process stopped")
        RBUS = rc_w1(7, "receive buffer unavailable")
        RS = rc_w1(6, "a frame was received")
        TUS = rc_w1(5, "transmit underflow")
        ROS = rc_w1(4, "receive overflow")
        TJTS = rc_w1(3, "transmit jabber: a frame over 2048 bytes")
        TBUS = rc_w1(2, "transmit buffer unavailable")
        TPSS = rc_w1(1, "transmit process stopped")
        TS = rc_w1(0, "a frame was sent")

    class DMAOMR(Reg, at=0x1018):
        """DMA operation mode register"""

        DTCEFD = rw(26, "frames with only checksum errors are not dropped")
        RSF = rw(25, "receive store and forward")
        DFRF = rw(24, "frames wait when there is no descriptor, instead of being dropped")
        TSF = rw(21, "transmit store and forward")
        FTF = rs(20, "flush the transmit FIFO; cleared by hardware")
        TTC = rw(16, 14, "transmit threshold")
        ST = rw(13, "transmit process on")
        FEF = rw(7, "forward frames with errors")
        FUGF = rw(6, "forward undersized good frames")
        RTC = rw(4, 3, "receive threshold")
        OSF = rw(2, "fetch the second frame while the first is sent")
        SR = rw(1, "receive process on")

    class DMAIER(Reg, at=0x101C):
        """DMA interrupt enable register"""

        NISE = rw(16, "normal interrupts")
        AISE = rw(15, "abnormal interrupts")
        ERIE = rw(14, "early receive")
        FBEIE = rw(13, "fatal bus error")
        ETIE = rw(10, "early transmit")
        RWTIE = rw(9, "receive watchdog")
        RPSIE = rw(8, "receive process stopped")
        RBUIE = rw(7, "receive buffer unavailable")
        RIE = rw(6, "a frame was received")
        TUIE = rw(5, "transmit underflow")
        ROIE = rw(4, "receive overflow")
        TJTIE = rw(3, "transmit jabber")
        TBUIE = rw(2, "transmit buffer unavailable")
        TPSIE = rw(1, "transmit process stopped")
        TIE = rw(0, "a frame was sent")

    class DMAMFBOCR(Reg, at=0x1020):
        """DMA missed frame and buffer overflow counter register; cleared by reading"""

        OFOC = r(28, "MFA overflowed")
        MFA = r(27, 17, "frames lost because the FIFO was full")
        OMFC = r(16, "MFC overflowed")
        MFC = r(15, 0, "frames lost because there was no descriptor")

    class DMARSWTR(Reg, at=0x1024):
        """DMA receive status watchdog timer register"""

        RSWTC = rw(7, 0, "RS rises so many times 256 HCLK cycles after a frame whose descriptor has DIC set; 0 never")

    class DMACHTDR(Reg, at=0x1048):
        """DMA current host transmit descriptor register"""

        HTDAP = r(31, 0, "address")

    class DMACHRDR(Reg, at=0x104C):
        """DMA current host receive descriptor register"""

        HRDAP = r(31, 0, "address")

    class DMACHTBAR(Reg, at=0x1050):
        """DMA current host transmit buffer address register"""

        HTBAP = r(31, 0, "address")

    class DMACHRBAR(Reg, at=0x1054):
        """DMA current host receive buffer address register"""

        HRBAP = r(31, 0, "address")

    maccr: MACCR
    macffr: MACFFR
    machthr: MACHTHR
    machtlr: MACHTLR
    macmiiar: MACMIIAR
    macmiidr: MACMIIDR
    macfcr: MACFCR
    macvlantr: MACVLANTR
    macrwuffr: MACRWUFFR
    macpmtcsr: MACPMTCSR
    macdbgr: MACDBGR
    macsr: MACSR
    macimr: MACIMR
    maca0hr: MACA0HR
    maca0lr: MACA0LR
    macahr: RegArray[MACAHR]
    macalr: RegArray[MACALR]
    mmccr: MMCCR
    mmcrir: MMCRIR
    mmctir: MMCTIR
    mmcrimr: MMCRIMR
    mmctimr: MMCTIMR
    mmctgfsccr: MMCTGFSCCR
    mmctgfmsccr: MMCTGFMSCCR
    mmctgfcr: MMCTGFCR
    mmcrfcecr: MMCRFCECR
    mmcrfaecr: MMCRFAECR
    mmcrgufcr: MMCRGUFCR
    ptptscr: PTPTSCR
    ptpssir: PTPSSIR
    ptptshr: PTPTSHR
    ptptslr: PTPTSLR
    ptptshur: PTPTSHUR
    ptptslur: PTPTSLUR
    ptptsar: PTPTSAR
    ptptthr: PTPTTHR
    ptpttlr: PTPTTLR
    ptptssr: PTPTSSR
    ptpppscr: PTPPPSCR
    dmabmr: DMABMR
    dmatpdr: DMATPDR
    dmarpdr: DMARPDR
    dmardlar: DMARDLAR
    dmatdlar: DMATDLAR
    dmasr: DMASR
    dmaomr: DMAOMR
    dmaier: DMAIER
    dmamfbocr: DMAMFBOCR
    dmarswtr: DMARSWTR
    dmachtdr: DMACHTDR
    dmachrdr: DMACHRDR
    dmachtbar: DMACHTBAR
    dmachrbar: DMACHRBAR
