"""Private peripherals of Cortex-M3 and M4: SysTick, NVIC, system control, MPU, FPU control.

They are blocks like the chip's, at addresses that every ARMv7-M part shares; `Private` makes them all for one core.
What decides about exceptions lives in the native engine (native/exceptions.h), so these registers read and write it.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3; Cortex-M4 Technical Reference Manual for
implementation-defined values. Debug and trace blocks are in `cpu.debug`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cryplab.clock import Clock, Event
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.debug import CoreDebug, Dwt, Itm, Tpiu
from cryplab.registers import Block, Reg, RegArray, r, rc_w1, rs, rw, w
from cryplab.reports import Reports

__all__ = ["PRIVATE_BLOCKS", "FpuControl", "Mpu", "Nvic", "Private", "Scb", "SysTick"]

MEM_MANAGE, BUS_FAULT, USAGE_FAULT = 4, 5, 6
SVCALL, DEBUG_MONITOR, PENDSV, SYSTICK = 11, 12, 14, 15
NMI = 2
FIRST_INTERRUPT = 16


class CoreBlock(Block):
    """A block that belongs to a core; alone it gets a core of its own."""

    def __init__(
        self,
        name: str | None = None,
        *,
        core: CortexM | None = None,
        clock: Clock | None = None,
        reports: Reports | None = None,
    ) -> None:
        self.core = core or CortexM()
        self.engine = self.core.engine
        super().__init__(name, clock=clock, reports=reports)


class SysTick(CoreBlock):
    """System timer: counts down from RVR to 0 and sets its exception pending.

    Exact to the cycle: the value follows from the clock when it is read, the exception is an event of the clock.
    CALIB holds ST's value for F42x and F43x (RM0090): 22500 gives 1 ms with HCLK / 8 at 180 MHz.

    CMSIS calls its registers CTRL, LOAD, VAL and CALIB.

    Departures: the phase of HCLK / 8 starts when the counter is enabled or written.
    """

    size = 0x10

    class CSR(Reg, at=0x00):
        """control and status register"""

        COUNTFLAG = r(16, "counted to 0 since last read")
        CLKSOURCE = rw(2, "clock", values={0: "HCLK/8", 1: "HCLK"})
        TICKINT = rw(1, "exception at 0 enable")
        ENABLE = rw(0, "counter enable")

    class RVR(Reg, at=0x04):
        """reload value register"""

        RELOAD = rw(23, 0, "value after 0; the period is one more")

    class CVR(Reg, at=0x08):
        """current value register"""

        CURRENT = rw(23, 0, "count; any write clears it and COUNTFLAG")

    class CALIB(Reg, at=0x0C, reset=0x4000_0000 | 22500):
        """calibration value register"""

        NOREF = r(31, "no reference clock")
        SKEW = r(30, "TENMS is not exact")
        TENMS = r(23, 0, "reload value for 1 ms (ST) with the reference clock")

    csr: CSR
    rvr: RVR
    cvr: CVR
    calib: CALIB

    saved = ("_count", "_event", "_flag", "_since")

    def on_reset(self) -> None:
        """Stopped at 0."""
        self.clock.cancel(getattr(self, "_event", None))
        self._event: Event | None = None
        self._since, self._count, self._flag = self.clock.now, 0, False

    @property
    def _divider(self) -> int:
        return 1 if self.csr.CLKSOURCE else 8

    def _follow(self) -> None:
        """Bring count and flag up to now."""
        now = self.clock.now
        if not self.csr.ENABLE or now <= self._since:
            return
        ticks, rest = divmod(now - self._since, self._divider)
        self._since = now - rest
        if ticks < self._count:
            self._count -= ticks
            return
        if self._count:
            ticks -= self._count
            self._count, self._flag = 0, True
        period = self.rvr.value + 1
        if period > 1:
            self._flag = self._flag or ticks >= period
            self._count = -ticks % period

    def _schedule(self) -> None:
        self.clock.cancel(self._event)
        self._event = None
        if not (self.csr.ENABLE and self.csr.TICKINT):
            return
        ticks = self._count or (self.rvr.value + 1 if self.rvr.value else 0)
        if ticks:
            self._event = self.clock.at(self._since + ticks * self._divider, self._reached_zero)

    def _reached_zero(self) -> None:
        self._event = None
        self._follow()
        self.engine.change("pending", SYSTICK, 1, True)
        self._schedule()

    @CSR.being_read
    def read_control(self) -> int:
        """COUNTFLAG falls when it was read."""
        self._follow()
        word = self.csr.value | self._flag << 16
        self._flag = False
        return word

    @CSR.being_written
    def before_control(self, value: int) -> int:
        """Count with the old settings up to now."""
        self._follow()
        if value & 1 and not self.csr.ENABLE:
            self._since = self.clock.now
        return value

    @CSR.written
    def new_control(self) -> None:
        """Plan the next exception."""
        self._schedule()

    @RVR.being_written
    def before_load(self, value: int) -> int:
        """The count in progress ends with what it had."""
        self._follow()
        return value

    @RVR.written
    def new_load(self) -> None:
        """Plan the next exception."""
        self._schedule()

    @CVR.being_read
    def read_value(self) -> int:
        """The count now."""
        self._follow()
        return self._count

    @CVR.being_written
    def clear_value(self, _value: int) -> None:
        """Any write clears the count and COUNTFLAG, and makes no exception."""
        self._since, self._count, self._flag = self.clock.now, 0, False
        self._schedule()


class Nvic(CoreBlock):
    """Nested vectored interrupt controller: enable, pending, active and priority of each interrupt.

    An input that is still high when its handler returns sets the interrupt pending again.
    """

    size = 0xC00

    class ISER(Reg, at=0x000, array=8):
        """interrupt set-enable register"""

        SETENA = rs(31, 0, "1 enables")

    class ICER(Reg, at=0x080, array=8):
        """interrupt clear-enable register"""

        CLRENA = rc_w1(31, 0, "1 disables")

    class ISPR(Reg, at=0x100, array=8):
        """interrupt set-pending register"""

        SETPEND = rs(31, 0, "1 sets pending")

    class ICPR(Reg, at=0x180, array=8):
        """interrupt clear-pending register"""

        CLRPEND = rc_w1(31, 0, "1 clears pending")

    class IABR(Reg, at=0x200, array=8):
        """interrupt active bit register"""

        ACTIVE = r(31, 0, "1 while active")

    class IPR(Reg, at=0x300, array=60):
        """interrupt priority register"""

        PRI_3 = rw(31, 24, "priority of interrupt 4n+3")
        PRI_2 = rw(23, 16, "priority of interrupt 4n+2")
        PRI_1 = rw(15, 8, "priority of interrupt 4n+1")
        PRI_0 = rw(7, 0, "priority of interrupt 4n")

    iser: RegArray[ISER]
    icer: RegArray[ICER]
    ispr: RegArray[ISPR]
    icpr: RegArray[ICPR]
    iabr: RegArray[IABR]
    ipr: RegArray[IPR]

    def _existing(self, word: int, index: int) -> int:
        count = min(32, max(0, self.core.interrupts - 32 * index))
        return word & ((1 << count) - 1)

    @ISER.being_read
    def read_enabled(self, index: int) -> int:
        """Which are enabled."""
        return self.engine.bits("enabled", FIRST_INTERRUPT + 32 * index)

    @ICER.being_read
    def read_enabled_again(self, index: int) -> int:
        """Which are enabled."""
        return self.engine.bits("enabled", FIRST_INTERRUPT + 32 * index)

    @ISER.being_written
    def enable(self, index: int, word: int) -> None:
        """Enable."""
        self.engine.change("enabled", FIRST_INTERRUPT + 32 * index, self._existing(word, index), True)

    @ICER.being_written
    def disable(self, index: int, word: int) -> None:
        """Disable."""
        self.engine.change("enabled", FIRST_INTERRUPT + 32 * index, word, False)

    @ISPR.being_read
    def read_pending(self, index: int) -> int:
        """Which are pending."""
        return self.engine.bits("pending", FIRST_INTERRUPT + 32 * index)

    @ICPR.being_read
    def read_pending_again(self, index: int) -> int:
        """Which are pending."""
        return self.engine.bits("pending", FIRST_INTERRUPT + 32 * index)

    @ISPR.being_written
    def set_pending(self, index: int, word: int) -> None:
        """Set pending."""
        self.engine.change("pending", FIRST_INTERRUPT + 32 * index, self._existing(word, index), True)

    @ICPR.being_written
    def clear_pending(self, index: int, word: int) -> None:
        """Clear pending; an input that is high sets it again at once."""
        self.engine.change("pending", FIRST_INTERRUPT + 32 * index, word, False)

    @IABR.being_read
    def read_active(self, index: int) -> int:
        """Which are active."""
        return self.engine.bits("active", FIRST_INTERRUPT + 32 * index)

    @IPR.written
    def set_priority(self, index: int) -> None:
        """Bits that are not implemented read as 0."""
        register = self.ipr[index]
        register.value &= _implemented(self.core) * 0x0101_0101
        for lane in range(4):
            if 4 * index + lane < self.core.interrupts:
                self.engine.priority(FIRST_INTERRUPT + 4 * index + lane, register.value >> 8 * lane & 0xFF)


def _implemented(core: CortexM) -> int:
    return 0xFF00 >> core.priority_bits & 0xFF


class Stir(CoreBlock):
    """Software trigger of the NVIC."""

    size = 0x04

    class STIR(Reg, at=0x00):
        """software trigger interrupt register"""

        INTID = w(8, 0, "interrupt to set pending")

    stir: STIR

    @STIR.written
    def trigger(self) -> None:
        """Set it pending."""
        number = self.stir.INTID
        if number < self.core.interrupts:
            self.engine.change("pending", FIRST_INTERRUPT + number, 1, True)


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
        register.value &= _implemented(self.core) * 0x0101_0101
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


class Mpu(CoreBlock):
    """Memory protection unit: its registers are remembered, nothing is protected."""

    size = 0x30

    class TYPE(Reg, at=0x00, reset=0x800):
        """type register"""

        DREGION = r(15, 8, "number of regions")

    class CTRL(Reg, at=0x04):
        """control register"""

        PRIVDEFENA = rw(2, "default map for privileged code")
        HFNMIENA = rw(1, "on in HardFault and NMI")
        ENABLE = rw(0, "enable: nothing is protected", modelled=False)

    class RNR(Reg, at=0x08):
        """region number register"""

        REGION = rw(7, 0, "region that RBAR and RASR show")

    class RBAR(Reg, at=0x0C, array=4, step=8, names=("RBAR", "RBAR_A1", "RBAR_A2", "RBAR_A3")):
        """region base address register"""

        ADDR = rw(31, 5, "base address")
        VALID = rw(4, "REGION below becomes the region number")
        REGION = rw(3, 0, "region number")

    class RASR(Reg, at=0x10, array=4, step=8, names=("RASR", "RASR_A1", "RASR_A2", "RASR_A3")):
        """region attribute and size register"""

        XN = rw(28, "never execute")
        AP = rw(26, 24, "access permission")
        TEX = rw(21, 19, "type extension")
        S = rw(18, "shareable")
        C = rw(17, "cacheable")
        B = rw(16, "bufferable")
        SRD = rw(15, 8, "sub-regions off")
        SIZE = rw(5, 1, "log2 of the size, less 1")
        ENABLE = rw(0, "region enable")

    type: TYPE
    ctrl: CTRL
    rnr: RNR
    rbar: RegArray[RBAR]
    rasr: RegArray[RASR]

    saved = ("regions",)
    REGIONS = 8

    def on_reset(self) -> None:
        """No region."""
        self.regions = [[0, 0] for _ in range(self.REGIONS)]

    @property
    def _region(self) -> list[int]:
        return self.regions[self.rnr.REGION % self.REGIONS]

    @RBAR.written
    def new_base(self, index: int) -> None:
        """VALID chooses the region at once."""
        register = self.rbar[index]
        if register.VALID:
            self.rnr.REGION = register.REGION
        self._region[0] = register.value & ~0x1F

    @RBAR.being_read
    def read_base(self, index: int) -> int:
        """Of the region that RNR names."""
        return self._region[0] | self.rnr.REGION & 0xF

    @RASR.written
    def new_attributes(self, index: int) -> None:
        """Of the region that RNR names."""
        self._region[1] = self.rasr[index].value

    @RASR.being_read
    def read_attributes(self, index: int) -> int:
        """Of the region that RNR names."""
        return self._region[1]


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


PRIVATE_BLOCKS: dict[str, type[Block]] = {
    "ITM": Itm,
    "DWT": Dwt,
    "SCNSCB": ScnScb,
    "SYSTICK": SysTick,
    "NVIC": Nvic,
    "SCB": Scb,
    "MPU": Mpu,
    "COREDEBUG": CoreDebug,
    "STIR": Stir,
    "FPU": FpuControl,
    "TPIU": Tpiu,
}
"Every block that `Private` makes, by its name."


class Private:
    """All private peripherals of one core.

    `slots()` gives (base, size, block) for the bus; `itm_output` is called with the bytes that the guest writes to
    stimulus port 0.
    """

    def __init__(self, core: CortexM, *, clock: Clock | None = None, reports: Reports | None = None) -> None:
        shared_clock = clock or Clock(source=core.source)
        shared_reports = reports or Reports()
        if core.on_deadline is None:
            core.on_deadline = shared_clock.run_due

        def make(kind: type[CoreBlock], name: str) -> CoreBlock:
            return kind(name, core=core, clock=shared_clock, reports=shared_reports)

        self.core, self.clock = core, shared_clock
        self.debug = CoreDebug("COREDEBUG", clock=shared_clock, reports=shared_reports)
        self.dwt = Dwt("DWT", clock=shared_clock, reports=shared_reports, debug=self.debug)
        self.itm = Itm("ITM", clock=shared_clock, reports=shared_reports)
        tpiu = Tpiu("TPIU", clock=shared_clock, reports=shared_reports)
        self._slots: list[tuple[int, Block]] = [
            (0xE000_0000, self.itm),
            (0xE000_1000, self.dwt),
            (0xE000_E000, make(ScnScb, "SCNSCB")),
            (0xE000_E010, make(SysTick, "SYSTICK")),
            (0xE000_E100, make(Nvic, "NVIC")),
            (0xE000_ED00, make(Scb, "SCB")),
            (0xE000_ED90, make(Mpu, "MPU")),
            (0xE000_EDF0, self.debug),
            (0xE000_EF00, make(Stir, "STIR")),
            (0xE000_EF34, make(FpuControl, "FPU")),
            (0xE004_0000, tpiu),
        ]

    @property
    def itm_output(self) -> Callable[[bytes], None]:
        """Takes what the guest writes to stimulus port 0."""
        return self.itm.output

    @itm_output.setter
    def itm_output(self, output: Callable[[bytes], None]) -> None:
        self.itm.output = output

    def slots(self) -> Iterator[tuple[int, int, Block]]:
        """Base, size in bytes and block, in order of address."""
        for base, block in self._slots:
            yield base, block.size, block
