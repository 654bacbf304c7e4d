"""Cases of dma.c: AES and SHA-256 by DMA."""

from __future__ import annotations

from cryplab.guest.faulty.cases.case import cases_of

__all__ = ["CASES"]

case = cases_of("dma.c")

CASES = (
    case("dma_core_coupled", "O15", "dma-memory-region", "B158 B159",
         "data in memory that DMA2 cannot reach", "cipher", "start_stream"),
    case("dma_misaligned", "O15", "dma-configuration", "B85",
         "words at an odd address", "cipher", "start_stream"),
    case("dma_byte_width", "O15", "dma-configuration", "B86",
         "a byte at a time to DIN", "hashes", "start_stream"),
    case("dma_peripheral_moves", "O15", "dma-configuration", "B86",
         "the block's address incremented", "hashes", "start_stream"),
    case("dma_part_of_block", "O15", "dma-configuration", "B86",
         "no whole number of blocks", "odd_length", "start_stream"),
    case("dma_error_ignored", "O18", "error-swallowed", "B157",
         "success after a transfer error", "must_fail", "flags", inject=("dma-error=8",)),
    case("dma_more_not_told", "O1", "hash-dma-chunking", "B88",
         "MDMAT not set for the first transfer", "hashes", "start_stream"),
    case("dma_nblw_late", "O8", "hash-dma-chunking", "B88",
         "NBLW written after the transfer", "hashes", "start_stream"),
    case("dma_calculated_again", "O4", "hash-dma-chunking", "B88",
         "DCAL after a transfer that ends the message", "hashes"),
    case("dma_more_awaited", "O11", "hash-dma-chunking", "B87",
         "DINIS awaited with MDMAT set", "hashes", ends="time"),
    case("dma_more_left", "O2", "stale-config-carryover", "B15",
         "MDMAT left from DMA", "hashes", "calculate dma_more_left"),
)  # fmt: skip
