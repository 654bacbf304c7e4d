"""The crypto APIs that `check` can call: how each adapter is made for a firmware, and which one `auto` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cryplab.check import presence
from cryplab.check.api import Api
from cryplab.check.api.hal import TYPES as HAL_TYPES
from cryplab.check.api.hal import Hal
from cryplab.check.api.mbedtls import MbedTls
from cryplab.check.api.psa import Psa
from cryplab.check.api.wolfcrypt import TYPES, WolfCrypt
from cryplab.check.sizes import returning_functions, type_sizes
from cryplab.errors import FirmwareError, UsageError, nearest
from cryplab.layout import layouts
from cryplab.loader import Image
from cryplab.symbols import Symbols

__all__ = ["KNOWN", "Known", "choose", "entries"]

MBEDTLS_MODULES = (
    "aes", "des", "des3", "gcm", "ccm", "md5", "sha1", "sha256", "sha512", "md", "ctr_drbg", "entropy",
)  # fmt: skip
PSA_TYPES = ("psa_hash_operation_t", "psa_cipher_operation_t", "psa_core_key_attributes_t")
SHOWN_ENTRIES = 3


@dataclass(frozen=True, slots=True)
class Known:
    """An API by its option's value and in words.

    `plain`: the adapter as far as symbols tell; `made`: with what the debug information says, which takes a moment.
    `driver`: libraries may stand on it.
    """

    name: str
    title: str
    plain: Callable[[Symbols], Api]
    made: Callable[[Image], Api]
    driver: bool = False

    def found(self, symbols: Symbols) -> bool:
        """The firmware has functions of it."""
        return any(entry in symbols for entry in self.plain(symbols).entries())


def _mbedtls(image: Image) -> Api:
    sizes = type_sizes(image.path, {f"mbedtls_{module}_context" for module in MBEDTLS_MODULES})
    return MbedTls(image.symbols, sizes, returning_functions(image.path, MbedTls.maybe_void()))


def _psa(image: Image) -> Api:
    sizes = type_sizes(image.path, PSA_TYPES)
    return Psa(image.symbols, sizes, key_id_first="psa_core_key_attributes_t" in sizes)


def _wolfcrypt(image: Image) -> Api:
    sizes = type_sizes(image.path, set(TYPES.values()))
    return WolfCrypt(image.symbols, sizes, returning_functions(image.path, WolfCrypt.maybe_void()))


def _hal(image: Image, name: str) -> Api:
    found = layouts(image.path, HAL_TYPES)
    if not found:
        raise FirmwareError(
            f"{image.path} does not describe the HAL's handles, so check cannot fill one in; compile the HAL with -g"
        )
    return Hal(image.symbols, found, name)


KNOWN = (
    Known("mbedtls", "mbed TLS", lambda symbols: MbedTls(symbols, {}), _mbedtls),
    Known("psa", "PSA Crypto", lambda symbols: Psa(symbols, {}), _psa),
    Known("wolfcrypt", "wolfCrypt", lambda symbols: WolfCrypt(symbols, {}), _wolfcrypt),
    *(
        Known(name, title, partial(Hal, layouts={}, name=name), partial(_hal, name=name), driver=True)
        for name, title in (
            ("hal", "the vendor's HAL"),
            ("hal-it", "the vendor's HAL by interrupt"),
            ("hal-dma", "the vendor's HAL by DMA"),
        )
    ),
)
"In the order in which `auto` asks."


def entries(symbols: Symbols, api: Api) -> list[str]:
    """Functions at whose first call a firmware counts as booted: of every library, and of the API that is called.

    A driver's are called while a firmware starts, before the libraries on it are ready.
    """
    libraries = [known.plain(symbols) for known in KNOWN if not known.driver]
    return [name for known in (*libraries, api) for name in known.entries()]


def choose(name: str, image: Image) -> Api:
    """The adapter by name; `auto` takes the first that the firmware has functions of.

    Raises: FirmwareError with one sentence when there is none, UsageError for a name that is no API's.
    """
    if not len(image.symbols):
        raise FirmwareError(f"{image.path}: {presence.STRIPPED}")
    names = ["auto", *(known.name for known in KNOWN)]
    if name not in names:
        raise UsageError(f"no API '{name}'{nearest(name, names) or '.'} There is {', '.join(names)}")
    wanted = [known for known in KNOWN if name in ("auto", known.name)]
    for known in wanted:
        if known.found(image.symbols):
            return known.made(image)
    if name != "auto":
        raise FirmwareError(f"{image.path} has no function of {wanted[0].title} that check could call; try --api auto")
    examples = "; ".join(
        f"{known.name}: {', '.join(sorted(known.plain(image.symbols).entries())[:SHOWN_ENTRIES])}, ..."
        for known in KNOWN
    )
    raise FirmwareError(
        f"{image.path} has none of the crypto functions that check knows ({examples}); "
        "`cryplab run` watches its accesses all the same, and Machine.call calls any function"
    )
