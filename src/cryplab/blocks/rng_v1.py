"""True random number generator, version 1 (STM32F2, F4, F7)."""

from __future__ import annotations

from cryplab.clock import NEVER, Clock, Event
from cryplab.registers import Block, Line, Reg, r, rc_w0, rw
from cryplab.reports import Operation, Reports
from cryplab.served import Status

__all__ = ["RngV1", "WordSource"]

WORD = 0xFFFF_FFFF
WORD64 = 0xFFFF_FFFF_FFFF_FFFF


class WordSource:
    """Deterministic 32-bit words from a seed; never 0 and never the same twice running.

    A SplitMix64 generator: good enough to look random, and its state is one number.
    """

    __slots__ = ("last", "state")

    def __init__(self, seed: int) -> None:
        self.state, self.last = seed & WORD64, 0

    def next_word(self) -> int:
        """The next word."""
        while True:
            self.state = (self.state + 0x9E37_79B9_7F4A_7C15) & WORD64
            z = self.state
            z = (z ^ z >> 30) * 0xBF58_476D_1CE4_E5B9 & WORD64
            z = (z ^ z >> 27) * 0x94D0_49BB_1331_11EB & WORD64
            word = (z ^ z >> 31) >> 32
            if word not in (0, self.last):
                self.last = word
                return word


class RngV1(Block):
    """True random number generator, version 1: one word of output, no self-test but for two monitors.

    Source: RM0090, chapter RNG; RM0401 for the first word and for recovery. The kernel clock is PLL48CLK. The first
    word comes 46 RNG clocks after RNGEN, each later one 40 after DR was read (the most that the manual allows).

    Words come from `seed` (`WordSource`), and go on through resets, as noise would. Faults on purpose:
    `seed_error_at` (number of the word, counted from 1 since power-up, in whose place a seed error comes),
    `inject_seed_error()` (one now),
    `clock_error` (the clock counts as too slow), `stuck_word` (every word has this value), `zero_at` (number of the
    word that is 0), `slow` (factor on the time per word).

    Operations: one from RNGEN set to RNGEN cleared; `busy_cycles` is the time in which words were made.

    Departures: entropy is none. A clock that stops and comes back between two looks goes unnoticed unless the
    clock tree reported the change. DR read with DRDY = 0 gives 0.
    """

    class CR(Reg, at=0x00):
        """control register"""

        IE = rw(3, "interrupt enable")
        RNGEN = rw(2, "generator enable")

    class SR(Reg, at=0x04):
        """status register"""

        SEIS = rc_w0(6, "seed error, latched")
        CEIS = rc_w0(5, "clock error, latched")
        SECS = r(2, "seed error, now")
        CECS = r(1, "clock error, now: PLL48CLK is slower than HCLK / 16")
        DRDY = r(0, "DR holds 32 fresh bits")

    class DR(Reg, at=0x08):
        """data register"""

        RNDATA = r(31, 0, "random word, valid while SR.DRDY is 1")

    cr: CR
    sr: SR
    dr: DR
    irq: Line

    widths = (4,)
    lines = ("irq",)
    loads = {"SR": "_served"}
    algorithms = ("RNG",)
    saved = (
        "_core_hz", "_event", "_left", "_made", "_on", "_open", "_rng_hz", "_seed", "_since", "_source",
        "clock_error", "seed_error_at", "slow", "stuck_word", "zero_at",
    )  # fmt: skip

    FIRST_WORD = 46
    NEXT_WORD = 40
    "RNG clocks to the first word and from a read of DR to the next word."
    SLOWEST = 16
    "The RNG clock must not be slower than HCLK divided by this."

    _open: Operation | None = None
    _left = 0
    "RNG clocks until the word in the making is ready, times HCLK; 0: none in the making."

    def __init__(
        self, name: str | None = None, *, clock: Clock | None = None, reports: Reports | None = None, seed: int = 0
    ) -> None:
        self._served = Status()
        self._source = WordSource(seed)
        self._seed = seed
        self._made = 0
        self._event: Event | None = None
        self.seed_error_at: int | None = None
        self.stuck_word: int | None = None
        self.zero_at: int | None = None
        self.clock_error = False
        self.slow = 1
        super().__init__(name, clock=clock, reports=reports)

    @property
    def seed(self) -> int:
        """What the words follow from; setting it starts them again."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed, self._source = seed, WordSource(seed)

    @property
    def clock_error(self) -> bool:
        """The clock counts as too slow."""
        return self._clock_error

    @clock_error.setter
    def clock_error(self, failing: bool) -> None:
        self._clock_error, self._served.until = failing, 0

    def on_reset(self) -> None:
        """Off; the noise goes on where it was."""
        self._pass_time(self.clock.now)
        self._close_operation()
        self.clock.cancel(self._event)
        self._on = False
        self._left = self._served.until = 0
        self._since = self.clock.now
        self._rng_hz = self._core_hz = 1
        self._look_at_clocks()
        self.irq.set(False)

    # -- registers -----------------------------------------------------------------------------
    @CR.written
    def _control(self) -> None:
        self._catch_up()
        if self.cr.RNGEN and not self._on:
            self._on = True
            self.sr.SECS = 0
            if not self.sr.DRDY:
                self._begin(self.FIRST_WORD)
        elif self._on and not self.cr.RNGEN:
            self._on, self._left = False, 0
            self._close_operation()
        self._catch_up()

    @SR.being_read
    def _status(self) -> None:
        """Without interrupts the core answers until the word in the making is ready."""
        self._catch_up()
        if not (self._on and self.cr.IE):
            self._served.value = self.sr.value
            self._served.until = self.clock.now + self._clocks_left() if self._left and self._rng_hz else NEVER

    @SR.being_written
    def _flags(self, word: int) -> int:
        self._catch_up()
        return word

    @SR.written
    def _flags_written(self) -> None:
        self._catch_up()

    @DR.being_read
    def _take(self) -> int:
        self._catch_up()
        if not self.sr.DRDY:
            self.guest_error(f"{self.name}.DR read while SR.DRDY = 0, the word is not fresh", "O16")
            return 0
        if self.sr.SEIS or self.sr.SECS:
            self.guest_error(f"{self.name}.DR read after a seed error, the word must not be used", "O17")
        self.sr.DRDY = 0
        operation = self._open_operation()
        operation.words_out += 1
        operation.data_bytes += 4
        operation.last_cycle = self.clock.now
        if self._on and not self.sr.SECS:
            self._begin(self.NEXT_WORD)
        self._catch_up()
        return self.dr.value

    # -- time ----------------------------------------------------------------------------------
    def _begin(self, clocks: int) -> None:
        """Start making a word that takes so many RNG clocks."""
        self._since = self.clock.now
        self._left = clocks * self.slow * self._core_hz
        self._open_operation()

    def _catch_up(self) -> None:
        """Bring word, clock monitor and interrupt up to now."""
        now = self.clock.now
        self._served.until = 0
        if self._left:
            self._pass_time(now)
            if not self._left:
                self._word_ready()
        self._since = now
        self._look_at_clocks()
        on = self._on and self.cr.IE
        self.irq.set(on and (self.sr.DRDY or self.sr.SEIS or self.sr.CEIS))
        self.clock.cancel(self._event)
        if on and self._left and self._rng_hz:
            self._event = self.clock.at(now + self._clocks_left(), self._catch_up)

    def _pass_time(self, now: int) -> None:
        """Count the time since the last look, which ran with the frequencies of that look."""
        if self._left:
            needed = self._clocks_left() if self._rng_hz else now - self._since + 1
            passed = min(now - self._since, needed)
            self._left -= min(passed * self._rng_hz, self._left)
            if self._open is not None:
                self._open.busy_cycles += passed

    def _clocks_left(self) -> int:
        """Core cycles until the word in the making is ready, from `_since` on."""
        return -(-self._left // self._rng_hz)

    def _look_at_clocks(self) -> None:
        rng_hz, core_hz = self.frequency("PLL48"), self.frequency("HCLK")
        if core_hz != self._core_hz:
            self._left = -(-self._left * core_hz // self._core_hz)
        self._rng_hz, self._core_hz = rng_hz, core_hz
        failing = self.clock_error or rng_hz * self.SLOWEST < core_hz
        self.sr.CECS = 1 if failing and self._on else 0
        if self.sr.CECS:
            self.sr.CEIS = 1

    def clock_changed(self) -> None:
        """Some frequency has changed just now."""
        self._catch_up()

    def _word_ready(self) -> None:
        self._made += 1
        if self._made == self.seed_error_at:
            self.sr.SECS = self.sr.SEIS = 1
            return
        word = self._source.next_word()
        if self.stuck_word is not None:
            word = self.stuck_word & WORD
        if self._made == self.zero_at:
            word = 0
        self.dr.value = word
        self.sr.DRDY = 1

    def inject_seed_error(self) -> None:
        """A seed error now; a word that waits in DR stays there."""
        self._catch_up()
        self.sr.SECS = self.sr.SEIS = 1
        self._left = 0
        self._catch_up()

    # -- operations ----------------------------------------------------------------------------
    def _open_operation(self) -> Operation:
        if self._open is None:
            self._open = Operation(self.name, "RNG", "", first_cycle=self.clock.now, pc=self.reports.where().pc)
        return self._open

    def _close_operation(self) -> None:
        operation, self._open = self._open, None
        if operation is not None and operation.words_out:
            self.operation(operation)

    def finish(self) -> None:
        """The run has ended: report words handed out since RNGEN was set."""
        self._catch_up()
        self._close_operation()

    def load(self, state: object) -> None:
        """Take back what `save` gave; the machine restores the clock first."""
        super().load(state)
        self._served.until = 0
        self.irq.set(self._on and self.cr.IE and (self.sr.DRDY or self.sr.SEIS or self.sr.CEIS))
