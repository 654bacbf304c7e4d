"""HASH processor, version 2: MD5, SHA-1, SHA-224, SHA-256 and HMAC (STM32F437/F439/F479, F7)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from cryplab.algorithms.chained import ChainedHash
from cryplab.algorithms.md5 import MD5
from cryplab.algorithms.sha1 import SHA1
from cryplab.algorithms.sha2 import SHA224, SHA256
from cryplab.algorithms.swap import arrange
from cryplab.blocks.hash_engine import HashEngine, Phase, context_image, image_context, message_bytes, reorder
from cryplab.clock import NEVER, Clock, Event
from cryplab.registers import Block, DmaRequest, Line, Reg, RegArray, r, rc_w0, rw, w
from cryplab.reports import Operation, Reports
from cryplab.served import Fifo, Status

__all__ = ["HashV2", "Speed"]

Text = str  # the class below has a register of that name
Speed = Literal["normal", "slow", "fast"]
ALGORITHMS: dict[tuple[int, int], ChainedHash] = {(0, 0): SHA1, (0, 1): MD5, (1, 0): SHA224, (1, 1): SHA256}
BLOCK_WORDS = 16
BUSY, DMAS, DCIS, DINIS = 8, 4, 2, 1  # of SR, for the hot path
DMA_BURST = 4


@dataclass(slots=True)
class Job:
    """Something the core computes: until when, and the digest that it ends with, if it is the last."""

    end: int
    digest: bytes | None = None


@dataclass(slots=True)
class Segment:
    """What was fed since INIT or context restore: the operation in the making."""

    first_cycle: int
    pc: int
    words: int = 0
    data_bytes: int = 0
    busy: int = 0
    computed: int = 0
    "Cycle at which the last block put to work is done."
    dma: bool = False


class HashV2(Block):
    """HASH processor, version 2: MD5, SHA-1, SHA-224, SHA-256, each plain or as HMAC.

    Source: RM0090, chapter HASH; facts on driver habits from running them. Digest words in HR are the digest's
    bytes in order, most significant first, for MD5 too. NBLW counts from the most significant end of the last
    word as the core sees it. Times: CYCLES per block, without loading, which overlaps; the last part of a phase
    takes one block time per block of padding, an HMAC key 2.5, a long key its padding more (RM0090).

    `speed` is for injecting faults: "slow" is ten times slower, "fast" takes one cycle for a block and shows
    BUSY once all the same.

    Context registers hold the true state in a layout of ours (silicon's is not published): CSR0..21 all that is
    needed at a block boundary, CSR22..37 FIFO words, CSR38..53 a key block.

    The core itself puts words into the buffer up to a whole block, until the job under way ends, and answers SR until
    then (`cryplab.served`).

    Operations: one for each digest, or part of one when INIT or a context restore comes between. `data_bytes` is the
    text without HMAC keys; a last word that was written before a context swap counts as four bytes.

    Departures: a change of DATATYPE does not touch words that are already in. HR read too early waits for a digest
    under way and otherwise gives 0. A DIN write waits only when the buffer is full. The end of every job sets
    DINIS. A key longer than a block with LKEY = 0 is cut to one block. Words after a digest without INIT continue
    from that digest. With MDMAT = 1 the end of a transfer leaves DMAE set. DMA bursts of 4 words are requested as
    long as they fit, and a full block is held until one more word or the end of the transfer.
    """

    class CR(Reg, at=0x00):
        """control register"""

        ALGO1 = rw(18, "algorithm, high bit: ALGO1, ALGO0 = 0 SHA-1, 1 MD5, 2 SHA-224, 3 SHA-256; sampled at INIT")
        LKEY = rw(16, "the HMAC key is longer than a block; sampled at INIT")
        MDMAT = rw(13, "more DMA transfers follow: the end of one does not start the final digest")
        DINNE = r(12, "DIN holds at least one word")
        NBW = r(11, 8, "words pushed into the FIFO")
        ALGO0 = rw(7, "algorithm, low bit; sampled at INIT")
        MODE = rw(6, "0 hash, 1 HMAC; sampled at INIT")
        DATATYPE = rw(5, 4, "swapping of DIN words", values={0: "words", 1: "halfwords", 2: "bytes", 3: "bits"})
        DMAE = rw(3, "DMA requests; cleared by hardware at the last word of the message")
        INIT = w(2, "start a new message")

    class DIN(Reg, at=0x04):
        """data input register"""

        DATAIN = rw(31, 0, "a word of the message; reads as the last one written")

    class STR(Reg, at=0x08):
        """start register"""

        DCAL = w(8, "pad with NBLW and finish the phase")
        NBLW = rw(4, 0, "valid bits in the last word, 0 for all; kept by a write with DCAL = 1")

    class HRA(Reg, at=0x0C, array=5):
        """digest, the first five words again"""

        H = r(31, 0, "digest word, first byte on top; 0 until the digest is complete")

    class IMR(Reg, at=0x20):
        """interrupt enable register"""

        DCIE = rw(1, "interrupt on DCIS")
        DINIE = rw(0, "interrupt on DINIS")

    class SR(Reg, at=0x24, reset=0x0000_0001):
        """status register"""

        BUSY = r(3, "a block is being processed")
        DMAS = r(2, "DMA interface active")
        DCIS = rc_w0(1, "digest complete")
        DINIS = rc_w0(0, "a new block can be entered")

    class CSR(Reg, at=0xF8, array=54):
        """context swap registers"""

        CS = rw(31, 0, "saved context, read and written whole at a block boundary")

    class HR(Reg, at=0x310, array=8):
        """digest"""

        H = r(31, 0, "digest word, first byte on top; 0 until the digest is complete")

    cr: CR
    din: DIN
    str: STR
    hra: RegArray[HRA]
    imr: IMR
    sr: SR
    csr: RegArray[CSR]
    hr: RegArray[HR]
    irq: Line
    dma_in: DmaRequest

    widths = (4,)
    lines = ("irq",)
    dma = ("dma_in",)
    loads = {"SR": "_flags"}
    stores = {"DIN": "_words"}
    saved = (
        "_dma_counts", "_dma_moved", "_engine", "_exported", "_fed", "_full_until", "_ghost", "_imported",
        "_jobs", "_segment", "_valid", "_words",
    )  # fmt: skip

    CYCLES: ClassVar[dict[Text, int]] = {"MD5": 50, "SHA-1": 66, "SHA-224": 50, "SHA-256": 50}
    "Bus clock cycles of one block, loading not included."
    algorithms: ClassVar[tuple[Text, ...]] = (*CYCLES, *(f"{name}-HMAC" for name in CYCLES))
    SLOWER: ClassVar[int] = 10
    SETTINGS: ClassVar[tuple[Text, ...]] = ("ALGO1", "LKEY", "ALGO0", "MODE", "DATATYPE")
    "Fields of CR that are not changed while BUSY."

    _segment: Segment | None = None
    _event: Event | None = None

    def __init__(
        self,
        name: Text | None = None,
        *,
        clock: Clock | None = None,
        reports: Reports | None = None,
        speed: Speed = "normal",
    ) -> None:
        self.speed: Speed = speed
        self._words = Fifo(BLOCK_WORDS + 1)
        self._flags = Status()
        super().__init__(name, clock=clock, reports=reports)
        self.dma_in.when_served(self._ask_for_words)
        self.dma_in.on_last = self._transfer_ended

    def on_reset(self) -> None:
        """Nothing fed, SHA-1 selected."""
        self.clock.cancel(self._event)
        self._event = None
        if self._segment is not None:
            self._close_segment(self.clock.read_now())
        self._forget(SHA1)
        self._dma_moved = self._dma_counts = False
        self.dma_in.drop()
        self.irq.set(False)

    def _forget(self, algorithm: ChainedHash, hmac: bool = False, long_key: bool = False) -> None:
        self._engine = HashEngine(algorithm, hmac, long_key)
        self._words.clear()
        self._jobs: deque[Job] = deque()
        self._fed = 0  # words of this phase and segment, less those still in the buffer
        self._full_until = 0
        self._valid = self._ghost = self._exported = self._imported = False
        self._attention = True
        self._flags.until = 0

    @property
    def _attention(self) -> bool:
        """The next DIN write must look at more than the buffer."""
        return not self._words.group

    @_attention.setter
    def _attention(self, wanted: bool) -> None:
        self._words.group = 0 if wanted else BLOCK_WORDS + 1

    # -- feeding -------------------------------------------------------------------------------
    @DIN.being_written
    def _push(self, word: int) -> None:
        words, now = self._words, self.clock.read_now()
        if not words.group or now >= words.until:
            now = self._attend(now)
        words.append(word)
        words.last = now
        if len(words) > BLOCK_WORDS:
            self._start_block()

    @DIN.being_read
    def _last_word(self) -> int:
        return self._words.words[-1] if self._words else self.din.value

    def _attend(self, now: int) -> int:
        """What a DIN write may meet: a running job, a full buffer, a restored context, DINIS set, a first word.

        Returns the cycle at which the word goes in.
        """
        if self._jobs:
            self._advance(now)
            if now < self._full_until:
                self.clock.stall(self._full_until - now)
                now = self._full_until
                self._advance(now)
        self._open_segment(now)
        if self.sr.DINIS:
            self.sr.DINIS = 0
            self._drive()
        self._attention = self._engine.phase is Phase.DONE and bool(self._jobs)
        self._plan_attention()
        return now

    def _plan_attention(self) -> None:
        """The end of a block that nobody waits for needs no look: `_advance` knows of words written since."""
        jobs = self._jobs
        alone = len(jobs) == 1 and jobs[0].digest is None
        watched = self.imr.value or self.sr.value & DMAS
        self._words.until = jobs[0].end if jobs and (watched or not alone) else NEVER

    def _open_segment(self, now: int) -> None:
        self._take_context()
        self._exported = False
        if self._engine.phase is Phase.DONE:
            self.guest_error(f"{self.name}: data after a digest without CR.INIT, they continue from it", "O4")
        if self._segment is None:
            self._segment = Segment(now, self.reports.where().pc)
        if self.sr.DMAS:
            self._dma_moved = self._segment.dma = True

    def _start_block(self) -> None:
        """The word after a block has come: the block goes to the core."""
        data, change, engine = self._words.take(BLOCK_WORDS), arrange(self.cr.DATATYPE), self._engine
        self._fed += BLOCK_WORDS
        if not (engine.long_key or engine.text_comes):
            self.guest_error(f"{self.name}: HMAC key longer than a block with CR.LKEY = 0; cut to one block", "O8")
        engine.block(change(data) if change else data)
        self._advance(self.clock.read_now())
        self._compute(2, None)
        if len(self._jobs) == 1:
            self._attention = False
            self._plan_attention()
        if self.sr.value & DMAS and not self.cr.DMAE:
            self._end_dma()

    @STR.being_written
    def _filter_start(self, word: int) -> int:
        return word & self.STR.DCAL.bits | self.str.value if word & self.STR.DCAL.bits else word

    @STR.written
    def _start_written(self) -> None:
        if self.str.DCAL:
            if self.sr.DMAS and self._dma_moved:
                self.guest_error(f"{self.name}.STR.DCAL written while a DMA transfer feeds DIN", "O4")
            self._calculate()

    def _calculate(self) -> None:
        """End of a phase: the words left, their last one cut to NBLW bits, are padded and processed."""
        now = self.clock.read_now()
        self._advance(now)
        self._take_context()
        words = self._words.words
        if self._engine.phase is Phase.DONE and not words:
            self.guest_error(f"{self.name}.STR.DCAL written again, the digest has been asked for; ignored", "O4")
            return
        self._open_segment(now)
        bits = 32 * len(words)
        if words and self.str.NBLW:
            bits += self.str.NBLW - 32
        self._count(missing=len(words) * 4 - (bits + 7) // 8)
        if words:
            self.din.value = words[-1]
        result = self._engine.finish(message_bytes(words, self.cr.DATATYPE), bits)
        self._words.clear()
        self._fed = 0
        self._compute(result.half_blocks, result.digest)

    # -- time ----------------------------------------------------------------------------------
    def _compute(self, half_blocks: int, digest: bytes | None) -> None:
        """Queue a job; it starts when the one before it has ended."""
        now, jobs = self.clock.read_now(), self._jobs
        start = max(now, jobs[-1].end) if jobs else now
        cycles = self.CYCLES[self._engine.algorithm.name] * half_blocks // 2
        if self.speed != "normal":
            cycles = 1 if self.speed == "fast" else self.SLOWER * cycles
        self._full_until = start
        jobs.append(Job(start + cycles, digest))
        self.sr.value |= BUSY
        self._flags.until = 0
        self._ghost = self.speed == "fast"
        self._attention = True
        assert self._segment is not None
        self._segment.busy += cycles
        self._segment.computed = start + cycles
        if self.imr.value or self.sr.value & DMAS:
            self._schedule()

    def _advance(self, now: int) -> None:
        """Let what has ended by `now` show."""
        jobs = self._jobs
        if not jobs or jobs[0].end > now:
            return
        sr, last = self.sr, self._words.last
        while jobs and jobs[0].end <= now:
            job = jobs.popleft()
            sr.value = sr.value | DINIS if last < job.end else sr.value & ~DINIS
            if job.digest is not None:
                self._show_digest(job.digest)
                self._close_segment(job.end)
        if not jobs:
            sr.value &= ~BUSY
        self._attention = True
        self._flags.until = 0
        if self.imr.value or sr.value & DMAS:
            self._drive()
            self._ask_for_words()
            self._schedule()

    def _show_digest(self, digest: bytes) -> None:
        self.sr.DCIS = 1
        self._valid = True
        words = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, len(digest), 4)]
        for index, word in enumerate(words):
            self.hr[index].value = word
        for alias, state in zip(self.hra, self.hr, strict=False):
            alias.value = state.value

    def _schedule(self) -> None:
        """An event at the end of the running job, if an interrupt or a DMA request depends on it."""
        if self._jobs and (self.imr.value or self.sr.DMAS):
            end = self._jobs[0].end
            if self._event is None or not self._event.pending or self._event.cycle != end:
                self.clock.cancel(self._event)
                self._event = self.clock.at(end, self._due)

    def _due(self) -> None:
        self._advance(self.clock.read_now())

    def _drive(self) -> None:
        self._flags.until = 0
        self.irq.set(self.sr.value & self.imr.value & (DINIS | DCIS))

    # -- status --------------------------------------------------------------------------------
    @SR.being_read
    def _status(self) -> int | None:
        if self._jobs:
            self._advance(self.clock.read_now())
        if not self._ghost:
            self._flags.value, self._flags.until = self.sr.value, self._jobs[0].end if self._jobs else NEVER
            return None
        self._ghost = False
        if self.sr.BUSY or self.irq.level:
            return None
        return self.sr.value & ~(DINIS | DCIS) | BUSY

    @SR.being_written
    def _bring_up(self, word: int) -> int:
        self._advance(self.clock.read_now())
        return word

    @SR.written
    @IMR.written
    def _flags_changed(self) -> None:
        self._advance(self.clock.read_now())
        self._attention = True
        self._drive()
        self._schedule()

    @CR.being_read
    def _control(self) -> None:
        self._advance(self.clock.read_now())
        self._take_context()
        held = len(self._words)
        pushed = held if self._dma_counts else max(held - 1, 0)
        self.cr.NBW = pushed % BLOCK_WORDS
        self.cr.DINNE = 1 if held else 0

    @HR.being_read
    @HRA.being_read
    def _digest(self, index: int) -> None:
        if self._valid:
            return
        now = self.clock.read_now()
        self._advance(now)
        if not self._valid:
            self.guest_error(f"{self.name}.HR read while SR.DCIS = 0, no digest is there", "O4")
            if self._jobs and self._jobs[-1].digest is not None:
                end = self._jobs[-1].end
                self.clock.stall(end - now)
                self._advance(end)

    # -- control -------------------------------------------------------------------------------
    @CR.being_written
    def _control_filter(self, word: int) -> int:
        self._advance(self.clock.read_now())
        changed = word ^ self.cr.value
        fields = [f for f in self.CR.fields if f.name in self.SETTINGS and f.of(changed)]
        if self._jobs and (fields or self.CR.INIT.of(word)):
            names = ", ".join(f.name for f in fields) or "INIT"
            self.guest_error(f"{self.name}.CR.{names} written while SR.BUSY = 1", "O5")
        self._dma_was = self.cr.DMAE
        datatype = self.CR.DATATYPE.of(word)
        if self.CR.DATATYPE.of(changed) and not self.CR.INIT.of(word):
            self._take_context()
            self._words.words = [reorder(reorder(old, self.cr.DATATYPE), datatype) for old in self._words.words]
            self._exported = False
        return word

    @CR.written
    def _control_written(self) -> None:
        if self.cr.INIT:
            self._initialise()
        if self.cr.DMAE and not self._dma_was:
            self.sr.DMAS = 1
            self._flags.until = 0
            self._dma_counts = self._attention = True
            self._dma_moved = False
            self._take_context()
            self._ask_for_words()
            self._schedule()
        elif self._dma_was and not self.cr.DMAE and not self._dma_moved:
            self._end_dma()

    def _initialise(self) -> None:
        """INIT: a new message with the settings of this moment; DMAE, IMR and NBLW stay."""
        now = self.clock.read_now()
        if self._jobs and self._segment is not None:
            self._segment.busy -= self._jobs[-1].end - now
        self._close_segment(self._last_work(now))
        for state in (*self.hr, *self.hra):
            state.value = 0
        algorithm = ALGORITHMS[self.cr.ALGO1, self.cr.ALGO0]
        self._forget(algorithm, bool(self.cr.MODE), bool(self.cr.LKEY))
        self.sr.DINIS, self.sr.DCIS, self.sr.BUSY = 1, 0, 0
        self._dma_moved = False
        self._dma_counts = bool(self.cr.DMAE)
        if not self.cr.DMAE:
            self._end_dma()
        self._drive()
        self._ask_for_words()

    # -- DMA -----------------------------------------------------------------------------------
    def _ask_for_words(self) -> None:
        """Request a burst as long as it fits; a full block is held until a word more comes."""
        if self.sr.DMAS and (not self._jobs or len(self._words) <= BLOCK_WORDS - DMA_BURST):
            self.dma_in.ask(DMA_BURST)

    def _end_dma(self) -> None:
        self.dma_in.drop()
        self.sr.DMAS = 0
        self._flags.until = 0
        self._dma_moved = False

    def _transfer_ended(self) -> None:
        """The DMA controller's end of transfer: the message's end, unless more transfers follow."""
        if not self.sr.DMAS:
            return
        self._dma_moved, self._attention = False, True
        if not self.cr.MDMAT:
            self.cr.DMAE = 0
            self._end_dma()
            self._calculate()

    # -- context swap --------------------------------------------------------------------------
    @CSR.being_read
    def _context_read(self, index: int) -> int | None:
        if self._computing():
            self.guest_error(f"{self.name}.CSR read while SR.BUSY = 1; reads as 0", "O5")
            return 0
        if not self._exported:
            self._give_context()
        return None

    @CSR.being_written
    def _context_written(self, index: int, word: int) -> int | None:
        if self._computing():
            self.guest_error(f"{self.name}.CSR written while SR.BUSY = 1; ignored", "O5")
            return None
        if not self._imported:
            self._give_context()
            self._imported = self._attention = True
        return word

    def _computing(self) -> bool:
        if self._jobs:
            self._advance(self.clock.read_now())
        return bool(self._jobs)

    def _give_context(self) -> None:
        """Put the true state into CSR, unless it is there."""
        if self._exported or self._imported:
            return
        image = context_image(self._engine.context(), self._words.words, len(self.csr))
        for state, value in zip(self.csr, image, strict=True):
            state.value = value
        self._exported = self._attention = True

    def _take_context(self) -> None:
        """Go on from what was written to CSR, if anything was."""
        if not self._imported:
            return
        self._close_segment(self._last_work(self.clock.read_now()))
        context, self._words.words = image_context([state.value for state in self.csr])
        self._engine.resume(context)
        self._fed = -len(self._words)
        self._imported, self._exported = False, True
        self._dma_counts = False

    # -- operations ----------------------------------------------------------------------------
    def _count(self, missing: int = 0) -> None:
        """Add the words of this phase to the operation; `missing` bytes of the last one are not message."""
        segment = self._segment
        if segment is not None:
            fed = self._fed + len(self._words)
            segment.words += fed
            if self._engine.text_comes:
                segment.data_bytes = max(segment.data_bytes + 4 * fed - missing, 0)
        self._fed = -len(self._words)

    def _last_work(self, now: int) -> int:
        """When a message that is put aside had its last word or block."""
        segment = self._segment
        return now if segment is None else min(now, max(segment.first_cycle, segment.computed, self._words.last))

    def _close_segment(self, cycle: int) -> None:
        """Report what was fed since INIT, context restore or digest."""
        self._count()
        segment, self._segment = self._segment, None
        if segment is not None and (segment.words or segment.busy):
            self.operation(
                Operation(
                    self.name,
                    self._engine.algorithm.name,
                    "HMAC" if self._engine.hmac else "",
                    data_bytes=segment.data_bytes,
                    busy_cycles=segment.busy,
                    words_in=segment.words,
                    dma=segment.dma,
                    first_cycle=segment.first_cycle,
                    last_cycle=cycle,
                    pc=segment.pc,
                )
            )

    def finish(self) -> None:
        """The run has ended: report what is still open."""
        now = self.clock.read_now()
        self._advance(now)
        self._close_segment(now)
        self._attention = True

    def peek(self, offset: int) -> int:
        """The stored word, with what has ended by now."""
        self._advance(self.clock.read_now())
        return super().peek(offset)

    # -- snapshot ------------------------------------------------------------------------------
    def save(self) -> Any:
        """Registers, buffer, jobs and the standing DMA request."""
        return super().save(), self.dma_in.words, self._event

    def load(self, state: Any) -> None:
        """Take back what `save` gave."""
        inside, self.dma_in.words, self._event = state
        super().load(inside)
        self._drive()
