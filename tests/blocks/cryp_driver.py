"""A driver for CRYP blocks in Python: what firmware does, by polling, by interrupt or by DMA.

It knows registers by their offsets, as firmware does, and nothing of the model's insides.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from cryplab.blocks.cryp_v2 import CrypV2

CR, SR, DIN, DOUT, DMACR, IMSCR, RISR, MISR = range(0, 0x20, 4)
K, IV, CSGCMCCM, CSGCM = 0x20, 0x40, 0x50, 0x70
CRYPEN, FFLUSH, DECRYPT, PHASE = 1 << 15, 1 << 14, 1 << 2, 1 << 16
MODES = {"TDES-ECB": 0x00, "TDES-CBC": 0x08, "DES-ECB": 0x10, "DES-CBC": 0x18, "AES-ECB": 0x20, "AES-CBC": 0x28,
         "AES-CTR": 0x30, "KEYPREP": 0x38, "AES-GCM": 0x8_0000, "AES-CCM": 0x8_0008}  # fmt: skip
MODE_BITS = 0x8_0038
KEYSIZE = {16: 0, 24: 1 << 8, 32: 2 << 8}
IFEM, IFNF, OFNE, OFFU, BUSY = 1, 2, 4, 8, 16
POLLS = 1000
WAYS = ("poll", "interrupt", "dma")


def words_of(data: bytes, datatype: int) -> list[int]:
    """Bytes of a message as words for DIN."""
    count = len(data) // 4
    if datatype == 2:
        return list(struct.unpack(f"<{count}I", data))
    words = struct.unpack(f">{count}I", data)
    if datatype == 1:
        return [(word & 0xFFFF) << 16 | word >> 16 for word in words]
    return [int(f"{word:032b}"[::-1], 2) for word in words] if datatype == 3 else list(words)


def bytes_of(words: list[int], datatype: int) -> bytes:
    """Words from DOUT as bytes of a message."""
    order = "<" if datatype == 2 else ">"
    if datatype != 2:
        words = words_of(struct.pack(f">{len(words)}I", *words), datatype)
    return struct.pack(f"{order}{len(words)}I", *words)


def padded(data: bytes, size: int = 16) -> bytes:
    return data + bytes(-len(data) % size)


class Mover:
    """A DMA controller of two streams: moves the words of each request, some cycles apiece."""

    def __init__(self, cryp: CrypV2, given: list[int], wanted: int, cycles: int) -> None:
        self.cryp, self.given, self.wanted, self.cycles = cryp, given, wanted, cycles
        self.at, self.taken = 0, []
        cryp.dma_in.connect(lambda: cryp.clock.after(cycles, self.feed) and None)
        cryp.dma_out.connect(lambda: cryp.clock.after(cycles, self.fetch) and None)

    def feed(self) -> None:
        if self.cryp.dma_in.words and self.at < len(self.given):
            self.cryp.write(DIN, self.given[self.at])
            self.at += 1
            self.cryp.dma_in.moved()
            if self.cryp.dma_in.words:
                self.cryp.clock.after(self.cycles, self.feed)

    def fetch(self) -> None:
        if self.cryp.dma_out.words and len(self.taken) < self.wanted:
            self.taken.append(self.cryp.read(DOUT))
            self.cryp.dma_out.moved()
            if self.cryp.dma_out.words:
                self.cryp.clock.after(self.cycles, self.fetch)


class Driver:
    """One user of a CRYP; `datatype` is how its words lie; `pause` is called between polled blocks."""

    def __init__(self, cryp: CrypV2, way: str = "poll", datatype: int = 2) -> None:
        self.cryp, self.way, self.datatype = cryp, way, datatype
        self.read, self.write = cryp.read, cryp.write
        self.pause: Callable[[Driver], None] | None = None
        self.key = b""

    # -- moving data ---------------------------------------------------------------------------
    def wait(self, mask: int, value: int, register: int = SR) -> None:
        for _ in range(POLLS):
            if self.read(register) & mask == value:
                return
            self.cryp.clock.advance(8)
        raise AssertionError(f"register {register:#x} stays {self.read(register):#x}, not {value:#x} in {mask:#x}")

    def stream(self, data: bytes, block: int = 16, output: bool = True, way: str | None = None) -> bytes:
        """Whole blocks in, as many bytes out (none in a phase without output)."""
        words = words_of(data, self.datatype)
        wanted = len(words) if output else 0
        taken = getattr(self, "_by_" + (way or self.way))(words, wanted, block // 4)
        assert len(taken) == wanted
        self.wait(BUSY | IFEM, IFEM)
        return bytes_of(taken, self.datatype)

    def _by_poll(self, words: list[int], wanted: int, block: int) -> list[int]:
        taken: list[int] = []
        for i in range(0, len(words), block):
            if i and self.pause:
                self.pause(self)
            for word in words[i : i + block]:
                self.write(DIN, word)
            if wanted:
                self.wait(OFNE, OFNE)
                taken += [self.read(DOUT) for _ in range(block)]
            else:
                self.wait(IFEM | BUSY, IFEM)
        return taken

    def _by_interrupt(self, words: list[int], wanted: int, block: int) -> list[int]:
        taken: list[int] = []
        at = 0
        self.write(IMSCR, 3)
        for _ in range(POLLS + 10 * len(words)):
            if len(taken) == wanted and at == len(words):
                break
            if not self.cryp.irq.level:
                self.cryp.clock.advance(max(1, self.cryp.clock.next_cycle - self.cryp.clock.now))
                continue
            cause = self.read(MISR)
            assert cause, "interrupt line without a cause in MISR"
            if cause & 2:
                taken.append(self.read(DOUT))
            if cause & 1:
                if at == len(words):
                    self.write(IMSCR, 2)
                for word in words[at : at + block]:
                    self.write(DIN, word)
                at = min(at + block, len(words))
        self.write(IMSCR, 0)
        assert not self.cryp.irq.level
        return taken

    def _by_dma(self, words: list[int], wanted: int, block: int) -> list[int]:
        mover = Mover(self.cryp, words, wanted, cycles=2)
        self.write(DMACR, 3 if wanted else 1)
        for _ in range(POLLS + 10 * len(words)):
            if len(mover.taken) == wanted and mover.at == len(words):
                break
            self.cryp.clock.advance(max(1, self.cryp.clock.next_cycle - self.cryp.clock.now))
        self.write(DMACR, 0)
        return mover.taken

    # -- configuration -------------------------------------------------------------------------
    def configure(self, word: int) -> None:
        """CR with CRYPEN = 0."""
        self.write(CR, word | self.datatype << 6)

    def enable(self) -> None:
        self.write(CR, self.read(CR) | CRYPEN)

    def disable(self) -> None:
        self.write(CR, self.read(CR) & ~CRYPEN)

    def load_key(self, key: bytes) -> None:
        self.key = key
        first = 2 if len(key) == 8 else 8 - len(key) // 4
        for i, (word,) in enumerate(struct.iter_unpack(">I", key)):
            self.write(K + 4 * (first + i), word)

    def load_iv(self, iv: bytes) -> None:
        for i, (word,) in enumerate(struct.iter_unpack(">I", iv)):
            self.write(IV + 4 * i, word)

    def prepare_key(self, key: bytes) -> None:
        self.configure(MODES["KEYPREP"] | KEYSIZE[len(key)])
        self.load_key(key)
        self.enable()
        self.wait(BUSY, 0)
        assert not self.read(CR) & CRYPEN

    # -- modes ---------------------------------------------------------------------------------
    def cipher(self, mode: str, key: bytes, iv: bytes, data: bytes, decrypt: bool = False) -> bytes:
        """A whole message of any mode but GCM and CCM; a short last block only in counter mode."""
        des = mode[0] != "A"
        size = 0 if des else KEYSIZE[len(key)]
        if decrypt and mode in ("AES-ECB", "AES-CBC"):
            self.prepare_key(key)
        self.configure(MODES[mode] | size | DECRYPT * decrypt)
        if not (decrypt and mode in ("AES-ECB", "AES-CBC")):
            self.load_key(key)
        self.load_iv(iv)
        self.write(CR, self.read(CR) | FFLUSH)
        self.enable()
        block = 8 if des else 16
        out = self.stream(padded(data, block), block)[: len(data)]
        self.disable()
        return out

    def phase(self, number: int) -> None:
        """Next phase of GCM or CCM, CRYPEN cleared between."""
        self.disable()
        self.write(CR, self.read(CR) & ~(3 * PHASE) | number * PHASE)
        self.enable()

    def gcm_run(
        self, key: bytes, first: bytes, aad: bytes, data: bytes, decrypt: bool, lengths: bytes
    ) -> tuple[bytes, bytes]:
        """GCM from the counter block `first` of the payload; output and the engine's tag."""
        self.configure(MODES["AES-GCM"] | KEYSIZE[len(key)] | DECRYPT * decrypt)
        self.load_key(key)
        self.load_iv(first)
        self.enable()
        self.wait(CRYPEN, 0, CR)
        if aad:
            self.phase(1)
            self.stream(padded(aad), output=False)
        out = b""
        if data:
            self.phase(2)
            whole = len(data) if decrypt else len(data) // 16 * 16
            if whole:
                out = self.stream(padded(data[:whole]))
            if whole < len(data):
                out += self.gcm_short_block(data[whole:])
        self.phase(3)
        tag = self.stream(lengths)
        self.disable()
        return out[: len(data)], tag

    def gcm_short_block(self, data: bytes) -> bytes:
        """Encrypt a short last block by way of counter mode."""
        self.disable()
        self.write(IV + 12, self.read(CSGCMCCM + 28) - 1 & 0xFFFF_FFFF)
        control = self.read(CR)
        self.write(CR, control & ~MODE_BITS | MODES["AES-CTR"])
        self.enable()
        out = self.stream(padded(data), way="poll")[: len(data)]
        self.write(CR, self.read(CR) & ~MODE_BITS | MODES["AES-GCM"])
        self.write(CR, self.read(CR) | 3 * PHASE)
        self.stream(padded(out), way="poll")  # what comes out is no tag yet
        return out

    def gcm(self, key: bytes, iv: bytes, aad: bytes, data: bytes, decrypt: bool = False) -> tuple[bytes, bytes]:
        """A GCM message; output and tag of 16 bytes."""
        lengths = struct.pack(">QQ", 8 * len(aad), 8 * len(data))
        if len(iv) == 12:
            return self.gcm_run(key, iv + bytes((0, 0, 0, 2)), aad, data, decrypt, lengths)
        # Other lengths: the engine hashes the IV, too; what it covers the tag with is found by a message of nothing.
        zero = bytes(15) + b"\x02"
        _, cover = self.gcm_run(key, zero, b"", b"", False, bytes(16))
        _, covered = self.gcm_run(key, zero, iv, b"", False, struct.pack(">QQ", 0, 8 * len(iv)))
        start = xor(cover, covered)
        first = start[:12] + (int.from_bytes(start[12:], "big") + 1 & 0xFFFF_FFFF).to_bytes(4, "big")
        _, cover = self.gcm_run(key, first, b"", b"", False, bytes(16))
        out, tag = self.gcm_run(key, first, aad, data, decrypt, lengths)
        return out, xor(xor(tag, cover), self.cipher("AES-ECB", key, b"", start))

    def ccm(
        self, key: bytes, nonce: bytes, aad: bytes, data: bytes, tag_bytes: int, decrypt: bool = False
    ) -> tuple[bytes, bytes]:
        """A CCM message; output and tag of `tag_bytes`."""
        width = 15 - len(nonce)
        flags = 0x40 * bool(aad) | (tag_bytes - 2) // 2 << 3 | width - 1
        b0 = bytes((flags,)) + nonce + len(data).to_bytes(width, "big")
        counter = bytes((width - 1,)) + nonce + bytes(width)
        self.configure(MODES["AES-CCM"] | KEYSIZE[len(key)] | DECRYPT * decrypt)
        self.load_key(key)
        self.load_iv(counter[:15] + b"\x01")
        for word in words_of(b0, self.datatype):
            self.write(DIN, word)
        self.enable()
        self.wait(CRYPEN, 0, CR)
        if aad:
            prefix = struct.pack(">H", len(aad)) if len(aad) < 0xFF00 else struct.pack(">HI", 0xFFFE, len(aad))
            self.phase(1)
            self.stream(padded(prefix + aad), output=False)
        out = b""
        if data:
            self.phase(2)
            whole = len(data) // 16 * 16 if decrypt else len(data)
            if whole:
                out = self.stream(padded(data[:whole]))
            if whole < len(data):
                out += self.ccm_short_block(data[whole:])
        self.phase(3)
        tag = self.stream(counter)
        self.disable()
        return out[: len(data)], tag[:tag_bytes]

    def ccm_short_block(self, data: bytes) -> bytes:
        """Decrypt a short last block by way of counter mode."""
        counter = self.read(CSGCMCCM + 28)
        self.disable()
        before = [self.read(CSGCMCCM + 4 * i) for i in range(4)]
        self.write(IV + 12, counter)
        self.write(CR, self.read(CR) & ~MODE_BITS | MODES["AES-CTR"])
        self.enable()
        out = self.stream(padded(data), way="poll")[: len(data)]
        after = [self.read(CSGCMCCM + 4 * i) for i in range(4)]
        self.write(CR, self.read(CR) & ~MODE_BITS | MODES["AES-CCM"])
        self.write(CR, self.read(CR) & ~(3 * PHASE) | PHASE)
        shift = [a ^ b for a, b in zip(before, after, strict=True)]  # what the excursion did to the CBC-MAC
        self.stream(xor(padded(out), struct.pack(">4I", *shift)), output=False, way="poll")
        return out

    # -- context swap --------------------------------------------------------------------------
    def save(self) -> tuple[int, list[int]]:
        """Stop between blocks and read what a later `restore` needs."""
        self.wait(IFEM | OFNE | BUSY, IFEM)
        self.disable()
        return self.read(CR), [self.read(IV + 4 * i) for i in range(20)]

    def restore(self, context: tuple[int, list[int]]) -> None:
        control, words = context
        mode = control & MODE_BITS
        if control & DECRYPT and mode in (MODES["AES-ECB"], MODES["AES-CBC"]):
            self.prepare_key(self.key)
            self.write(CR, control)
        else:
            self.write(CR, control)
            self.load_key(self.key)
        for i in (*range(4, 20), *range(4)):
            self.write(IV + 4 * i, words[i])
        self.write(CR, control | FFLUSH)
        self.enable()


def xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
