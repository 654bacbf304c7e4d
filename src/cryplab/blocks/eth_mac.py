"""The MAC of the Ethernet block: line, address filter, flow control, management bus and counters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryplab.blocks.eth_offload import address_hash
from cryplab.blocks.eth_ptp import EthPtp
from cryplab.blocks.eth_v1_registers import EthV1Registers
from cryplab.blocks.phy import NOBODY, Phy
from cryplab.clock import Event
from cryplab.registers import Line

__all__ = ["PREAMBLE_BYTES", "EthMac", "Filtered"]

PREAMBLE_BYTES, CRC_BYTES, GAP_BYTES = 8, 4, 12
GAP_STEP_BYTES = 1
MDIO_BITS = 64  # preamble and one management frame
MDC_DIVIDERS = (42, 62, 16, 26, 102)
BROADCAST = b"\xff" * 6
PAUSE_ADDRESS = bytes.fromhex("0180c2000001")
TYPE_CONTROL, OPCODE_PAUSE = 0x8808, 1
SLOT_BYTES = 64  # unit of the pause time
MIN_BYTES = 60
MAGIC_COPIES = 16
HALF, ALMOST_FULL = 0x8000_0000, 0xFFFF_FFFF
PRESETS = (0x7FFF_FFF0, 0xFFFF_FFF0)
CLASS_NONE, CLASS_NO_PAUSE, CLASS_ALL = 0, 1, 2


def _nobody(frame: bytes) -> None:
    """No cable."""


def _no_tap(frame: bytes, outgoing: bool) -> None:
    """Nobody listens."""


@dataclass(slots=True)
class Filtered:
    """What the filters said of a frame."""

    destination: bool = True
    source: bool = True


class EthMac(EthPtp):
    """One side of the cable. `transmit(frame)` is called when a frame has left, `receive(frame)` brings one.

    Frames are bytes from destination address to payload, padded to 60 bytes or more, without the CRC.
    """

    lines = ("irq", "wakeup")
    irq: Line
    wakeup: Line
    saved = (*EthPtp.saved, "_incoming", "_arriving", "_line_free", "_paused_until", "_mdio_until", "phy")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.phy: Phy | None = None
        "The transceiver; without one there is no clock for the MAC."
        self.why_no_clock: Callable[[], str] = lambda: ""
        "Why a clock is missing, in words; empty when none is. Set by the wiring of the chip."
        self.transmit: Callable[[bytes], None] = _nobody
        self.tap: Callable[[bytes, bool], None] = _no_tap
        "Sees every frame when it has passed the line: (frame, whether it went out)."
        self._incoming: deque[tuple[bytes, bool]] = deque()
        self._arriving: Event | None = None
        self._line_free = self._paused_until = self._mdio_until = 0
        super().__init__(*args, **kwargs)

    def reset_mac(self) -> None:
        """Line quiet, counters 0; frames on their way to us are lost."""
        self.clock.cancel(self._arriving)
        self._arriving = None
        self._incoming = deque()
        self._line_free = self._paused_until = self._mdio_until = 0
        self.reset_time()

    # -- the line ------------------------------------------------------------------------------
    def byte_cycles(self) -> float:
        """Core cycles of a byte at the line's speed."""
        return self.clock.hz * 8 / ((self.phy.speed if self.phy else 100) * 1e6)

    def line_cycles(self, payload_bytes: int) -> int:
        """Core cycles from the preamble to the last CRC bit."""
        return round((PREAMBLE_BYTES + payload_bytes + CRC_BYTES) * self.byte_cycles())

    def gap_cycles(self) -> int:
        """Core cycles between two frames that we send."""
        return round((GAP_BYTES - GAP_STEP_BYTES * self.maccr.IFG) * self.byte_cycles())

    @property
    def link(self) -> bool:
        """Whether the PHY has a link."""
        return self.phy is not None and self.phy.link(self.clock.seconds())

    def line_works(self) -> bool:
        """Link up, clocks on, and the MAC's speed is the PHY's; a mismatch is the guest's error."""
        if self.phy is None or not self.link:
            return False
        if reason := self.why_no_clock():
            self.guest_error(f"{self.name}: {reason}; no frame gets through")
            return False
        mac_speed = 100 if self.maccr.FES else 10
        if mac_speed != self.phy.speed:
            self.guest_error(
                f"{self.name}: MACCR.FES says {mac_speed} Mbit/s, the PHY has a link of {self.phy.speed} Mbit/s; "
                "no frame gets through"
            )
            return False
        return True

    @property
    def waiting(self) -> int:
        """Frames of the wire that are not in the FIFO yet."""
        return len(self._incoming)

    def receive(self, frame: bytes, broken: bool = False) -> None:
        """A frame comes in over the wire, behind those before it; `broken`: its CRC is wrong."""
        if self.link or self.maccr.LM:
            self._incoming.append((frame.ljust(MIN_BYTES, b"\0"), broken))
            self._next_arrival()

    def _next_arrival(self) -> None:
        if self._incoming and self._arriving is None:
            start = max(self.clock.now, self._line_free)
            end = start + self.line_cycles(len(self._incoming[0][0]))
            self._arriving = self.clock.at(end, self._arrived)

    def _arrived(self) -> None:
        """The last bit of a frame has come in."""
        assert self._arriving is not None
        self._line_free = self._arriving.cycle + round(GAP_BYTES * self.byte_cycles())
        self._arriving = None
        frame, broken = self._incoming.popleft()
        if self.maccr.LM or self.line_works():
            self.tap(frame, False)
            if self.maccr.RE:
                self._take(frame, broken)
        self._next_arrival()

    def _take(self, frame: bytes, broken: bool) -> None:
        """Count, filter, obey; then it goes into the FIFO."""
        if broken:
            self._count("rx_crc")
        elif not frame[0] & 1:
            self._count("rx_unicast")
        if self.macpmtcsr.PD:
            if not broken and self.macpmtcsr.MPE and self._is_magic(frame):
                self._wake()
            return
        if not broken and self._is_pause(frame):
            self._pause(frame)
        verdict = self.filter(frame)
        if verdict is not None:
            self.into_fifo(frame, broken, verdict)

    def into_fifo(self, frame: bytes, broken: bool, verdict: Filtered) -> None:
        """Overridden: a frame that passed the filter enters the receive FIFO."""

    # -- address filter ------------------------------------------------------------------------
    def station(self, n: int = 0) -> bytes:
        """MAC address 0 to 3."""
        if n == 0:
            high, low = self.maca0hr.MACA0H, self.maca0lr.MACA0L
        else:
            high, low = self.macahr[n - 1].MACAH, self.macalr[n - 1].MACAL
        return low.to_bytes(4, "little") + high.to_bytes(2, "little")

    def _matches(self, address: bytes, source: int) -> bool:
        """Whether an enabled address register compared with destinations (0) or sources (1) holds it."""
        if not source and address == self.station(0):
            return True
        for n, high in enumerate(self.macahr, 1):
            if high.AE and source == high.SA:
                own = self.station(n)
                if all(high.MBC >> byte & 1 or own[byte] == address[byte] for byte in range(6)):
                    return True
        return False

    def _hashed(self, address: bytes) -> bool:
        bit = address_hash(address)
        table = self.machthr.HTH << 32 | self.machtlr.HTL
        return bool(table >> bit & 1)

    def _destination_good(self, address: bytes) -> bool:
        rule = self.macffr
        if address == BROADCAST:
            return not rule.BFD
        multicast = address[0] & 1
        if multicast and rule.PAM:
            return True
        by_hash = rule.HM if multicast else rule.HU
        if by_hash:
            good = self._hashed(address) or bool(rule.HPF and self._matches(address, 0))
        else:
            good = self._matches(address, 0)
        return good != bool(rule.DAIF)

    def filter(self, frame: bytes) -> Filtered | None:
        """What the filters say; None when the frame goes no further."""
        rule = self.macffr
        if rule.PM:
            return Filtered()
        verdict = Filtered(self._destination_good(frame[:6]))
        if rule.SAF or rule.SAIF:
            verdict.source = self._matches(frame[6:12], 1) != bool(rule.SAIF)
        passes = verdict.destination and (verdict.source or not rule.SAF)
        if int.from_bytes(frame[12:14], "big") == TYPE_CONTROL and rule.PCF != CLASS_ALL + 1:
            passes = rule.PCF == CLASS_ALL or (rule.PCF == CLASS_NO_PAUSE and not self._is_pause(frame))
        return verdict if passes or rule.RA else None

    # -- flow control --------------------------------------------------------------------------
    def _is_pause(self, frame: bytes) -> bool:
        to_us = frame[:6] == PAUSE_ADDRESS or (self.macfcr.UPFD and frame[:6] == self.station(0))
        kind, opcode = int.from_bytes(frame[12:14], "big"), int.from_bytes(frame[14:16], "big")
        return bool(to_us) and kind == TYPE_CONTROL and opcode == OPCODE_PAUSE

    def _pause(self, frame: bytes) -> None:
        if self.macfcr.RFCE and self.maccr.DM:
            slots = int.from_bytes(frame[16:18], "big")
            self._paused_until = self.clock.now + round(slots * SLOT_BYTES * self.byte_cycles())

    @EthV1Registers.MACFCR.written
    def _flow_control(self) -> None:
        """FCB of full duplex sends one pause frame; it passes those that wait."""
        flow = self.macfcr
        if flow.FCB_BPA and flow.TFCE and self.maccr.DM:
            content = TYPE_CONTROL.to_bytes(2, "big") + OPCODE_PAUSE.to_bytes(2, "big") + flow.PT.to_bytes(2, "big")
            self.out((PAUSE_ADDRESS + self.station(0) + content).ljust(MIN_BYTES, b"\0"))
            flow.FCB_BPA = 0

    def out(self, frame: bytes) -> None:
        """A frame has left the transmitter."""
        if self.maccr.LM:
            self.receive(frame)
        elif self.line_works():
            self.tap(frame, True)
            self.transmit(frame)

    # -- waking --------------------------------------------------------------------------------
    def _is_magic(self, frame: bytes) -> bool:
        return BROADCAST + self.station(0) * MAGIC_COPIES in frame

    def _wake(self) -> None:
        self.macpmtcsr.MPR, self.macpmtcsr.PD, self.macsr.PMTS = 1, 0, 1
        self.wakeup.set(True)
        self.update()

    @EthV1Registers.MACPMTCSR.being_read
    def _wake_read(self) -> int:
        word = self.macpmtcsr.value
        self.macpmtcsr.MPR = self.macpmtcsr.WFR = self.macsr.PMTS = 0
        self.wakeup.set(False)
        self.update()
        return word

    def update(self) -> None:
        """Overridden: drive the interrupt line."""

    # -- management bus ------------------------------------------------------------------------
    @EthV1Registers.MACMIIAR.being_read
    def _mdio_state(self) -> int:
        if self.clock.now >= self._mdio_until:
            self.macmiiar.MB = 0
        return self.macmiiar.value

    @EthV1Registers.MACMIIAR.being_written
    def _mdio_guard(self, value: int) -> int | None:
        if self._mdio_state() & EthV1Registers.MACMIIAR.MB.bits:
            self.guest_error(f"{self.name}.MACMIIAR written ({value:#010x}) while MB=1; ignored")
            return None
        return value

    @EthV1Registers.MACMIIAR.written
    def _mdio(self) -> None:
        """One management frame; what is read is there when MB falls."""
        order = self.macmiiar
        if not order.MB:
            return
        divider = MDC_DIVIDERS[min(order.CR, len(MDC_DIVIDERS) - 1)]
        self._mdio_until = self.clock.now + MDIO_BITS * divider
        there = self.phy is not None and self.phy.address == order.PA
        now = self.clock.seconds()
        if order.MW:
            if there and self.phy:
                self.phy.write(order.MR, self.macmiidr.MD, now)
        else:
            self.macmiidr.MD = self.phy.read(order.MR, now) if there and self.phy else NOBODY

    # -- counters ------------------------------------------------------------------------------
    def _count(self, what: str) -> None:
        """One frame more; at half and full a counter asks for an interrupt."""
        if self.mmccr.MCF:
            return
        counter = {"tx": self.mmctgfcr, "rx_crc": self.mmcrfcecr, "rx_unicast": self.mmcrgufcr}[what]
        if counter.value == ALMOST_FULL and self.mmccr.CSR:
            return
        counter.value = (counter.value + 1) & 0xFFFF_FFFF
        if counter.value in (HALF, ALMOST_FULL):
            if what == "tx":
                self.mmctir.TGFS = 1
            elif what == "rx_crc":
                self.mmcrir.RFCES = 1
            else:
                self.mmcrir.RGUFS = 1
            self.update()

    def counters_ask(self) -> tuple[bool, bool]:
        """Whether a receive and a transmit counter ask for an interrupt that is not masked."""
        return bool(self.mmcrir.value & ~self.mmcrimr.value), bool(self.mmctir.value & ~self.mmctimr.value)

    @EthV1Registers.MMCCR.written
    def _counters(self) -> None:
        control = self.mmccr
        counters = (
            self.mmctgfsccr, self.mmctgfmsccr, self.mmctgfcr, self.mmcrfcecr, self.mmcrfaecr, self.mmcrgufcr,
        )  # fmt: skip
        for counter in counters:
            if control.CR:
                counter.value = 0
            elif control.MCP:
                counter.value = PRESETS[control.MCFHP]
        control.MCP = 0

    @EthV1Registers.MMCTGFCR.being_read
    def _read_sent(self) -> int:
        return self._read_counter(self.mmctgfcr, self.mmctir, EthV1Registers.MMCTIR.TGFS.bits)

    @EthV1Registers.MMCRFCECR.being_read
    def _read_crc_errors(self) -> int:
        return self._read_counter(self.mmcrfcecr, self.mmcrir, EthV1Registers.MMCRIR.RFCES.bits)

    @EthV1Registers.MMCRGUFCR.being_read
    def _read_unicast(self) -> int:
        return self._read_counter(self.mmcrgufcr, self.mmcrir, EthV1Registers.MMCRIR.RGUFS.bits)

    def _read_counter(self, counter: Any, flags: Any, bits: int) -> int:
        """A read takes the counter's interrupt back, and the count with ROR."""
        word = int(counter.value)
        if self.mmccr.ROR:
            counter.value = 0
        flags.value &= ~bits
        self.update()
        return word

    @EthV1Registers.MMCRIMR.written
    @EthV1Registers.MMCTIMR.written
    @EthV1Registers.MACIMR.written
    def _masks(self) -> None:
        self.update()
