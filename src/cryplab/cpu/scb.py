"""System control block, FPU control and the rest of the system control space.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3.2; Cortex-M4 Technical Reference Manual (DDI0439) for
implementation-defined values.
"""

from __future__ import annotations

from cryplab.cpu.core_block import (
    BUS_FAULT,
    DEBUG_MONITOR,
    FIRST_INTERRUPT,
    MEM_MANAGE,
    NMI,
    PENDSV,
    SVCALL,
    SYSTICK,
    USAGE_FAULT,
    CoreBlock,
    implemented,
)
from cryplab.registers import Reg, RegArray, r, rc_w1, rs, rw, w

__all__ = ["FpuControl", "Scb", "ScnScb"]


class Scb(CoreBlock):
    """System control block: exceptions of the core, their priorities, faults, sleep, reset.

    Departures: CCR.DIV_0_TRP and CCR.UNALIGN_TRP are remembered only. SHCSR's active and pending bits are read
    only. With CPACR's CP10 or CP11 not full, floating-point instructions end in a UsageFault as they should.
    """

    size = 0x90

    class CPUID(Reg, at=0x00):
        """CPUID base register"""

        IMPLEMENTER = r(31, 24, "0x41, Arm")
        VARIANT = r(23, 20, "r of rnpm")
        ARCHITECTURE = r(19, 16, "0xF")
        PARTNO = r(15, 4, "0xC24 Cortex-M4, 0xC23 Cortex-M3")
        REVISION = r(3, 0, "p of rnpm")

    class ICSR(Reg, at=0x04):
        """interrupt control and state register"""

        NMIPENDSET = rs(31, "NMI pending")
        PENDSVSET = rs(28, "PendSV pending")
        PENDSVCLR = w(27, "clear PendSV")
        PENDSTSET = rs(26, "SysTick pending")
        PENDSTCLR = w(25, "clear SysTick")
        ISRPREEMPT = r(23, "a pending exception will be taken after halt")
        ISRPENDING = r(22, "an interrupt is pending")
        VECTPENDING = r(20, 12, "pending exception of highest priority")
        RETTOBASE = r(11, "no other exception is active")
        VECTACTIVE = r(8, 0, "active exception")

    class VTOR(Reg, at=0x08):
        """vector table offset register"""

        TBLOFF = rw(31, 7, "address of the vector table")

    class AIRCR(Reg, at=0x0C, reset=0xFA05_0000):
        """application interrupt and reset control register"""

        VECTKEY = rw(31, 16, "written 0x05FA, reads 0xFA05")
        ENDIANNESS = r(15, "0, little")
        PRIGROUP = rw(10, 8, "bits of a priority below and at this one do not preempt")
        SYSRESETREQ = w(2, "request a system reset")
        VECTCLRACTIVE = w(1, "reserved for debug", modelled=False)
        VECTRESET = w(0, "reserved for debug", modelled=False)

    class SCR(Reg, at=0x10):
        """system control register"""

        SEVONPEND = rw(4, "pending interrupts wake WFE")
        SLEEPDEEP = rw(2, "deep sleep")
        SLEEPONEXIT = rw(1, "sleep when returning to thread mode")

    class CCR(Reg, at=0x14, reset=0x200):
        """configuration and control register"""

        STKALIGN = rw(9, "frames are aligned to 8 bytes")
        BFHFNMIGN = rw(8, "ignore bus faults in HardFault and NMI", modelled=False)
        DIV_0_TRP = rw(4, "division by 0 faults", modelled=False)
        UNALIGN_TRP = rw(3, "unaligned access faults", modelled=False)
        USERSETMPEND = rw(1, "STIR for unprivileged code")
        NONBASETHRDENA = rw(0, "thread mode from any level", modelled=False)

    class SHPR(Reg, at=0x18, array=3, names=("SHPR1", "SHPR2", "SHPR3")):
        """system handler priority register"""

        PRI_3 = rw(31, 24, "7: -; 11: SVCall; 15: SysTick")
        PRI_2 = rw(23, 16, "6: UsageFault; 10: -; 14: PendSV")
        PRI_1 = rw(15, 8, "5: BusFault; 9: -; 13: -")
        PRI_0 = rw(7, 0, "4: MemManage; 8: -; 12: DebugMonitor")

    class SHCSR(Reg, at=0x24):
        """system handler control and state register"""

        USGFAULTENA = rw(18, "UsageFault enable")
        BUSFAULTENA = rw(17, "BusFault enable")
        MEMFAULTENA = rw(16, "MemManage enable")
        SVCALLPENDED = r(15, "SVCall pending")
        BUSFAULTPENDED = r(14, "BusFault pending")
        MEMFAULTPENDED = r(13, "MemManage pending")
        USGFAULTPENDED = r(12, "UsageFault pending")
        SYSTICKACT = r(11, "SysTick active")
        PENDSVACT = r(10, "PendSV active")
        MONITORACT = r(8, "DebugMonitor active")
        SVCALLACT = r(7, "SVCall active")
        USGFAULTACT = r(3, "UsageFault active")
        BUSFAULTACT = r(1, "BusFault active")
        MEMFAULTACT = r(0, "MemManage active")

    class CFSR(Reg, at=0x28):
        """configurable fault status register"""

        DIVBYZERO = rc_w1(25, "division by 0")
        UNALIGNED = rc_w1(24, "unaligned access")
        NOCP = rc_w1(19, "no coprocessor, or it is off")
        INVPC = rc_w1(18, "bad EXC_RETURN")
        INVSTATE = rc_w1(17, "T bit is 0")
        UNDEFINSTR = rc_w1(16, "undefined instruction")
        BFARVALID = rc_w1(15, "BFAR holds the address")
        LSPERR = rc_w1(13, "bus fault on lazy stacking")
        STKERR = rc_w1(12, "bus fault on exception entry")
        UNSTKERR = rc_w1(11, "bus fault on exception return")
        IMPRECISERR = rc_w1(10, "imprecise bus fault")
        PRECISERR = rc_w1(9, "precise bus fault")
        IBUSERR = rc_w1(8, "bus fault on fetch")
        MMARVALID = rc_w1(7, "MMFAR holds the address")
        MLSPERR = rc_w1(5, "MPU fault on lazy stacking")
        MSTKERR = rc_w1(4, "MPU fault on exception entry")
        MUNSTKERR = rc_w1(3, "MPU fault on exception return")
        DACCVIOL = rc_w1(1, "data access violation")
        IACCVIOL = rc_w1(0, "fetch violation")

    class HFSR(Reg, at=0x2C):
        """HardFault status register"""

        DEBUGEVT = rc_w1(31, "debug event")
        FORCED = rc_w1(30, "a fault that its handler could not take")
        VECTTBL = rc_w1(1, "bus fault on a vector")

    class DFSR(Reg, at=0x30):
        """debug fault status register"""

        BITS = rc_w1(4, 0, "EXTERNAL, VCATCH, DWTTRAP, BKPT, HALTED")

    class MMFAR(Reg, at=0x34):
        """MemManage fault address register"""

        ADDRESS = rw(31, 0, "address")

    class BFAR(Reg, at=0x38):
        """BusFault address register"""

        ADDRESS = rw(31, 0, "address")

    class AFSR(Reg, at=0x3C):
        """auxiliary fault status register"""

        IMPDEF = rc_w1(31, 0, "implementation defined")

    class ID(Reg, at=0x40, array=13):
        """processor and instruction set feature registers"""

        VALUE = r(31, 0, "read only")

    class CPACR(Reg, at=0x88):
        """coprocessor access control register"""

        CP11 = rw(23, 22, "FPU", values={0: "off", 1: "privileged", 3: "full"})
        CP10 = rw(21, 20, "FPU", values={0: "off", 1: "privileged", 3: "full"})

    cpuid: CPUID
    icsr: ICSR
    vtor: VTOR
    aircr: AIRCR
    scr: SCR
    ccr: CCR
    shpr: RegArray[SHPR]
    shcsr: SHCSR
    cfsr: CFSR
    hfsr: HFSR
    dfsr: DFSR
    mmfar: MMFAR
    bfar: BFAR
    afsr: AFSR
    id: RegArray[ID]
    cpacr: CPACR

    CPUIDS = {"cortex-m4": 0x410F_C241, "cortex-m3": 0x412F_C230}
    # PFR0, PFR1, DFR0, AFR0, MMFR0 to 3, ISAR0 to 4: Cortex-M4 TRM, table of system control registers
    FEATURES = (
        0x30, 0x200, 0x0010_0000, 0, 0x0010_0030, 0, 0x0100_0000, 0,
        0x0110_1110, 0x0211_2000, 0x2123_2231, 0x0111_1131, 0x0131_0132,
    )  # fmt: skip

    def on_reset(self) -> None:
        """Identification as the core has it."""
        self.cpuid.value = self.CPUIDS[self.core.model]
        for register, value in zip(self.id, self.FEATURES, strict=True):
            register.value = value

    @ICSR.being_read
    def read_state(self) -> int:
        """Collected from the engine."""
        pending, enabled = self.engine.bits("pending", 0), self.engine.bits("enabled", 0)
        active = self.engine.read_register(16) & 0x1FF
        word = active | (pending >> NMI & 1) << 31 | (pending >> PENDSV & 1) << 28 | (pending >> SYSTICK & 1) << 26
        waiting = [n for n in range(FIRST_INTERRUPT) if (pending & enabled) >> n & 1]
        for first in range(FIRST_INTERRUPT, FIRST_INTERRUPT + self.core.interrupts, 32):
            both = self.engine.bits("pending", first) & self.engine.bits("enabled", first)
            if both:
                word |= 1 << 22
                waiting += [first + n for n in range(32) if both >> n & 1]
        if waiting:
            word |= min(waiting, key=lambda n: (self.engine.priority(n) if n > 3 else n - 8, n)) << 12
        actives = sum(self.engine.bits("active", first).bit_count() for first in range(0, 256, 32))
        return word | (actives <= 1) << 11

    @ICSR.being_written
    def pend(self, word: int) -> None:
        """Set or clear NMI, PendSV, SysTick."""
        for bit, exception, on in (
            (31, NMI, True), (28, PENDSV, True), (27, PENDSV, False), (26, SYSTICK, True), (25, SYSTICK, False),
        ):  # fmt: skip
            if word >> bit & 1:
                self.engine.change("pending", exception, 1, on)

    @VTOR.being_read
    def read_vectors(self) -> int:
        """Where the engine looks."""
        return self.engine.vtor

    @VTOR.written
    def new_vectors(self) -> None:
        """Where the engine looks from now on."""
        self.engine.vtor = self.vtor.value

    @AIRCR.being_written
    def check_key(self, word: int) -> int | None:
        """Nothing happens without the key."""
        return word & 0xFFFF | 0xFA05_0000 if word >> 16 == 0x05FA else None

    @AIRCR.written
    def group_or_reset(self) -> None:
        """Take the priority grouping, or reset."""
        self.engine.group_mask = 0xFF << (self.aircr.PRIGROUP + 1) & 0xFF
        self.engine.refresh()
        if self.aircr.SYSRESETREQ:
            self.core.request_reset()

    @SCR.written
    def sleep_settings(self) -> None:
        """For the engine."""
        self.engine.scr = self.scr.value

    @CCR.written
    def configuration(self) -> None:
        """For the engine."""
        self.engine.ccr = self.ccr.value

    @SHPR.written
    def system_priority(self, index: int) -> None:
        """Bits that are not implemented read as 0."""
        register = self.shpr[index]
        register.value &= implemented(self.core) * 0x0101_0101
        for lane in range(4):
            self.engine.priority(4 + 4 * index + lane, register.value >> 8 * lane & 0xFF)

    @SHCSR.being_read
    def handler_state(self) -> int:
        """Enables from here, the rest from the engine."""
        active, pending = self.engine.bits("active", 0), self.engine.bits("pending", 0)
        word = self.shcsr.value & 0x7_0000
        for bit, exception in (
            (0, MEM_MANAGE), (1, BUS_FAULT), (3, USAGE_FAULT), (7, SVCALL), (8, DEBUG_MONITOR), (10, PENDSV),
            (11, SYSTICK),
        ):  # fmt: skip
            word |= (active >> exception & 1) << bit
        for bit, exception in ((12, USAGE_FAULT), (13, MEM_MANAGE), (14, BUS_FAULT), (15, SVCALL)):
            word |= (pending >> exception & 1) << bit
        return word

    @SHCSR.written
    def enable_faults(self) -> None:
        """For the engine."""
        for on, exception in (
            (self.shcsr.MEMFAULTENA, MEM_MANAGE), (self.shcsr.BUSFAULTENA, BUS_FAULT),
            (self.shcsr.USGFAULTENA, USAGE_FAULT),
        ):  # fmt: skip
            self.engine.change("enabled", exception, 1, bool(on))

    @CFSR.being_read
    def fault_status(self) -> int:
        """From the engine."""
        return self.engine.cfsr

    @CFSR.being_written
    def clear_fault_status(self, word: int) -> None:
        """1 clears."""
        self.engine.cfsr &= ~word

    @HFSR.being_read
    def hard_fault_status(self) -> int:
        """From the engine."""
        return self.engine.hfsr

    @HFSR.being_written
    def clear_hard_fault_status(self, word: int) -> None:
        """1 clears."""
        self.engine.hfsr &= ~word

    @BFAR.being_read
    def bus_fault_address(self) -> int:
        """From the engine."""
        return self.engine.bfar

    @CPACR.written
    def access_to_fpu(self) -> None:
        """For the engine; a core without FPU keeps 0."""
        if self.core.model == "cortex-m3":
            self.cpacr.value = 0
        self.engine.cpacr = self.cpacr.value


class FpuControl(CoreBlock):
    """FPU context control.

    Departures: frames are stacked at once, never lazily, whatever LSPEN says; LSPACT stays 0. FPDSCR is remembered.
    """

    size = 0x14

    class FPCCR(Reg, at=0x00, reset=0xC000_0000):
        """context control register"""

        ASPEN = rw(31, "set CONTROL.FPCA with the first floating-point instruction")
        LSPEN = rw(30, "stack lazily")
        LSPACT = rw(0, "a frame is still to be stacked")

    class FPCAR(Reg, at=0x04):
        """context address register"""

        ADDRESS = rw(31, 3, "where the frame is")

    class FPDSCR(Reg, at=0x08):
        """default status control register"""

        AHP = rw(26, "alternative half precision")
        DN = rw(25, "default NaN")
        FZ = rw(24, "flush to zero")
        RMODE = rw(23, 22, "rounding mode")

    class MVFR0(Reg, at=0x0C, reset=0x1011_0021):
        """media and FP feature register 0"""

        VALUE = r(31, 0, "single precision")

    class MVFR1(Reg, at=0x10, reset=0x1100_0011):
        """media and FP feature register 1"""

        VALUE = r(31, 0, "half precision conversion, fused MAC")

    fpccr: FPCCR
    fpcar: FPCAR
    fpdscr: FPDSCR
    mvfr0: MVFR0
    mvfr1: MVFR1

    @FPCCR.written
    def no_lazy_frame(self) -> None:
        """LSPACT is hardware's."""
        self.fpccr.LSPACT = 0


class ScnScb(CoreBlock):
    """System controls that are not in the SCB: number of interrupts, auxiliary control."""

    size = 0x10

    class ICTR(Reg, at=0x04):
        """interrupt controller type register"""

        INTLINESNUM = r(3, 0, "groups of 32 interrupts, less 1")

    class ACTLR(Reg, at=0x08):
        """auxiliary control register"""

        DISOOFP = rw(9, "no out of order floating point")
        DISFPCA = rw(8, "CONTROL.FPCA is not set automatically")
        DISFOLD = rw(2, "no IT folding")
        DISDEFWBUF = rw(1, "no write buffer")
        DISMCYCINT = rw(0, "no interruption of long instructions")

    ictr: ICTR
    actlr: ACTLR

    def on_reset(self) -> None:
        """As many as the chip has."""
        self.ictr.INTLINESNUM = (self.core.interrupts - 1) // 32
