"""A driver played by hand: register accesses go to the real block models and, as records, to an observer.

`Play` has memory, blocks and calls; the drivers below are right as written, and take the fault that a test
wants as a keyword.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cryplab.blocks.cryp_v2 import CrypV2
from cryplab.blocks.hash_v2 import HashV2
from cryplab.blocks.rng_v1 import RngV1
from cryplab.clock import Clock
from cryplab.observe.events import READ, WRITE, Access, CallEntry, pack
from cryplab.observe.findings import Finding
from cryplab.observe.observer import Observer, Region, Watched
from cryplab.registers import Block
from cryplab.reports import Location, Reports

BASES = {"CRYP": 0x5006_0000, "HASH": 0x5006_0400, "RNG": 0x5006_0800, "DMA2": 0x4002_6400, "RCC": 0x4002_3800}
RAM, RAM_SIZE = 0x2000_0000, 0x1_0000
STACK = RAM + RAM_SIZE - 0x100
RETURN = 0x0800_1001
AHB2RSTR, CRYPRST, HASHRST = 0x14, 1 << 4, 1 << 5


def declared(block: type[Block]) -> dict[int, int]:
    return {offset: sum(f.bits for f in place.reg.fields) for offset, place in block.places.items()}


class Play:
    """Blocks, memory, an observer, and a program counter that tells lines apart."""

    def __init__(self, *, deep: bool = False, **options: Any) -> None:
        self.clock = Clock(hz=168_000_000)
        self.reports = Reports()
        self.pc = 0x0800_0000
        self.reports.where = lambda: Location(self.pc, self.clock.now)
        kinds: dict[str, type[Block]] = {"CRYP": CrypV2, "HASH": HashV2, "RNG": RngV1}
        self.blocks = {n: k(n, clock=self.clock, reports=self.reports) for n, k in kinds.items()}
        self.memory = bytearray(RAM_SIZE)
        resets = {"CRYP": (AHB2RSTR, CRYPRST), "HASH": (AHB2RSTR, HASHRST)}
        irqs = {"CRYP": (79,), "HASH": (80,), "RNG": (80,)}
        watched = [
            Watched(n, BASES[n], n.lower(), declared=declared(k), irqs=irqs[n], reset=resets.get(n))
            for n, k in kinds.items()
        ]
        self.observer = Observer(
            [*watched, Watched("DMA2", BASES["DMA2"], "dma", irqs=(56, 57))],
            read_memory=self.read_memory,
            memories=(Region("SRAM1", RAM, RAM_SIZE), Region("CCM", 0x1000_0000, 0x1_0000, dma=False)),
            rcc=BASES["RCC"],
            deep=deep,
            **options,
        )
        self.top = RAM + 0x100
        self.sp = STACK

    # -- memory --------------------------------------------------------------------------------
    def read_memory(self, address: int, size: int) -> bytes | None:
        start = address - RAM
        return bytes(self.memory[start : start + size]) if 0 <= start <= RAM_SIZE - size else None

    def put(self, data: bytes, address: int | None = None) -> int:
        """Store bytes, at a new place by default; returns the address."""
        if address is None:
            address = self.top
            self.top += (len(data) + 63) & ~15
        self.memory[address - RAM : address - RAM + len(data)] = data
        return address

    # -- accesses ------------------------------------------------------------------------------
    def _place(self, name: str) -> tuple[str, int]:
        block, _, register = name.partition(".")
        if register.startswith("+"):
            return block, int(register[1:], 16)
        places = self.blocks[block].places
        return block, next(offset for offset, place in places.items() if place.name == register)

    def w(self, name: str, value: int, pc: int = 0) -> None:
        """Write `BLOCK.REG` (or `DMA2.+10`)."""
        block, offset = self._place(name)
        self.pc = pc or self.pc + 2
        self.clock.advance(4)
        if block in self.blocks:
            self.blocks[block].write(offset, value)
        self.observer.accesses(pack(Access(self.clock.now, self.pc, BASES[block] + offset, value, 4, WRITE)))

    def r(self, name: str, value: int | None = None) -> int:
        """Read; `value` overrides what the block says."""
        block, offset = self._place(name)
        self.pc += 2
        self.clock.advance(4)
        got = self.blocks[block].read(offset) if block in self.blocks else 0
        got = got if value is None else value
        self.observer.accesses(pack(Access(self.clock.now, self.pc, BASES[block] + offset, got, 4, READ)))
        return got

    def record(self, kind: int, address: int, value: int) -> None:
        """An exception record."""
        self.clock.advance(12)
        self.observer.accesses(pack(Access(self.clock.now, self.pc, address, value, 4, kind)))

    def wait(self, name: str, mask: int, wanted: int, limit: int = 2000) -> int:
        """Poll until (register & mask) == wanted."""
        for _ in range(limit):
            value = self.r(name)
            if value & mask == wanted:
                return value
        raise AssertionError(f"{name} never became {wanted:#x}")

    @contextmanager
    def call(self, name: str, *arguments: int, result: int = 0) -> Iterator[None]:
        """A known function runs."""
        self.sp -= 0x40
        sp = self.sp
        self.observer.enter(CallEntry(self.clock.now, name, self.pc | 0x8000, sp, RETURN + sp, tuple(arguments)))
        try:
            yield
        finally:
            self.observer.leave(RETURN + sp, sp, result & 0xFFFF_FFFF, self.clock.now)
            self.sp = sp + 0x40

    # -- findings ------------------------------------------------------------------------------
    @property
    def found(self) -> list[Finding]:
        return list(self.observer.findings)

    @property
    def rules(self) -> set[str]:
        return {finding.rule for finding in self.found}

    def only(self, rule: str) -> Finding:
        """The one finding; it must be of this rule."""
        assert [f.rule for f in self.found] == [rule], self.observer.findings.show()
        return self.found[0]


# -- drivers ---------------------------------------------------------------------------------------
CRYPEN, FFLUSH = 1 << 15, 1 << 14
BYTES = 2 << 6
PREPARE, ECB, CBC, CTR = 7 << 3, 4 << 3, 5 << 3, 6 << 3
GCM, CCM = 1 << 19, 1 << 19 | 1 << 3
DECRYPT = 1 << 2
HEADER, PAYLOAD, FINAL = 1 << 16, 2 << 16, 3 << 16
KEYS = ("K0LR", "K0RR", "K1LR", "K1RR", "K2LR", "K2RR", "K3LR", "K3RR")
IVS = ("IV0LR", "IV0RR", "IV1LR", "IV1RR")


def words(data: bytes, order: str = "big") -> list[int]:
    return [int.from_bytes(data[i : i + 4], order) for i in range(0, len(data), 4)]  # type: ignore[arg-type]


def keysize(key: bytes) -> int:
    return {16: 0, 24: 1, 32: 2}[len(key)] << 8


def load_key(p: Play, key: bytes) -> None:
    for name, word in zip(KEYS[8 - len(key) // 4 :], words(key), strict=True):
        p.w(f"CRYP.{name}", word)


def load_iv(p: Play, iv: bytes) -> None:
    for name, word in zip(IVS, words(iv), strict=False):
        p.w(f"CRYP.{name}", word)


def prepare(p: Play, key: bytes) -> None:
    p.w("CRYP.CR", PREPARE | keysize(key) | CRYPEN)
    p.wait("CRYP.SR", 0x10, 0)


def block(p: Play, data: bytes, *, output: bool = True) -> bytes:
    for word in words(data, "little"):
        p.w("CRYP.DIN", word)
    if not output:
        p.wait("CRYP.SR", 1, 1)
        p.wait("CRYP.SR", 0x10, 0)
        return b""
    p.wait("CRYP.SR", 4, 4)
    return b"".join(p.r("CRYP.DOUT").to_bytes(4, "little") for _ in range(len(data) // 4))


def aes(
    p: Play, mode: int, key: bytes, data: bytes, iv: bytes = b"", *, decrypt: bool = False, load: bool = True
) -> bytes:
    """Whole blocks through CRYP; the key is loaded unless told otherwise."""
    config = mode | keysize(key) | BYTES
    p.w("CRYP.CR", config)
    if load:
        load_key(p, key)
    if decrypt and mode != CTR:
        if load:
            prepare(p, key)
        config |= DECRYPT
    p.w("CRYP.CR", config)
    if iv:
        load_iv(p, iv)
    p.w("CRYP.CR", config | FFLUSH)
    p.w("CRYP.CR", config | CRYPEN)
    result = b"".join(block(p, data[i : i + 16]) for i in range(0, len(data), 16))
    p.w("CRYP.CR", config)
    return result


INIT, HASH_BYTES, DCAL = 1 << 2, 2 << 4, 1 << 8
ALGO = {"SHA-1": 0, "MD5": 1 << 7, "SHA-224": 1 << 18, "SHA-256": 1 << 18 | 1 << 7}
DIGEST = {"SHA-1": 5, "MD5": 4, "SHA-224": 7, "SHA-256": 8}


def hash_start(p: Play, algorithm: str) -> None:
    p.w("HASH.CR", HASH_BYTES | ALGO[algorithm])
    p.w("HASH.CR", HASH_BYTES | ALGO[algorithm] | INIT)


def hash_feed(p: Play, data: bytes) -> None:
    for word in words(data, "little"):
        p.w("HASH.DIN", word)


def hash_end(p: Play, algorithm: str, last: bytes = b"", *, nblw: int | None = None) -> bytes:
    hash_feed(p, last)
    p.w("HASH.STR", 8 * (len(last) % 4) if nblw is None else nblw)
    p.w("HASH.STR", DCAL)
    p.wait("HASH.SR", 2, 2)
    return b"".join(p.r(f"HASH.HR{i}").to_bytes(4, "big") for i in range(DIGEST[algorithm]))


def hash_save(p: Play) -> list[int]:
    p.wait("HASH.SR", 8, 0)
    return [p.r("HASH.STR"), p.r("HASH.CR"), *(p.r(f"HASH.CSR{i}") for i in range(54))]


def hash_restore(p: Play, state: list[int]) -> None:
    p.w("HASH.STR", state[0])
    p.w("HASH.CR", state[1])
    p.w("HASH.CR", state[1] | INIT)
    for i, word in enumerate(state[2:]):
        p.w(f"HASH.CSR{i}", word)


# -- GCM and CCM, version without NPBLB ------------------------------------------------------------
def blocks16(data: bytes) -> list[bytes]:
    return [data[i : i + 16].ljust(16, b"\0") for i in range(0, len(data), 16)]


def gcm(
    p: Play, key: bytes, iv: bytes, aad: bytes, text: bytes, *, decrypt: bool = False,
    sequence: bool = True, unit: int = 8, padding: bytes = b"", skip_init: bool = False, mask: bool = True,
) -> tuple[bytes, bytes]:  # fmt: skip
    """Text and tag; the faults: no sequence for a short block, lengths in bytes, padding, no init phase, no mask."""
    config = GCM | keysize(key) | BYTES | (DECRYPT if decrypt else 0)
    p.w("CRYP.CR", config)
    load_key(p, key)
    load_iv(p, iv + b"\0\0\0\2")
    if not skip_init:
        p.w("CRYP.CR", config | CRYPEN)
        p.wait("CRYP.CR", CRYPEN, 0)
    if aad:
        p.w("CRYP.CR", config | HEADER | CRYPEN)
        for part in blocks16(aad):
            block(p, part, output=False)
        p.w("CRYP.CR", config | HEADER)
    short = len(text) % 16
    whole = text[: len(text) - short] if short and not decrypt and sequence else text
    p.w("CRYP.CR", config | PAYLOAD | CRYPEN)
    parts = blocks16(whole)
    if parts and padding and len(whole) % 16:
        parts[-1] = (whole[-(len(whole) % 16) :] + padding)[:16].ljust(16, b"\0")
    result = b"".join(block(p, part) for part in parts)
    if len(whole) < len(text):
        p.w("CRYP.CR", config | PAYLOAD)
        counter = p.r("CRYP.CSGCMCCM7R") - 1
        p.w("CRYP.IV1RR", counter)
        p.w("CRYP.CR", config & ~GCM | CTR | PAYLOAD)
        p.w("CRYP.CR", config & ~GCM | CTR | PAYLOAD | CRYPEN)
        last = block(p, blocks16(text[-short:])[0])
        result += last
        p.w("CRYP.CR", config | PAYLOAD | CRYPEN)
        p.w("CRYP.CR", config | FINAL | CRYPEN)
        block(p, last[:short] + bytes(16 - short) if mask else last)
    p.wait("CRYP.SR", 0x10, 0)
    p.w("CRYP.CR", config | FINAL)
    p.w("CRYP.CR", config | FINAL | CRYPEN)
    lengths = (len(aad) * unit).to_bytes(8, "big") + (len(text) * unit).to_bytes(8, "big")
    tag = block(p, lengths)
    p.w("CRYP.CR", config | FINAL)
    return result[: len(text)], tag


def ccm(
    p: Play, key: bytes, nonce: bytes, aad: bytes, text: bytes, tag_bytes: int, *,
    decrypt: bool = False, sequence: bool = True, stated: int | None = None,
) -> tuple[bytes, bytes]:  # fmt: skip
    """Text and tag; the faults: no sequence for a short block when decrypting, another length in B0."""
    config = CCM | keysize(key) | BYTES | (DECRYPT if decrypt else 0)
    size = 15 - len(nonce)
    flags = (0x40 if aad else 0) | (tag_bytes - 2) // 2 << 3 | size - 1
    length = len(text) if stated is None else stated
    p.w("CRYP.CR", config)
    load_key(p, key)
    load_iv(p, bytes((size - 1,)) + nonce + (1).to_bytes(size, "big"))
    p.w("CRYP.CR", config | CRYPEN)
    for word in words(bytes((flags,)) + nonce + length.to_bytes(size, "big"), "little"):
        p.w("CRYP.DIN", word)
    p.wait("CRYP.CR", CRYPEN, 0)
    if aad:
        p.w("CRYP.CR", config | HEADER | CRYPEN)
        for part in blocks16(len(aad).to_bytes(2, "big") + aad):
            block(p, part, output=False)
    short = len(text) % 16
    whole = text[: len(text) - short] if short and decrypt and sequence else text
    p.w("CRYP.CR", config | PAYLOAD | CRYPEN)
    result = b"".join(block(p, part) for part in blocks16(whole))
    if len(whole) < len(text):
        p.w("CRYP.CR", config | PAYLOAD)
        before = [p.r(f"CRYP.CSGCMCCM{i}R") for i in range(4)]
        p.w("CRYP.IV1RR", p.r("CRYP.CSGCMCCM7R"))
        p.w("CRYP.CR", config & ~CCM | CTR | PAYLOAD)
        p.w("CRYP.CR", config & ~CCM | CTR | PAYLOAD | CRYPEN)
        last = block(p, blocks16(text[-short:])[0])
        result += last
        after = [p.r(f"CRYP.CSGCMCCM{i}R") for i in range(4)]
        p.w("CRYP.CR", config | HEADER | CRYPEN)
        masked = words(last[:short] + bytes(16 - short), "little")
        for i in range(4):
            p.w("CRYP.DIN", masked[i] ^ before[i] ^ after[i])
        p.wait("CRYP.SR", 0x10, 0)
    p.w("CRYP.CR", config | FINAL | CRYPEN)
    tag = block(p, bytes((size - 1,)) + nonce + bytes(size))
    p.w("CRYP.CR", config)
    return result[: len(text)], tag[:tag_bytes]
