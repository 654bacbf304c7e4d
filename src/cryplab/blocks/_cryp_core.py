"""FIFOs and core of a CRYP: when a block is taken, what it costs, what comes of it; AES-ECB/CBC/CTR, DES, TDES.

Words lie in the FIFOs as software wrote them; DATATYPE acts on the way into and out of the core.

The FIFOs and SR are objects that the core may use itself (`cryplab.served`): it moves words, answers SR, also over the
end of a block behind which nothing waits, and starts a block as the one before it was started (`_arm`).

Time: a block starts `FIFO_LATENCY` cycles after its last word, or when the block before it is done, and
takes the cycles of `CYCLES`. Nothing happens on its own: each access brings the block up to the present
cycle. Only an unmasked interrupt or an enabled DMA request has the end of a block scheduled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from cryplab.algorithms.aes import cipher_key, prepared_key
from cryplab.algorithms.modes import CbcDecryption, CbcEncryption, Counter32, Ecb, cipher_of
from cryplab.algorithms.swap import Arrange, arrange, arranged
from cryplab.blocks._cryp_ledger import Kind, Ledger
from cryplab.blocks._cryp_registers import CrypRegisters
from cryplab.clock import NEVER, Clock, Event
from cryplab.reports import Reports
from cryplab.served import Fifo, Status

__all__ = ["BURST_WORDS", "FIFO_WORDS", "IN_FLAGS", "KEYSIZE_RESERVED", "OUT_FLAGS", "CrypCore", "Plan"]

Registers = CrypRegisters  # short for hooks

FIFO_WORDS = 8
BURST_WORDS = 4
"Room in the IN FIFO that raises its DMA request; below this number of words it asks for service."
FIFO_LATENCY = 3
"Cycles from the last word of a block to its start."
KEY_SIZES = (128, 192, 256, 256)
KEYSIZE_RESERVED = 3
DES_KEY_BITS = {"DES": 64, "TDES": 192}  # with parity


SR = CrypRegisters.SR
BUSY = SR.BUSY.bits
IN_FLAGS = (SR.IFEM.bits | SR.IFNF.bits, *(SR.IFNF.bits,) * (FIFO_WORDS - 1), 0)
OUT_FLAGS = (0, *(SR.OFNE.bits,) * (FIFO_WORDS - 1), SR.OFNE.bits | SR.OFFU.bits)
"SR by the number of words in the FIFOs."


class BlockStream(Protocol):
    """What turns a block into a block (or nothing) and shows its chaining value."""

    @property
    def iv(self) -> bytes:
        """What the next block is chained with."""

    def step(self, block: bytes, /) -> bytes:
        """One block."""


@dataclass(slots=True, eq=False)
class Plan:
    """What the core does with the next blocks, worked out from the registers once and kept until they change.

    `words` per block, 0 for work without data; `cost` in cycles; `output`: the block gives as many words;
    `data_bytes` of the message in a block; `task`: what its end does beside, by name.
    """

    kind: Kind
    words: int = 0
    cost: int = 0
    output: bool = False
    data_bytes: int = 0
    task: str = ""
    stream: BlockStream | None = None
    arrange: Arrange | None = None
    step: Arrange = bytes
    entered: bool = False


class CrypCore(CrypRegisters):
    """The way of a word from DIN to DOUT. `signal` is told what interrupts and DMA may want to know."""

    saved = ("_key", "_in", "_out", "_flags", "_ready", "_blocked", "_task", "_ledger", "_event")
    loads = {"SR": "_flags", "DOUT": "_out"}
    stores = {"DIN": "_flags"}

    def __init__(
        self,
        name: str | None = None,
        *,
        clock: Clock | None = None,
        reports: Reports | None = None,
        speed: str = "normal",
        slow_factor: int = 8,
    ) -> None:
        self._speed, self.slow_factor = speed, slow_factor
        self._event: Event | None = None
        self._ledger = Ledger()
        self._plan: Plan | None = None
        self._in = Fifo(FIFO_WORDS, BURST_WORDS)
        self._out = Fifo(FIFO_WORDS, source=self._in)
        self._flags = Status(self._in, IN_FLAGS, self._out, OUT_FLAGS)  # value: SR.BUSY, until: when the core is done
        super().__init__(name, clock=clock, reports=reports)
        self.speed = speed
        self.dma_in.when_served(self.signal)
        self.dma_out.when_served(self.signal)

    @property
    def speed(self) -> str:
        """`normal`; `slow`: blocks take `slow_factor` times as long; `fast`: results are there at once."""
        return self._speed

    @speed.setter
    def speed(self, speed: str) -> None:
        if speed not in ("normal", "slow", "fast"):
            raise ValueError(f"{self.name}: speed is normal, slow or fast, not {speed!r}")
        self._settle()
        self._speed = speed
        self._latency = 0 if speed == "fast" else FIFO_LATENCY

    def on_reset(self) -> None:
        """Empty, idle, disabled; a job under way ends here."""
        self._now = self.clock.read_now
        self._key = [0] * 8
        self._in.clear()
        self._out.clear()
        self._out.expect(b"")
        self._flags.until, self._flags.value = NEVER, 0
        self._ready = 0  # when the last whole block in the IN FIFO may start
        self._blocked = False  # DES: done, but no room for the result
        self._task = ""
        self._account()
        self._plan = None
        self._ledger.close()
        self._report()
        self.clock.cancel(self._event)
        self._event = None
        self._follow_registers()
        self.irq.set(False)
        self.dma_in.drop()
        self.dma_out.drop()

    def _follow_registers(self) -> None:
        """What the quick paths need to know of CR, IMSCR and DMACR."""
        self._running = bool(self.cr.CRYPEN)
        self._algorithm, self._mode = self.MODES.get(self.algomode(), ("AES", ""))
        self._block_words = 4 if self._algorithm == "AES" else 2
        self._watch = bool(self.imscr.value or self.dmacr.value)
        self._in.group = self._block_words
        self._flags.simple &= not self._watch
        self._flags.step = None
        self._limit_loads()

    def _limit_loads(self) -> None:
        """Loads of DOUT that are more than a word taken: the last when somebody watches, any when a block waits."""
        self._out.keep = FIFO_WORDS if self._blocked else int(self._watch)

    def signal(self) -> None:
        """Drive interrupt line and DMA requests: see `Cryp`."""

    # -- data ----------------------------------------------------------------------------------
    @Registers.DIN.being_written
    def _push(self, word: int) -> None:
        fifo = self._in
        if len(fifo) == FIFO_WORDS:
            self._catch_up()
            if len(fifo) == FIFO_WORDS:
                self.guest_error(f"{self.name}.DIN written with the IN FIFO full, the word is lost", "O4")
                return
        fifo.append(word)
        if len(fifo) % self._block_words == 0:
            now = self._now()
            self._ready = now + self._latency
            flags = self._flags
            if flags.until <= now:
                self._catch_up()
            if self._running and not flags.value:
                self._take(now)
            if self._watch:
                self.signal()

    @Registers.DIN.being_read
    def _take_back(self) -> int:
        self._catch_up()
        if self._running:
            self.guest_error(f"{self.name}.DIN read with CRYPEN = 1, the value is undefined; reads as 0")
            return 0
        word = self._in.pop() if self._in else 0
        if self._watch:
            self.signal()
        return word

    @Registers.DOUT.being_read
    def _pop(self) -> int:
        fifo = self._out
        if len(self._in) >= self._block_words or self._blocked or not fifo:
            return self._pop_and_go_on()
        word = fifo.pop()
        if not fifo and self._watch:
            self.signal()
        return word

    def _pop_and_go_on(self) -> int:
        """The long way: the result may be due just now, or a block may wait for room."""
        self._catch_up()
        if not self._out:
            self.guest_error(f"{self.name}.DOUT read with the OUT FIFO empty, reads as 0", "O4")
            return 0
        word = self._out.pop()
        self._go_on(self._now())
        if self._watch:
            self.signal()
        return word

    def _go_on(self, now: int) -> None:
        """There may be room now for a result that waits, or for a block to start."""
        if self._blocked:
            self._finish(now)
        if self._running and not self._flags.value:
            self._take(now)

    # -- the core ------------------------------------------------------------------------------
    def _catch_up(self) -> None:
        """Bring the core up to the present cycle."""
        now, flags = self._now(), self._flags
        while flags.until <= now:
            at = flags.until
            self._finish(at)
            if self._running and not flags.value:
                self._take(at)

    def _take(self, at: int) -> None:
        """Start the next block, or work without data, if there is any; the core is idle and enabled."""
        plan = self._plan
        if plan is None:
            plan = self._plan = self._make_plan()
            if plan is None:
                return
        words, fifo = plan.words, self._in
        if words:
            if len(fifo) < words or (words == 4 and plan.output and len(self._out) > FIFO_WORDS - words):
                return
            if at < self._ready and len(fifo) < 2 * words:
                at = self._ready
        if not plan.entered:
            self._enter(plan, at)
        if words:
            given = plan.step(fifo.take(words))
            if plan.output:
                self._out.expect(given)
        self._task = plan.task
        flags = self._flags
        flags.value = BUSY
        flags.until = flags.end = at + plan.cost
        flags.repeated += 1
        flags.simple = not (plan.task or self._watch)
        if self._watch:
            self._account()
            if self.dmacr.value and self._ledger.job is not None and plan.kind.mode != "KEYPREP":
                self._ledger.job.dma = True
            self._schedule()
        elif plan.output and flags.step is None:
            self._arm(plan)

    def _arm(self, plan: Plan) -> None:
        """The core may start the next blocks itself."""
        self._flags.step, self._flags.busy, self._flags.delay = plan.step, BUSY, self._latency + plan.cost

    def _finish(self, at: int) -> None:
        """The work is done: put the result out and run the plan's task, unless there is no room."""
        self._flags.until = NEVER
        blocked = not self._out.arrive()
        if blocked or self._blocked:
            self._blocked = blocked
            self._limit_loads()
        if blocked:
            return
        self._flags.value = 0
        if self._task:
            task, self._task = self._task, ""
            self._settle()
            self.end_task(task)

    def _enter(self, plan: Plan, at: int) -> None:
        plan.entered = True
        if plan.kind.mode != "KEYPREP":
            self._ledger.enter(plan.kind, self.name, at, self.reports.where().pc)
            self._report()

    def _account(self) -> None:
        """Tell the job of the blocks that were taken since the last time."""
        plan, job = self._plan, self._ledger.job
        flags = self._flags
        taken = flags.repeated
        if plan is None or not taken:
            return
        flags.repeated = 0
        if plan.kind.mode == "KEYPREP" or job is None:
            self._ledger.carry(taken * plan.cost)
            return
        job.busy_cycles += taken * plan.cost
        job.words_in += taken * plan.words
        job.words_out += taken * plan.words if plan.output else 0
        job.data_bytes += taken * plan.data_bytes
        job.last_cycle = flags.end
        if plan.kind.phase == "final":
            self._ledger.final(taken)

    def end_task(self, task: str) -> None:
        """The work named in `Plan.task` is done; CRYPEN falls after it."""
        if task == "prepare":
            size = KEY_SIZES[self.cr.KEYSIZE] // 32
            self.store_words(self._key, 8 - size, prepared_key(self.aes_key()))
        self.cr.CRYPEN = 0
        self._running = False

    def _schedule(self) -> None:
        """Have the end of the work in progress noticed without an access."""
        event = self._event
        if event is None or not event.pending or event.cycle != self._flags.until:
            self.clock.cancel(event)
            self._event = self.clock.at(self._flags.until, self.signal)

    def _report(self) -> None:
        ended = self._ledger.ended
        while ended:
            self.operation(ended.pop(0))

    # -- plans ---------------------------------------------------------------------------------
    def algomode(self) -> int:
        """The whole ALGOMODE field."""
        return self.cr.ALGOMODE

    def phase(self) -> str:
        """The phase of a mode that has some, else empty."""
        return ""

    def _make_plan(self) -> Plan | None:
        """What CR, key and IV ask for; None for a reserved mode."""
        algorithm, mode = self._algorithm, self._mode
        if not mode:
            return None
        key_bits = KEY_SIZES[self.cr.KEYSIZE] if algorithm == "AES" else DES_KEY_BITS[algorithm]
        phase, words = self.phase(), self._block_words
        cost = self.CYCLES[algorithm, mode, phase, key_bits]
        if self._speed != "normal":
            cost *= 0 if self._speed == "fast" else self.slow_factor
        kind = Kind(algorithm, mode, bool(self.cr.ALGODIR), key_bits, phase)
        plan = Plan(kind, words, cost, output=True, data_bytes=4 * words, arrange=arrange(self.cr.DATATYPE))
        self.fill_plan(plan)
        if plan.stream is not None:
            plan.step = arranged(plan.stream.step, plan.arrange)
        return plan

    def fill_plan(self, plan: Plan) -> None:
        """Give the plan its stream, or its task; overridden by versions with more modes."""
        kind = plan.kind
        if kind.mode == "KEYPREP":
            plan.words, plan.data_bytes, plan.output, plan.task = 0, 0, False, "prepare"
            return
        key = self.aes_key() if kind.algorithm == "AES" else self.des_key(kind.algorithm)
        if kind.algorithm == "AES" and kind.mode != "CTR" and kind.decrypt:
            key = cipher_key(key)  # the core walks the key schedule back from what the registers hold
        cipher, iv = cipher_of(kind.algorithm, key), self.words_of(self.iv)[: 4 * plan.words]
        if kind.mode == "ECB":
            plan.stream = Ecb(cipher, iv, kind.decrypt)
        elif kind.mode == "CTR":
            plan.stream = Counter32(cipher, iv)
        else:
            plan.stream = CbcDecryption(cipher, iv) if kind.decrypt else CbcEncryption(cipher, iv)

    def aes_key(self) -> bytes:
        """The key registers that KEYSIZE selects, as bytes."""
        size = KEY_SIZES[self.cr.KEYSIZE] // 32
        return b"".join(word.to_bytes(4, "big") for word in self._key[8 - size :])

    def des_key(self, algorithm: str) -> bytes:
        """K1, or K1 to K3 for TDES, as bytes."""
        return b"".join(word.to_bytes(4, "big") for word in self._key[2 : 4 if algorithm == "DES" else 8])

    @staticmethod
    def words_of(registers: list[Any]) -> bytes:
        """The words of a register array as bytes, first register first, most significant byte first."""
        return b"".join(register.value.to_bytes(4, "big") for register in registers)

    @staticmethod
    def store_words(words: list[int], first: int, data: bytes) -> None:
        """Spread bytes over words from index `first` on."""
        for i in range(0, len(data), 4):
            words[first + i // 4] = int.from_bytes(data[i : i + 4], "big")

    def _settle(self) -> None:
        """The registers are about to change: put what the stream holds into them and forget the plan."""
        self.show_state()
        self._account()
        self._plan = None
        self._flags.simple, self._flags.step = False, None

    def show_state(self) -> None:
        """Put the chaining value of the stream into the registers; versions add their state."""
        plan = self._plan
        if plan is not None and plan.stream is not None and plan.entered:
            words = [0] * 4
            self.store_words(words, 0, plan.stream.iv)
            for i in range(plan.words):
                self.iv[i].value = words[i]
