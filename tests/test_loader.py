"""Firmware files, good and bad; contents compared with what binutils make of the same file."""

import struct
import subprocess
from pathlib import Path

import pytest

from cryplab.chip import Flash, Ram
from cryplab.errors import FirmwareError
from cryplab.loader import check_fits, load, load_all
from small_firmware import GCC, SOURCE, build, needs_gcc

MEMORY = (
    Flash("FLASH", 0x0800_0000, 0x10_0000),
    Ram("SRAM1", 0x2000_0000, 0x1_C000),
    Ram("SRAM2", 0x2001_C000, 0x4000),
)


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("fw"), "0x08000000", "0x20000000", "-g")


def objcopy(elf: Path, form: str, suffix: str) -> Path:
    out = elf.with_suffix(suffix)
    subprocess.run(["arm-none-eabi-objcopy", "-O", form, elf, out], check=True)
    return out


@needs_gcc
def test_elf_contents_are_those_of_objcopy(firmware: Path) -> None:
    image = load(firmware)
    (segment,) = image.segments
    assert segment.address == 0x0800_0000
    assert segment.data == objcopy(firmware, "binary", ".bin").read_bytes()
    assert image.vectors == 0x0800_0000
    assert image.entry == image.symbols.find("reset").entry
    assert image.word(0x0800_0000) == 0x2002_0000
    assert segment.data.endswith(bytes.fromhex("44332211"))  # .data at its load address, not in RAM
    assert (0x2000_0004, 64, ".bss") in image.occupied


@needs_gcc
def test_hex_and_bin_hold_the_same(firmware: Path) -> None:
    elf = load(firmware)
    from_hex = load(objcopy(firmware, "ihex", ".hex"))
    assert [(s.address, s.data) for s in from_hex.segments] == [(s.address, s.data) for s in elf.segments]
    assert (from_hex.vectors, from_hex.entry) == (elf.vectors, elf.entry)
    from_bin = load(objcopy(firmware, "binary", ".bin"), base=0x0800_0000)
    assert (from_bin.segments[0].data, from_bin.vectors) == (elf.segments[0].data, 0x0800_0000)


@needs_gcc
def test_elf_without_section_table(firmware: Path, tmp_path: Path) -> None:
    data = bytearray(firmware.read_bytes())
    struct.pack_into("<I", data, 0x20, 0)  # e_shoff
    struct.pack_into("<HHH", data, 0x2E, 0, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    stripped = tmp_path / "fw.elf"
    stripped.write_bytes(data)
    image = load(stripped)
    assert image.word(0x0800_0000) == 0x2002_0000
    assert len(image.symbols) == 0
    assert image.vectors == 0x0800_0000


@needs_gcc
def test_data_kept_in_the_flash_segment(firmware: Path, tmp_path: Path) -> None:
    """As some linkers write it: one segment, whose RAM data are told by their place in the file alone."""
    data = bytearray(firmware.read_bytes())
    table = struct.unpack_from("<I", data, 0x1C)[0]
    headers = [struct.unpack_from("<8I", data, table + 32 * n) for n in range(struct.unpack_from("<H", data, 0x2C)[0])]
    (first, flash), (second, ram) = [(n, h) for n, h in enumerate(headers) if h[0] == 1 and h[4]]
    struct.pack_into("<I", data, table + 32 * first + 16, ram[1] + ram[4] - flash[1])  # p_filesz
    struct.pack_into("<I", data, table + 32 * second, 0)  # PT_NULL
    merged = tmp_path / "fw.axf"
    merged.write_bytes(data)
    image = load(merged)
    assert image.read(flash[3] + ram[1] - flash[1], 4) == bytes.fromhex("44332211")
    assert (0x2000_0000, 4, ".data") in image.occupied


@needs_gcc
def test_vectors_behind_a_boot_loader(tmp_path: Path) -> None:
    assert load(build(tmp_path, "0x08010000")).vectors == 0x0801_0000


@needs_gcc
def test_several_images(firmware: Path, tmp_path: Path) -> None:
    application = build(tmp_path, "0x08010000", "0x20008000", "-DWORK=1", source=SOURCE.replace("work", "labour"))
    both = load_all([application, firmware])
    assert both.vectors == 0x0800_0000
    assert both.entry == load(firmware).entry
    assert both.symbols.find("work").address < 0x0801_0000 < both.symbols.find("labour").address
    assert both.debug.line(both.symbols.find("work").address) is not None
    (tmp_path / "fw.bin").write_bytes(bytes(16))
    with pytest.raises(FirmwareError, match=r"fw.elf at 0x08000000\.\.0x080000.. overlaps .*fw.bin at 0x08000010"):
        load_all([firmware, tmp_path / "fw.bin"], base=0x0800_0010)


@needs_gcc
def test_fits(firmware: Path, tmp_path: Path) -> None:
    check_fits(load(firmware), MEMORY, "stm32test")
    with pytest.raises(FirmwareError) as caught:
        check_fits(load(build(tmp_path, "0x90000000")), MEMORY, "stm32test")
    assert ".isr_vector at 0x90000000..0x900000" in str(caught.value)
    assert (
        "outside the memory of stm32test, which has FLASH 0x08000000..0x080fffff, SRAM1 0x20000000..0x2001bfff"
        in str(caught.value)
    )
    with pytest.raises(FirmwareError, match=r"\.bss at 0x24000004\.\.0x24000043 lies outside|\.data at 0x24000000"):
        check_fits(load(build(tmp_path, "0x08000000", "0x24000000")), MEMORY, "stm32test")


@needs_gcc
def test_data_may_span_two_memories_that_touch(tmp_path: Path) -> None:
    check_fits(load(build(tmp_path, "0x08000000", "0x2001BFF0")), MEMORY, "stm32test")


@needs_gcc
def test_object_file(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(void) { return 1; }")
    subprocess.run([GCC, "-mcpu=cortex-m4", "-c", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
    with pytest.raises(
        FirmwareError, match=r"a.o is an object file that is not linked yet; expected a linked firmware$"
    ):
        load(tmp_path / "a.o")
    subprocess.run(["arm-none-eabi-ar", "rc", "a.a", "a.o"], cwd=tmp_path, check=True)
    with pytest.raises(FirmwareError, match=r"a.a is a static library, not a linked firmware"):
        load(tmp_path / "a.a")


@needs_gcc
def test_every_truncation_of_an_elf_is_one_sentence(firmware: Path, tmp_path: Path) -> None:
    data = firmware.read_bytes()
    cut = tmp_path / "cut.elf"
    for size in [*range(4, 60, 7), *range(60, len(data) - 1, max(1, len(data) // 60))]:
        cut.write_bytes(data[:size])
        with pytest.raises(FirmwareError, match=r"cut.elf is (cut short|damaged)"):
            load(cut)


def elf_header(machine: int = 40, bits: int = 1, order: int = 1, kind: int = 2) -> bytes:
    mark = "<" if order == 1 else ">"
    return b"\x7fELF" + bytes([bits, order, 1]) + bytes(9) + struct.pack(mark + "HHI", kind, machine, 1) + bytes(40)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (elf_header(243), "is an ELF for RISC-V; expected ELF32 for 32-bit ARM"),
        (elf_header(3), "is an ELF for x86; expected ELF32 for 32-bit ARM"),
        (elf_header(62, bits=2), "is a 64-bit ELF for x86-64; expected ELF32 for 32-bit ARM"),
        (elf_header(183, bits=2), "is a 64-bit ELF for AArch64; expected ELF32 for 32-bit ARM"),
        (elf_header(order=2), "is big-endian; expected little-endian ARM"),
        (elf_header(kind=3), "is a shared library or position-independent program; expected a linked firmware"),
        (b"\x7fELF\x01\x01", "is cut short: 6 bytes, an ELF header alone has 52"),
        (b"# a readme\nnot a firmware\n", "is a text file; expected an ELF32 for 32-bit ARM, Intel HEX or BIN"),
        (b"", "is empty; expected an ELF32 for 32-bit ARM, Intel HEX or BIN"),
        (bytes(range(256)), "is a raw binary and does not say where it belongs; give --base, for example 0x08000000"),
    ],
)
def test_unfit_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "firmware"
    path.write_bytes(content)
    with pytest.raises(FirmwareError) as caught:
        load(path)
    assert str(caught.value) == f"{path} {message}"
    assert caught.value.exit_code == 3


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FirmwareError, match=r"nothing.elf does not exist; expected an ELF32"):
        load(tmp_path / "nothing.elf")
    with pytest.raises(FirmwareError, match=r"is a folder; expected an ELF32"):
        load(tmp_path)


WORD = ":0400000000000220DA"
GOOD = ":020000040800F2\n:0400000000000220DA\n:00000001FF\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("20DA", "20DB"), " line 2: checksum is 0xdb, expected 0xda"),
        (GOOD.replace("0220DA", "02zzDA"), " line 2: not hexadecimal digits in pairs"),
        (GOOD.replace("0220DA", "02"), " line 2: 7 bytes, expected 9"),
        (GOOD.replace(":0400", "04000"), " line 2: a HEX record starts with ':', found '0'"),
        (GOOD.replace(":00000001FF\n", ""), " is cut short: it has no end record (:00000001FF)"),
        (GOOD.replace(":00000001FF", ":00000009F7"), " line 3: unknown record type 9; 0 to 5 are known"),
        (GOOD.replace(WORD, f"{WORD}\n{WORD}"), " line 3: 0x08000000 was given before"),
        (":00000001FF\n", " holds no data records"),
    ],
)  # fmt: skip
def test_corrupt_hex(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "fw.hex"
    path.write_text(text)
    with pytest.raises(FirmwareError) as caught:
        load(path)
    assert str(caught.value) == f"{path}{message}"


def test_hex_addresses(tmp_path: Path) -> None:
    path = tmp_path / "fw.hex"
    path.write_text(GOOD)
    (segment,) = load(path).segments
    assert tuple(segment) == (0x0800_0000, bytes.fromhex("00000220"))
    path.write_text(":020000021000EC\n:0100000055AA\n:00000001FF\n")  # segment base 0x1000: 0x10000
    assert load(path).segments[0].address == 0x1_0000


@needs_gcc
def test_describe(firmware: Path) -> None:
    image = load(firmware)
    work = image.symbols.find("work").address
    assert image.describe(work) == f"{work:#010x} (work, fw.c:7)"
    assert image.describe(0x0800_0004) == "0x08000004 (table+0x4)"
    assert image.describe(0x2100_0000) == "0x21000000"


def test_the_same_file_again_shares_what_was_read(firmware: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.elf"
    path.write_bytes(firmware.read_bytes())
    first, second = load(path), load(path)
    assert first is not second
    assert first.symbols is second.symbols
    other = bytearray(path.read_bytes())
    start = other.index(first.segments[0].data[:64])
    other[start] ^= 0xFF
    path.write_bytes(other)
    assert load(path).segments[0].data[0] == first.segments[0].data[0] ^ 0xFF
