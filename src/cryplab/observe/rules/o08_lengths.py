"""O8: bytes counted at the block against what the message and the call say."""

from __future__ import annotations

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.rules.o03_bytes import BLOCK_BYTES, aad_prefix, text_bytes
from cryplab.observe.shadow import CrypShadow, HashShadow, Stamp
from cryplab.observe.shadow.base import from_words, swapped, to_words
from cryplab.observe.shadow.cryp import PHASE_INIT, Aead
from cryplab.observe.shadow.hash import BLOCK_WORDS, KEPT_WORDS, Message

__all__ = ["Lengths"]

GCM_IV_BYTES = 12
WORD_BYTES = 4
HMAC_TEXT, HMAC_KEY_AGAIN = 1, 2


class Lengths(Rule):
    """The length block of GCM, B0 of CCM, NBLW, the parts of an HMAC."""

    id = "O8"

    # -- GCM, CCM ------------------------------------------------------------------------------
    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """A phase begins: was init run, and with this IV?"""
        mode = shadow.mode[1]
        if mode not in ("GCM", "CCM"):
            return
        aead = shadow.aead
        if aead is not None and stamp.call is not None and not stamp.call.related(aead.started.call):
            return  # a matter of O1
        if shadow.phase != PHASE_INIT and (aead is None or (aead.whole and _iv_newer(shadow, aead))):
            self.found(
                "aad-length" if mode == "CCM" else "stale-config-carryover",
                shadow,
                stamp,
                f"{mode} without its init phase",
                f"{mode} data is fed in phase {shadow.phase} "
                f"({('init', 'header', 'payload', 'final')[shadow.phase]}), and no init "
                "phase was run since key and IV were written.",
                registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
                earlier=(f"{shadow.name}.IV0LR was written", shadow.iv_stamps[0]) if shadow.iv_stamps[0] else None,
                rule="O2" if "GCM_CCMPH" in shadow.changed and mode == "GCM" else "",
            )
        if aead is not None and shadow.phase == PHASE_INIT and mode == "GCM":
            self._check_gcm_iv(shadow, stamp, aead)

    def _check_gcm_iv(self, shadow: CrypShadow, stamp: Stamp, aead: Aead) -> None:
        call = stamp.call
        if call is None or call.function.mode != "GCM" or "iv_length" not in call.arguments:
            return
        size, iv = call.get("iv_length"), call.iv_before
        if size == GCM_IV_BYTES:
            wanted = (*to_words(iv), 2)
            if len(iv) == GCM_IV_BYTES and aead.iv != wanted:
                writer = shadow.iv_stamps[0]
                stranger = writer is not None and writer.call is not None and not call.related(writer.call)
                self.found(
                    "context-lost-on-interleave" if stranger else "wrong-register-value",
                    shadow,
                    stamp,
                    "GCM starts with another IV than the call's",
                    f"The IV registers hold {from_words(aead.iv).hex()}; for the call's IV {iv.hex()} they "
                    "should hold it and 2.",
                    earlier=(f"{shadow.name}.IV0LR was written", writer) if writer else None,
                    rule="O1" if stranger else "O6",
                )
        elif aead.iv[3] == 2 and from_words(aead.iv[:3]) == iv[:GCM_IV_BYTES].ljust(GCM_IV_BYTES, b"\0"):
            self.found(
                "gcm-iv-not-96-bit",
                shadow,
                stamp,
                "IV of another length taken for one of 12 bytes",
                f"The call's IV has {size} bytes, and the IV registers were loaded with its first 12 and the "
                "counter 2; for such "
                "an IV the first counter block is its GHASH.",
            )

    def cryp_aead_end(self, shadow: CrypShadow, aead: Aead) -> None:
        """The message has ended: compare its lengths."""
        if not aead.final or not aead.whole or aead.final_stamp is None:
            return
        if aead.mode == "GCM":
            self._check_gcm(shadow, aead, aead.final_stamp)
        elif aead.b0 is not None:
            self._check_ccm(shadow, aead, aead.final_stamp)

    def _check_gcm(self, shadow: CrypShadow, aead: Aead, stamp: Stamp) -> None:
        block = aead.final[-1]
        aad_bits, text_bits = block[0] << 32 | block[1], block[2] << 32 | block[3]
        fed = aead.payload_blocks + aead.excursion_blocks
        for name, bits, blocks, role in (
            ("additional data", aad_bits, aead.header_blocks, "aad_length"),
            ("text", text_bits, fed, "length"),
        ):
            meant = self._meant(aead.started.call, role)
            if -(-bits // 128) != blocks or bits % 8 or (meant is not None and meant * 8 != bits):
                in_bytes = blocks and -(-bits * 8 // 128) == blocks
                self.found(
                    "aad-length",
                    shadow,
                    stamp,
                    f"the length of the {name} is not what was fed",
                    f"The last GCM block says {bits} bits of {name}; {blocks} blocks of it were fed"
                    + (f" and the call gave {meant} bytes" if meant is not None else "")
                    + ("; it seems to be given in bytes." if in_bytes else "."),
                    registers={f"{shadow.name}.DIN, length block": from_words(block).hex()},
                    earlier=("the GCM message began", aead.started),
                )
                return
        if text_bits % 128 and not aead.decrypts and not aead.by_dma:
            self._check_short_gcm(shadow, aead, stamp, text_bits // 8 % BLOCK_BYTES)

    def _check_short_gcm(self, shadow: CrypShadow, aead: Aead, stamp: Stamp, rest: int) -> None:
        if shadow.has_npblb:
            if aead.npblb != BLOCK_BYTES - rest:
                self.found(
                    "partial-last-block", shadow, stamp, "NPBLB does not fit the last block",
                    f"The last block has {rest} bytes, and NPBLB is {aead.npblb} instead of {BLOCK_BYTES - rest}.",
                )  # fmt: skip
            return
        if aead.excursion_blocks and len(aead.final) > 1:
            masked = from_words(aead.final[-2])[rest:]
            if any(masked):
                self.found(
                    "partial-last-block", shadow, stamp, "the short block is fed again unmasked",
                    f"The last block has {rest} bytes; the {len(masked)} bytes behind them must be 0 when it is "
                    "fed in the final "
                    f"phase, and are {masked.hex()}.",
                )  # fmt: skip
            return
        self.found(
            "silicon-erratum",
            shadow,
            stamp,
            "short last GCM block without the sequence that this version needs",
            f"GCM encryption ends with {rest} bytes in its last block. This version has no NPBLB: the block "
            "must be processed in "
            "CTR mode and its masked result fed in the final phase, else the tag is wrong though the ciphertext "
            "is right.",
            earlier=("the GCM message began", aead.started),
        )

    def _check_ccm(self, shadow: CrypShadow, aead: Aead, stamp: Stamp) -> None:
        assert aead.b0 is not None
        b0, size = from_words(aead.b0), text_bytes(aead)
        blocks = -(-size // BLOCK_BYTES)
        fed = aead.payload_blocks + aead.excursion_blocks
        call = aead.started.call
        meant = self._meant(call, "length")
        if fed != blocks or (meant is not None and meant != size):
            self.found(
                "partial-last-block", shadow, stamp, "the length in B0 is not what was fed",
                f"B0 says {size} bytes of text; {fed} blocks were fed"
                + (f" and the call gave {meant} bytes." if meant is not None else "."),
                registers={f"{shadow.name}.DIN, B0": b0.hex()},
                earlier=("the CCM message began", aead.started),
            )  # fmt: skip
            return
        self._check_ccm_aad(shadow, aead, stamp, bool(b0[0] & 0x40))
        masked_here = aead.excursion_blocks or (shadow.has_npblb and aead.npblb)
        if size % BLOCK_BYTES and aead.decrypts and not masked_here and not aead.by_dma:
            self.found(
                "partial-last-block", shadow, stamp, "short last CCM block decrypted without masking",
                f"CCM decryption ends with {size % BLOCK_BYTES} bytes in its last block, and neither NPBLB nor "
                "the sequence for "
                "versions without it was used: the key stream behind the text enters the tag.",
                earlier=("the CCM message began", aead.started),
            )  # fmt: skip

    def _check_ccm_aad(self, shadow: CrypShadow, aead: Aead, stamp: Stamp, flagged: bool) -> None:
        first = from_words(aead.header[0]) if aead.header else b""
        stated = _stated_aad(first)
        meant = self._meant(aead.started.call, "aad_length")
        whole = len(aad_prefix(stated)) + stated if stated else 0
        wrong = flagged != bool(aead.header_blocks) or -(-whole // BLOCK_BYTES) != aead.header_blocks
        if wrong or (meant is not None and meant != stated):
            self.found(
                "aad-length",
                shadow,
                stamp,
                "the length of the additional data is not what was fed",
                f"B0 says that there is {'' if flagged else 'no '}additional data, its first block says "
                f"{stated} bytes, "
                f"{aead.header_blocks} blocks were fed"
                + (f" and the call gave {meant} bytes." if meant is not None else "."),
                registers={f"{shadow.name}.DIN, first header block": first.hex()} if first else None,
                earlier=("the CCM message began", aead.started),
            )

    @staticmethod
    def _meant(call: Call | None, role: str) -> int | None:
        """A length as the call gives it; None when several calls give it or none.

        With an IV of other than 12 bytes one call may run the block several times, to find the first counter.
        """
        if call is not None and call.function.mode == "GCM" and call.get("iv_length", GCM_IV_BYTES) != GCM_IV_BYTES:
            return None
        if call is None or call.function.mode not in ("GCM", "CCM"):
            return None
        if call.function.does == "starts":
            return call.get("aad_length") if role == "aad_length" else call.object.data_bytes
        return call.get(role) if role in call.arguments else None

    # -- hash ----------------------------------------------------------------------------------
    def hash_save(self, shadow: HashShadow, stamp: Stamp) -> None:
        """A message is put aside once more."""
        if shadow.message is not None:
            self._check_middle(shadow, stamp, shadow.message)

    def _check_middle(self, shadow: HashShadow, stamp: Stamp, message: Message) -> None:
        """Words that follow a word which was not whole: those of earlier calls against the bytes that these gave."""
        call = stamp.call
        if call is None or message.words is None or not shadow.words or message.hmac or message.finished:
            return
        target = call.object
        if not target.whole or call.function.does not in ("update", "finish") or not call.function.algorithm:
            return
        given = target.data_bytes - call.get("length")
        if WORD_BYTES * message.words > given:
            self.found(
                "partial-last-block",
                shadow,
                stamp,
                "a word that is not whole in the middle of a message",
                f"{target} had been given {given} bytes when {message.words} words were in {shadow.name}, so of "
                f"the last one {given % WORD_BYTES} of {WORD_BYTES} bytes are the message's; the {shadow.words} words "
                "fed now come behind its filling. Only the last word of a message may be short: keep the rest until "
                "the next bytes come.",
                earlier=("the message began", message.started),
            )

    def hash_calculate(self, shadow: HashShadow, stamp: Stamp, message: Message, words: int, nblw: int) -> None:
        """DCAL: words and NBLW against the bytes that the context was given."""
        if message.hmac:
            self._check_hmac(shadow, stamp, message, words, nblw)
            return
        self._check_middle(shadow, stamp, message)
        call = stamp.call
        if call is None or message.words is None or "NBLW" in message.reported or message.finished:
            return
        target = call.object
        one_call = call.function.does == "crypt" and not target.address
        last_part = call.function.does in ("finish", "crypt") and target.whole and bool(call.function.algorithm)
        if not (one_call or last_part):
            return
        given = call.get("length") if not target.address else target.data_bytes
        fed = message.words + words
        fed_bits = 32 * fed if not nblw else 32 * (fed - 1) + nblw
        if fed_bits != 8 * given and not (fed == 0 and given == 0):
            empty = fed == 0 and given
            self.found(
                "zero-length" if empty else "partial-last-block",
                shadow,
                stamp,
                "message length at the block differs from what the context was given",
                f"{target} was given {given} bytes; {shadow.name} counts {fed} words and NBLW = {nblw}, which is "
                f"{max(0, fed_bits) / 8:g} bytes.",
                registers={f"{shadow.name}.STR": f"{shadow.str:#010x}"},
                earlier=("the message began", message.started),
            )

    def _check_hmac(self, shadow: HashShadow, stamp: Stamp, message: Message, words: int, nblw: int) -> None:
        phase, parts = len(message.phases), message.phases
        total = None if message.words is None else message.words + words
        if phase == 0 and total is not None and message.long_key != (total > BLOCK_WORDS):
            stale = shadow.written_in.get("LKEY", 0) < shadow.operation
            self.found(
                "hmac-key-handling",
                shadow,
                stamp,
                "LKEY does not fit the length of the HMAC key",
                f"The key has {total} words and LKEY is {int(message.long_key)}; LKEY = 1 hashes the key first, "
                "which HMAC does "
                f"for keys longer than {BLOCK_WORDS} words only.",
                registers={f"{shadow.name}.CR": f"{shadow.cr:#010x}"},
                rule="O2" if message.long_key and stale else "",
            )
        if phase == 0 and stamp.call is not None and not message.dma:
            self._check_key(shadow, stamp, message, stamp.call)
        if phase == HMAC_KEY_AGAIN and len(parts) == HMAC_KEY_AGAIN:
            inner = parts[0]
            keys = message.keys
            same = len(keys) < 2 or message.dma or keys[0] == keys[1]
            if inner[0] is not None and total is not None and ((total, nblw) != inner or not same):
                self.found(
                    "hmac-key-handling",
                    shadow,
                    stamp,
                    "the key after the text is not the key before it",
                    f"Before the text {inner[0]} words with NBLW = {inner[1]} were fed as key, after it {total} "
                    "words with NBLW = "
                    f"{nblw}{'' if same else ', with other contents'}.",
                    earlier=("the HMAC began", message.started),
                )

    def _check_key(self, shadow: HashShadow, stamp: Stamp, message: Message, call: Call) -> None:
        """The words fed as key against the key that the call was given."""
        size = min(call.get("key_bytes"), 4 * KEPT_WORDS)
        given = self.observer.read_memory(call.get("key"), size) if size and "key" in call.arguments else None
        words = message.keys[0] if message.keys else []
        fed = from_words([swapped(word, shadow.fed_datatype) for word in words])
        if not given or fed[: len(given)] == given or len(fed) < len(given):
            return  # a key cut short: `total` above, and what the block makes of it
        first = next(i for i in range(len(given)) if fed[i] != given[i])
        self.found(
            "hmac-key-handling",
            shadow,
            stamp,
            "the key fed is not the key given",
            f"{call} has a key of {call.get('key_bytes')} bytes; from byte {first} on other bytes were fed: "
            f"{fed[first : first + 4].hex()} instead of {given[first : first + 4].hex()}.",
            earlier=("the HMAC began", message.started),
        )


def _iv_newer(shadow: CrypShadow, aead: Aead) -> bool:
    stamps = [s for s in shadow.iv_stamps[:3] if s is not None]
    return any(s.cycle > aead.valid_from for s in stamps)


def _stated_aad(first: bytes) -> int:
    """The length at the start of CCM's first header block."""
    if not first:
        return 0
    if first[:2] == b"\xff\xfe":
        return int.from_bytes(first[2:6], "big")
    if first[:2] == b"\xff\xff":
        return int.from_bytes(first[2:10], "big")
    return int.from_bytes(first[:2], "big")
