"""Cases of aead.c: AES-GCM and AES-CCM."""

from __future__ import annotations

from cryplab.guest.faulty.cases.case import cases_of

__all__ = ["CASES"]

case = cases_of("aead.c")

CASES = (
    case("gcm_lengths_in_bytes", "O8", "aad-length", "B80",
         "length block in bytes", "lengths", "gcm_lengths"),
    case("gcm_aad_in_words", "O8", "aad-length", "B76 B77 B78",
         "AAD length taken in words", "lengths", "gcm_lengths"),
    case("aad_block_repeated", "O3", "aad-length", "B79",
         "first AAD block fed again", "lengths", "gcm_lengths"),
    case("aad_rest_dropped", "O8", "aad-length", "B79",
         "short last AAD block dropped", "lengths", "gcm_lengths"),
    case("aad_whole_words", "O3", "buffer-overrun", "B72",
         "AAD read in whole words", "lengths", "gcm_lengths"),
    case("gcm_header_skipped", "O8", "aad-length", "B84",
         "no header phase for short AAD", "lengths", "gcm_lengths"),
    case("tail_read_whole", "O3", "partial-last-block", "B54",
         "last word of the input read whole", "behind_the_input", "gcm_lengths"),
    case("tail_not_zeroed", "O3", "partial-last-block", "B57",
         "rest of the last block not zeroed", "lengths", "gcm_lengths"),
    case("tail_fed_unmasked", "O8", "partial-last-block", "B55",
         "short block hashed with its padding", "lengths", "gcm_lengths"),
    case("gcm_tail_unmasked", "O8", "silicon-erratum", "B55 B59",
         "short block without the sequence of F4", "lengths", "gcm_lengths"),
    case("npblb_written", "O19", "feature-missing-on-chip", "B55",
         "NPBLB used, which F4 has not", "lengths"),
    case("gcm_short_skipped", "O8", "partial-last-block", "B56",
         "text shorter than a block not fed", "lengths", "gcm_lengths"),
    case("gcm_iv_cut", "O8", "gcm-iv-not-96-bit", "B64",
         "IV of 16 bytes cut to 12", "long_iv", "gcm_init"),
    case("gcm_counter_one", "O6", "wrong-register-value", "B53",
         "counter starts at 1 instead of 2", "lengths", "gcm_init"),
    case("gcm_output_whole", "O3", "buffer-overrun", "B67 B73",
         "last block stored whole", "lengths", "gcm_crypt"),
    case("gcm_state_left", "O1", "context-lost-on-interleave", "B01",
         "GHASH state left in the block", "interleave_gcm", "push"),
    case("gcm_init_skipped", "O2", "stale-config-carryover", "B53",
         "init phase only once per context", "lengths", "push gcm_lengths"),
    case("gcm_key_prepared", "O7", "wrong-register-value", "B28",
         "key preparation before GCM decryption", "lengths", "gcm_init push"),
    case("tag_not_compared", "check", "error-swallowed", "B157",
         "wrong tags are accepted", "wrong_tag", "gcm_open", found="check"),
    case("ccm_length_rounded", "O8", "aad-length", "B83",
         "length in B0 rounded up", "lengths_ccm", "ccm_final"),
    case("ccm_aad_flag_missing", "O8", "aad-length", "B83",
         "B0 says that there is no AAD", "lengths_ccm", "ccm_final"),
    case("ccm_long_aad_prefix", "O3", "aad-length", "B81",
         "two length bytes for long AAD", "long_aad", "ccm_final"),
    case("ccm_tail_unmasked", "O8", "partial-last-block", "B58",
         "short block decrypted without masking", "lengths_ccm", "ccm_final"),
    case("ccm_tail_read_whole", "O3", "partial-last-block", "B57",
         "bytes behind the text enter the tag", "lengths_ccm", "ccm_final"),
    case("ccm_output_whole", "O3", "buffer-overrun", "B66",
         "last word stored whole", "lengths_ccm", "ccm_seal ccm_open"),
)  # fmt: skip
