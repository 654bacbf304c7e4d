"""O8, O3 and O2 on GCM, CCM, hashes and HMAC."""

from __future__ import annotations

import hashlib
import hmac
from contextlib import AbstractContextManager, nullcontext

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM

from observe import play
from observe.play import Play

KEY, IV = bytes(range(16)), bytes(range(50, 62))
TEXT, AAD = bytes(range(100, 180)), bytes(range(200, 240))
MODE_HMAC, LKEY = 1 << 6, 1 << 16


def in_gcm_call(p: Play, aad: bytes, text: bytes, *, decrypt: bool = False, **fault: object) -> tuple[bytes, bytes]:
    context, key, iv = p.put(bytes(400)), p.put(KEY), p.put(IV)
    places = [p.put(part or b"\0") for part in (aad, text, bytes(len(text)), bytes(16))]
    with p.call("mbedtls_gcm_setkey", context, 2, key, 128):
        pass
    arguments = (context, 1, len(text), iv, 12, places[0], len(aad), places[1], places[2], 16, places[3])
    with p.call("mbedtls_gcm_crypt_and_tag", *arguments):
        return play.gcm(p, KEY, IV, aad, text, decrypt=decrypt, **fault)  # type: ignore[arg-type]


@pytest.mark.parametrize("text_bytes", [0, 1, 16, 31, 80])
@pytest.mark.parametrize("aad_bytes", [0, 5, 16, 40])
def test_right_gcm(text_bytes: int, aad_bytes: int) -> None:
    p = Play()
    text, aad = TEXT[:text_bytes], AAD[:aad_bytes]
    result, tag = in_gcm_call(p, aad, text)
    assert result + tag == AESGCM(KEY).encrypt(IV, text, aad)
    plain, tag_again = play.gcm(p, KEY, IV, aad, result, decrypt=True)
    assert (plain, tag_again) == (text, tag)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


@pytest.mark.parametrize(
    ("fault", "rule", "kind", "words"),
    [
        ({"unit": 1}, "O8", "aad-length", "seems to be given in bytes"),
        ({"sequence": False}, "O8", "silicon-erratum", "no NPBLB"),
        ({"mask": False}, "O8", "partial-last-block", "must be 0"),
        ({"skip_init": True}, "O8", "stale-config-carryover", "no init phase"),
    ],
)
def test_gcm_faults(fault: dict[str, object], rule: str, kind: str, words: str) -> None:
    """Cases B80, B55/B59; the phase left out."""
    p = Play()
    in_gcm_call(p, AAD[:20], TEXT[:21], **fault)
    p.observer.finish("finished")
    assert [f.rule for f in p.found][:1] in ([rule], ["O2"]), p.observer.findings.show()
    assert p.found[0].kind == kind
    assert words in p.found[0].text


def test_bytes_behind_the_message_enter_the_tag() -> None:
    """Case B54: decryption, the last word read whole."""
    p = Play()
    play.gcm(p, KEY, IV, b"", TEXT[:18], decrypt=True, padding=b"\xff\xff")
    p.observer.finish("finished")
    finding = p.only("O3")
    assert finding.kind == "partial-last-block"
    assert "ffff" in finding.text


def test_additional_data_fed_twice() -> None:
    """Case B79: the first block again instead of the second."""
    p = Play()
    context, key, iv, aad = p.put(bytes(400)), p.put(KEY), p.put(IV), p.put(AAD[:32])
    with p.call("mbedtls_gcm_setkey", context, 2, key, 128):
        pass
    with p.call("mbedtls_gcm_starts", context, 1, iv, 12, aad, 32):
        play.gcm(p, KEY, IV, AAD[:16] * 2, b"")
    finding = p.only("O3")
    assert "an earlier block was fed again" in finding.text


@pytest.mark.parametrize("known", [True, False], ids=["calls", "no calls"])
def test_counter_blocks_of_another_context_are_not_of_a_message_that_waits(known: bool) -> None:
    """GCM started and saved; a CTR job; GCM restored and ended without text."""
    p = Play()
    context, other, iv, data, output = (p.put(bytes(200)) for _ in range(5))
    config = play.GCM | play.keysize(KEY) | play.BYTES
    registers = [f"CRYP.CSGCM{part}{i}R" for i in range(8) for part in ("CCM", "")]

    def during(name: str, *arguments: int) -> AbstractContextManager[None]:
        return p.call(name, *arguments) if known else nullcontext()

    with during("mbedtls_gcm_starts", context, 1, iv, 12, 0, 0):
        p.w("CRYP.CR", config)
        play.load_key(p, KEY)
        play.load_iv(p, bytes(15) + b"\2")
        p.w("CRYP.CR", config | play.CRYPEN)
        p.wait("CRYP.CR", play.CRYPEN, 0)
        kept = [p.r(name) for name in registers]
        kept_iv = [p.r(f"CRYP.IV{i}{side}R") for i in (0, 1) for side in "LR"]
    with during("mbedtls_aes_crypt_ctr", other, 16, data, output, data, data, output):
        p.w("CRYP.CR", config & ~play.GCM | play.CTR)
        play.load_key(p, KEY[::-1])
        play.load_iv(p, bytes(200)[:3] + b"other" + bytes(8))
        p.w("CRYP.CR", config & ~play.GCM | play.CTR | play.CRYPEN)
        play.block(p, bytes(16))
        p.w("CRYP.CR", config)
    with during("mbedtls_gcm_finish", context, output, 16):
        play.load_key(p, KEY)
        for name, value in zip([f"CRYP.IV{i}{side}R" for i in (0, 1) for side in "LR"], kept_iv, strict=True):
            p.w(name, value)
        for name, value in zip(registers, kept, strict=True):
            p.w(name, value)
        p.w("CRYP.CR", config | play.FINAL | play.CRYPEN)
        play.block(p, bytes(16))
        p.w("CRYP.CR", config | play.FINAL)
    p.observer.finish("finished")
    assert not any(found.rule == "O8" for found in p.found), p.observer.findings.show()


def test_gcm_iv_of_another_length() -> None:
    """Case B64."""
    p = Play()
    context, key, iv = p.put(bytes(400)), p.put(KEY), p.put(IV + IV)
    with p.call("mbedtls_gcm_setkey", context, 2, key, 128):
        pass
    with p.call("mbedtls_gcm_starts", context, 1, iv, 16, 0, 0):
        play.gcm(p, KEY, IV, b"", b"")
    assert p.only("O8").kind == "gcm-iv-not-96-bit"


@pytest.mark.parametrize("text_bytes", [0, 7, 16, 33])
@pytest.mark.parametrize("aad_bytes", [0, 8, 20])
def test_right_ccm(text_bytes: int, aad_bytes: int) -> None:
    p = Play()
    nonce, text, aad = IV, TEXT[:text_bytes], AAD[:aad_bytes]
    result, tag = play.ccm(p, KEY, nonce, aad, text, 8)
    assert result + tag == AESCCM(KEY, 8).encrypt(nonce, text, aad)
    assert play.ccm(p, KEY, nonce, aad, result, 8, decrypt=True) == (text, tag)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_ccm_faults() -> None:
    """Case B58, and a wrong length in B0."""
    p = Play()
    play.ccm(p, KEY, IV, AAD[:8], TEXT[:23], 8, decrypt=True, sequence=False)
    p.observer.finish("finished")
    assert p.only("O8").kind == "partial-last-block"
    p = Play()
    play.ccm(p, KEY, IV, AAD[:8], TEXT[:32], 8, stated=8)
    p.observer.finish("finished")
    assert "B0 says 8 bytes of text; 2 blocks were fed" in p.only("O8").text


# -- hash ------------------------------------------------------------------------------------------
def in_hash_calls(p: Play, text: bytes, **fault: int) -> bytes:
    context, data, output = p.put(bytes(200)), p.put(text), p.put(bytes(16))
    with p.call("mbedtls_md5_starts_ret", context):
        play.hash_start(p, "MD5")
    whole = len(text) // 4 * 4
    with p.call("mbedtls_md5_update_ret", context, data, len(text)):
        play.hash_feed(p, text[:whole])
    with p.call("mbedtls_md5_finish_ret", context, output):
        return play.hash_end(p, "MD5", text[whole:], **fault)


@pytest.mark.parametrize("size", [0, 1, 4, 55, 64, 67])
def test_right_hash(size: int) -> None:
    p = Play()
    assert in_hash_calls(p, TEXT[:size]) == hashlib.md5(TEXT[:size]).digest()
    assert p.found == [], p.observer.findings.show()


@pytest.mark.parametrize("size", [1, 3])
def test_valid_bits_counted_from_the_wrong_end(size: int) -> None:
    """Case B62."""
    p = Play()
    in_hash_calls(p, TEXT[:size], nblw=32 - 8 * size)
    finding = p.only("O8")
    assert finding.kind == "partial-last-block"
    assert f"was given {size} bytes" in finding.text


def in_saved_pieces(p: Play, pieces: list[bytes], whole: bool) -> bytes:
    """A message whose context is saved behind each call; `whole`: the rest of a word waits for the next call."""
    context, output = p.put(bytes(200)), p.put(bytes(16))
    with p.call("mbedtls_md5_starts_ret", context):
        play.hash_start(p, "MD5")
        state = play.hash_save(p)
    rest = b""
    for piece in pieces:
        with p.call("mbedtls_md5_update_ret", context, p.put(piece), len(piece)):
            play.hash_restore(p, state)
            rest += piece
            now = len(rest) // 4 * 4 if whole else len(rest)
            play.hash_feed(p, rest[:now])
            p.wait("HASH.SR", 8, 0)
            state, rest = play.hash_save(p), rest[now:]
    with p.call("mbedtls_md5_finish_ret", context, output):
        play.hash_restore(p, state)
        size = sum(map(len, pieces))
        return play.hash_end(p, "MD5", rest, nblw=8 * (size % 4))


def test_rest_of_a_word_waits_for_the_next_call() -> None:
    p = Play()
    pieces = [TEXT[:65], TEXT[:4], TEXT[:3]]
    assert in_saved_pieces(p, pieces, True) == hashlib.md5(b"".join(pieces)).digest()
    assert p.found == [], p.observer.findings.show()


def test_short_word_in_the_middle_of_a_message() -> None:
    """wolfSSL 5.5.4's port (its pull request 6114); the length at the block may be right all the same."""
    p = Play()
    pieces = [TEXT[:65], TEXT[:4]]
    assert in_saved_pieces(p, pieces, False) != hashlib.md5(b"".join(pieces)).digest()
    finding = p.only("O8")
    assert finding.kind == "partial-last-block"
    assert "had been given 65 bytes when 17 words were in HASH" in finding.text
    p = Play()
    in_saved_pieces(p, [TEXT[:65]], False)  # nothing follows: that word was the last one
    assert p.found == [], p.observer.findings.show()


def mac(p: Play, key: bytes, text: bytes, *, again: bytes | None = None, long_key: bool | None = None) -> bytes:
    flags = MODE_HMAC | (LKEY if (len(key) > 64 if long_key is None else long_key) else 0)
    p.w("HASH.CR", play.HASH_BYTES | flags | play.INIT)
    for part in (key, text):
        play.hash_feed(p, part)
        p.w("HASH.STR", 8 * (len(part) % 4))
        p.w("HASH.STR", play.DCAL)
        p.wait("HASH.SR", 8, 0)
    return play.hash_end(p, "SHA-1", key if again is None else again)


@pytest.mark.parametrize("size", [1, 20, 64, 65, 100])
def test_right_hmac(size: int) -> None:
    p = Play()
    key = (TEXT + AAD)[:size]
    assert mac(p, key, TEXT) == hmac.new(key, TEXT, "sha1").digest()
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_hmac_key_faults() -> None:
    """Case B91, and LKEY."""
    p = Play()
    mac(p, TEXT[:20], TEXT, again=TEXT[:16])
    assert p.only("O8").kind == "hmac-key-handling"
    p = Play()
    mac(p, TEXT[:20], TEXT, again=TEXT[1:21])
    assert "with other contents" in p.only("O8").text
    p = Play()
    mac(p, TEXT[:20], TEXT, long_key=True)
    assert "LKEY" in p.found[0].text
