"""Sizes of C types from a firmware's DWARF data."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

__all__ = ["compiled_functions", "has_debug_info", "returning_functions", "type_sizes"]


def _units(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf.has_dwarf_info():
                yield from (unit.get_top_DIE() for unit in elf.get_dwarf_info().iter_CUs())
    except Exception:  # no ELF, or damaged data: nothing is known
        return


def has_debug_info(path: Path) -> bool:
    """The file describes its types and functions."""
    return next(_units(path), None) is not None


def _name(die: Any) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode("utf-8", "replace") if attribute else ""


def type_sizes(path: Path, names: Collection[str]) -> dict[str, int]:
    """Bytes of the types (typedefs or structs) of these names; those that are not described are left out."""
    found: dict[str, int] = {}
    for top in _units(path):
        if len(found) == len(names):
            break
        for die in top.iter_children():
            name = _name(die) if die.tag in ("DW_TAG_typedef", "DW_TAG_structure_type") else ""
            if name in names and name not in found and (size := _size(die)):
                found[name] = size
    return found


def _size(die: Any) -> int:
    for _ in range(8):
        if "DW_AT_byte_size" in die.attributes:
            return int(die.attributes["DW_AT_byte_size"].value)
        if "DW_AT_type" not in die.attributes:
            return 0
        die = die.get_DIE_from_attribute("DW_AT_type")
    return 0


def returning_functions(path: Path, names: Collection[str]) -> set[str]:
    """Those of these functions that return something, as far as they are described."""
    return {
        name
        for top in _units(path)
        for die in top.iter_children()
        if die.tag == "DW_TAG_subprogram" and (name := _name(die)) in names and "DW_AT_type" in die.attributes
    }


def compiled_functions(path: Path, names: Collection[str]) -> dict[str, str]:
    """Functions that were compiled, and why they have no symbol: "inlined" or "not linked"."""
    found: dict[str, str] = {}
    for top in _units(path):
        for die in top.iter_children():
            if (
                die.tag != "DW_TAG_subprogram"
                or "DW_AT_declaration" in die.attributes
                or (name := _name(die)) not in names
            ):
                continue
            # of an external function a copy is compiled all the same
            inlined = "DW_AT_inline" in die.attributes and "DW_AT_external" not in die.attributes
            found.setdefault(name, "inlined" if inlined else "not linked")
    return found
