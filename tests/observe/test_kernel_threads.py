"""Engines under a kernel: what is under way goes on after another thread has run; what is done may be followed."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from cryplab.observe.events import EXCEPTION_ENTRY, EXCEPTION_EXIT
from observe import play
from observe.play import RAM, Play

TEXT = bytes(range(64))
PENDSV = 14
SAVED = 38
"Context-swap registers of a hash."
STACK_A, STACK_B = RAM + 0x8000, RAM + 0xA000
OPEN: list[AbstractContextManager[None]] = []
"Calls that do not return."


def other_thread_waits(p: Play) -> None:
    """A switch, a call of the other thread that gets no further than the lock, and the switch back."""
    sp, p.sp = p.sp, STACK_B
    p.record(EXCEPTION_ENTRY, STACK_A, PENDSV)
    p.record(EXCEPTION_EXIT, STACK_B, PENDSV)
    waits = p.call("mbedtls_sha256_update_ret", p.put(bytes(200)), p.put(TEXT), 64)
    waits.__enter__()
    OPEN.append(waits)
    p.record(EXCEPTION_ENTRY, STACK_B - 0x80, PENDSV)
    p.record(EXCEPTION_EXIT, STACK_A, PENDSV)
    p.sp = sp


def hashed(where: str, *, whole: bool = True) -> Play:
    p = Play()
    context, data = p.put(bytes(200)), p.put(TEXT)

    def pause(here: str) -> None:
        if here == where:
            other_thread_waits(p)

    with p.call("mbedtls_sha256_starts_ret", context, 0):
        play.hash_start(p, "SHA-256")
        p.wait("HASH.SR", 8, 0)
        cr, state = p.r("HASH.CR"), []
        for i in range(SAVED):
            if i == 10:
                pause("save")
            state.append(p.r(f"HASH.CSR{i}"))
    with p.call("mbedtls_sha256_finish_ret", context, data):
        p.w("HASH.CR", cr)
        p.w("HASH.CR", cr | play.INIT)
        for i, word in enumerate(state[: SAVED if whole else 18]):
            if i == 10:
                pause("restore")
            p.w(f"HASH.CSR{i}", word)
        play.hash_end(p, "SHA-256")
    p.observer.finish("finished")
    return p


@pytest.mark.parametrize("where", ["", "save", "restore"])
def test_what_is_interrupted_by_a_waiting_thread_is_right(where: str) -> None:
    p = hashed(where)
    assert p.found == [], p.observer.findings.show()


def test_what_is_not_whole_is_found_all_the_same() -> None:
    assert [finding.kind for finding in hashed("restore", whole=False).found][:1] == ["hash-state-save"]


def test_a_message_may_pause_while_others_come_and_go() -> None:
    """A handshake's hash waits for seconds; meanwhile another task hashes with a fresh context each time."""
    p = Play()
    a, other, data = (p.put(bytes(200)) for _ in range(3))
    with p.call("mbedtls_sha256_starts_ret", a, 0):
        play.hash_start(p, "SHA-256")
    with p.call("mbedtls_sha256_update_ret", a, data, 64):
        play.hash_feed(p, TEXT)
        state = play.hash_save(p)
    for _ in range(300):
        with p.call("mbedtls_sha256_init", other):
            pass
        with p.call("mbedtls_sha256_starts_ret", other, 0):
            pass
        with p.call("mbedtls_sha256_update_ret", other, data, 64):
            play.hash_start(p, "SHA-256")
            play.hash_feed(p, TEXT)
            play.hash_save(p)
        with p.call("mbedtls_sha256_free", other):
            pass
    with p.call("mbedtls_sha256_update_ret", a, data, 64):
        play.hash_restore(p, state[:20])
        play.hash_feed(p, TEXT)
    assert [finding.kind for finding in p.found] == ["hash-state-save"], p.observer.findings.show()


def test_an_engine_is_free_once_a_message_is_done_though_its_call_goes_on() -> None:
    """wolfSSL computes the tag's hash in software, its lock given back; the next task writes CR more than once."""
    p = Play()
    a, b = p.put(bytes(300)), p.put(bytes(300))
    for context, key in ((a, TEXT[:16]), (b, TEXT[16:32])):
        with p.call("mbedtls_aes_setkey_enc", context, p.put(key), 128):
            pass
    OPEN.append(waits := p.call("mbedtls_aes_crypt_ecb", a, 1, p.put(TEXT), p.put(bytes(16))))
    waits.__enter__()
    play.gcm(p, TEXT[:16], TEXT[:12], TEXT[:13], TEXT)
    sp, p.sp = p.sp, STACK_B
    p.record(EXCEPTION_ENTRY, STACK_A, PENDSV)
    p.record(EXCEPTION_EXIT, STACK_B, PENDSV)
    with p.call("mbedtls_aes_crypt_ecb", b, 1, p.put(TEXT), p.put(bytes(16))):
        p.w("CRYP.CR", play.ECB | 4)
        p.w("CRYP.CR", play.ECB | play.BYTES)
        play.load_key(p, TEXT[16:32])
        p.w("CRYP.CR", play.ECB | play.BYTES | play.CRYPEN)
        play.block(p, TEXT[:16])
    p.sp = sp
    assert "O13" not in p.rules, p.observer.findings.show()
