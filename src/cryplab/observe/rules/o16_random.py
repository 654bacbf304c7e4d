"""O16, O17 and O18: random words, errors of the generator, errors that functions keep to themselves."""

from __future__ import annotations

import itertools

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import DmaShadow, RngShadow, Stamp
from cryplab.observe.shadow.rng import CLOCK, RNGEN, SEED

__all__ = ["Entropy", "ErrorsReported", "RngErrors"]

POLLS_WITH_ERROR = 1000
RECOVERIES = 100
"Starts of the generator with no word between: more is no recovery."
WORD_BYTES = 4
WORDS_TO_JUDGE = 4
"So many words of four equal bytes in a row are no chance."


class Entropy(Rule):
    """Where random output comes from."""

    id = "O16"

    def rng_word(self, shadow: RngShadow, stamp: Stamp, value: int) -> None:
        """A word is taken."""
        call: Call | None = stamp.call
        while call is not None:
            call.marks.setdefault("words", []).append(value)
            call = call.caller
        if shadow.seed_error is not None:
            return  # part of a recovery, or a matter of O17
        if shadow.ready is None:
            self.found(
                "rng-not-ready-accepted", shadow, stamp, "random word taken without its ready flag",
                f"{shadow.name}.DR is read, and SR was not read with DRDY = 1 since the last word.",
                registers={f"{shadow.name}.DR": f"{value:#010x}"},
            )  # fmt: skip
        judged_by_output = stamp.call is not None and stamp.call.function.algorithm == "RNG"
        if not judged_by_output and value in (0, shadow.last_word):
            why = (
                ", the same as before: it must be refused (continuous test)."
                if value
                else ": 0 stands for an error that came between the flag and the read."
            )
            self.found(
                "rng-not-ready-accepted", shadow, stamp, "a zero or repeated random word",
                f"{shadow.name}.DR gave {value:#010x}{why}",
                registers={f"{shadow.name}.SR as last read": f"{shadow.sr:#010x}"},
            )  # fmt: skip

    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """A random function of the API returned, or one that tests what it was given by such."""
        if call.function.does == "seed":
            self._seeded(call, result, stamp)
        if call.function.algorithm != "RNG" or result or not call.output_before:
            return
        shadow = next((s for s in self.observer.shadows if isinstance(s, RngShadow)), None)
        if shadow is None:
            return
        length = self._stored(call)
        words: list[int] = call.marks.get("words", [])
        output = self.observer.read_memory(call.get("output"), length) or b""
        if length and not words:
            self.found(
                "silent-software-fallback", shadow, stamp, "random bytes that did not come from the generator",
                f"{call} returned success with {length} bytes, and {shadow.name}.DR was not read.", call=call,
            )  # fmt: skip
            return
        for start in range(0, len(output) - WORD_BYTES + 1, WORD_BYTES):
            chunk = output[start : start + WORD_BYTES]
            if chunk == call.output_before[start : start + WORD_BYTES] and not _drawn(chunk, words):
                self.found(
                    "rng-output-handling", shadow, stamp, "part of the output was not filled",
                    f"{call} returned success; bytes {start} to {start + WORD_BYTES - 1} of its {length} are "
                    "what they were before, "
                    f"{chunk.hex()}.", call=call,
                )  # fmt: skip
                return
        self._check_words(shadow, call, output, words, stamp)

    def _check_words(self, shadow: RngShadow, call: Call, output: bytes, words: list[int], stamp: Stamp) -> None:
        chunks = [output[i : i + WORD_BYTES] for i in range(0, len(output) - WORD_BYTES + 1, WORD_BYTES)]
        zero = next((c for c in chunks if not any(c) and 0 in words), None)
        repeated = next((a for a, b in itertools.pairwise(chunks) if a == b and any(a)), None)
        single = len(chunks) >= WORDS_TO_JUDGE and all(c == c[:1] * WORD_BYTES for c in chunks)
        if zero is not None:
            self._handed_out(shadow, call, stamp, "0")
        elif single:
            self.found(
                "rng-output-handling", shadow, stamp, "one byte of each random word handed out",
                f"{call} returned success; the four bytes of every word of its {len(output)} bytes are the same, "
                f"{chunks[0].hex()} {chunks[1].hex()} ...: 8 of 32 random bits.", call=call,
            )  # fmt: skip
        elif repeated is not None and call.caller is not None and call.caller.function.does == "seed":
            call.caller.marks["repeated"] = call, repeated
        elif repeated is not None:
            self._handed_out(shadow, call, stamp, f"{repeated.hex()} twice in a row")

    def _seeded(self, call: Call, result: int, stamp: Stamp) -> None:
        """What a random function gave was for this call to test: repeated words must end in an error."""
        random, word = call.marks.get("repeated", (None, b""))
        shadow = next((s for s in self.observer.shadows if isinstance(s, RngShadow)), None)
        if random is not None and shadow is not None and not result:
            self._handed_out(shadow, random, stamp, f"{word.hex()} twice in a row")

    def _handed_out(self, shadow: RngShadow, call: Call, stamp: Stamp, what: str) -> None:
        self.found(
            "rng-not-ready-accepted", shadow, stamp, "a zero or repeated random word handed out",
            f"{call} returned success with {what} in its output.", call=call,
        )  # fmt: skip

    def _stored(self, call: Call) -> int:
        """Bytes that the function says it has stored."""
        if not call.get("olen"):
            return call.get("length")
        told = self.observer.read_memory(call.get("olen"), WORD_BYTES)
        return min(int.from_bytes(told or b"", "little"), call.get("length"))


def _drawn(chunk: bytes, words: list[int]) -> bool:
    return int.from_bytes(chunk, "little") in words or int.from_bytes(chunk, "big") in words


class RngErrors(Rule):
    """What follows a seed error."""

    id = "O17"

    def rng_word(self, shadow: RngShadow, stamp: Stamp, value: int) -> None:
        """A word is taken although a seed error was seen."""
        error = shadow.seed_error
        if error is None:
            return
        step = (
            "SEIS was cleared, but RNGEN was not switched off and on" if shadow.seed_cleared else "it was not cleared"
        )
        self.found(
            "rng-error-unrecovered",
            shadow,
            stamp,
            "random word taken after a seed error",
            f"{shadow.name}.DR is read after SR showed a seed error, and {step}: the word must not be used.",
            registers={f"{shadow.name}.SR as last read": f"{shadow.sr:#010x}"},
            earlier=(f"{shadow.name}.SR showed the seed error", error),
        )

    def rng_control(self, shadow: RngShadow, stamp: Stamp, old: int, new: int) -> None:
        """CR written: started anew once more without a word in between?"""
        if new & RNGEN and not old & RNGEN and shadow.starts == RECOVERIES and shadow.sr & (SEED | CLOCK):
            self.found(
                "rng-error-unrecovered",
                shadow,
                stamp,
                "recovery without end",
                f"{shadow.name} was started {shadow.starts} times, and no word was taken in between: the error does "
                "not go away by that, and the caller is not told.",
                registers={f"{shadow.name}.SR as last read": f"{shadow.sr:#010x}"},
            )

    def rng_error(self, shadow: RngShadow, stamp: Stamp, value: int) -> None:
        """Status shows a seed error (again)."""
        error, call = shadow.seed_error, stamp.call
        if error is None:
            return
        later = call is not None and error.call is not None and call is not error.call and not call.within(error.call)
        if shadow.error_polls == POLLS_WITH_ERROR or (later and error.call is not None and not error.call.open):
            self.found(
                "rng-error-unrecovered",
                shadow,
                stamp,
                "a seed error is never recovered",
                f"{shadow.name}.SR shows a seed error for the {shadow.error_polls}th time"
                + (", in a later call," if later else "")
                + " and nobody has cleared SEIS and started the generator anew.",
                registers={f"{shadow.name}.SR": f"{value:#010x}"},
                earlier=(f"{shadow.name}.SR showed the seed error first", error),
            )


class ErrorsReported(Rule):
    """Success returned in spite of an error."""

    id = "O18"

    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """A call returned success."""
        if result:
            self._for_nothing(call, result, stamp)
            return
        for shadow in self.observer.shadows:
            error: Stamp | None = None
            if isinstance(shadow, RngShadow) and call.function.does == "random":
                error = shadow.seed_error
                what = f"{shadow.name}.SR showed a seed error, which was not recovered"
                if error is None and not call.marks.get("words"):
                    error = shadow.clock_error
                    what = f"{shadow.name}.SR showed a clock error, and no word was taken"
            elif isinstance(shadow, DmaShadow) and call.blocks:
                error = shadow.error
                what = f"{shadow.name} reported a transfer error"
            if error is not None and error.cycle >= call.entry.cycle:
                self.found(
                    "error-swallowed", shadow, stamp, "success returned after an error",
                    f"{call} returned 0, and in it {what}.", earlier=("the error was read", error), call=call,
                )  # fmt: skip

    def _for_nothing(self, call: Call, result: int, stamp: Stamp) -> None:
        """A random function failed: had the generator a word, and no error?"""
        if call.function.does != "random" or call.marks.get("words"):
            return
        for shadow in self.observer.shadows:
            if not isinstance(shadow, RngShadow) or shadow.ready is None or shadow.sr & (SEED | CLOCK):
                continue
            if shadow.ready.cycle >= call.entry.cycle:
                self.found(
                    "error-swallowed", shadow, stamp, "an error reported that the block did not report",
                    f"{call} returned an error; {shadow.name}.SR was last read as {shadow.sr:#04x}: a word was "
                    "ready and no error was shown.", earlier=("status was read", shadow.ready), call=call,
                )  # fmt: skip
