"""O6, O7 and O21: keys, IVs, preparation."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from observe import play
from observe.play import BYTES, CBC, CRYPEN, CTR, DECRYPT, ECB, KEYS, Play

KEYS_OF = {16: bytes(range(1, 17)), 24: bytes(range(1, 25)), 32: bytes(range(1, 33))}
TEXT = bytes(range(100, 148))
IV = bytes(range(200, 216))


@pytest.mark.parametrize("size", [16, 24, 32])
def test_right_keys_of_all_sizes_and_directions(size: int) -> None:
    p = Play()
    key = KEYS_OF[size]
    cipher = Cipher(algorithms.AES(key), modes.CBC(IV)).encryptor().update(TEXT)
    assert play.aes(p, CBC, key, TEXT, IV) == cipher
    assert play.aes(p, CBC, key, cipher, IV, decrypt=True) == TEXT
    assert play.aes(p, CTR, key, TEXT, IV) == Cipher(algorithms.AES(key), modes.CTR(IV)).encryptor().update(TEXT)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_decryption_without_preparation() -> None:
    """Case B22."""
    p = Play()
    p.w("CRYP.CR", ECB | BYTES | DECRYPT)
    play.load_key(p, KEYS_OF[16])
    p.w("CRYP.CR", ECB | BYTES | DECRYPT | CRYPEN)
    play.block(p, TEXT[:16])
    finding = p.only("O7")
    assert "no key preparation" in finding.text
    assert finding.earlier is not None


def test_encryption_with_a_prepared_key() -> None:
    """Case B28: preparation for encryption too."""
    p = Play()
    play.load_key(p, KEYS_OF[16])
    play.prepare(p, KEYS_OF[16])
    p.w("CRYP.CR", ECB | BYTES | CRYPEN)
    play.block(p, TEXT[:16])
    assert "in decryption form" in p.only("O7").text


def test_key_at_the_wrong_end() -> None:
    """Case B27: the array filled from its start."""
    p = Play()
    p.w("CRYP.CR", ECB | BYTES)
    for name, word in zip(KEYS, play.words(KEYS_OF[16]), strict=False):
        p.w(f"CRYP.{name}", word)
    p.w("CRYP.CR", ECB | BYTES | CRYPEN)
    play.block(p, TEXT[:16])
    assert p.only("O6").title == "key registers not all written"


def test_key_size_lost() -> None:
    """Case B31: eight words loaded, KEYSIZE says 128 bits."""
    p = Play()
    p.w("CRYP.CR", ECB | BYTES)
    play.load_key(p, KEYS_OF[32])
    p.w("CRYP.CR", ECB | BYTES | CRYPEN)
    play.block(p, TEXT[:16])
    assert p.only("O6").title == "key words loaded that the block does not use"


def test_zeros_in_unused_key_registers_are_right() -> None:
    """ST's standard peripheral library writes all eight."""
    p = Play()
    p.w("CRYP.CR", ECB | BYTES)
    play.load_key(p, bytes(16) + KEYS_OF[16])
    p.w("CRYP.CR", ECB | BYTES | CRYPEN)
    play.block(p, TEXT[:16])
    assert p.found == []


def test_iv_never_written() -> None:
    p = Play()
    play.aes(p, CBC, KEYS_OF[16], TEXT[:16])
    assert p.only("O6").title == "IV registers never written"


def keyed(p: Play, key: bytes) -> tuple[int, int]:
    context, place = p.put(bytes(300)), p.put(key)
    with p.call("mbedtls_aes_setkey_enc", context, place, 8 * len(key)):
        pass
    return context, place


def crypt(p: Play, context: int, loaded: bytes) -> None:
    source = p.put(TEXT[:16])
    with p.call("mbedtls_aes_crypt_ecb", context, 1, source, p.put(bytes(16))):
        play.aes(p, ECB, loaded, TEXT[:16])


@pytest.mark.parametrize(
    ("loaded", "kind"),
    [
        (bytes(16), "key-lifetime"),
        (b"".join(KEYS_OF[16][i : i + 4][::-1] for i in range(0, 16, 4)), "wrong-data-swap"),
        (KEYS_OF[16][:15] + b"\xee", "wrong-register-value"),
        (KEYS_OF[32], "wrong-register-value"),
    ],
)
def test_not_the_key_that_the_context_was_given(loaded: bytes, kind: str) -> None:
    """Cases B40, B36 and more."""
    p = Play()
    context, _ = keyed(p, KEYS_OF[16])
    crypt(p, context, loaded)
    assert p.only("O6").kind == kind


def test_key_read_late_through_a_pointer() -> None:
    """Case B37."""
    p = Play()
    context, place = keyed(p, KEYS_OF[16])
    p.put(b"\x99" * 16, place)
    crypt(p, context, b"\x99" * 16)
    finding = p.only("O21")
    assert f"{place:#010x}" in finding.text
    assert finding.earlier is not None
    assert "mbedtls_aes_setkey_enc was called" in finding.earlier.what


def test_a_key_wiped_after_set_is_no_fault() -> None:
    p = Play()
    context, place = keyed(p, KEYS_OF[16])
    p.put(bytes(16), place)
    crypt(p, context, KEYS_OF[16])
    assert p.found == []
