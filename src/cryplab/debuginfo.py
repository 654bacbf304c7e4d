"""Source lines of addresses, from the ELF's DWARF data (versions 2 to 5), read only when asked.

Only the compilation unit that holds the address is decoded. Damaged or missing data never raise:
there is simply no line.
"""

from __future__ import annotations

import bisect
import functools
import io
import posixpath
from dataclasses import dataclass, field
from typing import Any

from elftools.elf.elffile import ELFFile

__all__ = ["DebugInfo", "SourceLine"]

_DWARF5 = 5


@dataclass(frozen=True, slots=True)
class SourceLine:
    """`aes.c:412`; `path` as the compiler wrote it."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{posixpath.basename(self.path)}:{self.line}"


@dataclass(slots=True)
class _Unit:
    """One compilation unit's lines: begin address of each run, its line (None ends a sequence)."""

    starts: list[int]
    lines: list[SourceLine | None]


class DebugInfo:
    """Source lines and call frame rules of one or more ELF files.

    Args:
        data: an ELF file's bytes; None when there is nothing to know.
    """

    def __init__(self, data: bytes | None = None) -> None:
        self._files = [] if data is None else [_File(data)]

    def __add__(self, other: DebugInfo) -> DebugInfo:
        both = DebugInfo()
        both._files = [*self._files, *other._files]
        return both

    def line(self, address: int) -> SourceLine | None:
        """The source line that the instruction at this address was compiled from."""
        return next((found for f in self._files if (found := f.line(address & ~1))), None)

    def inlined(self, address: int) -> list[str]:
        """Names of functions that the compiler put in line at this address, innermost first."""
        return next((found for f in self._files if (found := f.inlined(address & ~1))), [])

    def frame_rules(self, address: int) -> dict[Any, Any] | None:
        """The row of the call frame table in force at an address (pyelftools' form), or None."""
        return next((found for f in self._files if (found := f.frame_rules(address & ~1))), None)


@dataclass
class _File:
    data: bytes
    _units: dict[int, _Unit] = field(default_factory=dict)

    @functools.cached_property
    def dwarf(self) -> Any:
        try:
            elf = ELFFile(io.BytesIO(self.data))
            return elf.get_dwarf_info(relocate_dwarf_sections=False) if elf.has_dwarf_info() else None
        except Exception:
            return None

    @functools.cached_property
    def _unit_ranges(self) -> list[tuple[int, int, Any]]:
        """Begin, end and unit, by begin; units that overlap (same section linked twice) are harmless."""
        ranges: list[tuple[int, int, Any]] = []
        for unit in self.dwarf.iter_CUs():
            try:
                ranges += [(low, high, unit) for low, high in _ranges(self.dwarf, unit, unit.get_top_DIE())]
            except Exception:
                continue
        return sorted(ranges, key=lambda r: r[:2])

    def _unit_of(self, address: int) -> Any:
        if self.dwarf is None:
            return None
        try:
            ranges = self._unit_ranges
        except Exception:
            return None
        # a unit that begins later is nearer; sections dropped by the linker keep address 0
        place = bisect.bisect_right(ranges, address, key=lambda r: r[0]) - 1
        while place >= 0:
            low, high, unit = ranges[place]
            if low <= address < high:
                return unit
            place -= 1
        return None

    def line(self, address: int) -> SourceLine | None:
        unit = self._unit_of(address)
        if unit is None:
            return None
        if unit.cu_offset not in self._units:
            try:
                self._units[unit.cu_offset] = _decode_lines(self.dwarf, unit)
            except Exception:
                self._units[unit.cu_offset] = _Unit([], [])
        lines = self._units[unit.cu_offset]
        place = bisect.bisect_right(lines.starts, address) - 1
        return lines.lines[place] if place >= 0 else None

    def inlined(self, address: int) -> list[str]:
        unit = self._unit_of(address)
        if unit is None:
            return []
        try:
            return _inlined_in(self.dwarf, unit, unit.get_top_DIE(), address)
        except Exception:
            return []

    @functools.cached_property
    def _frames(self) -> list[tuple[int, int, Any]]:
        """Begin, end and entry of each function's call frame table."""
        entries: list[Any] = []
        if self.dwarf is not None:
            for has, read in (
                (self.dwarf.has_CFI, self.dwarf.CFI_entries),
                (self.dwarf.has_EH_CFI, self.dwarf.EH_CFI_entries),
            ):
                try:
                    entries += read() if has() else []
                except Exception:
                    continue
        found = [
            (e.header["initial_location"], e.header["initial_location"] + e.header["address_range"], e)
            for e in entries
            if "initial_location" in (e.header or {})
        ]
        return sorted(found, key=lambda f: f[:2])

    def frame_rules(self, address: int) -> dict[Any, Any] | None:
        place = bisect.bisect_right(self._frames, address, key=lambda f: f[0]) - 1
        if place < 0 or not self._frames[place][0] <= address < self._frames[place][1]:
            return None
        try:
            rows = [r for r in self._frames[place][2].get_decoded().table if r["pc"] <= address]
        except Exception:
            return None
        return rows[-1] if rows else None


def _ranges(dwarf: Any, unit: Any, die: Any) -> list[tuple[int, int]]:
    """Address ranges of a unit or of a scope in it, end exclusive; empty ones dropped."""
    attributes = die.attributes
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        # class address gives the end itself, class constant (DWARF 4 on) the length
        end = high.value if high.form in ("DW_FORM_addr", "DW_FORM_addrx") else low + high.value
        return [(low, end)] if end > low else []
    if "DW_AT_ranges" not in attributes:
        return []
    lists = dwarf.range_lists()
    value = attributes["DW_AT_ranges"].value
    if unit.header["version"] >= _DWARF5:
        entries = lists.get_range_list_at_offset(value, cu=unit)
    else:
        entries = lists.get_range_list_at_offset(value)
    top = unit.get_top_DIE().attributes
    base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
    found: list[tuple[int, int]] = []
    for entry in entries:
        if hasattr(entry, "base_address"):
            base = entry.base_address
        else:
            start = 0 if getattr(entry, "is_absolute", False) else base
            if entry.end_offset > entry.begin_offset:
                found.append((start + entry.begin_offset, start + entry.end_offset))
    return found


def _decode_lines(dwarf: Any, unit: Any) -> _Unit:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return _Unit([], [])
    names = _file_names(unit, program)
    rows: list[tuple[int, int, SourceLine | None]] = []
    sequence: list[tuple[int, int, SourceLine | None]] = []
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            if sequence and sequence[0][0]:  # functions that the linker dropped stand at address 0
                rows += [*sequence, (state.address, 0, None)]
            sequence = []
        else:
            # line 0 is code that belongs to no line: the line before goes on
            where = SourceLine(names.get(state.file, "?"), state.line) if state.line else None
            if where is not None:
                sequence.append((state.address, 1, where))
    rows.sort(key=lambda r: r[:2])  # an end and a begin at one address: the begin counts
    return _Unit([r[0] for r in rows], [r[2] for r in rows])


def _file_names(unit: Any, program: Any) -> dict[int, str]:
    """File numbers of the line program; they count from 1 before DWARF 5, from 0 in it."""
    header = program.header
    version5 = header["version"] >= _DWARF5
    folders = [_text(f) for f in header["include_directory"]]
    top = unit.get_top_DIE().attributes
    home = _text(top["DW_AT_comp_dir"].value) if "DW_AT_comp_dir" in top else ""
    if version5:
        folders = (
            [_text(getattr(f, "DW_LNCT_path", f)) for f in header["directories"]]
            if "directories" in header
            else folders
        )
    else:
        folders = [home, *folders]
    names: dict[int, str] = {}
    for number, entry in enumerate(header["file_entry"], 0 if version5 else 1):
        folder = folders[entry.dir_index] if entry.dir_index < len(folders) else ""
        names[number] = posixpath.normpath(posixpath.join(home, folder, _text(entry.name)))
    return names


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _inlined_in(dwarf: Any, unit: Any, die: Any, address: int) -> list[str]:
    """Walk down the scopes that hold the address; names from the innermost out."""
    names: list[str] = []
    while True:
        for child in die.iter_children():
            scope = child.tag in ("DW_TAG_subprogram", "DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")
            if scope and any(low <= address < high for low, high in _ranges(dwarf, unit, child)):
                if child.tag == "DW_TAG_inlined_subroutine":
                    names.insert(0, _name_of(child))
                die = child
                break
        else:
            return names


def _name_of(die: Any) -> str:
    for _ in range(4):  # inlined -> abstract instance -> declaration
        if "DW_AT_name" in die.attributes:
            return _text(die.attributes["DW_AT_name"].value)
        for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
            if link in die.attributes:
                die = die.get_DIE_from_attribute(link)
                break
    return "?"
