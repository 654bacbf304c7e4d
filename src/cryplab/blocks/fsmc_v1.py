"""Flexible static memory controller: FSMC (STM32F2, F405 to F417) and FMC (F42x, F43x), which drives SDRAM too."""

from __future__ import annotations

from cryplab.registers import Block, Reg, RegArray, r, rw, w

__all__ = ["FmcV1", "FsmcV1"]


class FsmcV1(Block):
    """What is set for the banks of static memory; the banks themselves are `external_bank.ExternalBank`.

    Departures: width, type and multiplexing of a bank and all its times are remembered without effect. NAND flash and
    PC card are not modelled: their registers are remembered, accesses to 0x7000_0000 to 0x9FFF_FFFF are bus faults.

    Source: RM0090, RM0033, chapter FSMC; vendor headers stm32f417xx.h, stm32f437xx.h.
    """

    size = 0x1000

    class BCR1(Reg, at=0x00, reset=0x0000_30DB):
        """chip-select control register of NOR/SRAM bank 1, which is enabled after a reset"""

        CBURSTRW = rw(19, "writes are synchronous")
        CPSIZE = rw(18, 16, "size of a page of CRAM")
        ASYNCWAIT = rw(15, "NWAIT counts in asynchronous transfers")
        EXTMOD = rw(14, "writes have times of their own, BWTR")
        WAITEN = rw(13, "NWAIT counts in synchronous transfers")
        WREN = rw(12, "the bank can be written")
        WAITCFG = rw(11, "NWAIT is active during the wait state")
        WRAPMOD = rw(10, "wrapped bursts")
        WAITPOL = rw(9, "NWAIT is active high")
        BURSTEN = rw(8, "reads are synchronous")
        FACCEN = rw(6, "NOR flash can be accessed")
        MWID = rw(5, 4, "width of the data bus", values={0: "8", 1: "16"})
        MTYP = rw(3, 2, "type of memory", values={0: "SRAM", 1: "PSRAM", 2: "NOR"})
        MUXEN = rw(1, "address and data share their pins")
        MBKEN = rw(0, "the bank is enabled")

    class BCR(BCR1, at=0x08, reset=0x0000_30D2, array=3, step=8, names=("BCR2", "BCR3", "BCR4")):
        """chip-select control registers of NOR/SRAM banks 2 to 4"""

    class BTR(Reg, at=0x04, reset=0x0FFF_FFFF, array=4, step=8, names=("BTR1", "BTR2", "BTR3", "BTR4")):
        """chip-select timing registers"""

        ACCMOD = rw(29, 28, "access mode", values={0: "A", 1: "B", 2: "C", 3: "D"})
        DATLAT = rw(27, 24, "latency of data")
        CLKDIV = rw(23, 20, "divider of CLK")
        BUSTURN = rw(19, 16, "bus turnaround")
        DATAST = rw(15, 8, "data phase")
        ADDHLD = rw(7, 4, "address hold phase")
        ADDSET = rw(3, 0, "address setup phase")

    class BWTR(Reg, at=0x104, reset=0x0FFF_FFFF, array=4, step=8, names=("BWTR1", "BWTR2", "BWTR3", "BWTR4")):
        """write timing registers"""

        ACCMOD = rw(29, 28, "access mode", values={0: "A", 1: "B", 2: "C", 3: "D"})
        BUSTURN = rw(19, 16, "bus turnaround")
        DATAST = rw(15, 8, "data phase")
        ADDHLD = rw(7, 4, "address hold phase")
        ADDSET = rw(3, 0, "address setup phase")

    class PCR(Reg, at=0x60, reset=0x18, array=3, step=0x20, names=("PCR2", "PCR3", "PCR4")):
        """control registers of NAND flash and PC card"""

        ECCPS = rw(19, 17, "size of a page of the ECC")
        TAR = rw(16, 13, "ALE to RE")
        TCLR = rw(12, 9, "CLE to RE")
        ECCEN = rw(6, "ECC is computed", modelled=False)
        PWID = rw(5, 4, "width of the data bus")
        PTYP = rw(3, "NAND flash")
        PBKEN = rw(2, "the bank is enabled; its memory stays away", modelled=False)
        PWAITEN = rw(1, "NWAIT counts")

    class SR(Reg, at=0x64, reset=0x40, array=3, step=0x20, names=("SR2", "SR3", "SR4")):
        """FIFO and interrupt status of NAND flash and PC card"""

        FEMPT = r(6, "the FIFO is empty")
        IFEN = rw(5, "interrupt at a falling edge", modelled=False)
        ILEN = rw(4, "interrupt at a high level", modelled=False)
        IREN = rw(3, "interrupt at a rising edge", modelled=False)
        IFS = rw(2, "falling edge seen")
        ILS = rw(1, "high level seen")
        IRS = rw(0, "rising edge seen")

    class PMEM(Reg, at=0x68, reset=0xFCFC_FCFC, array=3, step=0x20, names=("PMEM2", "PMEM3", "PMEM4")):
        """times of the common memory space"""

        MEMHIZ = rw(31, 24, "data bus released")
        MEMHOLD = rw(23, 16, "hold")
        MEMWAIT = rw(15, 8, "wait")
        MEMSET = rw(7, 0, "setup")

    class PATT(Reg, at=0x6C, reset=0xFCFC_FCFC, array=3, step=0x20, names=("PATT2", "PATT3", "PATT4")):
        """times of the attribute memory space"""

        ATTHIZ = rw(31, 24, "data bus released")
        ATTHOLD = rw(23, 16, "hold")
        ATTWAIT = rw(15, 8, "wait")
        ATTSET = rw(7, 0, "setup")

    class ECCR(Reg, at=0x74, array=2, step=0x20, names=("ECCR2", "ECCR3")):
        """ECC results"""

        ECC = r(31, 0, "the code")

    class PIO4(Reg, at=0xB0, reset=0xFCFC_FCFC):
        """times of the PC card's I/O space"""

        IOHIZ = rw(31, 24, "data bus released")
        IOHOLD = rw(23, 16, "hold")
        IOWAIT = rw(15, 8, "wait")
        IOSET = rw(7, 0, "setup")

    bcr1: BCR1
    bcr: RegArray[BCR]
    btr: RegArray[BTR]
    bwtr: RegArray[BWTR]
    pcr: RegArray[PCR]
    sr: RegArray[SR]
    pmem: RegArray[PMEM]
    patt: RegArray[PATT]
    eccr: RegArray[ECCR]
    pio4: PIO4

    def control(self, bank: int) -> BCR1:
        """The control register of NOR/SRAM bank 1 to 4."""
        return self.bcr1 if bank == 1 else self.bcr[bank - 2]


class FmcV1(FsmcV1):
    """FSMC with two banks of SDRAM, whose registers are remembered; SDSR.BUSY is always 0.

    Departures: as in FSMC; SDRAM is not modelled, accesses to 0xC000_0000 to 0xDFFF_FFFF are bus faults.

    Source: RM0090, chapter FMC; vendor header stm32f437xx.h.
    """

    class BCR1(FsmcV1.BCR1, at=0x00, reset=0x0000_30DB):
        """chip-select control register of NOR/SRAM bank 1, which is enabled after a reset"""

        CCLKEN = rw(20, "CLK runs always")

    class SDCR(Reg, at=0x140, reset=0x2D0, array=2, names=("SDCR1", "SDCR2")):
        """SDRAM control registers"""

        RPIPE = rw(14, 13, "delay of reads")
        RBURST = rw(12, "reads are bursts")
        SDCLK = rw(11, 10, "clock of the SDRAM")
        WP = rw(9, "write protection")
        CAS = rw(8, 7, "CAS latency")
        NB = rw(6, "four internal banks")
        MWID = rw(5, 4, "width of the data bus")
        NR = rw(3, 2, "bits of a row address")
        NC = rw(1, 0, "bits of a column address")

    class SDTR(Reg, at=0x148, reset=0x0FFF_FFFF, array=2, names=("SDTR1", "SDTR2")):
        """SDRAM timing registers"""

        TRCD = rw(27, 24, "row to column")
        TRP = rw(23, 20, "row precharge")
        TWR = rw(19, 16, "write recovery")
        TRC = rw(15, 12, "row cycle")
        TRAS = rw(11, 8, "self refresh")
        TXSR = rw(7, 4, "exit from self refresh")
        TMRD = rw(3, 0, "load of the mode register to active")

    class SDCMR(Reg, at=0x150):
        """SDRAM command mode register"""

        MRD = rw(21, 9, "content of the mode register")
        NRFS = rw(8, 5, "number of auto-refreshes")
        CTB1 = w(4, "to bank 1")
        CTB2 = w(3, "to bank 2")
        MODE = w(2, 0, "command to an SDRAM that is not there", modelled=False)

    class SDRTR(Reg, at=0x154):
        """SDRAM refresh timer register"""

        REIE = rw(14, "interrupt at a refresh error")
        COUNT = rw(13, 1, "cycles between refreshes")
        CRE = w(0, "clear SDSR.RE")

    class SDSR(Reg, at=0x158):
        """SDRAM status register"""

        BUSY = r(5, "no further command is taken")
        MODES2 = r(4, 3, "mode of bank 2")
        MODES1 = r(2, 1, "mode of bank 1")
        RE = r(0, "refresh error")

    sdcr: RegArray[SDCR]
    sdtr: RegArray[SDTR]
    sdcmr: SDCMR
    sdrtr: SDRTR
    sdsr: SDSR
