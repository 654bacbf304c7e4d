"""Which algorithms a firmware has, by symbol; which it was compiled with but cannot be called, and how to keep them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cryplab.check.api import Api
from cryplab.check.sizes import compiled_functions, has_debug_info
from cryplab.loader import Image

__all__ = ["Missing", "Presence", "find"]

REASONS = {
    "inlined": "put in line by the compiler; mark it noinline, or compile its file with -fno-inline",
    "not linked": "compiled, but nothing refers to it, so the linker left it out; link with -Wl,-u,{name}",
    "": "not in the firmware; link its module, or add -Wl,--whole-archive around its library",
}
NO_DEBUG_INFO = (
    "The firmware has no debug information: contexts get more room than any version needs, findings name functions "
    "without lines, and what was compiled but not linked is not known. Compile with -g for all of that."
)
STRIPPED = "the firmware has no symbols: give the ELF before it was stripped, or link without -s"


@dataclass(frozen=True, slots=True)
class Missing:
    """A function that cannot be called: why, and what keeps it."""

    function: str
    reason: str

    @property
    def compiled(self) -> bool:
        """It is part of this firmware's sources."""
        return bool(self.reason)

    @property
    def text(self) -> str:
        """One sentence."""
        return f"{self.function}: {REASONS[self.reason].format(name=self.function)}"


@dataclass(slots=True)
class Presence:
    """Kinds of context, mode and call by name: True when all their functions can be called."""

    kinds: dict[str, bool] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)
    debug_info: bool = True

    def __call__(self, kind: str) -> bool:
        """Whether a kind can be checked."""
        return self.kinds.get(kind, False)

    def notes(self) -> list[str]:
        """What limits the check, in sentences."""
        return [] if self.debug_info else [NO_DEBUG_INFO]

    def linker_options(self) -> str:
        """What keeps every function that was compiled but not linked."""
        return " ".join(f"-Wl,-u,{m.function}" for m in self.missing.values() if m.reason == "not linked")


def find(image: Image, api: Api, kinds: Iterable[str]) -> Presence:
    """Look for the functions of every kind."""
    needs = {kind: names for kind in kinds if (names := api.needs(kind)) is not None}
    absent = {name for names in needs.values() for name in names if name not in image.symbols}
    why = compiled_functions(image.path, absent) if absent and image.format == "elf" else {}
    found = Presence({kind: not absent.intersection(names) for kind, names in needs.items()})
    found.debug_info = has_debug_info(image.path)
    found.missing = {name: Missing(name, why.get(name, "")) for name in sorted(absent)}
    return found
