"""Flash memory interface of STM32F427 to F439."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from cryplab.clock import Event
from cryplab.registers import Block, Reg, r, rc_w1, rs, rw, w
from cryplab.wires import Line

__all__ = ["FlashF4"]

KIB = 1024
BANK_BYTES = 1024 * KIB
BANK_SECTORS = (16 * KIB,) * 4 + (64 * KIB,) + (128 * KIB,) * 7
BANK_2_SNB = 16  # SNB counts sectors 12 to 23 from 16 on
KEYS = (0x4567_0123, 0xCDEF_89AB)
OPTION_KEYS = (0x0819_2A3B, 0x4C5D_6E7F)
ERASED = b"\xff"
ROW_BYTES = 16
PROGRAM_SECONDS = 16e-6
ERASE_SECONDS = {  # by PSIZE, typical
    16 * KIB: (0.400, 0.300, 0.250, 0.250),
    64 * KIB: (1.200, 0.700, 0.550, 0.550),
    128 * KIB: (2.000, 1.300, 1.000, 1.000),
    BANK_BYTES: (16.0, 11.0, 8.0, 8.0),
}


def _nobody(*_: Any) -> None:
    """Nobody listens."""


class FlashF4(Block):
    """Wait states, accelerator, unlock, erase and programming of the main flash.

    The machine gives `memory`, the flash as a writable view from `base_address` on, calls `program` for a store to
    it, and listens through `on_access_control(wait_states, prefetch, icache, dcache)` and `on_changed(address, size)`.

    An operation on bank 1 holds the core until it has ended, as code in that bank would be; one on bank 2 runs
    beside the core and shows SR.BSY.

    Departures: code in RAM is held too; times are typical ones (16 us a word, 0.25 to 2 s a sector); caches do not
    keep stale lines; option bytes are remembered, and write protection is obeyed; no read protection.

    Source: RM0090, chapter Embedded flash memory interface; times from DS9484.
    """

    class ACR(Reg, at=0x00):
        """access control register"""

        DCRST = rw(12, "data cache reset; only while DCEN is 0")
        ICRST = rw(11, "instruction cache reset; only while ICEN is 0")
        DCEN = rw(10, "data cache on")
        ICEN = rw(9, "instruction cache on")
        PRFTEN = rw(8, "prefetch on")
        LATENCY = rw(3, 0, "wait states")

    class KEYR(Reg, at=0x04):
        """flash key register"""

        KEY = w(31, 0, "0x45670123, then 0xCDEF89AB, unlock CR")

    class OPTKEYR(Reg, at=0x08):
        """flash option key register"""

        OPTKEY = w(31, 0, "0x08192A3B, then 0x4C5D6E7F, unlock OPTCR")

    class SR(Reg, at=0x0C):
        """flash status register"""

        BSY = r(16, "an operation is in progress")
        RDERR = rc_w1(8, "read protection (PCROP) error")
        PGSERR = rc_w1(7, "programming sequence error")
        PGPERR = rc_w1(6, "programming parallelism error: width is not PSIZE")
        PGAERR = rc_w1(5, "programming alignment error")
        WRPERR = rc_w1(4, "write protection error")
        OPERR = rc_w1(1, "operation error; only with CR.ERRIE")
        EOP = rc_w1(0, "operation ended; only with CR.EOPIE")

    class CR(Reg, at=0x10, reset=0x8000_0000):
        """flash control register"""

        LOCK = rs(31, "locked; cleared by the key sequence")
        ERRIE = rw(25, "interrupt on errors")
        EOPIE = rw(24, "interrupt at the end of an operation")
        STRT = rs(16, "start erasing; cleared with BSY")
        MER1 = rw(15, "mass erase of bank 2")
        PSIZE = rw(9, 8, "parallelism", values={0: "x8", 1: "x16", 2: "x32", 3: "x64"})
        SNB = rw(7, 3, "sector number; 16 and on are sectors 12 and on")
        MER = rw(2, "mass erase of bank 1")
        SER = rw(1, "sector erase")
        PG = rw(0, "programming")

    class OPTCR(Reg, at=0x14, reset=0x0FFF_AAED):
        """flash option control register"""

        SPRMOD = rw(31, "protection mode of nWRP bits", modelled=False)
        DB1M = rw(30, "dual bank on 1 MB parts", modelled=False)
        nWRP = rw(27, 16, "0: sector is write protected")
        RDP = rw(15, 8, "read protection level, 0xAA: none")
        nRST_STDBY = rw(7, "no reset when entering Standby")
        nRST_STOP = rw(6, "no reset when entering Stop")
        WDG_SW = rw(5, "independent watchdog started by software")
        BFB2 = rw(4, "boot from bank 2", modelled=False)
        BOR_LEV = rw(3, 2, "brown-out level")
        OPTSTRT = rs(1, "program the options; cleared with BSY")
        OPTLOCK = rs(0, "locked; cleared by the key sequence")

    class OPTCR1(Reg, at=0x18, reset=0x0FFF_0000):
        """flash option control register 1"""

        nWRP = rw(27, 16, "0: sector of bank 2 is write protected")

    acr: ACR
    keyr: KEYR
    optkeyr: OPTKEYR
    sr: SR
    cr: CR
    optcr: OPTCR
    optcr1: OPTCR1

    lines = ("irq",)

    irq: Line

    saved = ("_key_step", "_option_step", "_dead", "_busy")

    def __init__(self, *args: Any, base_address: int = 0x0800_0000, **kwargs: Any) -> None:
        self.memory = memoryview(bytearray())
        self.base_address = base_address
        self.on_access_control: Callable[[int, bool, bool, bool], None] = _nobody
        self.on_changed: Callable[[int, int], None] = _nobody
        self._busy: Event | None = None
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """Locked, no wait states, caches off."""
        self.clock.cancel(self._busy)
        self._busy = None
        self._key_step = self._option_step = 0
        self._dead = False
        self.irq.set(False)
        self._access_control()

    @property
    def sectors(self) -> list[tuple[int, int]]:
        """Offset and size of each sector, in order of address."""
        sizes = BANK_SECTORS * (len(self.memory) // BANK_BYTES)
        return list(zip(accumulate(sizes, initial=0), sizes, strict=False))

    # -- wait states and accelerator -----------------------------------------------------------
    @ACR.being_written
    def _guard_cache_resets(self, value: int) -> int:
        for enable, reset in ((self.ACR.ICEN, self.ACR.ICRST), (self.ACR.DCEN, self.ACR.DCRST)):
            if value & reset.bits and value & enable.bits:
                self.guest_error(f"{self.name}.ACR.{reset.name} set while {enable.name}=1; the cache is not reset")
                value &= ~reset.bits
        return value

    @ACR.written
    def _access_control(self) -> None:
        acr = self.acr
        self.on_access_control(acr.LATENCY, bool(acr.PRFTEN), bool(acr.ICEN), bool(acr.DCEN))

    # -- keys ----------------------------------------------------------------------------------
    @KEYR.written
    def _unlock(self) -> None:
        self._key_step = self._next_key(self.keyr.KEY, self._key_step, KEYS, "KEYR")
        if self._key_step == len(KEYS):
            self._key_step = 0
            self.cr.LOCK = 0

    @OPTKEYR.written
    def _unlock_options(self) -> None:
        self._option_step = self._next_key(self.optkeyr.OPTKEY, self._option_step, OPTION_KEYS, "OPTKEYR")
        if self._option_step == len(OPTION_KEYS):
            self._option_step = 0
            self.optcr.OPTLOCK = 0

    def _next_key(self, key: int, step: int, keys: tuple[int, int], register: str) -> int:
        if self._dead:
            return 0
        if key == keys[step]:
            return step + 1
        self._dead = True
        self.guest_error(f"{self.name}.{register} got {key:#010x}, expected {keys[step]:#010x}; locked until reset")
        return 0

    # -- operations ----------------------------------------------------------------------------
    @CR.being_written
    def _guard_lock(self, value: int) -> int | None:
        if self.cr.LOCK and not value & self.CR.LOCK.bits:
            self.guest_error(f"{self.name}.CR written ({value:#010x}) while LOCK=1; ignored")
            return None
        if self._busy is not None:
            self.guest_error(f"{self.name}.CR written ({value:#010x}) while SR.BSY=1; ignored")
            return None
        return value

    @CR.written
    def _start(self) -> None:
        if self.cr.STRT:
            self._erase()
        self._update_irq()

    def _erase(self) -> None:
        cr = self.cr
        ranges: list[tuple[int, int]] = []
        if cr.MER or cr.MER1:
            banks = [n for n, wanted in enumerate((cr.MER, cr.MER1)) if wanted]
            ranges = [(BANK_BYTES * n, BANK_BYTES) for n in banks if BANK_BYTES * n < len(self.memory)]
        elif cr.SER and not cr.PG:
            bank, sector = divmod(cr.SNB, BANK_2_SNB)
            number = bank * len(BANK_SECTORS) + sector
            ranges = self.sectors[number : number + 1] if sector in range(len(BANK_SECTORS)) else []
        if not ranges:
            self._fail("PGSERR", f"CR.STRT set, but SER, MER and SNB={cr.SNB} name nothing to erase")
            cr.STRT = 0
            return
        if any(self._protected(offset) for offset, _ in ranges):
            self._fail("WRPERR", "erase of a write protected sector")
            cr.STRT = 0
            return
        for offset, size in ranges:
            self.memory[offset : offset + size] = ERASED * size
            self.on_changed(self.base_address + offset, size)
        seconds = sum(ERASE_SECONDS[size][cr.PSIZE] for _, size in ranges)
        self._occupy(seconds, bank_2=all(offset >= BANK_BYTES for offset, _ in ranges))

    def program(self, address: int, value: int, width: int) -> None:
        """A store of `width` bytes to the flash: bits go from 1 to 0 when CR.PG is set, else it is an error.

        Below `base_address` the flash is seen from 0 on, where null pointers lead to.
        """
        offset = address - self.base_address if address >= self.base_address else address
        if self.cr.LOCK or not self.cr.PG or self._busy is not None:
            self._fail("PGSERR", f"store to {address:#010x} while CR.PG=0, CR.LOCK=1 or SR.BSY=1")
        elif width != 1 << self.cr.PSIZE and not (width == 4 and self.cr.PSIZE == 3):
            self._fail("PGPERR", f"store of {8 * width} bits to {address:#010x} with CR.PSIZE={self.cr.PSIZE}")
        elif offset % ROW_BYTES + width > ROW_BYTES:
            self._fail("PGAERR", f"store to {address:#010x} crosses a row of 128 bits")
        elif self._protected(offset):
            self._fail("WRPERR", f"store to {address:#010x} in a write protected sector")
        else:
            old = int.from_bytes(self.memory[offset : offset + width], "little")
            self.memory[offset : offset + width] = (old & value).to_bytes(width, "little")
            self.on_changed(self.base_address + offset, width)
            self._occupy(PROGRAM_SECONDS, bank_2=offset >= BANK_BYTES)

    def _protected(self, offset: int) -> bool:
        """Whether the sector at an offset is write protected by the option bytes."""
        for number, (start, size) in enumerate(self.sectors):
            if start <= offset < start + size:
                bank, sector = divmod(number, len(BANK_SECTORS))
                return not (self.optcr1 if bank else self.optcr).nWRP >> sector & 1
        return False

    def _fail(self, flag: str, text: str) -> None:
        setattr(self.sr, flag, 1)
        if self.cr.ERRIE:
            self.sr.OPERR = 1
        self.guest_error(f"{self.name}: {text}; SR.{flag} is set and nothing is changed")
        self._update_irq()

    def _occupy(self, seconds: float, *, bank_2: bool) -> None:
        cycles = self.clock.cycles_for(seconds)
        self.sr.BSY = 1
        if bank_2:
            self._busy = self.clock.after(cycles, self._done)
        else:
            self.clock.stall(cycles)
            self._done()

    def _done(self) -> None:
        self._busy = None
        self.sr.BSY = self.cr.STRT = 0
        if self.cr.EOPIE:
            self.sr.EOP = 1
        self._update_irq()

    @SR.written
    def _update_irq(self) -> None:
        self.irq.set(self.sr.EOP & self.cr.EOPIE | self.sr.OPERR & self.cr.ERRIE)

    # -- option bytes --------------------------------------------------------------------------
    @OPTCR.being_written
    def _guard_options(self, value: int) -> int | None:
        return self._guard_option_lock("OPTCR", value)

    @OPTCR1.being_written
    def _guard_options_1(self, value: int) -> int | None:
        return self._guard_option_lock("OPTCR1", value)

    def _guard_option_lock(self, register: str, value: int) -> int | None:
        if self.optcr.OPTLOCK and not (register == "OPTCR" and value & self.OPTCR.OPTLOCK.bits):
            self.guest_error(f"{self.name}.{register} written ({value:#010x}) while OPTCR.OPTLOCK=1; ignored")
            return None
        return value

    @OPTCR.written
    def _options(self) -> None:
        self.optcr.OPTSTRT = 0
