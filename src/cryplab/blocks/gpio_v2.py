"""General-purpose I/O port, version 2 (STM32F2, F4, F7, H7, L4, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cryplab.registers import Block, Reg, RegArray, r, rw, w

__all__ = ["GpioV2"]

PINS = range(16)
INPUT, OUTPUT = 0, 1
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

    saved = ("_driven", "_lock_step", "_outputs", "_inputs")

    def __init__(self, *args: Any, moder: int = 0, ospeedr: int = 0, pupdr: int = 0, **kwargs: Any) -> None:
        self._resets = {"moder": moder, "ospeedr": ospeedr, "pupdr": pupdr}
        self.on_output: Callable[[int, int], None] = _nobody
        self.on_input: Callable[[int, int], None] = _nobody
        self._driven: dict[int, int] = {}
        self._outputs: dict[int, int] = {}
        self._inputs = 0
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """Pins of this port that serve the debugger keep their mode."""
        self.moder.value, self.ospeedr.value = self._resets["moder"], self._resets["ospeedr"]
        self.pupdr.value = self._resets["pupdr"]
        self._lock_step = 0
        self._outputs = {}
        self._levels()

    def drive(self, pin: int, level: int | None) -> None:
        """Something outside drives a pin to 0 or 1; None: nothing does."""
        if level is None:
            self._driven.pop(pin, None)
        else:
            self._driven[pin] = level & 1
        self._levels()

    def level(self, pin: int) -> int:
        """The level on a pin."""
        mode = self.moder.value >> 2 * pin & 3
        out = self.odr.value >> pin & 1
        if mode == OUTPUT and not (out and self.otyper.value >> pin & 1):
            return out
        if pin in self._driven:
            return self._driven[pin]
        if mode == OUTPUT:
            return 1
        return int(mode != 3 and self.pupdr.value >> 2 * pin & 3 == PULL_UP)

    @IDR.being_read
    def _read_pins(self) -> int:
        return sum(self.level(pin) << pin for pin in PINS)

    @BSRR.written
    def _set_and_clear(self) -> None:
        self.odr.ODR = self.odr.ODR & ~self.bsrr.BR | self.bsrr.BS
        self._levels()

    @ODR.written
    @MODER.written
    @OTYPER.written
    @PUPDR.written
    def _levels(self) -> None:
        """Tell what has changed."""
        before, self._inputs = self._inputs, self._read_pins()
        self.idr.IDR = self._inputs
        for pin in PINS:
            if self.moder.value >> 2 * pin & 3 == OUTPUT:
                level = self._inputs >> pin & 1
                if self._outputs.get(pin) != level:
                    self._outputs[pin] = level
                    self.on_output(pin, level)
            if (before ^ self._inputs) >> pin & 1:
                self.on_input(pin, self._inputs >> pin & 1)

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
