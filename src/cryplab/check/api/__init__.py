"""Crypto APIs as `check` calls them: each turns a step into calls with arguments and buffers.

A plan is data: the same one is executed on the machine and printed as Python.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from cryplab.check.script import Step

__all__ = ["Api", "Argument", "Buffer", "Call", "Chain", "Context", "Function", "Plan", "Status"]

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


Argument = int | str | Context | Function
"A number, a buffer's name, a context, a function."


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `returns`: "status" is judged, "nothing" is ignored, "pointer" is kept under `keep` (0 is an error)."""

    function: str
    arguments: tuple[Argument, ...]
    returns: Literal["status", "nothing", "pointer"] = "status"
    keep: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a step comes to: calls, buffers, and which buffers are results."""

    calls: tuple[Call, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(slots=True)
class Chain:
    """What the caller keeps of a context between calls: IV or counter, offset and key stream block; kind; key."""

    kind: str = ""
    iv: bytes = b""
    offset: bytes = bytes(4)
    stream: bytes = bytes(16)
    key: bytes = b""
    encrypt: bool = True


class Api(Protocol):
    """One crypto API of a firmware."""

    name: str

    def needs(self, kind: str) -> tuple[str, ...]:
        """Functions that a kind of context, mode or call needs (`Case.kinds`), by the names this firmware has."""

    def context_bytes(self, kind: str) -> int:
        """Size of a context, bytes."""

    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """The calls of a step."""

    def status(self, value: int) -> Status:
        """What a returned word means."""

    def entries(self) -> Collection[str]:
        """Functions at whose first call the firmware counts as booted."""
