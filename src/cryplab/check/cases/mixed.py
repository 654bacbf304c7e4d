"""Many contexts in turn, sequences of TLS records, random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from cryplab.check.cases.aead import pair
from cryplab.check.cases.ciphers import MODES, Mode, available_modes
from cryplab.check.cases.common import AES_KEYS, Maker, case, opened
from cryplab.check.oracle import HASHES
from cryplab.check.script import Case, Place, Step

__all__ = ["cases"]

MIXED = "mixed"
MOST_CONTEXTS = 12
FAMILIES: dict[str, Callable[[str], bool]] = {
    "AES": lambda name: name in ("AES-ECB", "AES-CBC", "AES-CTR"),
    "ciphers": lambda name: name in {mode.row for mode in MODES},
    "hashes": lambda name: name in HASHES,
    "authenticated": lambda name: name in ("GCM", "CCM", "GCM parts"),
    "all": lambda name: True,
}
RECORDS = (1, 16, 100, 255, 1400)
GENERATORS = ("CTR-DRBG", "HASH-DRBG")
BLOCK, SALT, EXPLICIT, HEADER = 16, 4, 8, 13


def cases(make: Maker) -> Iterator[Case]:
    """All groups."""
    yield from _twelve(make)
    yield from _interleave(make)
    yield from _records(make)
    yield from _random(make)


# -- interleaved contexts --------------------------------------------------------------------------
def _twelve(make: Maker) -> Iterator[Case]:
    """Two contexts at first, then a dozen with key sizes and directions in turn."""
    for row, kind in (("AES-ECB", "AES"), ("3DES-ECB", "DES3")):
        mode = next(m for m in MODES if m.row == row)
        rng = make.rng(row, "two")
        steps = [step for n in range(2) for step in opened(kind, mode.key(rng), n)]
        yield case(
            "interleave", row, "two contexts", steps, [mode.crypt(rng, mode.block, context=n) for n in (0, 1, 0)]
        )
        steps = [step for n in range(MOST_CONTEXTS) for step in mode.opened(mode.key(rng), n % 2 == 0, n)]
        for _ in range(make.pick(2, 5, 20)):
            steps += [mode.crypt(rng, mode.block, n % 2 == 0, context=n) for n in range(MOST_CONTEXTS)]
        yield case("interleave", row, "twelve contexts", steps)


def _interleave(make: Maker) -> Iterator[Case]:
    modes = {mode.row: mode for mode in available_modes(make)}
    names = [
        mode.row for mode in modes.values() if make.available(mode.kind) and make.available(f"{mode.kind}-{mode.mode}")
    ]
    names += [kind for kind in ("GCM", "CCM") if make.available(kind) and make.available(f"{kind} seal")]
    names += ["GCM parts"] if make.available("GCM starts") else []
    names += [name for name in HASHES if make.available(name)]
    for family, belongs in FAMILIES.items():
        known = [name for name in names if belongs(name)]
        if not known:
            continue
        for number in range(make.pick(3, 25, 200)):
            rng = make.rng("interleave", family, number)
            count = 2 + number % (MOST_CONTEXTS - 1)
            both_ways = make.available("GCM starts decrypt")
            lanes = [_lane(rng, rng.choice(known), context, modes, both_ways) for context in range(count)]
            yield case("interleave", MIXED, f"{family}, {count} contexts, {number}", list(_woven(rng, lanes)))


def _woven(rng: random.Random, lanes: list[list[Step]]) -> Iterator[Step]:
    """Steps of all lanes, each lane's in its order."""
    left = [list(reversed(lane)) for lane in lanes]
    while left:
        lane = rng.choice(left)
        yield lane.pop()
        if not lane:
            left.remove(lane)


def _lane(rng: random.Random, name: str, context: int, modes: Mapping[str, Mode], both_ways: bool = True) -> list[Step]:
    """What one context does, start to end; `both_ways`: GCM in parts decrypts, too."""
    if name in HASHES:
        steps = [*opened(name, context=context), Step("starts", context)]
        steps += [Step("update", context, data=rng.randbytes(rng.choice((0, 1, 7, 33, 64, 80)))) for _ in range(5)]
        return [*steps, Step("finish", context), Step("free", context)]
    if name in ("GCM", "CCM"):
        key = rng.randbytes(rng.choice(AES_KEYS))
        messages = [pair(rng, name, key, rng.randrange(60), rng.randrange(30), context=context)[0] for _ in range(3)]
        return [*opened(name, key, context), *messages, Step("free", context)]
    if name == "GCM parts":
        steps = opened("GCM", rng.randbytes(rng.choice(AES_KEYS)), context)
        steps.append(
            Step(
                "starts",
                context,
                iv=rng.randbytes(12),
                aad=rng.randbytes(rng.randrange(40)),
                encrypt=rng.random() < 0.5 or not both_ways,
            )
        )
        steps += [Step("update", context, data=rng.randbytes(size)) for size in (16, 48, 32, rng.randrange(1, 16))]
        return [*steps, Step("finish", context, length=BLOCK), Step("free", context)]
    return _cipher_lane(rng, modes[name], context)


def _cipher_lane(rng: random.Random, mode: Mode, context: int) -> list[Step]:
    encrypt = rng.random() < 0.5
    steps = mode.opened(mode.key(rng), encrypt, context)
    for number in range(5):
        length = (
            mode.block
            if mode.mode == "ECB"
            else mode.block * rng.randrange(1, 4) + (rng.randrange(mode.block) if mode.unit == 1 else 0)
        )
        steps.append(mode.crypt(rng, length, encrypt, context=context, go_on=number > 0 and mode.mode != "ECB"))
    return [*steps, Step("free", context)]


# -- TLS records -----------------------------------------------------------------------------------
def _records(make: Maker) -> Iterator[Case]:
    sizes = make.pick(RECORDS[:3], RECORDS, (*RECORDS, 16384))
    for number in range(make.pick(1, 4, 20)):
        for kind, tag in (("GCM", 16), ("CCM", 16), ("CCM", 8)):
            rng = make.rng("records", kind, tag, number)
            yield case("records", f"AES-{kind}", f"tag {tag}, {number}", _aead_records(rng, kind, tag, sizes))
        for digest in ("SHA-1", "SHA-256"):
            rng = make.rng("records", "CBC", digest, number)
            yield case("records", "AES-CBC", f"HMAC-{digest}, {number}", _cbc_records(rng, digest, sizes))


def _header(sequence: int, length: int) -> bytes:
    """Sequence number, type, version, length."""
    return sequence.to_bytes(8, "big") + b"\x17\x03\x03" + length.to_bytes(2, "big")


def _aead_records(rng: random.Random, kind: str, tag: int, sizes: tuple[int, ...]) -> list[Step]:
    """Two directions with a key each, in place as the library's own record layer does, and a transcript beside."""
    size = rng.choice((16, 32))
    keys, salts = [rng.randbytes(size) for _ in range(2)], [rng.randbytes(SALT) for _ in range(2)]
    transcript = 2
    steps = [*opened("SHA-256", context=transcript), Step("starts", transcript)]
    steps += [step for n in range(2) for step in opened(kind, keys[n], n)]
    for sequence, length in enumerate(sizes):
        steps.append(Step("update", transcript, data=rng.randbytes(rng.randrange(1, 300))))
        for side in range(2):
            sealed, unsealed = pair(
                rng, kind, keys[side], length, tag=tag, context=side, place=Place(input=5 + EXPLICIT & 3, output_at=0),
                iv_value=salts[side] + rng.randbytes(EXPLICIT), aad_value=_header(sequence, length),
            )  # fmt: skip
            steps.append(sealed if side == 0 else unsealed)
    return [*steps, Step("finish", transcript), Step("free", 0), Step("free", 1), Step("free", transcript)]


def _cbc_records(rng: random.Random, digest: str, sizes: tuple[int, ...]) -> list[Step]:
    """MAC, then encrypt, in one direction; decrypt, then MAC, in the other."""
    row = f"HMAC-{digest}"
    cbc = next(m for m in MODES if m.row == "AES-CBC")
    steps = [*cbc.opened(cbc.key(rng), True, 0), *cbc.opened(cbc.key(rng), False, 1)]
    steps += [step for n in (2, 3) for step in (*opened(row, context=n), Step("starts", n, key=rng.randbytes(32)))]
    for sequence, length in enumerate(sizes):
        padded = -(-(length + 33) // BLOCK) * BLOCK
        for cipher, mac, encrypt in ((0, 2, True), (1, 3, False)):
            sums = [
                Step("update", mac, data=_header(sequence, length)),
                Step("update", mac, data=rng.randbytes(length)),
                Step("finish", mac),
                Step("reset", mac),
            ]
            turn = cbc.crypt(rng, padded, encrypt, context=cipher, place=Place(input=1, output_at=0))
            steps += [*sums, turn] if encrypt else [turn, *sums]
    return steps


# -- random numbers --------------------------------------------------------------------------------
def _random(make: Maker) -> Iterator[Case]:
    sizes = (1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 60, 64, 100, 128)
    for size in make.every(sizes, 3):
        for offset in (0, 1):
            there = Place(output=offset)
            twice = [Step("random", length=size, place=there) for _ in range(2)]
            yield case("random", "RNG", f"{size} bytes at +{offset}", opened("POLL"), twice)
            for row in GENERATORS:
                seeded = [*opened(row), Step("seed", data=b"check")]
                yield case("random", row, f"{size} bytes at +{offset}", seeded, twice, Step("free"))
    for row in GENERATORS:
        others = [step for n in (0, 1) for step in (*opened(row, context=n), Step("seed", n))]
        others += [Step("random", n % 2, length=32) for n in range(6)]
        yield case("random", row, "two contexts", others)
