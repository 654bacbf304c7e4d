"""The PHYs as a driver polls them: identity, reset, negotiation, link, speed."""

from __future__ import annotations

import pytest

from cryplab.blocks.phy import PHYS, Dp83848, Lan8720, Lan8742A, make_phy
from cryplab.errors import BoardError

BCR, BSR, ID1, ID2, ANAR, ANLPAR, STATUS_TI, MODES, STATUS_LAN = 0, 1, 2, 3, 4, 5, 16, 18, 31
LINK, DONE = 1 << 2, 1 << 5


@pytest.mark.parametrize(
    ("name", "words"),
    [("LAN8742A", (0x0007, 0xC130)), ("LAN8720", (0x0007, 0xC0F0)), ("DP83848", (0x2000, 0x5C90))],
)
def test_identity(name: str, words: tuple[int, int]) -> None:
    phy = make_phy(name, 1)
    assert (phy.read(ID1, 0), phy.read(ID2, 0) & 0xFFF0) == words


def test_a_scan_finds_the_address_in_register_18() -> None:
    assert Lan8742A(5).read(MODES, 0) & 0x1F == 5


@pytest.mark.parametrize("kind", PHYS.values())
def test_reset_then_negotiation_then_link(kind: type[Lan8742A]) -> None:
    phy = kind(0)
    phy.write(BCR, 0x8000, 1.0)
    assert phy.read(BCR, 1.0) & 0x8000
    assert not phy.read(BCR, 1.0001) & 0x8000
    assert phy.read(BCR, 1.0001) & 1 << 12, "auto-negotiation is on after reset"
    assert not phy.read(BSR, 1.0002) & (LINK | DONE)
    assert phy.read(BSR, 1.1) & (LINK | DONE) == LINK | DONE
    assert phy.read(ANLPAR, 1.1) & 0x1E0 == 0x1E0


def test_a_lost_link_reads_0_once_even_when_it_is_back() -> None:
    phy = Lan8720(0)
    assert phy.read(BSR, 1.0) & LINK
    phy.unplug()
    phy.plug(1.0)
    assert not phy.read(BSR, 2.0) & LINK, "latched"
    assert phy.read(BSR, 2.0) & LINK


@pytest.mark.parametrize(
    ("partner", "speed", "full", "code"),
    [(0x01E1, 100, True, 6), (0x00A1, 100, False, 2), (0x0061, 10, True, 5), (0x0021, 10, False, 1)],
)
def test_the_best_common_mode_is_chosen(partner: int, speed: int, full: bool, code: int) -> None:
    lan, ti = Lan8742A(0, partner=partner), Dp83848(0, partner=partner)
    assert (lan.speed, lan.full_duplex) == (speed, full)
    assert lan.read(STATUS_LAN, 1.0) >> 2 & 7 == code
    assert lan.read(STATUS_LAN, 1.0) & 1 << 12
    assert ti.read(STATUS_TI, 1.0) & 0b110 == (0b10 if speed == 10 else 0) | (0b100 if full else 0)


def test_forced_modes_power_down_and_isolation() -> None:
    phy = Lan8742A(0)
    phy.write(BCR, 1 << 8, 1.0)
    assert (phy.speed, phy.full_duplex) == (10, True)
    assert phy.link(2.0)
    assert not phy.read(BSR, 2.0) & DONE
    phy.write(BCR, 1 << 11, 2.0)
    assert not phy.link(3.0)


def test_names_that_nobody_knows() -> None:
    with pytest.raises(BoardError) as error:
        make_phy("LAN8740A")
    assert str(error.value) == "there is no PHY 'LAN8740A'; did you mean 'LAN8742A'? PHYs: LAN8742A, LAN8720, DP83848"
    with pytest.raises(BoardError, match="PHY address 32, expected 0 to 31"):
        Lan8720(32)
