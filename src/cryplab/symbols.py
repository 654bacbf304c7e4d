"""Names of the firmware's functions and data: by address, by name, demangled.

Addresses have the Thumb bit cleared. ARM mapping symbols ($t, $a, $d, $x) are dropped.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from cryplab.errors import FirmwareError, nearest

__all__ = ["Kind", "Symbol", "Symbols", "demangle", "plain_name"]

Kind = Literal["function", "object", "label", "absolute"]

# what GCC appends to the name of a function that it split, specialised or renamed
_COMPILER_SUFFIX = re.compile(r"\.(constprop|isra|part|cold|lto_priv|llvm|localalias)(\.\d+)*$|\.\d+$")
_RANK: dict[str, int] = {"function": 0, "object": 1, "label": 2, "absolute": 3}
_BINDING = {"global": 0, "weak": 1, "local": 2}


@functools.lru_cache(maxsize=8192)
def demangle(name: str) -> str:
    """The C++ name as its source writes it; any other name unchanged."""
    if not name.startswith("_Z"):
        return name
    try:
        import cxxfilt

        return str(cxxfilt.demangle(name))
    except Exception:  # a name that is no C++ name after all, or no C++ runtime on this machine
        return name


def plain_name(name: str) -> str:
    """The name without the suffixes that a compiler adds: `f.constprop.0` is `f`."""
    while (shorter := _COMPILER_SUFFIX.sub("", name)) != name:
        name = shorter
    return name


@dataclass(frozen=True, slots=True)
class Symbol:
    """One name of the firmware.

    `address` without Thumb bit; `size` in bytes, 0 when the file does not say (assembly labels);
    kind `absolute` is a number that the linker made, no place; `file` is the source file for local
    symbols when known.
    """

    name: str
    address: int
    size: int = 0
    kind: Kind = "function"
    thumb: bool = True
    binding: str = "global"
    file: str = ""

    @property
    def demangled(self) -> str:
        """The name as C++ source writes it."""
        return demangle(self.name)

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.size

    @property
    def entry(self) -> int:
        """The address to branch to: bit 0 set for Thumb code."""
        return self.address | 1 if self.thumb and self.kind != "object" else self.address


_Index = tuple[list[int], list[Symbol]]
_LABEL_REACH = 0x1000


def _by_address(symbols: Iterable[Symbol]) -> _Index:
    """Addresses and, for each, the first symbol that stands there."""
    first: dict[int, Symbol] = {}
    for symbol in symbols:
        first.setdefault(symbol.address, symbol)
    return list(first), list(first.values())


def _at_or_before(index: _Index, address: int) -> Symbol | None:
    place = bisect.bisect_right(index[0], address) - 1
    return index[1][place] if place >= 0 else None


class Symbols:
    """All symbols of one or more images. Iterates by address.

    Args:
        symbols: in any order.
        origin: file name for messages.
    """

    def __init__(self, symbols: Iterable[Symbol] = (), origin: str = "the firmware") -> None:
        self.origin = origin
        self._sorted = sorted(
            symbols, key=lambda s: (s.address, s.size == 0, _RANK[s.kind], _BINDING.get(s.binding, 3), s.name)
        )
        places = [s for s in self._sorted if s.kind != "absolute"]
        self._sized = _by_address(s for s in places if s.size)
        self._labels = _by_address(s for s in places if not s.size)
        self._by_name: dict[str, list[Symbol]] = {}
        for symbol in self._sorted:
            self._by_name.setdefault(symbol.name, []).append(symbol)
        self._asked: dict[str, list[Symbol]] = {}

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._sorted)

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __add__(self, other: Symbols) -> Symbols:
        """Both files' symbols; messages name both."""
        origin = (
            f"{self.origin} and {other.origin}" if len(self) and len(other) else (self if len(self) else other).origin
        )
        return Symbols([*self, *other], origin)

    # -- by address ----------------------------------------------------------------------------
    def at(self, address: int) -> Symbol | None:
        """The symbol that holds the address; a label without size reaches to the next symbol, 4 KiB at most."""
        sized, label = _at_or_before(self._sized, address), _at_or_before(self._labels, address)
        if sized is not None and address < sized.end:
            return sized
        if label is None or address - label.address > _LABEL_REACH or (sized and label.address < sized.address):
            return None
        return label

    def describe(self, address: int) -> str:
        """`get_word+0x1c`, `get_word`, or the padded address when no symbol holds it."""
        symbol = self.at(address & ~1 if address & 1 else address)
        if symbol is None:
            return f"{address:#010x}"
        offset = (address & ~1) - symbol.address if symbol.kind == "function" else address - symbol.address
        return f"{symbol.demangled}+{offset:#x}" if offset else symbol.demangled

    # -- by name -------------------------------------------------------------------------------
    def get(self, name: str) -> Symbol | None:
        """The symbol of that name, or None; exact first, then unique demangled, then unique without suffix."""
        found = self._named(name)
        return found[0] if len({s.address for s in found}) == 1 else None

    def find(self, name: str) -> Symbol:
        """The symbol of that name.

        Tried in order: the exact name; the demangled name with or without its parameters; the name
        without compiler suffixes. Raises: FirmwareError when there is none, or more than one.
        """
        found = self._named(name)
        if not found:
            raise FirmwareError(f"{self.origin} has no symbol '{name}'{self._nearest(name)}")
        if len({s.address for s in found}) > 1:
            places = ", ".join(f"{s.address:#010x}{f' ({s.file})' if s.file else ''}" for s in found[:4])
            raise FirmwareError(f"{self.origin} has {len(found)} symbols '{name}': {places}; give the address instead")
        return found[0]

    def _named(self, name: str) -> list[Symbol]:
        """Every symbol of that name with the strongest binding there is; runs ask for the same few again and again."""
        if name not in self._asked:
            self._asked[name] = self._strongest(name)
        return self._asked[name]

    def _strongest(self, name: str) -> list[Symbol]:
        found = self._by_name.get(name) or self._demangled(name) or self._suffixed(name)
        best = min((_BINDING.get(s.binding, 3) for s in found), default=0)
        return [s for s in found if _BINDING.get(s.binding, 3) == best]

    def _demangled(self, name: str) -> list[Symbol]:
        cpp = [s for s in self._sorted if s.name.startswith("_Z")]
        exact = [s for s in cpp if s.demangled == name]
        return exact or [s for s in cpp if s.demangled.split("(", 1)[0] == name]

    def _suffixed(self, name: str) -> list[Symbol]:
        return [s for s in self._sorted if "." in s.name and s.kind == "function" and plain_name(s.name) == name]

    def _nearest(self, name: str) -> str:
        return nearest(name, {s.demangled.split("(", 1)[0] for s in self._sorted})
