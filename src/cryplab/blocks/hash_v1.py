"""HASH processor, version 1: MD5, SHA-1 and HMAC (STM32F215, F217; F415, F417)."""

from __future__ import annotations

from typing import ClassVar

from cryplab.blocks.hash_v2 import HashV2, Text
from cryplab.registers import rw

__all__ = ["HashV1"]

SPARE_CSR = range(0x1C4, 0x1D0, 4)
"CSR51 to CSR53 of version 2, which drivers for both save and restore."


class HashV1(HashV2):
    """HASH processor, version 1: MD5 and SHA-1, each plain or as HMAC; the end of a DMA transfer ends the message.

    Source: RM0033 and RM0090, chapters HASH (F215/F217, F415/F417). Behaviour and time are those of version 2,
    see there; context registers show the true state whenever BUSY = 0.

    Departures: those of version 2; and the offsets of CSR51 to CSR53 take and give 0 without a word, since drivers of
    both versions save them; the first words of the digest are at 0x310 too, where the vendor's header of F417 has them.
    A key longer than a block with LKEY = 0 does not survive a context swap.
    """

    class CR(HashV2.CR, without=("ALGO1", "MDMAT", "ALGO0")):
        """control register"""

        ALGO = rw(7, "algorithm: 0 SHA-1, 1 MD5; sampled at INIT", values={0: "SHA-1", 1: "MD5"})

    class CSR(HashV2.CSR, at=0xF8, array=51):
        """context swap registers"""

    class HR(HashV2.HR, at=0x310, array=5):
        """digest, the same five words"""

    cr: CR

    CYCLES: ClassVar[dict[Text, int]] = {"MD5": 50, "SHA-1": 66}
    algorithms: ClassVar[tuple[Text, ...]] = (*CYCLES, *(f"{name}-HMAC" for name in CYCLES))
    SETTINGS: ClassVar[tuple[Text, ...]] = ("LKEY", "ALGO", "MODE", "DATATYPE")

    def read_reserved(self, offset: int, width: int) -> int:
        """CSR51 to CSR53 read as 0; anything else is a guest error."""
        return 0 if offset in SPARE_CSR else super().read_reserved(offset, width)

    def write_reserved(self, offset: int, value: int, width: int) -> None:
        """CSR51 to CSR53 take anything; anything else is a guest error."""
        if offset not in SPARE_CSR:
            super().write_reserved(offset, value, width)
