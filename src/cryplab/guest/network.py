"""What the programs with network are made of beside the library: lwIP unmodified, our driver, a TLS configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from cryplab.errors import UsageError
from cryplab.guest import sources
from cryplab.guest.targets import BOARDS, Target

__all__ = [
    "CONFIG",
    "FLAGS",
    "KERNEL_FLAG",
    "MAIN_STACK_BYTES",
    "MBEDTLS_MODULES",
    "PROGRAMS",
    "STACK_BYTES",
    "lwip",
    "lwip_sources",
    "need_ethernet",
    "need_tasks",
    "waiting",
]

PROGRAMS = ("tls_client", "echo_client", "echo_server")

CONFIG = "cryplab_tls_config.h"
"Configuration of mbed TLS, instead of that of benchmark and selftest."

FLAGS = {"echo_server": ("-DCRYPLAB_TLS_SERVER",)}

KERNEL_FLAG = "-DCRYPLAB_KERNEL"
"Of everything that is built for tasks under the kernel."
MAIN_STACK_BYTES = 0x2000
"Of main() there: the sessions have stacks of their own."
STACK_BYTES = 0x3000
"Of the programs in one main loop: a session takes 2.8 KiB. An F2's heap needs the rest."

MBEDTLS_MODULES = (
    "ecdsa", "pem", "pk", "pk_wrap", "pkparse", "ssl_ciphersuites", "ssl_cli", "ssl_msg", "ssl_srv", "ssl_tls", "x509",
    "threading", "x509_crt",
)  # fmt: skip
"Files of mbed TLS beside those of benchmark and selftest."

LWIP_MODULES = (
    "core/def", "core/dns", "core/inet_chksum", "core/init", "core/ip", "core/mem", "core/memp", "core/netif",
    "core/pbuf", "core/stats", "core/tcp", "core/tcp_in", "core/tcp_out", "core/timeouts", "core/udp", "core/ipv4/dhcp",
    "core/ipv4/etharp", "core/ipv4/icmp", "core/ipv4/ip4", "core/ipv4/ip4_addr", "core/ipv4/ip4_frag", "netif/ethernet",
)  # fmt: skip


def need_ethernet(target: Target, program: str) -> None:
    """Raises: UsageError for a board whose Ethernet port the programs do not know."""
    if target.ethernet is None:
        able = ", ".join(board.board for board in BOARDS.values() if board.ethernet)
        raise UsageError(f"{target.board}: {program} needs an Ethernet port; {able} have one")


def need_tasks(program: str, build: str) -> None:
    """Raises: UsageError for a program or a build that there is not under the kernel."""
    if program not in PROGRAMS:
        raise UsageError(f"{program} has no tasks; {', '.join(PROGRAMS)} have")
    if build == "hal-style":
        raise UsageError(
            "the hal-style build has no tasks: its driver's lock answers busy, as that of 2017 did; "
            "there is software, hardware, faulty"
        )


def lwip(source: str | Path | None, progress: Callable[[str], None]) -> Path:
    """lwIP's folder: `lwip` in a folder of sources, else as `sources.library` says. Raises: ToolError."""
    beside = Path(source).expanduser() / "lwip" if source else None
    return sources.library("lwip", beside if beside and beside.is_dir() else None, progress)


def waiting(here: Path, library: str, tasks: bool = False) -> tuple[Path, ...]:
    """Folders with the sources and headers of how programs wait: in one main loop, or as tasks under the kernel."""
    port = here / "ports"
    return (
        (port / "lwip" / "tasks", here / "kernel", port / library / "kernel") if tasks else (port / "lwip" / "alone",)
    )


def lwip_sources(root: Path) -> Iterator[Path]:
    """The files of lwIP that are compiled, `root` its folder."""
    for name in LWIP_MODULES:
        yield root / "src" / f"{name}.c"
