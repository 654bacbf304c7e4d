"""O19 (and O2, O1 for fields): the mode that was asked for, reserved bits, write-back."""

from __future__ import annotations

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, HashShadow, RngShadow, Shadow, Stamp
from cryplab.observe.shadow.base import from_words, swapped
from cryplab.observe.shadow.cryp import CR, FIELDS

__all__ = ["Capability"]

HARDWARE_MODES = {
    "ECB": ("ECB",), "CBC": ("CBC", "ECB"), "CTR": ("CTR", "ECB"), "GCM": ("GCM", "CTR", "ECB"),
    "CCM": ("CCM", "CTR", "CBC", "ECB"),
}  # fmt: skip
"Modes of the block with which a function of a mode can be done."
DATATYPE_NAMES = ("32-bit", "16-bit", "8-bit", "1-bit")
RESULT_BYTES = 68
WORD_BYTES = 4


class Capability(Rule):
    """CR against the call, and against what the register can hold."""

    id = "O19"

    # -- the mode that was asked for -----------------------------------------------------------
    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data begins: algorithm, mode, direction."""
        call = stamp.call
        if call is None or call.function.algorithm not in ("AES", "DES", "TDES"):
            return
        function, (algorithm, mode) = call.function, shadow.mode
        fits = {"AES": ("AES",), "DES": ("DES", "TDES"), "TDES": ("TDES",)}[function.algorithm]
        if algorithm not in fits or mode not in HARDWARE_MODES.get(function.mode, (mode,)):
            asked = f"{function.algorithm}-{function.mode}" if function.mode else function.algorithm
            self._field(shadow, stamp, "ALGOMODE", f"{call} is {asked}, and CR.ALGOMODE selects {algorithm}-{mode}")
            return
        wanted = call.encrypts
        if wanted is None and call.object.set_by is not None and function.algorithm != "AES":
            wanted = call.object.set_by.encrypts
        if function.mode == mode and mode in ("ECB", "CBC") and wanted is not None and shadow.decrypts == wanted:
            text = f"{call} {'encrypts' if wanted else 'decrypts'}, and CR.ALGODIR makes the block "
            self._field(shadow, stamp, "ALGODIR", text + ("decrypt" if wanted else "encrypt"))

    def _field(self, shadow: CrypShadow, stamp: Stamp, name: str, text: str) -> None:
        """Who gave the field its value decides which rule it is; a call that chooses the mode chooses the direction."""
        call, writer, chosen = stamp.call, shadow.changed.get(name), shadow.changed.get("ALGOMODE")
        assert call is not None
        rule, kind, why = "O19", "wrong-register-value", "."
        if name == "ALGODIR" and chosen is not None and chosen.call is not None and chosen.call.within(call):
            writer = writer if writer is not None and writer.cycle >= chosen.cycle else None
        if writer is not None and writer.call is not None:
            if not call.related(writer.call):
                rule, kind, why = "O1", "context-lost-on-interleave", f": it was set for {writer.call.object}."
            elif not (writer.call.within(call) or call.within(writer.call)):
                rule, kind, why = "O2", "stale-config-carryover", ": an earlier operation left it."
        self.found(
            kind,
            shadow,
            stamp,
            f"{name} does not fit the call",
            text + why,
            registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
            earlier=(f"{shadow.name}.CR.{name} was changed", writer) if writer else None,
            rule=rule,
        )

    # -- data order ----------------------------------------------------------------------------
    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """The last block fed, against the end of the input, under every DATATYPE.

        A driver's own function feeds what its handle says: who calls it chose order and DATATYPE together.
        """
        if not call.input_before or call.function.driver:
            return
        for shadow in self.observer.shadows:
            if shadow.name not in call.blocks:
                continue
            if isinstance(shadow, CrypShadow) and shadow.last_in and call.function.mode == shadow.fed_mode[1]:
                if call.function.mode in ("ECB", "CBC", "CTR"):
                    self._check_order(shadow, call, stamp, list(shadow.last_in), shadow.fed_datatype)
            elif isinstance(shadow, HashShadow) and call.function.algorithm and call.get("length") >= 8:
                if _partial(call, swapped(shadow.last_word, shadow.fed_datatype)):
                    continue
                self._check_order(shadow, call, stamp, [shadow.last_word], shadow.fed_datatype)

    def _check_order(self, shadow: Shadow, call: Call, stamp: Stamp, words: list[int], datatype: int) -> None:
        tail = call.input_before[-RESULT_BYTES:]
        if from_words([swapped(w, datatype) for w in words]) in tail or not any(words):
            return
        orders = range(len(DATATYPE_NAMES))
        other = next((d for d in orders if from_words([swapped(w, d) for w in words]) in tail), None)
        if other is not None:
            self.found(
                "wrong-data-swap",
                shadow,
                stamp,
                "DATATYPE does not fit the order of the data",
                f"The words fed by {call} are its input in the order for {DATATYPE_NAMES[other]} data, and "
                "DATATYPE is "
                f"{datatype} ({DATATYPE_NAMES[datatype]}).",
                call=call,
            )

    # -- reserved bits, write-back -------------------------------------------------------------
    def cryp_reserved(self, shadow: CrypShadow, stamp: Stamp, value: int) -> None:
        """CR written."""
        self._reserved(shadow, stamp, value)

    def hash_reserved(self, shadow: HashShadow, stamp: Stamp, value: int) -> None:
        """CR written."""
        self._reserved(shadow, stamp, value)

    def rng_control(self, shadow: RngShadow, stamp: Stamp, old: int, new: int) -> None:
        """CR written."""
        self._reserved(shadow, stamp, new)

    def _reserved(self, shadow: Shadow, stamp: Stamp, value: int) -> None:
        declared = shadow.declared.get(CR)
        if declared is None or not value & ~declared:
            return
        self.found(
            "wrong-register-value",
            shadow,
            stamp,
            "reserved bits written",
            f"{shadow.name}.CR is written with {value:#010x}; its bits {value & ~declared:#010x} are reserved "
            "on this part.",
        )

    def cryp_readback(self, shadow: CrypShadow, stamp: Stamp, written: int, read: int) -> None:
        """CR reads otherwise than it was written."""
        names = [name for name, mask in FIELDS.items() if (written ^ read) & mask]
        self.found(
            "feature-missing-on-chip",
            shadow,
            stamp,
            "a field does not read back as written",
            f"{shadow.name}.CR was written with {written:#010x} and reads {read:#010x}: {', '.join(names)} did "
            "not take.",
            earlier=(f"{shadow.name}.CR was written", shadow.cr_stamp) if shadow.cr_stamp else None,
        )


def _partial(call: Call, word: int) -> bool:
    """The last word fed to a hash holds the end of the input and, behind it, what happened to be there.

    By the length of the message, or, where a driver's words do not lie so, because the rest is that of the word
    before. Two bytes of each kind may be 16-bit data as well: there the length decides.
    """
    length = call.get("length")
    given = call.object.data_bytes if call.object.address else length
    fed, tail, rest = from_words([word]), call.input_before[-WORD_BYTES:], given % WORD_BYTES
    if rest and fed[:rest] == tail[-rest:]:
        return True
    odd = [n for n in (1, 2, 3) if n != 2 or length % WORD_BYTES == 2]
    return any(fed == tail[-n:] + tail[:-n] for n in odd)
