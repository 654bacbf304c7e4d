"""O19: values against the call and against the register."""

from __future__ import annotations

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes

from observe import play
from observe.play import BYTES, CBC, CRYPEN, DECRYPT, ECB, Play

KEY, TEXT = bytes(range(16)), bytes(range(60, 92))


def ecb_call(p: Play, config: int, data: bytes = TEXT[:16], *, mode: int = 1, fresh: bool = True) -> None:
    context, key = p.put(bytes(300)), p.put(KEY)
    with p.call("mbedtls_aes_setkey_enc", context, key, 128):
        pass
    with p.call("mbedtls_aes_crypt_ecb", context, mode, p.put(TEXT[:16]), p.put(bytes(16))):
        p.w("CRYP.CR", config)
        play.load_key(p, KEY)
        if config & DECRYPT:
            play.prepare(p, KEY)
        p.w("CRYP.CR", config)
        p.w("CRYP.CR", config | CRYPEN)
        play.block(p, data)
        p.w("CRYP.CR", config)


def test_mode_lost_by_a_wrong_mask() -> None:
    """Case B25: the block runs in mode 0."""
    p = Play()
    ecb_call(p, BYTES)
    assert "CR.ALGOMODE selects TDES-ECB" in p.found[0].text
    assert p.found[0].rule == "O19"


def test_wrong_direction() -> None:
    p = Play()
    ecb_call(p, ECB | BYTES | DECRYPT)
    assert p.only("O19").title == "ALGODIR does not fit the call"


def test_direction_of_an_earlier_operation() -> None:
    """Case B02 on CR."""
    p = Play()
    context, key = p.put(bytes(300)), p.put(KEY)
    with p.call("mbedtls_aes_setkey_dec", context, key, 128):
        play.load_key(p, KEY)
        play.prepare(p, KEY)
        p.w("CRYP.CR", ECB | BYTES | DECRYPT)
    other = p.put(bytes(300))
    with p.call("mbedtls_aes_setkey_enc", other, key, 128):
        play.load_key(p, KEY)
    with p.call("mbedtls_aes_crypt_ecb", other, 1, p.put(TEXT[:16]), p.put(bytes(16))):
        p.w("CRYP.CR", ECB | BYTES | DECRYPT | CRYPEN)
        play.block(p, TEXT[:16])
    assert {f.rule for f in p.found} == {"O1", "O7"}


def test_direction_of_a_call_that_chose_the_mode_is_its_own() -> None:
    """The block decrypted for another context before, and the call has set up CR from the mode on."""
    p = Play()
    ecb_call(p, ECB | BYTES | DECRYPT, mode=0)
    des = p.put(bytes(160))
    with p.call("wc_Des_SetKey", des, p.put(KEY[:8]), 0, 1):
        pass
    with p.call("wc_Des_EcbEncrypt", des, p.put(bytes(8)), p.put(TEXT[:8]), 8):
        p.w("CRYP.CR", ECB | BYTES)
        p.w("CRYP.CR", 2 << 3 | BYTES)
        p.w("CRYP.K1LR", 0x0001_0203)
        p.w("CRYP.K1RR", 0x0405_0607)
        p.w("CRYP.CR", 2 << 3 | BYTES | CRYPEN)
        play.block(p, TEXT[:8])
    assert p.only("O19").title == "ALGODIR does not fit the call"


def test_reserved_bits() -> None:
    p = Play()
    p.w("CRYP.CR", ECB | 1 << 20)
    assert "0x00100000 are reserved" in p.only("O19").text


def test_data_in_another_order() -> None:
    p = Play()
    ecb_call(p, ECB)  # DATATYPE = 0, words in memory order
    assert p.only("O19").kind == "wrong-data-swap"


def test_order_of_a_driver_is_its_caller_s() -> None:
    """The vendor's examples hand over words, and their handle says 32-bit data."""
    p = Play()
    with p.call("HAL_CRYP_AESECB_Encrypt", p.put(bytes(100)), p.put(TEXT[:16]), 16, p.put(bytes(16)), 1000):
        play.load_key(p, KEY)
        p.w("CRYP.CR", ECB | CRYPEN)
        play.block(p, TEXT[:16])
        p.w("CRYP.CR", ECB)
    assert p.found == [], p.observer.findings.show()


def test_hash_data_in_another_order() -> None:
    p = Play()
    context, data = p.put(bytes(200)), p.put(TEXT)
    with p.call("mbedtls_sha256_starts_ret", context, 0):
        p.w("HASH.CR", play.ALGO["SHA-256"] | play.INIT)
    with p.call("mbedtls_sha256_update_ret", context, data, 32):
        play.hash_feed(p, TEXT)
    assert p.only("O19").kind == "wrong-data-swap"


def test_field_that_does_not_read_back() -> None:
    """Case B149: the block is not there, its registers read 0."""
    p = Play()
    p.w("CRYP.CR", ECB | BYTES)
    p.r("CRYP.CR", 0)
    assert p.only("O19").kind == "feature-missing-on-chip"


def test_des_through_tdes_is_right() -> None:
    p = Play()
    key = bytes.fromhex("133457799bbcdff1")
    context, place = p.put(bytes(300)), p.put(key)
    with p.call("mbedtls_des_setkey_enc", context, place):
        pass
    with p.call("mbedtls_des_crypt_ecb", context, p.put(TEXT[:8]), p.put(bytes(8))):
        p.w("CRYP.CR", BYTES)
        play.load_key(p, key * 3)
        p.w("CRYP.CR", BYTES | CRYPEN)
        result = play.block(p, TEXT[:8])
    assert result == Cipher(TripleDES(key * 3), modes.ECB()).encryptor().update(TEXT[:8])
    assert p.found == [], p.observer.findings.show()


def test_cbc_by_ecb_in_software_is_right() -> None:
    p = Play()
    context, key, iv = p.put(bytes(300)), p.put(KEY), p.put(bytes(16))
    with p.call("mbedtls_aes_setkey_enc", context, key, 128):
        pass
    target = p.put(bytes(32))
    with p.call("mbedtls_aes_crypt_cbc", context, 1, 16, iv, p.put(TEXT[:16]), target):
        result = play.aes(p, ECB, KEY, TEXT[:16])
        p.put(result, target)
        p.put(result, iv)
    assert CBC != ECB
    assert p.found == [], p.observer.findings.show()
