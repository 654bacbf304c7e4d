"""Every exception of cryplab, and the exit code that the command line gives for it.

    CryplabError                    exit
      UsageError                     2    wrong usage: an option that makes no sense
      InputError                     3    file, board, source or tool missing or unfit
        FirmwareError                3    the firmware file cannot be read or does not fit the chip
        BoardError                   3    unknown or broken board, chip or register name
        ToolError                    3    compiler, source package or native extension missing
      DeclarationError               3    a block, chip or board contradicts itself (raised when loaded)
      GuestCrash                     4    the guest faulted or locked up
      LimitReached                   5    a limit ended the run before what was waited for
      GuestError                     1    with strict: the guest broke a rule (see reports.GuestError)

A message is one sentence that says where, what was found, what was expected and the nearest
thing that works.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BoardError", "BusError", "CryplabError", "DeclarationError", "FirmwareError", "GuestCrash", "InputError",
    "LimitReached", "StrictError", "ToolError", "Unreachable", "UsageError", "nearest",
]  # fmt: skip


class CryplabError(Exception):
    """Base of all; `exit_code` is what a command ends with."""

    exit_code = 1


class UsageError(CryplabError):
    """Wrong usage."""

    exit_code = 2


class InputError(CryplabError):
    """Something given is missing or unfit."""

    exit_code = 3


class FirmwareError(InputError):
    """A firmware file cannot be read or does not fit the chip."""


class BoardError(InputError):
    """A board, chip, block or register name or a board file is wrong."""


class ToolError(InputError):
    """A compiler, a source package or the native extension is missing."""


class DeclarationError(CryplabError):
    """A block, chip or board contradicts itself."""

    exit_code = 3


class GuestCrash(CryplabError):
    """The guest faulted or locked up; `report` is the text with line, registers and call stack."""

    exit_code = 4

    def __init__(self, message: str, report: str = "") -> None:
        super().__init__(message)
        self.report = report


class LimitReached(CryplabError):
    """A limit ended the run before what was waited for."""

    exit_code = 5


class StrictError(CryplabError):
    """With `strict`: the guest broke a rule, or touched what is not modelled or not mapped."""

    exit_code = 1


class BusError(Exception):
    """Raised by what answers the processor (bus, blocks, bound callables): the access ends in a bus fault."""


class Unreachable(Exception):
    """A bus master asked for an address that it cannot reach; a DMA controller makes a transfer error of it."""

    def __init__(self, address: int, master: str) -> None:
        super().__init__(f"{master} cannot reach {address:#010x}")
        self.address = address


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` when something known is close, else an empty string."""
    spelt = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), list(spelt), n=1, cutoff=0.5)
    return f"; did you mean '{spelt[close[0]]}'?" if close else ""
