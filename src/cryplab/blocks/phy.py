"""Ethernet transceivers (PHY) of ST's boards: what a MAC reads and writes over MDIO.

A PHY is no block of the chip and has no address in memory; `EthV1` asks it when MACMIIAR says so. `plug` and
`unplug` are the cable. Registers 0 to 6 are those of IEEE 802.3 clause 22; above 16 they are the maker's.
"""

from __future__ import annotations

from cryplab.errors import BoardError, nearest

__all__ = ["PHYS", "Dp83848", "Lan8720", "Lan8742A", "Phy", "make_phy"]

BCR, BSR, ID1, ID2, ANAR, ANLPAR, ANER = range(7)
RESET, LOOPBACK, SPEED_100, AUTO, POWER_DOWN, ISOLATE, RESTART, FULL = (1 << n for n in range(15, 7, -1))
BSR_ABILITIES = 0x7809  # 100 and 10 Mbit/s, full and half duplex, auto-negotiation, extended registers
AUTO_DONE, LINK, PARTNER_AUTO = 1 << 5, 1 << 2, 1 << 0
ADVERTISE = 0x01E1  # all four abilities, IEEE 802.3
ACKNOWLEDGE = 1 << 14
ABILITIES = ((1 << 8, 100, True), (1 << 7, 100, False), (1 << 6, 10, True), (1 << 5, 10, False))
"Bit of ANAR and ANLPAR, Mbit/s, full duplex; best first."
NOBODY = 0xFFFF
"What the bus reads when no PHY drives it."


class Phy:
    """A clause 22 PHY at an address of the management bus.

    Args:
        address: 0 to 31, as strapped on the board.
        plugged: whether a cable leads to a partner when power comes.
        partner: what the partner advertises, as in ANLPAR.
    `now` is virtual seconds in every call that needs time.

    Departures: auto-negotiation takes 1 ms instead of about 2 s, reset 10 us instead of up to 0.5 s; no interrupt
    pin; no energy detection, no cable diagnosis, no test modes.
    Source: IEEE 802.3 clause 22; data sheets LAN8742A, LAN8720A, DP83848.
    """

    name = "PHY"
    ids = (0x0000, 0x0000)
    negotiation_seconds = 1e-3
    reset_seconds = 10e-6

    def __init__(self, address: int = 0, *, plugged: bool = True, partner: int = ADVERTISE) -> None:
        if not 0 <= address <= 31:
            raise BoardError(f"{self.name}: PHY address {address}, expected 0 to 31")
        self.address, self.partner = address, partner
        self.plugged = plugged
        self.interface = ""
        "How the board wires it to the MAC, RMII or MII; empty: not known."
        self.words = [0] * 32
        self._reset_until = self._up_at = 0.0
        self._link_lost = False
        self._power_on(0.0)

    # -- cable ---------------------------------------------------------------------------------
    def plug(self, now: float = 0.0) -> None:
        """The cable is put in; the link comes up after auto-negotiation."""
        self.plugged = True
        self._begin(now)

    def unplug(self) -> None:
        """The cable is pulled out; the link is down at once."""
        self.plugged, self._link_lost = False, True

    def link(self, now: float) -> bool:
        """Whether the link is up."""
        powered = not self.words[BCR] & (POWER_DOWN | ISOLATE)
        return self.plugged and powered and now >= max(self._up_at, self._reset_until)

    @property
    def speed(self) -> int:
        """Mbit/s that was negotiated or set."""
        return self._mode()[0]

    @property
    def full_duplex(self) -> bool:
        """Whether both directions work at once."""
        return self._mode()[1]

    def _mode(self) -> tuple[int, bool]:
        control = self.words[BCR]
        if not control & AUTO:
            return (100 if control & SPEED_100 else 10), bool(control & FULL)
        common = self.words[ANAR] & self.partner
        return next(((speed, full) for bit, speed, full in ABILITIES if common & bit), (10, False))

    # -- management bus ------------------------------------------------------------------------
    def read(self, register: int, now: float) -> int:
        """A 16-bit register."""
        if register == BCR:
            self.words[BCR] = self.words[BCR] & ~(RESET if now >= self._reset_until else 0)
            return self.words[BCR]
        if register == BSR:
            return self._status(now)
        if register == ANLPAR:
            return self.partner | ACKNOWLEDGE if self._negotiated(now) else 0
        if register == ANER:
            return PARTNER_AUTO if self._negotiated(now) else 0
        return self.vendor_read(register, now)

    def write(self, register: int, value: int, now: float) -> None:
        """Write a 16-bit register; read-only ones stay as they are."""
        if register == BCR:
            self._control(value, now)
        elif register == ANAR or register > ANER:
            self.words[register] = value

    def _control(self, value: int, now: float) -> None:
        if value & RESET:
            self._power_on(now)
            self.words[BCR] |= RESET
            return
        changed = (value ^ self.words[BCR]) & (AUTO | SPEED_100 | FULL | POWER_DOWN | ISOLATE)
        self.words[BCR] = value & ~(RESET | RESTART)
        if changed or value & RESTART:
            self._begin(now)

    def _power_on(self, now: float) -> None:
        self.words = [0] * 32
        self.words[BCR] = AUTO | SPEED_100
        self.words[ID1], self.words[ID2] = self.ids
        self.words[ANAR] = ADVERTISE
        self._reset_until = now + self.reset_seconds
        self.vendor_reset()
        self._begin(self._reset_until)

    def _begin(self, now: float) -> None:
        self._up_at = now + self.negotiation_seconds

    def _negotiated(self, now: float) -> bool:
        return bool(self.words[BCR] & AUTO) and self.link(now)

    def _status(self, now: float) -> int:
        """Link is latched low: after a loss it reads 0 once."""
        up = self.link(now) and not self._link_lost
        self._link_lost = False
        return BSR_ABILITIES | (LINK if up else 0) | (AUTO_DONE if self._negotiated(now) else 0)

    # -- the maker's registers -----------------------------------------------------------------
    def vendor_reset(self) -> None:
        """Reset values above register 6."""

    def vendor_read(self, register: int, now: float) -> int:
        """A register above 6; default the word stored."""
        return self.words[register]


class Lan8720(Phy):
    """Microchip LAN8720A: register 18 special modes, 31 special control and status."""

    name = "LAN8720"
    ids = (0x0007, 0xC0F1)
    SPECIAL_MODES, SPECIAL_STATUS = 18, 31
    MODE_ALL = 0x00E0
    AUTO_DONE_BIT = 1 << 12
    RESERVED_ONE = 1 << 6

    def vendor_reset(self) -> None:
        """All capable, auto-negotiation on, own address."""
        self.words[self.SPECIAL_MODES] = self.MODE_ALL | self.address

    def vendor_read(self, register: int, now: float) -> int:
        """Register 31 tells speed (4:2: 1 and 5 are 10 Mbit/s half and full, 2 and 6 are 100)."""
        if register != self.SPECIAL_STATUS:
            return self.words[register]
        speed, full = self._mode()
        code = (2 if speed == 100 else 1) | (4 if full else 0)
        return self.RESERVED_ONE | code << 2 | (self.AUTO_DONE_BIT if self._negotiated(now) else 0)


class Lan8742A(Lan8720):
    """Microchip LAN8742A (NUCLEO-144): the LAN8720A with wake on LAN, which is not modelled."""

    name = "LAN8742A"
    ids = (0x0007, 0xC131)


class Dp83848(Phy):
    """Texas Instruments DP83848 (ST's evaluation boards): register 16 PHY status, 25 PHY control."""

    name = "DP83848"
    ids = (0x2000, 0x5C90)
    PHYSTS, PHYCR = 16, 25
    MDIX_AUTO = 1 << 15
    STATUS_LINK, STATUS_10, STATUS_FULL, STATUS_AUTO_DONE = 1 << 0, 1 << 1, 1 << 2, 1 << 4

    def vendor_reset(self) -> None:
        """Own address in PHYCR."""
        self.words[self.PHYCR] = self.MDIX_AUTO | self.address

    def vendor_read(self, register: int, now: float) -> int:
        """Register 16 tells link, speed (1 is 10 Mbit/s) and duplex."""
        if register != self.PHYSTS:
            return self.words[register]
        speed, full = self._mode()
        return (
            (self.STATUS_LINK if self.link(now) else 0)
            | (self.STATUS_10 if speed == 10 else 0)
            | (self.STATUS_FULL if full else 0)
            | (self.STATUS_AUTO_DONE if self._negotiated(now) else 0)
        )


PHYS: dict[str, type[Phy]] = {kind.name: kind for kind in (Lan8742A, Lan8720, Dp83848)}


def make_phy(name: str, address: int = 0) -> Phy:
    """A PHY by the name that boards use. Raises: BoardError naming the nearest."""
    kind = {known.lower(): kind for known, kind in PHYS.items()}.get(name.lower())
    if kind is None:
        raise BoardError(f"there is no PHY '{name}'{nearest(name, PHYS) or '.'} PHYs: {', '.join(PHYS)}")
    return kind(address)
