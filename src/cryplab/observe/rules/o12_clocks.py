"""O12: clocks and resets. The bus reports accesses to a block whose clock is off or that is held in reset."""

from __future__ import annotations

from cryplab.observe.rules._verdict import judge_key
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, HashShadow, RngShadow, Stamp
from cryplab.observe.shadow.rng import RNGEN

__all__ = ["ClocksAndResets"]

SLOWEST_RATIO = 16
"RNG version 1: its clock must not be slower than HCLK / 16 (RM0090)."


class ClocksAndResets(Rule):
    """Kernel clock of the RNG; resets that take another context's state."""

    id = "O12"

    def hash_reset(self, shadow: HashShadow, stamp: Stamp) -> None:
        """HASH is reset: is somebody else's message in it?"""
        message, call = shadow.message, stamp.call
        owner = message.owner if message else None
        if message is None or owner is None or call is None or call.related(owner) or message.finished:
            return
        if self.observer.contexts.objects.get(owner.object.address) is not owner.object:
            return
        saved = shadow.saved.get((owner.object.serial, message.number))
        fed = None if message.words is None else message.words + shadow.words
        if not shadow.words or (saved is not None and saved.message.words == fed):
            return
        self.found(
            "reset-clobbers-shared",
            shadow,
            stamp,
            "the block is reset with another context open in it",
            f"{call} resets {shadow.name} while the running state of {owner.object} is in it and nowhere else.",
            earlier=("that message was begun or restored", message.started),
        )

    def hash_use(self, shadow: HashShadow, stamp: Stamp) -> None:
        """Data of a message whose state a reset has wiped."""
        by, call = shadow.reset_by, stamp.call
        if shadow.message is not None or by is None or call is None or not call.continues:
            return
        self.found(
            "reset-clobbers-shared",
            shadow,
            stamp,
            "the block was reset with another context open in it",
            f"More data of {call.object} enters {shadow.name}.DIN after the running state was wiped by a reset of "
            "the block" + (f" in {by.call}." if by.call else "."),
            earlier=(f"{shadow.name} was reset", by),
        )

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data under a key that a reset has wiped."""
        verdict = judge_key(shadow, stamp.call, self.observer.read_memory)
        if verdict.why != "reset" or shadow.reset_by is None or stamp.call is None:
            return
        by = shadow.reset_by
        self.found(
            "reset-clobbers-shared",
            shadow,
            stamp,
            "the block was reset with another context open in it",
            f"Data of {stamp.call.object} enters {shadow.name} after its key was wiped by a reset of the block"
            + (f" in {by.call}." if by.call else "."),
            earlier=(f"{shadow.name} was reset", by),
        )

    def rng_control(self, shadow: RngShadow, stamp: Stamp, old: int, new: int) -> None:
        """RNGEN set: the kernel clock should run by then."""
        if new & RNGEN:
            self._check_clock(shadow, stamp)

    def _check_clock(self, shadow: RngShadow, stamp: Stamp) -> None:
        kernel, bus = self.observer.frequency("PLL48"), self.observer.frequency("HCLK")
        if kernel is None or bus is None or kernel * SLOWEST_RATIO >= bus:
            return
        self.found(
            "clock-not-enabled",
            shadow,
            stamp,
            "the generator is enabled without its kernel clock",
            f"{shadow.name}.CR.RNGEN is set while the 48 MHz clock "
            + ("is stopped" if not kernel else f"runs at {kernel} Hz, slower than HCLK / {SLOWEST_RATIO}")
            + ": no word will come, CECS and CEIS will be set.",
            registers={f"{shadow.name}.CR": f"{new_hex(shadow.cr)}"},
        )


def new_hex(value: int) -> str:
    """Padded hexadecimal."""
    return f"{value:#010x}"
