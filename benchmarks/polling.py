"""What a guest loop costs that polls one register: virtual seconds per second of the processor.

    python benchmarks/polling.py [--seconds 0.5]

The loop is LDR, TST, B on a machine that runs at its reset clock, 16 MHz; timers and SysTick overflow every
millisecond. Each register with what the core serves itself, and by calls alone. Times are of the processor.
"""

import argparse
import struct
import time
from typing import Any

from cryplab.machine import Machine

BOARD = "stm32f437i-eval"
FLASH, RAM_END = 0x0800_0000, 0x2000_8000
LOOP = struct.pack("<4H", 0x6801, 0x4211, 0xE7FC, 0xBF00)  # LDR r1, [r0]; TST r1, r2; B LOOP; NOP
POLLED = (
    "GPIOA.IDR", "GPIOA.ODR", "EXTI.PR", "RCC.CR", "RCC.CFGR", "RCC.BDCR", "PWR.CSR", "FLASH.SR", "TIM2.SR", "TIM2.CNT",
    "SYSTICK.CSR", "SYSTICK.CVR", "DWT.CYCCNT", "USART1.SR", "RNG.SR",
)  # fmt: skip


def poll(path: str, *, native: bool, seconds: float) -> float:
    """Virtual seconds per second of the processor while the guest polls BLOCK.REG."""
    machine = Machine(BOARD, native_registers=native)
    name, register = path.split(".")
    prepare(machine)
    core, slot = machine.core, machine.bus.slot_of(name)
    core.write_memory(FLASH, struct.pack("<II", RAM_END, FLASH + 0x101))
    core.write_memory(FLASH + 0x100, LOOP)
    core.reset(FLASH)
    core.write_register("r0", slot.base + slot.block.registers[register].offset)
    start = machine.clock.now
    began = time.process_time()
    while time.process_time() - began < seconds:
        core.run(core.cycles + 200_000)
    return machine.clock.seconds(machine.clock.now - start) / (time.process_time() - began)


def prepare(machine: Machine) -> None:
    """Clocks on, timer (1 count a microsecond) and SysTick running."""
    blocks: dict[str, Any] = machine.blocks
    for register, bits in (("AHB1ENR", 1), ("AHB2ENR", 0x40), ("APB1ENR", 0x1000_0001), ("APB2ENR", 0x4010)):
        blocks["RCC"].write(blocks["RCC"].registers[register].offset, bits)
    for name, register, word in (
        ("TIM2", "ARR", 999), ("TIM2", "PSC", 15), ("TIM2", "EGR", 1), ("TIM2", "CR1", 1),
        ("SYSTICK", "RVR", 15_999), ("SYSTICK", "CSR", 5),
        ("COREDEBUG", "DEMCR", 1 << 24), ("DWT", "CTRL", 0x4000_0001),
    ):  # fmt: skip
        blocks[name].write(blocks[name].registers[register].offset, word)


def main() -> None:
    """Print a line for each register."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=0.5, help="of the processor for each measurement")
    seconds = arguments.parse_args().seconds
    print("virtual seconds per second   served   by calls")
    for path in POLLED:
        served, called = (poll(path, native=native, seconds=seconds) for native in (True, False))
        print(f"{path:26} {served:8.2f} {called:10.2f}")


if __name__ == "__main__":
    main()
