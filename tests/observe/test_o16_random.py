"""O16, O17 and O18: the generator."""

from __future__ import annotations

import pytest

from observe.play import Play

SEIS, SECS, DRDY = 1 << 6, 1 << 2, 1


def start(p: Play) -> None:
    p.w("RNG.CR", 4)
    p.clock.advance(2000)


def word(p: Play) -> int:
    p.clock.advance(2000)
    p.wait("RNG.SR", DRDY, DRDY)
    return p.r("RNG.DR")


def poll_call(p: Play, count: int, *, stored: int | None = None, result: int = 0, draw: bool = True) -> None:
    output, olen = p.put(b"\x5a" * 4 * count), p.put(bytes(4))
    with p.call("mbedtls_hardware_poll", 0, output, 4 * count, olen, result=result):
        values = [word(p) if draw else 0x1234_5678 + i for i in range(count)]
        data = b"".join(v.to_bytes(4, "little") for v in values)
        p.put(data if stored is None else data[:stored], output)
        p.put((4 * count).to_bytes(4, "little"), olen)


def test_right_words() -> None:
    p = Play()
    start(p)
    for _ in range(4):
        poll_call(p, 8)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


def test_four_words_on_one_flag() -> None:
    """Case B109."""
    p = Play()
    start(p)
    word(p)
    p.clock.advance(2000)
    p.r("RNG.DR")
    assert p.only("O16").title == "random word taken without its ready flag"


@pytest.mark.parametrize("value", [0, 0x1111_2222])
def test_zero_or_repeated_word(value: int) -> None:
    """Cases B110, B128."""
    p = Play()
    start(p)
    for _ in range(2):
        p.r("RNG.SR", DRDY)
        p.r("RNG.DR", value)
    assert {(f.rule, f.title) for f in p.found} == {("O16", "a zero or repeated random word")}


def test_zero_handed_out_by_a_function() -> None:
    """Case B111; a function that refuses the zero is right."""
    for stored, rules in ((0, {"O16"}), (0x7777_1111, set())):
        p = Play()
        start(p)
        output, olen = p.put(b"\x5a" * 4), p.put(b"\4\0\0\0")
        with p.call("mbedtls_hardware_poll", 0, output, 4, olen):
            for value in (0, 0x7777_1111):
                p.r("RNG.SR", DRDY)
                p.r("RNG.DR", value)
            p.put(stored.to_bytes(4, "little"), output)
        assert p.rules == rules


def test_one_byte_of_each_word_handed_out() -> None:
    """A driver that fills memory with the word as `memset` takes it, its lowest byte."""
    p = Play()
    start(p)
    output, olen = p.put(bytes(16)), p.put(b"\x10\0\0\0")
    with p.call("mbedtls_hardware_poll", 0, output, 16, olen):
        for value in (0x1234_5678, 0x9ABC_DE78, 0x1357_9BDF, 0x2468_ACE0):
            p.r("RNG.SR", DRDY)
            p.r("RNG.DR", value)
        p.put(b"\x78" * 8 + b"\xdf" * 4 + b"\xe0" * 4, output)
    finding = p.only("O16")
    assert finding.title == "one byte of each random word handed out"
    assert "78787878 78787878" in finding.text


def test_part_of_the_output_left() -> None:
    """Cases B106, B113."""
    p = Play()
    start(p)
    poll_call(p, 4, stored=12)
    finding = p.only("O16")
    assert finding.kind == "rng-output-handling"
    assert "bytes 12 to 15" in finding.text


def test_no_generator_behind_it() -> None:
    """Case B100."""
    p = Play()
    poll_call(p, 4, draw=False)
    assert p.only("O16").kind == "silent-software-fallback"


def seed_error(p: Play) -> None:
    p.r("RNG.SR", SEIS | SECS)


def test_word_used_after_a_seed_error() -> None:
    """Case B116: read again, nothing cleared."""
    p = Play()
    start(p)
    seed_error(p)
    p.r("RNG.SR", SEIS | DRDY)
    p.r("RNG.DR", 0x1357_9BDF)
    assert p.only("O17").kind == "rng-error-unrecovered"


def test_whole_recovery_is_right() -> None:
    p = Play()
    start(p)
    seed_error(p)
    p.w("RNG.SR", 0)
    p.w("RNG.CR", 0)
    p.w("RNG.CR", 4)
    word(p)
    assert p.found == []


def test_half_a_recovery() -> None:
    """Version 1 wants RNGEN off and on as well."""
    p = Play()
    start(p)
    seed_error(p)
    p.w("RNG.SR", 0)
    word(p)
    assert "RNGEN was not switched off and on" in p.only("O17").text


def test_polling_on_with_the_error_set() -> None:
    """Case B103."""
    p = Play()
    start(p)
    for _ in range(1200):
        seed_error(p)
    assert p.only("O17").title == "a seed error is never recovered"


def test_error_left_for_the_next_call() -> None:
    """Case B115: the sticky flag is tested, and nobody clears it."""
    p = Play()
    start(p)
    for _ in range(2):
        with p.call("mbedtls_hardware_poll", 0, p.put(bytes(4)), 4, p.put(bytes(4)), result=-1):
            seed_error(p)
    assert p.only("O17").title == "a seed error is never recovered"


def test_success_after_an_error() -> None:
    """Case B107."""
    p = Play()
    start(p)
    output = p.put(b"\x5a" * 4)
    with p.call("mbedtls_hardware_poll", 0, output, 4, p.put(b"\4\0\0\0"), result=0):
        p.r("RNG.SR", SEIS | DRDY)
        p.put(p.r("RNG.DR", 0x2468_ACE0).to_bytes(4, "little"), output)
    assert p.rules == {"O17", "O18"}
