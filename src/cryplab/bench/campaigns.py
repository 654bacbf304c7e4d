"""The published systems that `cryplab accuracy` rebuilds: boards, programs, and why kinds of rows miss.

Data only. A reason explains an error and points to where it is measured; it never changes a figure. What was
published for other boards is in `NOT_MODELLED`, so that every published row is compared or left out with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CAMPAIGNS", "NOT_MODELLED", "Campaign", "Reason"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why rows of one kind miss: `rows` are globs over names as `published.canonical` gives them, separated by commas.

    `crypto` limits it to one published column; the first reason that fits a row is its reason.
    """

    rows: str
    text: str
    crypto: str = ""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A published system and how it is rebuilt.

    Attributes:
        board, library: ours.
        builds: published column -> our build.
        program: of the reference firmware.
        conditions: what is known of the published build, and what stands for it here.
        reasons: for rows that miss.
    """

    board: str
    library: str
    builds: tuple[tuple[str, str], ...]
    program: str = "benchmark"
    conditions: str = ""
    reasons: tuple[Reason, ...] = ()


SOFTWARE, HARDWARE = "software", "hardware"
PLAIN: Final = ((SOFTWARE, SOFTWARE), (HARDWARE, HARDWARE))

UBLOX: Final = Campaign(
    "ublox-c030-u201", "mbedtls", ((SOFTWARE, SOFTWARE), (HARDWARE, "hal-style")),
    conditions="published: mbed TLS 2.5 in mbed OS, GCC 6 or older, RTX 5's lock around the heap; "
               "here: 2.28, GCC as it is, a lock that does the same work",
    reasons=(
        Reason("sha-512", "GCC 6 kept 64-bit values in register pairs, GCC 12 splits them early (docs/timing.md)"),
        Reason("*secp256r1*,*curve25519*",
               "2.28 allocates half as often as 2.5 and copies fewer numbers (docs/timing.md)"),
        Reason("*secp384r1*", "as P-256, with a larger share of multiplication (docs/timing.md)"),
        Reason("rsa-*", "2.28 moves numbers without branches; the key's digits (docs/timing.md)"),
        Reason("aes-gcm-*", "64-bit code of GHASH, as SHA-512 (docs/timing.md)"),
        Reason("sha-256", "a driver in the vendor's shape, not the vendor's (docs/guest.md)", HARDWARE),
        Reason("ctr_drbg*", "one block a call of a driver in the vendor's shape (docs/guest.md)", HARDWARE),
    ),
)  # fmt: skip
F217: Final = Campaign(
    "stm3221g-eval", "wolfssl", PLAIN, "ctaocrypt",
    conditions="published: CyaSSL 2.4 under FreeRTOS, a compiler that was not named, by its settings Keil's; "
               "here: wolfCrypt 5.5.4, GCC -O2, a heap behind a mutex",
    reasons=(
        Reason("md5,sha", "the port of 5.5.4 writes one word a call and moves 50 registers each time, that of 2012 "
                          "neither (docs/wolfssl.md)", HARDWARE),
        Reason("sha,sha-256", "GCC folds rotations into other instructions (docs/wolfssl.md)"),
        Reason("dh 2048 key generation", "another window in mp_exptmod (docs/wolfssl.md)"),
        Reason("rsa*,dh*", "other code for the same arithmetic (docs/wolfssl.md)"),
        Reason("aes", "a loop of 165 cycles a block against 192; DES by the same loop is right (docs/wolfssl.md)",
               HARDWARE),
    ),
)  # fmt: skip
F437: Final = Campaign(
    "stm32f437i-eval", "wolfssl", PLAIN,
    conditions="published: wolfSSL 4.4.1 under FreeRTOS, -Os of a GCC of 2020; "
               "here: 5.5.4, -Os of GCC as it is, a heap like FreeRTOS's",
    reasons=(
        Reason("sha-256,hmac-sha256", "the port of 4.4.1 moved single words to HASH, that of 5.5.4 blocks of 16 "
                                      "(docs/wolfssl.md)", HARDWARE),
        Reason("rng", "Hash-DRBG over SHA-256 in HASH, and the port is another one (docs/wolfssl.md)", HARDWARE),
        Reason("sha-256,hmac-sha256", "a buffer from the heap, which is newlib's, for every block (docs/wolfssl.md)",
               SOFTWARE),
        Reason("ecc*,ecdhe*,ecdsa*", "64-bit code, C library, and another version of tfm (docs/wolfssl.md)", SOFTWARE),
        Reason("rsa*,dh*,poly1305,cha-poly", "64-bit code: GCC before 10 kept register pairs (docs/wolfssl.md)",
               SOFTWARE),
        Reason("ecc*,ecdhe*,ecdsa*,rsa*,dh*", "the assembly of 5.5.4 is not that of 4.4.1 (docs/wolfssl.md)", HARDWARE),
        Reason("chacha,cha-poly,poly1305", "code of another compiler's -Os (docs/wolfssl.md)"),
        Reason("aes-*-cbc-*", "code of another compiler's -Os (docs/wolfssl.md)", SOFTWARE),
    ),
)  # fmt: skip
CAMPAIGNS: Final = (UBLOX, F217, F437)

# Published boards without a campaign -> why.
NOT_MODELLED: Final = {
    "STM32MP135F": "no model of STM32MP135F (Cortex-A7); no accelerator takes part",
    "STM32MP135F-DK": "no model of STM32MP135F (Cortex-A7)",
    "NUCLEO-H753ZI": "no model of STM32H753 (Cortex-M7)",
    "P-NUCLEO-WB55 (MB1355C-02)": "no model of STM32WB55",
    "NUCLEO-L4A6ZG": "no model of STM32L4A6",
    "STM32L562E-DK": "no model of STM32L562 (Cortex-M33)",
    "Custom STM32F777": "no model of STM32F777 (Cortex-M7)",
    "B-U585I-IOT02A": "no model of STM32U585 (Cortex-M33)",
}
