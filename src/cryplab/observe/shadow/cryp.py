"""CRYP as the accesses show it: keys, IV and chaining value, mode, phases, counts of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cryplab.observe.contexts import Contexts
from cryplab.observe.shadow.base import WORD, Handler, Polls, Shadow, Stamp, swapped

__all__ = ["Aead", "CrypShadow"]

# source: cipher-engine facts 2 and 3
CR, SR, DIN, DOUT, DMACR, IMSCR, RISR, MISR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C
K, IV, CSGCMCCM, CSGCM = 0x20, 0x40, 0x50, 0x70
KEYS, IVS, CONTEXTS = 8, 4, 8
KEY_NAMES = ("K0LR", "K0RR", "K1LR", "K1RR", "K2LR", "K2RR", "K3LR", "K3RR")
IV_NAMES = ("IV0LR", "IV0RR", "IV1LR", "IV1RR")
ALGODIR, DATATYPE, KEYSIZE, FFLUSH, CRYPEN = 1 << 2, 3 << 6, 3 << 8, 1 << 14, 1 << 15
ALGOMODE, PHASE, NPBLB = 1 << 19 | 7 << 3, 3 << 16, 0xF << 20
FIELDS = {
    "ALGODIR": ALGODIR, "ALGOMODE": ALGOMODE, "DATATYPE": DATATYPE, "KEYSIZE": KEYSIZE,
    "GCM_CCMPH": PHASE, "NPBLB": NPBLB,
}  # fmt: skip
CONFIGURATION = sum(FIELDS.values())
BUSY, OFNE, IFNF, IFEM = 1 << 4, 1 << 2, 1 << 1, 1 << 0
MODES = {
    0: ("TDES", "ECB"), 1: ("TDES", "CBC"), 2: ("DES", "ECB"), 3: ("DES", "CBC"), 4: ("AES", "ECB"),
    5: ("AES", "CBC"), 6: ("AES", "CTR"), 7: ("AES", "key preparation"), 8: ("AES", "GCM"), 9: ("AES", "CCM"),
}  # fmt: skip
MODE_CTR, MODE_PREPARE, MODE_GCM, MODE_CCM = 6, 7, 8, 9
PHASE_INIT, PHASE_HEADER, PHASE_PAYLOAD, PHASE_FINAL = range(4)
PHASES = ("init", "header", "payload", "final")
KEPT_BLOCKS = 256
PARKED_MOST = 64
FIRST_KEY_WORD = {0: 4, 1: 2, 2: 0, 3: 0}
"First key register that KEYSIZE needs."

Block = tuple[int, ...]


@dataclass(slots=True)
class Aead:
    """One GCM or CCM message: what was fed in which phase. Blocks are as the core sees them (after DATATYPE)."""

    mode: str
    started: Stamp
    iv: Block
    key_bits: int
    whole: bool = True
    valid_from: int = 0
    "Key and IV written later than this cycle belong to another message: its init phase, or its last restore."
    aad: bytes | None = None
    "Additional data as the call gave them, when the message began; kept by O3."
    b0: Block | None = None
    header: list[Block] = field(default_factory=list)
    header_blocks: int = 0
    payload_blocks: int = 0
    excursion_blocks: int = 0
    "Blocks processed in CTR mode in between: the sequence for a short last block on versions without NPBLB."
    last_payload: Block | None = None
    decrypts: bool = False
    npblb: int = 0
    final: list[Block] = field(default_factory=list)
    final_raw: list[Block] = field(default_factory=list)
    final_stamp: Stamp | None = None
    last: Stamp | None = None
    by_dma: bool = False

    @property
    def ended(self) -> bool:
        """Its last block was fed; after a block in CTR mode GCM has another one in the final phase before that."""
        return len(self.final) > (self.mode == "GCM" and self.excursion_blocks > 0)


class CrypShadow(Shadow):
    """CRYP.

    Moments: use(stamp), reserved(stamp, value), readback(stamp, written, read), aead_end(aead), wrap(stamp),
    wait(stamp, polls), reset(stamp).
    """

    kind = "cryp"

    def __init__(self, name: str, contexts: Contexts, declared: dict[int, int] | None = None) -> None:
        super().__init__(name, contexts, declared)
        self.reserved = ~self.declared.get(CR, WORD) & WORD
        self.has_npblb = bool(self.declared.get(CR, 0) & NPBLB)
        self.reads = {
            CR: self.read_cr,
            SR: self.read_sr,
            DOUT: self.read_dout,
            RISR: self.read_risr,
            MISR: self.read_risr,
        }
        self.writes = {CR: self.write_cr, DIN: self.write_din, DMACR: self.write_dmacr}
        for i in range(KEYS):
            self.writes[K + 4 * i] = self._indexed(self.write_key, i)
        for i in range(IVS):
            self.writes[IV + 4 * i] = self._indexed(self.write_iv, i)
        for i in range(2 * CONTEXTS):
            self.writes[CSGCMCCM + 4 * i] = self.write_context
            self.reads[CSGCMCCM + 4 * i] = self.read_context

    @staticmethod
    def _indexed(method: Callable[[int, int, int, int], None], index: int) -> Handler:
        return lambda cycle, pc, value: method(index, cycle, pc, value)

    def clear(self) -> None:
        """As after reset."""
        self.cr = 0
        self.algomode, self.mode = 0, MODES[0]
        'The whole ALGOMODE field, and what it means: ("AES", "CBC").'
        self.cr_stamp: Stamp | None = None
        self.changed: dict[str, Stamp] = {}
        "Who gave each field of CR its present value."
        self.key = [0] * KEYS
        self.key_stamps: list[Stamp | None] = [None] * KEYS
        self.prepared: Stamp | None = None
        self.prepared_mask = 0
        self.iv: list[int] | None = [0] * IVS
        self.iv_stamps: list[Stamp | None] = [None] * IVS
        self.chained = 0
        "Blocks processed since the IV registers were written."
        self.blocks = self.blocks_out = 0
        self.in_words: list[int] = []
        self.out_words: list[int] = []
        self.last_in: Block | None = None
        self.last_out: Block | None = None
        self.last_text: Block | None = None
        "The last block of text that was read, not a tag."
        self.early: Stamp | None = None
        self.aead: Aead | None = None
        self.b0: Block | None = None
        self.sr = 3
        self.loaded: set[int] = set()
        "Key registers written since the last data."
        self.parked: dict[tuple[int, int], Aead] = {}
        self.polls = Polls()
        self.block_words = 2
        self.dma_bits = 0
        self.started: Stamp | None = None
        self.restoring = False
        self.verdict: object = None
        "Of the key in the registers, made once for each use by the first rule that asks."
        self.fed_cr = 0
        "CR as it was when data was last fed; drivers clear it afterwards."
        self.session: tuple[int, Stamp, Stamp | None] | None = None
        "Thread that last fed data, where that began, and the enabling it belongs to."

    # -- fields --------------------------------------------------------------------------------
    @property
    def phase(self) -> int:
        """GCM_CCMPH."""
        return self.cr >> 16 & 3

    @property
    def decrypts(self) -> bool:
        """ALGODIR."""
        return bool(self.cr & ALGODIR)

    @property
    def datatype(self) -> int:
        """DATATYPE."""
        return self.cr >> 6 & 3

    @property
    def fed_datatype(self) -> int:
        """DATATYPE of the data that was last fed."""
        return self.fed_cr >> 6 & 3

    @property
    def fed_mode(self) -> tuple[str, str]:
        """Mode of the data that was last fed."""
        return MODES.get(self.fed_cr >> 3 & 7 | self.fed_cr >> 16 & 8, ("reserved", ""))

    @property
    def key_bits(self) -> int:
        """Key size in force, 0 when reserved."""
        algorithm = self.mode[0]
        if algorithm != "AES":
            return {"DES": 64, "TDES": 192}.get(algorithm, 0)
        return (128, 192, 256, 0)[self.cr >> 8 & 3]

    @property
    def key_span(self) -> range:
        """Indices of the key registers in force."""
        algorithm = self.mode[0]
        if algorithm == "DES":
            return range(2, 4)
        if algorithm == "TDES":
            return range(2, 8)
        return range(FIRST_KEY_WORD[self.cr >> 8 & 3], KEYS)

    @property
    def enabled(self) -> bool:
        """CRYPEN, as far as the accesses tell."""
        return bool(self.cr & CRYPEN)

    def chain(self) -> Block | None:
        """The chaining value in the IV registers now; None when it cannot be known."""
        if self.iv is None:
            return None
        if not self.chained:
            return tuple(self.iv)
        mode = self.mode[1]
        if mode == "CBC":
            block = self.last_in if self.decrypts else self.last_out
            if block is None or (not self.decrypts and (self.out_words or self.in_flight)):
                return None
            words = tuple(swapped(w, self.datatype) for w in block)
            return words + tuple(self.iv[len(words) :])
        if mode in ("CTR", "GCM", "CCM"):
            return (*self.iv[:3], self.iv[3] + self.chained & WORD)
        return tuple(self.iv)

    @property
    def in_flight(self) -> int:
        """Blocks fed and not read out (modes with output only)."""
        return self.blocks - self.blocks_out if self.mode[1] in ("ECB", "CBC", "CTR") else 0

    # -- control -------------------------------------------------------------------------------
    def write_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR written."""
        stamp, old = self.stamp(cycle, pc), self.cr
        self.race(self.cr_race, "CR", stamp, value, old)
        differs = (old ^ value) & CONFIGURATION
        if self.session is not None and self.session[0] != self.contexts.thread and (self.in_words or self.in_flight):
            self.emit("taken", stamp, self.session[1])
        if differs:
            self._hold_chain()
            self._follow_mode(value)
            for name, mask in FIELDS.items():
                if differs & mask:
                    self.changed[name] = stamp
        self.cr, self.cr_stamp, self.dirty = value & ~FFLUSH & WORD, stamp, True
        self.polls.over()
        if value & FFLUSH and not value & CRYPEN:
            self.in_words, self.out_words, self.early = [], [], None
            self.blocks_out = self.blocks
        if self.aead and self.aead.final and self.mode[1] != self.aead.mode:
            self.end_aead()
        if value & self.reserved:
            self.emit("reserved", stamp, value & ~FFLUSH)
        if value & CRYPEN:
            self._enabled(stamp, old)

    def _follow_mode(self, cr: int) -> None:
        self.algomode = cr >> 3 & 7 | cr >> 16 & 8
        self.mode = MODES.get(self.algomode, ("reserved", str(self.algomode)))
        self.block_words = 2 if self.mode[0] in ("DES", "TDES") else 4

    def _enabled(self, stamp: Stamp, old: int) -> None:
        mode = self.algomode
        if not old & CRYPEN or self.started is None:
            self.started = stamp
        if mode == MODE_PREPARE:
            self.prepared = stamp
            self.prepared_mask = self.cr & KEYSIZE
            self.cr &= ~CRYPEN
        elif mode in (MODE_GCM, MODE_CCM) and self.phase == PHASE_INIT:
            if self.aead is None or self._another(self.aead, stamp):
                self.end_aead()
                iv = tuple(self.iv or (0, 0, 0, 0))
                self.aead = Aead(MODES[mode][1], stamp, iv, self.key_bits, b0=self.b0, valid_from=stamp.cycle)
                self.b0 = None
                self.use(stamp)
            if mode == MODE_GCM or self.aead.b0 is not None:
                self.cr &= ~CRYPEN
        early, self.early = self.early, None
        if early is not None and self.dirty:
            self.use(early)

    def _another(self, aead: Aead, stamp: Stamp) -> bool:
        """The init phase begins another message, it does not resume this one."""
        if aead.final:
            return True
        if not aead.whole:
            before, now = aead.started.call, stamp.call
            return bool(before and now and (before.object is not now.object or before.message != now.message))
        stamps = [s for s in (*self.iv_stamps[:3], *self.key_stamps) if s is not None]
        return any(s.cycle > aead.valid_from for s in stamps)

    def end_aead(self) -> None:
        """The GCM or CCM message is over: judge it once."""
        aead, self.aead = self.aead, None
        if aead is not None:
            self.emit("aead_end", aead)

    def _hold_chain(self) -> None:
        """Before the mode changes: keep the chaining value."""
        if self.chained:
            chain = self.chain()
            self.iv = list(chain) if chain is not None else None
            self.chained = 0

    def read_cr(self, cycle: int, pc: int, value: int) -> None:
        """CR read back: what was written should be there."""
        self.cr_race.read(self.contexts.thread, self.stamp(cycle, pc))
        differs = (value ^ self.cr) & CONFIGURATION & self.declared.get(CR, CONFIGURATION)
        if differs:
            self.emit("readback", self.stamp(cycle, pc), self.cr, value)
            self.cr = self.cr & ~CONFIGURATION | value & CONFIGURATION
            self._follow_mode(self.cr)

    def call_changed(self) -> None:
        """A call began or ended."""
        self.dirty = True
        if self.aead is not None and self.aead.ended:
            self.end_aead()

    def write_dmacr(self, cycle: int, pc: int, value: int) -> None:
        """DMACR written."""
        self.dma_bits = value & 3

    # -- keys, IV, context ---------------------------------------------------------------------
    def write_key(self, index: int, cycle: int, pc: int, value: int) -> None:
        """A key register written."""
        self.key[index] = value
        self.key_stamps[index] = self.stamp(cycle, pc)
        self.loaded.add(index)
        self.prepared, self.dirty = None, True
        if self.aead and self.aead.final:
            self.end_aead()

    def write_iv(self, index: int, cycle: int, pc: int, value: int) -> None:
        """An IV register written."""
        if self.chained or self.iv is None:
            chain = self.chain()
            self.iv = list(chain) if chain is not None else [0] * IVS
            self.chained = 0
        self.iv[index] = value
        self.iv_stamps[index] = self.stamp(cycle, pc)
        self.dirty = True
        if index < 3 and self.aead and self.aead.final:
            self.end_aead()

    def write_context(self, cycle: int, pc: int, value: int) -> None:
        """A context-swap register written: a GCM or CCM message is continued."""
        if self.restoring:
            return
        self.dirty = self.restoring = True
        stamp = self.stamp(cycle, pc)
        call = stamp.call
        known = self.parked.pop((call.object.serial, call.object.message), None) if call else None
        if known is None:
            known = Aead(self.mode[1], stamp, tuple(self.iv or (0, 0, 0, 0)), self.key_bits, whole=False)
        self.aead = known

    def read_context(self, cycle: int, pc: int, value: int) -> None:
        """A context-swap register read: the message may be continued later."""
        aead = self.aead
        if aead is not None and aead.started.call is not None:
            if len(self.parked) > PARKED_MOST:
                self.parked.pop(next(iter(self.parked)))
            target = aead.started.call.object
            self.parked[target.serial, aead.started.call.message] = aead

    # -- data ----------------------------------------------------------------------------------
    def write_din(self, cycle: int, pc: int, value: int) -> None:
        """A word of data."""
        if self.dirty:
            if self.cr & CRYPEN:
                self.use(self.stamp(cycle, pc))
            elif self.early is None:
                self.early = self.stamp(cycle, pc)
        words = self.in_words
        words.append(value)
        if len(words) == self.block_words:
            self._block(cycle, pc, tuple(words))
            words.clear()

    def _block(self, cycle: int, pc: int, block: Block) -> None:
        self.last_in = block
        self.blocks += 1
        self.polls.value = -1
        mode = self.algomode
        if mode in (4, 0, 2):
            return
        if mode in (MODE_GCM, MODE_CCM):
            self._aead_block(cycle, pc, block)
            return
        self.chained += 1
        if mode == MODE_CTR:
            if self.aead is not None and self._is_excursion(self.aead, self.stamp(cycle, pc)):
                self.aead.excursion_blocks += 1
                self.aead.last_payload = tuple(swapped(w, self.datatype) for w in block)
            elif self.iv is not None and self.iv[3] + self.chained == WORD + 2:
                self.emit("wrap", self.stamp(cycle, pc))

    def _is_excursion(self, aead: Aead, stamp: Stamp) -> bool:
        """A block in CTR mode belongs to the GCM or CCM message: by its call; without calls by its nonce."""
        if stamp.call is not None and aead.started.call is not None:
            return stamp.call.related(aead.started.call)
        return self.iv is None or tuple(self.iv[:3]) == aead.iv[:3]

    def _aead_block(self, cycle: int, pc: int, block: Block) -> None:
        aead, phase, datatype = self.aead, self.phase, self.datatype
        plain = tuple(swapped(w, datatype) for w in block)
        if phase in (PHASE_INIT, PHASE_HEADER):
            self.blocks_out += 1  # nothing comes out of these
        if phase == PHASE_INIT:
            special = plain if not self.has_npblb else block
            if aead is None:
                self.b0 = special
            elif aead.b0 is None:
                aead.b0 = special
                self.cr &= ~CRYPEN
            return
        if aead is None:
            return
        aead.last = self.stamp(cycle, pc)
        if phase == PHASE_HEADER and aead.excursion_blocks:
            return  # CCM: the masked block is fed to the MAC again in the header phase
        if phase == PHASE_HEADER:
            aead.header_blocks += 1
            if len(aead.header) < KEPT_BLOCKS:
                aead.header.append(plain)
        elif phase == PHASE_PAYLOAD:
            aead.payload_blocks += 1
            aead.last_payload, aead.decrypts = plain, self.decrypts
            aead.npblb = self.cr >> 20 & 15 if self.has_npblb else 0
            self.chained += 1
        else:
            aead.final.append(plain if not self.has_npblb else block)
            aead.final_raw.append(block)
            aead.final_stamp = aead.last

    def dma_in(self, stamp: Stamp, words: int) -> None:
        """A DMA stream was started that moves so many words to DIN."""
        self.use(stamp)
        count = words // self.block_words
        self.blocks += count
        self.last_in = self.last_out = None
        self.polls.over()
        aead = self.aead
        if self.mode[1] in ("CBC", "CTR"):
            self.chained += count
        if aead is not None and self.mode[1] in ("GCM", "CCM"):
            aead.by_dma = True
            if self.phase == PHASE_HEADER:
                aead.header_blocks += count
                self.blocks_out += count
            elif self.phase == PHASE_PAYLOAD:
                aead.payload_blocks += count
                aead.decrypts = self.decrypts

    def dma_out(self, stamp: Stamp, words: int) -> None:
        """A DMA stream was started that moves so many words from DOUT."""
        self.blocks_out += words // self.block_words
        self.last_out = None

    def use(self, stamp: Stamp) -> None:
        """The first word of data under the present key, IV, mode and call."""
        if self.restoring and self.aead is not None:
            self.aead.valid_from = stamp.cycle
        self.dirty = self.restoring = False
        self.fed_cr = self.cr
        self.verdict = None
        self.used(stamp)
        self.emit("use", stamp)
        self.loaded.clear()

    def read_dout(self, cycle: int, pc: int, value: int) -> None:
        """A word of result."""
        words = self.out_words
        words.append(value)
        if len(words) == self.block_words:
            self.last_out = tuple(words)
            if self.phase != PHASE_FINAL or self.mode[1] not in ("GCM", "CCM"):
                self.last_text = self.last_out
            words.clear()
            self.blocks_out += 1
            self.polls.value = -1

    # -- status --------------------------------------------------------------------------------
    def read_sr(self, cycle: int, pc: int, value: int) -> None:
        """Status read."""
        self.sr = value
        if self.polls.read(cycle, value) > self.patience:
            self.emit("wait", self.stamp(cycle, pc), self.polls)

    def read_risr(self, cycle: int, pc: int, value: int) -> None:
        """Interrupt status read: a wait on it counts too."""
        if self.polls.read(cycle, 1 << 8 | value) > self.patience:
            self.emit("wait", self.stamp(cycle, pc), self.polls)
