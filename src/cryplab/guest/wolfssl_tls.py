"""What the programs with network are made of for wolfSSL: its TLS and wolfCrypt unmodified, its STM32 port, and ours.

The port is as for the other programs (`wolfssl`); settings of TLS are in ports/wolfssl/tls.
"""

from __future__ import annotations

from pathlib import Path

from cryplab.errors import ToolError, UsageError
from cryplab.guest import network, wolfssl
from cryplab.guest.targets import Target
from cryplab.guest.wolfssl import ProgramParts

__all__ = ["BUILDS", "MATH", "STACK_BYTES", "parts"]

BUILDS = ("software", "hardware", "faulty")
"`faulty`: HASH, too, by the port, whose digests of messages in pieces are wrong (docs/tls.md)."
MODULES = ("internal", "keys", "ssl", "tls", "wolfio")
"Files of wolfSSL's `src`; ssl.c includes the others that it needs."
CRYPT_MODULES = (
    "aes", "asn", "coding", "curve25519", "ecc", "error", "fe_low_mem", "fe_operations", "hash", "hmac", "kdf",
    "logging", "md5", "memory", "random", "rsa", "sha", "sha256", "sha512", "signature", "sp_c32", "sp_cortexm",
    "sp_int", "tfm", "wc_encrypt", "wc_port", "wolfmath",
)  # fmt: skip
"Files of wolfCrypt that TLS reaches."
MATH = "sp"
"Big integers of all builds, so that they differ by what the accelerators do."
STACK_BYTES = 0x4000


def parts(
    root: Path, here: Path, program: str, build: str, target: Target, math: str, lwip: Path, tasks: bool = False
) -> ProgramParts:
    """What to compile beside lwIP.

    Args:
        root: wolfSSL's sources.
        here: the guest folder.
        program: of `network.PROGRAMS`.
        build: of BUILDS.
        target: the board.
        math: the big integers, of `wolfssl.MATHS`.
        lwip: lwIP's folder, for its headers.
        tasks: under the kernel.
    Raises: UsageError for a build that there is not; ToolError for sources without TLS.
    """
    if build not in BUILDS:
        raise UsageError(f"wolfssl has no {build} build of {program}; there is {', '.join(BUILDS)}")
    if not (root / "src" / "ssl.c").is_file():
        raise ToolError(f"{root}: no TLS of wolfSSL here, src/ssl.c is missing")
    family = wolfssl.family_of(target)
    port = here / "ports" / "wolfssl"
    ours = (port / "tls", port, port / family, here / "ports" / "lwip", *network.waiting(here, "wolfssl", tasks))
    lwip_headers = lwip / "src" / "include"
    include = (*ours, here / "programs", here / "device", here / "common", root, lwip_headers)
    defined = [family, f"math_{math}", *(("hardware", "faulty") if build == "faulty" else (build,))]
    flags = (
        *wolfssl.BASE_FLAGS, wolfssl.OPTIMISATION[target.chip.core], "-DWOLFSSL_USER_SETTINGS",
        *(f"-DCRYPLAB_{name.upper()}" for name in defined), f"-DCRYPLAB_BENCH_SECONDS={wolfssl.BENCH_SECONDS}f",
        *((network.KERNEL_FLAG,) if tasks else ()), *(f"-I{folder}" for folder in include),
    )  # fmt: skip
    library = [
        *(root / "src" / f"{name}.c" for name in MODULES),
        *(root / "wolfcrypt" / "src" / f"{name}.c" for name in CRYPT_MODULES),
        root / wolfssl.PORT,
    ]
    files = [
        *sorted((here / "common").glob("*.c")),
        *(file for folder in ours for file in sorted(folder.glob("*.c"))),
        *sorted((here / "programs").glob(f"{program}*.c")),
    ]
    headers = [port, *(here / part for part in ("ports/lwip", "programs", "kernel", "device"))]
    headers += [root / "wolfssl", lwip_headers]
    return ProgramParts(library, files, flags, headers)
