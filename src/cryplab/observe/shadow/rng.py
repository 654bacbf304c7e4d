"""RNG as the accesses show it: which status was seen before each word."""

from __future__ import annotations

from cryplab.observe.contexts import Contexts
from cryplab.observe.shadow.base import Polls, Shadow, Stamp

__all__ = ["RngShadow"]

# source: RNG facts B3
CR, SR, DR = 0x00, 0x04, 0x08
RNGEN, IE = 1 << 2, 1 << 3
DRDY, CECS, SECS, CEIS, SEIS = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 6
SEED, CLOCK = SEIS | SECS, CEIS | CECS


class RngShadow(Shadow):
    """RNG.

    Moments: word(stamp, value), control(stamp, old, new), error(stamp, status), reset(stamp), wait(stamp, polls).
    """

    kind = "rng"

    def __init__(self, name: str, contexts: Contexts, declared: dict[int, int] | None = None) -> None:
        super().__init__(name, contexts, declared)
        self.reads = {CR: self.read_cr, SR: self.read_sr, DR: self.read_dr}
        self.writes = {CR: self.write_cr, SR: self.write_sr}

    def clear(self) -> None:
        """As after reset."""
        self.cr = 0
        self.sr = 0
        self.ready: Stamp | None = None
        "Status said DRDY, and no word was taken since."
        self.last_word: int | None = None
        self.enabled: Stamp | None = None
        self.seed_error: Stamp | None = None
        "A seed error was seen and the documented recovery has not been done."
        self.seed_cleared: Stamp | None = None
        self.error_polls = 0
        self.clock_error: Stamp | None = None
        "Status as last read showed a clock error."
        self.starts = 0
        "Times that RNGEN was set with no word taken in between."
        self.words = 0
        self.polls = Polls()
        self.promised: dict[int, Stamp] = {}
        "Threads that saw DRDY = 1 and have not taken a word since."
        self.taker: int | None = None
        "Thread that took the last word."

    def write_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR written."""
        stamp, old = self.stamp(cycle, pc), self.cr
        self.race(self.cr_race, "CR", stamp, value, old)
        self.cr = value
        self.polls.over()
        if value & RNGEN and not old & RNGEN:
            self.enabled = stamp
            self.starts += 1
            if self.seed_cleared is not None:
                self.seed_error = self.seed_cleared = None
        self.emit("control", stamp, old, value)

    def read_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR read."""
        self.cr_race.read(self.contexts.thread, self.stamp(cycle, pc))

    def write_sr(self, cycle: int, pc: int, value: int) -> None:
        """SR written: flags cleared by 0."""
        self.polls.over()
        if self.seed_error is not None and not value & SEIS:
            self.seed_cleared = self.stamp(cycle, pc)
            self.error_polls = 0

    def read_sr(self, cycle: int, pc: int, value: int) -> None:
        """Status read."""
        self.sr = value
        self.ready = self.stamp(cycle, pc) if value & DRDY else None
        self.clock_error = self.stamp(cycle, pc) if value & CLOCK else None
        if self.ready is not None:
            self.promised[self.contexts.thread] = self.ready
        if value & SEED:
            if self.seed_error is None:
                self.seed_error, self.error_polls = self.stamp(cycle, pc), 0
            self.error_polls += 1
            self.emit("error", self.stamp(cycle, pc), value)
        if self.polls.read(cycle, value) > self.patience:
            self.emit("wait", self.stamp(cycle, pc), self.polls)

    def read_dr(self, cycle: int, pc: int, value: int) -> None:
        """A random word taken."""
        stamp = self.stamp(cycle, pc)
        self.used(stamp)
        self.words += 1
        self.starts = 0
        self.polls.over()
        self.emit("word", stamp, value)
        self.ready = None
        self.last_word = value
