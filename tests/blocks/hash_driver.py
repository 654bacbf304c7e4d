"""Drivers for the HASH processor as firmware writes them: polling, interrupt, DMA, context swap.

They know the register map by numbers (RM0090), not by the model's names, and time passes at each access.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from cryplab.blocks.hash_v2 import HashV2

CR, DIN, STR, HRA, IMR, SR, CSR, HR = 0x00, 0x04, 0x08, 0x0C, 0x20, 0x24, 0xF8, 0x310
INIT, DMAE, MODE, MDMAT, LKEY = 1 << 2, 1 << 3, 1 << 6, 1 << 13, 1 << 16
DCAL = 1 << 8
DINIS, DCIS, DMAS, BUSY = 1, 2, 4, 8
DINNE = 1 << 12
ALGO = {"SHA-1": 0, "MD5": 1 << 7, "SHA-224": 1 << 18, "SHA-256": 1 << 18 | 1 << 7}
DIGEST_BYTES = {"SHA-1": 20, "MD5": 16, "SHA-224": 28, "SHA-256": 32}


def din_words(message: bytes, datatype: int = 2) -> list[int]:
    """What a driver writes to DIN for a message; the last word is filled up with ones, which must not count."""
    filled = message + b"\xff" * (-len(message) % 4)
    words = struct.unpack(f">{len(filled) // 4}I", filled)
    if datatype == 0:
        return list(words)
    if datatype == 1:
        return [(word & 0xFFFF) << 16 | word >> 16 for word in words]
    if datatype == 2:
        return list(struct.unpack(f"<{len(filled) // 4}I", filled))
    return [int(f"{word:032b}"[::-1], 2) for word in words]


class HashDriver:
    """One block and the accesses of its firmware."""

    def __init__(self, block: HashV2 | None = None, cycles_per_access: int = 6) -> None:
        self.block = block or HashV2("HASH")
        self.clock = self.block.clock
        self.step = cycles_per_access

    def write(self, offset: int, value: int) -> None:
        self.clock.advance(self.step)
        self.block.write(offset, value)

    def read(self, offset: int) -> int:
        self.clock.advance(self.step)
        return self.block.read(offset)

    def wait(self, flag: int, level: bool = True, limit: int = 1000) -> int:
        """Polls of SR until a flag has a level; returns how many it took."""
        for polls in range(limit):
            if bool(self.read(SR) & flag) == level:
                return polls
        raise AssertionError(f"SR flag {flag:#x} did not become {level} in {limit} polls")

    def digest(self, algorithm: str) -> bytes:
        """HR0..4 at their old place, the rest at the new one, as ST's drivers read them."""
        words = [self.read(HRA + 4 * n) for n in range(5)] + [self.read(HR + 4 * n) for n in range(5, 8)]
        return struct.pack(">8I", *words)[: DIGEST_BYTES[algorithm]]

    def start(self, algorithm: str, datatype: int = 2, key: bytes | None = None) -> None:
        long_key = LKEY if key is not None and len(key) > 64 else 0
        self.write(CR, ALGO[algorithm] | datatype << 4 | (MODE if key is not None else 0) | long_key | INIT)

    def feed(self, message: bytes, datatype: int = 2) -> None:
        for word in din_words(message, datatype):
            self.write(DIN, word)

    def calculate(self, bits: int) -> None:
        self.write(STR, bits % 32)
        self.write(STR, self.read(STR) | DCAL)

    # -- whole messages ------------------------------------------------------------------------
    def polled(
        self, algorithm: str, message: bytes, bits: int | None = None, key: bytes | None = None, datatype: int = 2
    ) -> bytes:
        """A digest by polling; with a key the HMAC, its three phases separated by waiting for BUSY = 0."""
        bits = 8 * len(message) if bits is None else bits
        self.start(algorithm, datatype, key)
        for part in [message] if key is None else [key, message, key]:
            self.feed(part, datatype)
            self.calculate(bits if part is message else 8 * len(part))
            self.wait(BUSY, False)
        self.wait(DCIS)
        return self.digest(algorithm)

    def by_interrupt(self, algorithm: str, message: bytes, key: bytes | None = None) -> bytes:
        """A digest with all data written in the interrupt handler: 17 words, then 16 each time, then the rest."""
        self.start(algorithm, 2, key)
        phases: Iterator[bytes] = iter([message] if key is None else [key, message, key])
        state: dict[str, object] = {"part": next(phases), "words": None, "done": False}

        def serve() -> None:
            status = self.read(SR)
            if status & DCIS:
                self.write(IMR, 0)
                state["done"] = True
                return
            if not status & DINIS or state["part"] is None:
                return
            part = state["part"]
            assert isinstance(part, bytes)
            words = state["words"]
            count = 16
            if words is None:
                words, count = din_words(part), 17
            assert isinstance(words, list)
            for word in words[:count]:
                self.write(DIN, word)
            state["words"] = words[count:]
            if len(words) <= count:
                self.calculate(8 * len(part))
                state["part"], state["words"] = next(phases, None), None

        self.write(IMR, 3)
        for _ in range(100_000):
            if state["done"]:
                return self.digest(algorithm)
            if self.block.irq.level:
                serve()
            else:
                self.clock.advance(7)
        raise AssertionError("the digest interrupt never came")

    def by_dma(self, algorithm: str, message: bytes, key: bytes | None = None, chunks: int = 1) -> bytes:
        """A digest with all data moved by DMA, in several transfers of whole words with MDMAT if `chunks` > 1."""
        dma = TinyDma(self)
        self.start(algorithm, 2, key)
        for part in [message] if key is None else [key, message, key]:
            if not part:
                self.calculate(0)
                self.wait(BUSY, False)
                continue
            words = din_words(part)
            size = -(-len(words) // chunks)
            pieces = [words[at : at + size] for at in range(0, len(words), size)]
            self.write(STR, 8 * len(part) % 32)
            for piece in pieces:
                more = MDMAT if piece is not pieces[-1] else 0
                dma.load(piece)
                self.write(CR, self.read(CR) & ~MDMAT | more | DMAE)
                dma.run()
                if more:
                    self.write(CR, self.read(CR) & ~DMAE)
            assert not self.read(CR) & DMAE
            assert not self.read(SR) & DMAS
        self.wait(DCIS)
        return self.digest(algorithm)

    # -- context swap --------------------------------------------------------------------------
    def save(self, registers: int = 54) -> tuple[int, int, int, list[int]]:
        assert not self.read(SR) & BUSY
        imr, start, control = self.read(IMR), self.read(STR), self.read(CR)
        return imr, start, control, [self.read(CSR + 4 * n) for n in range(registers)]

    def restore(self, context: tuple[int, int, int, list[int]], first: int = 0) -> None:
        imr, start, control, image = context
        self.write(IMR, imr)
        self.write(STR, start)
        self.write(CR, control)
        self.write(CR, control | INIT)
        for n, word in enumerate(image):
            self.write(CSR + 4 * (first + n), word)


class TinyDma:
    """A DMA stream that moves one word per three cycles while a request stands."""

    def __init__(self, driver: HashDriver) -> None:
        self.block, self.clock = driver.block, driver.clock
        self.words: list[int] = []
        self.moved = 0
        self.on_moved: Callable[[], None] = lambda: None
        self._going = False
        self.block.dma_in.connect(self.wake)

    def load(self, words: list[int]) -> None:
        self.words = list(words)
        self.wake()

    def wake(self) -> None:
        if self.words and self.block.dma_in.words and not self._going:
            self._going = True
            self.clock.after(3, self._move)

    def _move(self) -> None:
        self._going = False
        if not self.words or not self.block.dma_in.words:
            return
        self.block.write(DIN, self.words.pop(0))
        self.moved += 1
        self.block.dma_in.moved()
        self.on_moved()
        if not self.words:
            self.block.dma_in.last()
        self.wake()

    def run(self, limit: int = 100_000) -> None:
        for _ in range(limit):
            if not self.words:
                return
            self.clock.advance(5)
        raise AssertionError(f"{len(self.words)} words were never requested")
