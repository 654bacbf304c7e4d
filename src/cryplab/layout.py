"""Where the members of C structs lie, from an ELF's DWARF data.

    layouts(path, {"CRYP_HandleTypeDef"})["CRYP_HandleTypeDef"]["Init.pKey"]  ->  Member(offset=12, size=4)

Members of structs inside a struct have paths with dots; members of a struct without a name count as the outer one's.
Unions and bit fields are left out. Damaged or missing data never raise: the type is not there then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

__all__ = ["Layout", "Member", "layouts"]

DEEPEST = 8
QUALIFIERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")


@dataclass(frozen=True, slots=True)
class Member:
    """Bytes from the start of the struct, and size in bytes. `by_words`: a pointer to 32-bit words."""

    offset: int
    size: int
    by_words: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A struct: its size in bytes and its members by path."""

    size: int
    members: Mapping[str, Member] = field(default_factory=dict)

    def __getitem__(self, path: str) -> Member:
        return self.members[path]

    def __contains__(self, path: str) -> bool:
        return path in self.members


def layouts(path: Path, names: Collection[str]) -> dict[str, Layout]:
    """Structs by typedef or tag name, as far as the file describes them."""
    found: dict[str, Layout] = {}
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info():
                return {}
            for unit in elf.get_dwarf_info().iter_CUs():
                for die in unit.get_top_DIE().iter_children():
                    if die.tag not in ("DW_TAG_typedef", "DW_TAG_structure_type"):
                        continue
                    name = _name(die)
                    if name in names and name not in found and (layout := _layout(die)) is not None:
                        found[name] = layout
                if len(found) == len(names):
                    break
    except Exception:  # no ELF, or damaged data: nothing more is known
        return found
    return found


def _name(die: Any) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode("utf-8", "replace") if attribute else ""


def _resolved(die: Any) -> Any:
    """The type behind typedefs and qualifiers."""
    for _ in range(DEEPEST):
        if die.tag not in QUALIFIERS or "DW_AT_type" not in die.attributes:
            return die
        die = die.get_DIE_from_attribute("DW_AT_type")
    return die


def _size(die: Any) -> int:
    if "DW_AT_byte_size" in die.attributes:
        return int(die.attributes["DW_AT_byte_size"].value)
    return 4 if die.tag == "DW_TAG_pointer_type" else 0


def _layout(die: Any) -> Layout | None:
    struct = _resolved(die)
    if struct.tag != "DW_TAG_structure_type" or "DW_AT_byte_size" not in struct.attributes:
        return None
    members: dict[str, Member] = {}
    _collect(struct, "", 0, members, DEEPEST)
    return Layout(_size(struct), members)


def _collect(struct: Any, prefix: str, base: int, members: dict[str, Member], deep: int) -> None:
    for die in struct.iter_children():
        place = die.attributes.get("DW_AT_data_member_location")
        if die.tag != "DW_TAG_member" or "DW_AT_bit_size" in die.attributes:
            continue
        kind = _resolved(die.get_DIE_from_attribute("DW_AT_type"))
        if place is None or not isinstance(place.value, int) or kind.tag == "DW_TAG_union_type":
            continue
        name, offset = _name(die), base + place.value
        if kind.tag == "DW_TAG_structure_type" and deep:
            _collect(kind, f"{prefix}{name}." if name else prefix, offset, members, deep - 1)
        elif name:
            members[prefix + name] = Member(offset, _size(kind), _points_to_words(kind))


def _points_to_words(kind: Any) -> bool:
    if kind.tag != "DW_TAG_pointer_type" or "DW_AT_type" not in kind.attributes:
        return False
    target = _resolved(kind.get_DIE_from_attribute("DW_AT_type"))
    return target.tag == "DW_TAG_base_type" and _size(target) == 4
