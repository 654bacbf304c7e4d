"""A firmware of a few functions, built with the cross compiler where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

GCC = shutil.which("arm-none-eabi-gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="arm-none-eabi-gcc is missing")

SOURCE = """
typedef unsigned u32;
extern u32 _estack;
int counter = 0x11223344;
int zeroed[16];
static int __attribute__((noinline)) twice(int x) { return x + counter; }
int __attribute__((noinline)) work(int x) { zeroed[x & 15]++; return twice(x) + 1; }
void reset(void) { for (;;) work(3); }
__attribute__((section(".isr_vector"), used)) const void *table[16] = { &_estack, (void *)reset };
"""
LAYOUT = """
MEMORY { FLASH (rx) : ORIGIN = %s, LENGTH = 1M  RAM (rwx) : ORIGIN = %s, LENGTH = 128K }
_estack = ORIGIN(RAM) + LENGTH(RAM);
ENTRY(reset)
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } > FLASH
  .text : { *(.text*) *(.rodata*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss : { *(.bss*) *(COMMON) } > RAM
}
"""


def build(folder: Path, flash: str = "0x08000000", ram: str = "0x20000000", *flags: str, source: str = SOURCE) -> Path:
    suffix = ".cpp" if "-xc++" in flags else ".c"
    (folder / f"fw{suffix}").write_text(source)
    (folder / "fw.ld").write_text(LAYOUT % (flash, ram))
    out = folder / "fw.elf"
    command = [GCC, "-mcpu=cortex-m4", "-mthumb", "-Os", "-nostdlib", *flags, f"fw{suffix}", "-Tfw.ld", "-o", "fw.elf"]
    subprocess.run(command, cwd=folder, check=True)
    return out
