"""Published benchmark rows of real boards, with their origin, from `data/published.csv`.

Columns of the file: system, board, core, clock_mhz, library, build, crypto (software or hardware), row,
value, unit, source. Values are kept as printed.
"""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass
from importlib import resources

__all__ = ["PublishedRow", "all_rows", "canonical", "find", "rows_of", "system_of"]


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published number. `value` as printed; `number` is None where a range was printed."""

    system: str
    board: str
    core: str
    clock_mhz: str
    library: str
    build: str
    crypto: str
    row: str
    value: str
    unit: str
    source: str

    @property
    def number(self) -> float | None:
        """The value in `unit`."""
        return float(self.value) if re.fullmatch(r"\d+(\.\d+)?", self.value) else None


# Our boards and libraries among the published systems: (board, library) -> (system, board there).
_SYSTEMS = {
    ("ublox-c030-u201", "mbedtls"): ("mbed TLS on STM32F437", "u-blox C030-U201 STM32F437VG"),
    ("stm3221g-eval", "wolfssl"): ("CyaSSL on STM32F2", "STM3221G-EVAL STM32F217IG"),
    ("stm32f437i-eval", "wolfssl"): ("wolfSSL STM32 benchmark list", "STM32F437I-EVAL"),
    ("nucleo-h753zi", "wolfssl"): ("wolfSSL STM32 benchmark list", "NUCLEO-H753ZI"),
    ("nucleo-l4a6zg", "wolfssl"): ("wolfSSL STM32 benchmark list", "NUCLEO-L4A6ZG"),
    ("stm32l562e-dk", "wolfssl"): ("wolfSSL STM32 benchmark list", "STM32L562E-DK"),
    ("b-u585i-iot02a", "wolfssl"): ("wolfSSL STM32 benchmark list", "B-U585I-IOT02A"),
    ("stm32mp135f-dk", "wolfssl"): ("wolfSSL on STM32MP135F, bare metal", "STM32MP135F-DK"),
}
# Names that other versions of the same programs print for the same row.
_ALIASES = {
    "ecdhe-x25519 handshake": "ecdhe-curve25519 handshake",
    "ecdh-x25519 handshake": "ecdh-curve25519 handshake",
    "sha-1": "sha",
    "hmac-sha-1": "hmac-sha",
    "hmac-sha1": "hmac-sha",
    "hmac-sha-256": "hmac-sha256",
    "des3": "3des",
    "ecc 256 key gen": "ecc [secp256r1] 256 key gen",
    "ecdhe 256 agree": "ecdhe [secp256r1] 256 agree",
    "ecdsa 256 sign": "ecdsa [secp256r1] 256 sign",
    "ecdsa 256 verify": "ecdsa [secp256r1] 256 verify",
}


def canonical(name: str) -> str:
    """A row's name for comparing: case, blanks and names of other versions evened out."""
    plain = re.sub(r"\[\s*(.*?)\s*\]", r"[\1]", " ".join(name.lower().split()))
    return _ALIASES.get(plain, plain)


@functools.cache
def all_rows() -> tuple[PublishedRow, ...]:
    """Every published row, in the order of the file."""
    text = resources.files("cryplab.bench").joinpath("data/published.csv").read_text("utf-8")
    return tuple(PublishedRow(**row) for row in csv.DictReader(text.splitlines()))


def find(board: str, library: str, build: str, row: str) -> PublishedRow | None:
    """The published row of one of our boards, or None.

    Args:
        board: our name, `ublox-c030-u201`.
        library: `mbedtls` or `wolfssl`.
        build: `software`, or any other for the published hardware column.
        row: the row's name, in any version's spelling.
    """
    system = _SYSTEMS.get((board, library))
    if system is None:
        return None
    crypto = "software" if build == "software" else "hardware"
    return _index().get((*system, crypto, canonical(row)))


def system_of(board: str, library: str) -> tuple[str, str] | None:
    """System and board, as the file names them, of one of our boards with a library; None without published rows."""
    return _SYSTEMS.get((board, library))


def rows_of(board: str, library: str, crypto: str) -> tuple[PublishedRow, ...]:
    """All rows of one published column of one of our boards.

    Args:
        board: our name, `ublox-c030-u201`.
        library: `mbedtls` or `wolfssl`.
        crypto: `software` or `hardware`.
    """
    system = system_of(board, library)
    return tuple(p for p in all_rows() if (p.system, p.board) == system and p.crypto == crypto)


@functools.cache
def _index() -> dict[tuple[str, str, str, str], PublishedRow]:
    """Where a board was published with several hardware builds, the first in the file counts."""
    index: dict[tuple[str, str, str, str], PublishedRow] = {}
    for row in all_rows():
        index.setdefault((row.system, row.board, row.crypto, canonical(row.row)), row)
    return index
