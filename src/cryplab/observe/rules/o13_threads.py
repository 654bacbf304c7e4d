"""O13 and O14: two threads in one operation; a handler between a read and a write of the same register."""

from __future__ import annotations

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, HashShadow, RngShadow, Shadow, Stamp
from cryplab.observe.shadow.cryp import CRYPEN
from cryplab.observe.shadow.hash import DIGEST_WORDS, Message

__all__ = ["InterruptPoints", "Reentrancy"]


class Reentrancy(Rule):
    """Uses by two threads. Key, IV and state of another thread's open call are found in O1's file and reported here."""

    id = "O13"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Another thread's data while this one has CRYP enabled in an open call."""
        thread = self.observer.contexts.thread
        session = shadow.session
        if session is not None and session[0] != thread and not self.observer.own_handler(shadow, thread):
            owner = session[1].call
            still = owner is None or owner.open
            if (
                still
                and shadow.cr & CRYPEN
                and shadow.started is session[2]
                and (owner is None or stamp.call is not owner)
            ):
                self.found(
                    "not-thread-safe",
                    shadow,
                    stamp,
                    "a second thread feeds the block inside an open operation",
                    f"{self.observer.thread_name(thread)} writes {shadow.name}.DIN while "
                    f"{self.observer.thread_name(session[0])} has an operation open"
                    + (f" ({owner})." if owner else "."),
                    earlier=("that operation's data began", session[1]),
                )
        if not self.observer.own_handler(shadow, thread):
            shadow.session = (thread, stamp, shadow.started)

    def cryp_taken(self, shadow: CrypShadow, stamp: Stamp, begun: Stamp) -> None:
        """Another thread writes CR with words of an open call in the block."""
        thread, owner = self.observer.contexts.thread, begun.call
        if owner is None or not owner.open or owner is stamp.call or self.observer.own_handler(shadow, thread):
            return
        self._taken(shadow, stamp, owner, begun, f"{shadow.name}.CR is written")

    def hash_taken(self, shadow: HashShadow, stamp: Stamp, message: Message) -> None:
        """Another thread begins a message while an open call has its own in the block, and nowhere else."""
        owner = message.owner
        if owner is None or (message.finished and message.hr_read.bit_count() >= DIGEST_WORDS[message.algorithm]):
            return
        if self.observer.own_handler(shadow, self.observer.contexts.thread):
            return
        saved = shadow.saved.get((owner.object.serial, message.number))
        if saved is not None and message.words is not None and saved.message.words == message.words + shadow.words:
            return
        self._taken(shadow, stamp, owner, message.started, f"{shadow.name}.CR.INIT is written")

    def _taken(self, shadow: Shadow, stamp: Stamp, owner: Call, begun: Stamp, what: str) -> None:
        thread = self.observer.thread_name(self.observer.contexts.thread)
        self.found(
            "irq-race" if self.observer.contexts.thread < 0 else "not-thread-safe",
            shadow,
            stamp,
            "the block is taken inside an open operation of another thread",
            f"{what} in {thread} while {self.observer.thread_name(owner.thread)} is in the middle of {owner}.",
            earlier=("that operation began", begun),
        )

    def rng_word(self, shadow: RngShadow, stamp: Stamp, value: int) -> None:
        """A word that another thread was promised."""
        thread = self.observer.contexts.thread
        taken = shadow.promised.pop(thread, None)
        if shadow.ready is None and taken is not None and shadow.taker not in (None, thread):
            self.found(
                "not-thread-safe",
                shadow,
                stamp,
                "the random word was taken by another thread",
                f"{self.observer.thread_name(thread)} saw DRDY = 1, and before it read {shadow.name}.DR "
                f"{self.observer.thread_name(shadow.taker or 0)} took the word.",
                earlier=(f"{shadow.name}.SR was read with DRDY = 1", taken),
            )
        shadow.taker = thread


class InterruptPoints(Rule):
    """Lost updates of control registers."""

    id = "O14"

    def cryp_lost_update(self, shadow: Shadow, stamp: Stamp, register: str, between: Stamp, value: int) -> None:
        """CRYP.CR."""
        self._lost(shadow, stamp, register, between, value)

    def hash_lost_update(self, shadow: Shadow, stamp: Stamp, register: str, between: Stamp, value: int) -> None:
        """HASH.CR."""
        self._lost(shadow, stamp, register, between, value)

    def rng_lost_update(self, shadow: Shadow, stamp: Stamp, register: str, between: Stamp, value: int) -> None:
        """RNG.CR."""
        self._lost(shadow, stamp, register, between, value)

    def _lost(self, shadow: Shadow, stamp: Stamp, register: str, between: Stamp, value: int) -> None:
        """A register was read, changed by other code, and written from the old value."""
        self.found(
            "irq-race",
            shadow,
            stamp,
            "a change of the register is lost",
            f"{shadow.name}.{register} is written back as {value:#010x} from a value read before other code "
            "changed it: that "
            "change is gone.",
            earlier=(f"{shadow.name}.{register} was changed", between),
        )
