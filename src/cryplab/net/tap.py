"""A TAP device of the host as the wire, where the user has one that it may open (`ip tuntap add ... user NAME`)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct

from cryplab.errors import InputError
from cryplab.net.wire import Wire

__all__ = ["Tap"]

DEVICE = "/dev/net/tun"
TUNSETIFF = 0x4004_54CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
NAME_BYTES = 15
FRAME_BYTES = 2048
FRAMES_AT_ONCE = 16


class Tap(Wire):
    """Frames go to and come from a TAP device.

    Args:
        name: the device's name.
    Raises: InputError when it cannot be opened, one sentence.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.paced = True
        if not 0 < len(name.encode()) <= NAME_BYTES:
            raise InputError(f"'{name}' is no name of a TAP device: expected 1 to {NAME_BYTES} bytes, such as tap0")
        self.name = name
        try:
            self._file = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK)
        except OSError as error:
            raise InputError(
                f"TAP device {name}: {DEVICE} cannot be opened: {error.strerror}; try --net user"
            ) from None
        try:
            fcntl.ioctl(self._file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        except OSError as error:
            os.close(self._file)
            raise InputError(
                f"TAP device {name}: {error.strerror}; root makes it with 'ip tuntap add {name} mode tap user ...', "
                "or try --net user"
            ) from None

    def send(self, frame: bytes, cycle: int) -> None:
        """Give a frame to the host; lost when its queue is full."""
        with contextlib.suppress(OSError):
            os.write(self._file, frame)

    def poll(self) -> None:
        """Take what the host has sent, some frames at a time."""
        for _ in range(FRAMES_AT_ONCE):
            try:
                frame = os.read(self._file, FRAME_BYTES)
            except OSError:
                return
            self.on_frame(frame)

    @property
    def busy(self) -> bool:
        """Anybody may send at any time."""
        return True

    def wait(self, seconds: float) -> bool:
        """Until a frame is there."""
        return bool(select.select([self._file], [], [], seconds)[0])

    def close(self) -> None:
        """Close the device."""
        os.close(self._file)
