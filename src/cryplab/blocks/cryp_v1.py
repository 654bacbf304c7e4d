"""Cryptographic processor, version 1 (STM32F215, F217; F415, F417)."""

from __future__ import annotations

from cryplab.blocks._cryp import Cryp

__all__ = ["CrypV1"]


class CrypV1(Cryp):
    """Cryptographic processor: AES-ECB/CBC/CTR with 128, 192 and 256 bits, DES and TDES-ECB/CBC; no GCM, no CCM.

    Source: RM0033 and RM0090, chapters CRYP (F215/F217, F415/F417). The vendor's header of F415 and F417 lists the
    bits and registers of GCM and CCM; the manual says that they do not exist there.

    Departures: KEYSIZE 3 acts as 256 bits. A word written into a full IN FIFO is lost, an empty OUT FIFO and DIN
    with CRYPEN = 1 read as 0. The chaining value changes when a block starts, not when it ends. Key preparation
    takes 14, 16 or 18 cycles (the manual's tables say 12, 14, 16).
    """
