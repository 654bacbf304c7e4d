"""AES-GCM and AES-CCM."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cryplab.check.cases.common import AES_KEYS, Maker, case, lengths, opened, parts
from cryplab.check.oracle import plaintext, seal
from cryplab.check.script import ALIGNED, Case, Place, Step

__all__ = ["cases", "pair"]

BLOCK = 16
KINDS = ("GCM", "CCM")
TAGS = {"GCM": tuple(range(4, 17)), "CCM": (4, 6, 8, 10, 12, 14, 16)}
# `cryptography` takes GCM IVs of 8 to 128 bytes
IVS = {"GCM": (8, 9, 11, 13, 15, 16, 17, 20, 31, 32, 33, 48, 60, 64, 65, 128), "CCM": (7, 8, 9, 10, 11, 12, 13)}
USUAL_IV = 12
LONG_AAD = 65280
"0xFF00: the first length that CCM writes in six bytes."


def pair(
    rng: random.Random, kind: str, key: bytes, length: int, aad: int = 13, *, iv: int = USUAL_IV, tag: int = BLOCK,
    context: int = 0, place: Place = ALIGNED, iv_value: bytes | None = None, aad_value: bytes | None = None,
) -> tuple[Step, Step]:  # fmt: skip
    """A message sealed, and the same one opened."""
    nonce, more, text = iv_value or rng.randbytes(iv), aad_value or rng.randbytes(aad), rng.randbytes(length)
    hidden, code = seal(kind, key, nonce, more, text, tag)
    sealed = Step("seal", context, iv=nonce, aad=more, data=text, length=tag, place=place)
    return sealed, Step("unseal", context, iv=nonce, aad=more, data=hidden, tag=code, place=place)


def cases(make: Maker) -> Iterator[Case]:
    """All groups of both."""
    for kind in KINDS:
        for group in (_lengths, _in_place, _alignment, _edges, _keys, _turnaround, _tags, _aad, _ivs):
            yield from group(make, kind, f"AES-{kind}")
    yield from _gcm_parts(make)
    yield from _gcm_wrap(make)


def _key(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice(AES_KEYS))


def _both(
    kind: str, row: str, group: str, name: object, rng: random.Random, length: int, **more: object
) -> Iterator[Case]:
    """Sealing and opening as two cases, so that either is there without the other."""
    key = _key(rng)
    for step in pair(rng, kind, key, length, **more):  # type: ignore[arg-type]
        yield case(group, row, f"{name}, {step.does}", opened(kind, key), step)


def _lengths(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for length in lengths(make):
        group = "lengths" if length else "zero"
        yield from _both(kind, row, group, f"{length} bytes", make.rng(row, "lengths", length), length)
    for aad in (0, 1, 20):
        yield from _both(kind, row, "zero", f"no text, aad {aad}", make.rng(row, "zero", aad), 0, aad=aad)


def _in_place(make: Maker, kind: str, row: str) -> Iterator[Case]:
    """GCM: encryption in place, or output at least 8 bytes before the input; decryption only the latter."""
    for length in (16, 20, 64, 77):
        for shift in (0, -8, -16) if kind == "GCM" else (0,):
            rng = make.rng(row, "in place", length, shift)
            for made in _both(
                kind, row, "in-place", f"{length} bytes at {shift:+d}", rng, length, place=Place(output_at=shift)
            ):
                if shift or kind == "CCM" or made.steps[-1].does == "seal":
                    yield made


def _alignment(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for part in ("key", "iv", "aad", "input", "output", "tag", "all"):
        for offset in make.pick((1,), (1, 2, 3), (1, 2, 3)):
            names = ("key", "iv", "aad", "input", "output", "tag") if part == "all" else (part,)
            rng = make.rng(row, "alignment", part, offset)
            yield from _both(kind, row, "alignment", f"{part}+{offset}", rng, 37, place=Place.off(names, offset))


def _edges(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for part in ("iv", "aad", "input", "output", "tag"):
        for length in (16, 17, 31):
            rng = make.rng(row, "edges", part, length)
            yield from _both(
                kind, row, "edges", f"{part}, {length} bytes", rng, length, aad=length - 3, place=Place(edge=part)
            )


def _keys(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for number in range(make.pick(2, 8, 40)):
        rng = make.rng(row, "keys", number)
        steps = opened(kind)
        for _ in range(4):
            key = _key(rng)
            steps += [Step("setkey", key=key), pair(rng, kind, key, rng.randrange(40))[0]]
        yield case("keys", row, f"four keys {number}", steps)
    for number in range(make.pick(1, 4, 20)):
        rng = make.rng(row, "contexts", number)
        keys = [_key(rng) for _ in range(3)]
        steps = [*opened(kind, keys[0]), *opened(kind, keys[1], 1)]
        steps += [pair(rng, kind, keys[1], 33, context=1)[0], pair(rng, kind, keys[0], 20)[0], Step("free", 1)]
        steps += [pair(rng, kind, keys[0], 20)[0], *opened(kind, keys[2], 1), pair(rng, kind, keys[0], 16)[0]]
        steps += [
            pair(rng, kind, keys[2], 50, context=1)[0],
            Step("free", 0),
            pair(rng, kind, keys[2], 5, context=1)[0],
        ]
        yield case("contexts", row, f"free and reuse {number}", steps)


def _turnaround(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for number in range(make.pick(2, 10, 50)):
        rng = make.rng(row, "turnaround", number)
        key = _key(rng)
        steps = opened(kind, key)
        for _ in range(3):
            steps += pair(rng, kind, key, rng.randrange(80), rng.randrange(40))
        yield case("turnaround", row, number, steps)


def _flipped(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]


def _tags(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for size in TAGS[kind]:
        yield from _both(kind, row, "tags", f"{size} bytes of tag", make.rng(row, "tag", size), 29, tag=size)
    for number in range(make.pick(4, 24, 120)):
        for part in ("tag", "data", "aad", "iv"):
            rng = make.rng(row, "wrong", part, number)
            key = _key(rng)
            right = pair(rng, kind, key, rng.randrange(1, 70), rng.randrange(1, 40))[1]
            value = getattr(right, part)
            assert isinstance(value, bytes)
            changed: dict[str, Any] = {part: _flipped(value, rng)}
            wrong = replace(right, **changed)
            yield case("tags", row, f"wrong {part} {number}", opened(kind, key), wrong, right)
    for size in TAGS[kind]:  # every byte of a tag counts
        rng = make.rng(row, "last byte", size)
        key = _key(rng)
        right = pair(rng, kind, key, 32, tag=size)[1]
        bad = [
            replace(right, tag=right.tag[:at] + bytes((right.tag[at] ^ 0x80,)) + right.tag[at + 1 :])
            for at in (0, size - 1)
        ]
        yield case("tags", row, f"first and last byte of {size}", opened(kind, key), bad)


def _aad(make: Maker, kind: str, row: str) -> Iterator[Case]:
    sizes = [*make.every(range(71), 8), *make.pick((), (LONG_AAD - 1, LONG_AAD), (LONG_AAD - 1, LONG_AAD))]
    for size in sizes:
        yield from _both(kind, row, "aad", f"{size} bytes", make.rng(row, "aad", size), 21, aad=size)


def _ivs(make: Maker, kind: str, row: str) -> Iterator[Case]:
    for size in make.every(IVS[kind], 3):
        for length in (0, 16, 45):
            yield from _both(
                kind, row, "ivs", f"{size} bytes, text {length}", make.rng(row, "iv", size, length), length, iv=size
            )


# -- GCM in parts ----------------------------------------------------------------------------------
def _gcm_message(
    rng: random.Random, key: bytes, sizes: list[int], encrypt: bool, *, aad: int = 20, context: int = 0,
    place: Place = ALIGNED,
) -> list[Step]:  # fmt: skip
    """starts, updates, finish."""
    steps = [Step("starts", context, iv=rng.randbytes(USUAL_IV), aad=rng.randbytes(aad), encrypt=encrypt)]
    steps += [Step("update", context, data=rng.randbytes(size), place=place) for size in sizes]
    return [*steps, Step("finish", context, length=BLOCK)]


def _gcm_parts(make: Maker) -> Iterator[Case]:
    """All parts but the last are whole blocks, as release 2.28 asks."""
    row = "AES-GCM"
    for encrypt in (True, False):
        word = "encrypt" if encrypt else "decrypt"
        for total in (0, 16, 101):
            for at in range(0, total + 1, BLOCK):
                rng = make.rng(row, "parts", encrypt, total, at)
                key = _key(rng)
                sizes = [at, total - at] if total else []
                yield case(
                    "splits",
                    row,
                    f"{word} {total} bytes at {at}",
                    opened("GCM", key),
                    _gcm_message(rng, key, sizes, encrypt),
                )
        for number in range(make.pick(2, 30, 200)):
            rng = make.rng(row, "random parts", encrypt, number)
            key = _key(rng)
            steps = opened("GCM", key)
            for _ in range(2):
                steps += _gcm_message(rng, key, parts(rng, rng.randrange(200), BLOCK), encrypt, aad=rng.randrange(50))
            yield case("splits", row, f"{word} random {number}", steps)
        for number in range(make.pick(2, 10, 60)):
            rng = make.rng(row, "continuation", encrypt, number)
            keys = [_key(rng), _key(rng)]
            one = _gcm_message(rng, keys[0], [16, 32, 16, 9], encrypt)
            two = _gcm_message(rng, keys[1], [48, 16, 16, 3], not encrypt, context=1)
            woven = [step for both in zip(one, two, strict=True) for step in both]
            yield case(
                "continuation", row, f"{word} {number}", opened("GCM", keys[0]), opened("GCM", keys[1], 1), woven
            )
    for length in (16, 40):
        rng = make.rng(row, "parts in place", length)
        key = _key(rng)
        steps = _gcm_message(rng, key, [32, length], True, place=Place(output_at=0))
        yield case("in-place", row, f"parts, {length} bytes", opened("GCM", key), steps)


# -- GCM with a counter that overflows -------------------------------------------------------------
def _multiply(x: int, y: int) -> int:
    """Product in the field of GCM; bit 127 of a number is its first coefficient."""
    product = 0
    for bit in range(127, -1, -1):
        if y >> bit & 1:
            product ^= x
        x = x >> 1 ^ (0xE1 << 120 if x & 1 else 0)
    return product


def _inverse(x: int) -> int:
    """x to the power 2^128 - 2."""
    result, power = 1 << 127, x
    for _ in range(127):
        power = _multiply(power, power)
        result = _multiply(result, power)
    return result


def iv_of_counter(key: bytes, counter: int) -> bytes:
    """The 16-byte IV that GCM turns into this first counter block."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    hashed = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(BLOCK))
    back = _inverse(int.from_bytes(hashed, "big"))
    return _multiply(_multiply(counter, back) ^ 8 * BLOCK, back).to_bytes(BLOCK, "big")


def _gcm_wrap(make: Maker) -> Iterator[Case]:
    for before in (0, 1, 2, 4):
        rng = make.rng("AES-GCM", "wrap", before)
        key = _key(rng)
        iv = iv_of_counter(key, rng.getrandbits(96) << 32 | 0xFFFF_FFFF - before)
        for step in pair(rng, "GCM", key, 90, iv_value=iv):
            yield case("wrap", "AES-GCM", f"32 bits, {before} before, {step.does}", opened("GCM", key), step)


__all__ += ["iv_of_counter", "plaintext"]
