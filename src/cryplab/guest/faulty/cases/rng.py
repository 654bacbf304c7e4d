"""Cases of rng.c: random numbers."""

from __future__ import annotations

from cryplab.guest.faulty.cases.case import cases_of

__all__ = ["CASES"]

case = cases_of("rng.c")

CASES = (
    case("rng_clock_off", "O12", "clock-not-enabled", "B117 B126",
         "RNG used with its clock off", "requests", "enable await"),
    case("rng_kernel_clock_off", "O12", "clock-not-enabled", "B122 B129 B130",
         "no 48 MHz clock", "without_pll", "enable restart"),
    case("rng_clock_error_polled", "O11", "clock-not-enabled", "B118",
         "waits for ever on a clock error", "must_fail", "await", inject=("rng-clock-error", "rng-slow=1000000",),
         ends="time"),
    case("rng_tick_stopped", "O11", "timeout-units", "B154",
         "limit tied to a stopped tick", "must_fail_masked", "await", inject=("rng-clock-error",
         "rng-slow=1000000",), ends="time"),
    case("rng_seed_error_polled", "O11", "rng-error-unrecovered", "B102",
         "waits for ever after a seed error", "after_error", "await", inject=("rng-seed-error=3",), ends="time"),
    case("rng_flag_kept", "O17", "rng-error-unrecovered", "B103",
         "SEIS never cleared", "after_error", "take status await", inject=("rng-seed-error=3",)),
    case("rng_not_restarted", "O17", "rng-error-unrecovered", "B101 B108",
         "generator not restarted", "after_error", "take status await", inject=("rng-seed-error=3",)),
    case("rng_error_sticks", "O17", "rng-error-unrecovered", "B115",
         "fails for ever after one error", "after_error", "status await", inject=("rng-seed-error=3",)),
    case("rng_read_again", "O17", "rng-error-unrecovered", "B116",
         "DR read in spite of the error", "after_error", "take", inject=("rng-seed-error=3",)),
    case("rng_error_test", "O17", "error-swallowed", "B107",
         "two different flags ANDed", "after_error", "take", inject=("rng-seed-error=3",)),
    case("rng_recovers_for_ever", "O17", "rng-error-unrecovered", "B104",
         "recovery without end", "must_fail", "restart", inject=("rng-clock-error",), ends="time"),
    case("rng_error_lost", "O18", "error-swallowed", "B124",
         "failure overwritten, success returned", "must_fail", "fill", inject=("rng-clock-error",)),
    case("rng_flags_ored", "O18", "error-swallowed", "B114",
         "error test that is always true", "requests", "fill"),
    case("rng_four_words", "O16", "rng-not-ready-accepted", "B109",
         "four words on one ready flag", "requests"),
    case("rng_zero_taken", "O16", "rng-not-ready-accepted", "B110 B111",
         "zero taken as random", "requests", "take fill", inject=("rng-zero=3",)),
    case("rng_same_taken", "O16", "rng-not-ready-accepted", "B128 B131",
         "the same word again and again", "must_fail", "take fill", inject=("rng-stuck",)),
    case("rng_chunk_skipped", "O16", "rng-output-handling", "B106",
         "words that are not ready left out", "requests", "fill", inject=("rng-slow=40",)),
    case("rng_last_word_missed", "O16", "rng-output-handling", "B113",
         "last word not filled", "requests", "fill"),
    case("rng_tail_whole", "O3", "buffer-overrun", "B74",
         "last word stored whole", "requests", "fill"),
    case("rng_software", "O16", "silent-software-fallback", "B100",
         "software generator instead", "requests", "fill"),
    case("rng_gives_up_at_once", "O22", "rng-init-sequence", "B123",
         "first word not waited for", "requests", "fill", inject=("rng-slow=4",)),
    case("rng_poll_limit", "O22", "timeout-units", "B112",
         "wait shorter than the generator may take", "requests", "fill", inject=("rng-slow=40",)),
    case("rng_ced_written", "O19", "rng-init-sequence", "B105",
         "CED written, which this version has not", "requests", "enable"),
    case("rng_suspended_used", "O12", "irq-race", "B120",
         "used while its clock is suspended", "suspended", "await status take"),
)  # fmt: skip
