"""What is known about crypto APIs: for each function, what its arguments are and what it does. Data, not code.

A table line reads like the prototype, argument by argument:

    crypt("mbedtls_aes_crypt_cbc", "AES-CBC", "ctx mode length iv:16 input output")

Roles: `ctx` context or operation object (its address is the identity), `src` the context that is copied from,
`key` `key_bits` `key_bytes`, `mode` (see `encrypts`), `iv` `iv_length`, `aad` `aad_length`, `input`, `output`,
`length` of input and output in bytes, `tag` `tag_length`, `off` offset inside a key-stream block, `olen` where the
length of the output is stored, `-` no matter. `role:n` says that n bytes lie there; a number as a role gives no
argument but a constant: `length=16`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["Function", "known_functions"]


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a crypto API.

    `does`: "init", "free", "setkey", "starts", "aad", "update", "finish", "crypt" (one call, one result),
    "clone", "random". `algorithm`: AES, DES, TDES, MD5, SHA-1, SHA-256 (with SHA-224), RNG, or empty for several.
    `mode`: ECB, CBC, ... ; `direction`: "encrypt", "decrypt", or empty when argument `mode` says it (1 encrypts).
    `arguments`: role of each word. `sizes`: bytes behind a pointer, by role. `constants`: roles without an argument.
    """

    name: str
    does: str
    algorithm: str
    mode: str
    arguments: tuple[str, ...]
    direction: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)

    def __deepcopy__(self, memo: object) -> Function:
        return self

    def bind(self, words: Iterable[int]) -> dict[str, int]:
        """Arguments by role."""
        bound = dict(self.constants)
        bound.update((role, word) for role, word in zip(self.arguments, words, strict=False) if role != "-")
        return bound


def line(does: str, name: str, what: str, arguments: str, direction: str = "") -> Function:
    """A table line, see the module's text; `what` is `AES-CBC`, `SHA-256`, `AES`."""
    roles: list[str] = []
    sizes: dict[str, int] = {}
    constants: dict[str, int] = {}
    for word in arguments.split():
        role, equals, constant = word.partition("=")
        if equals:
            constants[role] = int(constant)
            continue
        role, colon, size = role.partition(":")
        if colon:
            sizes[role] = int(size)
        roles.append(role)
    cipher = what.split("-")[0] in ("AES", "DES", "TDES")
    algorithm, _, mode = what.partition("-") if cipher else (what, "", "")
    return Function(name, does, algorithm, mode, tuple(roles), direction, sizes, constants)


def known_functions(more: Iterable[Function] = ()) -> dict[str, Function]:
    """Every function of every library's table, and more, by name."""
    from cryplab.observe.api import mbedtls, psa

    return {f.name: f for table in (mbedtls.FUNCTIONS, psa.FUNCTIONS) for f in table} | {f.name: f for f in more}
