"""The vendor's HAL for CRYP, HASH and RNG, called as its headers document it.

A context is a handle that the caller zeroes, fills in and initialises. What a handle looks like is taken from the
firmware's debug information, and tells which interface it has. Nothing is asked that the HAL does not promise:
a running digest lives in the block, so no other handle may use it before the digest is read; parts of a message
are whole words (whole blocks in the older interface), and what is left over waits in the caller's memory.

Three forms, three names: `hal` blocks, `hal-it` works by interrupt, `hal-dma` by DMA.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cryplab.check.api import Argument, Buffer, Call, Chain, Context, Deed, Inside, Plan, Put, Status, Store
from cryplab.check.api.hal_cryp import Cryp
from cryplab.check.api.hal_handle import (
    BASES,
    DATATYPE_8B,
    FORMS,
    TIMEOUT_MS,
    State,
    Structs,
    deeds,
    freed,
    init,
    state_of,
    take_block,
)  # fmt: skip
from cryplab.check.api.mbedtls import DIGEST_BYTES
from cryplab.check.script import Step
from cryplab.layout import Layout
from cryplab.observe.api.hal import CRYP, HASH, RNG
from cryplab.symbols import Symbols

__all__ = ["TYPES", "Hal"]

TYPES = (CRYP, "CRYP_ConfigTypeDef", HASH, RNG)
HASHES = {"MD5": "HASH_MD5", "SHA-1": "HASH_SHA1", "SHA-224": "HASHEx_SHA224", "SHA-256": "HASHEx_SHA256"}
STATUSES = {1: "HAL_ERROR", 2: "HAL_BUSY", 3: "HAL_TIMEOUT"}
STATUS_BITS = 0xFF
WORD_BYTES, BLOCK_BYTES = 4, 64
EMPTY = "releases differ in whether they refuse an empty message"
ANOTHER = "the running digest lives in the block, and another handle has used it since"


class Hal:
    """The adapter for one firmware.

    Args:
        symbols: of the firmware.
        layouts: structs of TYPES by name, as far as known.
        name: one of FORMS.
    """

    prepare: tuple[str, ...] = ()
    keeps_refused = frozenset({"GCM", "CCM"})
    "The caller compares the tags."

    def __init__(self, symbols: Symbols, layouts: Mapping[str, Layout], name: str = "hal") -> None:
        self.name, self.form = name, FORMS[name]
        self._symbols, self._structs = symbols, Structs(layouts)
        self._cryp = Cryp(self._structs, self.form, symbols)
        self._later_hash = self._structs.has(HASH, "pHashMsgBuffPtr")
        "The interface of 2018, which refuses empty texts and keys of an HMAC, and names parts otherwise."

    # -- what is needed ------------------------------------------------------------------------
    def entries(self) -> Collection[str]:
        """Functions that do something: the first initialisation comes before the others' in many a `main`."""
        ends = [form.end for form in FORMS.values()] if self.name == "hal" else [self.form.end]
        names = {f"HAL_CRYP_{word}{end}" for word in ("Encrypt", "Decrypt") for end in ends}
        modes = ("AESECB", "AESCBC", "AESCTR", "DESECB", "DESCBC", "TDESECB", "TDESCBC")
        names |= {f"HAL_CRYP_{mode}_{word}{end}" for mode in modes for word in ("Encrypt", "Decrypt") for end in ends}
        names |= {f"HAL_{part}_Start{end}" for part in HASHES.values() for end in ends}
        return sorted(names | {f"HAL_RNG_GenerateRandomNumber{end}" for end in ends if end != "_DMA"})

    def needs(self, kind: str) -> tuple[str, ...] | None:
        """See `Api.needs`."""
        name, _, what = kind.partition(" ")
        if name in HASHES:
            return self._hash_needs(name, what) if self._structs.size(HASH) else None
        if name == "POLL":
            able = self._structs.size(RNG) and self.form.end != "_DMA"
            return ("HAL_RNG_Init", *self._draws()) if able else None
        if name.startswith(("AES", "DES", "GCM", "CCM")):
            return self._cryp.needs(name, what)
        return None

    def _hash_needs(self, name: str, what: str) -> tuple[str, ...] | None:
        if what == "life":
            return ("HAL_HASH_Init", "HAL_HASH_DeInit")
        if what == "clone":
            return None
        extended = "Ex" if name not in ("MD5", "SHA-1") and not self._later_hash else ""
        handler = (f"HAL_HASH{extended}_IRQHandler",) if self.form.end == "_IT" else ()
        if what in ("digest", "hmac"):
            return ("HAL_HASH_Init", *self._whole_functions(name, what), *handler)
        able = self.form.end != "_DMA" and (self._later_hash or not self.form.end)
        return ("HAL_HASH_Init", self._part(name), self._last(name), *handler) if able else None

    def _draws(self) -> tuple[str, ...]:
        last = ("HAL_RNG_ReadLastRandomNumber", "HAL_RNG_IRQHandler") if self.form.end else ()
        return (f"HAL_RNG_GenerateRandomNumber{self.form.end}", *last)

    def _part(self, name: str) -> str:
        prefix, end = f"HAL_{HASHES[name]}_", self.form.end
        return next((f for f in (f"{prefix}Accmlt{end}",) if f in self._symbols), f"{prefix}Accumulate{end}")

    def _last(self, name: str) -> str:
        prefix, end = f"HAL_{HASHES[name]}_", self.form.end
        return next((f for f in (f"{prefix}Accmlt_End{end}",) if f in self._symbols), f"{prefix}Start{end}")

    def _whole_functions(self, name: str, what: str) -> tuple[str, ...]:
        prefix = HASHES[name].replace("HASH", "HMAC") if what == "hmac" else HASHES[name]
        start = f"HAL_{prefix}_Start{self.form.end}"
        return (start, f"HAL_{HASHES[name]}_Finish") if self.form.end == "_DMA" else (start,)

    def context_bytes(self, kind: str) -> int:
        """From the firmware's debug information."""
        return self._structs.size(HASH if kind in HASHES else RNG if kind == "POLL" else CRYP)

    def status(self, value: int) -> Status:
        """HAL_OK is 0."""
        return "refused" if value & STATUS_BITS else "ok"

    def error(self, value: int) -> str:
        """`1 (HAL_ERROR)`."""
        number = value & STATUS_BITS
        return f"{number} ({STATUSES[number]})" if number in STATUSES else str(number)

    # -- steps ---------------------------------------------------------------------------------
    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """See `Api.plan`."""
        if step.does in ("digest", "hmac"):
            return self._whole(step, chains)
        chain = chains.get(step.context, Chain())
        if chain.kind in HASHES:
            return self._hash(step, chain, chains)
        if chain.kind == "POLL":
            return self._random(step, chain)
        return self._cryp.plan(step, chain, chains)

    # -- digests in one call -------------------------------------------------------------------
    def _whole(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        keyed, length = step.does == "hmac", len(step.data)
        if why := self._unfit(step, keyed):
            return Plan(unsupported=why)
        take_block("HASH", chains, None)
        members: dict[str, Argument] = {"Init.DataType": DATATYPE_8B["HASH"]}
        buffers = [Buffer("handle", bytes(self._structs.size(HASH)), "inout")]
        if keyed:
            members |= {"Init.pKey": "key", "Init.KeySize": len(step.key)}
            buffers.append(Buffer("key", step.key, offset=step.place.key))
        buffers += [Buffer("input", step.data, offset=step.place.input), _digest(step, step.kind)]
        start, *finish = self._whole_functions(step.kind, step.does)
        made = deeds(
            self._structs.store("handle", HASH, members), init("HAL_HASH_Init", "handle"),
            self._started("handle", start, length), tuple(Call(f, ("handle", "output", TIMEOUT_MS)) for f in finish),
        )  # fmt: skip
        why = "" if length else EMPTY
        return Plan(made, tuple(buffers), ("output",), unfinished=self.form.unfinished, may_refuse=why)

    def _unfit(self, step: Step, keyed: bool) -> str:
        """Why there is no such call, or an empty string."""
        length = len(step.data)
        if keyed and self._later_hash and not (step.key and length):
            return "HAL_ERROR is documented by no sentence, but is what an empty text or key of an HMAC gets"
        if self.form.end and not length:
            return "nothing to transfer"
        offsets = (step.place.input, step.place.key if keyed else 0)
        at_edge = step.place.edge == "input" and length % WORD_BYTES
        if self.form.end == "_DMA" and (any(offset % WORD_BYTES for offset in offsets) or at_edge):
            return "DMA moves whole words"
        return ""

    def _started(self, handle: Context | str, function: str, length: int) -> tuple[Deed, ...]:
        """The call that takes data; its digest comes at once, by interrupt, or with a call that follows."""
        where: dict[str, tuple[Argument, ...]] = {"": ("output", TIMEOUT_MS), "_IT": ("output",), "_DMA": ()}
        call = Call(function, (handle, "input", length, *where[self.form.end]))
        return (call, self._structs.wait(handle, HASH, length)) if self.form.end else (call,)

    # -- digests in parts ----------------------------------------------------------------------
    def _hash(self, step: Step, chain: Chain, chains: Mapping[int, Chain]) -> Plan:
        state = state_of(chain, "HASH")
        if step.does == "open":
            chain.own = State("HASH")
            return Plan(clear=(step.context,))
        if step.does == "free":
            return freed("HASH", step.context, state, chains)
        if step.does == "starts":
            state.running, state.fed, state.pending = "starts", 0, b""
            return Plan()
        if state.fed and not state.running:
            return Plan(unsupported=ANOTHER)
        state.running = state.running or "starts"
        data = state.pending + step.data
        return (
            self._update(step, chain, chains, data)
            if step.does == "update"
            else self._finish(step, chain, chains, data)
        )

    def _update(self, step: Step, chain: Chain, chains: Mapping[int, Chain], data: bytes) -> Plan:
        """Whole words, or blocks, but never all: the last call must have something to add."""
        state = state_of(chain, "HASH")
        unit = WORD_BYTES if self._later_hash else BLOCK_BYTES
        size = max(0, len(data) - 1) // unit * unit
        state.pending = data[size:]
        if not size:
            return Plan()
        made, clear = self._begun(step, state, chains)
        state.fed += size
        handle = Context(step.context)
        call = Call(self._part(chain.kind), (handle, "input", size))
        wait = (self._structs.wait(handle, HASH, size),) if self.form.end else ()
        buffer = Buffer("input", data[:size], offset=step.place.input)
        return Plan(deeds(made, call, wait), (buffer,), clear=clear, unfinished=self.form.unfinished)

    def _finish(self, step: Step, chain: Chain, chains: Mapping[int, Chain], data: bytes) -> Plan:
        state = state_of(chain, "HASH")
        if self.form.end and not data:
            return Plan(unsupported="nothing to transfer")
        if self.form.end and state.fed and len(data) % WORD_BYTES:
            return Plan(unsupported="by interrupt the HAL asks for messages of whole words")
        made, clear = self._begun(step, state, chains)
        buffers = (Buffer("input", data, offset=step.place.input), _digest(step, chain.kind))
        made = deeds(made, self._started(Context(step.context), self._last(chain.kind), len(data)))
        state.running, state.fed, state.pending = "", 0, b""
        why = "" if data else EMPTY
        return Plan(made, buffers, ("output",), clear=clear, unfinished=self.form.unfinished, may_refuse=why)

    def _begun(self, step: Step, state: State, chains: Mapping[int, Chain]) -> tuple[tuple[Deed, ...], tuple[int, ...]]:
        """What comes before the first call of a message; contexts to be zeroed."""
        take_block("HASH", chains, state)
        if state.fed:
            return (), ()
        handle, anew = Context(step.context), not state.ready
        state.ready, state.running = True, "message"
        again = () if anew or self._later_hash else (Call("HAL_HASH_DeInit", (handle,)),)
        store = self._structs.store(handle, HASH, {"Init.DataType": DATATYPE_8B["HASH"]})
        return deeds(again, store, init("HAL_HASH_Init", handle)), (step.context,) if anew else ()

    # -- random numbers ------------------------------------------------------------------------
    def _random(self, step: Step, chain: Chain) -> Plan:
        if step.does == "open":
            chain.own = State("RNG")
            return Plan(clear=(step.context,))
        if step.does != "random":
            return Plan()
        if step.length % WORD_BYTES or step.place.output % WORD_BYTES:
            return Plan(unsupported="the HAL gives words of 32 bits")
        handle, state = Context(step.context), state_of(chain, "RNG")
        made: tuple[Deed, ...] = ()
        if not state.ready:
            made = (self._structs.store(handle, RNG, {"Instance": BASES["RNG"]}), init("HAL_RNG_Init", handle))
            state.ready = True
        for at in range(0, step.length, WORD_BYTES):
            made = deeds(made, self._draw(handle, at))
        output = Buffer("output", bytes(step.length), "out", step.place.output)
        return Plan(made, (output,), ("output",), unfinished=self.form.unfinished)

    def _draw(self, handle: Context, at: int) -> tuple[Deed, ...]:
        """One word."""
        draw, *last = self._draws()
        if not last:
            return (Call(draw, (handle, Inside("output", at))),)
        kept = f"word{at}"
        return (
            Call(draw, (handle,)), self._structs.wait(handle, RNG, WORD_BYTES),
            Call(last[0], (handle,), "word", kept), Store("output", "", (Put("", at, WORD_BYTES, kept),)),
        )  # fmt: skip


def _digest(step: Step, kind: str) -> Buffer:
    return Buffer("output", bytes(DIGEST_BYTES[kind]), "out", step.place.output)
