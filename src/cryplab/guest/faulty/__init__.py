"""Small drivers of our own with one fault each, and their correct twins: the tests of the observer's rules.

`build_faulty("key_kept", faulty=True)` returns the ELF of one case; `CASES` lists them; `lines_of(case)` tells
the source lines that a finding must name. How the C files are made: see faulty.h.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cryplab.errors import UsageError, nearest
from cryplab.guest import cross, sources
from cryplab.guest.build import COMMON_FLAGS, OUR_FLAGS
from cryplab.guest.faulty.cases import CASES, Case
from cryplab.guest.targets import target_of

__all__ = ["CASES", "Case", "build_faulty", "case_of", "lines_of"]

HERE = Path(__file__).parent
GUEST = HERE.parent
FLAGS = ("-Og", *OUR_FLAGS)
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
    compiler = cross.find_compiler()
    folder = sources.cache_folder() / "guest"
    folder.mkdir(parents=True, exist_ok=True)
    made_for_board = cross.folder_of_board(folder, target)
    common, device = GUEST / "common", GUEST / "device"
    flags = (
        *cross.target_flags(target), *COMMON_FLAGS, *FLAGS,
        *(f"-I{path}" for path in (device, common, made_for_board, HERE)),
    )  # fmt: skip
    mine = (*flags, f"-DCASE_{case.id}=1", f"-DFAULTY={int(faulty)}", f"-DSCENARIO={case.scenario}")
    below = cross.headers_digest(common, device, made_for_board)
    units = [cross.Unit(source, flags, below) for source in sorted(common.glob("*.c"))]
    units.append(cross.Unit(HERE / case.file, mine, below + cross.headers_digest(HERE)))
    objects = cross.compile_units(compiler, units, folder / "objects", lambda _line: None)
    name = f"fault-{target.board}-{case.id}-{'faulty' if faulty else 'right'}"
    return cross.link(compiler, name, target, objects, folder)
