"""O9 and O10: chaining values and counters."""

from __future__ import annotations

import pytest

from observe import play
from observe.play import CBC, CTR, Play

KEY, TEXT, IV = bytes(range(16)), bytes(range(64)), bytes(range(200, 216))


def context(p: Play, *, decrypt: bool = False) -> int:
    address, key = p.put(bytes(300)), p.put(KEY)
    with p.call(f"mbedtls_aes_setkey_{'dec' if decrypt else 'enc'}", address, key, 128):
        pass
    return address


def cbc(
    p: Play, aes: int, iv: int, data: bytes, *, kept: slice | bytes, loaded: bytes | None = None, decrypt: bool = False
) -> None:
    """One call; `kept` is which bytes the driver hands back as the next IV (of the last data it holds)."""
    source, target = p.put(data), p.put(bytes(len(data) + 16))
    before = p.read_memory(iv, 16) or b""
    with p.call("mbedtls_aes_crypt_cbc", aes, 0 if decrypt else 1, len(data), iv, source, target):
        result = play.aes(p, CBC, KEY, data, before if loaded is None else loaded, decrypt=decrypt) if data else b""
        p.put(result, target)
        p.put((data if decrypt else result)[kept] if isinstance(kept, slice) else kept, iv)


@pytest.mark.parametrize("decrypt", [False, True])
def test_right_chaining(decrypt: bool) -> None:
    p = Play()
    aes, iv = context(p, decrypt=decrypt), p.put(IV)
    for data in (TEXT[:32], TEXT[32:48], TEXT):
        cbc(p, aes, iv, data, kept=slice(-16, None), decrypt=decrypt)
    now = p.read_memory(iv, 16) or b""
    cbc(p, aes, iv, b"", kept=now, decrypt=decrypt)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_first_block_kept() -> None:
    """Case B41: right with one block for each call."""
    p = Play()
    aes, iv = context(p), p.put(IV)
    cbc(p, aes, iv, TEXT[:16], kept=slice(0, 16))
    assert p.found == []
    cbc(p, aes, iv, TEXT[:32], kept=slice(0, 16))
    assert p.only("O9").kind == "iv-not-updated-for-chaining"


def test_iv_left_as_it_was() -> None:
    """Case B43."""
    p = Play()
    aes, iv = context(p), p.put(IV)
    cbc(p, aes, iv, TEXT[:16], kept=IV)
    assert "left as it was" in p.only("O9").text


def test_iv_of_zero_bytes_changed() -> None:
    """Case B90."""
    p = Play()
    aes, iv = context(p), p.put(IV)
    cbc(p, aes, iv, TEXT[:16], kept=slice(-16, None))
    cbc(p, aes, iv, b"", kept=b"\x11" * 16)
    assert p.only("O9").kind == "zero-length"


def test_iv_loaded_in_memory_order() -> None:
    """Case B38: words not turned into byte order."""
    p = Play()
    aes, iv = context(p), p.put(IV)
    turned = b"".join(IV[i : i + 4][::-1] for i in range(0, 16, 4))
    cbc(p, aes, iv, TEXT[:16], kept=slice(-16, None), loaded=turned)
    assert p.only("O9").kind == "wrong-data-swap"


def ctr(p: Play, aes: int, off: int, iv: int, size: int, kept: bytes) -> None:
    before = p.read_memory(iv, 16) or b""
    with p.call(
        "mbedtls_aes_crypt_ctr", aes, size, off, iv, p.put(bytes(16)), p.put(TEXT[:size]), p.put(bytes(size + 32))
    ):
        play.aes(p, CTR, KEY, TEXT[:size].ljust(-(-size // 16) * 16, b"\0"), before)
        p.put(kept, iv)
        p.put(bytes([size % 16, 0, 0, 0]), off)


def test_ctr_hands_back_the_next_counter() -> None:
    p = Play()
    aes, off, iv = context(p), p.put(bytes(4)), p.put(IV)
    ctr(p, aes, off, iv, 21, (int.from_bytes(IV, "big") + 2).to_bytes(16, "big"))
    assert p.found == []
    p.put(bytes(4), off)
    ctr(p, aes, off, iv, 16, b"\x42" * 16)
    assert p.only("O9").kind == "ctr-counter"


def test_counter_wraps_in_the_block() -> None:
    """Case B51."""
    p = Play()
    play.aes(p, CTR, KEY, TEXT[:32], IV[:12] + b"\xff\xff\xff\xfe")
    assert p.found == []
    play.aes(p, CTR, KEY, TEXT[:48], IV[:12] + b"\xff\xff\xff\xfe")
    assert p.only("O10").title == "the counter's low word wraps"


def test_counter_used_twice_in_a_call() -> None:
    """Case B50 in kind: the driver reloads the call's counter for its second block."""
    p = Play()
    aes, off, iv = context(p), p.put(bytes(4)), p.put(IV)
    with p.call("mbedtls_aes_crypt_ctr", aes, 32, off, iv, p.put(bytes(16)), p.put(TEXT[:32]), p.put(bytes(64))):
        for start in (0, 16):
            play.aes(p, CTR, KEY, TEXT[start : start + 16], IV)
        p.put((int.from_bytes(IV, "big") + 2).to_bytes(16, "big"), iv)
    assert p.only("O10").title == "the same counter twice in one call"
