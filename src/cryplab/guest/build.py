"""Building the reference firmware with the ARM cross compiler, straight and in parallel.

Objects and ELF files live in the cache folder under names that hash everything they depend on
(sources, headers, flags, compiler, board), so that nothing is built twice and nothing stale is used.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab.errors import ToolError, UsageError, nearest
from cryplab.guest import network, sources, wolfssl
from cryplab.guest.targets import NEWEST_ENGINES, Target, target_of

Progress = Callable[[str], None]

HERE = Path(__file__).parent
COMPILER = "arm-none-eabi-gcc"
JOBS = 2
OUR_FOLDERS = ("common", "device", "ports", "programs")

PROGRAMS = ("benchmark", "selftest")
"Programs that every board can run; `network.PROGRAMS` need Ethernet."
BUILDS = ("software", "hardware", "hal-style", "faulty")
LIBRARIES = ("mbedtls", "wolfssl")

CPU_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=softfp")
CORE_FLAGS = {"cortex-m4": CPU_FLAGS, "cortex-m3": ("-mcpu=cortex-m3", "-mthumb")}
# The published rows' flags, and no optimisation that came after their compiler, GCC 6 (docs/guest.md).
COMMON_FLAGS = (
    "-std=gnu11", "-Os", "-g", "-fno-builtin", "-ffunction-sections", "-fdata-sections", "-funsigned-char",
    "-fno-delete-null-pointer-checks", "-fomit-frame-pointer",
    "-fno-code-hoisting", "-fno-store-merging", "-fno-shrink-wrap-separate", "-fno-tree-loop-distribute-patterns",
    "-fno-ipa-bit-cp", "-fno-ipa-vrp", "-fno-ipa-modref", "-fno-ipa-reference-addressable",
)  # fmt: skip
OUR_FLAGS = ("-Wall", "-Wextra")
CONFIG = "cryplab_config.h"
DRIVER_FLAGS = ("-O2",)  # our drivers: as fast as good C by polling allows
LINK_FLAGS = ("-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")
# Functions that the self-tests do not call, kept so that `cryplab check` can.
KEPT = {
    "selftest": (
        "mbedtls_gcm_auth_decrypt", "mbedtls_md_hmac", "mbedtls_entropy_func", "mbedtls_aes_crypt_cfb128",
        "mbedtls_aes_crypt_ofb", "mbedtls_aes_crypt_ctr", "mbedtls_des3_set2key_dec", "mbedtls_des3_set3key_dec",
        "mbedtls_ctr_drbg_free",
        *(f"mbedtls_{name}_clone" for name in ("md5", "sha1", "sha256", "sha512")),
    ),
}  # fmt: skip

WHOLE = {"wolfssl-check"}
"Programs that keep every function of their modules."

# Files of mbed TLS that the two programs can reach, as far as a version has them
MBEDTLS_MODULES = (
    "aes", "aria", "arc4", "asn1parse", "asn1write", "base64", "bignum", "camellia", "ccm", "chacha20",
    "chachapoly", "cipher", "cipher_wrap", "cmac", "constant_time", "ctr_drbg", "des", "dhm", "ecdh", "ecjpake",
    "ecp", "ecp_curves", "entropy", "entropy_poll", "error", "gcm", "hmac_drbg", "md", "md2", "md4", "md5",
    "md_wrap", "nist_kw", "oid", "pkcs5", "platform", "platform_util", "poly1305", "ripemd160", "rsa", "rsa_internal",
    "sha1", "sha256", "sha512", "xtea",
)  # fmt: skip
WIPING = ("aes", "ctr_drbg", "hmac_drbg", "md5", "sha1", "sha256", "sha512")
# Flags of single modules; each is explained in docs/guest.md.
MODULE_FLAGS: dict[str, tuple[str, ...]] = {
    # wipe contexts, not local variables, as mbed TLS 2.5 did
    **{name: ("-include", "wipe_contexts.h", f"-DWIPED_CONTEXT=mbedtls_{name}_context") for name in WIPING},
    "bignum": ("-U__ARM_FEATURE_DSP",),  # multiply with UMLAL, as mbed TLS 2.5 did; it had no UMAAL
    "gcm": ("-fno-split-wide-types",),  # 64-bit values stay in register pairs, as in GCC before 7 (PR 77308)
}


@dataclass(frozen=True)
class Unit:
    """One C file to compile: flags include its include path; `headers` is the digest of what it may include."""

    source: Path
    flags: tuple[str, ...]
    headers: str


def build(
    program: str,
    board: Any,
    library: str = "mbedtls",
    build: str = "software",
    source: str | Path | None = None,
    progress: Progress | None = None,
    math: str = "",
) -> Path:
    """Compile a reference program and return the ELF.

    Args:
        program: one of PROGRAMS or `network.PROGRAMS`, or of `wolfssl.PROGRAMS`.
        board: a board's name or an object with `name`, `chip`, `hse_hz` and `console`.
        library: one of LIBRARIES.
        build: one of BUILDS.
        source: the library's sources, instead of the Debian source package; with `lwip` in it, those of lwIP, too.
        progress: called with a line of text at each longer step.
        math: the big integers of wolfssl, one of `wolfssl.MATHS`; default those of the published rows.
    Raises: UsageError, BoardError or ToolError with one sentence.
    """
    _known("library", library, LIBRARIES)
    if library == "wolfssl":
        program = wolfssl.program_of(program)
    else:
        _known("program", program, (*PROGRAMS, *network.PROGRAMS))
    if math and library != "wolfssl":
        raise UsageError(f"--math goes with --library wolfssl; {library} has one kind of big integers")
    _known("build", build, BUILDS)
    target = target_of(board)
    if build != "software" and not target.chip.crypto:
        raise UsageError(
            f"{target.board}: {target.chip.name} has no CRYP and HASH for the {build} build; use --build software"
        )
    say = progress or (lambda _line: None)
    compiler = find_compiler()
    root = sources.library(library, source, say)
    folder = sources.cache_folder() / "guest"
    folder.mkdir(parents=True, exist_ok=True)
    board_folder = _board_folder(folder, target)
    if library == "wolfssl":
        math = wolfssl.math_of(target, program, build, math)
        units = _wolfssl_units(wolfssl.parts(root, HERE, program, build, target, math), target, board_folder)
        objects = _compile(compiler, units, folder / "objects", say)
        return _link(compiler, f"wolfssl-{program}", f"{build}-{math}", target, objects, folder)
    if program in network.PROGRAMS:
        network.need_ethernet(target, program)
        units = _network_units(program, root, build, target, board_folder, network.lwip(source, say))
    else:
        units = [*_library_units(root, build, target), *_our_units(program, root, build, target, board_folder)]
    objects = _compile(compiler, units, folder / "objects", say)
    return _link(compiler, program, build, target, objects, folder)


def programs(library: str) -> tuple[str, ...]:
    """Names of a library's reference programs."""
    return wolfssl.PROGRAMS if library == "wolfssl" else PROGRAMS


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UsageError(f"no {what} '{name}'{nearest(name, names) or '.'} There is {', '.join(names)}")


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


# ---- what belongs to a program -------------------------------------------------------------------


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def _headers(*folders: Path) -> str:
    return _digest(sorted(header for folder in folders for header in folder.rglob("*.h")))


def _port(build: str) -> tuple[Path, ...]:
    """Folders of a build's drivers; of files with one name the first counts."""
    port = HERE / "ports" / "mbedtls"
    if build == "software":
        return (port,)
    if build == "faulty":  # the hardware build but for its AES
        return (port, port / "faulty", port / "hardware")
    return (port, port / build.replace("-", "_"))


def target_flags(target: Target) -> tuple[str, ...]:
    """Flags of a target's core, and which engines it has where they are not those of F437."""
    engines = () if target.chip.engines == NEWEST_ENGINES else (f"-DCRYPLAB_ENGINES={target.chip.engines}",)
    return (*CORE_FLAGS[target.chip.core], *engines)


def _library_flags(root: Path, build: str, target: Target, config: str = CONFIG) -> tuple[str, ...]:
    macro = "hardware" if build == "faulty" else build
    return (
        *target_flags(target), *COMMON_FLAGS, f"-DCRYPLAB_{macro.upper().replace('-', '_')}",
        *(("-DCRYPLAB_FAULTY",) if build == "faulty" else ()),
        f"-DMBEDTLS_CONFIG_FILE=\"{config}\"",
        *(f"-I{folder}" for folder in (*_port(build), HERE / "device", HERE / "common", root / "include")),
    )  # fmt: skip


def _library_units(root: Path, build: str, target: Target) -> list[Unit]:
    return _mbedtls_units(root, _library_flags(root, build, target), MBEDTLS_MODULES)


def _mbedtls_units(root: Path, flags: tuple[str, ...], modules: Sequence[str]) -> list[Unit]:
    headers = _headers(HERE / "ports", HERE / "device", root / "include", root / "library")
    headers += _digest([HERE / "common" / "console.h"])
    wipes_all = (root / "include" / "mbedtls" / "platform_util.h").is_file()  # since 2.10
    return [
        Unit(source, (*flags, "-w", *(MODULE_FLAGS.get(name, ()) if wipes_all or name not in WIPING else ())), headers)
        for name in modules
        if (source := root / "library" / f"{name}.c").is_file()
    ]


def _our_units(program: str, root: Path, build: str, target: Target, board_folder: Path) -> list[Unit]:
    flags = (*_library_flags(root, build, target), f"-I{board_folder}")
    return _program_units(
        program, build, flags, _headers(*(HERE / part for part in OUR_FOLDERS), root / "include", board_folder)
    )


def _program_units(program: str, build: str, flags: tuple[str, ...], headers: str) -> list[Unit]:
    """Common files, the program, and its build's drivers."""
    flags = (*flags, *OUR_FLAGS)
    common = [*sorted((HERE / "common").glob("*.c")), *sorted((HERE / "programs").glob(f"{program}*.c"))]
    units = [Unit(file, flags, headers) for file in common]
    taken: set[str] = set()
    for folder in _port(build):
        own = DRIVER_FLAGS if folder.name in ("hardware", "faulty") else ()
        files = [file for file in sorted(folder.glob("*.c")) if file.name not in taken]
        units += [Unit(file, (*flags, *own), headers) for file in files]
        taken |= {file.name for file in files}
    return units


def _network_units(program: str, root: Path, build: str, target: Target, board_folder: Path, lwip: Path) -> list[Unit]:
    """As for the others but for the library's configuration, lwIP with its port, and the library's TLS sessions."""
    port, lwip_headers, sessions = HERE / "ports" / "lwip", lwip / "src" / "include", HERE / "ports" / "mbedtls" / "tls"
    flags = (
        *_library_flags(root, build, target, network.CONFIG), f"-I{board_folder}", f"-I{port}", f"-I{lwip_headers}",
        f"-I{sessions}", f"-I{HERE / 'programs'}", *network.FLAGS.get(program, ()),
    )  # fmt: skip
    headers = _headers(*(HERE / part for part in OUR_FOLDERS), root / "include", lwip_headers, board_folder)
    return [
        *_mbedtls_units(root, flags, (*MBEDTLS_MODULES, *network.MBEDTLS_MODULES)),
        *_program_units(program, build, flags, headers),
        *(Unit(file, (*flags, "-w"), headers) for file in network.lwip_sources(lwip)),
        *(Unit(file, (*flags, *OUR_FLAGS), headers) for part in (port, sessions) for file in sorted(part.glob("*.c"))),
    ]


def _wolfssl_units(parts: wolfssl.ProgramParts, target: Target, board_folder: Path) -> list[Unit]:
    flags = (*target_flags(target), *parts.flags)
    headers = _headers(*parts.headers)
    ours = headers + _headers(HERE / "common", board_folder)
    return [
        *(Unit(source, (*flags, "-w"), headers) for source in parts.library),
        *(Unit(source, (*flags, f"-I{board_folder}", *OUR_FLAGS), ours) for source in parts.ours),
    ]


def _board_folder(folder: Path, target: Target) -> Path:
    text = target.header()
    made = folder / f"board-{target.board}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    made.mkdir(exist_ok=True)
    if not (made / "board.h").is_file():
        _write(made / "board.h", text.encode())
    return made


# ---- compiling and linking -----------------------------------------------------------------------


def _write(path: Path, data: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def _key(compiler: Compiler, *parts: str) -> str:
    return hashlib.sha256("\0".join((compiler.version, *parts)).encode()).hexdigest()[:16]


def _object(compiler: Compiler, unit: Unit, folder: Path) -> Path:
    key = _key(compiler, _digest([unit.source]), unit.headers, *unit.flags)
    return folder / f"{unit.source.stem}-{key}.o"


def _compile(compiler: Compiler, units: list[Unit], folder: Path, say: Progress) -> list[Path]:
    folder.mkdir(exist_ok=True)
    objects = [_object(compiler, unit, folder) for unit in units]
    missing = [(unit, made) for unit, made in zip(units, objects, strict=True) if not made.is_file()]
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


def _link(compiler: Compiler, program: str, build: str, target: Target, objects: list[Path], folder: Path) -> Path:
    script = HERE / "common" / "cortex-m.ld"
    flags = (
        *CORE_FLAGS[target.chip.core], *LINK_FLAGS, *(f"-Wl,-u,{name}" for name in KEPT.get(program, ())),
        *(("-Wl,--no-gc-sections",) if program in WHOLE else ()), f"-T{script}",
        f"-Wl,--defsym=FLASH_SIZE={target.chip.flash}", f"-Wl,--defsym=RAM_SIZE={target.chip.ram}",
        *((f"-Wl,--defsym=STACK_SIZE={wolfssl.STACK_BYTES}",) if program.startswith("wolfssl") else ()),
    )  # fmt: skip
    key = _key(compiler, _digest([script]), *flags, *(made.name for made in objects))
    elf = folder / f"{program}-{target.board}-{build}-{key}.elf"
    if not elf.is_file():
        with tempfile.TemporaryDirectory(dir=folder) as work:
            fresh = Path(work) / elf.name
            _tool([compiler.path, *flags, *map(str, objects), "-lm", "-o", str(fresh)], elf.stem)
            os.replace(fresh, elf)
    return elf


def _tool(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if re.search(r"error|undefined|overflow|cannot", line)]
        reason = (lines or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0].strip()
        raise ToolError(f"{what} could not be built by {command[0]}: {reason}")
