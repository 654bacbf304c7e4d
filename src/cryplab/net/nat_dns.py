"""The NAT's name server: answers for names that the user allowed, as the host resolves them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["Question", "encode_answer", "parse_question"]

HEADER = 12
QR_ANSWER, RECURSION_DESIRED, RECURSION_AVAILABLE = 0x8000, 0x0100, 0x0080
OPCODE = 0x7800
TYPE_A, TYPE_ANY, CLASS_IN = 1, 255, 1
OK, NO_SUCH_NAME, NOT_IMPLEMENTED = 0, 3, 4
POINTER_TO_QUESTION = 0xC000 | HEADER
TTL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a query: its name in lower case; `raw` is the question section."""

    ident: int
    flags: int
    name: str
    kind: int
    raw: bytes

    @property
    def wants_address(self) -> bool:
        """Whether an IPv4 address answers it."""
        return self.kind in (TYPE_A, TYPE_ANY)


def parse_question(message: bytes) -> Question | None:
    """The question of a query with exactly one; None for anything else."""
    if len(message) < HEADER:
        return None
    ident, flags, questions = struct.unpack(">HHH", message[:6])
    if flags & (QR_ANSWER | OPCODE) or questions != 1:
        return None
    labels, at = [], HEADER
    while at < len(message) and message[at]:
        size = message[at]
        if size > 63 or at + 1 + size > len(message):
            return None
        labels.append(message[at + 1 : at + 1 + size].decode("ascii", "replace"))
        at += 1 + size
    end = at + 5
    if end > len(message):
        return None
    kind, klass = struct.unpack(">HH", message[at + 1 : end])
    if klass != CLASS_IN:
        return None
    return Question(ident, flags, ".".join(labels).lower(), kind, message[HEADER:end])


def encode_answer(question: Question, addresses: list[bytes] | None) -> bytes:
    """A records for the addresses, an empty answer for none; None says that there is no such name."""
    code = NO_SUCH_NAME if addresses is None else OK
    flags = QR_ANSWER | RECURSION_AVAILABLE | question.flags & RECURSION_DESIRED | code
    found = addresses or []
    head = struct.pack(">HHHHHH", question.ident, flags, 1, len(found), 0, 0)
    records = [
        struct.pack(">HHHIH", POINTER_TO_QUESTION, TYPE_A, CLASS_IN, TTL_SECONDS, len(raw)) + raw for raw in found
    ]
    return head + question.raw + b"".join(records)
