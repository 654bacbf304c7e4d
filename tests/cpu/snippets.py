"""Guests of a few instructions: assembled when arm-none-eabi-as is there, put into flash with a vector table."""

import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest

from cryplab.bus import Bus
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.private import Private
from cryplab.registers import Block
from cryplab.reports import Reports

FLASH, RAM, IO = 0x0800_0000, 0x2000_0000, 0x4000_0000
RAM_SIZE = 0x1_0000
STACK_TOP = RAM + 0x8000
VECTORS = 64


@lru_cache(maxsize=256)
def assemble(source: str) -> bytes:
    """Machine code of one section; labels are known relative to its start (`origin`)."""
    if shutil.which("arm-none-eabi-as") is None:
        pytest.skip("arm-none-eabi-as is missing")
    with tempfile.TemporaryDirectory() as folder:
        text, obj, binary = (Path(folder) / name for name in ("a.s", "a.o", "a.bin"))
        text.write_text(".syntax unified\n.thumb\norigin:\n" + source)
        command = ["arm-none-eabi-as", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-mthumb"]
        subprocess.run([*command, str(text), "-o", str(obj)], check=True)
        subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(obj), str(binary)], check=True)
        return binary.read_bytes()


class Guest:
    """A core with 64 KB of flash and RAM and an I/O window; code starts at `start`, handlers by exception number."""

    def __init__(self, code: str, handlers: dict[int, str] | None = None, more: str = "", **options: object) -> None:
        self.core = CortexM(**options)  # type: ignore[arg-type]
        self.flash = self.core.map_memory(FLASH, 0x1_0000, kind="flash")
        self.ram = self.core.map_memory(RAM, RAM_SIZE)
        self.core.map_io(IO, 0x1000)
        named = handlers or {}
        table = "".join(f".word {named.get(n, 'unexpected')} - origin + {FLASH + 1}\n" for n in range(2, VECTORS))
        image = assemble(
            f".word {STACK_TOP}\n.word start - origin + {FLASH + 1}\n{table}start:\n{code}\nb 9f\n9: b .\n.pool\n"
            f"unexpected: b .\n{more}\n.pool\n"
        )
        self.flash[: len(image)] = image
        self.private = Private(self.core)
        self.clock = self.private.clock
        self.reports = Reports()
        self.bus = Bus(self.clock, self.reports)
        self.blocks: dict[str, Block] = {}
        for base, size, block in self.private.slots():
            self.blocks[block.name] = block
            for address, read, write in self.bus.bindings(self.bus.attach(base, size, block)):
                self.core.bind(address, read, write)
        self.core.on_read, self.core.on_write = self.bus.read, self.bus.write
        self.core.reset(FLASH)
        self.start = self.core.pc

    def register(self, name: str) -> int:
        return self.core.read_register(name)

    def word(self, address: int) -> int:
        return int.from_bytes(self.core.read_memory(address, 4), "little")
