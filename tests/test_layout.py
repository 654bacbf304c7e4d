"""Where members of C structs lie: against the compiler's own `offsetof`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cryplab.layout import Layout, Member, layouts
from firmware_builds import FLAGS, GCC, needs_gcc

SOURCE = """
#include <stddef.h>
#include <stdint.h>
typedef enum { ONE, TWO } state;
typedef struct { uint32_t type, *words; const uint8_t *bytes; uint8_t small; volatile uint16_t half; } config;
typedef struct __handle {
    void *instance;
    volatile config Init;
    union { uint32_t a; uint8_t b[4]; } either;
    uint32_t flag : 3;
    struct { uint32_t inner; };
    uint64_t wide;
    volatile state State;
    void (*callback)(struct __handle *);
    uint8_t many[5];
} handle;
handle used;
const uint32_t offsets[] = {
    sizeof(handle), offsetof(handle, Init.words), offsetof(handle, Init.half), offsetof(handle, inner),
    offsetof(handle, wide), offsetof(handle, State), sizeof(used.State), offsetof(handle, callback),
    offsetof(handle, many),
};
"""
PATHS = ("Init.words", "Init.half", "inner", "wide", "State", "callback", "many")


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layout")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run([str(GCC), *FLAGS, "-c", "a.c", "-o", "a.o"], cwd=folder, check=True)
    subprocess.run([str(GCC), *FLAGS, "-nostdlib", "-Wl,-e,0", "a.o", "-o", "a.elf"], cwd=folder, check=True)
    return folder / "a.elf"


@needs_gcc
def test_offsets_are_the_compilers(elf: Path) -> None:
    from cryplab.loader import load

    found = layouts(elf, {"handle", "nothing"})
    assert list(found) == ["handle"]
    layout = found["handle"]
    image = load(elf)
    symbol = image.symbols.find("offsets")
    data = next(s for s in image.segments if s.address <= symbol.address < s.address + len(s.data))
    start = symbol.address - data.address
    size, *offsets = memoryview(data.data)[start : start + 36].cast("I")
    state_bytes = offsets.pop(5)
    assert layout.size == size
    assert [layout[path].offset for path in PATHS] == offsets
    assert layout["State"].size == state_bytes
    assert (layout["wide"].size, layout["callback"].size, layout["Init.half"].size) == (8, 4, 2)


@needs_gcc
def test_pointers_to_words_are_told_from_pointers_to_bytes(elf: Path) -> None:
    layout = layouts(elf, {"handle"})["handle"]
    assert layout["Init.words"].by_words
    assert not layout["Init.bytes"].by_words


@needs_gcc
def test_unions_and_bit_fields_are_left_out(elf: Path) -> None:
    layout = layouts(elf, {"handle"})["handle"]
    assert "either" not in layout
    assert "flag" not in layout


def test_no_elf_has_no_layouts(tmp_path: Path) -> None:
    (tmp_path / "a.hex").write_text(":00000001FF\n")
    assert layouts(tmp_path / "a.hex", {"handle"}) == {}
    assert layouts(tmp_path / "missing.elf", {"handle"}) == {}


def test_a_layout_by_hand() -> None:
    layout = Layout(8, {"a": Member(4, 2)})
    assert layout["a"] == Member(4, 2)
    assert "b" not in layout
