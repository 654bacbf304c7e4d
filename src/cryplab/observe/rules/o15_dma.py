"""O15: streams of a DMA controller that serve DIN or DOUT."""

from __future__ import annotations

from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, DmaShadow, HashShadow, Shadow, Stamp
from cryplab.observe.shadow.cryp import DIN as CRYP_DIN
from cryplab.observe.shadow.cryp import DOUT as CRYP_DOUT
from cryplab.observe.shadow.dma import PINC, Transfer
from cryplab.observe.shadow.hash import DIN as HASH_DIN

__all__ = ["DmaSetup"]

WORD_BYTES = 4


class DmaSetup(Rule):
    """Width, direction, memory, count; and the words moved, told to the block's shadow."""

    id = "O15"

    def dma_start(self, dma: DmaShadow, stamp: Stamp, transfer: Transfer) -> None:
        """A stream was enabled."""
        shadow, offset = self.observer.block_at(transfer.peripheral)
        if isinstance(shadow, CrypShadow) and offset in (CRYP_DIN, CRYP_DOUT):
            into = offset == CRYP_DIN
        elif isinstance(shadow, HashShadow) and offset == HASH_DIN:
            into = True
        else:
            return
        register = f"{shadow.name}.{'DIN' if into else 'DOUT'}"
        self._check(dma, shadow, stamp, transfer, register, into)
        words = transfer.items * transfer.peripheral_bytes // WORD_BYTES
        if isinstance(shadow, HashShadow) or into:
            shadow.dma_in(stamp, words)
        else:
            shadow.dma_out(stamp, words)

    def _check(
        self, dma: DmaShadow, shadow: Shadow, stamp: Stamp, transfer: Transfer, register: str, into: bool
    ) -> None:
        stream = f"{dma.name} stream {transfer.stream}"
        problems: list[tuple[str, str, str]] = []
        if transfer.peripheral_bytes != WORD_BYTES:
            problems.append(("dma-configuration", "DMA width other than 32 bits",
                             f"{stream} moves {8 * transfer.peripheral_bytes} bits at a time to or from "
                             f"{register}, which takes words: "
                             "each item becomes a word of its own."))  # fmt: skip
        if transfer.control & PINC:
            problems.append(("dma-configuration", "DMA increments the block's address",
                             f"{stream} increments its peripheral address, away from {register} (PINC = "
                             "1)."))  # fmt: skip
        wanted = "memory to peripheral" if into else "peripheral to memory"
        if transfer.direction != wanted:
            problems.append(("dma-configuration", "DMA in the wrong direction",
                             f"{stream} for {register} is set to {transfer.direction}, expected "
                             f"{wanted}."))  # fmt: skip
        problems += self._check_memory(stream, register, transfer, into)
        size = transfer.items * transfer.peripheral_bytes
        if isinstance(shadow, CrypShadow) and size % (WORD_BYTES * shadow.block_words):
            problems.append(("dma-configuration", "DMA moves no whole number of blocks",
                             f"{stream} moves {size} bytes to or from {register}; a block has "
                             f"{WORD_BYTES * shadow.block_words}, the "
                             "rest waits for ever."))  # fmt: skip
        for kind, title, text in problems:
            registers = {
                f"{dma.name}.S{transfer.stream}CR": f"{transfer.control:#010x}",
                f"{dma.name}.S{transfer.stream}M0AR": f"{transfer.memory:#010x}",
            }
            self.found(kind, shadow, stamp, title, text, registers=registers)

    def _check_memory(self, stream: str, register: str, transfer: Transfer, into: bool) -> list[tuple[str, str, str]]:
        size = transfer.items * transfer.peripheral_bytes
        name, reachable, writable = self.observer.memory_at(transfer.memory, size)
        if not name or not reachable:
            where = f"{name}, which the controller cannot reach" if name else "no memory"
            return [("dma-memory-region", "memory out of the DMA's reach",
                     f"{stream} for {register} has its memory at {transfer.memory:#010x}, in {where}.")]  # fmt: skip
        if not into and not writable:
            return [("dma-memory-region", "DMA result into flash",
                     f"{stream} for {register} stores to {transfer.memory:#010x}, in {name}, which cannot be "
                     "written.")]  # fmt: skip
        if transfer.memory % transfer.memory_bytes:
            return [("dma-configuration", "misaligned DMA memory",
                     f"{stream} for {register} has {8 * transfer.memory_bytes}-bit items at "
                     f"{transfer.memory:#010x}; the low address "
                     "bits are ignored.")]  # fmt: skip
        return []
