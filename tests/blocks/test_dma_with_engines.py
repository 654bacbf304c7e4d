"""CRYP and HASH fed by the DMA controller over the bus, wired as the chip says."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from cryplab import chips
from cryplab.bus import Bus
from cryplab.clock import Clock
from cryplab.registers import Block
from cryplab.reports import Reports

RAM, CRYP, HASH, DMA2 = 0x2000_0000, 0x5006_0000, 0x5006_0400, 0x4002_6400
EN, TCIE, M2P, MINC, WORDS, MBURST4, PBURST4 = 1, 1 << 4, 1 << 6, 1 << 10, 2 << 11 | 2 << 13, 1 << 23, 1 << 21
SETTINGS = {"direct": (0, 0), "fifo": (0, 7), "bursts": (MBURST4, 7), "bursts both sides": (MBURST4 | PBURST4, 7)}


class System:
    """The blocks of a chip on a bus, with 64 KiB of memory and no core."""

    def __init__(self, chip_name: str = "stm32f437vg") -> None:
        chip = chips.find(chip_name)
        self.clock, reports = Clock(), Reports(strict=True)
        self.bus = Bus(self.clock, reports)
        self.memory = bytearray(0x1_0000)
        self.bus.attach_memory(RAM, memoryview(self.memory))
        self.blocks: dict[str, Any] = {}
        for name in ("DMA2", "CRYP", "HASH", "USART1", "USART6"):
            at = chip.peripheral(name)
            block: Block = at.block(name, clock=self.clock, reports=reports)  # type: ignore[union-attr]
            self.blocks[name] = block
            self.bus.attach(at.base, at.size, block)
        self.blocks["DMA2"].bus = self.bus
        for wire in chip.dma:
            owner, _, request = wire.request.partition(".")
            if wire.controller == "DMA2":
                self.blocks["DMA2"].connect(wire.stream, wire.channel, getattr(self.blocks[owner], request))

    def write(self, address: int, *words: int) -> None:
        for word in words:
            self.bus.write(address, word, 4)

    def read(self, address: int) -> int:
        return self.bus.read(address, 4)

    def stream(self, n: int, bits: int, port: int, memory: int, words: int, fcr: int) -> None:
        base = DMA2 + 0x10 + 0x18 * n
        self.write(base + 8, port)
        self.write(base + 12, memory)
        self.write(base + 4, words)
        self.write(base + 20, fcr)
        self.write(base, bits | 2 << 25 | MINC | WORDS | TCIE | EN)

    def wait(self, line: str) -> int:
        start = self.clock.now
        while not getattr(self.blocks["DMA2"], line).level:
            assert self.clock.now - start < 1_000_000, f"{line} never rises"
            self.clock.advance(1)
        return self.clock.now - start


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("blocks", [1, 2, 5, 64])
def test_aes_ecb_by_dma(setting: str, blocks: int) -> None:
    burst, fcr = SETTINGS[setting]
    system, chance = System(), random.Random(blocks)
    key, data = chance.randbytes(16), chance.randbytes(16 * blocks)
    system.memory[: len(data)] = data
    system.write(CRYP, 2 << 6 | 4 << 3)  # bytes, AES-ECB, encryption, 128 bits
    for n in range(4):
        system.write(CRYP + 0x30 + 4 * n, int.from_bytes(key[4 * n : 4 * n + 4], "big"))
    system.write(CRYP, 2 << 6 | 4 << 3 | 1 << 14)
    system.write(CRYP, 2 << 6 | 4 << 3 | 1 << 15)
    system.stream(5, burst, CRYP + 0x0C, RAM + 0x8000, 4 * blocks, fcr)
    system.stream(6, burst | M2P, CRYP + 0x08, RAM, 4 * blocks, fcr)
    system.write(CRYP + 0x10, 3)
    system.wait("stream5")
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    assert bytes(system.memory[0x8000 : 0x8000 + 16 * blocks]) == encryptor.update(data)
    assert system.blocks["DMA2"].stream6.level


def test_time_of_aes_by_dma() -> None:
    """Bounds from the access times alone: both streams move 4 words a block, at 8 cycles a word and 4 to answer."""
    system, blocks = System(), 64
    system.write(CRYP, 4 << 3 | 1 << 15)
    system.stream(5, 0, CRYP + 0x0C, RAM + 0x8000, 4 * blocks, 0)
    system.stream(6, M2P, CRYP + 0x08, RAM, 4 * blocks, 0)
    system.write(CRYP + 0x10, 3)
    per_block = system.wait("stream5") / blocks
    assert 2 * 36 <= per_block <= 2 * 36 + 18


@pytest.mark.parametrize("setting", ["direct", "fifo", "bursts"])
@pytest.mark.parametrize("length", [4, 55, 56, 64, 65, 119, 128, 1000])
def test_sha_256_by_dma(setting: str, length: int) -> None:
    burst, fcr = SETTINGS[setting]
    system = System()
    data = random.Random(length).randbytes(length)
    system.memory[:length] = data
    words = -(-length // 4)
    system.write(HASH, 1 << 18 | 1 << 7 | 2 << 4 | 1 << 2)  # SHA-256, bytes
    system.write(HASH + 0x08, 8 * (length % 4))
    system.stream(7, burst | M2P, HASH + 0x04, RAM, words, fcr)
    system.write(HASH, system.read(HASH) | 1 << 3)
    system.wait("stream7")
    for _ in range(1000):
        if system.read(HASH + 0x24) & 2:
            break
        system.clock.advance(1)
    digest = b"".join(system.read(HASH + 0x310 + 4 * n).to_bytes(4, "big") for n in range(8))
    assert digest == hashlib.sha256(data).digest()
