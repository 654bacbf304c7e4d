"""Scripts: what a case does, as data.

A case is a list of steps over numbered contexts. The same steps are run by the oracle, run by the firmware, shrunk and
printed; nothing here knows how.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["ALIGNED", "ONE_DIRECTION", "Case", "Expected", "Place", "Step", "key_kind"]

ONE_DIRECTION = ("AES", "DES", "DES3")
"Kinds whose context has a direction, set with the key."


@dataclass(frozen=True, slots=True)
class Place:
    """Where the buffers of a step lie.

    `key`, `iv`, `aad`, `input`, `output`, `tag`: bytes that the address is off a 16-byte boundary. `output_at`:
    where the output lies in relation to the input (0: in place, negative: before it), None for apart. `edge`: the
    buffer behind whose last byte there is no memory, or empty.
    """

    key: int = 0
    iv: int = 0
    aad: int = 0
    input: int = 0
    output: int = 0
    tag: int = 0
    output_at: int | None = None
    edge: str = ""

    @classmethod
    def off(cls, names: Iterable[str], offset: int) -> Place:
        """These buffers so many bytes off, all else aligned."""
        values: dict[str, Any] = dict.fromkeys(names, offset)
        return cls(**values)

    def __str__(self) -> str:
        off = [f"{f.name}+{value}" for f in fields(self)[:6] if (value := getattr(self, f.name))]
        if self.output_at is not None:
            off.append("in place" if self.output_at == 0 else f"output at input{self.output_at:+d}")
        if self.edge:
            off.append(f"{self.edge} at the end of memory")
        return ", ".join(off)


ALIGNED = Place()


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    `does`: "open" (a context of `kind` is made), "free", "setkey", "crypt" (a cipher mode, `kind` is ECB, CBC, CTR,
    CFB or OFB), "seal" and "unseal" (authenticated, whole message), "starts", "update", "finish", "clone" (from
    context `source`), "digest" (hash in one call), "hmac" (in one call), "reset" (HMAC again with the same key),
    "seed", "random" (`length` bytes).
    `context`: number of the context. `encrypt`: direction. `iv` None: go on from where the last call ended.
    `length`: bytes of tag or of random data that are wanted.
    """

    does: str
    context: int = 0
    kind: str = ""
    key: bytes = b""
    encrypt: bool = True
    iv: bytes | None = None
    aad: bytes = b""
    data: bytes = b""
    tag: bytes = b""
    length: int = 0
    source: int = 0
    place: Place = ALIGNED

    def __str__(self) -> str:
        parts = [self.does, self.kind] if self.kind else [self.does]
        if self.does in ("setkey", "crypt"):
            parts.append("encrypt" if self.encrypt else "decrypt")
        if self.key:
            parts.append(f"key {len(self.key)}")
        if self.aad:
            parts.append(f"aad {len(self.aad)}")
        if self.does in ("crypt", "seal", "unseal", "update", "digest", "hmac"):
            parts.append(f"{len(self.data)} bytes")
        if self.does == "clone":
            parts.append(f"of {self.source}")
        where = f" [{self.place}]" if self.place != ALIGNED else ""
        return f"{self.context}: {' '.join(parts)}{where}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a step must give.

    `status`: "ok", "refused" (an error must be returned), "may refuse" (right, or an error). `outputs`: bytes by
    name (`output`, `iv`, `tag`, `offset`). `forbidden`: plaintext that must not be found in an output.
    `fresh`: outputs that have no expected value but must be written whole and look random.
    """

    status: str = "ok"
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    forbidden: Mapping[str, bytes] = field(default_factory=dict)
    fresh: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Steps with a purpose: `group` of the table, `algorithm` (its row), `name` of its own.

    `published`: outputs that were published, by step; the oracle says the rest.
    """

    group: str
    algorithm: str
    name: str
    steps: tuple[Step, ...]
    published: Mapping[int, Mapping[str, bytes]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """`AES-CBC/splits/48 bytes at 16`."""
        return f"{self.algorithm}/{self.group}/{self.name}"

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of context and mode that are needed."""
        return frozenset(_needs(self.steps))


def key_kind(kind: str, size: int, encrypt: bool) -> str:
    """What setting a key of so many bytes needs: APIs have a function for each direction and, for DES3, size."""
    if kind not in ONE_DIRECTION:
        return kind
    return f"{kind} {f'{size} ' if kind == 'DES3' else ''}{'encryption' if encrypt else 'decryption'} key"


def _needs(steps: Iterable[Step]) -> Iterable[str]:
    opened: dict[int, str] = {}
    for step in steps:
        if step.does == "open":
            opened[step.context] = step.kind
            yield step.kind
        elif step.does == "setkey":
            yield key_kind(opened.get(step.context, ""), len(step.key), step.encrypt)
        elif step.does == "crypt":
            yield f"{opened.get(step.context, '')}-{step.kind}"
        elif step.does in ("digest", "hmac"):
            yield f"{step.kind} {step.does}"
        elif step.does == "clone":
            opened[step.context] = opened.get(step.source, "")
            yield f"{opened[step.context]} clone"
        elif step.does in ("seal", "unseal", "starts"):
            yield f"{opened.get(step.context, '')} {step.does}"
