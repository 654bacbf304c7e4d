"""Cases of tasks.c: threads and interrupt handlers."""

from __future__ import annotations

from cryplab.guest.faulty.cases.case import cases_of

__all__ = ["CASES"]

case = cases_of("tasks.c")

CASES = (
    case("cipher_not_locked", "O13", "not-thread-safe", "B18",
         "no lock around CRYP", "cipher_threads", "push load_key enable configure"),
    case("lock_in_context", "O13", "not-thread-safe", "B18 B19",
         "the lock is in the context", "cipher_threads", "push load_key enable configure"),
    case("lock_dropped_early", "O13", "not-thread-safe", "B20",
         "lock given back before the data", "cipher_threads", "push load_key enable configure"),
    case("hash_not_locked", "O13", "not-thread-safe", "B19 B20",
         "no lock around HASH", "hash_threads", "feed init"),
    case("rng_not_locked", "O13", "not-thread-safe", "B21",
         "no lock from DRDY to DR", "random_threads", "take"),
    case("handler_uses_cipher", "O13", "irq-race", "B18",
         "an interrupt handler uses CRYP too", "handler_encrypts", "push load_key enable configure", ends="time"),
    case("update_not_masked", "O14", "irq-race", "B119",
         "handler between read and write of CR", "pool_races", "update"),
    case("generator_not_started", "O11", "irq-race", "B119",
         "IE set with the generator off", "pool_of_words", "pool_await pool_start", ends="idle"),
    case("cause_not_cleared", "O11", "irq-race", "B118 B121",
         "interrupt cause never cleared", "pool_without_clock", inject=("rng-clock-error",), ends="time"),
    case("short_rest_not_fed", "O11", "partial-last-block", "B60",
         "fewer than four bytes: nothing is fed", "hash_by_interrupt", "digest_await", ends="idle"),
)  # fmt: skip
