"""O4 and O5: flags, and touching a block at work."""

from __future__ import annotations

from observe import play
from observe.play import Play

TEXT = bytes(range(80))


def test_digest_read_blind() -> None:
    p = Play()
    play.hash_start(p, "SHA-1")
    p.w("HASH.STR", play.DCAL)
    p.clock.advance(1000)
    for i in range(5):
        p.r(f"HASH.HR{i}")
    assert p.only("O4").title == "digest read without a look at status"


def test_context_saved_with_a_block_in_the_core() -> None:
    """Case B92: 68 bytes start a block; the right driver waits for BUSY = 0."""
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_feed(p, TEXT[:68])
    play.hash_save(p)
    assert p.found == []
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_feed(p, TEXT[:68])
    p.clock.advance(1000)
    p.r("HASH.CSR0")
    assert p.only("O5").kind == "hash-state-save"


def test_context_saved_before_a_block_is_full() -> None:
    p = Play()
    play.hash_start(p, "SHA-1")
    play.hash_feed(p, TEXT[:64])
    p.r("HASH.CSR0")
    assert p.found == []


def test_what_a_block_reports_becomes_a_finding_once() -> None:
    p = Play()
    p.reports.on_guest_error = p.observer.guest_error
    for _ in range(3):
        p.pc = 0x0800_1000
        p.r("CRYP.DOUT")
    finding = p.only("O4")
    assert finding.text == "CRYP.DOUT read with the OUT FIFO empty, reads as 0."
    assert finding.kind == "handshake-ignored"
    assert finding.count == 3


def test_errors_of_other_blocks_are_not_findings() -> None:
    from cryplab.reports import GuestError

    p = Play()
    p.observer.guest_error(GuestError("USART1", "USART1.CR2 written"))
    p.observer.guest_error(GuestError("USART1", "USART1.CR2 written while its clock is off", "O12"))
    assert [f.rule for f in p.found] == ["O12"]
