"""A board's parts, made from data and wired to each other: core, clock, bus, memories, blocks.

What RCC switches among them, gates, resets and clocks, takes its way here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from cryplab.bench_memory import BENCH_BASE, BENCH_SIZE
from cryplab.blocks import wiring_f4
from cryplab.blocks.eth_v1 import EthV1
from cryplab.blocks.external_bank import ExternalBank
from cryplab.blocks.phy import make_phy
from cryplab.board import Board
from cryplab.bus import Bus, Remembered, Slot
from cryplab.chip import Chip, Flash, KiB, Ram
from cryplab.clock import Clock
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.private import Private
from cryplab.registers import Block
from cryplab.reports import Location, NotModelled, Reports

__all__ = ["Hardware"]

PAGE = 0x1000
IO_WINDOWS = ((0x4000_0000, 0x4008_0000), (0x5000_0000, 0x5006_1000))
"Where accesses go to the bus even if nothing lives there: first address, first behind."
PRIVATE_PERIPHERALS = 0xE000_0000
TRAP_CODE = b"\x00\xbe"
"BKPT: a called function returns to it."


class Hardware:
    """The parts of one board.

    Args:
        board: what is built.
        reports: where blocks and bus report to; it is told where the core is.
        exact: how cycles are counted, see `Machine`.
        native_registers: see `Machine`.
        seed: of blocks that are random.
        date: of blocks that know it.
    """

    def __init__(
        self, board: Board, reports: Reports, *, exact: bool, native_registers: bool, seed: int, date: datetime
    ) -> None:
        self.board, self.chip, self.reports = board, board.chip, reports
        self.native_registers = native_registers
        chip = self.chip
        self.core = CortexM(chip.core, interrupts=chip.interrupts, priority_bits=chip.priority_bits, exact=exact)
        self.clock = Clock(source=self.core.source)
        self.core.on_deadline = self.clock.run_due
        self.reports.where = lambda: Location(self.core.pc, self.clock.now)
        self.bus = Bus(self.clock, self.reports)
        self.blocks: dict[str, Block] = {}
        self.memories: list[memoryview] = []
        "In the order of the chip, the bench's own last."
        self.rams: list[tuple[int, memoryview]] = []
        "First address and contents of each."
        self._settings: dict[str, Any] = {"seed": seed, "date": date, "bus": self.bus}
        self._irq_sources: dict[int, dict[str, bool]] = {}
        self._irq_lines: list[tuple[int, Any]] = []
        self._build_memory()
        self._build_blocks()
        self._build_private()
        self._wire()

    # -- building ------------------------------------------------------------------------------
    def _build_memory(self) -> None:
        for memory in self.chip.memory:
            view = self.core.map_memory(memory.base, memory.size, "flash" if isinstance(memory, Flash) else "ram")
            self.memories.append(view)
            if isinstance(memory, Ram):
                self.rams.append((memory.base, view))
                self.bus.attach_memory(memory.base, view, dma=memory.dma)
            else:
                self.bus.attach_memory(memory.base, view.toreadonly())
                view[:] = b"\xff" * memory.size
        bench = self.core.map_memory(BENCH_BASE, BENCH_SIZE, kind="ram")
        self.memories.append(bench)
        self.bus.attach_memory(BENCH_BASE, bench)
        bench[0 : len(TRAP_CODE)] = TRAP_CODE
        flash = self.chip.flash
        self.core.map_alias(0, flash.base, flash.size)
        for first, end in io_windows(self.chip):
            self.core.map_io(first, end - first)

    def _build_blocks(self) -> None:
        for at in self.chip.modelled:
            block = at.block(at.name, clock=self.clock, reports=self.reports, **at.options)
            self.blocks[at.name] = block
            self._bind(self.bus.attach(at.base, at.size, block, bus=at.bus, clock_bit=at.clock))
        for known in self.chip.not_modelled:
            remembered = Remembered(known.name, clock=self.clock, reports=self.reports)
            self.blocks[known.name] = remembered
            self.bus.attach(known.base, known.size, remembered, bus=known.bus)
        self.core.on_read, self.core.on_write = self.bus.read, self.bus.write

    def _build_private(self) -> None:
        self.private = Private(self.core, clock=self.clock, reports=self.reports)
        for base, size, block in self.private.slots():
            self.blocks[block.name] = block
            self._bind(self.bus.attach(base, size, block))

    def _bind(self, slot: Slot) -> None:
        """Let the core reach a block's registers directly."""
        for address, reader, writer in self.bus.bindings(slot):
            self.core.bind(address, reader, writer)
        if self.native_registers:
            for address, load, store, bridge in self.bus.served(slot):
                self.core.serve(address, load, store, bridge)

    # -- wiring --------------------------------------------------------------------------------
    def _wire(self) -> None:
        for at in self.chip.modelled:
            for line, number in at.irqs.items():
                self._wire_interrupt(getattr(self.blocks[at.name], line), number)
        for wire in self.chip.dma:
            owner, _, request = wire.request.partition(".")
            controller: Any = self.blocks[wire.controller]
            controller.connect(wire.stream, wire.channel, getattr(self.blocks[owner], request))
        for block in self.blocks.values():
            self._wire_block(block)
        self._wire_rcc()
        self._wire_flash()
        syscfg: Any = self.blocks["SYSCFG"]
        syscfg.on_remap = self._remap
        wiring_f4.connect(self.blocks)
        self._clock_changed()

    def _wire_interrupt(self, line: Any, number: int) -> None:
        """Several lines may share one NVIC input: it is high while any of them is."""
        sources = self._irq_sources.setdefault(number, {})
        self._irq_lines.append((number, line))

        def follow(level: bool) -> None:
            sources[line.name] = level
            self.core.set_interrupt(number, any(sources.values()))

        line.connect(follow)

    def _wire_block(self, block: Block) -> None:
        block.frequency = self.rcc.frequency
        for name, value in self._settings.items():
            if hasattr(type(block), name) or name in vars(block):
                setattr(block, name, value)
        if isinstance(block, EthV1) and self.board.phy:
            block.phy = make_phy(self.board.phy, self.board.phy_address)
            block.phy.interface = self.board.phy_interface
        if isinstance(block, ExternalBank) and self.board.sram_kib:
            block.sram_at, block.sram_bytes = self.board.sram_base - block.base, self.board.sram_kib * KiB

    def _wire_rcc(self) -> None:
        rcc = self.rcc
        rcc.hse_hz, rcc.lse_hz = self.board.hse_hz, self.board.lse_hz
        rcc.on_gate, rcc.on_reset_bit, rcc.on_clock = self._gate, self._reset_bit, self._clock_changed
        for at in self.chip.modelled:
            if at.clock:
                self._gate(at.clock, rcc.gate_open(at.clock))

    def _wire_flash(self) -> None:
        flash: Any = self.blocks["FLASH"]
        flash.memory = self.memories[0]
        flash.on_access_control = self.core.set_flash
        flash.on_changed = self.core.flush
        for base in (self.chip.flash.base, 0):
            self.bus.attach_flash(base, self.chip.flash.size, flash.program)

    @property
    def rcc(self) -> Any:
        """The block that switches clocks and resets."""
        return self.blocks["RCC"]

    # -- what RCC and SYSCFG switch ------------------------------------------------------------
    def _gate(self, path: str, is_open: bool) -> None:
        for slot in self.bus.slots:
            if slot.clock_bit == path:
                slot.open = is_open
                self.set_reachable(slot)

    def _reset_bit(self, path: str, active: bool) -> None:
        for at in self.chip.modelled:
            if at.reset == path:
                slot = self.bus.slot_of(at.name)
                slot.in_reset = active
                if active:
                    slot.block.reset()
                self.set_reachable(slot)

    def set_reachable(self, slot: Slot) -> None:
        """Tell the core whether a block answers: its clock runs and its reset bit is clear."""
        self.core.gate(slot.base, slot.size, open=slot.open and not slot.in_reset)

    def _clock_changed(self) -> None:
        self.clock.set_hz(self.rcc.frequency("HCLK"))
        self.set_bridges()
        for block in self.blocks.values():
            block.clock_changed()

    def set_bridges(self) -> None:
        """Clock dividers of the APB bridges."""
        hclk = self.rcc.frequency("HCLK")
        for name, bridge in self.bus.bridges.items():
            bridge.divider = max(1, hclk // max(1, self.rcc.frequency(f"PCLK{name[-1]}")))

    def _remap(self, mode: int) -> None:
        """SYSCFG_MEMRMP: what address 0 shows. Only the main flash is modelled there."""
        if mode != 0:
            text = f"set to {mode}; address 0 goes on showing the main flash"
            self.reports.not_modelled(NotModelled("SYSCFG", "SYSCFG.MEMRMP.MEM_MODE", text))

    def lines_were_loaded(self) -> None:
        """Blocks have levels of a snapshot on their lines, and the core has its inputs: remember who holds which."""
        for number, line in self._irq_lines:
            self._irq_sources[number][line.name] = line.level


def io_windows(chip: Chip) -> list[tuple[int, int]]:
    """Whole pages for the peripherals, with holes where a memory lies among them (backup SRAM)."""
    windows = list(IO_WINDOWS)
    for thing in chip.peripherals:
        first, end = thing.base // PAGE * PAGE, -(-thing.end // PAGE) * PAGE
        if first < PRIVATE_PERIPHERALS and not any(lo <= first and end <= hi for lo, hi in windows):
            windows.append((first, end))
    for memory in chip.memory:
        holes = [(lo, hi) for lo, hi in windows if lo < memory.end and memory.base < hi]
        for lo, hi in holes:
            windows.remove((lo, hi))
            windows += [(a, b) for a, b in ((lo, memory.base), (memory.end, hi)) if a < b]
    return windows
