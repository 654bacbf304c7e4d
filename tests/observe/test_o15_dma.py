"""O15: streams set up for DIN and DOUT."""

from __future__ import annotations

import pytest

from observe import play
from observe.play import BASES, RAM, Play

DIN_STREAM, DOUT_STREAM, HASH_STREAM = 6, 5, 7
CHANNEL, TO_BLOCK, FROM_BLOCK, MINC, PINC = 2 << 25, 1 << 6, 0, 1 << 10, 1 << 9
WORDS = 2 << 11 | 2 << 13


def stream(p: Play, number: int, block: str, offset: int, control: int, items: int, memory: int) -> None:
    base = 0x10 + 0x18 * number
    p.w(f"DMA2.+{base + 4:x}", items)
    p.w(f"DMA2.+{base + 8:x}", BASES[block] + offset)
    p.w(f"DMA2.+{base + 12:x}", memory)
    p.w(f"DMA2.+{base:x}", control | CHANNEL)
    p.w(f"DMA2.+{base:x}", control | CHANNEL | 1)


def test_right_set_up() -> None:
    p = Play()
    p.w("CRYP.CR", play.ECB | play.BYTES)
    stream(p, DIN_STREAM, "CRYP", 8, TO_BLOCK | MINC | WORDS, 8, RAM + 0x100)
    stream(p, DOUT_STREAM, "CRYP", 12, FROM_BLOCK | MINC | WORDS, 8, RAM + 0x200)
    stream(p, HASH_STREAM, "HASH", 4, TO_BLOCK | MINC | WORDS, 3, RAM + 0x100)
    stream(p, 0, "USART" if False else "RNG", 8, FROM_BLOCK | MINC, 3, RAM + 0x101)
    assert [f.rule for f in p.found if f.rule == "O15"] == []


@pytest.mark.parametrize(
    ("control", "items", "memory", "title"),
    [
        (TO_BLOCK | MINC, 32, RAM + 0x100, "DMA width other than 32 bits"),
        (TO_BLOCK | MINC | WORDS | PINC, 8, RAM + 0x100, "DMA increments the block's address"),
        (FROM_BLOCK | MINC | WORDS, 8, RAM + 0x100, "DMA in the wrong direction"),
        (TO_BLOCK | MINC | WORDS, 8, 0x1000_0000, "memory out of the DMA's reach"),
        (TO_BLOCK | MINC | WORDS, 8, 0x3000_0000, "memory out of the DMA's reach"),
        (TO_BLOCK | MINC | WORDS, 8, RAM + 0x102, "misaligned DMA memory"),
        (TO_BLOCK | MINC | WORDS, 7, RAM + 0x100, "DMA moves no whole number of blocks"),
    ],
)
def test_faults(control: int, items: int, memory: int, title: str) -> None:
    """Cases B86, B158, B159."""
    p = Play()
    p.w("CRYP.CR", play.ECB | play.BYTES)
    stream(p, DIN_STREAM, "CRYP", 8, control, items, memory)
    assert [f.title for f in p.found if f.rule == "O15"] == [title]


def test_words_moved_count_for_the_message() -> None:
    """A hash fed by DMA: its length is known to the ledger."""
    p = Play()
    data, digest = p.put(bytes(12)), p.put(bytes(16))
    with p.call("mbedtls_md5_ret", data, 12, digest):
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO["MD5"] | play.INIT)
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO["MD5"] | 1 << 3)
        stream(p, HASH_STREAM, "HASH", 4, TO_BLOCK | MINC | WORDS, 3, data)
    assert p.found == [], p.observer.findings.show()
    with p.call("mbedtls_md5_ret", data, 12, digest):
        p.w("HASH.CR", play.HASH_BYTES | play.ALGO["MD5"] | 1 << 3 | play.INIT)
        stream(p, HASH_STREAM, "HASH", 4, TO_BLOCK | MINC | WORDS, 4, data)
    assert p.only("O8").kind == "partial-last-block"
