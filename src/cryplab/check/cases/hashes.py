"""MD5, SHA-1, SHA-2 and HMAC."""

from __future__ import annotations

import random
from collections.abc import Iterator

from cryplab.check.cases.common import Maker, case, lengths, opened, parts
from cryplab.check.oracle import HASHES
from cryplab.check.script import Case, Place, Step

__all__ = ["cases"]

BLOCKS = {"SHA-384": 128, "SHA-512": 128}
USUAL_BLOCK = 64
BOUNDARIES = (0, 1, 3, 4, 5, 55, 56, 63, 64, 65, 67, 68, 69, 119, 120, 127, 128, 130)


def cases(make: Maker) -> Iterator[Case]:
    """All groups of all algorithms."""
    for name in HASHES:
        for group in (_lengths, _splits, _alignment, _edges, _contexts, _clone):
            yield from group(make, name)
        yield from _hmac(make, name)
    yield from _orders(make)


def _message(rng: random.Random, sizes: list[int], context: int = 0) -> list[Step]:
    steps = [Step("starts", context), *(Step("update", context, data=rng.randbytes(size)) for size in sizes)]
    return [*steps, Step("finish", context)]


def _lengths(make: Maker, name: str) -> Iterator[Case]:
    for length in lengths(make):
        rng = make.rng(name, "lengths", length)
        group = "lengths" if length else "zero"
        yield case(group, name, f"{length} bytes", Step("digest", kind=name, data=rng.randbytes(length)))
    for number, sizes in enumerate(([], [0], [0, 0, 5], [64, 0, 0, 64], [0, 130, 0])):
        rng = make.rng(name, "empty parts", number)
        yield case("zero", name, f"parts {sizes}", opened(name), _message(rng, list(sizes)))


def _splits(make: Maker, name: str) -> Iterator[Case]:
    total = 2 * BLOCKS.get(name, USUAL_BLOCK) + 2
    for at in make.every(range(total + 1), 17):
        yield case(
            "splits",
            name,
            f"{total} bytes at {at}",
            opened(name),
            _message(make.rng(name, "split", at), [at, total - at]),
        )
    for number in range(make.pick(4, 60, 400)):
        rng = make.rng(name, "random split", number)
        yield case(
            "splits", name, f"random {number}", opened(name), _message(rng, parts(rng, rng.randrange(1, 1500), most=12))
        )
    rng = make.rng(name, "bytes")
    yield case("splits", name, "byte by byte", opened(name), _message(rng, [1] * make.pick(70, 140, 300)))


def _alignment(make: Maker, name: str) -> Iterator[Case]:
    for offset in (1, 2, 3):
        for part in ("input", "output"):
            rng = make.rng(name, "alignment", part, offset)
            there = Place.off((part,), offset)
            steps = [
                Step("starts"),
                Step("update", data=rng.randbytes(70), place=there),
                Step("update", data=rng.randbytes(67), place=there),
            ]
            yield case("alignment", name, f"{part}+{offset}", opened(name), steps, Step("finish", place=there))
            yield case(
                "alignment",
                name,
                f"{part}+{offset}, one call",
                Step("digest", kind=name, data=rng.randbytes(131), place=there),
            )


def _edges(make: Maker, name: str) -> Iterator[Case]:
    for length in (1, 3, 5, 61, 63, 64, 66, 131):
        rng = make.rng(name, "edges", length)
        there = Place(edge="input")
        yield case(
            "edges", name, f"input, {length} bytes", Step("digest", kind=name, data=rng.randbytes(length), place=there)
        )
        steps = [
            Step("starts"),
            Step("update", data=rng.randbytes(length), place=there),
            Step("finish", place=Place(edge="output")),
        ]
        yield case("edges", name, f"parts, {length} bytes", opened(name), steps)


def _contexts(make: Maker, name: str) -> Iterator[Case]:
    for number in range(make.pick(2, 8, 40)):
        rng = make.rng(name, "contexts", number)
        a, b = (rng.choice(BOUNDARIES) for _ in range(2))
        steps = [*opened(name), Step("starts"), Step("update", data=rng.randbytes(a))]
        steps += [
            *opened(name, context=1),
            Step("starts", 1),
            Step("update", 1, data=rng.randbytes(b)),
            Step("free", 1),
        ]
        steps += [Step("update", data=rng.randbytes(b)), *opened(name, context=1), *_message(rng, [b, a], 1)]
        # once more on the same contexts, with no free between
        steps += [Step("finish"), *_message(rng, [a]), *_message(rng, [9, b], 1)]
        yield case("contexts", name, f"free and reuse {number}", steps)


def _clone(make: Maker, name: str) -> Iterator[Case]:
    for before in make.every(BOUNDARIES, 3):
        rng = make.rng(name, "clone", before)
        steps = [*opened(name), Step("starts"), Step("update", data=rng.randbytes(before)), Step("clone", 1, source=0)]
        steps += [
            Step("update", data=rng.randbytes(70)),
            Step("update", 1, data=rng.randbytes(33)),
            Step("clone", 2, source=1),
        ]
        steps += [Step("finish", 1), Step("update", 2, data=rng.randbytes(90)), Step("finish"), Step("finish", 2)]
        yield case("clone", name, f"after {before} bytes", steps)


def _hmac(make: Maker, name: str) -> Iterator[Case]:
    row, block = f"HMAC-{name}", BLOCKS.get(name, USUAL_BLOCK)
    keys = (0, 1, 20, block - 1, block, block + 1, 2 * block + 7)
    for length in make.every(range(131), 13, 2):
        rng = make.rng(row, "lengths", length)
        key = rng.randbytes(rng.choice(keys[1:]))
        yield case(
            "lengths" if length else "zero",
            row,
            f"{length} bytes",
            Step("hmac", kind=name, key=key, data=rng.randbytes(length)),
        )
    for size in keys:
        for number in range(make.pick(1, 3, 10)):
            rng = make.rng(row, "keys", size, number)
            steps = [*opened(row), Step("starts", key=rng.randbytes(size))]
            steps += [Step("update", data=rng.randbytes(n)) for n in parts(rng, rng.randrange(200))]
            steps += [
                Step("finish"),
                Step("reset"),
                Step("update", data=rng.randbytes(50)),
                Step("finish"),
                Step("free"),
            ]
            yield case("keys", row, f"key {size} bytes {number}", steps)
    for offset in (1, 2, 3):
        rng = make.rng(row, "alignment", offset)
        there = Place(key=offset, input=offset, output=offset)
        yield case(
            "alignment",
            row,
            f"all+{offset}",
            Step("hmac", kind=name, key=rng.randbytes(37), data=rng.randbytes(67), place=there),
        )


def _orders(make: Maker) -> Iterator[Case]:
    """Fields left over from one algorithm must not change the next."""
    for first in HASHES:
        for second in HASHES:
            rng = make.rng("orders", first, second)
            steps = [
                Step("digest", kind=kind, data=rng.randbytes(size))
                for kind, size in ((first, 5), (second, 64), (first, 64), (second, 3))
            ]
            yield case("orders", second, f"after {first}", steps)
        rng = make.rng("orders", "hmac", first)
        steps = [
            Step("hmac", kind=first, key=rng.randbytes(20), data=rng.randbytes(41)),
            Step("digest", kind=first, data=rng.randbytes(40)),
        ]
        yield case(
            "orders",
            first,
            f"after HMAC-{first}",
            steps,
            Step("hmac", kind=first, key=rng.randbytes(80), data=rng.randbytes(3)),
        )
