"""Ethernet MAC with DMA, version 1 (STM32F2, F4, F7)."""

from __future__ import annotations

from cryplab.blocks.eth_dma import SR, STOPPED
from cryplab.blocks.eth_mac import EthMac
from cryplab.blocks.eth_receive import FIFO_BYTES, WAITS, EthReceive
from cryplab.blocks.eth_v1_registers import EthV1Registers

__all__ = ["EthV1"]

RESET_CYCLES = 200  # software reset with all clocks running
RFFL_EMPTY, RFFL_LOW, RFFL_HIGH = 0, 1, 2
SENDING = 3


class EthV1(EthReceive):
    """10/100 Mbit/s MAC, its counters and time stamps, and a DMA with a transmit and a receive process.

    The machine sets `bus`, `phy` (see `blocks.phy`), and what `transmit(frame)` does; `receive(frame)` brings a frame
    in. Descriptors have 4 words, or 8 with DMABMR.EDFE; they follow one another by DSL (ring) or by address (chain).
    Checksums are inserted as CIC says and judged with MACCR.IPCO. Line `wakeup` is the EXTI line of Ethernet.

    Time in HCLK cycles: a frame takes 8 + bytes + 4 bytes of the line, 12 bytes of gap follow; a descriptor
    20, one per word of a buffer. With OSF the next descriptor was fetched meanwhile. A management
    frame takes 64 MDC cycles.

    Departures: full duplex only, no collisions and no carrier loss; a frame is copied at one moment, when its first bit
    leaves or its last bit has come in, so thresholds, early interrupts and underflow do not arise; the receive FIFO
    keeps 2048 bytes with no overhead; NIS and AIS stand as long as a cause that is enabled stands; no remote wake-up
    frames, no target time; the PTP filter passes all frames with TSSARFE, none without; the core is not slowed
    down by the DMA.

    Source: RM0090, Ethernet chapter.
    """

    saved = (
        *EthMac.saved, "_reset_until", "_tx_at", "_tx", "_tx_event", "_tx_free", "_rx_at", "_rx_event", "_rx_late",
        "_fifo",
    )  # fmt: skip

    def on_reset(self) -> None:
        """All processes stopped, FIFOs empty; SR stands until the reset has passed through all clocks."""
        self._reset_until = self.clock.now + RESET_CYCLES
        self.reset_transmit()
        self.reset_receive()
        self.reset_mac()
        self.wakeup.set(False)
        self.update()

    # -- bus mode ------------------------------------------------------------------------------
    @EthV1Registers.DMABMR.being_read
    def _mode(self) -> int:
        if self.dmabmr.SR and self.clock.now >= self._reset_until:
            reason = self.why_no_clock() if self.phy else "the board has no PHY that would give the MAC its clock"
            if reason:
                self.guest_error(f"{self.name}.DMABMR.SR stays 1: {reason}")
            else:
                self.dmabmr.SR = 0
        return self.dmabmr.value

    @EthV1Registers.DMABMR.being_written
    def _software_reset(self, value: int) -> int | None:
        self._mode()
        if not value & self.DMABMR.SR.bits:
            return value
        self.reset()
        return None

    # -- processes on and off ------------------------------------------------------------------
    @EthV1Registers.DMAOMR.being_written
    def _remember_processes(self, value: int) -> int:
        self._were_on = (self.dmaomr.ST, self.dmaomr.SR)
        return value

    @EthV1Registers.DMAOMR.written
    def _processes(self) -> None:
        sent, received = self._were_on
        self.dmaomr.FTF = 0
        if sent and not self.dmaomr.ST and self._tx is None:
            self._stop_sending()
        if received and not self.dmaomr.SR:
            self.dmasr.RPS = STOPPED
            self._flag(SR.RPSS.bits)
        elif self.dmaomr.SR and not received:
            self.dmasr.RPS = WAITS
        self._look_for_work()
        self._drain()

    @EthV1Registers.MACCR.written
    def _configured(self) -> None:
        self._look_for_work()

    @EthV1Registers.MACDBGR.being_read
    def _debug(self) -> int:
        level = sum(len(held.data) for held in self._fifo)
        self.macdbgr.RFFL = RFFL_EMPTY if not level else RFFL_LOW if level < FIFO_BYTES // 2 else RFFL_HIGH
        sends = self._tx is not None and self._tx.last is not None
        self.macdbgr.TFNE = self.macdbgr.MMTEA = int(sends)
        self.macdbgr.MTFCS = SENDING if sends else 0
        self.macdbgr.MTP = int(self.clock.now < self._paused_until)
        self.macdbgr.MMRPEA = int(self._arriving is not None)
        return self.macdbgr.value
