"""Where a firmware's text goes: a USART, semihosting, the ITM stimulus port, SEGGER RTT.

One `Console` collects what the guest prints, whatever the way, in the order of printing, and stamps
each line with the cycle of its end (benchmarks from a user's firmware are cut into rows by that).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Console", "Rtt", "SemihostRequest", "Semihosting"]


class Console:
    """The text so far. `echo`, when set, gets each byte as it comes; `until` ends the run when seen."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.line_cycles: list[tuple[int, int]] = []
        "For each line end: length of `data` behind it, and the cycle."
        self.echo: Callable[[bytes], None] | None = None
        self.until: bytes | None = None
        self.on_until: Callable[[], None] | None = None
        self.seen = False
        self._from = 0

    @property
    def text(self) -> str:
        """What was printed, as UTF-8 with replacement of what is none."""
        return self.data.decode("utf-8", "replace")

    def watch(self, until: str | None, on_until: Callable[[], None]) -> None:
        """Call `on_until` when the text appears from now on."""
        self.until = until.encode() if until else None
        self.on_until, self.seen = on_until, False
        self._from = len(self.data)

    def put(self, data: bytes, cycle: int) -> None:
        """The guest printed."""
        self.data += data
        if b"\n" in data:
            self.line_cycles.append((self.data.rindex(b"\n") + 1, cycle))
        if self.echo:
            self.echo(data)
        if self.until and not self.seen:
            start = max(self._from, len(self.data) - len(data) - len(self.until) + 1)
            if self.until in self.data[start:]:
                self.seen = True
                if self.on_until:
                    self.on_until()

    def lines(self) -> list[tuple[str, int]]:
        """Every finished line with the cycle of its end."""
        result, start = [], 0
        for end, cycle in self.line_cycles:
            for line in self.data[start:end].decode("utf-8", "replace").splitlines():
                result.append((line, cycle))
            start = end
        return result

    def save(self) -> tuple[int, int]:
        """State for a snapshot: how much was printed."""
        return len(self.data), len(self.line_cycles)

    def load(self, state: tuple[int, int]) -> None:
        """Forget what was printed after the snapshot."""
        length, lines = state
        del self.data[length:]
        del self.line_cycles[lines:]
        self._from = min(self._from, length)


@dataclass(frozen=True, slots=True)
class SemihostRequest:
    """One BKPT 0xAB: operation number (r0) and parameter (r1)."""

    operation: int
    parameter: int


class Semihosting:
    """The semihosting operations that test firmware uses.

    Args:
        read: guest memory, (address, length) -> bytes.
        write: guest memory, (address, data).
        console: where text goes.
        seconds: virtual seconds since reset.
    Departure: files are refused, only ":tt" (the console) can be opened; a command line is empty.
    """

    OPEN, CLOSE, WRITEC, WRITE0, WRITE, READ, READC = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07
    ISTTY, FLEN, CLOCK, TIME, ERRNO = 0x09, 0x0C, 0x10, 0x11, 0x13
    GET_CMDLINE, HEAPINFO, EXIT, EXIT_EXTENDED, ELAPSED, TICKFREQ = 0x15, 0x16, 0x18, 0x20, 0x30, 0x31
    STOPPED_APPLICATION_EXIT = 0x20026
    FAILED = 0xFFFF_FFFF

    def __init__(
        self,
        read: Callable[[int, int], bytes],
        write: Callable[[int, bytes], None],
        console: Console,
        seconds: Callable[[], float],
    ) -> None:
        self.read, self.write, self.console, self.seconds = read, write, console, seconds
        self.input = bytearray()
        self.exit_code: int | None = None

    def serve(self, request: SemihostRequest, cycle: int) -> int:
        """Do it; returns what r0 becomes. After an exit `exit_code` is set."""
        op, arg = request.operation, request.parameter
        if op == self.WRITEC:
            self.console.put(self.read(arg, 1), cycle)
            return 0
        if op == self.WRITE0:
            self.console.put(self._string(arg), cycle)
            return 0
        if op == self.READC:
            return self.input.pop(0) if self.input else self.FAILED
        if op in (self.EXIT, self.EXIT_EXTENDED):
            reason, code = (arg, 0) if op == self.EXIT else struct.unpack("<II", self.read(arg, 8))
            self.exit_code = code if reason == self.STOPPED_APPLICATION_EXIT else 1
            return 0
        if op in (self.WRITE, self.READ, self.OPEN, self.ISTTY, self.CLOSE, self.FLEN):
            return self._file(op, arg, cycle)
        if op == self.CLOCK:
            return int(self.seconds() * 100)
        if op == self.ELAPSED:
            self.write(arg, struct.pack("<Q", int(self.seconds() * 1_000_000)))
            return 0
        if op == self.TICKFREQ:
            return 1_000_000
        if op == self.GET_CMDLINE:
            buffer, _ = struct.unpack("<II", self.read(arg, 8))
            self.write(buffer, b"\0")
            self.write(arg + 4, struct.pack("<I", 0))
            return 0
        return self.FAILED

    def _file(self, op: int, arg: int, cycle: int) -> int:
        if op == self.OPEN:
            name, _, length = struct.unpack("<III", self.read(arg, 12))
            return 1 if self.read(name, length) == b":tt" else self.FAILED
        if op == self.WRITE:
            _, address, length = struct.unpack("<III", self.read(arg, 12))
            self.console.put(self.read(address, length), cycle)
            return 0
        if op == self.READ:
            _, address, length = struct.unpack("<III", self.read(arg, 12))
            data = bytes(self.input[:length])
            del self.input[:length]
            self.write(address, data)
            return int(length) - len(data)
        return 1 if op == self.ISTTY else 0

    def _string(self, address: int) -> bytes:
        text = bytearray()
        while byte := self.read(address + len(text), 1)[0]:
            text.append(byte)
        return bytes(text)


class Rtt:
    """SEGGER RTT: reads the up-channel 0 of the control block in RAM, as a probe does, by polling.

    The block begins with "SEGGER RTT"; up-buffers are at +24, each: name, buffer, size, write offset,
    read offset, flags (words).
    """

    MAGIC = b"SEGGER RTT\0"
    UP_BUFFERS = 24

    def __init__(self, console: Console) -> None:
        self.console = console
        self.at: int | None = None
        self._view: memoryview | None = None
        self._base = 0

    def find(self, symbol: int | None, rams: list[tuple[int, memoryview]]) -> bool:
        """Look for the control block, at the symbol `_SEGGER_RTT` if there is one, else in all RAM."""
        for base, view in rams:
            if symbol is not None:
                offset = symbol - base if 0 <= symbol - base < len(view) else -1
                if offset >= 0 and bytes(view[offset : offset + len(self.MAGIC)]) != self.MAGIC:
                    return False
            else:
                offset = bytes(view).find(self.MAGIC)
            if offset >= 0:
                self.at, self._view, self._base = base + offset, view, base
                return True
        return False

    def poll(self, cycle: int) -> None:
        """Move what the guest wrote to the console."""
        if self.at is None or self._view is None:
            return
        view, channel = self._view, self.at - self._base + self.UP_BUFFERS
        _, buffer, size, write, read, _ = struct.unpack_from("<6I", view, channel)
        offset = buffer - self._base
        if not size or write >= size or read >= size or not 0 <= offset <= len(view) - size:
            return
        if read == write:
            return
        ring = bytes(view[offset : offset + size])
        data = ring[read:write] if write > read else ring[read:] + ring[:write]
        struct.pack_into("<I", view, channel + 16, write)
        self.console.put(data, cycle)
