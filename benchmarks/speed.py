"""Speed of the native engine in one run: million instructions per second, cost of interrupts and register accesses.

    python benchmarks/speed.py [--seconds 1.0]

The guest is a SHA-256 loop (sha256_loop.c, built with arm-none-eabi-gcc -O2). `plain` is Unicorn alone with the same
settings and no hooks; QEMU runs the loop on its netduinoplus2, when qemu-system-arm is there. AES-CBC and SHA-256 go
through CRYP and HASH of a whole machine by polling, with registers served by the core and by calls alone. Times are of
the processor, so that other programs disturb little.
"""

import argparse
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import unicorn

import cryplab
from cryplab.clock import Clock
from cryplab.cpu.cortex_m import CortexM
from cryplab.machine import Machine

FLASH, RAM, IO = 0x0800_0000, 0x2000_0000, 0x4000_0000
HERE = Path(__file__).parent
STACK_TOP = RAM + 0x8000
NVIC_ON = 16
DEVICE = Path(cryplab.__path__[0]) / "guest" / "device"
COUNTER, LIMIT = RAM + 0x400, RAM + 0x404


def build(folder: Path) -> tuple[bytes, int]:
    """The loop as a flash image, and the address of its first function."""
    elf, binary = folder / "loop.elf", folder / "loop.bin"
    flags = "-O2 -mcpu=cortex-m4 -mthumb -ffreestanding -nostdlib -Wl,-e,start -fno-tree-loop-distribute-patterns"
    layout = [f"-Wl,-Ttext={FLASH + 0x200:#x}", f"-Wl,-Tdata={RAM:#x}"]
    source = str(HERE / "sha256_loop.c")
    subprocess.run(["arm-none-eabi-gcc", *flags.split(), *layout, source, "-o", str(elf), "-lgcc"], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", "-j", ".rodata", elf, binary], check=True)
    symbols = subprocess.run(["arm-none-eabi-nm", elf], check=True, capture_output=True, text=True).stdout
    start = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" start"))
    return binary.read_bytes(), start


def machine(image: bytes, start: int, *, exact: bool) -> CortexM:
    core = CortexM(exact=exact)
    flash = core.map_memory(FLASH, 0x1_0000, kind="flash")
    core.map_memory(RAM, 0x1_0000)
    core.map_io(IO, 0x1000)
    flash[0x200 : 0x200 + len(image)] = image
    flash[0:8] = STACK_TOP.to_bytes(4, "little") + (start | 1).to_bytes(4, "little")
    core.write_memory(LIMIT, b"\xff" * 4)
    core.reset(FLASH)
    core.set_flash(5, True, True, True)
    return core


def mips(core: CortexM, cycles: int) -> float:
    core.run(core.cycles + 1_000_000)
    core.clear_profile()
    began = time.process_time()
    core.run(core.cycles + cycles)
    return core.instructions / (time.process_time() - began) / 1e6


def plain_mips(image: bytes, start: int, instructions_per_round: float, seconds: float) -> float:
    """Unicorn alone, for so many rounds of the loop; it returns to an address that ends the run."""
    uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
    uc.ctl_set_tcg_buffer_size(32 << 20)
    uc.ctl_set_cpu_model(unicorn.arm_const.UC_CPU_ARM_CORTEX_M4)
    uc.mem_map(FLASH, 0x1_0000, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
    uc.mem_map(RAM, 0x1_0000, unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE)  # as the engine does until code runs there
    uc.mem_write(FLASH + 0x200, image)
    uc.reg_write(unicorn.arm_const.UC_ARM_REG_SP, STACK_TOP)
    rounds = int(seconds * 200e6 / instructions_per_round)
    uc.mem_write(LIMIT, rounds.to_bytes(4, "little"))
    end = FLASH + 0x100
    uc.reg_write(unicorn.arm_const.UC_ARM_REG_LR, end | 1)
    began = time.process_time()
    uc.emu_start(start | 1, end)
    return rounds * instructions_per_round / (time.process_time() - began) / 1e6


def interrupt_cost(image: bytes, start: int, cycles: int) -> float:
    """Microseconds that an interrupt every 1000 cycles adds, its event in Python included."""

    def spent(every: int) -> float:
        core = machine(image, start, exact=False)
        handler = FLASH + 0x100
        core.write_memory(FLASH + 4 * NVIC_ON, (handler | 1).to_bytes(4, "little"))
        core.write_memory(handler, b"\x70\x47")  # BX lr
        clock = Clock(source=core.source)
        core.on_deadline = clock.run_due
        core.engine.change("enabled", NVIC_ON, 1, True)

        def fire() -> None:
            core.engine.change("pending", NVIC_ON, 1, True)
            clock.after(every, fire)

        clock.after(every, fire)
        core.run(1_000_000)
        began = time.process_time()
        core.run(core.cycles + cycles)
        return time.process_time() - began

    return (spent(1000) - spent(1 << 60)) / (cycles / 1000) * 1e6


def access_cost(count: int) -> tuple[float, float]:
    """Microseconds per bound load and store with callables that do nothing."""

    def spent(code: bytes) -> float:
        core = CortexM()
        flash = core.map_memory(FLASH, 0x1000, kind="flash")
        core.map_io(IO, 0x1000)
        core.bind(IO, lambda: 0, lambda value: None)
        # loop: code; SUBS r1, #1; BNE loop; BKPT
        body = code + b"\x01\x39"
        branch = 0xD100 | (-(len(body) + 4) // 2 & 0xFF)
        program = body + branch.to_bytes(2, "little") + b"\x00\xbe"
        flash[0x100 : 0x100 + len(program)] = program
        core.reset(FLASH)
        core.write_register("r0", IO)
        core.write_register("r1", count)
        core.write_register("pc", FLASH + 0x100)
        began = time.process_time()
        core.run()
        return time.process_time() - began

    nothing = spent(b"\x00\xbf")  # NOP
    load, store = spent(b"\x02\x68"), spent(b"\x02\x60")  # LDR r2, [r0]; STR r2, [r0]
    return (load - nothing) / count * 1e6, (store - nothing) / count * 1e6


def megabytes(source: str, board_name: str, block_bytes: int, folder: Path, seconds: float) -> tuple[float, float]:
    """Megabytes of data a second through an engine by polling: with registers served by the core, and by calls."""
    elf, script = folder / "engine.elf", folder / "engine.ld"
    script.write_text(
        f"_estack = {STACK_TOP:#x}; SECTIONS {{ .text {FLASH:#x} : {{ *(.isr_vector) *(.text*) *(.rodata*) }} "
        f".bss {RAM:#x} (NOLOAD) : {{ *(.bss*) *(COMMON) }} }}"
    )
    flags = ["-O2", "-mcpu=cortex-m4", "-mthumb", "-ffreestanding", "-nostdlib", "-Wl,-e,start", f"-I{DEVICE}"]
    subprocess.run(["arm-none-eabi-gcc", *flags, str(HERE / source), f"-T{script}", "-o", str(elf)], check=True)

    def speed(native: bool) -> float:
        board = Machine(board_name, native_registers=native)
        board.load(elf)
        board.run(seconds=0.01)
        done, began = board.read_word(board.symbol("blocks").address), time.process_time()
        while time.process_time() - began < seconds:
            board.run(seconds=0.02)
        blocks = board.read_word(board.symbol("blocks").address) - done
        return block_bytes * blocks / (time.process_time() - began) / 2**20

    return speed(True), speed(False)


def qemu_mips(image: bytes, start: int, instructions_per_round: float, seconds: float, folder: Path) -> float | None:
    """The loop on QEMU's netduinoplus2, its start-up taken off; None without QEMU."""
    qemu = shutil.which("qemu-system-arm")
    if not qemu:
        return None
    # LDR r0, =start; BLX r0; MOVS r0, #0x18; LDR r1, =0x20026; BKPT #0xAB: call, then semihosting's exit
    stub = struct.pack("<6HII", 0x4802, 0x4780, 0x2018, 0x4902, 0xBEAB, 0xBF00, start | 1, 0x20026)
    vectors = struct.pack("<II", STACK_TOP, FLASH + 0x101)
    whole = folder / "qemu.bin"
    whole.write_bytes(vectors.ljust(0x100, b"\0") + stub.ljust(0x100, b"\0") + image)

    def spent(rounds: int) -> float:
        def of_children() -> float:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        began = of_children()
        loaders = [
            f"loader,file={whole},addr={FLASH:#x},force-raw=on",
            f"loader,addr={LIMIT:#x},data={rounds},data-len=4",
        ]
        command = [qemu, "-M", "netduinoplus2", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting"]
        subprocess.run([*command, *(word for each in loaders for word in ("-device", each))], check=True, timeout=120)
        return of_children() - began

    rounds = int(seconds * 300e6 / instructions_per_round)
    return rounds * instructions_per_round / (spent(rounds) - spent(1)) / 1e6


def report(seconds: float) -> None:
    """Print every line; each takes about so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        image, start = build(Path(folder))
        aes = megabytes("aes_polling.c", "ublox-c030-u201", 16, Path(folder), seconds)
        sha = megabytes("hash_polling.c", "stm32f437i-eval", 64, Path(folder), seconds)
    cycles = int(seconds * 250e6)
    probe = machine(image, start, exact=False)
    probe.run(5_000_000)
    per_round = probe.instructions / max(1, int.from_bytes(probe.read_memory(COUNTER, 4), "little"))
    plain = plain_mips(image, start, per_round, seconds)
    fast = mips(machine(image, start, exact=False), cycles)
    exact = mips(machine(image, start, exact=True), cycles)
    with tempfile.TemporaryDirectory() as folder:
        qemu = qemu_mips(image, start, per_round, seconds, Path(folder))
    if qemu:
        print(f"QEMU           {qemu:8.0f} MIPS  netduinoplus2, no cycles counted")
    else:
        print("QEMU           left out: no qemu-system-arm here; Debian has it in package qemu-system-arm")
    print(f"plain Unicorn  {plain:8.0f} MIPS")
    print(f"fast clock     {fast:8.0f} MIPS  {fast / plain:6.1%} of plain")
    print(f"exact clock    {exact:8.0f} MIPS  {exact / plain:6.1%} of plain")
    for name, (served, called) in {"AES-CBC": aes, "SHA-256": sha}.items():
        print(f"{name}        {served:8.2f} MB of data a second by polling; {called:.2f} when each access is a call")
    print(f"interrupt      {interrupt_cost(image, start, cycles // 4):8.2f} us each, event and handler included")
    load, store = access_cost(300_000)
    print(f"bound access   {load:8.2f} us a load, {store:.2f} us a store")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="about so long for each line")
    report(parser.parse_args().seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
