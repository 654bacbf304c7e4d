"""The firmware of tests/firmware/hal_later.c and hal_older.c with one of its faults."""

from __future__ import annotations

from pathlib import Path

import cryplab.guest
import firmware_builds

GUEST = Path(cryplab.guest.__file__).parent
LATER = ("RIGHT", "KEY_OF_THE_FIRST", "OUTPUT_OVERRUN", "ALGO_LEFT", "NO_CLOCK")
OLDER = ("RIGHT", "NO_HANDLER", "NOT_ENABLED", "LAST_BLOCK_LEFT")
BOARD = "nucleo-f439zi"


def later(fault: str = "RIGHT", *flags: str) -> Path:
    folders = (GUEST / "device", GUEST / "common", GUEST / "ports" / "wolfssl" / "hal")
    return _build("hal_later", LATER.index(fault), *(f"-I{folder}" for folder in folders), *flags)


def older(fault: str = "RIGHT", *flags: str) -> Path:
    return _build("hal_older", OLDER.index(fault), f"-I{GUEST / 'device'}", *flags)


def _build(name: str, fault: int, *flags: str) -> Path:
    return firmware_builds.build(name, f"-DFAULT={fault}", *flags)
