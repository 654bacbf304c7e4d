"""AES, DES and triple DES in ECB, CBC, CTR, CFB and OFB."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cryplab.check.cases.common import AES_KEYS, Maker, case, lengths, opened, parts
from cryplab.check.script import Case, Place, Step

__all__ = ["MODES", "Mode", "available_modes", "cases"]

OFFSETS = (1, 2, 3)


@dataclass(frozen=True)
class Mode:
    """A row of the table: `kind` of context, `mode`, key sizes and block in bytes, `unit` of lengths."""

    row: str
    kind: str
    mode: str
    keys: tuple[int, ...]
    block: int
    unit: int

    def decrypts_with_encryption_key(self) -> bool:
        """Counter and feedback modes run the cipher forward in both directions."""
        return self.mode in ("CTR", "CFB", "OFB")

    def key(self, rng: random.Random, size: int = 0) -> bytes:
        """A random key; DES keys with odd parity, as some drivers check it."""
        raw = rng.randbytes(size or rng.choice(self.keys))
        return raw if self.kind == "AES" else bytes(b & 0xFE | ~(b >> 1).bit_count() & 1 for b in raw)

    def opened(self, key: bytes, encrypt: bool, context: int = 0) -> list[Step]:
        """A context ready for the direction."""
        return opened(self.kind, key, context, encrypt=encrypt or self.decrypts_with_encryption_key())

    def crypt(
        self, rng: random.Random, length: int, encrypt: bool = True, *, context: int = 0, go_on: bool = False,
        place: Place | None = None, iv: bytes | None = None,
    ) -> Step:  # fmt: skip
        """One call on random data."""
        if self.mode != "ECB" and not go_on:
            iv = iv or rng.randbytes(self.block)
        return Step(
            "crypt", context, self.mode, encrypt=encrypt, iv=iv, data=rng.randbytes(length), place=place or Place()
        )


MODES = (
    Mode("AES-ECB", "AES", "ECB", AES_KEYS, 16, 16),
    Mode("AES-CBC", "AES", "CBC", AES_KEYS, 16, 16),
    Mode("AES-CTR", "AES", "CTR", AES_KEYS, 16, 1),
    Mode("AES-CFB", "AES", "CFB", AES_KEYS, 16, 1),
    Mode("AES-OFB", "AES", "OFB", AES_KEYS, 16, 1),
    Mode("DES-ECB", "DES", "ECB", (8,), 8, 8),
    Mode("DES-CBC", "DES", "CBC", (8,), 8, 8),
    Mode("3DES-ECB", "DES3", "ECB", (16, 24), 8, 8),
    Mode("3DES-CBC", "DES3", "CBC", (16, 24), 8, 8),
)
BOTH = (True, False)


def available_modes(make: Maker) -> list[Mode]:
    """Modes with the lengths that the API takes: not every one takes parts of a block."""
    return [
        mode if make.available(f"{mode.kind}-{mode.mode} any length") else replace(mode, unit=mode.block)
        for mode in MODES
    ]


def cases(make: Maker) -> Iterator[Case]:
    """All groups of all modes."""
    for mode in available_modes(make):
        groups = (_lengths, _splits, _in_place, _alignment, _edges, _continuation, _wrap, _keys, _contexts, _turnaround)
        for group in groups:
            yield from group(make, mode)


def _named(encrypt: bool) -> str:
    return "encrypt" if encrypt else "decrypt"


def _lengths(make: Maker, mode: Mode) -> Iterator[Case]:
    if mode.mode == "ECB":
        for size in mode.keys:
            for encrypt in BOTH:
                name = f"blocks, {8 * size} bits, {_named(encrypt)}"
                rng = make.rng(mode.row, name)
                blocks = [mode.crypt(rng, mode.block, encrypt) for _ in range(make.pick(4, 40, 200))]
                yield case("lengths", mode.row, name, mode.opened(mode.key(rng, size), encrypt), blocks)
        return
    for length in lengths(make, mode.unit):
        for encrypt in BOTH:
            name = f"{length} bytes, {_named(encrypt)}"
            rng = make.rng(mode.row, name)
            group = "lengths" if length else "zero"
            # an empty call must not disturb the IV for the next one
            after = [] if length else [mode.crypt(rng, mode.block, encrypt, go_on=True)]
            yield case(
                group, mode.row, name, mode.opened(mode.key(rng), encrypt), mode.crypt(rng, length, encrypt), after
            )


def _splits(make: Maker, mode: Mode) -> Iterator[Case]:
    if mode.mode == "ECB":
        return
    total = 5 * mode.block + (mode.unit == 1) * 3
    for at in make.every(range(0, total + 1, mode.unit), 9 if mode.unit == 1 else 2):
        encrypt = bool(at // mode.unit % 2)
        rng = make.rng(mode.row, "split", at)
        yield _in_parts(mode, f"{total} bytes at {at}", rng, [at, total - at], encrypt)
    for number in range(make.pick(2, 30, 200)):
        rng = make.rng(mode.row, "random split", number)
        total = rng.randrange(1, 40) * mode.block + (rng.randrange(mode.block) if mode.unit == 1 else 0)
        yield _in_parts(mode, f"random {number}", rng, parts(rng, total, mode.unit), rng.random() < 0.5)


def _in_parts(mode: Mode, name: str, rng: random.Random, sizes: list[int], encrypt: bool) -> Case:
    steps = mode.opened(mode.key(rng), encrypt)
    steps += [mode.crypt(rng, size, encrypt, go_on=i > 0) for i, size in enumerate(sizes)]
    return case("splits", mode.row, name, steps)


def _in_place(make: Maker, mode: Mode) -> Iterator[Case]:
    for blocks in (1,) if mode.mode == "ECB" else (1, 2, 5, 17):
        for encrypt in BOTH:
            name = f"{blocks} blocks, {_named(encrypt)}"
            rng = make.rng(mode.row, "in place", name)
            length = blocks * mode.block + (5 if mode.unit == 1 else 0)
            for offset in (0, 1):
                there = Place(input=offset, output_at=0)
                steps = mode.opened(mode.key(rng), encrypt)
                steps.append(mode.crypt(rng, length, encrypt, place=there))
                if mode.mode != "ECB":  # the IV for the next call comes from an input that is gone
                    steps.append(mode.crypt(rng, length, encrypt, go_on=mode.mode != "ECB", place=there))
                yield case("in-place", mode.row, f"{name}, input+{offset}", steps)


def _alignment(make: Maker, mode: Mode) -> Iterator[Case]:
    for part in ("key", "iv", "input", "output", "all"):
        if part == "iv" and mode.mode == "ECB":
            continue
        for offset in make.pick(OFFSETS[:1], OFFSETS, OFFSETS):
            names = ("key", "iv", "input", "output") if part == "all" else (part,)
            there = Place.off(names, offset)
            for encrypt in BOTH:
                rng = make.rng(mode.row, "alignment", part, offset, encrypt)
                setkey = Step(
                    "setkey", key=mode.key(rng), encrypt=encrypt or mode.decrypts_with_encryption_key(), place=there
                )
                length = mode.block if mode.mode == "ECB" else 3 * mode.block + (mode.unit == 1)
                name = f"{part}+{offset}, {_named(encrypt)}"
                yield case(
                    "alignment",
                    mode.row,
                    name,
                    opened(mode.kind),
                    setkey,
                    mode.crypt(rng, length, encrypt, place=there),
                )


def _edges(make: Maker, mode: Mode) -> Iterator[Case]:
    for part in ("input", "output", "iv") if mode.mode != "ECB" else ("input", "output"):
        sizes = (mode.block,) if mode.mode == "ECB" else (mode.block, 3 * mode.block)
        for length in (*sizes, *((1, 13, 30) if mode.unit == 1 else ())):
            rng = make.rng(mode.row, "edges", part, length)
            encrypt = rng.random() < 0.5
            step = mode.crypt(rng, length, encrypt, place=Place(edge=part))
            yield case("edges", mode.row, f"{part}, {length} bytes", mode.opened(mode.key(rng), encrypt), step)
    rng = make.rng(mode.row, "edges", "key")
    for size in mode.keys:
        key = Step("setkey", key=mode.key(rng, size), place=Place(edge="key"))
        yield case("edges", mode.row, f"key, {8 * size} bits", opened(mode.kind), key, mode.crypt(rng, mode.block))


def _continuation(make: Maker, mode: Mode) -> Iterator[Case]:
    """Another context with another key is used between any two calls."""
    if mode.mode == "ECB":
        return
    for encrypt in BOTH:
        for number in range(make.pick(1, 5, 30)):
            rng = make.rng(mode.row, "continuation", encrypt, number)
            steps = [*mode.opened(mode.key(rng), encrypt), *mode.opened(mode.key(rng), not encrypt, 1)]
            steps += [mode.crypt(rng, mode.block, encrypt), mode.crypt(rng, mode.block, not encrypt, context=1)]
            for _ in range(6):
                length = rng.randrange(1, 5) * mode.block if mode.unit > 1 else rng.randrange(1, 70)
                steps.append(mode.crypt(rng, length, encrypt, go_on=True))
                steps.append(mode.crypt(rng, length, not encrypt, context=1, go_on=True))
            yield case("continuation", mode.row, f"{_named(encrypt)} {number}", steps)


def _wrap(make: Maker, mode: Mode) -> Iterator[Case]:
    if mode.mode != "CTR":
        return
    for ones in (8, 16, 24, 32, 40, 64, 96, 128):
        for before in (0, 1, 3):
            counter = (make.rng("wrap", ones).getrandbits(128) >> ones << ones) + (1 << ones) - 1 - before
            iv = (counter % (1 << 128)).to_bytes(16, "big")
            rng = make.rng(mode.row, "wrap", ones, before)
            first, second = (75, 21) if mode.unit == 1 else (80, 32)
            steps = [mode.crypt(rng, first, iv=iv)]
            steps += [mode.crypt(rng, length, go_on=True) for length in (second, 64)]
            yield case("wrap", mode.row, f"{ones} bits, {before} before", mode.opened(mode.key(rng), True), steps)


def _keys(make: Maker, mode: Mode) -> Iterator[Case]:
    for number in range(make.pick(2, 8, 40)):
        rng = make.rng(mode.row, "keys", number)
        steps = opened(mode.kind)
        for _ in range(5):
            encrypt = rng.random() < 0.5
            direction = encrypt or mode.decrypts_with_encryption_key()
            steps.append(Step("setkey", key=mode.key(rng), encrypt=direction))
            steps += [mode.crypt(rng, mode.block, encrypt) for _ in range(2)]
        yield case("keys", mode.row, f"five keys {number}", steps)


def _contexts(make: Maker, mode: Mode) -> Iterator[Case]:
    for number in range(make.pick(2, 6, 30)):
        rng = make.rng(mode.row, "contexts", number)
        encrypt = rng.random() < 0.5
        steps = [*mode.opened(mode.key(rng), encrypt), mode.crypt(rng, mode.block, encrypt)]
        steps += [*mode.opened(mode.key(rng), not encrypt, 1), mode.crypt(rng, mode.block, encrypt)]
        steps += [
            mode.crypt(rng, mode.block, not encrypt, context=1),
            Step("free", 1),
            mode.crypt(rng, mode.block, encrypt),
        ]
        # the same memory again, for another key
        steps += [*mode.opened(mode.key(rng), encrypt, 1), mode.crypt(rng, mode.block, encrypt)]
        steps += [
            mode.crypt(rng, mode.block, encrypt, context=1),
            Step("free", 0),
            mode.crypt(rng, mode.block, encrypt, context=1),
        ]
        yield case("contexts", mode.row, f"free and reuse {number}", steps)


def _turnaround(make: Maker, mode: Mode) -> Iterator[Case]:
    for size in mode.keys:
        for number in range(make.pick(1, 3, 10)):
            rng = make.rng(mode.row, "turnaround", size, number)
            key, steps = mode.key(rng, size), opened(mode.kind)
            for encrypt in (True, False, True, False):
                steps.append(Step("setkey", key=key, encrypt=encrypt or mode.decrypts_with_encryption_key()))
                steps += [mode.crypt(rng, mode.block, encrypt), mode.crypt(rng, mode.block, encrypt)]
            yield case("turnaround", mode.row, f"{8 * size} bits {number}", steps)
