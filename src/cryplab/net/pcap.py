"""Capture files that Wireshark reads: classic pcap, Ethernet, nanoseconds."""

from __future__ import annotations

import struct
from pathlib import Path
from types import TracebackType

from cryplab.errors import InputError

__all__ = ["PcapWriter"]

MAGIC_NANOSECONDS = 0xA1B2_3C4D
VERSION = (2, 4)
SNAP_BYTES = 65_535
LINK_ETHERNET = 1
NANOSECONDS = 1_000_000_000


class PcapWriter:
    """Writes frames with virtual time stamps, little-endian; what is written is on disk after each frame.

    Args:
        path: the file, written anew.
        start: seconds since 1970 of virtual time 0.
    Raises: InputError when the file cannot be written.
    """

    def __init__(self, path: str | Path, start: float = 0.0) -> None:
        try:
            self._file = Path(path).open("wb")  # noqa: SIM115 - closed by close
        except OSError as error:
            raise InputError(f"{path}: the capture cannot be written: {error.strerror}") from None
        self._start = round(start * NANOSECONDS)
        self.frames = 0
        self._file.write(struct.pack("<IHHiIII", MAGIC_NANOSECONDS, *VERSION, 0, 0, SNAP_BYTES, LINK_ETHERNET))
        self._file.flush()

    def write(self, frame: bytes, seconds: float) -> None:
        """A frame that passed at a virtual time."""
        whole, part = divmod(self._start + round(seconds * NANOSECONDS), NANOSECONDS)
        kept = frame[:SNAP_BYTES]
        self._file.write(struct.pack("<IIII", whole, part, len(kept), len(frame)) + kept)
        self._file.flush()
        self.frames += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> PcapWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
