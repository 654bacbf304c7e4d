"""The registers that every CRYP has, its modes and their times."""

from __future__ import annotations

from typing import ClassVar

from cryplab.registers import Block, DmaRequest, Line, Reg, RegArray, r, rw, w

__all__ = ["CrypRegisters"]


class CrypRegisters(Block):
    """The register table. Sources: RM0090 and RM0399, chapters CRYP."""

    widths = (4,)
    lines = ("irq",)
    dma = ("dma_in", "dma_out")

    class CR(Reg, at=0x00):
        """control register"""

        CRYPEN = rw(15, "enable; cleared by hardware after key preparation")
        FFLUSH = w(14, "empty both FIFOs, while CRYPEN = 0")
        KEYSIZE = rw(9, 8, "AES key size", values={0: "128", 1: "192", 2: "256", 3: "reserved"})
        DATATYPE = rw(7, 6, "swapping of data words", values={0: "32-bit", 1: "16-bit", 2: "8-bit", 3: "1-bit"})
        ALGOMODE = rw(5, 3, "algorithm and mode", values={
            0: "TDES-ECB", 1: "TDES-CBC", 2: "DES-ECB", 3: "DES-CBC",
            4: "AES-ECB", 5: "AES-CBC", 6: "AES-CTR", 7: "AES key preparation",
        })  # fmt: skip
        ALGODIR = rw(2, "1 decrypts")

    class SR(Reg, at=0x04, reset=0x0000_0003):
        """status register"""

        BUSY = r(4, "processing a block or preparing a key")
        OFFU = r(3, "OUT FIFO full")
        OFNE = r(2, "OUT FIFO not empty")
        IFNF = r(1, "IN FIFO not full")
        IFEM = r(0, "IN FIFO empty")

    class DIN(Reg, at=0x08):
        """data input register"""

        DATAIN = rw(31, 0, "written: one word into the IN FIFO; read with CRYPEN = 0: its oldest word")

    class DOUT(Reg, at=0x0C):
        """data output register"""

        DATAOUT = r(31, 0, "takes one word from the OUT FIFO")

    class DMACR(Reg, at=0x10):
        """DMA control register"""

        DOEN = rw(1, "request from the OUT FIFO")
        DIEN = rw(0, "request from the IN FIFO")

    class IMSCR(Reg, at=0x14):
        """interrupt mask set and clear register"""

        OUTIM = rw(1, "output service interrupt unmasked")
        INIM = rw(0, "input service interrupt unmasked")

    class RISR(Reg, at=0x18, reset=0x0000_0001):
        """raw interrupt status register"""

        OUTRIS = r(1, "OUT FIFO not empty")
        INRIS = r(0, "IN FIFO holds fewer than 4 words")

    class MISR(Reg, at=0x1C):
        """masked interrupt status register"""

        OUTMIS = r(1, "OUTRIS and OUTIM")
        INMIS = r(0, "INRIS and INIM and CRYPEN")

    class K(Reg, at=0x20, array=8, names=("K0LR", "K0RR", "K1LR", "K1RR", "K2LR", "K2RR", "K3LR", "K3RR")):
        """key registers, first word lowest; AES keys end in K3RR, a DES key is K1"""

        KEY = w(31, 0, "32 key bits, most significant byte first")

    class IV(Reg, at=0x40, array=4, names=("IV0LR", "IV0RR", "IV1LR", "IV1RR")):
        """initialisation vector, first word lowest; the chaining value after each block; DES uses IV0"""

        IV = rw(31, 0, "32 bits, most significant byte first")

    cr: CR
    sr: SR
    din: DIN
    dout: DOUT
    dmacr: DMACR
    imscr: IMSCR
    risr: RISR
    misr: MISR
    k: RegArray[K]
    iv: RegArray[IV]
    irq: Line
    dma_in: DmaRequest
    dma_out: DmaRequest

    CYCLES: ClassVar[dict[tuple[str, str, str, int], int]] = {
        **{("AES", mode, "", bits): 14 + (bits - 128) // 32
           for mode in ("ECB", "CBC", "CTR", "KEYPREP") for bits in (128, 192, 256)},
        **{("DES", mode, "", 64): 16 for mode in ("ECB", "CBC")},
        **{("TDES", mode, "", 192): 48 for mode in ("ECB", "CBC")},
    }  # fmt: skip
    "Clock cycles per block: (algorithm, mode, phase or empty, key bits); bits of DES keys include parity."

    MODES: ClassVar[dict[int, tuple[str, str]]] = {
        0: ("TDES", "ECB"), 1: ("TDES", "CBC"), 2: ("DES", "ECB"), 3: ("DES", "CBC"),
        4: ("AES", "ECB"), 5: ("AES", "CBC"), 6: ("AES", "CTR"), 7: ("AES", "KEYPREP"),
    }  # fmt: skip
    "Algorithm and mode by the whole ALGOMODE field."

    algorithms: ClassVar[tuple[str, ...]] = (
        "AES-ECB",
        "AES-CBC",
        "AES-CTR",
        "DES-ECB",
        "DES-CBC",
        "TDES-ECB",
        "TDES-CBC",
    )

    GUARDED: ClassVar[int] = CR.ALGODIR.bits | CR.ALGOMODE.bits | CR.DATATYPE.bits | CR.KEYSIZE.bits
    "Bits of CR that cannot be written while BUSY."
