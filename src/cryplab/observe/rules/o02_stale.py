"""O2: a field that an earlier operation left changes this one."""

from __future__ import annotations

from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import HashShadow, Stamp
from cryplab.observe.shadow.hash import ALGO, ALGO_BITS, DIGEST_WORDS, HMAC_PHASES, Message

__all__ = ["StaleField"]


class StaleField(Rule):
    """ALGO, MODE, NBLW, MDMAT and the state itself; fields of CRYP.CR are compared with the call in O19's file."""

    id = "O2"

    def hash_begin(self, shadow: HashShadow, stamp: Stamp) -> None:
        """INIT, and data after it: the algorithm that the function is named for."""
        call, message = stamp.call, shadow.message
        if call is None or message is None:
            return
        wanted = call.function.algorithm
        if wanted not in DIGEST_WORDS:
            return
        if wanted == "SHA-256" and "variant" in call.arguments:
            wanted = "SHA-224" if call.get("variant") else "SHA-256"
        right = {wanted} if "variant" in call.arguments or wanted != "SHA-256" else {"SHA-224", "SHA-256"}
        if message.algorithm not in right:
            self._wrong_algorithm(shadow, stamp, message, wanted)
        if message.hmac:
            self._field(
                shadow, stamp, "MODE", f"{call.function.name} is a plain hash, and INIT samples MODE = 1 (HMAC)"
            )

    def _wrong_algorithm(self, shadow: HashShadow, stamp: Stamp, message: Message, wanted: str) -> None:
        surplus = ALGO_BITS[message.algorithm] & ~ALGO_BITS[wanted]
        stale = bool(surplus & shadow.algo_before) or shadow.written_in.get("ALGO", 0) < shadow.operation
        assert stamp.call is not None
        self.found(
            "stale-config-carryover" if stale else "wrong-register-value",
            shadow,
            stamp,
            f"{message.algorithm} runs where {wanted} was asked for",
            f"{stamp.call.function.name} starts a message, and {shadow.name}.CR.ALGO selects {message.algorithm}"
            + (": a bit of it was left by an earlier operation." if stale else "."),
            registers={
                f"{shadow.name}.CR": f"{shadow.cr:#010x}",
                f"{shadow.name}.CR & ALGO": f"{shadow.cr & ALGO:#010x}",
            },
            earlier=(f"{shadow.name}.CR.ALGO was changed", shadow.changed["ALGO"])
            if "ALGO" in shadow.changed
            else None,
            rule="" if stale else "O19",
        )

    def _field(self, shadow: HashShadow, stamp: Stamp, name: str, text: str) -> None:
        stale = shadow.written_in.get(name, 0) < shadow.operation
        self.found(
            "stale-config-carryover" if stale else "wrong-register-value",
            shadow,
            stamp,
            f"{name} does not fit this operation",
            text + (": an earlier operation left it." if stale else "."),
            registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
            earlier=(f"{shadow.name}.CR.{name} was changed", shadow.changed[name]) if name in shadow.changed else None,
            rule="" if stale else "O19",
        )

    def hash_use(self, shadow: HashShadow, stamp: Stamp) -> None:
        """Data with no INIT since the last digest."""
        message = shadow.message
        if message is None:
            return
        call, owner = stamp.call, message.owner
        same = call is not None and owner is not None and owner.object is call.object
        older = same and call is not None and call.object.address and message.number != call.object.message
        lost = call is not None and not same and call.continues  # its state is gone: O1
        if message.finished and not (same and not older) and not lost:
            self._no_init(shadow, stamp, message, "after DCAL has ended the last message, and no INIT came since")
        elif older and not message.finished:
            self._no_init(shadow, stamp, message, "of an earlier message of the same context, and no INIT came since")

    def _no_init(self, shadow: HashShadow, stamp: Stamp, message: Message, when: str) -> None:
        self.found(
            "stale-config-carryover",
            shadow,
            stamp,
            "a new message goes on where the last one stopped",
            f"{shadow.name}.DIN is written for a new message while the block holds the state {when}.",
            registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
            earlier=(f"{shadow.name}.CR.INIT was last written", message.started),
        )

    def hash_calculate(self, shadow: HashShadow, stamp: Stamp, message: Message, words: int, nblw: int) -> None:
        """DCAL: NBLW, MDMAT."""
        written = shadow.nblw_stamp
        if nblw and written is not None and not (shadow.nblw_fresh or message.restored):
            self._stale_nblw(shadow, stamp, message, nblw, written)
        for name, mask in (("MDMAT", 1 << 13), ("DMAE", 1 << 3)):
            if shadow.cr & mask and not message.dma and shadow.written_in.get(name, 0) < shadow.operation:
                self._field(shadow, stamp, name, f"DCAL ends a message that the CPU fed while {name} = 1")

    def _stale_nblw(self, shadow: HashShadow, stamp: Stamp, message: Message, nblw: int, written: Stamp) -> None:
        if written.cycle >= message.started.cycle:
            return
        message.reported.add("NBLW")
        self.found(
            "stale-config-carryover",
            shadow,
            stamp,
            "NBLW is that of an earlier message",
            f"DCAL pads with NBLW = {nblw}, which was written for an earlier message and not since; a write with "
            "DCAL = 1 keeps NBLW, and INIT does not clear it.",
            registers={f"{shadow.name}.STR": f"{shadow.str:#010x}"},
            earlier=(f"{shadow.name}.STR.NBLW was written", written),
        )

    def hash_digest(self, shadow: HashShadow, stamp: Stamp, message: Message) -> None:
        """A digest is read in HMAC mode before its three parts were fed."""
        if message.hmac and len(message.phases) < HMAC_PHASES and not message.restored:
            self._field(
                shadow, stamp, "MODE",
                f"HR is read after {len(message.phases)} of the three parts that MODE = 1 (HMAC) wants",
            )  # fmt: skip

    def hash_digest_end(self, shadow: HashShadow, message: Message) -> None:
        """The digest was read: as many words as the algorithm has?"""
        call = message.owner
        if message.digest is None or (call is not None and call.function.algorithm in DIGEST_WORDS):
            return  # compared with the call already
        count, whole = message.hr_read.bit_length(), DIGEST_WORDS[message.algorithm]
        if count < whole and count in DIGEST_WORDS.values():
            shorter = next(name for name, words in DIGEST_WORDS.items() if words == count)
            self.found(
                "stale-config-carryover",
                shadow,
                message.digest,
                f"{count} words read of a digest of {whole}",
                f"{shadow.name} computed {message.algorithm}, and only the {count} words of a {shorter} digest "
                "were read: "
                "CR.ALGO probably keeps a bit of an earlier operation.",
                registers={f"{shadow.name}.CR & ALGO": f"{ALGO_BITS[message.algorithm]:#010x}"},
                earlier=(f"{shadow.name}.CR.ALGO was changed", shadow.changed["ALGO"])
                if "ALGO" in shadow.changed
                else None,
            )
