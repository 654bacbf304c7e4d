"""What is known about crypto APIs: for each function, what its arguments are and what it does. Data, not code.

A table line reads like the prototype, argument by argument:

    crypt("mbedtls_aes_crypt_cbc", "AES-CBC", "ctx mode length iv:16 input output")

Roles: `ctx` context or operation object (its address is the identity), `src` the context that is copied from,
`key` `key_bits` `key_bytes`, `mode` and `dir` (see `encrypts`), `iv` `iv_length`, `aad` `aad_length`, `input`,
`output`, `length` of input and output in bytes, `tag` `tag_length`, `off` offset inside a key-stream block, `olen`
where the length of the output is stored, `-` no matter. `role:n` says that n bytes lie there; a number as a role
gives no argument but a constant: `length=16`. `role@PATH` is no argument either: it is read from the struct that
`ctx` points to, as the firmware's debug information describes it, `phase@Phase`; without that the role is not there.
Such roles: `phase` (`stages` say what the function does), `mode_bits` (`modes` say the mode), `unit` (0: `length`
counts words of 4 bytes).
Constants that tell of contexts: `held_iv=16`, it keeps an IV of so many bytes, set by role `iv` (zeros when that is
null) and moved on by each call; `restarts=1`, behind this function more data begins the next message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Function", "known_functions", "line"]

WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a crypto API.

    `does`: "init", "free", "setkey", "starts", "aad", "update", "finish", "crypt" (one call, one result), "clone",
    "random", "seed" (of a generator, which tests what a random function gives it); others mean nothing to rules, such
    as "interrupt". `algorithm`: AES, DES, TDES, MD5,
    SHA-1, SHA-256 (with SHA-224), RNG, or empty for several.
    `mode`: ECB, CBC, ... ; `direction`: "encrypt", "decrypt", or empty when argument `mode` (1 encrypts) or `dir` (0
    encrypts) says it.
    `arguments`: role of each word. `sizes`: bytes behind a pointer, by role. `constants`: roles without an argument.
    `handle`: C type that `ctx` points to, `inside`: members of it, by role. `stages`: what it does by role `phase`,
    `modes`: `AES-CBC` by role `mode_bits`. `driver`: of a layer below libraries.
    """

    name: str
    does: str
    algorithm: str
    mode: str
    arguments: tuple[str, ...]
    direction: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)
    handle: str = ""
    inside: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[int, str] = field(default_factory=dict)
    modes: Mapping[int, str] = field(default_factory=dict)
    driver: bool = False

    def __deepcopy__(self, memo: object) -> Function:
        return self

    def bind(self, words: Iterable[int]) -> dict[str, int]:
        """Arguments by role."""
        bound = dict(self.constants)
        bound.update((role, word) for role, word in zip(self.arguments, words, strict=False) if role != "-")
        return bound

    def settled(self, bound: dict[str, int]) -> Function:
        """The function as this call's handle makes it; `length` becomes bytes, or goes when its unit is not known."""
        if "unit" in self.inside and not bound.get("unit", 0):
            known = "unit" in bound
            length = bound.pop("length", 0)
            bound |= {"length": WORD_BYTES * length} if known else {}
        does = self.stages.get(bound.get("phase", -1), self.does)
        what = self.modes.get(bound.get("mode_bits", -1), "")
        if does == self.does and not what:
            return self
        algorithm, _, mode = what.partition("-")
        return replace(self, does=does, algorithm=algorithm or self.algorithm, mode=mode)


def line(does: str, name: str, what: str, arguments: str, direction: str = "") -> Function:
    """A table line, see the module's text; `what` is `AES-CBC`, `SHA-256`, `AES`."""
    roles: list[str] = []
    sizes: dict[str, int] = {}
    constants: dict[str, int] = {}
    inside: dict[str, str] = {}
    for word in arguments.split():
        role, at, path = word.partition("@")
        if at:
            inside[role] = path
            continue
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
    return Function(name, does, algorithm, mode, tuple(roles), direction, sizes, constants, inside=inside)


def known_functions(more: Iterable[Function] = ()) -> dict[str, Function]:
    """Every function of every library's table, and more, by name."""
    from cryplab.observe.api import hal, mbedtls, psa, wolfcrypt

    tables = (mbedtls.FUNCTIONS, psa.FUNCTIONS, wolfcrypt.FUNCTIONS, hal.FUNCTIONS)
    return {f.name: f for table in tables for f in table} | {f.name: f for f in more}
