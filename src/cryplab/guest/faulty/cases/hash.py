"""Cases of hash.c: hashes and HMAC."""

from __future__ import annotations

from cryplab.guest.faulty.cases.case import cases_of

__all__ = ["CASES"]

case = cases_of("hash.c")

CASES = (
    case("hash_state_left", "O1", "context-lost-on-interleave", "B03 B05",
         "running state left in the block", "interleave", "push"),
    case("hash_save_in_places", "O1", "context-lost-on-interleave", "B07",
         "state saved on some paths only", "interleave", "push restore"),
    case("hash_one_save_area", "O1", "context-lost-on-interleave", "B07",
         "all contexts saved in one place", "interleave", "restore push"),
    case("hash_clone_shares", "O1", "context-lost-on-interleave", "B06",
         "a clone shares the saved state", "clone_goes_on", "restore push"),
    case("hash_peek_ends", "O1", "context-lost-on-interleave", "B06",
         "digest so far ends the message", "peek", "push"),
    case("hash_algorithm_ored", "O2", "stale-config-carryover", "B08",
         "ALGO ORed into CR", "known_answers", "init"),
    case("hash_mode_left", "O2", "stale-config-carryover", "B09",
         "HMAC mode left from before", "hmac", "init", ends="time"),
    case("hash_nblw_left", "O2", "stale-config-carryover", "B11",
         "NBLW of an earlier message", "lengths", "calculate"),
    case("hash_not_initialised", "O2", "stale-config-carryover", "B12",
         "no INIT for the second message", "known_answers", "push last_word calculate"),
    case("free_resets_hash", "O12", "reset-clobbers-shared", "B16",
         "free resets the block", "free_one", "free_resets_hash restore push"),
    case("hash_save_busy", "O5", "hash-state-save", "B92",
         "state saved while a block is worked on", "interleave", "save"),
    case("hash_fifo_depth", "O11", "hash-state-save", "B94",
         "waits for DINIS after 16 words", "interleave", ends="time"),
    case("hmac_save_short", "O1", "hash-state-save", "B95",
         "38 of 54 context registers for HMAC", "hmac", "restore push"),
    case("hash_padded_by_hand", "O8", "wrong-data-swap", "B39",
         "message padded twice", "lengths", "calculate"),
    case("hash_nblw_formula", "O8", "partial-last-block", "B62",
         "NBLW is 32 minus the bits", "lengths", "calculate"),
    case("hash_tail_read_whole", "O3", "buffer-overrun", "B68",
         "last word read whole", "known_answers", "last_word calculate", found="check"),
    case("hash_empty_last", "O8", "zero-length", "B89",
         "last update empty: empty digest", "lengths", "calculate"),
    case("hash_whole_word_waits", "O11", "partial-last-block", "B63",
         "no DCAL when the last word is whole", "lengths", "digest_awaited", ends="time"),
    case("hash_digest_early", "O4", "handshake-ignored", "B13",
         "HR read without a look at SR", "known_answers", "digest"),
    case("hash_calculated_twice", "O4", "hash-dma-chunking", "B88",
         "DCAL given twice", "known_answers"),
    case("hash_words_not_swapped", "O19", "wrong-data-swap", "B39",
         "DATATYPE not set for bytes", "lengths", "update one_call"),
    case("hash_digest_order", "check", "wrong-data-swap", "B36",
         "digest stored in register order", "known_answers", "one_call", found="check"),
    case("hmac_key_restarted", "O8", "hmac-key-handling", "B91",
         "second chunk of the key is the first", "hmac", "calculate"),
    case("hmac_long_key", "O8", "hmac-key-handling", "B91",
         "LKEY not set for a long key", "hmac", "calculate"),
    case("hmac_last_key_cut", "O8", "hmac-key-handling", "B91",
         "key after the text cut short", "hmac", "calculate"),
    case("hmac_last_key_missing", "O11", "hmac-key-handling", "B09",
         "no key after the text", "hmac", "digest_awaited", ends="time"),
)  # fmt: skip
