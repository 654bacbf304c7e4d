"""The driver of tests/firmware/wrong.c with one of its faults."""

from __future__ import annotations

from pathlib import Path

import cryplab.guest
import firmware_builds

DEVICE = Path(cryplab.guest.__file__).parent / "device"
FAULTS = (
    "RIGHT", "SHARED_KEY", "IV_LOST", "OUTPUT_OVERRUN", "INPUT_OVERREAD", "IN_PLACE", "KEY_POINTER", "MISALIGNED",
    "SHARED_HASH", "RNG_UNCHECKED", "RNG_SHORT", "HANGS", "CRASHES", "REFUSES", "WRITES_INPUT", "SMALL_CONTEXT",
)  # fmt: skip
BOARD = "ublox-c030-u201"


def build(fault: str = "RIGHT", *flags: str) -> Path:
    return firmware_builds.build("wrong", f"-DFAULT={FAULTS.index(fault)}", f"-I{DEVICE}", *flags)
