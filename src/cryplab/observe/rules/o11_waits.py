"""O11 and O22: waits that never end, and waits that end too soon."""

from __future__ import annotations

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, HashShadow, RngShadow, Shadow, Stamp
from cryplab.observe.shadow.base import Polls
from cryplab.observe.shadow.cryp import BUSY as CRYP_BUSY
from cryplab.observe.shadow.hash import BUSY as HASH_BUSY
from cryplab.observe.shadow.hash import DCIS, HMAC_PHASES
from cryplab.observe.shadow.rng import CLOCK, DRDY, IE, RNGEN, SEED

__all__ = ["DeadWait", "Time"]

MASKED_STATUS = 0x100
"Reads of RISR and MISR are counted with this bit set, to tell them from SR."
STORM = 1000
"Entries of one interrupt in a row with no other code between."


class DeadWait(Rule):
    """Polls with one value for longer than any job takes; interrupts that nothing raises or clears."""

    id = "O11"

    def cryp_wait(self, shadow: CrypShadow, stamp: Stamp, polls: Polls) -> None:
        """CRYP.SR."""
        waiting = len(shadow.in_words)
        if not shadow.enabled:
            why = "CRYPEN = 0: nothing is processed"
        elif waiting:
            why = f"the IN FIFO holds {waiting} of the {shadow.block_words} words of a block"
        else:
            why = "no block is in the core"
        self._wait(shadow, stamp, polls, why, f"{shadow.name}.SR = {shadow.sr:#04x}")

    def hash_wait(self, shadow: HashShadow, stamp: Stamp, polls: Polls) -> None:
        """HASH.SR."""
        message = shadow.message
        if message is None:
            why = "no message was begun (INIT)"
        elif message.hmac and len(message.phases) < HMAC_PHASES and not polls.value & DCIS:
            why = f"MODE = 1 (HMAC), and {len(message.phases)} of its three parts were ended by DCAL"
        elif not message.finished:
            why = "DCAL was not given"
        else:
            why = "no block is in the core"
        self._wait(shadow, stamp, polls, why, f"{shadow.name}.SR = {shadow.sr:#04x}")

    def rng_wait(self, shadow: RngShadow, stamp: Stamp, polls: Polls) -> None:
        """RNG.SR."""
        if not shadow.cr & RNGEN:
            why = "RNGEN = 0: the generator is off"
        elif polls.value & SEED:
            why = "a seed error stopped the generator, and it was not started anew"
        elif polls.value & CLOCK:
            why = "its kernel clock is stopped or too slow"
        else:
            why = "no word has come"
        kind = (
            "rng-error-unrecovered"
            if polls.value & SEED
            else "clock-not-enabled"
            if polls.value & CLOCK
            else "dead-wait"
        )
        self._wait(shadow, stamp, polls, why, f"{shadow.name}.SR = {polls.value & 0xFF:#04x}", kind)

    def _wait(self, shadow: Shadow, stamp: Stamp, polls: Polls, why: str, value: str, kind: str = "dead-wait") -> None:
        microseconds = round(self.observer.microseconds(polls.last - polls.since))
        self.found(
            kind,
            shadow,
            stamp,
            "a wait with nothing pending",
            f"{value} was read {polls.count} times in {microseconds} us with nothing else happening: {why}.",
        )
        polls.over()

    def run_ends(self, reason: str, stamp: Stamp) -> None:
        """The run ended asleep or at its limit: an interrupt that nothing will raise."""
        if reason not in ("idle", "time"):
            return
        for shadow in self.observer.shadows:
            if isinstance(shadow, RngShadow) and shadow.cr & IE and not shadow.cr & RNGEN:
                self.found(
                    "irq-race", shadow, stamp, "interrupt enabled with the generator off",
                    f"{shadow.name}.CR has IE = 1 and RNGEN = 0 at the end of the run: the interrupt that is "
                    "waited for cannot come.",
                    registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
                )  # fmt: skip
            message = shadow.message if isinstance(shadow, HashShadow) else None
            if isinstance(shadow, HashShadow) and shadow.imr and message and not message.finished and reason == "idle":
                self.found(
                    "irq-race", shadow, stamp, "interrupt enabled with no block in flight",
                    f"{shadow.name}.IMR = {shadow.imr:#x}, and the {shadow.words} words fed complete no block: "
                    "the interrupt that is "
                    "waited for cannot come.",
                )  # fmt: skip

    def storm(self, number: int, count: int, stamp: Stamp, shadow: Shadow) -> None:
        """An interrupt of a watched block came again and again."""
        self.found(
            "irq-race",
            shadow,
            stamp,
            "interrupt storm",
            f"Interrupt {number - 16} was entered {count} times in a row with no other code running between: "
            "its cause was not "
            "cleared.",
        )


class Time(Rule):
    """Functions that give up on a healthy block."""

    id = "O22"

    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """A call returned an error: was the block only still at work?"""
        if not result or call.caller is not None:
            return
        for shadow in self.observer.shadows:
            if shadow.name in call.blocks or (isinstance(shadow, RngShadow) and call.function.does == "random"):
                self._check(shadow, call, result, stamp)

    def _check(self, shadow: Shadow, call: Call, result: int, stamp: Stamp) -> None:
        polls: Polls | None = getattr(shadow, "polls", None)
        if polls is None or polls.last < call.entry.cycle or polls.shown < 0:
            return
        if isinstance(shadow, RngShadow):
            healthy = shadow.enabled is not None and not polls.shown & (SEED | CLOCK | DRDY)
        else:
            busy = CRYP_BUSY if isinstance(shadow, CrypShadow) else HASH_BUSY
            healthy = bool(polls.shown & busy) and polls.shown < MASKED_STATUS
        if healthy:
            spent = self.observer.microseconds(polls.last - polls.since)
            self.found(
                "timeout-units",
                shadow,
                stamp,
                "gave up on a block that was still at work",
                f"{call} returned {_signed(result)} after {polls.count} reads of {shadow.name}.SR = "
                f"{polls.shown:#04x} in "
                f"{spent:.1f} us; the block reports no error.",
                call=call,
            )


def _signed(value: int) -> str:
    number = value - (1 << 32) if value >> 31 else value
    return f"{'-' if number < 0 else ''}{abs(number):#x}"
