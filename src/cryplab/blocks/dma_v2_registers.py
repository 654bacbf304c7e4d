"""Register table of the DMA controller, version 2 (STM32F2, F4, F7, H7)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, RegArray, r, rw, w

__all__ = ["STREAMS", "DmaV2Registers"]

STREAMS = 8
STREAM_STEP = 0x18


def _names(register: str) -> tuple[str, ...]:
    return tuple(f"S{n}{register}" for n in range(STREAMS))


class DmaV2Registers(Block):
    """Registers of eight streams; `DmaV2` gives them their meaning.

    Source: RM0090, DMA chapter.
    """

    class LISR(Reg, at=0x00):
        """low interrupt status register, streams 0 to 3"""

        TCIF3 = r(27, "stream 3: transfer complete")
        HTIF3 = r(26, "stream 3: half transfer")
        TEIF3 = r(25, "stream 3: transfer error")
        DMEIF3 = r(24, "stream 3: direct mode error")
        FEIF3 = r(22, "stream 3: FIFO error")
        TCIF2 = r(21, "stream 2: transfer complete")
        HTIF2 = r(20, "stream 2: half transfer")
        TEIF2 = r(19, "stream 2: transfer error")
        DMEIF2 = r(18, "stream 2: direct mode error")
        FEIF2 = r(16, "stream 2: FIFO error")
        TCIF1 = r(11, "stream 1: transfer complete")
        HTIF1 = r(10, "stream 1: half transfer")
        TEIF1 = r(9, "stream 1: transfer error")
        DMEIF1 = r(8, "stream 1: direct mode error")
        FEIF1 = r(6, "stream 1: FIFO error")
        TCIF0 = r(5, "stream 0: transfer complete")
        HTIF0 = r(4, "stream 0: half transfer")
        TEIF0 = r(3, "stream 0: transfer error")
        DMEIF0 = r(2, "stream 0: direct mode error")
        FEIF0 = r(0, "stream 0: FIFO error")

    class HISR(Reg, at=0x04):
        """high interrupt status register, streams 4 to 7"""

        TCIF7 = r(27, "stream 7: transfer complete")
        HTIF7 = r(26, "stream 7: half transfer")
        TEIF7 = r(25, "stream 7: transfer error")
        DMEIF7 = r(24, "stream 7: direct mode error")
        FEIF7 = r(22, "stream 7: FIFO error")
        TCIF6 = r(21, "stream 6: transfer complete")
        HTIF6 = r(20, "stream 6: half transfer")
        TEIF6 = r(19, "stream 6: transfer error")
        DMEIF6 = r(18, "stream 6: direct mode error")
        FEIF6 = r(16, "stream 6: FIFO error")
        TCIF5 = r(11, "stream 5: transfer complete")
        HTIF5 = r(10, "stream 5: half transfer")
        TEIF5 = r(9, "stream 5: transfer error")
        DMEIF5 = r(8, "stream 5: direct mode error")
        FEIF5 = r(6, "stream 5: FIFO error")
        TCIF4 = r(5, "stream 4: transfer complete")
        HTIF4 = r(4, "stream 4: half transfer")
        TEIF4 = r(3, "stream 4: transfer error")
        DMEIF4 = r(2, "stream 4: direct mode error")
        FEIF4 = r(0, "stream 4: FIFO error")

    class LIFCR(Reg, at=0x08):
        """low interrupt flag clear register"""

        CTCIF3 = w(27, "clear TCIF3")
        CHTIF3 = w(26, "clear HTIF3")
        CTEIF3 = w(25, "clear TEIF3")
        CDMEIF3 = w(24, "clear DMEIF3")
        CFEIF3 = w(22, "clear FEIF3")
        CTCIF2 = w(21, "clear TCIF2")
        CHTIF2 = w(20, "clear HTIF2")
        CTEIF2 = w(19, "clear TEIF2")
        CDMEIF2 = w(18, "clear DMEIF2")
        CFEIF2 = w(16, "clear FEIF2")
        CTCIF1 = w(11, "clear TCIF1")
        CHTIF1 = w(10, "clear HTIF1")
        CTEIF1 = w(9, "clear TEIF1")
        CDMEIF1 = w(8, "clear DMEIF1")
        CFEIF1 = w(6, "clear FEIF1")
        CTCIF0 = w(5, "clear TCIF0")
        CHTIF0 = w(4, "clear HTIF0")
        CTEIF0 = w(3, "clear TEIF0")
        CDMEIF0 = w(2, "clear DMEIF0")
        CFEIF0 = w(0, "clear FEIF0")

    class HIFCR(Reg, at=0x0C):
        """high interrupt flag clear register"""

        CTCIF7 = w(27, "clear TCIF7")
        CHTIF7 = w(26, "clear HTIF7")
        CTEIF7 = w(25, "clear TEIF7")
        CDMEIF7 = w(24, "clear DMEIF7")
        CFEIF7 = w(22, "clear FEIF7")
        CTCIF6 = w(21, "clear TCIF6")
        CHTIF6 = w(20, "clear HTIF6")
        CTEIF6 = w(19, "clear TEIF6")
        CDMEIF6 = w(18, "clear DMEIF6")
        CFEIF6 = w(16, "clear FEIF6")
        CTCIF5 = w(11, "clear TCIF5")
        CHTIF5 = w(10, "clear HTIF5")
        CTEIF5 = w(9, "clear TEIF5")
        CDMEIF5 = w(8, "clear DMEIF5")
        CFEIF5 = w(6, "clear FEIF5")
        CTCIF4 = w(5, "clear TCIF4")
        CHTIF4 = w(4, "clear HTIF4")
        CTEIF4 = w(3, "clear TEIF4")
        CDMEIF4 = w(2, "clear DMEIF4")
        CFEIF4 = w(0, "clear FEIF4")

    class CR(Reg, at=0x10, array=STREAMS, step=STREAM_STEP, names=_names("CR")):
        """stream configuration register"""

        CHSEL = rw(27, 25, "request channel")
        MBURST = rw(24, 23, "memory burst", values={0: "single", 1: "INCR4", 2: "INCR8", 3: "INCR16"})
        PBURST = rw(22, 21, "peripheral burst", values={0: "single", 1: "INCR4", 2: "INCR8", 3: "INCR16"})
        CT = rw(19, "current target: M0AR or M1AR, with DBM")
        DBM = rw(18, "double buffer mode")
        PL = rw(17, 16, "priority", values={0: "low", 1: "medium", 2: "high", 3: "very high"})
        PINCOS = rw(15, "peripheral address steps by 4, not by PSIZE")
        MSIZE = rw(14, 13, "memory data size", values={0: "byte", 1: "halfword", 2: "word"})
        PSIZE = rw(12, 11, "peripheral data size", values={0: "byte", 1: "halfword", 2: "word"})
        MINC = rw(10, "memory address increments")
        PINC = rw(9, "peripheral address increments")
        CIRC = rw(8, "circular mode")
        DIR = rw(7, 6, "direction", values={0: "P to M", 1: "M to P", 2: "M to M"})
        PFCTRL = rw(5, "the peripheral is the flow controller", modelled=False)
        TCIE = rw(4, "interrupt on TCIF")
        HTIE = rw(3, "interrupt on HTIF")
        TEIE = rw(2, "interrupt on TEIF")
        DMEIE = rw(1, "interrupt on DMEIF")
        EN = rw(0, "stream enable; cleared by hardware at the end")

    class NDTR(Reg, at=0x14, array=STREAMS, step=STREAM_STEP, names=_names("NDTR")):
        """number of data register"""

        NDT = rw(15, 0, "items of PSIZE still to move")

    class PAR(Reg, at=0x18, array=STREAMS, step=STREAM_STEP, names=_names("PAR")):
        """peripheral address register"""

        PA = rw(31, 0, "peripheral address; source for M to M")

    class M0AR(Reg, at=0x1C, array=STREAMS, step=STREAM_STEP, names=_names("M0AR")):
        """memory 0 address register"""

        M0A = rw(31, 0, "memory address")

    class M1AR(Reg, at=0x20, array=STREAMS, step=STREAM_STEP, names=_names("M1AR")):
        """memory 1 address register"""

        M1A = rw(31, 0, "second memory address, with DBM")

    class FCR(Reg, at=0x24, reset=0x0000_0021, array=STREAMS, step=STREAM_STEP, names=_names("FCR")):
        """FIFO control register"""

        FEIE = rw(7, "interrupt on FEIF")
        FS = r(
            5,
            3,
            "FIFO level in quarters",
            values={0: "below 1/4", 1: "below 1/2", 2: "below 3/4", 3: "below full", 4: "empty", 5: "full"},
        )
        DMDIS = rw(2, "1: FIFO mode, 0: direct mode")
        FTH = rw(1, 0, "FIFO threshold", values={0: "1/4", 1: "1/2", 2: "3/4", 3: "full"})

    lisr: LISR
    hisr: HISR
    lifcr: LIFCR
    hifcr: HIFCR
    cr: RegArray[CR]
    ndtr: RegArray[NDTR]
    par: RegArray[PAR]
    m0ar: RegArray[M0AR]
    m1ar: RegArray[M1AR]
    fcr: RegArray[FCR]
