"""A reader of capture files, just enough to judge ours."""

from __future__ import annotations

import struct
from pathlib import Path


def read_pcap(path: Path) -> list[tuple[float, bytes]]:
    """Seconds since 1970 and bytes of each frame of a pcap file with nanoseconds, either byte order."""
    raw = path.read_bytes()
    order = "<" if raw[:4] == bytes.fromhex("4d3cb2a1") else ">"
    magic, major, minor, zone, figures, snap, link = struct.unpack(order + "IHHiIII", raw[:24])
    assert (magic, major, minor, zone, figures, snap, link) == (0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)
    frames, at = [], 24
    while at < len(raw):
        seconds, nanoseconds, kept, size = struct.unpack(order + "IIII", raw[at : at + 16])
        assert kept == size
        assert nanoseconds < 1_000_000_000
        frames.append((seconds + nanoseconds / 1e9, raw[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return frames
