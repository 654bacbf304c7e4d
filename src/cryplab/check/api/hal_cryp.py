"""CRYP through the vendor's HAL: ciphers, GCM and CCM, of both interfaces.

The older interface has a function for each algorithm and takes bytes; a call after the first one on a handle goes on
with the message. The later one has `HAL_CRYP_Encrypt` and `HAL_CRYP_Decrypt`, takes words, and goes on when the
handle says that key and IV are loaded once only. No release hands an IV back: where a call cannot go on because
another handle has used the block, the caller gives the next IV itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cryplab.check.api import Argument, Buffer, Call, Chain, Context, Deed, Plan, Store
from cryplab.check.api.hal_handle import (
    BASES,
    DATATYPE_8B,
    TIMEOUT_MS,
    Form,
    State,
    Structs,
    deeds,
    freed,
    init,
    state_of,
    take_block,
    words,
)  # fmt: skip
from cryplab.check.api.mbedtls import text_buffers
from cryplab.check.script import Place, Step
from cryplab.observe.api.hal import CRYP
from cryplab.symbols import Symbols

__all__ = ["ALGORITHMS", "Cryp"]

CONFIG = "CRYP_ConfigTypeDef"
ALGORITHMS = {
    "TDES-ECB": 0x00, "TDES-CBC": 0x08, "DES-ECB": 0x10, "DES-CBC": 0x18, "AES-ECB": 0x20, "AES-CBC": 0x28,
    "AES-CTR": 0x30, "AES-GCM": 0x8_0000, "AES-CCM": 0x8_0008,
}  # fmt: skip
"CR.ALGOMODE (facts: RM0090, CRYP), the values of `Init.Algorithm`."
KEY_SIZES = {16: 0 << 8, 24: 1 << 8, 32: 2 << 8}
"CR.KEYSIZE, AES only."
NAMES = {"AES": "AES", "DES": "DES", "DES3": "TDES", "GCM": "AES-GCM", "CCM": "AES-CCM"}
ONCE, BYTES = 1, 1
"CRYP_KEYIVCONFIG_ONCE; CRYP_DATAWIDTHUNIT_BYTE and CRYP_HEADERWIDTHUNIT_BYTE"
BLOCK, TAG, WORD = 16, 16, 4
GCM_IV = 12
SCRATCH = 21
"Bytes of `pScratch` beyond those of the header."
MOST_BYTES = 0xFFFF
SHORT_AAD = 0xFF00


def prefix(size: int) -> bytes:
    """What CCM puts before additional data (SP 800-38C, A.2.2)."""
    return size.to_bytes(2, "big") if size < SHORT_AAD else b"\xff\xfe" + size.to_bytes(4, "big")


def b0(nonce: bytes, aad: int, text: int, tag: int) -> bytes:
    """CCM's first block (SP 800-38C, A.2.1)."""
    flags = (0x40 if aad else 0) | (tag - 2) // 2 << 3 | 14 - len(nonce)
    return bytes((flags,)) + nonce + text.to_bytes(15 - len(nonce), "big")


class Cryp:
    """Plans for steps on CRYP handles.

    Args:
        structs: as the firmware has them.
        form: blocking, by interrupt or by DMA.
        linked: functions that can be called.
    """

    def __init__(self, structs: Structs, form: Form, linked: Symbols) -> None:
        self.structs, self.form, self.linked = structs, form, linked
        self.later = structs.has(CRYP, "Init.Algorithm")
        self.keeps = self.later and structs.has(CRYP, "Init.KeyIVConfigSkip")

    # -- names ---------------------------------------------------------------------------------
    def function(self, algorithm: str, encrypt: bool) -> str:
        """What does `AES-CBC`."""
        word = "Encrypt" if encrypt else "Decrypt"
        if self.later:
            return f"HAL_CRYP_{word}{self.form.end}"
        extended = "Ex" if algorithm in ("AES-GCM", "AES-CCM") else ""
        return f"HAL_CRYP{extended}_{algorithm.replace('-', '')}_{word}{self.form.end}"

    def last(self, algorithm: str) -> str:
        """What gives the tag."""
        return f"HAL_CRYPEx_{algorithm.replace('-', '')}_{'GenerateAuthTAG' if self.later else 'Finish'}"

    def needs(self, kind: str, what: str) -> tuple[str, ...] | None:
        """See `Api.needs`; `kind` is `AES`, `AES-CBC`, `GCM`."""
        name, _, mode = kind.partition("-")
        if not self.structs.size(CRYP) or (self.form.end and not self.structs.has(CRYP, "State")):
            return None
        if what == "life":
            return ("HAL_CRYP_Init", "HAL_CRYP_DeInit")
        if what == "any length":
            return None
        if name in ("GCM", "CCM"):
            return self._aead_needs(NAMES[name], what)
        if mode:
            algorithm = f"{NAMES[name]}-{mode}"
            if algorithm not in ALGORITHMS:
                return None
            return (*(self.function(algorithm, way) for way in (True, False)), *self._handler("HAL_CRYP_IRQHandler"))
        return ("HAL_CRYP_Init",)

    def _handler(self, name: str) -> tuple[str, ...]:
        """What the firmware's interrupt handler has to call."""
        return (name,) if self.form.end == "_IT" else ()

    def _aead_needs(self, algorithm: str, what: str) -> tuple[str, ...] | None:
        if what.startswith("starts"):
            able = algorithm == "AES-GCM" and (self.keeps or not self.later)
            return (*(self.function(algorithm, way) for way in (True, False)), self.last(algorithm)) if able else None
        calls = {"seal": (self.function(algorithm, True),), "unseal": (self.function(algorithm, False),)}.get(what, ())
        handler = "HAL_CRYP_IRQHandler" if self.later else "HAL_CRYPEx_GCMCCM_IRQHandler"
        return ("HAL_CRYP_Init", self.last(algorithm), *calls, *self._handler(handler))

    # -- steps ---------------------------------------------------------------------------------
    def plan(self, step: Step, chain: Chain, chains: Mapping[int, Chain]) -> Plan:
        """See `Api.plan`."""
        made = self._plan(step, chain, chains)
        at_edge = next((b for b in made.buffers if b.name == (made.edge or step.place.edge) and not b.over), None)
        if at_edge is not None and len(at_edge.data) % WORD and self._by_words:
            return Plan(unsupported=self._words_only)
        return made

    @property
    def _by_words(self) -> bool:
        return self.later or self.form.end == "_DMA"

    @property
    def _words_only(self) -> str:
        return "DMA moves whole words" if self.form.end == "_DMA" else "the HAL takes pointers to words"

    def _plan(self, step: Step, chain: Chain, chains: Mapping[int, Chain]) -> Plan:
        state = state_of(chain, "CRYP")
        if step.does == "open":
            chain.own = State("CRYP")
            return Plan(clear=(step.context,))
        if step.does == "free":
            return freed("CRYP", step.context, state, chains)
        if step.does == "setkey":
            chain.key, state.place, state.running, state.rekeyed = step.key, step.place, "", True
            return Plan()
        if step.does == "crypt":
            return self._crypt(step, chain, state, chains)
        if step.does in ("seal", "unseal"):
            return self._aead(step, chain, state, chains)
        return self._gcm_part(step, chain, state, chains)

    def _unfit(self, step: Step, key: Place, length: int, unit: int) -> str:
        """Why the interface takes no such buffers, or an empty string."""
        if length % unit:
            return f"the HAL takes whole blocks of {unit} bytes here"
        if length > MOST_BYTES:
            return "a size has 16 bits"
        if not length and self.form.end:
            return "nothing to transfer"
        place = step.place
        if place.output_at:
            return "the HAL promises nothing for buffers that overlap, but for those at one place"
        offsets = [place.input, place.output, place.output_at or 0]
        offsets += [key.key, place.iv, place.aad, place.tag] if self.later else []
        return self._words_only if any(offset % WORD for offset in offsets) and self._by_words else ""

    # -- handles -------------------------------------------------------------------------------
    def _configured(
        self, step: Step, state: State, members: Mapping[str, Argument], *, anew: bool = False, parts: bool = True
    ) -> tuple[tuple[Deed, ...], tuple[Buffer, ...], tuple[int, ...]]:
        """Deeds that give a handle its parameters, buffers for them, contexts to be zeroed first.

        `anew`: whatever was; `parts`: the first message of a handle or a key may come in several calls.
        """
        handle = Context(step.context)
        anew = anew or not state.ready or (self.form.end == "_DMA" and not state.last)
        named = {"Init.DataType": DATATYPE_8B["CRYP"], "Init.DataWidthUnit": BYTES, **members}
        if self.keeps:
            state.once, state.rekeyed = parts and (anew or state.rekeyed), False
            named["Init.KeyIVConfigSkip"] = ONCE if state.once else 0
        state.ready = True
        if anew or not self.later or "HAL_CRYP_SetConfig" not in self.linked or CONFIG not in self.structs.layouts:
            store = self.structs.store(handle, CRYP, {"Instance": BASES["CRYP"], **named})
            return (store, init("HAL_CRYP_Init", handle)), (), (step.context,) if anew else ()
        short = {path.removeprefix("Init."): value for path, value in named.items()}
        store = self.structs.store("config", CONFIG, short)
        config = Buffer("config", bytes(self.structs.size(CONFIG)), "inout")
        return (store, Call("HAL_CRYP_SetConfig", (handle, "config"))), (config,), ()

    def _key(self, chain: Chain, state: State) -> tuple[Buffer, dict[str, Argument]]:
        key = chain.key
        if chain.kind == "DES3" and len(key) == BLOCK:
            key += key[:8]
        size = KEY_SIZES.get(len(key), 0) if not chain.kind.startswith("DES") else 0
        data = words(key) if self.later else key
        return Buffer("key", data, offset=state.place.key), {"Init.pKey": "key", "Init.KeySize": size}

    def _timeout(self) -> tuple[int, ...]:
        return () if self.form.end else (TIMEOUT_MS,)

    def _run(self, step: Step, algorithm: str, encrypt: bool, length: int) -> tuple[Deed, ...]:
        """The call, and the wait for its end."""
        handle = Context(step.context)
        call = Call(self.function(algorithm, encrypt), (handle, "input", length, "output", *self._timeout()))
        return (call, self.structs.wait(handle, CRYP, length)) if self.form.end else (call,)

    # -- ECB, CBC, CTR -------------------------------------------------------------------------
    def _crypt(self, step: Step, chain: Chain, state: State, chains: Mapping[int, Chain]) -> Plan:
        algorithm = f"{NAMES[chain.kind]}-{step.kind}"
        unit = BLOCK if chain.kind == "AES" else BLOCK // 2
        if why := self._unfit(step, state.place, len(step.data), unit) or occupied(chains, state):
            return Plan(unsupported=why)
        name = f"{algorithm} {step.encrypt}"
        goes_on = step.iv is None and step.kind != "ECB" and state.running == name
        iv = chain.iv if step.iv is None else step.iv
        texts, results = [*text_buffers(step.data, step.place)], ["output"]
        chain.iv = iv
        if step.kind == "CBC" and step.data and step.encrypt:
            texts.append(Buffer("iv", bytes(unit), "out", over="output", shift=len(step.data) - unit))
            results.append("iv")
        elif step.kind == "CBC" and step.data:
            chain.iv = step.data[-unit:]
        elif step.kind == "CTR":
            if int.from_bytes(iv[-WORD:], "big") + len(step.data) // unit > 1 << 8 * WORD:
                return Plan(unsupported="the block counts 32 bits (reference manual, CTR)")
            chain.iv = (int.from_bytes(iv, "big") + len(step.data) // unit).to_bytes(17, "big")[-BLOCK:]
        key, members = self._key(chain, state)
        buffers = [key]
        if step.kind != "ECB":
            state.iv = state.iv if goes_on else iv
            buffers.append(Buffer("vector", words(state.iv) if self.later else state.iv, offset=step.place.iv))
            members["Init.pInitVect"] = "vector"
        if goes_on:
            take_block("CRYP", chains, state)
            made = deeds(self._pointers(step, members), self._run(step, algorithm, step.encrypt, len(step.data)))
            return self._planned(made, [*buffers, *texts], results)
        members["Init.Algorithm"] = ALGORITHMS[algorithm]
        configured, more, clear = self._configured(step, state, members)
        take_block("CRYP", chains, state)
        state.running = name if step.kind != "ECB" and (not self.later or state.once) else ""
        made = deeds(configured, self._run(step, algorithm, step.encrypt, len(step.data)))
        edge = {"iv": "vector"}.get(step.place.edge, step.place.edge) or state.place.edge
        return replace(self._planned(made, [*buffers, *more, *texts], results), clear=clear, edge=edge)

    def _pointers(self, step: Step, members: Mapping[str, Argument]) -> Store:
        """Memory that the handle points to is still there when a message goes on, though here it has moved."""
        pointers = {path: value for path, value in members.items() if isinstance(value, str)}
        return self.structs.store(Context(step.context), CRYP, pointers)

    def _planned(self, made: tuple[Deed, ...], buffers: list[Buffer], results: list[str]) -> Plan:
        return Plan(made, tuple(buffers), tuple(results), unfinished=self.form.unfinished)

    # -- GCM, CCM ------------------------------------------------------------------------------
    def _message(
        self, step: Step, chain: Chain, iv: bytes, aad: bytes, place: Place, text: int, tag: int
    ) -> tuple[list[Buffer], dict[str, Argument], str]:
        """Buffers and members of a message, or why there can be none."""
        kind = chain.kind
        if kind == "GCM" and len(iv) != GCM_IV:
            return [], {}, "the HAL takes a counter block, which is the IV of 12 bytes and a number"
        vector = iv + (2).to_bytes(4, "big") if kind == "GCM" else iv
        if not self.later:
            buffers = [Buffer("vector", vector, offset=place.iv), Buffer("aad", aad, offset=place.aad)]
            members: dict[str, Argument] = {
                "Init.pInitVect": "vector",
                "Init.Header": "aad",
                "Init.HeaderSize": len(aad),
            }
            if kind == "CCM":
                buffers.append(Buffer("scratch", bytes(len(aad) + SCRATCH), "out"))
                members |= {"Init.IVSize": len(iv), "Init.TagSize": tag, "Init.pScratch": "scratch"}
            return buffers, members, ""
        header = (prefix(len(aad)) if kind == "CCM" and aad else b"") + aad
        in_bytes = self.structs.has(CRYP, "Init.HeaderWidthUnit")
        if not in_bytes and len(header) % 4:
            return [], {}, "this release counts a header in words"
        size = len(header) if in_bytes else len(header) // 4
        members = {"Init.Header": "aad", "Init.HeaderSize": size, "Init.HeaderWidthUnit": BYTES}
        if kind == "GCM":
            vectors = Buffer("vector", words(vector), offset=place.iv)
            members["Init.pInitVect"] = "vector"
        else:
            vectors = Buffer("vector", words(b0(iv, len(aad), text, tag)), offset=place.iv)
            members["Init.B0"] = "vector"
        return [vectors, Buffer("aad", header, offset=place.aad)], members, ""

    def _whole_blocks(self) -> int:
        """The older interface documents whole blocks only."""
        return 1 if self.later else BLOCK

    def _tag(self, step: Step, algorithm: str, total: int, name: str) -> Call:
        size = (total,) if not self.later and algorithm == "AES-GCM" else ()
        return Call(self.last(algorithm), (Context(step.context), *size, name, TIMEOUT_MS))

    def _aead(self, step: Step, chain: Chain, state: State, chains: Mapping[int, Chain]) -> Plan:
        algorithm, seals, length = NAMES[chain.kind], step.does == "seal", len(step.data)
        if why := self._unfit(step, state.place, length, self._whole_blocks()) or occupied(chains, state):
            return Plan(unsupported=why)
        tag_bytes = step.length if seals else len(step.tag)
        assert step.iv is not None
        about, members, why = self._message(step, chain, step.iv, step.aad, step.place, length, tag_bytes)
        if why:
            return Plan(unsupported=why)
        key, keyed = self._key(chain, state)
        members |= {**keyed, "Init.Algorithm": ALGORITHMS[algorithm]}
        configured, more, clear = self._configured(step, state, members, parts=False)
        take_block("CRYP", chains, state)
        state.running = ""
        tags = tag_buffers(tag_bytes if chain.kind == "CCM" and not self.later else TAG, tag_bytes, step.place.tag)
        made = deeds(
            configured, self._run(step, algorithm, seals, length), self._tag(step, algorithm, length, tags[0].name)
        )
        edge = {"iv": "vector"}.get(step.place.edge, step.place.edge) or state.place.edge
        plan = Plan(
            made, (key, *about, *more, *text_buffers(step.data, step.place), *tags), ("output", "tag"), clear=clear,
            edge=edge, unfinished=self.form.unfinished,
        )  # fmt: skip
        return plan if seals else replace(plan, results=("output",), compares=(("tag", step.tag),))

    def _gcm_part(self, step: Step, chain: Chain, state: State, chains: Mapping[int, Chain]) -> Plan:
        """A message in parts; the first one configures the handle, also when it is empty."""
        if step.does == "starts":
            assert step.iv is not None
            if why := occupied(chains, state):
                return Plan(unsupported=why)
            state.running, state.fed = f"starts {step.encrypt}", 0
            state.iv, state.aad, state.aad_place = step.iv, step.aad, step.place
            return Plan()
        length = len(step.data)
        unfit = self._unfit(step, state.place, length, self._whole_blocks()) if length else ""
        if why := unfit or occupied(chains, state):
            return Plan(unsupported=why)
        if step.does == "update" and not length:
            return Plan()
        if not state.running:
            return Plan(unsupported="another handle has used the block since the message began")
        encrypt = state.running.endswith("True")
        first = state.running.startswith("starts")
        buffers, members, why = self._message(step, chain, state.iv, state.aad, state.aad_place, 0, TAG)
        if why or (first and not length and self.form.end):
            return Plan(unsupported=why or "nothing to transfer")
        key, keyed = self._key(chain, state)
        members |= {**keyed, "Init.Algorithm": ALGORITHMS["AES-GCM"]}
        made: tuple[Deed, ...] = (self._pointers(step, members),)
        clear: tuple[int, ...] = ()
        buffers.append(key)
        if first:
            made, more, clear = self._configured(step, state, members, anew=True)
            buffers += more
        take_block("CRYP", chains, state)
        state.running, state.fed = f"GCM {encrypt}", state.fed + length
        if step.does == "update" or first:
            made = deeds(made, self._run(step, "AES-GCM", encrypt, length))
            buffers += text_buffers(step.data, step.place)
        results = ("output",)
        if step.does == "finish":
            tags = tag_buffers(TAG, step.length, step.place.tag)
            made = deeds(made, self._tag(step, "AES-GCM", state.fed, tags[0].name))
            buffers += tags
            results, state.running = ("tag",), ""
        return Plan(made, tuple(buffers), results, clear=clear, edge=state.place.edge, unfinished=self.form.unfinished)


def occupied(chains: Mapping[int, Chain], own: State) -> str:
    """Why the handle cannot use the block now, or an empty string: a GCM message leaves it enabled, in a phase."""
    others = [chain.own for chain in chains.values() if isinstance(chain.own, State) and chain.own is not own]
    if any(other.block == "CRYP" and other.running.startswith("GCM") for other in others):
        return "a GCM message of another handle is in the block, and the HAL has no way to set it aside"
    return ""


def tag_buffers(stored: int, wanted: int, offset: int) -> list[Buffer]:
    """Room for a tag as the function stores it, and the bytes of it that the caller takes."""
    if stored == wanted:
        return [Buffer("tag", bytes(stored), "out", offset)]
    return [Buffer("whole_tag", bytes(stored), "out", offset), Buffer("tag", bytes(wanted), "out", over="whole_tag")]
