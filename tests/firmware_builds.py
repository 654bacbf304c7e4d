"""Small firmware for tests, compiled when first asked for; the sources are in tests/firmware."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

GCC = shutil.which("arm-none-eabi-gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="arm-none-eabi-gcc is missing")
FOLDER = Path(__file__).parent / "firmware"
FLAGS = (
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfpu=fpv4-sp-d16",
    "-mfloat-abi=softfp",
    "-Os",
    "-g",
    "-Wall",
    "-ffreestanding",
)
PROJECT_FLAGS = (
    "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-O2", "-g", "-ffunction-sections",
    "-fdata-sections",
)  # fmt: skip
LAYOUT = """
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 1M  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 128K }
_estack = ORIGIN(RAM) + LENGTH(RAM);
ENTRY(Reset_Handler)
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } > FLASH
  .text : { *(.text*) *(.rodata*) . = ALIGN(4); } > FLASH
  _sidata = LOADADDR(.data);
  .data : { . = ALIGN(4); _sdata = .; *(.data*) . = ALIGN(4); _edata = .; } > RAM AT > FLASH
  .bss : { . = ALIGN(4); _sbss = .; *(.bss*) *(COMMON) . = ALIGN(4); _ebss = .; } > RAM
  .noinit (NOLOAD) : { *(.noinit*) } > RAM
}
"""


@functools.cache
def build(name: str, *flags: str) -> Path:
    """The ELF of tests/firmware/NAME.c."""
    assert GCC is not None
    folder = Path(tempfile.mkdtemp(prefix="cryplab-test-"))
    (folder / "layout.ld").write_text(LAYOUT)
    out = folder / f"{name}.elf"
    command = [GCC, *FLAGS, *flags, str(FOLDER / f"{name}.c"), "-nostartfiles", "-T", "layout.ld", "-o", str(out)]
    subprocess.run(command, cwd=folder, check=True)
    return out


@functools.cache
def build_project(name: str, *flags: str) -> Path:
    """The ELF of the project in folder tests/firmware/NAME: its own start-up, linker script and newlib."""
    assert GCC is not None
    folder = FOLDER / name
    out = Path(tempfile.mkdtemp(prefix="cryplab-test-")) / f"{name}.elf"
    sources = [str(path) for path in sorted(folder.iterdir()) if path.suffix in (".c", ".s")]
    command = [
        GCC, *PROJECT_FLAGS, *flags, *sources, f"-T{folder / 'flash.ld'}", "--specs=nano.specs", "--specs=nosys.specs",
        "-u", "_printf_float", "-Wl,--gc-sections", "-o", str(out),
    ]  # fmt: skip
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # newlib warns of system calls that do nothing
    return out


def objcopy(elf: Path, form: str) -> Path:
    """The same firmware as Intel HEX (`ihex`) or BIN (`binary`)."""
    out = elf.with_suffix(".hex" if form == "ihex" else ".bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", form, str(elf), str(out)], check=True)
    return out
