"""O6, O7 and O21: key words, IV words, key preparation, and keys that changed behind a pointer."""

from __future__ import annotations

from cryplab.observe.rules._verdict import Verdict, judge_key
from cryplab.observe.rules.base import Rule, register_words
from cryplab.observe.shadow import CrypShadow, Stamp
from cryplab.observe.shadow.cryp import IV_NAMES, KEY_NAMES, KEYSIZE

__all__ = ["KeyAndIv", "KeyPreparation", "Lifetime"]

CHAINED = ("CBC", "CTR", "GCM", "CCM")


def data_mode(shadow: CrypShadow) -> bool:
    """The mode processes data (no key preparation, no reserved number)."""
    return shadow.mode[0] != "reserved" and shadow.mode[1] != "key preparation"


class KeyAndIv(Rule):
    """The registers that the mode needs, all written, and with the right key."""

    id = "O6"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data begins under the present key and IV."""
        if not data_mode(shadow):
            return
        asked = stamp.call.function.algorithm if stamp.call else ""
        if asked == "AES" and shadow.mode[0] != "AES":
            return  # the mode itself is wrong, O19
        verdict = judge_key(shadow, stamp.call, self.observer.read_memory)
        if verdict.why != "right":
            told = verdict.why != "unknown" and self._report(shadow, stamp, verdict)
            if not told and verdict.why != "other" and shadow.loaded:
                self._check_places(shadow, stamp)
        if shadow.mode[1] in CHAINED:
            needed = 2 if shadow.mode[0] in ("DES", "TDES") else 4
            unwritten = [IV_NAMES[i] for i in range(needed) if shadow.iv_stamps[i] is None]
            if unwritten and not shadow.restoring:
                self.found(
                    "wrong-register-value",
                    shadow,
                    stamp,
                    "IV registers never written",
                    f"{'-'.join(shadow.mode)} begins and {', '.join(unwritten)} were not written since the last reset.",
                )

    def _report(self, shadow: CrypShadow, stamp: Stamp, verdict: Verdict) -> bool:
        key_bits, who = shadow.key_bits, f"the key of {stamp.call.object}" if stamp.call else "the key"
        first, last = verdict.names[0], verdict.names[-1]
        texts = {
            "size": ("wrong-register-value", "key size differs from the key",
                     f"{stamp.call.object.key_bits if stamp.call else 0} key bits were given to the context, "
                     "and KEYSIZE makes "
                     f"{shadow.name} use {key_bits}."),
            "never": ("wrong-register-value", "key registers not all written",
                      f"{'-'.join(shadow.mode)} with {key_bits} key bits uses {first} to {last}, and not all of "
                      "them were "
                      "written since the last reset."),
            "zero": ("key-lifetime", "the key registers are all zero",
                     f"{first} to {last} are 0 while {who} is not: it was wiped before use."),
            "reversed": ("wrong-data-swap", "key in reversed byte or word order",
                         f"{first} to {last} hold {who} in reversed order; they take big-endian words, first "
                         "byte on top."),
            "misplaced": ("wrong-register-value", "key in the wrong registers",
                          f"{who} lies in the registers from K0LR on; with {key_bits} bits the block uses "
                          f"{first} to {last}."),
            "old": ("stale-config-carryover", "an earlier key of the same context",
                    f"{first} to {last} were written before this context was given its present key."),
            "differs": ("wrong-register-value", "not the key of this context",
                        f"{first} to {last} do not hold {who}."),
        }  # fmt: skip
        known = texts.get(verdict.why)
        if known is None or (verdict.why == "never" and stamp.call is None and not shadow.loaded):
            return False
        kind, title, text = known
        earlier = (f"{shadow.name}.{first} was written", verdict.writer) if verdict.writer else None
        registers = register_words(shadow, verdict.names, verdict.words)
        self.found(kind, shadow, stamp, title, text, registers=registers, earlier=earlier)
        return True

    def _check_places(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Registers alone: words loaded that are not used, while used ones are empty or KEYSIZE is too small."""
        span = shadow.key_span
        unused = [i for i in shadow.loaded if i not in span and shadow.key[i]]
        calls = {id(s.call) for i in shadow.loaded if (s := shadow.key_stamps[i]) is not None}
        if not unused or len(calls) > 1 or (stamp.call is not None and stamp.call.object.key):
            return
        names = ", ".join(KEY_NAMES[i] for i in sorted(unused))
        self.found(
            "wrong-register-value",
            shadow,
            stamp,
            "key words loaded that the block does not use",
            f"{names} were written with a key, and {'-'.join(shadow.mode)} with {shadow.key_bits} key bits uses "
            f"{KEY_NAMES[span[0]]} to {KEY_NAMES[span[-1]]} only: KEYSIZE or the registers are wrong.",
            registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
        )


class KeyPreparation(Rule):
    """AES decryption keys."""

    id = "O7"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data begins."""
        algorithm, mode = shadow.mode
        if algorithm != "AES" or not data_mode(shadow):
            return
        wants = shadow.decrypts and mode in ("ECB", "CBC")
        prepared = shadow.prepared
        if wants and prepared is None:
            self.found(
                "missing-key-preparation",
                shadow,
                stamp,
                "decryption with an encryption key",
                f"AES-{mode} decryption begins, and no key preparation (ALGOMODE = 7) was run since the key was "
                "written.",
                registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
                earlier=(f"{shadow.name}.K3RR was written", shadow.key_stamps[-1]) if shadow.key_stamps[-1] else None,
            )
        elif wants and prepared is not None and shadow.prepared_mask != shadow.cr & KEYSIZE:
            self.found(
                "missing-key-preparation",
                shadow,
                stamp,
                "key prepared with another size",
                f"The key was prepared with another KEYSIZE than AES-{mode} decryption now uses.",
                earlier=("the key preparation was started", prepared),
            )
        elif not wants and prepared is not None:
            self.found(
                "missing-key-preparation",
                shadow,
                stamp,
                "a prepared decryption key where the plain key is wanted",
                f"AES-{mode}{'' if mode not in ('ECB', 'CBC') else ' encryption'} begins with the key registers "
                "in decryption "
                "form; the key was not written anew.",
                registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
                earlier=("the key preparation was started", prepared),
            )


class Lifetime(Rule):
    """A key read late, through a kept pointer."""

    id = "O21"

    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """Data begins."""
        call = stamp.call
        if call is None or not data_mode(shadow):
            return
        verdict = judge_key(shadow, call, self.observer.read_memory)
        if verdict.why == "late":
            target = call.object
            setter = target.set_by
            self.found(
                "key-lifetime",
                shadow,
                stamp,
                "the key was read late, from memory that had changed",
                f"The key registers hold what lies at {target.key_pointer:#010x} now; when {target} was given "
                "its key there, it "
                "was another.",
                registers=register_words(shadow, verdict.names, verdict.words),
                earlier=(f"{setter.function.name} was called", Stamp(setter.entry.cycle, setter.entry.address, setter))
                if setter
                else None,
            )
