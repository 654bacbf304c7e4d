"""Which blocks of a CRYP belong to one job: the bookkeeping behind `reports.Operation`.

A job runs from CRYPEN set until it is cleared or the configuration changes. GCM and CCM are one job
over all phases, also when software leaves for one block of counter mode to treat a short last block.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryplab.reports import Operation

__all__ = ["Kind", "Ledger"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What tells one job from another, and the phase of GCM and CCM (else empty)."""

    algorithm: str
    mode: str
    decrypt: bool
    key_bits: int
    phase: str = ""

    def continues(self, job: Operation) -> bool:
        """A block of this kind can belong to the job."""
        same = (self.algorithm, self.mode, self.key_bits) == (job.algorithm, job.mode, job.key_bits)
        return same and (bool(self.phase) or self.direction == job.direction)

    @property
    def direction(self) -> str:
        """The direction in words."""
        return "decrypt" if self.decrypt else "encrypt"


class Ledger:
    """Sums up blocks; `ended` collects jobs that are over, for the block to report."""

    def __init__(self) -> None:
        self.job: Operation | None = None
        self.ended: list[Operation] = []
        self._aside: Operation | None = None  # the GCM or CCM job that waits while counter mode runs
        self._phased = False  # the open job is GCM or CCM
        self._tail = False  # its short last block went through counter mode
        self._finals = 0  # blocks of its final phase
        self._enabled_at: int | None = None
        self._carried = 0  # busy cycles of a key preparation

    def enabled(self, now: int) -> None:
        """CRYPEN was set."""
        if not self._carried:
            self._enabled_at = now

    def carry(self, cycles: int) -> None:
        """A key preparation: its cycles go to the job that follows."""
        self._carried += cycles

    def enter(self, kind: Kind, block: str, now: int, pc: int) -> None:
        """The next blocks are of this kind: go on with the open job or begin another."""
        job, aside = self.job, self._aside
        if aside is not None and kind.phase and kind.continues(aside) and kind.phase != "init" and job is not None:
            if job.data_bytes == 16:
                self._merge(aside, job)
            else:
                self._aside, self.job = None, job
                self._close()
                self.job = aside
                self._phased, self._tail = True, False
        elif job is None or not kind.continues(job) or kind.phase == "init":
            if job is not None and self._phased and kind.mode == "CTR" and not self._has_tag:
                self._aside, self.job = job, None
            else:
                self.close()
            self.job = Operation(block, kind.algorithm, kind.mode, kind.direction, kind.key_bits, pc=pc)
            self.job.first_cycle = now if self._enabled_at is None else self._enabled_at
            self.job.busy_cycles, self._carried = self._carried, 0
            self._phased, self._enabled_at = bool(kind.phase), None
            if self._phased:
                self._tail, self._finals = False, 0
        if kind.phase == "payload" and self.job is not None:
            self.job.direction = kind.direction

    def _merge(self, phased: Operation, excursion: Operation) -> None:
        for count in ("data_bytes", "busy_cycles", "words_in", "words_out"):
            setattr(phased, count, getattr(phased, count) + getattr(excursion, count))
        phased.dma |= excursion.dma
        self.job, self._aside, self._phased, self._tail = phased, None, True, True

    @property
    def _has_tag(self) -> bool:
        extra = self._tail and self.job is not None and self.job.mode == "GCM"
        return self._finals > extra  # GCM hashes the masked last block in the final phase

    def final(self, blocks: int) -> None:
        """Blocks of the final phase were taken."""
        self._finals += blocks

    def disabled(self, now: int) -> None:
        """CRYPEN was cleared."""
        job = self.job
        if job is None or self._aside is not None or (self._phased and not self._has_tag):
            return
        job.last_cycle = max(job.last_cycle, now)
        self.close()

    def changed(self, *, key: bool) -> None:
        """A key or initialisation vector was written; GCM and CCM survive a new counter."""
        if key or not (self._phased or self._aside):
            self.close()

    def close(self) -> None:
        """The open jobs are over."""
        if self._aside is not None:
            self.ended.append(self._aside)
            self._aside = None
        self._close()

    def _close(self) -> None:
        if self.job is not None:
            self.ended.append(self.job)
        self.job, self._phased = None, False
