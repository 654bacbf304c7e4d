"""CCM one phase and one block at a time, with the state that context-swap registers show.

Between blocks CCM is the CBC-MAC `mac` (a block as a big-endian integer) and `iv`, the next counter
block. Formatting of B0, B1 and counter blocks is software's. Source: SP 800-38C.
"""

from __future__ import annotations

from cryplab.algorithms.gcm import Phase

__all__ = ["CcmDecryption", "CcmEncryption", "CcmFinal", "CcmHeader", "CcmInit"]


class CcmMac(Phase):
    """A phase that feeds the CBC-MAC."""

    def absorb(self, value: int) -> None:
        """One block, as an integer, into the CBC-MAC."""
        self.mac = int.from_bytes(self.encrypt((self.mac ^ value).to_bytes(16, "big")), "big")


class CcmInit(CcmMac):
    """B0 starts a new CBC-MAC."""

    def step(self, block: bytes) -> bytes:
        """Take B0."""
        self.mac = 0
        self.absorb(int.from_bytes(block, "big"))
        return b""


class CcmHeader(CcmMac):
    """Length and additional data, formatted and zero padded."""

    def step(self, block: bytes) -> bytes:
        """Take a block into the CBC-MAC."""
        self.absorb(int.from_bytes(block, "big"))
        return b""


class CcmEncryption(CcmMac):
    """Payload, encrypting: the CBC-MAC takes what goes in."""

    def step(self, block: bytes) -> bytes:
        """Authenticate and encrypt the block."""
        self.absorb(int.from_bytes(block, "big"))
        return self.cover(block).to_bytes(16, "big")


class CcmDecryption(CcmMac):
    """Payload, decrypting: the CBC-MAC takes what comes out."""

    def step(self, block: bytes) -> bytes:
        """Decrypt the block and authenticate the result."""
        out = self.cover(block)
        self.absorb(out & self.clear)
        return out.to_bytes(16, "big")


class CcmFinal(CcmMac):
    """Counter block 0 in, tag out."""

    def step(self, block: bytes) -> bytes:
        """The CBC-MAC covered by the encryption of the block given."""
        mask = int.from_bytes(self.encrypt(block), "big")
        return (self.mac ^ mask).to_bytes(16, "big")
