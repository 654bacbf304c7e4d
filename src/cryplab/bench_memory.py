"""Memory of the bench, not of the chip: arguments from its start, the stack of calls at its end; masters reach it."""

from __future__ import annotations

from collections.abc import Callable

from cryplab.errors import UsageError

__all__ = ["BENCH_BASE", "BENCH_SIZE", "TRAP", "BenchMemory"]

BENCH_BASE, BENCH_SIZE = 0x2010_0000, 0x0008_0000
TRAP = BENCH_BASE
"Where a called function returns to."
TRAP_BYTES = 16
CALL_STACK_BYTES = 0x1_0000
CAPACITY = BENCH_SIZE - CALL_STACK_BYTES


class BenchMemory:
    """Hands out bench memory, upwards.

    Args:
        write: writes guest memory.
    """

    def __init__(self, write: Callable[[int, bytes], None]) -> None:
        self.write = write
        self.used = 0
        "Bytes handed out; what is set lower is free again."

    def allocate(self, data: bytes | int, align: int) -> int:
        """See `Machine.allocate`."""
        size = data if isinstance(data, int) else len(data)
        start = (self.used + TRAP_BYTES - 1 + align) // align * align
        if start + size > CAPACITY:
            raise UsageError(f"{size} bytes do not fit the bench memory: {CAPACITY - self.used} of {CAPACITY} are free")
        self.used = start + size
        address = BENCH_BASE + start
        self.write(address, bytes(size) if isinstance(data, int) else data)
        return address
