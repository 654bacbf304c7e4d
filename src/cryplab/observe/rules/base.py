"""What all rules share: how a finding is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cryplab.observe.contexts import Call
from cryplab.observe.shadow.base import Shadow, Stamp

if TYPE_CHECKING:
    from cryplab.observe.observer import Observer

__all__ = ["Rule", "context_name", "register_words"]


def context_name(stamp: Stamp | None) -> str:
    """Whose access it was, for a sentence."""
    return str(stamp.call.object) if stamp is not None and stamp.call is not None else ""


def register_words(shadow: Shadow, names: list[str], words: list[int]) -> dict[str, str]:
    """Registers and values for a finding."""
    return {f"{shadow.name}.{name}": f"{word:#010x}" for name, word in zip(names, words, strict=False)}


class Rule:
    """One rule. `id` is its number in `explain`."""

    id: ClassVar[str] = ""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer

    def found(
        self,
        kind: str,
        shadow: Shadow,
        stamp: Stamp,
        title: str,
        text: str,
        *,
        registers: dict[str, str] | None = None,
        earlier: tuple[str, Stamp] | None = None,
        rule: str = "",
        call: Call | None = None,
    ) -> None:
        """Report a break of this rule (or of a close one, `rule`)."""
        self.observer.report(
            rule or self.id, kind, shadow.name, stamp, title, text, registers or {}, earlier, call or stamp.call
        )
