"""What all versions of the HASH processor do with a message, apart from registers and time.

A message goes through phases: a plain hash has only TEXT; HMAC has KEY, TEXT, OUTER (the key a second
time). Each phase is a run of whole blocks and a last part, ended by DCAL.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import pack

from cryplab.algorithms.chained import ChainedHash, RunningHash, State

__all__ = ["Context", "HashEngine", "Phase", "Result", "context_image", "image_context", "message_bytes", "reorder"]

REVERSED_BITS = bytes(int(f"{b:08b}"[::-1], 2) for b in range(256))


def message_bytes(words: list[int], datatype: int) -> bytes:
    """Message bytes of words as they were written to DIN, in the order in which the core takes them.

    Args:
        words: values written to DIN, 32 bits each.
        datatype: CR.DATATYPE: 0 leaves words alone, 1 swaps halfwords, 2 bytes, 3 bits.
    """
    if datatype == 2:
        return pack(f"<{len(words)}I", *words)
    if datatype == 3:
        return pack(f"<{len(words)}I", *words).translate(REVERSED_BITS)
    if datatype == 1:
        words = [word >> 16 | word << 16 & 0xFFFF_0000 for word in words]
    return pack(f">{len(words)}I", *words)


def reorder(word: int, datatype: int) -> int:
    """One DIN word as the core sees it, first message bit on top; applied twice it gives the word back."""
    return int.from_bytes(message_bytes([word], datatype), "big")


class Phase(IntEnum):
    """Where the words belong that come in now."""

    TEXT = 0
    KEY = 1
    OUTER = 2
    DONE = 3


@dataclass(slots=True)
class Result:
    """What ending a phase gives: its cost in half blocks, and the digest if it was the last."""

    half_blocks: int
    digest: bytes | None = None


@dataclass(slots=True)
class Context:
    """All that must survive a context swap at a block boundary, apart from words in the FIFO.

    `state` is the true chaining value of the running phase, `bits` the message bits behind it, `inner` the
    chaining value that is the inner digest of an HMAC (from its text's end on), `key` the first block of a
    key that is longer than a block although LKEY is 0.
    """

    phase: Phase
    state: State
    bits: int
    inner: State
    key: bytes = b""


class HashEngine:
    """The sequence of one message.

    Args:
        algorithm: which hash.
        hmac: MODE, as sampled at INIT.
        long_key: LKEY, as sampled at INIT: the key is hashed first.
    """

    def __init__(self, algorithm: ChainedHash, hmac: bool = False, long_key: bool = False) -> None:
        self.algorithm, self.hmac, self.long_key = algorithm, hmac, long_key
        self.phase = Phase.KEY if hmac else Phase.TEXT
        self.running = RunningHash(algorithm)
        self.inner = b""
        self.key = b""

    @property
    def text_comes(self) -> bool:
        """Words that come in now are message, not key."""
        return self.phase in (Phase.TEXT, Phase.DONE)

    def block(self, data: bytes) -> None:
        """A whole block, and more of this phase is still to come."""
        self._go_on_after_digest()
        if self.text_comes or self.long_key:
            self.running.update(data)
        elif not self.key:
            self.key = data

    def finish(self, tail: bytes, bits: int) -> Result:
        """DCAL: the last `bits` bits of this phase, up to one block."""
        self._go_on_after_digest()
        size = self.algorithm.block_bytes
        if self.phase is Phase.TEXT:
            cost = 2 * self.algorithm.padding_blocks(bits)
            digest = self.running.finish(tail, bits)
            if not self.hmac:
                return self._done(cost, digest)
            self.inner, self.phase = digest, Phase.OUTER
            self.running = RunningHash(self.algorithm)
            return Result(cost)
        key = self._key(tail, bits).ljust(size, b"\0")
        if self.phase is Phase.KEY:
            self.running = RunningHash(self.algorithm)
            self.running.update(bytes(b ^ 0x36 for b in key))
            self.key, self.phase = b"", Phase.TEXT
            return Result(5)
        outer = RunningHash(self.algorithm)
        outer.update(bytes(b ^ 0x5C for b in key))
        cost = 5 + (2 * self.algorithm.padding_blocks(bits) if self.long_key else 0)
        return self._done(cost, outer.finish(self.inner))

    def _key(self, tail: bytes, bits: int) -> bytes:
        if self.long_key:
            return self.running.finish(tail, bits)
        if self.key:
            return self.key
        whole, rest = divmod(bits, 8)
        return tail[:whole] + (bytes([tail[whole] & 0xFF00 >> rest & 0xFF]) if rest else b"")

    def _done(self, cost: int, digest: bytes) -> Result:
        self.phase = Phase.DONE
        self.inner = digest
        return Result(cost, digest)

    def _go_on_after_digest(self) -> None:
        # without INIT the chaining value is the digest: what follows is a wrong digest, as it should be
        if self.phase is Phase.DONE:
            state = self.algorithm.state_from(self.inner)
            self.running = RunningHash(self.algorithm, state, self.running.bits)
            self.hmac, self.phase = False, Phase.TEXT

    # -- context swap --------------------------------------------------------------------------
    def context(self) -> Context:
        """The state as it is now, chaining value computed."""
        inner = self.algorithm.state_from(self.inner) if self.inner else ()
        return Context(self.phase, self.running.state(), self.running.bits, inner, self.key)

    def resume(self, context: Context) -> None:
        """Go on from a context; a phase that MODE has not is taken for the text."""
        hash_only = not self.hmac and context.phase in (Phase.KEY, Phase.OUTER)
        self.phase = Phase.TEXT if hash_only else context.phase
        words = len(self.algorithm.initial)
        self.running = RunningHash(self.algorithm, context.state[:words], context.bits)
        self.inner = self.algorithm.digest_of(context.inner[:words]) if any(context.inner) else b""
        self.key = context.key


# Layout of the context registers (ours: silicon's is not published), as register numbers. CSR0: bit 1 is 1, bits 8:4
# count the words in the buffer, bits 13:12 are the phase, bit 16 says that a key block is kept.
DIN_AT, BITS_AT, STATE_AT, INNER_AT, FIFO_AT, KEY_AT = 1, 2, 4, 12, 22, 38
FIFO_WORDS, KEY_WORDS = 16, 16
WORD = 0xFFFF_FFFF


def context_image(context: Context, words: list[int], registers: int) -> list[int]:
    """Context and buffered DIN words as values of so many context registers."""
    image = [0] * registers
    image[0] = bool(context.key) << 16 | context.phase << 12 | len(words) << 4 | 2
    image[DIN_AT] = words[-1] if words else 0
    image[BITS_AT : BITS_AT + 2] = context.bits & WORD, context.bits >> 32 & WORD
    image[STATE_AT : STATE_AT + len(context.state)] = context.state
    image[INNER_AT : INNER_AT + len(context.inner)] = context.inner
    image[FIFO_AT : FIFO_AT + len(words[:-1])] = words[:-1]
    key = [int.from_bytes(context.key[at : at + 4], "big") for at in range(0, len(context.key), 4)]
    image[KEY_AT : KEY_AT + len(key)] = key[: registers - KEY_AT]  # version 1 has no room for all of it
    return image


def image_context(image: list[int]) -> tuple[Context, list[int]]:
    """Context and buffered DIN words from register values; whatever the values are, something comes out."""
    count = min(image[0] >> 4 & 0x1F, FIFO_WORDS)
    words = [*image[FIFO_AT : FIFO_AT + count - 1], image[DIN_AT]] if count else []
    key = b""
    if image[0] >> 16 & 1:
        key = b"".join(word.to_bytes(4, "big") for word in image[KEY_AT : KEY_AT + KEY_WORDS])
    state, inner = tuple(image[STATE_AT:INNER_AT]), tuple(image[INNER_AT : INNER_AT + 8])
    bits = image[BITS_AT + 1] << 32 | image[BITS_AT]
    return Context(Phase(image[0] >> 12 & 3), state, bits, inner, key), words
