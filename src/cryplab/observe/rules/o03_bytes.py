"""O3: bytes that reach DIN from outside the input, stores outside the output."""

from __future__ import annotations

from cryplab.observe.contexts import Call
from cryplab.observe.rules.base import Rule
from cryplab.observe.shadow import CrypShadow, HashShadow, RngShadow, Shadow, Stamp
from cryplab.observe.shadow.base import from_words, swapped
from cryplab.observe.shadow.cryp import KEPT_BLOCKS, Aead
from cryplab.observe.shadow.hash import Message

__all__ = ["DataBytes"]

BLOCK_BYTES = 16
CONTEXT_MOST = 1024
SHORT_AAD, LONG_AAD = 0xFF00, 1 << 32


class DataBytes(Rule):
    """Matches by value. In `run` only those beyond doubt; `deep` (check) trusts unique buffer contents."""

    id = "O3"

    # -- authenticated last block --------------------------------------------------------------
    def cryp_use(self, shadow: CrypShadow, stamp: Stamp) -> None:
        """A message begins: its additional data now, for the caller may use their memory again before it ends."""
        aead, call = shadow.aead, stamp.call
        if aead is None or aead.aad is not None or call is None or call is not aead.started.call:
            return
        size = min(call.get("aad_length"), BLOCK_BYTES * KEPT_BLOCKS)
        aead.aad = self.observer.read_memory(call.get("aad"), size) if size else b""

    def cryp_aead_end(self, shadow: CrypShadow, aead: Aead) -> None:
        """A GCM or CCM message has ended: padding of its last block, and its additional data."""
        if not aead.final or aead.last is None or aead.by_dma:
            return
        self._check_padding(shadow, aead)
        self._check_aad(shadow, aead)

    def _check_padding(self, shadow: CrypShadow, aead: Aead) -> None:
        size = text_bytes(aead)
        rest = size % BLOCK_BYTES
        if (
            not rest
            or -(-size // BLOCK_BYTES) != aead.payload_blocks
            or aead.last_payload is None
            or aead.excursion_blocks
            or aead.final_stamp is None
        ):
            return
        if shadow.has_npblb and aead.npblb and aead.decrypts != (aead.mode == "GCM"):
            return  # the block masks these bytes itself
        padding = from_words(aead.last_payload)[rest:]
        if any(padding):
            self.found(
                "partial-last-block",
                shadow,
                aead.final_stamp,
                "bytes behind the message enter the tag",
                f"The last {aead.mode} payload block has {rest} bytes of message; the {len(padding)} bytes "
                "behind them were fed "
                f"as {padding.hex()} instead of 0, and the tag depends on them.",
                earlier=(f"the {aead.mode} message began", aead.started),
            )

    def _check_aad(self, shadow: CrypShadow, aead: Aead) -> None:
        call = aead.started.call
        if call is None or not aead.whole or "aad" not in call.arguments:
            return
        size, data = call.get("aad_length"), aead.aad
        if data is None:
            return
        prefix = aad_prefix(size) if aead.mode == "CCM" and size else b""
        if -(-(len(prefix) + size) // BLOCK_BYTES) != aead.header_blocks:
            return  # a matter of lengths, O8
        data = (prefix + data)[: BLOCK_BYTES * len(aead.header)]
        wanted = [data[i : i + BLOCK_BYTES].ljust(BLOCK_BYTES, b"\0") for i in range(0, len(data), BLOCK_BYTES)]
        for n, (block, bytes_wanted) in enumerate(zip(aead.header, wanted, strict=False)):
            fed = from_words(block)
            if fed != bytes_wanted:
                assert aead.final_stamp is not None
                again = fed in wanted[:n]
                self.found(
                    "aad-length",
                    shadow,
                    aead.final_stamp,
                    "other additional data than the call's",
                    f"Header block {n} of {len(wanted)} was fed as {fed.hex()}, the call's additional data is "
                    f"{bytes_wanted.hex()} there" + (": an earlier block was fed again." if again else "."),
                    earlier=(f"the {aead.mode} message began", aead.started),
                )
                return

    # -- memory around a call ------------------------------------------------------------------
    def call_ends(self, call: Call, result: int, stamp: Stamp) -> None:
        """Compare memory with what it was at the call's entry."""
        if not call.blocks:
            return
        shadow = next((s for s in self.observer.shadows if s.name in call.blocks), None)
        if shadow is None:
            return
        if call.behind_output:
            self._check_behind_output(shadow, call, stamp)
        if call.input_before:
            self._check_input(shadow, call, stamp)

    def _check_behind_output(self, shadow: Shadow, call: Call, stamp: Stamp) -> None:
        length = call.get("length")
        end = call.get("output") + length
        now = self.observer.read_memory(end, len(call.behind_output))
        if now is None or now == call.behind_output or call.entry.sp > end >= call.entry.sp - 0x1000:
            return
        places = [i for i in range(len(now)) if now[i] != call.behind_output[i] and not _declared(call, end + i)]
        if not places:
            return
        tail = self._result_tail(shadow, call)
        certain = bool(tail) and all(i < len(tail) and now[i] == tail[i] for i in places)
        if certain or self.observer.deep:
            self.found(
                "buffer-overrun",
                shadow,
                stamp,
                "bytes behind the output were overwritten",
                f"{call} stored {places[-1] + 1} bytes behind the {length} bytes of its output, at {end:#010x}: "
                f"{call.behind_output[: places[-1] + 1].hex()} became {now[: places[-1] + 1].hex()}.",
                call=call,
            )

    def _result_tail(self, shadow: Shadow, call: Call) -> bytes:
        """What the block gave behind the last byte of the message: what a store of whole words leaves there."""
        length = call.get("length")
        if isinstance(shadow, RngShadow) and call.marks.get("words"):
            return int(call.marks["words"][-1]).to_bytes(4, "little")[length % 4 :] if length % 4 else b""
        if not isinstance(shadow, CrypShadow) or shadow.last_text is None:
            return b""
        rest = length % BLOCK_BYTES
        if call.function.mode == "CTR":
            offset = call.marks.get("offset") or 0
            rest = (length - (-offset % BLOCK_BYTES)) % BLOCK_BYTES
        tail = from_words([swapped(w, shadow.fed_datatype) for w in shadow.last_text])[rest:] if rest else b""
        if call.function.mode == "CTR" and shadow.last_in is not None and not any(shadow.last_in):
            behind = self.observer.read_memory(call.get("input") + length, len(tail)) or b""
            return bytes(a ^ b for a, b in zip(tail, behind, strict=False))  # key stream, combined in software
        return tail

    def _check_input(self, shadow: Shadow, call: Call, stamp: Stamp) -> None:
        start, length = call.get("input"), len(call.input_before)
        output = call.get("output", -1)
        if output >= 0 and output < start + length and start < output + call.get("length") + BLOCK_BYTES:
            return
        now = self.observer.read_memory(start, length)
        if now is None or now == call.input_before:
            return
        first = next(i for i in range(length) if now[i] != call.input_before[i])
        if _declared(call, start + first):
            return
        reversed_words = now[first & ~3 : (first & ~3) + 4] == call.input_before[first & ~3 : (first & ~3) + 4][::-1]
        self.found(
            "in-place-overlap",
            shadow,
            stamp,
            "the input was changed",
            f"{call} stored into its own input: byte {first} of {length} at {start + first:#010x} was "
            f"{call.input_before[first]:#04x} and is {now[first]:#04x}"
            + ("; the bytes of a word were reversed in place." if reversed_words else "."),
            call=call,
        )

    # -- hash ----------------------------------------------------------------------------------
    def hash_calculate(self, shadow: HashShadow, stamp: Stamp, message: Message, words: int, nblw: int) -> None:
        """The last word's invalid bits: harmless for the digest, but read from behind the message."""
        call = stamp.call
        if not (self.observer.deep and nblw and call and words and "input" in call.arguments):
            return
        valid = nblw // 8
        extra = swapped(shadow.last_word, shadow.fed_datatype).to_bytes(4, "big")[valid:]
        behind = self.observer.read_memory(call.get("input") + call.get("length"), len(extra))
        if any(extra) and extra == behind:
            self.found(
                "buffer-overrun",
                shadow,
                stamp,
                "bytes behind the message were read",
                f"The last word holds {valid} bytes of message and {extra.hex()} from behind it, at "
                f"{call.get('input') + call.get('length'):#010x}.",
            )


def text_bytes(aead: Aead) -> int:
    """Message length as the last GCM block or B0 of CCM states it."""
    if aead.mode == "GCM":
        block = aead.final[-1]
        return (block[2] << 32 | block[3]) // 8
    if aead.b0 is None:
        return 0
    b0 = from_words(aead.b0)
    size = (b0[0] & 7) + 1
    return int.from_bytes(b0[BLOCK_BYTES - size :], "big")


def aad_prefix(size: int) -> bytes:
    """The length bytes that CCM puts before additional data (SP 800-38C, A.2.2)."""
    if size < SHORT_AAD:
        return size.to_bytes(2, "big")
    return b"\xff\xfe" + size.to_bytes(4, "big") if size < LONG_AAD else b"\xff\xff" + size.to_bytes(8, "big")


def _declared(call: Call, address: int) -> bool:
    """The address lies in another argument that the call may write. A context behind the buffer counts, too."""
    sizes = (
        ("iv", 16),
        ("stream", 16),
        ("off", 4),
        ("olen", 4),
        ("tag", call.get("tag_length")),
        ("ctx", CONTEXT_MOST),
    )
    return any(start and start <= address < start + size for role, size in sizes if (start := _start(call, role)))


def _start(call: Call, role: str) -> int:
    """Where an argument lies; a context only when it lies behind the output."""
    start = call.get(role)
    return 0 if role == "ctx" and start < call.get("output") else start
