"""Standard input as the console's input: a file, a pipe, a person who types.

A regular file is read whole before the run starts. Of a pipe the run begins with what is there once the
writer has closed it, or has been silent for a moment, and looks for more now and then. Thus a pipe that
nobody writes to or closes does not stop a run, and one that is closed (`echo x | cryplab run ...`) gives
the same run every time.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import Protocol

__all__ = ["Keyboard"]

QUIET_SECONDS = 0.2
"So long a writer must be silent before the run starts without the rest."
CHUNK = 1 << 16


class Takes(Protocol):
    """What input is given to: a Machine."""

    def type_in(self, data: bytes) -> None:
        """Take bytes."""


class Keyboard:
    """Gives what arrives at a file descriptor to a machine. Raises nothing: no input is no error."""

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None:
            try:
                descriptor = sys.stdin.fileno()
            except (AttributeError, ValueError, OSError):
                descriptor = -1
        self.descriptor = descriptor
        self.is_open = descriptor >= 0 and self._readable_kind()

    def _readable_kind(self) -> bool:
        try:
            mode = os.fstat(self.descriptor).st_mode
        except OSError:
            return False
        self.is_file = stat.S_ISREG(mode)
        return True

    @property
    def is_person(self) -> bool:
        """Whether a terminal is at the other end."""
        return self.is_open and os.isatty(self.descriptor)

    def start(self, machine: Takes) -> None:
        """What is there before the run."""
        while self.is_open and not self.is_person and self._take(machine, QUIET_SECONDS):
            pass

    def poll(self, machine: Takes) -> None:
        """What has arrived since."""
        while self.is_open and self._take(machine, 0.0):
            pass

    def wait(self, machine: Takes) -> bool:
        """Wait for a person to type; False when nobody will."""
        return self.is_person and self._take(machine, None)

    def _take(self, machine: Takes, timeout: float | None) -> bool:
        """Hand over what is there within `timeout` seconds; False when there was nothing."""
        try:
            if not self.is_file and not select.select([self.descriptor], [], [], timeout)[0]:
                return False
            data = os.read(self.descriptor, CHUNK)
        except OSError:
            data = b""
        if data:
            machine.type_in(data)
        else:
            self.is_open = False
        return bool(data)
