"""Hashes whose chaining value can be looked at: the part shared by MD5, SHA-1 and SHA-2.

Silicon shows the intermediate state of a hash in its context-swap registers, and no library does. So a
`RunningHash` keeps the message: a digest that nobody interrupted comes from hashlib in one call, and only when
someone asks for the chaining value, or continues from one, do the compression functions of this package run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

__all__ = ["ChainedHash", "RunningHash", "State", "padded"]

State = tuple[int, ...]
"Chaining value: the algorithm's words A, B, C, ... as numbers."


@dataclass(frozen=True, eq=False)
class ChainedHash:
    """One algorithm.

    Args:
        name: as standards write it, `SHA-256`.
        library: hashlib's name.
        block_bytes: bytes of a message block.
        digest_bytes: bytes of the digest, the first ones of the last chaining value.
        length_bytes: bytes of the length field at the end of the padding.
        byteorder: of words in blocks, of the length and of the digest.
        initial: chaining value before the first block.
        compress: gives the chaining value after one block.
    """

    name: str
    library: str
    block_bytes: int
    digest_bytes: int
    length_bytes: int
    byteorder: Literal["little", "big"]
    initial: State
    compress: Callable[[State, bytes], State]

    def __deepcopy__(self, memo: object) -> ChainedHash:
        return self

    @property
    def word_bytes(self) -> int:
        """Bytes of one word of the chaining value."""
        return self.block_bytes // 16

    def digest_of(self, state: State) -> bytes:
        """The digest that a last chaining value means."""
        return b"".join(word.to_bytes(self.word_bytes, self.byteorder) for word in state)[: self.digest_bytes]

    def state_from(self, digest: bytes) -> State:
        """The chaining value that begins with a digest; words that the digest does not show are 0."""
        full = digest.ljust(len(self.initial) * self.word_bytes, b"\0")
        return tuple(
            int.from_bytes(full[at : at + self.word_bytes], self.byteorder)
            for at in range(0, len(full), self.word_bytes)
        )

    def padding_blocks(self, tail_bits: int) -> int:
        """Blocks that a last part of so many bits fills together with its padding: 1 or 2 for up to one block."""
        return -(-(tail_bits + 1 + 8 * self.length_bytes) // (8 * self.block_bytes))


@lru_cache(maxsize=4096)
def _compressed(algorithm: ChainedHash, state: State, block: bytes) -> State:
    """`compress`, remembered: firmware that saves its context after each block hashes the same data often."""
    return algorithm.compress(state, block)


def padded(algorithm: ChainedHash, tail: bytes, tail_bits: int, total_bits: int) -> bytes:
    """The end of a message with its padding, whole blocks.

    Args:
        algorithm: says block and length field.
        tail: bytes that hold the last bits, first bit of the message in bit 7.
        tail_bits: how many of them count.
        total_bits: bits of the whole message.
    """
    whole, rest = divmod(tail_bits, 8)
    kept = tail[:whole]
    last = tail[whole] & (0xFF00 >> rest) & 0xFF if rest else 0
    body = kept + bytes([last | 0x80 >> rest])
    size = algorithm.padding_blocks(tail_bits) * algorithm.block_bytes
    length = total_bits % (1 << 8 * algorithm.length_bytes)
    return body.ljust(size - algorithm.length_bytes, b"\0") + length.to_bytes(
        algorithm.length_bytes, algorithm.byteorder
    )


class RunningHash:
    """A message on its way through a hash, one whole block after the other.

    Args:
        algorithm: which hash.
        state: chaining value to continue from; None starts a message.
        bits: message bits that lie behind that chaining value.
    """

    __slots__ = ("_base_bits", "_from_start", "_looked_at", "_message", "_state", "algorithm")

    def __init__(self, algorithm: ChainedHash, state: State | None = None, bits: int = 0) -> None:
        self.algorithm = algorithm
        self._from_start = state is None or (state == algorithm.initial and bits == 0)
        self._state = algorithm.initial if state is None else state
        self._base_bits = bits
        self._message = bytearray()
        self._looked_at = 0

    @property
    def bits(self) -> int:
        """Message bits so far."""
        return self._base_bits + 8 * len(self._message)

    def update(self, block: bytes) -> None:
        """Take one whole block."""
        self._message += block

    def state(self) -> State:
        """The chaining value now."""
        size = self.algorithm.block_bytes
        message = self._message
        while self._looked_at < len(message):
            block = bytes(message[self._looked_at : self._looked_at + size])
            self._state = _compressed(self.algorithm, self._state, block)
            self._looked_at += size
        return self._state

    def finish(self, tail: bytes = b"", tail_bits: int | None = None) -> bytes:
        """The digest of all blocks and a tail of `tail_bits` bits (default all of `tail`), up to one block."""
        bits = 8 * len(tail) if tail_bits is None else tail_bits
        if self._from_start and bits % 8 == 0:
            return hashlib.new(
                self.algorithm.library, self._message + tail[: bits // 8], usedforsecurity=False
            ).digest()
        state = self.state()
        end = padded(self.algorithm, tail, bits, self.bits + bits)
        for at in range(0, len(end), self.algorithm.block_bytes):
            state = _compressed(self.algorithm, state, end[at : at + self.algorithm.block_bytes])
        return self.algorithm.digest_of(state)
