"""What every CRYP has in common around its core: control, write protection, status, interrupts, DMA, life.

Versions subclass `Cryp`, redeclare CR, and add modes in `MODES`, `CYCLES` and `fill_plan`.
"""

from __future__ import annotations

from typing import Any

from cryplab.blocks._cryp_core import BURST_WORDS, FIFO_WORDS, KEYSIZE_RESERVED, CrypCore, Plan
from cryplab.blocks._cryp_registers import CrypRegisters
from cryplab.clock import NEVER

__all__ = ["Cryp", "Plan"]

Registers = CrypRegisters  # short for hooks


class Cryp(CrypCore):
    """The common part; a version gives it a register table of its own."""

    # -- control -------------------------------------------------------------------------------
    @Registers.CR.being_read
    def _read_control(self) -> None:
        self._catch_up()

    @Registers.CR.being_written
    def _filter_control(self, word: int) -> int:
        self._catch_up()
        old, guarded = self.cr.value, self.GUARDED
        if self._flags.value and (word ^ old) & guarded:
            fields = self.CR.show((word ^ old) & guarded)
            self.guest_error(f"{self.name}.CR: bits of {fields} changed while BUSY; they keep their values", "O5")
            word = word & ~guarded | old & guarded
        self._settle()
        return word

    @Registers.CR.written
    def _start_or_stop(self) -> None:
        now, was_running = self._now(), self._running
        self._follow_registers()
        if not self._running:
            if self.cr.FFLUSH:
                self._in.clear()
                self._out.clear()
                self._go_on(now)
            if was_running:
                self._ledger.disabled(now)
                self._report()
        else:
            if not was_running:
                self._ledger.enabled(now)
                self._check_settings()
            if not self._flags.value:
                self._take(now)
        if self._watch:
            self.signal()

    def _check_settings(self) -> None:
        if not self._mode:
            self.guest_error(f"{self.name}.CR: ALGOMODE = {self.algomode()} is reserved; no block is processed", "O19")
        elif self._algorithm == "AES" and self.cr.KEYSIZE == KEYSIZE_RESERVED:
            self.guest_error(f"{self.name}.CR: KEYSIZE = 3 is reserved; taken as 256 bits", "O19")

    @Registers.K.being_written
    def _write_key(self, index: int, word: int) -> int | None:
        self._catch_up()
        if self._flags.value:
            self._refuse(self.K.names[index])
            return None
        self._settle()
        self._ledger.changed(key=True)
        self._report()
        self._key[index] = word
        return word

    @Registers.IV.being_written
    def _write_iv(self, index: int, word: int) -> int | None:
        self._catch_up()
        if self._flags.value:
            self._refuse(self.IV.names[index])
            return None
        self._settle()
        self._ledger.changed(key=False)
        self._report()
        return word

    def _refuse(self, register: str) -> None:
        self.guest_error(f"{self.name}.{register} written while BUSY, ignored", "O5")

    @Registers.IV.being_read
    def _read_iv(self, index: int) -> None:
        self._catch_up()
        self.show_state()

    # -- status, interrupts, DMA ---------------------------------------------------------------
    @Registers.SR.being_read
    def _status(self) -> int:
        if self._flags.until <= self._now():
            self._catch_up()
        return self._flags.word()

    @Registers.RISR.being_read
    def _raw_status(self) -> int:
        self._catch_up()
        status = self.RISR.INRIS.bits if len(self._in) < BURST_WORDS else 0
        return status | (self.RISR.OUTRIS.bits if self._out else 0)

    @Registers.MISR.being_read
    def _masked_status(self) -> int:
        status = self._raw_status() & self.imscr.value
        return status if self._running else status & ~self.MISR.INMIS.bits

    @Registers.IMSCR.written
    def _mask_changed(self) -> None:
        self._follow_registers()
        self.signal()

    @Registers.DMACR.written
    def _dma_changed(self) -> None:
        self._follow_registers()
        self.signal()

    def signal(self) -> None:
        """Drive the interrupt line and the DMA requests from the present state."""
        self._catch_up()
        self.irq.set(self._masked_status() if self.imscr.value else 0)
        if self.dmacr.value or self.dma_in.words or self.dma_out.words:
            self._request()
        if self._watch and self._flags.until != NEVER:
            self._schedule()

    def _request(self) -> None:
        dmacr, running, words = self.dmacr, self._running, self._block_words
        if not (running and dmacr.DOEN):
            self.dma_out.drop()
        elif len(self._out) >= words:
            self.dma_out.ask(words)
        if not (running and dmacr.DIEN):
            self.dma_in.drop()
        elif len(self._in) <= FIFO_WORDS - BURST_WORDS:
            self.dma_in.ask(words)

    # -- life ----------------------------------------------------------------------------------
    def finish(self) -> None:
        """Report the jobs still open."""
        self._catch_up()
        self._account()
        self._ledger.close()
        self._report()

    def peek(self, offset: int) -> int:
        """The register word as a debugger would see it: as of now, without side effects of a read."""
        self._catch_up()
        self.show_state()
        if offset == self.SR.offset:
            return self._status()
        if offset == self.RISR.offset:
            return self._raw_status()
        if offset == self.MISR.offset:
            return self._masked_status()
        return super().peek(offset)

    def save(self) -> Any:
        """Registers, FIFOs, work in progress, outputs."""
        self._catch_up()
        self.show_state()
        self._account()
        return super().save(), self.irq.level, self.dma_in.words, self.dma_out.words

    def load(self, state: Any) -> None:
        """Take back what `save` gave; the interrupt controller and the DMA restore their own side."""
        stored, self.irq.level, self.dma_in.words, self.dma_out.words = state
        super().load(stored)
        self._plan = None
        self._follow_registers()
