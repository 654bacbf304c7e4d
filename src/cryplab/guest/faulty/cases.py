"""The cases: one fault each. Data, not code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CASES", "Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """One fault.

    Attributes:
        id: name of the FAULT() in the C file.
        rule: the rule that finds it, O1 to O22; "check" when only a comparison of results does.
        kind: the kind of the public cases.
        public: numbers of the public cases that it stands for.
        what: the fault in a few words.
        file, scenario: the C file and the function that main() calls.
        line: names of the marked lines, one of which the finding must name; default: the id.
        found: "run" by watching alone, "check" when results, or buffers with unique contents, are needed.
        inject: errors by name, as for `--inject`.
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
    inject: tuple[str, ...] = ()
    ends: str = "finished"


def case(
    id_: str, rule: str, kind: str, public: str, what: str, file: str, scenario: str, line: str = "", **more: Any
) -> Case:
    """A table line; see `Case`."""
    return Case(id_, rule, kind, public, what, file, scenario, line or id_, **more)


AES = tuple(case(id_, rule, kind, public, what, "aes.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("key_kept", "O1", "context-lost-on-interleave", "B01", "key loaded once per context", "interleave", "push", {}),
    ("mode_kept", "O1", "context-lost-on-interleave", "B02", "CR written once per context", "interleave", "push", {}),
    ("iv_kept", "O1", "context-lost-on-interleave", "B01 B03", "IV left in the block between calls", "interleave_cbc", "push", {}),
    ("free_resets_cryp", "O12", "reset-clobbers-shared", "B16", "free resets the block", "free_one", "push free_resets_cryp", {}),
    ("free_gates_cryp", "O12", "reset-clobbers-shared", "B16", "free stops the block's clock", "free_one", "", {}),
    ("reset_not_released", "O12", "reset-clobbers-shared", "B17", "reset asserted and never released", "known_after_reset", "configure load_key push", {"ends": "finished"}),
    ("key_size_code", "O19", "wrong-register-value", "B28", "KEYSIZE 3 for 256 bits", "known_answers", "enable configure", {}),
    ("key_size_unshifted", "O19", "wrong-register-value", "B30", "KEYSIZE not shifted into its field", "known_answers", "configure", {}),
    ("key_left_aligned", "O6", "wrong-register-value", "B27", "128-bit key in K0 and K1", "known_answers", "push load_key", {}),
    ("key_size_cleared", "O6", "bad-handle-or-argument", "B31", "context cleared after KEYSIZE was set", "known_answers", "push load_key", {}),
    ("key_words_reversed", "O6", "wrong-data-swap", "B37", "key words in memory order", "known_answers", "push load_key", {}),
    ("key_pointer_kept", "O21", "key-lifetime", "B37", "caller's key buffer read at each call", "key_buffer_reused", "push load_key", {}),
    ("key_wiped", "O6", "key-lifetime", "B40", "key wiped after the first request", "three_requests", "push load_key", {}),
    ("cbc_key_not_prepared", "O7", "missing-key-preparation", "B22", "CBC decryption without preparation", "cbc_in_parts", "push", {}),
    ("ecb_key_not_prepared", "O7", "missing-key-preparation", "B23 B24", "ECB decryption without preparation", "known_answers", "push", {}),
    ("encrypt_key_prepared", "O7", "wrong-register-value", "B28", "preparation before encryption", "known_answers", "push", {}),
    ("ctr_key_prepared", "O7", "wrong-register-value", "B28", "preparation before CTR", "ctr_in_parts", "push", {}),
    ("preparation_not_awaited", "O5", "write-while-busy", "B156", "CR written while the key is prepared", "known_answers", "after_preparation", {}),
    ("mode_masked_away", "O19", "wrong-register-value", "B25", "ALGOMODE cleared by its own mask", "known_answers", "configure push", {}),
    ("des_mode_number", "O19", "wrong-register-value", "B28", "DES-ECB for AES-ECB", "known_answers", "configure push", {}),
    ("iv_words_reversed", "O9", "wrong-data-swap", "B36", "IV words in memory order", "cbc_in_parts", "iv_words_reversed push", {}),
    ("cbc_first_block_kept", "O9", "iv-not-updated-for-chaining", "B41", "first ciphertext block kept as IV", "cbc_in_parts", "push cbc", {}),
    ("cbc_iv_forgotten", "O9", "iv-not-updated-for-chaining", "B43", "IV never handed back", "cbc_in_parts", "push cbc", {}),
    ("cbc_decrypt_iv_forgotten", "O9", "iv-not-updated-for-chaining", "B44", "IV not handed back when decrypting", "cbc_in_parts", "push cbc", {}),
    ("cbc_iv_overwritten", "O9", "in-place-overlap", "B46", "IV taken from overwritten input", "cbc_in_parts", "push cbc", {}),
    ("cbc_iv_read_back", "O9", "wrong-data-swap", "B38", "IV read back in register order", "cbc_in_parts", "push cbc", {}),
    ("cbc_zero_length", "O9", "zero-length", "B90", "empty call changes the IV", "cbc_in_parts", "push cbc", {}),
    ("cbc_length_rounded", "O3", "buffer-overrun", "B71", "length rounded up to a block", "odd_lengths", "pop pop_last cbc", {}),
    ("rest_awaited", "O11", "partial-last-block", "B63", "waits for the result of part of a block", "odd_length_ecb", "", {"ends": "time"}),
    ("ctr_output_kept", "O9", "ctr-counter", "B48", "last output kept as counter", "ctr_in_parts", "push ctr", {}),
    ("ctr_wrap_ignored", "O10", "ctr-counter", "B51", "no carry out of the low word", "ctr_wraps", "push push_last", {}),
    ("ctr_split_late", "O10", "ctr-counter", "B52", "split one block late", "ctr_wraps", "push push_last", {}),
    ("ctr_stream_reused", "O9", "ctr-counter", "B50", "counter not advanced by a short block", "ctr_in_parts", "push ctr", {}),
    ("ctr_whole_block_stored", "O3", "buffer-overrun", "B70", "last block stored whole", "ctr_in_parts", "ctr", {}),
    ("ctr_iv_while_busy", "O5", "write-while-busy", "B156", "counter written while a block is worked on", "ctr_in_parts", "", {}),
    ("input_reversed", "O3", "in-place-overlap", "B47", "bytes turned in the caller's input", "constant_input", "ecb", {}),
    ("in_out_swapped", "O3", "bad-handle-or-argument", "B32", "input and output swapped", "des", "des", {}),
    ("fifo_depth", "O4", "handshake-ignored", "B94", "more blocks pushed than the FIFO holds", "long_ecb", "push push_last", {"inject": ("cryp-slow",)}),
    ("result_not_awaited", "O4", "handshake-ignored", "B29", "DOUT read without a look at OFNE", "known_answers", "pop pop_last", {}),
    ("poll_limit", "O22", "timeout-units", "B155", "limit counted in loops", "known_answers", "ecb", {"inject": ("cryp-slow",)}),
    ("cryp_clock_off", "O12", "clock-not-enabled", "B126", "CRYP used with its clock off", "known_answers", "configure", {}),
))  # fmt: skip

AEAD = tuple(case(id_, rule, kind, public, what, "aead.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("gcm_lengths_in_bytes", "O8", "aad-length", "B80", "length block in bytes", "lengths", "gcm_lengths", {}),
    ("gcm_aad_in_words", "O8", "aad-length", "B76 B77 B78", "AAD length taken in words", "lengths", "gcm_lengths", {}),
    ("aad_block_repeated", "O3", "aad-length", "B79", "first AAD block fed again", "lengths", "gcm_lengths", {}),
    ("aad_rest_dropped", "O8", "aad-length", "B79", "short last AAD block dropped", "lengths", "gcm_lengths", {}),
    ("aad_whole_words", "O3", "buffer-overrun", "B72", "AAD read in whole words", "lengths", "gcm_lengths", {}),
    ("gcm_header_skipped", "O8", "aad-length", "B84", "no header phase for short AAD", "lengths", "gcm_lengths", {}),
    ("tail_read_whole", "O3", "partial-last-block", "B54", "last word of the input read whole", "behind_the_input", "gcm_lengths", {}),
    ("tail_not_zeroed", "O3", "partial-last-block", "B57", "rest of the last block not zeroed", "lengths", "gcm_lengths", {}),
    ("tail_fed_unmasked", "O8", "partial-last-block", "B55", "short block hashed with its padding", "lengths", "gcm_lengths", {}),
    ("gcm_tail_unmasked", "O8", "silicon-erratum", "B55 B59", "short block without the sequence of F4", "lengths", "gcm_lengths", {}),
    ("npblb_written", "O19", "feature-missing-on-chip", "B55", "NPBLB used, which F4 has not", "lengths", "npblb_written", {}),
    ("gcm_short_skipped", "O8", "partial-last-block", "B56", "text shorter than a block not fed", "lengths", "gcm_lengths", {}),
    ("gcm_iv_cut", "O8", "gcm-iv-not-96-bit", "B64", "IV of 16 bytes cut to 12", "long_iv", "gcm_init", {}),
    ("gcm_counter_one", "O6", "wrong-register-value", "B53", "counter starts at 1 instead of 2", "lengths", "gcm_init", {}),
    ("gcm_output_whole", "O3", "buffer-overrun", "B67 B73", "last block stored whole", "lengths", "gcm_crypt", {}),
    ("gcm_state_left", "O1", "context-lost-on-interleave", "B01", "GHASH state left in the block", "interleave_gcm", "push", {}),
    ("gcm_init_skipped", "O2", "stale-config-carryover", "B53", "init phase only once per context", "lengths", "push gcm_lengths", {}),
    ("gcm_key_prepared", "O7", "wrong-register-value", "B28", "key preparation before GCM decryption", "lengths", "gcm_init push", {}),
    ("tag_not_compared", "check", "error-swallowed", "B157", "wrong tags are accepted", "wrong_tag", "gcm_open", {"found": "check"}),
    ("ccm_length_rounded", "O8", "aad-length", "B83", "length in B0 rounded up", "lengths_ccm", "ccm_final", {}),
    ("ccm_aad_flag_missing", "O8", "aad-length", "B83", "B0 says that there is no AAD", "lengths_ccm", "ccm_final", {}),
    ("ccm_long_aad_prefix", "O3", "aad-length", "B81", "two length bytes for long AAD", "long_aad", "ccm_final", {}),
    ("ccm_tail_unmasked", "O8", "partial-last-block", "B58", "short block decrypted without masking", "lengths_ccm", "ccm_final", {}),
    ("ccm_tail_read_whole", "O3", "partial-last-block", "B57", "bytes behind the text enter the tag", "lengths_ccm", "ccm_final", {}),
    ("ccm_output_whole", "O3", "buffer-overrun", "B66", "last word stored whole", "lengths_ccm", "ccm_seal ccm_open", {}),
))  # fmt: skip

HASH = tuple(case(id_, rule, kind, public, what, "hash.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("hash_state_left", "O1", "context-lost-on-interleave", "B03 B05", "running state left in the block", "interleave", "push", {}),
    ("hash_save_in_places", "O1", "context-lost-on-interleave", "B07", "state saved on some paths only", "interleave", "push restore", {}),
    ("hash_one_save_area", "O1", "context-lost-on-interleave", "B07", "all contexts saved in one place", "interleave", "restore push", {}),
    ("hash_clone_shares", "O1", "context-lost-on-interleave", "B06", "a clone shares the saved state", "clone_goes_on", "restore push", {}),
    ("hash_peek_ends", "O1", "context-lost-on-interleave", "B06", "digest so far ends the message", "peek", "push", {}),
    ("hash_algorithm_ored", "O2", "stale-config-carryover", "B08", "ALGO ORed into CR", "known_answers", "init", {}),
    ("hash_mode_left", "O2", "stale-config-carryover", "B09", "HMAC mode left from before", "hmac", "init", {"ends": "time"}),
    ("hash_nblw_left", "O2", "stale-config-carryover", "B11", "NBLW of an earlier message", "lengths", "calculate", {}),
    ("hash_not_initialised", "O2", "stale-config-carryover", "B12", "no INIT for the second message", "known_answers", "push last_word calculate", {}),
    ("free_resets_hash", "O12", "reset-clobbers-shared", "B16", "free resets the block", "free_one", "free_resets_hash restore push", {}),
    ("hash_save_busy", "O5", "hash-state-save", "B92", "state saved while a block is worked on", "interleave", "save", {}),
    ("hash_fifo_depth", "O11", "hash-state-save", "B94", "waits for DINIS after 16 words", "interleave", "hash_fifo_depth", {"ends": "time"}),
    ("hmac_save_short", "O1", "hash-state-save", "B95", "38 of 54 context registers for HMAC", "hmac", "restore push", {}),
    ("hash_padded_by_hand", "O8", "wrong-data-swap", "B39", "message padded twice", "lengths", "calculate", {}),
    ("hash_nblw_formula", "O8", "partial-last-block", "B62", "NBLW is 32 minus the bits", "lengths", "calculate", {}),
    ("hash_tail_read_whole", "O3", "buffer-overrun", "B68", "last word read whole", "known_answers", "last_word calculate", {"found": "check"}),
    ("hash_empty_last", "O8", "zero-length", "B89", "last update empty: empty digest", "lengths", "calculate", {}),
    ("hash_whole_word_waits", "O11", "partial-last-block", "B63", "no DCAL when the last word is whole", "lengths", "digest_awaited", {"ends": "time"}),
    ("hash_digest_early", "O4", "handshake-ignored", "B13", "HR read without a look at SR", "known_answers", "digest", {}),
    ("hash_calculated_twice", "O4", "hash-dma-chunking", "B88", "DCAL given twice", "known_answers", "hash_calculated_twice", {}),
    ("hash_words_not_swapped", "O19", "wrong-data-swap", "B39", "DATATYPE not set for bytes", "lengths", "update one_call", {}),
    ("hash_digest_order", "check", "wrong-data-swap", "B36", "digest stored in register order", "known_answers", "one_call", {"found": "check"}),
    ("hmac_key_restarted", "O8", "hmac-key-handling", "B91", "second chunk of the key is the first", "hmac", "calculate", {}),
    ("hmac_long_key", "O8", "hmac-key-handling", "B91", "LKEY not set for a long key", "hmac", "calculate", {}),
    ("hmac_last_key_cut", "O8", "hmac-key-handling", "B91", "key after the text cut short", "hmac", "calculate", {}),
    ("hmac_last_key_missing", "O11", "hmac-key-handling", "B09", "no key after the text", "hmac", "digest_awaited", {"ends": "time"}),
))  # fmt: skip

RNG = tuple(case(id_, rule, kind, public, what, "rng.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("rng_clock_off", "O12", "clock-not-enabled", "B117 B126", "RNG used with its clock off", "requests", "enable await", {}),
    ("rng_kernel_clock_off", "O12", "clock-not-enabled", "B122 B129 B130", "no 48 MHz clock", "without_pll", "enable restart", {}),
    ("rng_clock_error_polled", "O11", "clock-not-enabled", "B118", "waits for ever on a clock error", "must_fail", "await", {"inject": ("rng-clock-error", "rng-slow=1000000"), "ends": "time"}),
    ("rng_tick_stopped", "O11", "timeout-units", "B154", "limit tied to a stopped tick", "must_fail_masked", "await", {"inject": ("rng-clock-error", "rng-slow=1000000"), "ends": "time"}),
    ("rng_seed_error_polled", "O11", "rng-error-unrecovered", "B102", "waits for ever after a seed error", "after_error", "await", {"inject": ("rng-seed-error=3",), "ends": "time"}),
    ("rng_flag_kept", "O17", "rng-error-unrecovered", "B103", "SEIS never cleared", "after_error", "take status await", {"inject": ("rng-seed-error=3",)}),
    ("rng_not_restarted", "O17", "rng-error-unrecovered", "B101 B108", "generator not restarted", "after_error", "take status await", {"inject": ("rng-seed-error=3",)}),
    ("rng_error_sticks", "O17", "rng-error-unrecovered", "B115", "fails for ever after one error", "after_error", "status await", {"inject": ("rng-seed-error=3",)}),
    ("rng_read_again", "O17", "rng-error-unrecovered", "B116", "DR read in spite of the error", "after_error", "take", {"inject": ("rng-seed-error=3",)}),
    ("rng_error_test", "O17", "error-swallowed", "B107", "two different flags ANDed", "after_error", "take", {"inject": ("rng-seed-error=3",)}),
    ("rng_recovers_for_ever", "O17", "rng-error-unrecovered", "B104", "recovery without end", "must_fail", "restart", {"inject": ("rng-clock-error",), "ends": "time"}),
    ("rng_error_lost", "O18", "error-swallowed", "B124", "failure overwritten, success returned", "must_fail", "fill", {"inject": ("rng-clock-error",)}),
    ("rng_flags_ored", "O18", "error-swallowed", "B114", "error test that is always true", "requests", "fill", {}),
    ("rng_four_words", "O16", "rng-not-ready-accepted", "B109", "four words on one ready flag", "requests", "", {}),
    ("rng_zero_taken", "O16", "rng-not-ready-accepted", "B110 B111", "zero taken as random", "requests", "take fill", {"inject": ("rng-zero=3",)}),
    ("rng_same_taken", "O16", "rng-not-ready-accepted", "B128 B131", "the same word again and again", "must_fail", "take fill", {"inject": ("rng-stuck",)}),
    ("rng_chunk_skipped", "O16", "rng-output-handling", "B106", "words that are not ready left out", "requests", "fill", {"inject": ("rng-slow=40",)}),
    ("rng_last_word_missed", "O16", "rng-output-handling", "B113", "last word not filled", "requests", "fill", {}),
    ("rng_tail_whole", "O3", "buffer-overrun", "B74", "last word stored whole", "requests", "fill", {}),
    ("rng_software", "O16", "silent-software-fallback", "B100", "software generator instead", "requests", "fill", {}),
    ("rng_gives_up_at_once", "O22", "rng-init-sequence", "B123", "first word not waited for", "requests", "fill", {}),
    ("rng_poll_limit", "O22", "timeout-units", "B112", "wait shorter than the generator may take", "requests", "fill", {"inject": ("rng-slow=40",)}),
    ("rng_ced_written", "O19", "rng-init-sequence", "B105", "CED written, which this version has not", "requests", "enable", {}),
    ("rng_suspended_used", "O12", "irq-race", "B120", "used while its clock is suspended", "suspended", "await status take", {}),
))  # fmt: skip

DMA = tuple(case(id_, rule, kind, public, what, "dma.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("dma_core_coupled", "O15", "dma-memory-region", "B158 B159", "data in memory that DMA2 cannot reach", "cipher", "start_stream", {}),
    ("dma_misaligned", "O15", "dma-configuration", "B85", "words at an odd address", "cipher", "start_stream", {}),
    ("dma_byte_width", "O15", "dma-configuration", "B86", "a byte at a time to DIN", "hashes", "start_stream", {}),
    ("dma_peripheral_moves", "O15", "dma-configuration", "B86", "the block's address incremented", "hashes", "start_stream", {}),
    ("dma_part_of_block", "O15", "dma-configuration", "B86", "no whole number of blocks", "odd_length", "start_stream", {}),
    ("dma_error_ignored", "O18", "error-swallowed", "B157", "success after a transfer error", "must_fail", "flags", {"inject": ("dma-error=8",)}),
    ("dma_more_not_told", "O1", "hash-dma-chunking", "B88", "MDMAT not set for the first transfer", "hashes", "start_stream", {}),
    ("dma_nblw_late", "O8", "hash-dma-chunking", "B88", "NBLW written after the transfer", "hashes", "start_stream", {}),
    ("dma_calculated_again", "O4", "hash-dma-chunking", "B88", "DCAL after a transfer that ends the message", "hashes", "", {}),
    ("dma_more_awaited", "O11", "hash-dma-chunking", "B87", "DINIS awaited with MDMAT set", "hashes", "", {"ends": "time"}),
    ("dma_more_left", "O2", "stale-config-carryover", "B15", "MDMAT left from DMA", "hashes", "calculate dma_more_left", {}),
))  # fmt: skip

TASKS = tuple(case(id_, rule, kind, public, what, "tasks.c", scenario, line, **more) for id_, rule, kind, public, what, scenario, line, more in (
    ("cipher_not_locked", "O13", "not-thread-safe", "B18", "no lock around CRYP", "cipher_threads", "push load_key enable configure", {}),
    ("lock_in_context", "O13", "not-thread-safe", "B18 B19", "the lock is in the context", "cipher_threads", "push load_key enable configure", {}),
    ("lock_dropped_early", "O13", "not-thread-safe", "B20", "lock given back before the data", "cipher_threads", "push load_key enable configure", {}),
    ("hash_not_locked", "O13", "not-thread-safe", "B19 B20", "no lock around HASH", "hash_threads", "feed init", {}),
    ("rng_not_locked", "O13", "not-thread-safe", "B21", "no lock from DRDY to DR", "random_threads", "take", {}),
    ("handler_uses_cipher", "O13", "irq-race", "B18", "an interrupt handler uses CRYP too", "handler_encrypts", "push load_key enable configure", {"ends": "time"}),
    ("update_not_masked", "O14", "irq-race", "B119", "handler between read and write of CR", "pool_races", "update", {}),
    ("generator_not_started", "O11", "irq-race", "B119", "IE set with the generator off", "pool_of_words", "pool_await pool_start", {"ends": "idle"}),
    ("cause_not_cleared", "O11", "irq-race", "B118 B121", "interrupt cause never cleared", "pool_without_clock", "", {"inject": ("rng-clock-error",), "ends": "time"}),
    ("short_rest_not_fed", "O11", "partial-last-block", "B60", "fewer than four bytes: nothing is fed", "hash_by_interrupt", "digest_await", {"ends": "idle"}),
))  # fmt: skip

CASES: tuple[Case, ...] = (*AES, *AEAD, *HASH, *RNG, *DMA, *TASKS)
