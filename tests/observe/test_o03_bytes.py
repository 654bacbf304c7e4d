"""O3: memory around a call."""

from __future__ import annotations

from observe import play
from observe.play import CTR, ECB, Play

KEY, TEXT = bytes(range(16)), bytes(range(60, 100))


def setup(p: Play) -> int:
    context, key = p.put(bytes(300)), p.put(KEY)
    with p.call("mbedtls_aes_setkey_enc", context, key, 128):
        pass
    return context


def ctr(p: Play, size: int, stored: int, *, behind: bytes = b"\xaa" * 16) -> None:
    """CTR of `size` bytes whose driver stores `stored` bytes of result."""
    context = setup(p)
    off, iv, stream = p.put(bytes(4)), p.put(bytes(16)), p.put(bytes(16))
    source, target = p.put(TEXT[:size]), p.put(bytes(size) + behind)
    with p.call("mbedtls_aes_crypt_ctr", context, size, off, iv, stream, source, target):
        result = play.aes(p, CTR, KEY, TEXT[:size].ljust(-(-size // 16) * 16, b"\0"), bytes(16))
        p.put(result[:stored], target)
        p.put((-(-size // 16)).to_bytes(16, "big"), iv)


def test_a_result_of_the_right_length() -> None:
    p = Play()
    ctr(p, 21, 21)
    assert p.found == [], p.observer.findings.show()


def test_whole_words_stored_behind_the_output() -> None:
    """Cases B67, B70: the last word is stored whole."""
    p = Play()
    ctr(p, 21, 24)
    finding = p.only("O3")
    assert finding.kind == "buffer-overrun"
    assert "stored 3 bytes behind the 21 bytes" in finding.text


def test_a_change_behind_the_output_that_is_no_result_is_left_to_check() -> None:
    for deep, count in ((False, 0), (True, 1)):
        p = Play(deep=deep)
        context = setup(p)
        source, target = p.put(TEXT[:16]), p.put(bytes(32))
        with p.call("mbedtls_aes_crypt_ecb", context, 1, source, target):
            p.put(play.aes(p, ECB, KEY, TEXT[:16]) + b"\x77", target)
        assert len(p.found) == count


def test_input_reversed_in_place() -> None:
    """Case B47."""
    p = Play()
    context = setup(p)
    source, target = p.put(TEXT[:16]), p.put(bytes(32))
    with p.call("mbedtls_aes_crypt_ecb", context, 1, source, target):
        p.put(play.aes(p, ECB, KEY, TEXT[:16]), target)
        p.put(TEXT[3::-1], source)
    finding = p.only("O3")
    assert finding.kind == "in-place-overlap"
    assert "reversed" in finding.text


def test_in_place_is_right() -> None:
    p = Play()
    context = setup(p)
    both = p.put(TEXT[:16])
    with p.call("mbedtls_aes_crypt_ecb", context, 1, both, both):
        p.put(play.aes(p, ECB, KEY, TEXT[:16]), both)
    assert p.found == []


def test_message_read_past_its_end() -> None:
    """Case B68; a matter of `check`, where what lies behind is known to be unique."""
    p = Play(deep=True)
    data, digest = p.put(TEXT[:8]), p.put(bytes(32))
    with p.call("mbedtls_md5_ret", data, 5, digest):
        play.hash_start(p, "MD5")
        play.hash_feed(p, TEXT[:4])
        p.w("HASH.DIN", int.from_bytes(TEXT[4:8], "little"))
        p.w("HASH.STR", 8)
        p.w("HASH.STR", play.DCAL)
    assert p.only("O3").kind == "buffer-overrun"
