"""O1: contexts that share what only one of them wrote."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from observe import play
from observe.play import CBC, ECB, Play

KEY_A, KEY_B = bytes(range(16)), bytes(range(100, 116))
TEXT = bytes(range(32, 64))


def contexts(p: Play) -> tuple[int, int, int, int]:
    """Two AES contexts with their keys set; addresses of contexts and keys."""
    a, b = p.put(bytes(64)), p.put(bytes(64))
    key_a, key_b = p.put(KEY_A), p.put(KEY_B)
    for address in (a, b):
        with p.call("mbedtls_aes_init", address):
            pass
    return a, b, key_a, key_b


def ecb(p: Play, context: int, key: bytes, **fault: bool) -> bytes:
    source, target = p.put(TEXT[:16]), p.put(bytes(16))
    with p.call("mbedtls_aes_crypt_ecb", context, 1, source, target):
        result = play.aes(p, ECB, key, TEXT[:16], **fault)
        p.put(result, target)
    return result


def test_contexts_that_load_their_key_each_time_are_right() -> None:
    p = Play()
    a, b, key_a, key_b = contexts(p)
    for context, key in ((a, key_a), (b, key_b)):
        with p.call("mbedtls_aes_setkey_enc", context, key, 128):
            pass
    first = ecb(p, a, KEY_A)
    assert first == Cipher(algorithms.AES(KEY_A), modes.ECB()).encryptor().update(TEXT[:16])
    ecb(p, b, KEY_B)
    assert ecb(p, a, KEY_A) == first
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_key_register_shared_by_two_contexts_names_both() -> None:
    """Case B01: setkey loads the key at once, crypt relies on it."""
    p = Play()
    a, b, key_a, key_b = contexts(p)
    for context, key, data in ((a, key_a, KEY_A), (b, key_b, KEY_B)):
        with p.call("mbedtls_aes_setkey_enc", context, key, 128):
            play.load_key(p, data)
    key_line = p.pc  # of the last key word, for context b
    ecb(p, b, KEY_B, load=False)
    assert p.found == []
    ecb(p, a, KEY_A, load=False)
    finding = p.only("O1")
    assert finding.kind == "context-lost-on-interleave"
    assert f"{a:#010x}" in finding.text
    assert f"{b:#010x}" in finding.text
    assert finding.context == f"AES context {a:#010x}"
    assert finding.operation == f"mbedtls_aes_crypt_ecb({a:#010x}, 16 bytes)"
    assert finding.earlier is not None
    assert finding.earlier.context == f"AES context {b:#010x}"
    assert finding.earlier.where.pc == key_line - 6
    assert finding.registers["CRYP.K2LR"] == f"{int.from_bytes(KEY_B[:4], 'big'):#010x}"


def test_same_key_in_both_contexts_is_no_fault() -> None:
    p = Play()
    a, b, key_a, _ = contexts(p)
    for context in (a, b):
        with p.call("mbedtls_aes_setkey_enc", context, key_a, 128):
            play.load_key(p, KEY_A)
    ecb(p, a, KEY_A, load=False)
    assert p.found == []


def test_a_context_at_the_same_address_is_another_one() -> None:
    """A driver that remembers the pointer only: freed and set up again, its key is not loaded."""
    p = Play()
    a, _, key_a, key_b = contexts(p)
    with p.call("mbedtls_aes_setkey_enc", a, key_a, 128):
        pass
    ecb(p, a, KEY_A)
    with p.call("mbedtls_aes_free", a):
        pass
    with p.call("mbedtls_aes_init", a):
        pass
    with p.call("mbedtls_aes_setkey_enc", a, key_b, 128):
        pass
    ecb(p, a, KEY_B, load=False)
    assert p.only("O1").earlier is not None


def test_iv_of_another_context() -> None:
    p = Play()
    a, b, key_a, key_b = contexts(p)
    for context, key in ((a, key_a), (b, key_b)):
        with p.call("mbedtls_aes_setkey_enc", context, key, 128):
            pass
    source, target = p.put(TEXT), p.put(bytes(32))
    for context, key, iv, loaded in ((a, KEY_A, bytes(16), True), (b, KEY_B, b"\x55" * 16, False)):
        place = p.put(iv)
        with p.call("mbedtls_aes_crypt_cbc", context, 1, 16, place, source, target):
            result = play.aes(p, CBC, key, TEXT[:16], iv if loaded else b"")
            p.put(result, target)
            p.put(result, place)
    finding = p.only("O1")  # the chaining value of a goes on under b
    assert "IV" in finding.title
    assert finding.earlier is not None
    assert finding.earlier.context == f"AES context {a:#010x}"


@pytest.mark.parametrize("algorithm", ["SHA-256", "MD5"])
def test_hash_state_swapped_by_registers_is_right(algorithm: str) -> None:
    p = Play()
    name = {"SHA-256": "sha256", "MD5": "md5"}[algorithm]
    a, b, data = p.put(bytes(300)), p.put(bytes(300)), p.put(TEXT * 4)
    saved = {}
    for context in (a, b):
        with p.call(f"mbedtls_{name}_starts_ret", context, 0):
            play.hash_start(p, algorithm)
            saved[context] = play.hash_save(p)
    for context in (a, b, a):
        with p.call(f"mbedtls_{name}_update_ret", context, data, 64):
            play.hash_restore(p, saved[context])
            play.hash_feed(p, TEXT * 2)
            saved[context] = play.hash_save(p)
    for context, text in ((a, TEXT * 4), (b, TEXT * 2)):
        with p.call(f"mbedtls_{name}_finish_ret", context, data):
            play.hash_restore(p, saved[context])
            digest = play.hash_end(p, algorithm)
        assert digest == hashlib.new(algorithm.replace("-", ""), text).digest()
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_hash_of_two_contexts_in_one_block() -> None:
    """Case B03: state of both lives in the block."""
    p = Play()
    a, b, data = p.put(bytes(200)), p.put(bytes(200)), p.put(TEXT)
    with p.call("mbedtls_sha256_starts_ret", a, 0):
        play.hash_start(p, "SHA-256")
    with p.call("mbedtls_sha256_update_ret", a, data, 32):
        play.hash_feed(p, TEXT)
    with p.call("mbedtls_sha256_update_ret", b, data, 32):
        play.hash_feed(p, TEXT)
    finding = p.only("O1")
    assert finding.block == "HASH"
    assert f"{b:#010x}" in finding.text
    assert finding.earlier is not None
    assert finding.earlier.context == f"SHA-256 context {a:#010x}"


@pytest.mark.parametrize("fed", [False, True])
def test_hash_of_a_copied_context(fed: bool) -> None:
    """A driver need not restore what was saved for a context for its copy, while that is still in the block."""
    p = Play()
    a, b, data = p.put(bytes(200)), p.put(bytes(200)), p.put(TEXT * 4)
    with p.call("mbedtls_sha256_starts_ret", a, 0):
        play.hash_start(p, "SHA-256")
    with p.call("mbedtls_sha256_update_ret", a, data, 64):
        play.hash_feed(p, TEXT * 2)
        play.hash_save(p)
    with p.call("mbedtls_sha256_clone", b, a):
        pass
    if fed:
        with p.call("mbedtls_sha256_update_ret", a, data, 64):
            play.hash_feed(p, TEXT * 2)
    with p.call("mbedtls_sha256_finish_ret", b, data):
        play.hash_end(p, "SHA-256")
    p.observer.finish("finished")
    assert [finding.rule for finding in p.found if finding.rule == "O1"] == ["O1"] * fed, p.observer.findings.show()


def test_context_restored_without_its_last_registers() -> None:
    """Case B95."""
    p = Play()
    a, data = p.put(bytes(200)), p.put(TEXT)
    with p.call("mbedtls_sha256_starts_ret", a, 0):
        play.hash_start(p, "SHA-256")
        saved = play.hash_save(p)
    with p.call("mbedtls_sha256_update_ret", a, data, 32):
        play.hash_restore(p, saved[:20])
        play.hash_feed(p, TEXT)
    assert p.only("O1").kind == "hash-state-save"


def test_one_shot_with_a_start_put_in_line_is_right() -> None:
    """Compilers put `starts` and `finish` in line: the outer call's accesses belong to the inner context."""
    p = Play()
    local, data, digest = p.put(bytes(200)), p.put(TEXT), p.put(bytes(32))
    for _ in range(2):
        with p.call("mbedtls_sha256_ret", data, 32, digest, 0):
            play.hash_start(p, "SHA-256")
            with p.call("mbedtls_sha256_update_ret", local, data, 32):
                play.hash_feed(p, TEXT)
            play.hash_end(p, "SHA-256")
    assert p.found == [], p.observer.findings.show()
