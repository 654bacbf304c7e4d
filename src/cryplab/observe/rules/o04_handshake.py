"""O4 and O5: flags not looked at; registers touched while the block works. Blocks report the single accesses."""

from __future__ import annotations

from cryplab.observe.rules.base import Rule, context_name
from cryplab.observe.shadow import CrypShadow, HashShadow, RccShadow, Shadow, Stamp
from cryplab.observe.shadow.hash import BLOCK_WORDS, BUSY, Message

__all__ = ["Handshake", "WriteWhileBusy"]


class Handshake(Rule):
    """Results taken without a look at status."""

    id = "O4"

    def hash_digest(self, shadow: HashShadow, stamp: Stamp, message: Message) -> None:
        """First word of a digest."""
        if message.finished and not message.looked and not message.restored:
            self.found(
                "handshake-ignored",
                shadow,
                stamp,
                "digest read without a look at status",
                f"{shadow.name}.HR is read, and SR was not read since DCAL: nothing says that the digest is there "
                "(DCIS = 1, or BUSY = 0).",
                earlier=("the message began", message.started),
            )


class WriteWhileBusy(Rule):
    """A context saved while a block may be in the core; a clock switched off in the middle."""

    id = "O5"

    def hash_save(self, shadow: HashShadow, stamp: Stamp) -> None:
        """First read of CSR."""
        message = shadow.message
        if message is None or message.dma:
            return
        base = message.words
        if base is None:
            started = shadow.words - shadow.idle_words > BLOCK_WORDS
        else:
            started = blocks_begun(base + shadow.words) > blocks_begun(base + shadow.idle_words)
        if started:
            self.found(
                "hash-state-save",
                shadow,
                stamp,
                "context saved without having seen the block idle",
                f"CSR is read for {context_name(stamp) or 'a context swap'}; the last words written to DIN "
                "started a block, and "
                "SR was not read since with BUSY = 0.",
                registers={f"{shadow.name}.SR as last read": f"{shadow.sr:#010x}"},
            )

    def rcc_gated(self, rcc: RccShadow, stamp: Stamp, shadow: Shadow) -> None:
        """A block's clock is switched off."""
        if isinstance(shadow, HashShadow):
            working = bool(shadow.sr & BUSY) and shadow.polls.value == shadow.sr
        else:
            working = isinstance(shadow, CrypShadow) and bool(shadow.in_words)
        if working:
            self.found(
                "write-while-busy",
                shadow,
                stamp,
                "clock switched off in the middle of a job",
                f"RCC switches the clock of {shadow.name} off while it has an unfinished block.",
            )


def blocks_begun(words: int) -> int:
    """Blocks that the core has started after so many words: one at the 17th, 33rd, ..."""
    return (words - 1) // BLOCK_WORDS if words > 0 else 0
