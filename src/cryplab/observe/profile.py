"""Where the cycles went, by function: the core counts per basic block, here they are summed by symbol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cryplab.symbols import Symbols, plain_name

__all__ = ["FunctionProfile", "by_symbol", "difference"]

Profile = Mapping[int, tuple[int, int, int]]
"""Basic blocks by address: instructions in the block, times it ran, cycles it took in all."""


@dataclass(slots=True)
class FunctionProfile:
    """One function's own work, calls to others not included.

    `name` as in the symbol table; `file` is known for local symbols only. `calls` counts how often
    its first basic block ran. `instructions` and `cycles` are sums over the run.
    """

    name: str
    address: int
    file: str = ""
    instructions: int = 0
    cycles: int = 0
    calls: int = 0

    @property
    def plain_name(self) -> str:
        """The name as in the source, without the suffixes that a compiler adds."""
        return plain_name(self.name)


def by_symbol(profile: Profile, symbols: Symbols) -> list[FunctionProfile]:
    """Fold basic blocks into functions, most cycles first; code without symbol is `0x........`."""
    functions: dict[int, FunctionProfile] = {}
    for address, (instructions, times, cycles) in profile.items():
        start = address & ~1
        symbol = symbols.at(start)
        key = start if symbol is None else symbol.address
        function = functions.get(key)
        if function is None:
            name, file = (f"{start:#010x}", "") if symbol is None else (symbol.name, symbol.file)
            function = functions[key] = FunctionProfile(name, key, file)
        function.instructions += instructions * times
        function.cycles += cycles
        if start == key:
            function.calls += times
    return sorted(functions.values(), key=lambda f: (-f.cycles, f.address))


def difference(after: Profile, before: Profile) -> dict[int, tuple[int, int, int]]:
    """What ran between two profiles of one machine."""
    ran: dict[int, tuple[int, int, int]] = {}
    for address, (instructions, times, cycles) in after.items():
        _, times0, cycles0 = before.get(address, (0, 0, 0))
        if times > times0:
            ran[address] = (instructions, times - times0, cycles - cycles0)
    return ran
