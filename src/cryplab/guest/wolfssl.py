"""What the wolfCrypt programs are made of: wolfCrypt's sources unmodified, its STM32 port over our small libraries.

F2 takes the port's path of Standard Peripheral Library calls (`ports/wolfssl/spl`), F4 that of CubeMX HAL calls
(`ports/wolfssl/hal`). Conditions and their reasons: docs/wolfssl.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cryplab.errors import UsageError, nearest
from cryplab.guest import network
from cryplab.guest.targets import Target

__all__ = ["BUILDS", "MATHS", "PROGRAMS", "ProgramParts", "family_of", "math_of", "parts", "program_of"]

PROGRAMS = ("benchmark", "test", "ctaocrypt", "tasks", "check")
ALIASES = {"selftest": "test"}
BUILDS = ("software", "hardware")
MATHS = ("heap", "fast", "sp")

MODULES = (
    "aes", "arc4", "asn", "chacha", "chacha20_poly1305", "cmac", "coding", "curve25519", "des3", "dh", "ecc", "ed25519",
    "error", "fe_low_mem", "ge_low_mem", "fe_operations", "ge_operations", "hash", "hmac", "integer", "kdf", "logging",
    "md5", "memory", "poly1305", "pwdbased", "random", "rsa", "sha", "sha256", "sha3", "sha512", "signature",
    "sp_c32", "sp_cortexm", "sp_int", "tfm", "wc_encrypt", "wc_port", "wolfmath",
)  # fmt: skip
CHECK_MODULES = (
    "aes", "cmac", "des3", "error", "hash", "hmac", "logging", "md5", "memory", "random", "sha", "sha256", "sha3",
    "sha512", "wc_port",
)  # fmt: skip
"Of program `check`, which has all that is in them."
PORT = "wolfcrypt/src/port/st/stm32.c"
OWN_SOURCE = {
    "benchmark": "wolfcrypt/benchmark/benchmark.c", "test": "wolfcrypt/test/test.c", "tasks": "wolfcrypt/test/test.c",
}  # fmt: skip
KERNEL = {"tasks"}
"Programs under the small preemptive kernel."
BASE_FLAGS = (
    "-std=gnu11", "-g", "-ffunction-sections", "-fdata-sections", "-fomit-frame-pointer", "-fno-builtin-printf",
)  # fmt: skip
# CyaSSL, the library of the rows of 2012, where --source has it.
CYASSL_MODULES = (
    "aes", "arc4", "asn", "coding", "des3", "dh", "error", "hmac", "integer", "logging", "md2", "md5", "memory",
    "pwdbased", "random", "rsa", "sha", "sha256", "tfm",
)  # fmt: skip
OPTIMISATION = {"cortex-m3": "-O2", "cortex-m4": "-Os"}
STACK_BYTES = 0xA000
BENCH_SECONDS = "0.05"


class ProgramParts:
    """Sources of one program: `library` is wolfCrypt's, `ours` our own; flags and include folders for both."""

    def __init__(self, library: list[Path], ours: list[Path], flags: tuple[str, ...], headers: list[Path]) -> None:
        self.library, self.ours, self.flags, self.headers = library, ours, flags, headers


def program_of(name: str) -> str:
    """The program's own name; the self-test is wolfCrypt's `test`. Raises: UsageError."""
    program = ALIASES.get(name, name)
    there = (*PROGRAMS, *network.PROGRAMS)
    if program not in there:
        raise UsageError(f"wolfssl has no program '{name}'{nearest(name, there) or '.'} There is {', '.join(there)}")
    return program


def math_of(target: Target, program: str, build: str, wanted: str) -> str:
    """The big integers of a build: as wanted, else those of the published rows of its core.

    The rows of 2012: "heap". wolfSSL's STM32 benchmark list: software "fast", hardware "sp". Raises: UsageError.
    """
    if wanted and wanted not in MATHS:
        raise UsageError(f"--math {wanted}{nearest(wanted, MATHS) or ':'} there is {', '.join(MATHS)}")
    if wanted:
        return wanted
    if program == "ctaocrypt" and target.chip.core == "cortex-m3":
        return "heap"
    return "fast" if build == "software" else "sp"


def parts(root: Path, here: Path, program: str, build: str, target: Target, math: str) -> ProgramParts:
    """What to compile.

    Args:
        root: wolfSSL's sources.
        here: the guest folder.
        program, build: from PROGRAMS and BUILDS.
        target: the board.
        math: from MATHS.
    Raises: UsageError for a build that there is not.
    """
    if build not in BUILDS:
        raise UsageError(f"wolfssl has no {build} build; there is {', '.join(BUILDS)}")
    port = here / "ports" / "wolfssl"
    family = family_of(target)
    cyassl = is_cyassl(root)
    if cyassl and (program != "ctaocrypt" or family != "spl" or math == "sp"):
        raise UsageError(f"{root} has CyaSSL: there is only program ctaocrypt for STM32F2, with --math heap or fast")
    folders = [port, port / family, *([port / "kernel", here / "kernel"] if program in KERNEL else [])]
    if program == "check":  # its settings come first
        folders.insert(0, port / "check")
    include = (*folders, here / "device", here / "common", root)
    defined = [build, family, f"math_{math}", *(["kernel"] if program in KERNEL else [])]
    defined += [program] if program == "ctaocrypt" else []
    own: tuple[str, ...] = ("-DWOLFSSL_USER_SETTINGS",)
    if cyassl:
        own = (f"-I{port / 'cyassl'}", "-include", "cyassl_2012.h")
        defined += ["cyassl"]
    flags = (
        *BASE_FLAGS, OPTIMISATION[target.chip.core], *own,
        *(f"-DCRYPLAB_{name.upper()}" for name in defined), f"-DCRYPLAB_BENCH_SECONDS={BENCH_SECONDS}f",
        *(f"-I{folder}" for folder in include),
    )  # fmt: skip
    ours = [
        *sorted((here / "common").glob("*.c")), *(c for folder in folders for c in sorted(folder.glob("*.c"))),
        here / "programs" / "wolfssl" / f"{program}.c",
    ]  # fmt: skip
    return ProgramParts(
        list(_library(root, program)),
        ours,
        flags,
        [port, here / "kernel", here / "device", root / ("cyassl" if cyassl else "wolfssl")],
    )


def family_of(target: Target) -> str:
    """Which of the vendor's libraries the port calls: "spl", Standard Peripheral Library, or "hal", CubeMX HAL."""
    return "spl" if target.chip.core == "cortex-m3" else "hal"


def is_cyassl(root: Path) -> bool:
    """Whether the sources are of CyaSSL, wolfSSL's name before 3.0. Later ones have its headers for a while."""
    return (root / "ctaocrypt" / "src" / "aes.c").is_file() and not (root / "wolfcrypt" / "src" / "aes.c").is_file()


def _library(root: Path, program: str) -> Iterator[Path]:
    if is_cyassl(root):
        yield from (root / "ctaocrypt" / "src" / f"{name}.c" for name in CYASSL_MODULES)
        return
    for name in CHECK_MODULES if program == "check" else MODULES:
        if (source := root / "wolfcrypt" / "src" / f"{name}.c").is_file():
            yield source
    yield root / PORT
    if program in OWN_SOURCE:
        yield root / OWN_SOURCE[program]
