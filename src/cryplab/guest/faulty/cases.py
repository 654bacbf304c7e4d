"""The cases: one fault each. Data, not code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CASES", "Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """One fault.

    Attributes:
        id: name of the FAULT() in the C file.
        rule: the rule that finds it, O1 to O22; "crash" when the core faults.
        kind: the kind of the public cases.
        public: numbers of the public cases that it stands for.
        what: the fault in a few words.
        file, scenario: the C file and the function that main() calls.
        line: names of the marked lines, one of which the finding must name; default: the id.
        found: "run" by watching alone, "check" when it shows only in output.
        inject: attributes set on blocks before the run, "RNG.seed_error_at" -> 3.
        ends: how the faulty program ends, as in `Outcome.reason`.
    """

    id: str
    rule: str
    kind: str
    public: str
    what: str
    file: str
    scenario: str
    line: str = ""
    found: str = "run"
    inject: dict[str, Any] = field(default_factory=dict)
    ends: str = "finished"


def _in(file: str, *cases: Case) -> tuple[Case, ...]:
    return cases


def case(id_: str, rule: str, kind: str, public: str, what: str, file: str, scenario: str, line: str = "", **more: Any) -> Case:
    """A table line; see `Case`."""
    return Case(id_, rule, kind, public, what, file, scenario, line or id_, **more)


SLOW_CRYP = {"CRYP.speed": "slow"}

AES = tuple(case(id_, rule, kind, public, what, "aes.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("key_kept", "O1", "context-lost-on-interleave", "B01", "key loaded once per context", "interleave", "push", {}),
    ("mode_kept", "O1", "context-lost-on-interleave", "B02", "CR written once per context", "interleave", "push", {}),
    ("iv_kept", "O1", "context-lost-on-interleave", "B01 B03", "IV left in the block between calls", "interleave_cbc", "push", {}),
    ("free_resets_cryp", "O12", "reset-clobbers-shared", "B16", "free resets the block", "free_one", "", {}),
    ("free_gates_cryp", "O12", "reset-clobbers-shared", "B16", "free stops the block's clock", "free_one", "", {}),
    ("reset_not_released", "O12", "reset-clobbers-shared", "B17", "reset asserted and never released", "known_after_reset", "configure load_key push", {"ends": "finished"}),
    ("key_size_code", "O19", "wrong-register-value", "B28", "KEYSIZE one too high", "known_answers", "configure push", {}),
    ("key_size_unshifted", "O19", "wrong-register-value", "B30", "KEYSIZE not shifted into its field", "known_answers", "configure", {}),
    ("key_left_aligned", "O6", "wrong-register-value", "B27", "128-bit key in K0 and K1", "known_answers", "push load_key", {}),
    ("key_size_cleared", "O6", "bad-handle-or-argument", "B31", "context cleared after KEYSIZE was set", "known_answers", "push load_key", {}),
    ("key_words_reversed", "O6", "wrong-data-swap", "B37", "key words in memory order", "known_answers", "push load_key", {}),
    ("key_pointer_kept", "O21", "key-lifetime", "B37", "caller's key buffer read at each call", "key_buffer_reused", "push load_key", {}),
    ("key_wiped", "O21", "key-lifetime", "B40", "key wiped after the first request", "three_requests", "push load_key", {}),
    ("cbc_key_not_prepared", "O7", "missing-key-preparation", "B22", "CBC decryption without preparation", "cbc_in_parts", "push", {}),
    ("ecb_key_not_prepared", "O7", "missing-key-preparation", "B23 B24", "ECB decryption without preparation", "known_answers", "push", {}),
    ("encrypt_key_prepared", "O7", "wrong-register-value", "B28", "preparation before encryption", "known_answers", "push", {}),
    ("ctr_key_prepared", "O7", "wrong-register-value", "B28", "preparation before CTR", "ctr_in_parts", "push", {}),
    ("preparation_not_awaited", "O5", "write-while-busy", "B156", "CR written while the key is prepared", "known_answers", "after_preparation", {}),
    ("mode_masked_away", "O19", "wrong-register-value", "B25", "ALGOMODE cleared by its own mask", "known_answers", "configure push", {}),
    ("des_mode_number", "O19", "wrong-register-value", "B28", "DES-ECB for AES-ECB", "known_answers", "configure push", {}),
    ("iv_words_reversed", "O9", "wrong-data-swap", "B36", "IV words in memory order", "cbc_in_parts", "iv_words_reversed push", {}),
    ("cbc_first_block_kept", "O9", "iv-not-updated-for-chaining", "B41", "first ciphertext block kept as IV", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_iv_forgotten", "O9", "iv-not-updated-for-chaining", "B43", "IV never handed back", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_decrypt_iv_forgotten", "O9", "iv-not-updated-for-chaining", "B44", "IV not handed back when decrypting", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_iv_overwritten", "O9", "in-place-overlap", "B46", "IV taken from overwritten input", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_iv_read_back", "O9", "wrong-data-swap", "B38", "IV read back in register order", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_zero_length", "O9", "zero-length", "B90", "empty call changes the IV", "cbc_in_parts", "push cbc_end", {}),
    ("cbc_length_rounded", "O3", "buffer-overrun", "B71", "length rounded up to a block", "odd_lengths", "pop pop_last cbc_end", {}),
    ("rest_awaited", "O11", "partial-last-block", "B63", "waits for the result of part of a block", "odd_length_ecb", "", {"ends": "time"}),
    ("ctr_output_kept", "O9", "ctr-counter", "B48", "last output kept as counter", "ctr_in_parts", "push ctr_end", {}),
    ("ctr_wrap_ignored", "O10", "ctr-counter", "B51", "no carry out of the low word", "ctr_wraps", "push push_last", {}),
    ("ctr_split_late", "O10", "ctr-counter", "B52", "split one block late", "ctr_wraps", "push push_last", {}),
    ("ctr_stream_reused", "O10", "ctr-counter", "B50", "counter not advanced by a short block", "ctr_in_parts", "push ctr_end", {}),
    ("ctr_whole_block_stored", "O3", "buffer-overrun", "B70", "last block stored whole", "ctr_in_parts", "ctr_end", {}),
    ("ctr_iv_while_busy", "O5", "write-while-busy", "B156", "counter written while a block is worked on", "ctr_in_parts", "", {}),
    ("input_reversed", "O3", "in-place-overlap", "B47", "bytes turned in the caller's input", "constant_input", "", {}),
    ("in_out_swapped", "O3", "bad-handle-or-argument", "B32", "input and output swapped", "des", "des_end", {}),
    ("fifo_depth", "O4", "handshake-ignored", "B94", "more blocks pushed than the FIFO holds", "long_ecb", "push push_last", {"inject": SLOW_CRYP}),
    ("result_not_awaited", "O4", "handshake-ignored", "B29", "DOUT read without a look at OFNE", "known_answers", "pop pop_last", {}),
    ("poll_limit", "O22", "timeout-units", "B155", "limit counted in loops", "known_answers", "", {"inject": SLOW_CRYP}),
    ("cryp_clock_off", "O12", "clock-not-enabled", "B126", "CRYP used with its clock off", "known_answers", "configure", {}),
))  # fmt: skip

CASES: tuple[Case, ...] = (*AES,)
