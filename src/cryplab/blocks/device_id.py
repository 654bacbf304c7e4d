"""Unique identity, flash size and package of STM32F2 and F4, in the system memory's last kilobyte."""

from __future__ import annotations

from typing import Any

from cryplab.registers import Block, Reg, RegArray, r

__all__ = ["DeviceIdF4"]

UNIQUE_ID = (0x0041_0028, 0x3235_470F, 0x3439_3330)
"Default identity: wafer position 0x28, 0x41; wafer 0x0F; lot `G520394` in ASCII."
WORD = 0xFFFF_FFFF


class DeviceIdF4(Block):
    """One-time programmable area (blank) with the identity words behind it.

    Options: `unique_id` three words, `flash_kib` size of the flash in units of 1024 bytes, `package` code.
    `seed` makes it another chip of the wafer: it is added to the lowest word, from which boards on one wire, whose
    seeds differ, make addresses that differ.

    Departures: the one-time programmable area cannot be programmed and reads erased.

    Source: RM0090, chapter Device electronic signature.
    """

    class OTP(Reg, at=0x000, array=132, reset=0xFFFF_FFFF):
        """one-time programmable area, 512 bytes, and its 16 lock bytes"""

        DATA = r(31, 0, "erased")

    class UID(Reg, at=0x210, array=3):
        """unique device identity, 96 bits, lowest word first"""

        UID = r(31, 0, "word of the identity")

    class FSIZE(Reg, at=0x220):
        """flash size word; software reads the halfword at 0x222"""

        F_SIZE = r(31, 16, "flash size in units of 1024 bytes")

    class PACKAGE(Reg, at=0x3F0):
        """package data register"""

        PKG = r(10, 8, "package code")

    otp: RegArray[OTP]
    uid: RegArray[UID]
    fsize: FSIZE
    package: PACKAGE

    def __init__(
        self,
        *args: Any,
        unique_id: tuple[int, int, int] = UNIQUE_ID,
        flash_kib: int = 1024,
        package: int = 0,
        **kwargs: Any,
    ) -> None:
        self._identity = unique_id, flash_kib, package
        self._seed = 0
        super().__init__(*args, **kwargs)

    @property
    def seed(self) -> int:
        """Which chip it is; 0 has `unique_id` itself."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = seed
        self.on_reset()

    def on_reset(self) -> None:
        """The identity is burnt in."""
        (lowest, *rest), flash_kib, package = self._identity
        for state, word in zip(self.uid, ((lowest + self._seed) & WORD, *rest), strict=True):
            state.value = word
        self.fsize.F_SIZE, self.package.PKG = flash_kib, package
