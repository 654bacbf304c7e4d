"""The cache of objects and ELF files: what is asked for stays, what nobody asks for goes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cryplab.guest import cross
from cryplab.guest.targets import target_of
from firmware_builds import needs_gcc

DAY = 86_400


def aged(path: Path, days: float) -> Path:
    """The file, made if need be, as if it had been asked for so many days ago."""
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


def test_what_was_not_asked_for_in_30_days_goes(tmp_path: Path) -> None:
    old = [aged(tmp_path / "old.elf", 31), aged(tmp_path / "objects" / "old.o", 31)]
    young = [aged(tmp_path / "young.elf", 29), aged(tmp_path / "objects" / "young.o", 29)]
    others = [aged(tmp_path / "notes.txt", 99), aged(tmp_path / "board-x" / "board.h", 99)]
    cross.remove_unused(tmp_path)
    assert [path.exists() for path in old] == [False, False]
    assert all(path.exists() for path in (*young, *others))


def test_a_folder_with_nothing_in_it(tmp_path: Path) -> None:
    cross.remove_unused(tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_gcc
def test_a_build_keeps_what_it_uses_and_removes_the_rest(tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int main(void) { return 0; }\nint Reset_Handler;\n")
    target, compiler = target_of("ublox-c030-u201"), cross.find_compiler()
    unit = cross.Unit(source, cross.target_flags(target), "")

    def build(*extra: str) -> tuple[Path, Path]:
        (made,) = cross.compile_units(compiler, [unit], tmp_path / "objects", lambda _line: None)
        return made, cross.link(compiler, "empty", target, [made], tmp_path, "-Wl,--defsym=STACK_SIZE=64", *extra)

    kept, first = build()
    contents = kept.read_bytes()
    aged(kept, 31)
    aged(first, 31)
    again, second = build("-Wl,-s")
    assert again == kept
    assert second.exists()
    assert not first.exists()  # nobody asked for it
    assert kept.read_bytes() == contents
    assert time.time() - kept.stat().st_mtime < DAY  # asked for, so it counts as new
    aged(second, 31)
    assert build("-Wl,-s")[1] == second  # nothing new was linked
    assert time.time() - second.stat().st_mtime < DAY
