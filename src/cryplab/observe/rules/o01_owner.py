"""O1: data of one context under key, IV, mode or running state of another."""

from __future__ import annotations

from cryplab.observe.rules._verdict import judge_key
from cryplab.observe.rules.base import Rule, context_name, register_words
from cryplab.observe.shadow import CrypShadow, HashShadow, Stamp
from cryplab.observe.shadow.base import to_words
from cryplab.observe.shadow.cryp import IV_NAMES
from cryplab.observe.shadow.hash import CSR_KEY, CSRS_ALWAYS, CSRS_PLAIN, Saved

__all__ = ["Owner"]


class Owner(Rule):
    """Tags by call: who wrote key, IV and state, and who uses them."""

    id = "O1"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data (or a GCM init phase) begins under the present key and IV."""
        call = stamp.call
        if call is None:
            return
        verdict = judge_key(shadow, call, self.observer.read_memory)
        if verdict.why == "other" and verdict.writer is not None:
            writer = verdict.writer
            assert writer.call is not None
            between = writer.call.open and writer.call.thread != call.thread
            self.found(
                "not-thread-safe" if between else "context-lost-on-interleave",
                shadow,
                stamp,
                "data processed under the key of another context",
                f"Data of {call.object} enters {shadow.name} while the key registers {verdict.names[0]} to "
                f"{verdict.names[-1]} hold what was written for {writer.call.object}.",
                registers=register_words(shadow, verdict.names, verdict.words),
                earlier=(f"{shadow.name}.{verdict.names[0]} was written", writer),
                rule="O13" if between else "",
            )
        self._check_iv(shadow, stamp)
        self._check_aead(shadow, stamp)

    def _check_iv(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """IV loaded for another context; one that is only wrong is a matter of O9."""
        call = stamp.call
        assert call is not None
        mode = shadow.mode[1]
        if mode not in ("CBC", "CTR") or call.function.mode != mode or call.marks.get("iv"):
            return
        chain = shadow.chain()
        wanted = to_words(call.iv_before)
        if chain is None or not wanted or chain[: len(wanted)] == wanted:
            return
        writer = shadow.iv_stamps[0]
        if writer is None or writer.call is None or call.related(writer.call):
            return
        call.marks["iv"] = True
        self.found(
            "context-lost-on-interleave",
            shadow,
            stamp,
            "data processed under the IV of another context",
            f"Data of {call.object} enters {shadow.name} in {mode} mode while the IV registers hold what was "
            "written for "
            f"{writer.call.object}; this call's IV is {call.iv_before.hex()}.",
            registers=register_words(shadow, list(IV_NAMES), list(chain)),
            earlier=(f"{shadow.name}.IV0LR was written", writer),
        )

    def _check_aead(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """GCM and CCM: the running hash belongs to who ran the init phase or restored the state."""
        aead, call = shadow.aead, stamp.call
        if shadow.mode[1] not in ("GCM", "CCM") or not shadow.phase or aead is None or call is None:
            return
        owner = aead.started.call
        if owner is None or call.related(owner):
            return
        self.found(
            "context-lost-on-interleave",
            shadow,
            stamp,
            "data processed in the running state of another context",
            f"Data of {call.object} enters {shadow.name} while its {aead.mode} state is that of {owner.object}: "
            "no init phase and no restore of CSGCMCCM0R to 7R came in between.",
            earlier=(f"the {aead.mode} message in the block was begun or restored", aead.started),
        )

    def hash_use(self, shadow: HashShadow, stamp: Stamp) -> None:
        """Data enters the message that is in the block."""
        message, call = shadow.message, stamp.call
        if message is None or call is None or message.owner is None:
            return
        owner = message.owner
        if message.finished:
            if owner.object is not call.object and call.continues:
                self.found(
                    "context-lost-on-interleave",
                    shadow,
                    stamp,
                    "data hashed behind the message of another context",
                    f"More data of {call.object} enters {shadow.name}.DIN, and the block has since worked on a "
                    f"message of {owner.object}: the running state was not restored.",
                    earlier=(f"{shadow.name} was given that message", message.started),
                )
            if owner.object is call.object and message.number == call.object.message:
                self.found(
                    "context-lost-on-interleave",
                    shadow,
                    stamp,
                    "data after the digest of the same message",
                    f"Data of {call.object} enters {shadow.name}.DIN after DCAL has ended this message, with no "
                    "state "
                    "restored: the running state is gone.",
                    earlier=(f"{shadow.name} was given the message", message.started),
                )
            return
        if call.related(owner):
            return
        between = owner.open and owner.thread != call.thread
        self.found(
            "not-thread-safe" if between else "context-lost-on-interleave",
            shadow,
            stamp,
            "data hashed into the message of another context",
            f"Data of {call.object} enters {shadow.name}.DIN while the running state is that of {owner.object}: "
            "no INIT and "
            "no context restore came in between.",
            earlier=(f"{shadow.name}: this message was begun or restored", Stamp(*message.started[:2], owner)),
            rule="O13" if between else "",
        )

    def hash_restored(self, shadow: HashShadow, stamp: Stamp, csr: dict[int, int], saved: Saved | None) -> None:
        """Context-swap registers were written: are they this context's, and all?"""
        if saved is None or shadow.message is None:
            return
        needed = set(range(CSRS_ALWAYS))
        if saved.message.hmac:
            needed |= set(range(CSR_KEY, CSR_KEY + 16))
        missing = sorted(i for i in needed if i in saved.csr and i not in csr)
        missing += sorted(i for i in needed if i not in saved.csr)
        if missing:
            self.found(
                "hash-state-save",
                shadow,
                stamp,
                "context restored without all its registers",
                f"The context of {context_name(stamp)} was written back without CSR{missing[0]}"
                + (f" to CSR{missing[-1]}" if len(missing) > 1 else "")
                + f"; {'an HMAC needs all 54' if saved.message.hmac else f'a hash needs the first {CSRS_PLAIN}'}.",
            )
            return
        wrong = [i for i in needed if csr[i] != saved.csr[i]]
        if not wrong:
            return
        other = next(
            (s for s in shadow.saved.values() if s is not saved and all(csr[i] == s.csr.get(i) for i in needed)), None
        )
        of = f" They are those of {other.message.owner.object}." if other and other.message.owner else ""
        self.found(
            "context-lost-on-interleave" if other else "hash-state-save",
            shadow,
            stamp,
            "context restored with other values than were saved",
            f"CSR{wrong[0]} was saved as {saved.csr[wrong[0]]:#010x} for {context_name(stamp)} and written back as "
            f"{csr[wrong[0]]:#010x}.{of}",
        )
