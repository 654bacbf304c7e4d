"""Crypto APIs as `check` calls them: each turns a step into calls with arguments and buffers.

A plan is data: the same one is executed on the machine and printed as Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from cryplab.check.script import Step
from cryplab.machine import Machine

__all__ = [
    "Api", "Argument", "Buffer", "Call", "Chain", "Context", "Deed", "Function", "Inside", "Join", "Plan", "Put",
    "Status", "Store", "Wait",
]  # fmt: skip

Status = Literal["ok", "refused", "unsupported"]
Use = Literal["in", "out", "inout"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that a call gets.

    `data`: contents before the call (for "out" only its length matters). `offset`: bytes off a 16-byte boundary.
    `over`, `shift`: this buffer lies over another one, so many bytes from its start.
    """

    name: str
    data: bytes
    use: Use = "in"
    offset: int = 0
    over: str = ""
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """Argument: the address of a numbered context, or so many bytes behind it."""

    number: int
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """Argument: the address of a function."""

    name: str


@dataclass(frozen=True, slots=True)
class Inside:
    """Argument: an address so many bytes behind the start of a buffer."""

    buffer: str
    behind: int


Argument = int | str | Context | Function | Inside
"A number, a buffer's name, a context, a function, a place in a buffer."


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    `returns`: "status" is judged, "nothing" is ignored, "pointer" is kept under `keep` (0 is an error), "word" is
    kept whatever it is. With `kept_from` the word that the call left in that buffer is kept instead.
    """

    function: str
    arguments: tuple[Argument, ...]
    returns: Literal["status", "nothing", "pointer", "word"] = "status"
    keep: str = ""
    kept_from: str = ""


@dataclass(frozen=True, slots=True)
class Put:
    """A member of a struct and what it becomes: `path` as the source has it, its place and size in bytes."""

    path: str
    offset: int
    size: int
    value: Argument


@dataclass(frozen=True, slots=True)
class Store:
    """Between calls: the caller fills in a struct, a context or in a buffer; without `type` plain words."""

    into: Context | str
    type: str
    puts: tuple[Put, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Between calls: the caller waits while the byte there is `busy`; another value than `ready` then is an error.

    `seconds`: virtual time that it may take. `error`: a word there that is not 0 is an error, too.
    """

    at: Context | Inside
    busy: int
    ready: int
    seconds: float
    error: Context | Inside | None = None


Deed = Call | Store | Wait


@dataclass(frozen=True, slots=True)
class Join:
    """A result made of parts, each a buffer and the one with its length; behind `split_at` bytes `tail` begins."""

    name: str
    parts: tuple[tuple[str, str], ...]
    split_at: int | None = None
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a step comes to: calls, buffers, and which buffers are results.

    `joins` puts results together; `clear`: contexts that are zeroed before; `unsupported`: why there is no plan;
    `may_refuse`: why an error of these calls is no failure, only something that this firmware does not do;
    `compares`: buffers that the caller compares with these bytes, and gives the results up when they differ;
    `edge`: like `Place.edge`, for a buffer that an earlier step has placed; `unfinished`: why a wait has no end
    that is no fault of these functions, in a sentence.
    """

    calls: tuple[Deed, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    results: tuple[str, ...] = ()
    joins: tuple[Join, ...] = ()
    clear: tuple[int, ...] = ()
    unsupported: str = ""
    may_refuse: str = ""
    compares: tuple[tuple[str, bytes], ...] = ()
    edge: str = ""
    unfinished: Callable[[Machine], str] | None = None


@dataclass(slots=True)
class Chain:
    """What the caller keeps of a context between calls: IV or counter, offset and key stream block; kind; key.

    `ids`: names of the key ids that were made for it. `open`: a message has begun and not ended. `own`: what only
    the adapter knows of.
    """

    kind: str = ""
    iv: bytes = b""
    offset: bytes = bytes(4)
    stream: bytes = bytes(16)
    key: bytes = b""
    ids: list[str] = field(default_factory=list)
    open: bool = False
    own: Any = None


class Api(Protocol):
    """One crypto API of a firmware."""

    name: str
    prepare: tuple[str, ...]
    "Functions without arguments to be called once before all others."
    keeps_refused: frozenset[str]
    "Kinds whose plaintext may stay in the output when the tag is wrong: the API does not promise to wipe it."

    def needs(self, kind: str) -> tuple[str, ...] | None:
        """Functions that a kind of context, mode or call needs (`Case.kinds`), by the names this firmware has.

        None when the API (or its adapter) has no such thing.
        """

    def context_bytes(self, kind: str) -> int:
        """Size of a context, bytes."""

    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """The calls of a step."""

    def status(self, value: int) -> Status:
        """What a returned word means."""

    def error(self, value: int) -> str:
        """A returned error as the library's headers write it, for a sentence."""

    def entries(self) -> Collection[str]:
        """Functions at whose first call the firmware counts as booted."""
