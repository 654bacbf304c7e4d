"""What both DMA processes of the Ethernet block share: memory, descriptors' order, status and interrupt."""

from __future__ import annotations

from typing import Any

from cryplab.blocks.eth_descriptors import BusMaster, Descriptor, Memory
from cryplab.blocks.eth_mac import EthMac
from cryplab.blocks.eth_v1_registers import EthV1Registers
from cryplab.errors import Unreachable

__all__ = ["EBS_DESCRIPTOR", "EBS_READ", "EBS_TRANSMIT", "FETCH_CYCLES", "SR", "STOPPED", "WORD_CYCLES", "EthDma"]

FETCH_CYCLES = 20  # a descriptor: four words, arbitration, status written back
WORD_CYCLES = 1
STOPPED = 0
EBS_TRANSMIT, EBS_READ, EBS_DESCRIPTOR = 1, 2, 4

SR = EthV1Registers.DMASR
NORMAL = SR.TS.bits | SR.TBUS.bits | SR.RS.bits | SR.ERS.bits
ABNORMAL = sum(f.bits for f in (SR.TPSS, SR.TJTS, SR.ROS, SR.TUS, SR.RBUS, SR.RPSS, SR.RWTS, SR.ETS, SR.FBES))


class EthDma(EthMac):
    """Bus access and interrupts; `bus` is set by the machine."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.bus: BusMaster | None = None
        super().__init__(*args, **kwargs)

    @property
    def _memory(self) -> Memory:
        return Memory(self.bus, self.name)

    def _next(self, descriptor: Descriptor, end: int, chained: int, first: int) -> int:
        """Address of the descriptor after this one; the end of a ring goes before a chain."""
        if end:
            return first
        if chained:
            return descriptor.words[3] & ~3
        return descriptor.address + 4 * (len(descriptor.words) + self.dmabmr.DSL)

    # -- interrupts ----------------------------------------------------------------------------
    def _flag(self, bits: int) -> None:
        self.dmasr.value |= bits
        self.update()

    @EthV1Registers.DMASR.written
    @EthV1Registers.DMAIER.written
    def update(self) -> None:
        """Summary bits and the interrupt line."""
        status, enabled = self.dmasr, self.dmaier
        asked = status.value & enabled.value
        status.NIS |= bool(asked & NORMAL)
        status.AIS |= bool(asked & ABNORMAL)
        receive, transmit = self.counters_ask()
        self.macsr.MMCRS, self.macsr.MMCTS, self.macsr.MMCS = receive, transmit, receive or transmit
        status.MMCS, status.PMTS = self.macsr.MMCS, self.macsr.PMTS
        woken = self.macsr.PMTS and not self.macimr.PMTIM
        self.irq.set(status.NIS & enabled.NISE | status.AIS & enabled.AISE | status.MMCS | woken)

    def _fatal(self, cause: int, error: Unreachable) -> None:
        """A bus error stops the process."""
        self.guest_error(f"{self.name}: fatal bus error of the {'transmit' if cause & 1 else 'receive'} DMA: {error}")
        self.dmasr.EBS = cause
        if cause & EBS_TRANSMIT:
            self.dmaomr.ST, self.dmasr.TPS = 0, STOPPED
        else:
            self.dmaomr.SR, self.dmasr.RPS = 0, STOPPED
        self._flag(SR.FBES.bits)
