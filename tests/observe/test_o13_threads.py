"""O13 and O14: threads and interrupt handlers."""

from __future__ import annotations

from cryplab.observe.events import EXCEPTION_ENTRY, EXCEPTION_EXIT
from observe import play
from observe.play import ECB, RAM, Play

KEY_A, KEY_B, TEXT = bytes(range(16)), bytes(range(16, 32)), bytes(range(60, 76))
PENDSV, SYSTICK, CRYP_IRQ = 14, 15, 16 + 79
STACK_A, STACK_B = RAM + 0x8000, RAM + 0xA000


def switch(p: Play, from_frame: int, to_frame: int) -> None:
    p.record(EXCEPTION_ENTRY, from_frame, PENDSV)
    p.record(EXCEPTION_EXIT, to_frame, PENDSV)


def begin(p: Play, key: bytes) -> None:
    p.w("CRYP.CR", ECB | play.BYTES)
    play.load_key(p, key)
    p.w("CRYP.CR", ECB | play.BYTES | play.CRYPEN)


def contexts(p: Play) -> tuple[int, int]:
    made = []
    for key in (KEY_A, KEY_B):
        context = p.put(bytes(300))
        with p.call("mbedtls_aes_setkey_enc", context, p.put(key), 128):
            pass
        made.append(context)
    return made[0], made[1]


def test_key_replaced_by_another_thread_in_the_middle() -> None:
    """Case B18: the second thread's whole call between key and data of the first."""
    p = Play()
    a, b = contexts(p)
    with p.call("mbedtls_aes_crypt_ecb", a, 1, p.put(TEXT), p.put(bytes(16))):
        begin(p, KEY_A)
        sp, p.sp = p.sp, STACK_B
        switch(p, STACK_A, STACK_B)
        inner = p.call("mbedtls_aes_crypt_ecb", b, 1, p.put(TEXT), p.put(bytes(16)))
        inner.__enter__()
        begin(p, KEY_B)
        switch(p, STACK_B - 0x80, STACK_A)
        play.block(p, TEXT)
    p.sp = sp
    finding = p.only("O13")
    assert finding.kind == "not-thread-safe"
    assert f"{b:#010x}" in finding.text


def test_threads_one_after_the_other_are_right() -> None:
    p = Play()
    a, b = contexts(p)
    for context, key, here, there in ((a, KEY_A, STACK_A, STACK_B), (b, KEY_B, STACK_B, STACK_A)):
        with p.call("mbedtls_aes_crypt_ecb", context, 1, p.put(TEXT), p.put(bytes(16))):
            begin(p, key)
            play.block(p, TEXT)
        switch(p, here, there)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_a_thread_preempted_inside_its_operation_is_right() -> None:
    p = Play()
    a, _ = contexts(p)
    with p.call("mbedtls_aes_crypt_ecb", a, 1, p.put(TEXT), p.put(bytes(16))):
        begin(p, KEY_A)
        switch(p, STACK_A, STACK_B)
        switch(p, STACK_B, STACK_A)
        p.record(EXCEPTION_ENTRY, STACK_A - 0x40, SYSTICK)
        p.record(EXCEPTION_EXIT, STACK_A - 0x40, SYSTICK)
        play.block(p, TEXT)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_without_calls_a_second_thread_inside_an_enabled_block() -> None:
    p = Play()
    begin(p, KEY_A)
    for word in play.words(TEXT[:8]):
        p.w("CRYP.DIN", word)
    switch(p, STACK_A, STACK_B)
    for word in play.words(TEXT[8:]):
        p.w("CRYP.DIN", word)
    assert p.only("O13").block == "CRYP"


def test_the_blocks_own_handler_is_right() -> None:
    p = Play()
    begin(p, KEY_A)
    play.block(p, TEXT)
    p.record(EXCEPTION_ENTRY, STACK_A, CRYP_IRQ)
    play.block(p, TEXT)
    p.record(EXCEPTION_EXIT, STACK_A, CRYP_IRQ)
    play.block(p, TEXT)
    assert p.found == []


def test_random_word_taken_by_another_thread() -> None:
    """Case B21."""
    p = Play()
    p.w("RNG.CR", 4)
    p.clock.advance(2000)
    assert p.r("RNG.SR") & 1
    switch(p, STACK_A, STACK_B)
    assert p.r("RNG.SR") & 1
    p.r("RNG.DR")
    switch(p, STACK_B, STACK_A)
    p.r("RNG.DR")
    assert "O13" in p.rules


def test_change_by_a_handler_lost() -> None:
    """O14: read-modify-write of CR with a handler's write between."""
    p = Play()
    value = p.r("RNG.CR")
    p.record(EXCEPTION_ENTRY, STACK_A, SYSTICK)
    p.w("RNG.CR", p.r("RNG.CR") | 1 << 3)
    p.record(EXCEPTION_EXIT, STACK_A, SYSTICK)
    p.w("RNG.CR", value)
    assert p.only("O14").kind == "irq-race"


def test_change_by_another_thread_lost_inside_one_call() -> None:
    """O14: the read is of the call that writes, so the value comes from it."""
    p = Play()
    a, b = contexts(p)
    with p.call("mbedtls_aes_crypt_ecb", a, 1, p.put(TEXT), p.put(bytes(16))):
        value = p.r("CRYP.CR")
        sp, p.sp = p.sp, STACK_B
        switch(p, STACK_A, STACK_B)
        with p.call("mbedtls_aes_crypt_ecb", b, 1, p.put(TEXT), p.put(bytes(16))):
            p.w("CRYP.CR", ECB | play.BYTES)
        switch(p, STACK_B - 0x80, STACK_A)
        p.sp = sp
        p.w("CRYP.CR", value)
    assert "O14" in p.rules


def test_saved_in_one_call_and_restored_in_the_next_is_right() -> None:
    """CR kept in the context between calls, each under a lock, while another thread uses the block."""
    p = Play()
    a, b = contexts(p)
    saved = 0
    for context, key, here, there in (
        (a, KEY_A, STACK_A, STACK_B),
        (b, KEY_B, STACK_B, STACK_A),
        (a, KEY_A, STACK_A, STACK_B),
    ):
        with p.call("mbedtls_aes_crypt_ecb", context, 1, p.put(TEXT), p.put(bytes(16))):
            if saved:
                p.w("CRYP.CR", saved)
            begin(p, key)
            play.block(p, TEXT)
            if context == a:
                saved = p.r("CRYP.CR") & ~play.CRYPEN
            else:
                p.w("CRYP.CR", 0)
        switch(p, here, there)
    assert p.found == [], p.observer.findings.show()


def test_saved_and_restored_without_calls_is_right() -> None:
    """The library's functions are not known: the context-swap registers tell that CR was read to be kept."""
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_feed(p, bytes(68))
    state = play.hash_save(p)
    switch(p, STACK_A, STACK_B)
    play.hash_start(p, "MD5")
    play.hash_feed(p, bytes(68))
    play.hash_save(p)
    switch(p, STACK_B, STACK_A)
    play.hash_restore(p, state)
    play.hash_feed(p, bytes(64))
    assert p.found == [], p.observer.findings.show()


def test_storm() -> None:
    """Case B121."""
    p = Play()
    for _ in range(1100):
        p.record(EXCEPTION_ENTRY, STACK_A, CRYP_IRQ)
        p.record(EXCEPTION_EXIT, STACK_A, CRYP_IRQ)
    assert p.only("O11").title == "interrupt storm"


def test_a_tick_in_the_middle_of_a_context_save_is_right() -> None:
    p = Play()
    context, data = p.put(bytes(300)), p.put(TEXT)
    with p.call("mbedtls_sha256_starts_ret", context, 0):
        play.hash_start(p, "SHA-256")
        state = [p.r("HASH.STR"), p.r("HASH.CR"), *(p.r(f"HASH.CSR{i}") for i in range(7))]
        p.record(EXCEPTION_ENTRY, STACK_A, SYSTICK)
        p.record(EXCEPTION_EXIT, STACK_A, SYSTICK)
        state += [p.r(f"HASH.CSR{i}") for i in range(7, 54)]
    with p.call("mbedtls_sha256_update_ret", context, data, 16):
        play.hash_restore(p, state)
        play.hash_feed(p, TEXT)
    assert p.found == [], p.observer.findings.show()
