"""Firmware files: ELF32 for ARM, Intel HEX and raw BIN, one or several; symbols and source lines.

Contents go where a programmer would flash them: to the load (physical) address, so initialised data
lie in flash until the firmware's own start-up code copies them. Contents of ELF sections are taken,
not whole segments, as `objcopy -O binary` does: linkers may put the file's own headers into the
first segment. A file without section table is loaded by segments.
"""

from __future__ import annotations

import functools
import io
import itertools
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from cryplab.chip import Memory
from cryplab.debuginfo import DebugInfo
from cryplab.errors import FirmwareError
from cryplab.symbols import Kind, Symbol, Symbols

__all__ = ["Image", "Segment", "check_fits", "load", "load_all", "show_range"]

EM_ARM, EM_X86, EM_MIPS, EM_PPC, EM_XTENSA, EM_AVR, EM_AMD64, EM_AARCH64, EM_RISCV = 40, 3, 8, 20, 94, 83, 62, 183, 243
_MACHINES = {
    EM_X86: "x86", EM_MIPS: "MIPS", EM_PPC: "PowerPC", EM_XTENSA: "Xtensa", EM_AVR: "AVR", EM_AMD64: "x86-64",
    EM_AARCH64: "AArch64", EM_RISCV: "RISC-V",
}  # fmt: skip
_WANTED = "expected an ELF32 for 32-bit ARM, Intel HEX or BIN"
_HEADER_BYTES = 52
IMAGES_KEPT = 2
"Files whose contents stay in memory, so that one session after another with the same firmware begins at once."
SHF_ALLOC = 1 << 1
_VECTOR_NAMES = ("g_pfnVectors", "__isr_vector", "__Vectors", "__vectors", "_vectors", "vector_table", "g_pfn_vectors")
_VECTOR_SECTIONS = (".isr_vector", ".vectors", ".vector_table", ".intvec", ".interrupts", "RESET")


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes at an address; iterates as the pair."""

    address: int
    data: bytes
    name: str = "contents"

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + len(self.data)

    def __iter__(self) -> Iterator[int | bytes]:
        return iter((self.address, self.data))


@dataclass(slots=True)
class Image:
    """What a firmware file holds.

    `segments`: contents by load address. `occupied`: (address, bytes, name) of everything at its run
    address, zeroed data included. `entry`: the file's entry point, with Thumb bit, or None.
    `vectors`: where the vector table most likely is. `debug`: source lines and call stacks.
    """

    path: Path
    format: str
    segments: list[Segment]
    entry: int | None = None
    vectors: int | None = None
    symbols: Symbols = field(default_factory=Symbols)
    debug: DebugInfo = field(default_factory=DebugInfo)
    occupied: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def describe(self, address: int) -> str:
        """Address, symbol and source line as far as known: `0x08000114 (get_word+0x1c, rng.c:41)`."""
        symbol, line = self.symbols.describe(address), self.debug.line(address)
        known = [symbol] if self.symbols.at(address & ~1) else []
        known += [str(line)] if line else []
        return f"{address:#010x} ({', '.join(known)})" if known else f"{address:#010x}"

    def read(self, address: int, size: int) -> bytes | None:
        """Bytes as the file holds them at a load address, or None outside it."""
        for segment in self.segments:
            if segment.address <= address and address + size <= segment.end:
                offset = address - segment.address
                return segment.data[offset : offset + size]
        return None

    def word(self, address: int) -> int | None:
        """The little-endian word at a load address, or None outside the file."""
        data = self.read(address, 4)
        return None if data is None else int.from_bytes(data, "little")


def load(path: str | Path, base: int | None = None) -> Image:
    """Read one firmware file; its format is told by its content.

    Args:
        path: ELF, Intel HEX or BIN.
        base: address of a BIN's first byte; other formats carry their addresses and ignore it.
    Raises: FirmwareError, one sentence, when the file is missing or unfit.
    """
    path = Path(path)
    return replace(_parse(path, _read(path), base))


@functools.lru_cache(maxsize=IMAGES_KEPT)
def _parse(path: Path, data: bytes, base: int | None) -> Image:
    """Machines with the same file share what was read, and what was looked up in it: its parts are never changed."""
    if data.startswith(b"\x7fELF"):
        return _load_elf(path, data)
    if data.startswith(b"!<arch>"):
        raise FirmwareError(f"{path} is a static library, not a linked firmware; {_WANTED}")
    first = data.lstrip()[:1]
    if first == b":" or path.suffix.lower() in (".hex", ".ihex", ".ihx"):
        return _load_hex(path, data)
    if _is_text(data) and path.suffix.lower() != ".bin":
        raise FirmwareError(f"{path} is a text file; {_WANTED}")
    if base is None:
        raise FirmwareError(
            f"{path} is a raw binary and does not say where it belongs; give --base, for example 0x08000000"
        )
    image = Image(path, "bin", [Segment(base, data)], symbols=Symbols((), path.name))
    image.occupied = [(base, len(data), "contents")]
    image.vectors = base
    return image


def load_all(paths: Sequence[str | Path], base: int | None = None) -> Image:
    """Read several files into one image: contents and symbols of all; no two may overlap.

    The vector table is the one at the lowest address, where the chip boots; the entry is that file's.
    """
    images = [load(path, base) for path in paths]
    first = images[0]
    if len(images) == 1:
        return first
    _check_overlap(images)
    boot = min(images, key=lambda i: (i.vectors is None, i.vectors or 0))
    symbols, debug = first.symbols, first.debug
    for image in images[1:]:
        symbols, debug = symbols + image.symbols, debug + image.debug
    return Image(
        first.path, first.format, [s for i in images for s in i.segments], boot.entry, boot.vectors, symbols, debug,
        [o for i in images for o in i.occupied],
    )  # fmt: skip


def check_fits(image: Image, memories: Iterable[Memory], chip: str) -> None:
    """Raise FirmwareError when contents or data of the image lie outside the chip's memories.

    Args:
        image: what was loaded.
        memories: those of the chip, in the order in which the message lists them.
        chip: its name, for the message.
    """
    memories = tuple(memories)
    ranges = _merged((m.base, m.end) for m in memories)
    wanted = [(s.address, len(s.data), s.name) for s in image.segments] + image.occupied
    for address, size, name in wanted:
        if size and not any(lo <= address and address + size <= hi for lo, hi in ranges):
            has = ", ".join(f"{m.name} {show_range(m.base, m.size)}" for m in memories)
            where = f"{name} at {show_range(address, size)}"
            raise FirmwareError(f"{image.path}: {where} lies outside the memory of {chip}, which has {has}")


def show_range(address: int, size: int) -> str:
    """Both ends, padded: `0x08000000..0x080fffff`."""
    return f"{address:#010x}..{address + size - 1:#010x}"


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbouring memories act as one: SRAM1 and SRAM2 often hold one section."""
    merged: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if merged and lo <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(hi, merged[-1][1]))
        else:
            merged.append((lo, hi))
    return merged


def _check_overlap(images: Sequence[Image]) -> None:
    parts = sorted(((s, i) for i in images for s in i.segments), key=lambda p: p[0].address)
    for (low, one), (high, other) in itertools.pairwise(parts):
        if high.address < low.end and one is not other:
            raise FirmwareError(
                f"{one.path} at {show_range(low.address, len(low.data))} overlaps "
                f"{other.path} at {show_range(high.address, len(high.data))}"
            )


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FirmwareError(f"{path} does not exist; {_WANTED}") from None
    except IsADirectoryError:
        raise FirmwareError(f"{path} is a folder; {_WANTED}") from None
    except OSError as error:
        raise FirmwareError(f"{path} cannot be read: {error.strerror}") from None
    if not data:
        raise FirmwareError(f"{path} is empty; {_WANTED}")
    return data


def _is_text(data: bytes) -> bool:
    start = data[:4096]
    return all(32 <= byte < 127 or byte in b"\t\r\n\f" or byte >= 0x80 for byte in start) and _decodes(start)


def _decodes(start: bytes) -> bool:
    try:
        start[: len(start) - 4 if len(start) == 4096 else None].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# -- Intel HEX -------------------------------------------------------------------------------------
DATA, END, SEGMENT_BASE, SEGMENT_START, LINEAR_BASE, LINEAR_START = range(6)
_HEX_DATA_BYTES = {END: 0, SEGMENT_BASE: 2, SEGMENT_START: 4, LINEAR_BASE: 2, LINEAR_START: 4}


def _load_hex(path: Path, data: bytes) -> Image:
    chunks: dict[int, bytearray] = {}
    upper, entry, ended, open_end = 0, None, False, -1
    current = bytearray()
    for number, line in enumerate(data.decode("latin-1").splitlines(), 1):
        text = line.strip()
        if not text:
            continue
        kind, offset, body = _hex_record(f"{path} line {number}", text)
        if kind == DATA:
            address = upper + offset
            if address != open_end:
                current = chunks.setdefault(address, bytearray())
                if current:
                    raise FirmwareError(f"{path} line {number}: {address:#010x} was given before")
            current += body
            open_end = address + len(body)
        elif kind == END:
            ended = True
            break
        elif kind in (SEGMENT_BASE, LINEAR_BASE):
            upper = int.from_bytes(body, "big") << (4 if kind == SEGMENT_BASE else 16)
        elif kind == LINEAR_START:
            entry = int.from_bytes(body, "big")
    if not ended:
        raise FirmwareError(f"{path} is cut short: it has no end record (:00000001FF)")
    if not chunks:
        raise FirmwareError(f"{path} holds no data records")
    segments = [Segment(address, bytes(chunk)) for address, chunk in sorted(chunks.items())]
    for low, high in itertools.pairwise(segments):
        if high.address < low.end:
            raise FirmwareError(f"{path}: data at {high.address:#010x} was given twice")
    image = Image(path, "hex", segments, entry, symbols=Symbols((), path.name))
    image.vectors = _guess_vectors(image, ())
    return image


def _hex_record(where: str, text: str) -> tuple[int, int, bytes]:
    """Type, 16-bit offset and bytes of one record; its checksum makes all bytes sum to 0."""
    if not text.startswith(":"):
        raise FirmwareError(f"{where}: a HEX record starts with ':', found '{text[:1]}'")
    try:
        raw = bytes.fromhex(text[1:])
    except ValueError:
        raise FirmwareError(f"{where}: not hexadecimal digits in pairs") from None
    if len(raw) < 5 or len(raw) != raw[0] + 5:
        raise FirmwareError(f"{where}: {len(raw)} bytes, expected {(raw[0] if raw else 0) + 5}")
    if sum(raw) & 0xFF:
        right = -sum(raw[:-1]) & 0xFF
        raise FirmwareError(f"{where}: checksum is {raw[-1]:#04x}, expected {right:#04x}")
    if raw[3] > LINEAR_START:
        raise FirmwareError(f"{where}: unknown record type {raw[3]}; 0 to 5 are known")
    if raw[0] != _HEX_DATA_BYTES.get(raw[3], raw[0]):
        raise FirmwareError(f"{where}: record type {raw[3]} with {raw[0]} bytes of data")
    return raw[3], raw[1] << 8 | raw[2], raw[4:-1]


# -- ELF -------------------------------------------------------------------------------------------
def _load_elf(path: Path, data: bytes) -> Image:
    _check_elf(path, data)
    try:
        elf = ELFFile(io.BytesIO(data))
        segments, occupied = _contents(path, elf, len(data))
        symbols = Symbols(_symbols(elf), path.name)
        image = Image(path, "elf", segments, int(elf["e_entry"]) or None, None, symbols, DebugInfo(data), occupied)
        sections = tuple(elf.iter_sections())
    except FirmwareError:
        raise
    except (ELFError, struct.error, UnicodeDecodeError, ValueError, KeyError, IndexError, TypeError) as error:
        raise FirmwareError(
            f"{path} is damaged: its ELF tables make no sense ({error or type(error).__name__})"
        ) from None
    image.vectors = _guess_vectors(image, sections)
    return image


def _check_elf(path: Path, data: bytes) -> None:
    """The header's own word on what the file is, before its tables are trusted."""
    if len(data) < _HEADER_BYTES:
        raise FirmwareError(f"{path} is cut short: {len(data)} bytes, an ELF header alone has {_HEADER_BYTES}")
    order = ">" if data[5] == 2 else "<"
    kind, machine = struct.unpack_from(order + "HH", data, 16)
    name = _MACHINES.get(machine, f"machine {machine}")
    if data[4] == 2:
        name = "ARM" if machine == EM_ARM else name
        raise FirmwareError(f"{path} is a 64-bit ELF for {name}; expected ELF32 for 32-bit ARM")
    if machine != EM_ARM:
        raise FirmwareError(f"{path} is an ELF for {name}; expected ELF32 for 32-bit ARM")
    if data[5] != 1:
        raise FirmwareError(f"{path} is big-endian; expected little-endian ARM")
    if kind == 1:
        raise FirmwareError(f"{path} is an object file that is not linked yet; expected a linked firmware")
    if kind != 2:
        what = {3: "a shared library or position-independent program", 4: "a core dump"}.get(
            kind, f"of ELF type {kind}"
        )
        raise FirmwareError(f"{path} is {what}; expected a linked firmware")


def _contents(path: Path, elf: Any, file_bytes: int) -> tuple[list[Segment], list[tuple[int, int, str]]]:
    _check_tables(path, elf, file_bytes)
    sections = [s for s in elf.iter_sections() if s["sh_flags"] & SHF_ALLOC and s["sh_size"]]
    stored = [s for s in sections if s["sh_type"] != "SHT_NOBITS"]
    occupied = [(s["sh_addr"], s["sh_size"], s.name) for s in sections]
    parts: list[Segment] = []
    for segment in elf.iter_segments():
        if segment["p_type"] != "PT_LOAD" or not segment["p_memsz"]:
            continue
        # by place in the file: some linkers keep initialised RAM data in the flash segment
        start, end = segment["p_offset"], segment["p_offset"] + segment["p_filesz"]
        shift = segment["p_paddr"] - start
        parts += [Segment(s["sh_offset"] + shift, s.data(), s.name) for s in stored if start <= s["sh_offset"] < end]
        if not sections:
            occupied.append((segment["p_vaddr"], segment["p_memsz"], "a segment"))
            parts += [Segment(segment["p_paddr"], segment.data(), "a segment")] if end > start else []
    if not parts:
        raise FirmwareError(f"{path} holds nothing to load: no segment with contents")
    return _joined(parts), occupied


def _check_tables(path: Path, elf: Any, file_bytes: int) -> None:
    """Every table and content must lie inside the file."""
    ends = [elf["e_phoff"] + elf["e_phnum"] * elf["e_phentsize"], elf["e_shoff"] + elf["e_shnum"] * elf["e_shentsize"]]
    if max(ends) <= file_bytes:
        ends += [s["p_offset"] + s["p_filesz"] for s in elf.iter_segments()]
        ends += [s["sh_offset"] + s["sh_size"] for s in elf.iter_sections() if s["sh_type"] != "SHT_NOBITS"]
    if max(ends) > file_bytes:
        raise FirmwareError(f"{path} is cut short: it has {file_bytes} bytes, its ELF tables speak of {max(ends)}")


def _joined(parts: list[Segment]) -> list[Segment]:
    """Parts that touch become one; the name is the first's."""
    joined: list[Segment] = []
    for part in sorted(parts, key=lambda p: p.address):
        if joined and joined[-1].end == part.address:
            joined[-1] = Segment(joined[-1].address, joined[-1].data + part.data, joined[-1].name)
        else:
            joined.append(part)
    return joined


def _symbols(elf: Any) -> list[Symbol]:
    kinds: dict[str, Kind] = {"STT_FUNC": "function", "STT_OBJECT": "object", "STT_NOTYPE": "label"}
    found: list[Symbol] = []
    table = elf.get_section_by_name(".symtab")
    if table is None:
        return found
    file = ""
    for raw in table.iter_symbols():
        kind, name, value = raw["st_info"]["type"], raw.name, raw["st_value"]
        if kind == "STT_FILE":
            file = name
        elif name and not name.startswith("$") and kind in kinds and raw["st_shndx"] != "SHN_UNDEF":
            code = kind == "STT_FUNC"
            found.append(
                Symbol(
                    name,
                    value & ~1 if code else value,
                    raw["st_size"],
                    "absolute" if raw["st_shndx"] == "SHN_ABS" else kinds[kind],
                    not code or bool(value & 1),
                    binding := str(raw["st_info"]["bind"]).removeprefix("STB_").lower(),
                    file if binding == "local" else "",
                )
            )
    return found


def _guess_vectors(image: Image, sections: Iterable[Any]) -> int | None:
    """Where a table of initial stack pointer and odd code addresses begins: by name first, then by content."""
    named = [s.address for s in map(image.symbols.get, _VECTOR_NAMES) if s is not None and s.kind != "function"]
    named += [s["sh_addr"] for s in sections if s.name in _VECTOR_SECTIONS]
    starts = [s.address for s in image.segments]
    for address in [*named, *starts]:
        stack, reset = image.word(address), image.word(address + 4)
        if stack and reset and reset & 1 and stack & 3 == 0 and image.read(reset & ~1, 2) is not None:
            return address
    return (named or starts or [None])[0]  # type: ignore[list-item]
