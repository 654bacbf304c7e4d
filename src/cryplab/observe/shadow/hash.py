"""HASH as the accesses show it: whose message is in the block, how many words it was fed, saved contexts."""

from __future__ import annotations

from dataclasses import dataclass, field

from cryplab.observe.contexts import Call, Contexts
from cryplab.observe.shadow.base import WORD, Handler, Polls, Shadow, Stamp

__all__ = ["HashShadow", "Message"]

# source: HASH facts A3 to A5, generation H2
CR, DIN, STR, HRA, IMR, SR, CSR, HR = 0x00, 0x04, 0x08, 0x0C, 0x20, 0x24, 0xF8, 0x310
HRAS, CSRS, HRS = 5, 54, 8
INIT, DMAE, DATATYPE, MODE, MDMAT, LKEY = 1 << 2, 1 << 3, 3 << 4, 1 << 6, 1 << 13, 1 << 16
ALGO = 1 << 18 | 1 << 7
FIELDS = {"ALGO": ALGO, "MODE": MODE, "LKEY": LKEY, "DATATYPE": DATATYPE, "MDMAT": MDMAT, "DMAE": DMAE}
DCAL, NBLW = 1 << 8, 0x1F
DINIS, DCIS, BUSY = 1 << 0, 1 << 1, 1 << 3
ALGORITHMS = {0: "SHA-1", 1: "MD5", 2: "SHA-224", 3: "SHA-256"}
ALGO_BITS = {"SHA-1": 0, "MD5": 1 << 7, "SHA-224": 1 << 18, "SHA-256": ALGO}
DIGEST_WORDS = {"SHA-1": 5, "MD5": 4, "SHA-224": 7, "SHA-256": 8}
BLOCK_WORDS = 16
CSRS_ALWAYS, CSRS_PLAIN, CSR_KEY = 22, 38, 38
HMAC_PHASES = 3
KEPT_WORDS = 64
SAVED_MOST = 256


@dataclass(slots=True)
class Message:
    """The message that the block works on.

    `words` fed by CPU and DMA since its beginning, None when unknown (continued from a context not seen saved);
    `owner` and `number`: call at INIT or restore, and that object's message number then.
    """

    started: Stamp
    algorithm: str
    hmac: bool
    long_key: bool
    words: int | None = 0
    owner: Call | None = None
    number: int = 0
    restored: bool = False
    phases: list[tuple[int | None, int]] = field(default_factory=list)
    "Words and NBLW of each part that DCAL has closed."
    keys: list[list[int]] = field(default_factory=list)
    finished: bool = False
    looked: bool = False
    "Status was read since the last DCAL and said that the digest is there."
    hr_read: int = 0
    digest: Stamp | None = None
    judged: bool = False
    begun: bool = False
    "Data or DCAL came since INIT; before that another INIT does away with it."
    reported: set[str] = field(default_factory=set)
    dma: bool = False


@dataclass(slots=True)
class Saved:
    """Context-swap registers as software read them, and the message that they hold."""

    csr: dict[int, int]
    message: Message
    str_value: int


class HashShadow(Shadow):
    """HASH. Moments: begin(stamp of INIT) at the first use after it, use, calculate(stamp, message, words, nblw),
    digest(stamp, message), digest_end(message), save(stamp), restored(stamp, csr, saved), taken, reserved, reset,
    wait."""

    kind = "hash"

    def __init__(self, name: str, contexts: Contexts, declared: dict[int, int] | None = None) -> None:
        super().__init__(name, contexts, declared)
        self.reserved = ~self.declared.get(CR, WORD) & WORD
        self.reads = {CR: self.read_cr, SR: self.read_sr}
        self.writes = {CR: self.write_cr, DIN: self.write_din, STR: self.write_str, IMR: self.write_imr}
        for i in range(CSRS):
            self.reads[CSR + 4 * i] = self._reader(i)
            self.writes[CSR + 4 * i] = self._writer(i)
        for base, count in ((HRA, HRAS), (HR, HRS)):
            for i in range(count):
                self.reads[base + 4 * i] = self._digest_reader(i)

    def clear(self) -> None:
        """As after reset."""
        self.cr = self.str = self.imr = 0
        self.changed: dict[str, Stamp] = {}
        self.nblw_stamp: Stamp | None = None
        self.nblw_fresh = True
        "Not yet used by a DCAL."
        self.algo_before = 0
        "ALGO bits of the message before."
        self.message: Message | None = None
        self.words = 0
        "Words since the present part began, or since the context was restored."
        self.last_word = 0
        self.fed_datatype = 0
        "DATATYPE when data was last fed."
        self.operation = 0
        "Counts INITs of new messages, to tell what an earlier operation left."
        self.written_in: dict[str, int] = {}
        "Operation in which each field got its present value."
        self.idle_words = 0
        self.sr = DINIS
        self.polls = Polls()
        self.saved: dict[tuple[int, int], Saved] = {}
        self._saving: dict[int, int] | None = None
        self._restoring: dict[int, int] | None = None
        self._restore_stamp: Stamp | None = None
        self._worker = 0
        "Thread that saves, restores or reads a digest."

    # -- fields --------------------------------------------------------------------------------
    @property
    def algorithm(self) -> str:
        """As CR.ALGO says now."""
        return ALGORITHMS[self.cr >> 7 & 1 | self.cr >> 17 & 2]

    @property
    def datatype(self) -> int:
        """DATATYPE."""
        return self.cr >> 4 & 3

    @property
    def nblw(self) -> int:
        """NBLW as last written."""
        return self.str & NBLW

    # -- control -------------------------------------------------------------------------------
    def write_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR written."""
        self._settle()
        stamp = self.stamp(cycle, pc)
        self.race(self.cr_race, "CR", stamp, value & ~INIT, self.cr)
        differs = self.cr ^ value
        if value & INIT:
            self.operation += 1
            owner = self.message.owner if self.message is not None else None
            if owner is not None and owner.open and owner.thread != self.contexts.thread:
                self.emit("taken", stamp, self.message)
        for name, mask in FIELDS.items():
            if differs & mask:
                self.changed[name], self.written_in[name] = stamp, self.operation
        if value & self.reserved:
            self.emit("reserved", stamp, value & ~INIT)
        self.cr, self.dirty = value & ~INIT, True
        if value & INIT:
            self._init(stamp)

    def read_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR read."""
        self.cr_race.read(self.contexts.thread, self.stamp(cycle, pc))

    def _init(self, stamp: Stamp) -> None:
        self._end_digest()
        call = stamp.call
        if self.message is not None:
            self.algo_before = ALGO_BITS[self.message.algorithm]
        self.message = Message(
            stamp,
            self.algorithm,
            bool(self.cr & MODE),
            bool(self.cr & LKEY),
            0,
            call,
            call.object.message if call else 0,
        )
        self.words = self.idle_words = 0
        self.polls.over()

    def write_str(self, cycle: int, pc: int, value: int) -> None:
        """STR written: NBLW, or the end of a part."""
        stamp = self.stamp(cycle, pc)
        if not value & DCAL:
            self.str, self.nblw_stamp, self.nblw_fresh = value & NBLW, stamp, True
            return
        if self.dirty and self.message is not None and not self.message.finished:
            self.use(stamp)
        self._calculate(stamp)

    def _calculate(self, stamp: Stamp) -> None:
        message = self.message
        if message is None:
            return
        self.emit("calculate", stamp, message, self.words, self.nblw)
        message.phases.append((None if message.words is None else message.words + self.words, self.nblw))
        message.words, self.words, self.idle_words = 0, 0, 0
        message.looked = False
        message.finished = not message.hmac or len(message.phases) >= HMAC_PHASES
        self.nblw_fresh, self.dirty = False, True
        self.polls.over()

    def write_imr(self, cycle: int, pc: int, value: int) -> None:
        """Interrupts enabled."""
        self.imr = value & 3

    # -- data ----------------------------------------------------------------------------------
    def write_din(self, cycle: int, pc: int, value: int) -> None:
        """A word of the message."""
        if self.dirty:
            self.use(self.stamp(cycle, pc))
        self.words += 1
        self.last_word = value
        if self.cr & MODE and self.words <= KEPT_WORDS:
            self._keep_key(value)

    def _keep_key(self, value: int) -> None:
        message = self.message
        if message is None or len(message.phases) == 1:
            return
        while len(message.keys) <= len(message.phases) // 2:
            message.keys.append([])
        message.keys[-1].append(value)

    def dma_in(self, stamp: Stamp, words: int) -> None:
        """A DMA stream was started that moves so many words to DIN."""
        if self.message is not None:
            self.message.dma = True
        self.use(stamp)
        self.words += words
        if not self.cr & MDMAT:
            self._calculate(stamp)

    def use(self, stamp: Stamp) -> None:
        """The first word (or DCAL) under the present state and call."""
        self._settle()
        self._pass_on(stamp)
        self.dirty = False
        self.fed_datatype = self.datatype
        self.polls.over()
        self.used(stamp)
        if self.message is not None and not self.message.begun:
            self.message.begun = True
            self.emit("begin", self.message.started)
        self.emit("use", stamp)
        if stamp.call is not None:
            stamp.call.object.fed_message = stamp.call.object.message

    # -- digest --------------------------------------------------------------------------------
    def _digest_reader(self, index: int) -> Handler:
        def read(cycle: int, pc: int, value: int) -> None:
            message = self.message
            if message is None:
                return
            if not message.hr_read:
                message.digest, self._worker = self.stamp(cycle, pc), self.contexts.thread
                self.used(message.digest)
                self.emit("digest", message.digest, message)
            message.hr_read |= 1 << index

        return read

    def _end_digest(self) -> None:
        """The next message begins: judge how the last one's digest was read."""
        message = self.message
        if message is not None and message.hr_read and not message.judged:
            message.judged = True
            self.emit("digest_end", message)

    def call_changed(self) -> None:
        """A call began or ended; one of another thread ends nothing that is under way."""
        self.dirty = True
        if self._worker == self.contexts.thread:
            self._settle()
            self._end_digest()

    # -- context swap --------------------------------------------------------------------------
    def _reader(self, index: int) -> Handler:
        def read(cycle: int, pc: int, value: int) -> None:
            if self._saving is None:
                self._settle()
                self._saving, self.dirty, self._worker = {}, True, self.contexts.thread
                self.cr_race.saved(self.contexts.thread)
                stamp = self.stamp(cycle, pc)
                self.used(stamp)
                self.emit("save", stamp)
            self._saving[index] = value

        return read

    def _writer(self, index: int) -> Handler:
        def write(cycle: int, pc: int, value: int) -> None:
            if self._restoring is None:
                self._settle()
                self._restoring, self.dirty, self._worker = {}, True, self.contexts.thread
                self._restore_stamp = self.stamp(cycle, pc)
            self._restoring[index] = value

        return write

    def _settle(self) -> None:
        """A run of context-swap accesses is over."""
        if self._saving is not None:
            csr, self._saving = self._saving, None
            self._saved(csr)
        if self._restoring is not None:
            csr, self._restoring = self._restoring, None
            assert self._restore_stamp is not None
            self._restored(csr, self._restore_stamp)

    def _saved(self, csr: dict[int, int]) -> None:
        message = self.message
        if message is None or message.owner is None:
            return
        if len(self.saved) > SAVED_MOST:
            self._forget()
        copy = Message(
            message.started, message.algorithm, message.hmac, message.long_key,
            None if message.words is None else message.words + self.words,
            message.owner, message.number, True, list(message.phases), [list(k) for k in message.keys],
        )  # fmt: skip
        self.saved[message.owner.object.serial, message.number] = Saved(csr, copy, self.str)

    def _forget(self) -> None:
        """Drop what is of contexts that are no more, else the oldest: a message may pause for thousands of others."""
        now = {(known.serial, known.message) for known in self.contexts.objects.values()}
        self.saved = {key: saved for key, saved in self.saved.items() if key in now}
        if len(self.saved) > SAVED_MOST:
            self.saved.pop(next(iter(self.saved)))

    def _restored(self, csr: dict[int, int], stamp: Stamp) -> None:
        call = stamp.call
        saved = self.saved.get((call.object.serial, call.object.message)) if call else None
        self.emit("restored", stamp, csr, saved)
        message = self.message
        if message is None:
            return
        message.restored, message.owner = True, call
        message.number = call.object.message if call else 0
        message.words = saved.message.words if saved else None
        if saved:
            message.phases, message.keys = list(saved.message.phases), [list(k) for k in saved.message.keys]
        self.words = self.idle_words = 0

    def cloned(self, target: Call) -> None:
        """The API copied a context: what was saved for one holds for the other."""
        source = self.contexts.objects.get(target.get("src"))
        if source is None:
            return
        known = self.saved.get((source.serial, source.message))
        if known is not None:
            self.saved[target.object.serial, target.object.message] = known

    def _pass_on(self, stamp: Stamp) -> None:
        """A copy of a context goes on where both were saved, and that very state is still in the block."""
        message, call = self.message, stamp.call
        if message is None or message.finished or message.owner is None or call is None or call.related(message.owner):
            return
        saved = self.saved.get((call.object.serial, call.object.message))
        if saved is None or saved is not self.saved.get((message.owner.object.serial, message.number)):
            return
        if message.words is not None and saved.message.words == message.words + self.words:
            message.owner, message.number = call, call.object.message

    # -- status --------------------------------------------------------------------------------
    def read_sr(self, cycle: int, pc: int, value: int) -> None:
        """Status read."""
        self.sr = value
        if not value & BUSY:
            self.idle_words = self.words
            if self.message is not None:
                self.message.looked = True
        if self.polls.read(cycle, value) > self.patience:
            self.emit("wait", self.stamp(cycle, pc), self.polls)
