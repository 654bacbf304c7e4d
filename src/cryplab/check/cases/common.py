"""What all groups share: how much to do, seeded choices, lengths."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from cryplab.check.script import Case, Step

__all__ = ["AES_KEYS", "LEVELS", "Level", "Maker", "lengths", "opened", "parts"]

Level = Literal["quick", "default", "thorough"]
LEVELS: tuple[Level, ...] = ("quick", "default", "thorough")
T = TypeVar("T")
AES_KEYS = (16, 24, 32)
EVERY_LENGTH = 130
KIB = 1024


@dataclass(frozen=True)
class Maker:
    """`level` says how much; `seed` of every random choice; `available` tells whether a firmware has a kind."""

    level: Level
    seed: int
    available: Callable[[str], bool] = lambda kind: True

    def pick(self, quick: T, default: T, thorough: T) -> T:
        """By level."""
        return {"quick": quick, "default": default, "thorough": thorough}[self.level]

    def every(self, items: Sequence[T], quick: int, default: int = 1) -> list[T]:
        """Each of them, or one in so many, always with the first and the last."""
        step = self.pick(quick, default, 1)
        taken = list(items[::step])
        return taken if not items or taken[-1] == items[-1] else [*taken, items[-1]]

    def rng(self, *title: object) -> random.Random:
        """Random choices of one case."""
        return random.Random(f"{self.seed}/{'/'.join(map(str, title))}")


def lengths(make: Maker, unit: int = 1) -> list[int]:
    """0 to 130, around 1 KiB and 64 KiB; in whole units."""
    small = make.every(range(0, EVERY_LENGTH + unit, unit), 7 if unit == 1 else 3)
    around = [n + d for n in (KIB, 64 * KIB) for d in ((-unit, 0, unit) if unit > 1 else (-1, 0, 1))]
    if make.level == "quick":
        around = [KIB - unit, KIB]
    return [*small, *around]


def parts(rng: random.Random, total: int, unit: int = 1, most: int = 8) -> list[int]:
    """Random lengths that sum up to `total`, all but the last in whole units; empty ones among them."""
    cuts = sorted(rng.randrange(0, total // unit + 1) * unit for _ in range(rng.randrange(1, most)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def opened(kind: str, key: bytes = b"", context: int = 0, *, encrypt: bool = True) -> list[Step]:
    """A context with its key."""
    steps = [Step("open", context, kind)]
    return [*steps, Step("setkey", context, key=key, encrypt=encrypt)] if key else steps


def case(group: str, algorithm: str, name: object, *steps: Step | Iterable[Step]) -> Case:
    """Steps and lists of steps in order."""
    flat: list[Step] = []
    for step in steps:
        flat += [step] if isinstance(step, Step) else list(step)
    return Case(group, algorithm, str(name), tuple(flat))


__all__ += ["case"]
