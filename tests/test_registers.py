"""The declaration language: access rules, hooks, what is refused when declared."""

import pytest

from cryplab.errors import DeclarationError, StrictError
from cryplab.registers import Block, Reg, RegArray, r, rc_w0, rc_w1, rs, rw, w
from cryplab.reports import Reports


class Toy(Block):
    """A block with one field of each access."""

    widths = (1, 2, 4)
    lines = ("irq",)
    saved = ("seen",)

    class CR(Reg, at=0x00, reset=0x10):
        """control register"""

        GO = w(31, "start; reads as 0")
        MODE = rw(5, 4, "mode", values={0: "idle", 1: "fast", 2: "slow"})
        FAR = rw(3, "far", modelled=False)
        LATCH = rs(2, "set by software, cleared by hardware")
        OFF = rc_w1(1, "cleared by writing 1")
        FLAG = rc_w0(0, "cleared by writing 0")

    class SR(Reg, at=0x04):
        """status register"""

        READY = r(0, "ready")

    class KEY(Reg, at=0x10, array=2, names=("KL", "KR")):
        """key, left word first"""

        KEY = w(31, 0, "key")

    cr: CR
    sr: SR
    key: RegArray[KEY]

    def on_reset(self) -> None:
        self.seen: list[object] = []

    @CR.written
    def _cr_written(self) -> None:
        self.seen.append(("cr", self.cr.GO))
        self.sr.READY = self.cr.GO

    @KEY.written
    def _key_written(self, index: int) -> None:
        self.seen.append((index, self.key[index].KEY))


@pytest.fixture
def toy() -> Toy:
    return Toy("TOY")


def test_reset_values_and_plain_fields(toy: Toy) -> None:
    assert toy.read(0) == 0x10
    toy.write(0, 0x20)
    assert toy.cr.MODE == 2
    toy.reset()
    assert toy.read(0) == 0x10


def test_action_bits_are_seen_by_the_hook_and_read_as_0(toy: Toy) -> None:
    toy.write(0, 1 << 31)
    assert toy.seen == [("cr", 1)]
    assert toy.read(0) & 1 << 31 == 0
    assert toy.read(4) == 1


def test_flags_clear_the_way_they_say(toy: Toy) -> None:
    toy.cr.FLAG = toy.cr.OFF = 1
    toy.write(0, 0x1)  # 1 to rc_w0 and 0 to rc_w1: nothing happens
    assert (toy.cr.FLAG, toy.cr.OFF) == (1, 1)
    toy.write(0, 0x2)  # 0 to rc_w0 and 1 to rc_w1: both clear
    assert (toy.cr.FLAG, toy.cr.OFF) == (0, 0)
    toy.write(0, 0x4)
    toy.write(0, 0x0)
    assert toy.cr.LATCH == 1


def test_reserved_bits_keep_their_reset_value(toy: Toy) -> None:
    toy.write(0, 0xFFFF_FFFF)
    assert toy.read(0) & ~0x3F == 0


def test_arrays_give_the_index(toy: Toy) -> None:
    toy.write(0x14, 7)
    assert toy.seen == [(1, 7)]


def test_narrow_accesses_leave_other_lanes_alone(toy: Toy) -> None:
    toy.cr.FLAG = 1
    toy.write(3, 0x80, 1)
    assert toy.cr.FLAG == 1
    assert toy.cr.MODE == 1
    assert toy.read(0, 1) == toy.read(0) & 0xFF


def test_read_only_and_write_only_registers_report(toy: Toy) -> None:
    toy.write(4, 1)
    assert toy.read(0x10) == 0
    assert [e.text for e in toy.reports.guest_errors.values()] == [
        "TOY.SR written (0x00000001), but it is read only; ignored",
        "TOY.KL read, but it is write only; reads as 0",
    ]


def test_an_illegal_width_is_reported_and_ignored() -> None:
    class Wide(Toy):
        widths = (4,)

    block = Wide("W")
    block.write(0, 0x20, 2)
    assert block.cr.MODE == 1
    (error,) = block.reports.guest_errors.values()
    assert error.text == "W+0x000 written with 16 bits; only 32 bits are legal; ignored"


def test_what_is_not_modelled_is_reported_by_name(toy: Toy) -> None:
    toy.write(0, 0x8)
    toy.write(0, 0x8)
    ((_, use),) = toy.reports.unmodelled.items()
    assert (use.what, use.text, use.count) == ("TOY.CR.FAR", "set to 0x1: far", 2)


def test_strict_reports_raise() -> None:
    block = Toy("TOY", reports=Reports(strict=True))
    with pytest.raises(StrictError, match=r"guest error at 0x00000000: TOY\+0x0f0 read, no register is there"):
        block.read(0xF0)


def test_decoding_names_fields_and_reserved_bits() -> None:
    assert Toy.CR.show(0x8000_0121) == "GO MODE=slow FLAG reserved=0x100"
    assert Toy.CR.decode(0x21) == {"MODE": 2, "FLAG": 1}


def test_save_and_load_bring_back_registers_and_state(toy: Toy) -> None:
    toy.write(0, 0x20)
    state = toy.save()
    toy.write(0, 0x0)
    toy.load(state)
    assert toy.cr.MODE == 2
    assert toy.seen == [("cr", 0)]
    toy.seen.append("later")
    toy.load(state)
    assert toy.seen == [("cr", 0)]


def test_mistakes_fail_when_declared() -> None:
    with pytest.raises(DeclarationError, match=r"BAD: A \[6:4\] overlaps B \[4:3\]"):

        class BAD(Reg, at=0):
            A = rw(6, 4, "a")
            B = rw(4, 3, "b")

    with pytest.raises(DeclarationError, match="Twice: B and A are both at 0x000"):

        class Twice(Block):
            class A(Reg, at=0):
                X = rw(0, "x")

            class B(Reg, at=0):
                X = rw(0, "x")

    with pytest.raises(DeclarationError, match=r"Outside: A at 0x400 is outside the block"):

        class Outside(Block):
            class A(Reg, at=0x400):
                X = rw(0, "x")


def test_a_field_refuses_what_does_not_fit(toy: Toy) -> None:
    with pytest.raises(ValueError, match=r"CR.MODE: 0x4 does not fit \[5:4\]"):
        toy.cr.MODE = 4


class Smaller(Toy):
    """The toy without one field, another in its place, and without its key."""

    class CR(Toy.CR, reset=0, without=("MODE", "LATCH")):
        """control register"""

        SPEED = rw(4, "fast")

    lacks = ("KEY",)


def test_a_version_may_lack_fields_and_registers() -> None:
    smaller = Smaller("TOY")
    smaller.write(0x00, 0xFFFF_FFFF)
    assert [f.name for f in Smaller.CR.fields] == ["GO", "SPEED", "FAR", "OFF", "FLAG"]
    assert smaller.read(0x00) == 1 << 4 | 1 << 3, "bits of fields that are left out are reserved"
    assert smaller.cr.LATCH == 0
    assert smaller.seen == [("cr", 1)], "hooks of the version it derives from go on"
    assert 0x10 not in Smaller.places
    smaller.write(0x10, 1)
    assert smaller.read(0x10) == 0
    assert smaller.key[0].KEY == 0
    assert len(smaller.reports.guest_errors) == 2
    assert Toy.CR.MODE in Toy.CR.fields


def test_what_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(DeclarationError, match="CR: there is no field MOOD to leave out"):

        class CR(Toy.CR, without=("MOOD",)):
            """control register"""
