"""O11, O22, O12: waits, clocks, resets."""

from __future__ import annotations

from typing import Any

from observe import play
from observe.play import BASES, ECB, Play

TEXT, KEY = bytes(range(40)), bytes(range(16))
MILLISECONDS_6 = 6 * 168_000


def poll(p: Play, name: str, cycles: int, value: int | None = None) -> None:
    end = p.clock.now + cycles
    while p.clock.now < end:
        p.clock.advance(5000)
        p.r(name, value)


def test_part_of_a_block_waits_for_ever() -> None:
    p = Play()
    play.aes(p, ECB, KEY, b"")
    p.w("CRYP.CR", ECB | play.BYTES | play.CRYPEN)
    p.w("CRYP.DIN", 1)
    poll(p, "CRYP.SR", MILLISECONDS_6)
    finding = p.only("O11")
    assert "the IN FIFO holds 1 of the 4 words of a block" in finding.text


def test_hmac_stage_waits_for_ever() -> None:
    """Case B09."""
    p = Play()
    p.w("HASH.CR", play.HASH_BYTES | 1 << 6 | play.INIT)
    play.hash_feed(p, TEXT)
    p.w("HASH.STR", play.DCAL)
    poll(p, "HASH.SR", MILLISECONDS_6)
    assert "1 of its three parts" in p.only("O11").text


def test_generator_off() -> None:
    p = Play()
    poll(p, "RNG.SR", MILLISECONDS_6)
    assert "RNGEN = 0" in p.only("O11").text


def test_looking_now_and_then_is_no_wait() -> None:
    p = Play()
    for _ in range(40):
        p.clock.advance(MILLISECONDS_6)
        p.r("HASH.SR")
    assert p.found == []


def test_interrupt_with_nothing_to_raise_it() -> None:
    """Cases B119, B60."""
    p = Play()
    p.w("RNG.CR", 1 << 3)
    play.hash_start(p, "SHA-1")
    p.w("HASH.IMR", 3)
    play.hash_feed(p, TEXT[:8])
    p.observer.finish("idle")
    assert sorted(f.block for f in p.found) == ["HASH", "RNG"]
    assert p.rules == {"O11"}


def test_gave_up_too_soon() -> None:
    """Cases B112, B123."""
    p = Play()
    p.w("RNG.CR", 1 << 2)
    with p.call("mbedtls_hardware_poll", 0, p.put(bytes(4)), 4, p.put(bytes(4)), result=-1):
        for _ in range(10):
            p.r("RNG.SR", 0)
    assert p.only("O22").kind == "timeout-units"


def test_an_error_reported_is_no_fault() -> None:
    p = Play()
    p.w("RNG.CR", 1 << 2)
    with p.call("mbedtls_hardware_poll", 0, p.put(bytes(4)), 4, p.put(bytes(4)), result=-1):
        p.r("RNG.SR", 1 << 6 | 1 << 2)
    assert p.found == []


# -- O12 -------------------------------------------------------------------------------------------
def test_generator_without_its_clock() -> None:
    """Cases B117, B122."""
    hz = {"PLL48": 0, "HCLK": 168_000_000}
    p = Play(frequency=hz.get)
    p.w("RNG.CR", 1 << 2)
    assert "is stopped" in p.only("O12").text
    hz["PLL48"] = 10_000_000
    p = Play(frequency=hz.get)
    p.w("RNG.CR", 1 << 2)
    assert "10000000 Hz" in p.only("O12").text
    hz["PLL48"] = 48_000_000
    p = Play(frequency=hz.get)
    p.w("RNG.CR", 1 << 2)
    assert p.found == []


def reset(p: Play, bit: int) -> None:
    from cryplab.observe.events import WRITE, Access, pack

    for value in (bit, 0):
        p.clock.advance(10)
        p.observer.accesses(pack(Access(p.clock.now, p.pc, BASES["RCC"] + play.AHB2RSTR, value, 4, WRITE)))
    p.blocks["CRYP" if bit == play.CRYPRST else "HASH"].reset()


def test_reset_with_another_context_open() -> None:
    """Case B16: free(B) resets the block."""
    p = Play()
    a, b, data = p.put(bytes(200)), p.put(bytes(200)), p.put(TEXT)
    with p.call("mbedtls_sha256_starts_ret", a, 0):
        play.hash_start(p, "SHA-256")
    with p.call("mbedtls_sha256_update_ret", a, data, 8):
        play.hash_feed(p, TEXT[:8])
    with p.call("mbedtls_sha256_free", b):
        reset(p, play.HASHRST)
    finding = p.only("O12")
    assert finding.kind == "reset-clobbers-shared"
    assert f"{a:#010x}" in finding.text


def test_reset_wipes_the_key_of_another_context() -> None:
    p = Play()
    a, b, key = p.put(bytes(300)), p.put(bytes(300)), p.put(KEY)
    for address in (a, b):
        with p.call("mbedtls_aes_setkey_enc", address, key, 128):
            play.load_key(p, KEY)
    with p.call("mbedtls_aes_free", b):
        reset(p, play.CRYPRST)
    options: dict[str, Any] = {"load": False}
    with p.call("mbedtls_aes_crypt_ecb", a, 1, p.put(TEXT[:16]), p.put(bytes(16))):
        play.aes(p, ECB, KEY, TEXT[:16], **options)
    finding = p.only("O12")
    assert finding.earlier is not None
    assert "mbedtls_aes_free" in finding.text
