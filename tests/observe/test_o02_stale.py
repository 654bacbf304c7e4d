"""O2: fields and state that an earlier message left."""

from __future__ import annotations

import itertools

import pytest

from observe import play
from observe.play import Play

TEXT = bytes(range(1, 41))
NAMES = {"SHA-1": "sha1", "MD5": "md5", "SHA-256": "sha256"}


def digest_call(p: Play, algorithm: str, *, keep: int = 0) -> None:
    """starts, update, finish of one message; `keep` are bits ORed into CR."""
    context, data, output = p.put(bytes(200)), p.put(TEXT), p.put(bytes(32))
    name = NAMES[algorithm]
    with p.call(f"mbedtls_{name}_starts_ret", context, 0):
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO[algorithm] | keep)
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO[algorithm] | keep | play.INIT)
    with p.call(f"mbedtls_{name}_update_ret", context, data, len(TEXT)):
        play.hash_feed(p, TEXT)
    with p.call(f"mbedtls_{name}_finish_ret", context, output):
        play.hash_end(p, algorithm)


def test_all_pairs_of_algorithms_are_right() -> None:
    p = Play()
    for first, second in itertools.permutations(NAMES, 2):
        digest_call(p, first)
        digest_call(p, second)
    assert p.found == [], p.observer.findings.show()


def test_a_bit_of_the_algorithm_is_left_over() -> None:
    """Case B08: SHA-256 then MD5 by OR."""
    p = Play()
    digest_call(p, "SHA-256")
    digest_call(p, "MD5", keep=play.ALGO["SHA-256"])
    assert p.found[0].rule == "O2"
    assert p.found[0].title == "SHA-256 runs where MD5 was asked for"


def test_an_init_that_another_one_follows_before_any_data_is_no_message() -> None:
    """A layer that restores a context without saved words, buffers a few bytes and saves it again (mbed OS 5 and 6)."""
    p = Play()
    context, output = p.put(bytes(200)), p.put(bytes(32))
    with p.call("mbedtls_sha256_starts_ret", context, 0):
        p.w("HASH.CR", play.HASH_BYTES)
    with p.call("mbedtls_sha256_update_ret", context, p.put(TEXT), len(TEXT)):
        p.w("HASH.CR", play.HASH_BYTES | play.INIT)  # SHA-1 by its bits, and nothing is fed
    with p.call("mbedtls_sha256_finish_ret", context, output):
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO["SHA-256"] | play.INIT)
        play.hash_feed(p, TEXT)
        play.hash_end(p, "SHA-256")
    assert p.found == [], p.observer.findings.show()


def test_an_init_that_data_follow_is_judged_where_it_was() -> None:
    p = Play()
    context = p.put(bytes(200))
    with p.call("mbedtls_sha256_starts_ret", context, 0):
        p.w("HASH.CR", play.HASH_BYTES | play.INIT, pc=0x0800_1234)
    with p.call("mbedtls_sha256_update_ret", context, p.put(TEXT), len(TEXT)):
        play.hash_feed(p, TEXT)
    assert p.found[0].title == "SHA-1 runs where SHA-256 was asked for"


def test_a_bit_of_the_algorithm_is_left_over_seen_by_registers_alone() -> None:
    p = Play()
    for words in (8, 4):
        play.hash_start(p, "SHA-256")
        play.hash_feed(p, TEXT)
        p.w("HASH.STR", 0)
        p.w("HASH.STR", play.DCAL)
        p.wait("HASH.SR", 2, 2)
        for i in range(words):
            p.r(f"HASH.HR{i}")
    p.observer.finish("finished")
    assert p.only("O2").title == "4 words read of a digest of 8"


def test_hmac_mode_left_over() -> None:
    """Case B09."""
    p = Play()
    p.w("HASH.CR", play.HASH_BYTES | 1 << 6 | play.INIT)
    with pytest.raises(AssertionError, match="never became"):
        digest_call(p, "SHA-1", keep=1 << 6)
    assert p.found[0].rule == "O2"
    assert "MODE" in p.found[0].title


def test_valid_bits_of_an_earlier_message() -> None:
    """Case B11."""
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_end(p, "SHA-1", TEXT[:5])
    play.hash_start(p, "SHA-1")
    play.hash_feed(p, TEXT[:8])
    p.w("HASH.STR", play.DCAL)
    assert p.only("O2").title == "NBLW is that of an earlier message"


def test_multi_buffer_flag_left_over() -> None:
    """Case B15."""
    p = Play()
    p.w("HASH.CR", play.HASH_BYTES | 1 << 13 | play.INIT)
    p.w("HASH.CR", play.HASH_BYTES | 1 << 13 | play.INIT)
    play.hash_feed(p, TEXT[:8])
    p.w("HASH.STR", play.DCAL)
    assert p.only("O2").title == "MDMAT does not fit this operation"


def test_no_init_for_a_new_message() -> None:
    """Case B12: the second message goes on where the first stopped."""
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_end(p, "SHA-1", TEXT[:24])
    play.hash_feed(p, TEXT)
    p.w("HASH.CR", play.HASH_BYTES)
    assert "no INIT came since" in p.found[0].text
    assert p.found[0].rule == "O2"
