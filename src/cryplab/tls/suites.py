"""Cipher suites of the TLS client, by every name that people give them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cryplab.errors import UsageError, nearest

__all__ = ["ABSENT", "SUITES", "Suite", "choose", "suite_of"]


@dataclass(frozen=True, slots=True)
class Suite:
    """`number` is IANA's; `name` mbed TLS's; `openssl` OpenSSL's; `group` what it does with records."""

    number: int
    name: str
    openssl: str
    group: str

    @property
    def key(self) -> str:
        """Of the server's certificate: "ECDSA" or "RSA"."""
        return "ECDSA" if "ECDSA" in self.name else "RSA"

    @property
    def key_bits(self) -> int:
        """Of AES."""
        return 256 if "AES-256" in self.name else 128


def _rows() -> Iterable[Suite]:
    """source: IANA TLS parameters; RFC 5289, 4492, 7251."""
    for number, key, bits, record, openssl, group in (
        (0xC02B, "ECDSA", 128, "GCM-SHA256", "GCM-SHA256", "AES-GCM"),
        (0xC02F, "RSA", 128, "GCM-SHA256", "GCM-SHA256", "AES-GCM"),
        (0xC02C, "ECDSA", 256, "GCM-SHA384", "GCM-SHA384", "AES-GCM"),
        (0xC030, "RSA", 256, "GCM-SHA384", "GCM-SHA384", "AES-GCM"),
        (0xC0AC, "ECDSA", 128, "CCM", "CCM", "AES-CCM"),
        (0xC0AD, "ECDSA", 256, "CCM", "CCM", "AES-CCM"),
        (0xC0AE, "ECDSA", 128, "CCM-8", "CCM8", "AES-CCM"),
        (0xC0AF, "ECDSA", 256, "CCM-8", "CCM8", "AES-CCM"),
        (0xC023, "ECDSA", 128, "CBC-SHA256", "SHA256", "AES-CBC-SHA256"),
        (0xC027, "RSA", 128, "CBC-SHA256", "SHA256", "AES-CBC-SHA256"),
        (0xC009, "ECDSA", 128, "CBC-SHA", "SHA", "AES-CBC-SHA"),
        (0xC013, "RSA", 128, "CBC-SHA", "SHA", "AES-CBC-SHA"),
        (0xC00A, "ECDSA", 256, "CBC-SHA", "SHA", "AES-CBC-SHA"),
        (0xC014, "RSA", 256, "CBC-SHA", "SHA", "AES-CBC-SHA"),
    ):
        yield Suite(number, f"TLS-ECDHE-{key}-WITH-AES-{bits}-{record}", f"ECDHE-{key}-AES{bits}-{openssl}", group)


SUITES: tuple[Suite, ...] = tuple(_rows())
"In the order in which the client offers them."


ABSENT = {"wolfssl": frozenset({0xC0AD})}
"Suites that a library has not: wolfSSL 5.5.4 has AES-256-CCM with tags of 8 bytes only."


def _plain(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper()).replace("WITH", "").removeprefix("TLS")


def _names(suite: Suite) -> set[str]:
    with_bits = suite.group.replace("AES", f"AES{suite.key_bits}")
    return {
        f"{suite.number:04X}", f"0X{suite.number:04X}",
        *map(_plain, (suite.name, suite.openssl, suite.group, with_bits)),
    }  # fmt: skip


def choose(wanted: Iterable[str], library: str = "mbedtls") -> list[Suite]:
    """The suites of these names that a library has, in their order; all of SUITES that it has for none.

    Args:
        wanted: mbed TLS's, IANA's or OpenSSL's name, a number in hexadecimal, or what is done with records: `AES-GCM`,
            `AES-128-GCM`, `AES-CBC-SHA`. Commas separate several.
        library: of the reference firmware.
    Raises: UsageError naming the nearest, or that the library has none of them.
    """
    names = [part.strip() for text in wanted for part in text.split(",") if part.strip()]
    found: list[Suite] = []
    for name in names:
        suites = [suite for suite in SUITES if _plain(name) in _names(suite)]
        if not suites:
            groups = dict.fromkeys(suite.group for suite in SUITES)
            known = [*groups, *(suite.name for suite in SUITES), *(suite.openssl for suite in SUITES)]
            raise UsageError(
                f"no cipher suite '{name}'{nearest(name, known) or '.'} There is {', '.join(groups)}, or a suite's name"
            )
        found += [suite for suite in suites if suite not in found]
    there = _of_library(found or SUITES, library)
    if not there:
        near = [suite.openssl for suite in _of_library(SUITES, library) if suite.group == found[0].group]
        raise UsageError(f"{library} has no {found[0].openssl}; of {found[0].group} it has {', '.join(near)}")
    return there


def _of_library(suites: Iterable[Suite], library: str) -> list[Suite]:
    return [suite for suite in suites if suite.number not in ABSENT.get(library, ())]


def suite_of(number: int) -> Suite | None:
    """By IANA's number."""
    return next((suite for suite in SUITES if suite.number == number), None)
