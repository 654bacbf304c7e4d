"""The ARM cross compiler: compiling and linking into the cache folder, in parallel.

Objects and ELF files have names that hash everything they depend on (sources, headers, flags, compiler,
board), so that nothing is built twice and nothing stale is used. What no build has asked for in KEPT_DAYS
is removed when something new is linked. A file's time says when it was asked for, and decides nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cryplab.errors import ToolError
from cryplab.guest.targets import NEWEST_ENGINES, Target

__all__ = [
    "Compiler", "Progress", "Unit", "compile_units", "digest", "find_compiler", "folder_of_board", "headers_digest",
    "link", "target_flags",
]  # fmt: skip

Progress = Callable[[str], None]

COMPILER = "arm-none-eabi-gcc"
JOBS = 2
KEPT_DAYS = 30
CPU_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=softfp")
CORE_FLAGS = {"cortex-m4": CPU_FLAGS, "cortex-m3": ("-mcpu=cortex-m3", "-mthumb")}
LINK_FLAGS = ("-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")
LINKER_SCRIPT = Path(__file__).parent / "common" / "cortex-m.ld"


@dataclass(frozen=True)
class Unit:
    """One C file to compile: flags include its include path; `headers` is the digest of what it may include."""

    source: Path
    flags: tuple[str, ...]
    headers: str


@dataclass(frozen=True)
class Compiler:
    """The cross compiler's path and full version line."""

    path: str
    version: str


def find_compiler() -> Compiler:
    """The ARM cross compiler, with a C library for Cortex-M4.

    Raises: ToolError naming the Debian package that is missing.
    """
    path = shutil.which(COMPILER)
    if not path:
        raise ToolError(f"no {COMPILER} on this machine; Debian has it in package gcc-arm-none-eabi")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    found = subprocess.run(
        [path, *CPU_FLAGS, "-print-file-name=libc.a"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not os.path.isabs(found):
        raise ToolError(f"{path} has no C library for Cortex-M4; Debian has it in package libnewlib-arm-none-eabi")
    return Compiler(path, version)


def target_flags(target: Target) -> tuple[str, ...]:
    """Flags of a target's core, and which engines it has where they are not those of F437."""
    engines = () if target.chip.engines == NEWEST_ENGINES else (f"-DCRYPLAB_ENGINES={target.chip.engines}",)
    return (*CORE_FLAGS[target.chip.core], *engines)


def folder_of_board(folder: Path, target: Target) -> Path:
    """A folder below `folder` that has the target's board.h, and nothing else."""
    text = target.header()
    made = folder / f"board-{target.board}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    made.mkdir(exist_ok=True)
    if not (made / "board.h").is_file():
        _write(made / "board.h", text.encode())
    return made


# ---- names that hash what they stand for ----------------------------------------------------------


def digest(files: Iterable[Path]) -> str:
    """SHA-256 of names and contents, in hexadecimal."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def headers_digest(*folders: Path) -> str:
    """Digest of every header below the folders."""
    return digest(sorted(header for folder in folders for header in folder.rglob("*.h")))


def _write(path: Path, data: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def _key(compiler: Compiler, *parts: str) -> str:
    return hashlib.sha256("\0".join((compiler.version, *parts)).encode()).hexdigest()[:16]


def _object(compiler: Compiler, unit: Unit, folder: Path) -> Path:
    key = _key(compiler, digest([unit.source]), unit.headers, *unit.flags)
    return folder / f"{unit.source.stem}-{key}.o"


# ---- compiling and linking -----------------------------------------------------------------------


def compile_units(compiler: Compiler, units: Sequence[Unit], folder: Path, say: Progress) -> list[Path]:
    """The objects of the units, in their order; made where `folder` has them not. Raises: ToolError."""
    folder.mkdir(exist_ok=True)
    objects = [_object(compiler, unit, folder) for unit in units]
    missing = [(unit, made) for unit, made in zip(units, objects, strict=True) if not _still_there(made)]
    if missing:
        say(f"compiling {len(missing)} of {len(units)} files")
    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        for job in [pool.submit(_compile_one, compiler, unit, made) for unit, made in missing]:
            job.result()
    return objects


def _compile_one(compiler: Compiler, unit: Unit, made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as work:
        fresh = Path(work) / made.name
        _tool([compiler.path, *unit.flags, "-c", str(unit.source), "-o", str(fresh)], unit.source.name)
        os.replace(fresh, made)


def link(compiler: Compiler, name: str, target: Target, objects: Sequence[Path], folder: Path, *extra: str) -> Path:
    """The ELF of the objects, `folder/NAME-KEY.elf`; `extra` are further flags. Raises: ToolError."""
    flags = (
        *CORE_FLAGS[target.chip.core], *LINK_FLAGS, f"-T{LINKER_SCRIPT}",
        f"-Wl,--defsym=FLASH_SIZE={target.chip.flash}", f"-Wl,--defsym=RAM_SIZE={target.chip.ram}", *extra,
    )  # fmt: skip
    key = _key(compiler, digest([LINKER_SCRIPT]), *flags, *(made.name for made in objects))
    elf = folder / f"{name}-{key}.elf"
    if not _still_there(elf):
        with tempfile.TemporaryDirectory(dir=folder) as work:
            fresh = Path(work) / elf.name
            _tool([compiler.path, *flags, *map(str, objects), "-lm", "-o", str(fresh)], elf.stem)
            os.replace(fresh, elf)
        remove_unused(folder)
    return elf


def _tool(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if re.search(r"error|undefined|overflow|cannot", line)]
        reason = (lines or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0].strip()
        raise ToolError(f"{what} could not be built by {command[0]}: {reason}")


# ---- what nobody uses ----------------------------------------------------------------------------


def _still_there(made: Path) -> bool:
    """Whether a file is in the cache; it counts as asked for now."""
    try:
        os.utime(made)
    except FileNotFoundError:
        return False
    except PermissionError:  # a cache that is somebody else's
        return made.is_file()
    return True


def remove_unused(folder: Path) -> None:
    """Remove objects and ELF files of a cache folder that no build has asked for in KEPT_DAYS."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for made in (*folder.glob("*.elf"), *(folder / "objects").glob("*.o")):
        with contextlib.suppress(OSError):  # another process was quicker, or it is somebody else's
            if made.stat().st_mtime < oldest:
                made.unlink()
