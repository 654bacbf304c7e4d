"""Basic blocks folded into functions."""

from cryplab.observe.profile import by_symbol, difference
from cryplab.symbols import Symbol, Symbols

SYMBOLS = Symbols([Symbol("outer", 0x0800_0100, 0x40), Symbol("inner.constprop.0", 0x0800_0140, 0x20, file="a.c")])
PROFILE = {
    0x0800_0100: (5, 2, 12),
    0x0800_0110: (3, 10, 40),
    0x0800_0140: (4, 10, 60),
    0x2000_0000: (1, 1, 3),
}


def test_fold() -> None:
    inner, outer, unnamed = by_symbol(PROFILE, SYMBOLS)
    assert (outer.name, outer.instructions, outer.cycles, outer.calls) == ("outer", 40, 52, 2)
    assert (inner.plain_name, inner.file, inner.instructions, inner.cycles, inner.calls) == ("inner", "a.c", 40, 60, 10)
    assert (unnamed.name, unnamed.cycles) == ("0x20000000", 3)


def test_difference() -> None:
    later = PROFILE | {0x0800_0110: (3, 14, 56), 0x0800_0200: (2, 1, 2)}
    assert difference(later, PROFILE) == {0x0800_0110: (3, 4, 16), 0x0800_0200: (2, 1, 2)}
