"""General-purpose I/O port, version 2 (STM32F2, F4, F7, H7, L4, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cryplab.clock import NEVER
from cryplab.registers import Block, Reg, RegArray, r, rw, w
from cryplab.served import Status

__all__ = ["GpioV2"]

PINS = range(16)
OUTPUT, ANALOG = 1, 3
PULL_UP = 1
LOCK_KEY = 1 << 16


def _nobody(*_: object) -> None:
    """Nobody listens."""


class GpioV2(Block):
    """Sixteen pins: mode, output, input, pull, alternate function, lock.

    `drive(pin, level)` connects something outside to a pin (None disconnects it); `on_output(pin, level)` tells
    the level of a pin in output mode, `on_input(pin, level)` of every pin whose input level changes. Reset values
    of MODER, OSPEEDR and PUPDR differ between ports: options `moder`, `ospeedr`, `pupdr`.

    Departures: analog pins read 0; alternate function pins read their pull; an open drain that is not pulled reads 1.

    Source: RM0090, GPIO chapter.
    """

    class MODER(Reg, at=0x00):
        """mode register"""

        MODER = rw(31, 0, "two bits per pin: 0 input, 1 output, 2 alternate function, 3 analog")

    class OTYPER(Reg, at=0x04):
        """output type register"""

        OT = rw(15, 0, "one bit per pin: 1 open drain")

    class OSPEEDR(Reg, at=0x08):
        """output speed register"""

        OSPEEDR = rw(31, 0, "two bits per pin")

    class PUPDR(Reg, at=0x0C):
        """pull-up and pull-down register"""

        PUPDR = rw(31, 0, "two bits per pin: 1 up, 2 down")

    class IDR(Reg, at=0x10):
        """input data register"""

        IDR = r(15, 0, "level of each pin")

    class ODR(Reg, at=0x14):
        """output data register"""

        ODR = rw(15, 0, "level that each output drives")

    class BSRR(Reg, at=0x18):
        """bit set and reset register"""

        BR = w(31, 16, "clear output bits")
        BS = w(15, 0, "set output bits; stronger than BR")

    class LCKR(Reg, at=0x1C):
        """configuration lock register"""

        LCKK = rw(16, "lock key: written 1, 0, 1, then read, locks until reset")
        LCK = rw(15, 0, "pins to be locked")

    class AFR(Reg, at=0x20, array=2, names=("AFRL", "AFRH")):
        """alternate function registers, four bits per pin; AFRL pins 0 to 7"""

        AFR = rw(31, 0, "alternate function of eight pins")

    moder: MODER
    otyper: OTYPER
    ospeedr: OSPEEDR
    pupdr: PUPDR
    idr: IDR
    odr: ODR
    bsrr: BSRR
    lckr: LCKR
    afr: RegArray[AFR]

    loads = {"IDR": "_inputs", "ODR": "_outputs"}
    saved = ("_driven", "_outside", "_out", "_pulled", "_told", "_lock_step", "_inputs", "_outputs")

    def __init__(self, *args: Any, moder: int = 0, ospeedr: int = 0, pupdr: int = 0, **kwargs: Any) -> None:
        self._resets = {"moder": moder, "ospeedr": ospeedr, "pupdr": pupdr}
        self.on_output: Callable[[int, int], None] = _nobody
        self.on_input: Callable[[int, int], None] = _nobody
        self._driven = self._outside = 0
        "Pins that something outside drives, and to what level."
        self._out = self._pulled = self._told = 0
        "Pins in output mode, pins with a pull-up, outputs whose level was told."
        self._inputs, self._outputs = Status(), Status()
        "What the core answers itself: levels and outputs as they are; `_tell` follows every change."
        self._inputs.until = self._outputs.until = NEVER
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """Pins of this port that serve the debugger keep their mode; what drives pins from outside goes on."""
        self.moder.value, self.ospeedr.value = self._resets["moder"], self._resets["ospeedr"]
        self.pupdr.value = self._resets["pupdr"]
        self._lock_step = 0
        self._told = 0
        self._configure()

    def drive(self, pin: int, level: int | None) -> None:
        """Something outside drives a pin to 0 or 1; None: nothing does."""
        bit = 1 << pin
        self._driven = self._driven & ~bit if level is None else self._driven | bit
        self._outside = self._outside | bit if level else self._outside & ~bit
        self._tell()

    def level(self, pin: int) -> int:
        """The level on a pin."""
        return self._read_pins() >> pin & 1

    @IDR.being_read
    def _read_pins(self) -> int:
        """Pins that we drive, else what drives them from outside, else open drain high or the pull."""
        odr = self.odr.ODR
        ours = self._out & ~(odr & self.otyper.OT)
        outside = self._driven & ~ours
        floating = ~(ours | outside)
        return odr & ours | self._outside & outside | (self._out | self._pulled) & floating

    @BSRR.written
    def _set_and_clear(self) -> None:
        self.odr.ODR = self.odr.ODR & ~self.bsrr.BR | self.bsrr.BS
        self._tell()

    @MODER.written
    @PUPDR.written
    def _configure(self) -> None:
        modes, pulls = self.moder.value, self.pupdr.value
        self._out = sum(1 << pin for pin in PINS if modes >> 2 * pin & 3 == OUTPUT)
        self._pulled = sum(
            1 << pin for pin in PINS if pulls >> 2 * pin & 3 == PULL_UP and modes >> 2 * pin & 3 != ANALOG
        )
        self._tell()

    @ODR.written
    @OTYPER.written
    def _tell(self) -> None:
        """Tell what has changed."""
        levels = self._read_pins()
        changed, self.idr.IDR = levels ^ self.idr.IDR, levels
        self._inputs.value, self._outputs.value = levels, self.odr.value
        told = (self._out & ~self._told) | (self._out & changed)
        self._told = self._out
        if changed or told:
            for pin in PINS:
                if told >> pin & 1:
                    self.on_output(pin, levels >> pin & 1)
                if changed >> pin & 1:
                    self.on_input(pin, levels >> pin & 1)

    # -- lock ----------------------------------------------------------------------------------
    @LCKR.being_written
    def _lock_sequence(self, value: int) -> int | None:
        """Key written 1, 0, 1 with the same pins."""
        if self.lckr.LCKK:
            return None
        key = bool(value & LOCK_KEY)
        pins = value & ~LOCK_KEY
        expected = self._lock_step != 1
        same = self._lock_step == 0 or pins == self.lckr.LCK
        self._lock_step = self._lock_step + 1 if key == expected and same else int(key)
        if self._lock_step == 3:
            self._lock_step = 0
            return value
        return pins

    def _locked(self, bits_per_pin: int, first: int = 0, pins: int = 16) -> int:
        """Mask of the bits of locked pins."""
        if not self.lckr.LCKK:
            return 0
        ones = (1 << bits_per_pin) - 1
        return sum(ones << bits_per_pin * i for i in range(pins) if self.lckr.LCK >> (first + i) & 1)

    @MODER.being_written
    def _moder_lock(self, value: int) -> int:
        return self._guard(self.moder, value, self._locked(2))

    @OTYPER.being_written
    def _otyper_lock(self, value: int) -> int:
        return self._guard(self.otyper, value, self._locked(1))

    @OSPEEDR.being_written
    def _ospeedr_lock(self, value: int) -> int:
        return self._guard(self.ospeedr, value, self._locked(2))

    @PUPDR.being_written
    def _pupdr_lock(self, value: int) -> int:
        return self._guard(self.pupdr, value, self._locked(2))

    @AFR.being_written
    def _afr_lock(self, index: int, value: int) -> int:
        return self._guard(self.afr[index], value, self._locked(4, 8 * index, 8))

    @staticmethod
    def _guard(reg: Reg, value: int, locked: int) -> int:
        return value & ~locked | reg.value & locked
