"""O9 and O10: the chaining value from one call to the next, and counters."""

from __future__ import annotations

from cryplab.observe.chaining import next_value
from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule, register_words
from cryplab.observe.shadow import CrypShadow, Stamp
from cryplab.observe.shadow.base import to_words
from cryplab.observe.shadow.cryp import IV_NAMES

__all__ = ["Chaining", "CounterReuse"]


class Chaining(Rule):
    """IVs that calls are given and hand back."""

    id = "O9"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """The first data of a call: does the block start from the call's IV?"""
        call = stamp.call
        mode = shadow.mode[1]
        if call is None or mode not in ("CBC", "CTR") or call.function.mode != mode or call.marks.get("iv"):
            return
        call.marks["iv"] = True
        chain, wanted = shadow.chain(), to_words(call.iv_before)
        if chain is None or not wanted or chain[: len(wanted)] == wanted:
            return
        writer = shadow.iv_stamps[0]
        turned = tuple(int.from_bytes(w.to_bytes(4, "little"), "big") for w in wanted)
        swapped = chain[: len(wanted)] in (turned, wanted[::-1])
        self.found(
            "wrong-data-swap" if swapped else "iv-not-updated-for-chaining",
            shadow,
            stamp,
            "the call starts from another IV than it was given",
            f"{call} {self._source(call)} the IV {call.iv_before.hex()}, and {shadow.name} goes on from another "
            "chaining value" + (": the same in another byte or word order." if swapped else "."),
            registers=register_words(shadow, list(IV_NAMES), list(chain)),
            earlier=(f"{shadow.name}.IV0LR was written", writer) if writer else None,
        )

    @staticmethod
    def _source(call: Call) -> str:
        return "was given" if "iv" in call.arguments else "should go on from"

    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """What the call hands back as the next IV."""
        mode, size = call.function.mode, len(call.iv_before)
        if mode not in ("CBC", "CTR") or not size or result or "iv" not in call.arguments:
            return
        shadow = next((s for s in self.observer.shadows if isinstance(s, CrypShadow)), None)
        if shadow is None or (shadow.name not in call.blocks and not call.object.key):
            return
        used, length = shadow.name in call.blocks, call.get("length")
        if not used and (length or not call.object.marked):
            return
        call.object.marked = call.object.marked or used
        wanted = next_value(call, call.marks.get("offset"), self.observer.read_memory)
        now = self.observer.read_memory(call.get("iv"), size)
        if wanted is None or now is None or now == wanted:
            return
        turned = b"".join(wanted[i : i + 4][::-1] for i in range(0, size, 4))
        self.found(
            "wrong-data-swap" if now == turned else "zero-length" if not length else
            "ctr-counter" if mode == "CTR" else "iv-not-updated-for-chaining",
            shadow,
            stamp,
            "the IV handed back is not the chaining value",
            f"After {call} the IV in memory is {now.hex()}; the next call needs {wanted.hex()}"
            + (", the same bytes in another order." if now == turned else
               ", what it was before." if not length else self._explain(call, now)),
            call=call,
        )  # fmt: skip

    @staticmethod
    def _explain(call: Call, now: bytes) -> str:
        if now == call.iv_before:
            return "; it was left as it was."
        if call.input_before[: len(now)] == now:
            return "; it is the first block of the input."
        return "."

    def call_begins(self, call: Call) -> None:
        """Remember the offset inside a key-stream block."""
        if call.function.mode == "CTR" and "off" in call.arguments:
            offset = self.observer.read_memory(call.get("off"), 4)
            call.marks["offset"] = None if offset is None else int.from_bytes(offset, "little")


class CounterReuse(Rule):
    """Counters of 32 bits, and counters used twice."""

    id = "O10"

    def cryp_wrap(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """IV1RR went past its end in CTR mode."""
        self.found(
            "ctr-counter",
            shadow,
            stamp,
            "the counter's low word wraps",
            f"IV1RR of {shadow.name} counts past 0xffffffff in CTR mode, and the block does not carry into the "
            "upper words; "
            "they were not rewritten.",
            earlier=(f"{shadow.name}.IV1RR was written", shadow.iv_stamps[3]) if shadow.iv_stamps[3] else None,
        )

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """CTR begins or goes on: has this call used the counter before?"""
        call, chain = stamp.call, shadow.chain()
        if call is None or shadow.mode[1] != "CTR" or chain is None or shadow.aead is not None:
            return
        place = ("counter", tuple(shadow.key), chain)
        before = call.marks.setdefault(place, (shadow.blocks, stamp))
        if before[0] < shadow.blocks:
            self.found(
                "ctr-counter",
                shadow,
                stamp,
                "the same counter twice in one call",
                f"{call} starts CTR again at counter {chain[3]:#010x}, which it has used for another block "
                "under the same key.",
                registers=register_words(shadow, list(IV_NAMES), list(chain)),
                earlier=("the counter was used first", before[1]),
            )
