"""Cryptographic processor, version 2 (STM32F437, F439, F479; F7x6, F777, F779)."""

from __future__ import annotations

from typing import ClassVar

from cryplab.algorithms import ccm, gcm
from cryplab.algorithms.swap import arrange
from cryplab.blocks._cryp import Cryp, Plan
from cryplab.registers import Reg, RegArray, rw

__all__ = ["CrypV2"]

PHASES = ("init", "header", "payload", "final")

STREAMS: dict[tuple[str, str, bool], type[gcm.Phase]] = {
    (mode, phase, decrypt): stream
    for mode, phase, streams in (
        ("GCM", "header",  (gcm.GcmHeader, gcm.GcmHeader)),
        ("GCM", "payload", (gcm.GcmEncryption, gcm.GcmDecryption)),
        ("GCM", "final",   (gcm.GcmFinal, gcm.GcmFinal)),
        ("CCM", "init",    (ccm.CcmInit, ccm.CcmInit)),
        ("CCM", "header",  (ccm.CcmHeader, ccm.CcmHeader)),
        ("CCM", "payload", (ccm.CcmEncryption, ccm.CcmDecryption)),
        ("CCM", "final",   (ccm.CcmFinal, ccm.CcmFinal)),
    )
    for decrypt, stream in zip((False, True), streams, strict=True)
}  # fmt: skip
"By mode, phase and CR.ALGODIR; the GCM init phase takes no data."


class CrypV2(Cryp):
    """Cryptographic processor: AES-ECB/CBC/CTR/GCM/CCM with 128, 192 and 256 bits, DES and TDES-ECB/CBC.

    Source: RM0090, chapter CRYP (F437/F439), and what ST's drivers rely on.

    The core holds what its registers show and no more: CSGCMCCM0R to 3R are the running GHASH or CBC-MAC,
    CSGCM0R to 3R the hash key, IV1RR the running counter. J0 is IV0LR, IV0RR, IV1LR, 1.

    Departures: the chaining value and the context-swap state change when a block starts, not when it
    ends (visible only in reads while BUSY). The layout of the context-swap registers beyond 0 to 3 and
    CSGCMCCM7R is ours. For IVs of other lengths than 96 bits J0 is not known; see above. KEYSIZE 3 acts as
    256 bits, reserved modes process nothing. A word written into a full IN FIFO is lost, an empty OUT FIFO and DIN
    with CRYPEN = 1 read as 0. Key preparation takes 14, 16 or 18 cycles (the manual's tables say 12, 14, 16).
    """

    class CR(Cryp.CR):
        """control register"""

        ALGOMODE3 = rw(19, "bit 3 of ALGOMODE: with 0 in bits 5:3 GCM, with 1 CCM")
        GCM_CCMPH = rw(17, 16, "phase of GCM and CCM", values=dict(enumerate(PHASES)))

    class CSGCMCCM(Reg, at=0x50, array=8, names=tuple(f"CSGCMCCM{i}R" for i in range(8))):
        """context swap registers of GCM and CCM: 0 to 3 GHASH or CBC-MAC, 7 counter"""

        CS = rw(31, 0, "state of the core")

    class CSGCM(Reg, at=0x70, array=8, names=tuple(f"CSGCM{i}R" for i in range(8))):
        """context swap registers of GCM: 0 to 3 hash key"""

        CS = rw(31, 0, "state of the core")

    cr: CR
    csgcmccm: RegArray[CSGCMCCM]
    csgcm: RegArray[CSGCM]

    MODES: ClassVar[dict[int, tuple[str, str]]] = {**Cryp.MODES, 8: ("AES", "GCM"), 9: ("AES", "CCM")}

    algorithms: ClassVar[tuple[str, ...]] = (*Cryp.algorithms, "AES-GCM", "AES-CCM")

    CYCLES: ClassVar[dict[tuple[str, str, str, int], int]] = Cryp.CYCLES | {
        ("AES", mode, phase, bits): cycles
        for mode, phase, row in (
            ("GCM", "init",    (24, 28, 32)),
            ("GCM", "header",  (10, 10, 10)),
            ("GCM", "payload", (14, 16, 18)),
            ("GCM", "final",   (14, 16, 18)),
            ("CCM", "init",    (12, 14, 16)),
            ("CCM", "header",  (14, 16, 18)),
            ("CCM", "payload", (25, 29, 33)),
            ("CCM", "final",   (14, 16, 18)),
        )
        for bits, cycles in zip((128, 192, 256), row, strict=True)
    }  # fmt: skip

    GUARDED: ClassVar[int] = Cryp.GUARDED | CR.ALGOMODE3.bits

    SPECIAL_SWAPPED: ClassVar[bool] = True
    "DATATYPE also acts on B0, on counter block 0 and on the lengths, which later versions take as they are."

    def algomode(self) -> int:
        """The whole ALGOMODE field."""
        return self.cr.ALGOMODE3 << 3 | self.cr.ALGOMODE

    def phase(self) -> str:
        """The phase of GCM and CCM."""
        return PHASES[self.cr.GCM_CCMPH] if self._mode in ("GCM", "CCM") else ""

    def padding(self) -> int:
        """Bytes of the last payload block to take as 0: software's business in this version."""
        return 0

    def fill_plan(self, plan: Plan) -> None:
        """The phases of GCM and CCM; all else is common."""
        kind = plan.kind
        if not kind.phase:
            return super().fill_plan(plan)
        special = kind.phase in ("init", "final")
        plan.output = kind.phase in ("payload", "final")
        if kind.phase != "payload":
            plan.data_bytes = 0
        if kind.phase == "init":
            plan.task = kind.mode
            if kind.mode == "GCM":
                plan.words = 0
                return
        if special and not self.SPECIAL_SWAPPED:
            plan.arrange = arrange(0)
        mac, h = self.words_of(self.csgcmccm[:4]), self.words_of(self.csgcm[:4])
        plan.stream = STREAMS[kind.mode, kind.phase, kind.decrypt](
            self.aes_key(), self.words_of(self.iv), int.from_bytes(mac, "big"), int.from_bytes(h, "big"), self.padding()
        )

    def end_task(self, task: str) -> None:
        """The end of an init phase: hash key, and the counter shows."""
        if task == "GCM":
            self._store_state(0, gcm.hash_key(self.aes_key()))
        if task in ("GCM", "CCM"):
            self._show_counter(task)
        super().end_task(task)

    def show_state(self) -> None:
        """Chaining value, hash and counter into the registers."""
        super().show_state()
        plan = self._plan
        if plan is not None and plan.entered and isinstance(plan.stream, gcm.Phase):
            self._store_state(plan.stream.mac, plan.stream.h)
            if plan.kind.phase == "payload":
                self._show_counter(plan.kind.mode)

    def _store_state(self, mac: int, h: int) -> None:
        words = [0] * 4
        for registers, value in ((self.csgcmccm, mac), (self.csgcm, h)):
            self.store_words(words, 0, value.to_bytes(16, "big"))
            for i, word in enumerate(words):
                registers[i].value = word

    def _show_counter(self, mode: str) -> None:
        """CSGCMCCM7R: the next counter, and in GCM one more."""
        self.csgcmccm[7].value = self.iv[3].value + (mode == "GCM") & 0xFFFF_FFFF

    @CSGCMCCM.being_read
    def _read_csgcmccm(self, index: int) -> None:
        self._read_context(self.CSGCMCCM.names[index])

    @CSGCM.being_read
    def _read_csgcm(self, index: int) -> None:
        self._read_context(self.CSGCM.names[index])

    def _read_context(self, register: str) -> None:
        self._catch_up()
        if self._flags.value:
            self.guest_error(f"{self.name}.{register} read while BUSY, the state is in motion", "O5")
        self.show_state()

    @CSGCMCCM.being_written
    def _write_csgcmccm(self, index: int, word: int) -> int | None:
        return self._write_context(self.CSGCMCCM.names[index], word)

    @CSGCM.being_written
    def _write_csgcm(self, index: int, word: int) -> int | None:
        return self._write_context(self.CSGCM.names[index], word)

    def _write_context(self, register: str, word: int) -> int | None:
        self._catch_up()
        if self._flags.value:
            self._refuse(register)
            return None
        self._settle()
        return word
