"""The reference firmware: which files belong to a program, and with which flags they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryplab.errors import UsageError, nearest
from cryplab.guest import network, sources, wolfssl, wolfssl_tls
from cryplab.guest.cross import (
    Compiler,
    Progress,
    Unit,
    compile_units,
    digest,
    find_compiler,
    folder_of_board,
    headers_digest,
    link,
    target_flags,
)
from cryplab.guest.targets import Target, target_of

HERE = Path(__file__).parent
OUR_FOLDERS = ("common", "device", "kernel", "ports", "programs")

PROGRAMS = ("benchmark", "selftest")
"Programs that every board can run; `network.PROGRAMS` need Ethernet."
BUILDS = ("software", "hardware", "hal-style", "faulty")
LIBRARIES = ("mbedtls", "wolfssl")
CHECKED = {"mbedtls": "selftest", "wolfssl": "check"}
"Programs that `cryplab check` calls into, by library."

# The published rows' flags, and no optimisation that came after their compiler, GCC 6 (docs/guest.md).
COMMON_FLAGS = (
    "-std=gnu11", "-Os", "-g", "-fno-builtin", "-ffunction-sections", "-fdata-sections", "-funsigned-char",
    "-fno-delete-null-pointer-checks", "-fomit-frame-pointer",
    "-fno-code-hoisting", "-fno-store-merging", "-fno-shrink-wrap-separate", "-fno-tree-loop-distribute-patterns",
    "-fno-ipa-bit-cp", "-fno-ipa-vrp", "-fno-ipa-modref", "-fno-ipa-reference-addressable",
)  # fmt: skip
OUR_FLAGS = ("-Wall", "-Wextra")
CONFIG = "cryplab_config.h"
TASKS_SUFFIX = "-tasks"
DRIVER_FLAGS = ("-O2",)  # our drivers: as fast as good C by polling allows
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


def build(
    program: str,
    board: Any,
    library: str = "mbedtls",
    build: str = "software",
    source: str | Path | None = None,
    progress: Progress | None = None,
    math: str = "",
    tasks: bool = False,
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
        tasks: `network.PROGRAMS`: under the small preemptive kernel, each TLS session in a task of its own.
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
    if tasks:
        network.need_tasks(program, build)
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
    board_folder = folder_of_board(folder, target)
    if program in network.PROGRAMS:
        network.need_ethernet(target, program)
    if library == "wolfssl" and program in network.PROGRAMS:
        math = wolfssl.math_of(target, program, build, math or wolfssl_tls.MATH)
        lwip = network.lwip(source, say)
        made_of = wolfssl_tls.parts(root, HERE, program, build, target, math, lwip, tasks)
        units = [*_wolfssl_units(made_of, target, board_folder), *_lwip_units(target, board_folder, lwip, tasks)]
        stack = network.MAIN_STACK_BYTES if tasks else wolfssl_tls.STACK_BYTES
        return _elf(compiler, f"wolfssl-{program}", f"{build}-{math}{TASKS_SUFFIX * tasks}", target, units, say, stack)
    if library == "wolfssl":
        math = wolfssl.math_of(target, program, build, math)
        units = _wolfssl_units(wolfssl.parts(root, HERE, program, build, target, math), target, board_folder)
        return _elf(compiler, f"wolfssl-{program}", f"{build}-{math}", target, units, say, wolfssl.STACK_BYTES)
    if program in network.PROGRAMS:
        units = _network_units(program, root, build, target, board_folder, network.lwip(source, say), tasks)
        stack = network.MAIN_STACK_BYTES if tasks else network.STACK_BYTES
        return _elf(compiler, program, build + TASKS_SUFFIX * tasks, target, units, say, stack)
    units = [*_library_units(root, build, target), *_our_units(program, root, build, target, board_folder)]
    return _elf(compiler, program, build, target, units, say)


def _elf(
    compiler: Compiler, program: str, build: str, target: Target, units: list[Unit], say: Progress, stack: int = 0
) -> Path:
    """Compile and link; `stack` in bytes, 0: the linker script's."""
    folder = sources.cache_folder() / "guest"
    extra = [f"-Wl,-u,{name}" for name in KEPT.get(program, ())]
    if program in WHOLE:
        extra.append("-Wl,--no-gc-sections")
    if stack:
        extra.append(f"-Wl,--defsym=STACK_SIZE={stack}")
    objects = compile_units(compiler, units, folder / "objects", say)
    return link(compiler, f"{program}-{target.board}-{build}", target, objects, folder, *extra)


def programs(library: str) -> tuple[str, ...]:
    """Names of a library's reference programs."""
    return wolfssl.PROGRAMS if library == "wolfssl" else PROGRAMS


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UsageError(f"no {what} '{name}'{nearest(name, names) or '.'} There is {', '.join(names)}")


# ---- what belongs to a program -------------------------------------------------------------------


def _port(build: str) -> tuple[Path, ...]:
    """Folders of a build's drivers; of files with one name the first counts."""
    port = HERE / "ports" / "mbedtls"
    if build == "software":
        return (port,)
    if build == "faulty":  # the hardware build but for its AES
        return (port, port / "faulty", port / "hardware")
    return (port, port / build.replace("-", "_"))


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
    headers = headers_digest(HERE / "ports", HERE / "device", root / "include", root / "library")
    headers += digest([HERE / "common" / "console.h"])
    wipes_all = (root / "include" / "mbedtls" / "platform_util.h").is_file()  # since 2.10
    return [
        Unit(source, (*flags, "-w", *(MODULE_FLAGS.get(name, ()) if wipes_all or name not in WIPING else ())), headers)
        for name in modules
        if (source := root / "library" / f"{name}.c").is_file()
    ]


def _our_units(program: str, root: Path, build: str, target: Target, board_folder: Path) -> list[Unit]:
    flags = (*_library_flags(root, build, target), f"-I{board_folder}")
    return _program_units(
        program, build, flags, headers_digest(*(HERE / part for part in OUR_FOLDERS), root / "include", board_folder)
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


def _network_units(
    program: str, root: Path, build: str, target: Target, board_folder: Path, lwip: Path, tasks: bool
) -> list[Unit]:
    """As for the others but for the library's configuration, lwIP with its port, and the library's TLS sessions."""
    lwip_headers = lwip / "src" / "include"
    parts = (HERE / "ports" / "lwip", *network.waiting(HERE, "mbedtls", tasks), HERE / "ports" / "mbedtls" / "tls")
    flags = (
        *_library_flags(root, build, target, network.CONFIG), *((network.KERNEL_FLAG,) if tasks else ()),
        *(f"-I{folder}" for folder in (board_folder, *parts, lwip_headers, HERE / "programs")),
        *network.FLAGS.get(program, ()),
    )  # fmt: skip
    headers = headers_digest(*(HERE / part for part in OUR_FOLDERS), root / "include", lwip_headers, board_folder)
    return [
        *_mbedtls_units(root, flags, (*MBEDTLS_MODULES, *network.MBEDTLS_MODULES)),
        *_program_units(program, build, flags, headers),
        *_lwip_units(target, board_folder, lwip, tasks),
        *(Unit(file, (*flags, *OUR_FLAGS), headers) for part in parts for file in sorted(part.glob("*.c"))),
    ]


def _lwip_units(target: Target, board_folder: Path, lwip: Path, tasks: bool) -> list[Unit]:
    """lwIP unmodified: the same objects for all programs, libraries and builds."""
    ours = (HERE / "ports" / "lwip", HERE / "kernel", HERE / "device", HERE / "common")
    flags = (
        *target_flags(target), *COMMON_FLAGS, "-w", *((network.KERNEL_FLAG,) if tasks else ()),
        *(f"-I{folder}" for folder in (board_folder, *ours, lwip / "src" / "include")),
    )  # fmt: skip
    headers = headers_digest(*ours, lwip / "src" / "include", board_folder)
    return [Unit(file, flags, headers) for file in network.lwip_sources(lwip)]


def _wolfssl_units(parts: wolfssl.ProgramParts, target: Target, board_folder: Path) -> list[Unit]:
    flags = (*target_flags(target), *parts.flags)
    headers = headers_digest(*parts.headers)
    ours = headers + headers_digest(HERE / "common", board_folder)
    return [
        *(Unit(source, (*flags, "-w"), headers) for source in parts.library),
        *(Unit(source, (*flags, f"-I{board_folder}", *OUR_FLAGS), ours) for source in parts.ours),
    ]
