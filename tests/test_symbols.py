"""Symbol look-up."""

import pytest

from cryplab.errors import FirmwareError
from cryplab.symbols import Symbol, Symbols, demangle, plain_name

TABLE = Symbols(
    [
        Symbol("get_word", 0x0800_0100, 0x20),
        Symbol("alias_of_get_word", 0x0800_0100, 0x20, binding="weak"),
        Symbol("helper", 0x0800_0200, 8, binding="local", file="a.c"),
        Symbol("helper", 0x0800_0300, 8, binding="local", file="b.c"),
        Symbol("process.constprop.0", 0x0800_0400, 16, binding="local"),
        Symbol("_ZN6Crypto7encryptEPKhj", 0x0800_0500, 32),
        Symbol("asm_label", 0x0800_0600, 0, "label"),
        Symbol("next", 0x0800_0700, 4),
        Symbol("inner_label", 0x0800_0504, 0, "label"),
        Symbol("_stack_bytes", 0x0800_0120, 0, "absolute"),
    ],
    "fw.elf",
)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (0x0800_0100, "get_word"),
        (0x0800_0101, "get_word"),
        (0x0800_011C, "get_word+0x1c"),
        (0x0800_0120, "0x08000120"),  # the number that the linker made is no place
        (0x0800_0504, "Crypto::encrypt(unsigned char const*, unsigned int)+0x4"),
        (0x0800_0602, "asm_label+0x2"),
        (0x0800_0704, "0x08000704"),
        (0x2000_0000, "0x20000000"),
    ],
)
def test_describe(address: int, text: str) -> None:
    assert TABLE.describe(address) == text


def test_find() -> None:
    assert TABLE.find("get_word").entry == 0x0800_0101
    assert TABLE.find("Crypto::encrypt").address == 0x0800_0500
    assert TABLE.find("process").address == 0x0800_0400
    assert TABLE.find("_stack_bytes").address == 0x0800_0120
    assert TABLE.get("absent") is None
    assert "helper" in TABLE


def test_find_says_what_is_wrong() -> None:
    with pytest.raises(FirmwareError, match=r"^fw.elf has no symbol 'get_wrod'; did you mean 'get_word'\?$"):
        TABLE.find("get_wrod")
    with pytest.raises(FirmwareError) as caught:
        TABLE.find("helper")
    assert str(caught.value) == (
        "fw.elf has 2 symbols 'helper': 0x08000200 (a.c), 0x08000300 (b.c); give the address instead"
    )


def test_names() -> None:
    assert demangle("main") == "main"
    assert demangle("_Zebra") == "_Zebra"
    assert plain_name("f.isra.0.constprop.12") == "f"
    assert plain_name("k.3") == "k"
