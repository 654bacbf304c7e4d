"""Small drivers of our own with one fault each, and their correct twins: the tests of the observer's rules.

`build_faulty("key_kept", faulty=True)` returns the ELF of one case; `CASES` lists them; `lines_of(case)` tells
the source lines that a finding must name. How the C files are made: see faulty.h.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from cryplab.errors import UsageError, nearest
from cryplab.guest import sources
from cryplab.guest.faulty.cases import CASES, Case
from cryplab.guest.targets import target_of

__all__ = ["CASES", "Case", "build_faulty", "case_of", "lines_of"]

guest_build = importlib.import_module("cryplab.guest.build")  # the package has a function of that name
HERE = Path(__file__).parent
FLAGS = ("-Og", *guest_build.OUR_FLAGS)
"A line of source for each access: the compiler must not move them about."
MARK = re.compile(r"/\* LINE: ([a-z0-9_ ]+) \*/")


def case_of(case_id: str) -> Case:
    """A case by its id. Raises: UsageError naming the nearest."""
    for case in CASES:
        if case.id == case_id:
            return case
    raise UsageError(f"no case '{case_id}'{nearest(case_id, [c.id for c in CASES])}; `cryplab faults` lists them")


def lines_of(case: Case) -> tuple[int, ...]:
    """The lines of the case's file that carry its mark."""
    marks = set(case.line.split())
    text = (HERE / case.file).read_text()
    return tuple(
        number
        for number, line in enumerate(text.splitlines(), 1)
        if (found := MARK.search(line)) and marks & set(found.group(1).split())
    )


def build_faulty(case_id: str, *, faulty: bool = True, board: Any = "ublox-c030-u201") -> Path:
    """Compile a case, with its fault or without, and return the ELF.

    Raises: UsageError for an unknown case, ToolError when there is no cross compiler.
    """
    case, target = case_of(case_id), target_of(board)
    compiler = guest_build.find_compiler()
    folder = sources.cache_folder() / "guest"
    folder.mkdir(parents=True, exist_ok=True)
    made_for_board = guest_build._board_folder(folder, target)
    common, device = guest_build.HERE / "common", guest_build.HERE / "device"
    flags = (
        *guest_build.target_flags(target), *guest_build.COMMON_FLAGS, *FLAGS,
        *(f"-I{path}" for path in (device, common, made_for_board, HERE)),
    )  # fmt: skip
    mine = (*flags, f"-DCASE_{case.id}=1", f"-DFAULTY={int(faulty)}", f"-DSCENARIO={case.scenario}")
    below = guest_build._headers(common, device, made_for_board)
    units = [guest_build.Unit(source, flags, below) for source in sorted(common.glob("*.c"))]
    units.append(guest_build.Unit(HERE / case.file, mine, below + guest_build._headers(HERE)))
    objects = guest_build._compile(compiler, units, folder / "objects", lambda _line: None)
    name = f"{case.id}-{'faulty' if faulty else 'right'}"
    elf: Path = guest_build._link(compiler, "fault", name, target, objects, folder)
    return elf
