"""What each rule means, which public cases it goes back to, and how a break is usually repaired.

Cases are numbered as in the project's collection of public faults (drivers for STM32 crypto blocks and close
relatives); each is named by project and chip so that it can be found.
"""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType

from cryplab.errors import UsageError, nearest

__all__ = ["KINDS", "RULES", "Case", "Kind", "Text", "explain"]

COLUMNS = 80


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: what it means in a line, and the usual repair."""

    meaning: str
    repair: str


KINDS: dict[str, Kind] = {
    "context-lost-on-interleave": Kind(
        "state of one context lives in the block and another context takes its place",
        "load key, mode, IV and saved state at the start of every operation, or remember in one global place whose "
        "they are and reload when that is another context",
    ),
    "stale-config-carryover": Kind(
        "a register field left by one operation changes the next one",
        "write every field that the operation depends on, do not OR into what is there; clear what must not stay set",
    ),
    "reset-clobbers-shared": Kind(
        "reset or clock gate of the block while someone else uses it",
        "leave reset and clock alone in free and de-init unless no other context is open",
    ),
    "not-thread-safe": Kind(
        "no lock, or a lock at the wrong level",
        "one lock for the block itself, held from loading the key to reading the result",
    ),
    "irq-race": Kind(
        "an interrupt arrives between two steps, is never cleared, or is enabled with nothing to raise it",
        "mask the interrupt around the steps, or do them in an order that is right at every point",
    ),
    "hash-state-save": Kind(
        "hash context saved or restored at a wrong moment or not whole",
        "wait for BUSY = 0 and DINIS = 1, then save IMR, STR, CR and every context-swap register of this version",
    ),
    "write-while-busy": Kind(
        "control, key or power changed while the block works",
        "wait for BUSY = 0 first",
    ),
    "missing-key-preparation": Kind(
        "decryption with an encryption-form key, or the reverse",
        "ECB and CBC decryption: ALGOMODE = 7, CRYPEN, wait for BUSY = 0, then the mode; every other job needs "
        "the key "
        "written anew after such a preparation",
    ),
    "wrong-register-value": Kind(
        "wrong mode number, mask, shift, register or key position",
        "compare the write with the register's table (`cryplab regs`)",
    ),
    "wrong-data-swap": Kind(
        "byte or word order of key, IV or data",
        "key and IV registers take big-endian words; DATATYPE swaps data words only",
    ),
    "key-lifetime": Kind(
        "key gone or changed before use",
        "copy the key when it is set; do not keep the caller's pointer, do not wipe what later calls need",
    ),
    "iv-not-updated-for-chaining": Kind(
        "the IV kept for the next call is not the block's chaining value",
        "after a call hand back the last ciphertext block (CBC: of input when decrypting, taken before it is "
        "overwritten), or the next counter (CTR)",
    ),
    "ctr-counter": Kind(
        "counter source, width, carry or left-over key stream",
        "keep the next counter, not the last output; carry into the upper words when the low word wraps",
    ),
    "bad-handle-or-argument": Kind(
        "handle not initialised or wiped, arguments swapped, null",
        "check the arguments where they are filled in",
    ),
    "partial-last-block": Kind(
        "last short block or last short word",
        "copy the rest into a zeroed block; set NBLW or NPBLB, or follow the documented sequence of versions "
        "without it",
    ),
    "silicon-erratum": Kind(
        "known limit of the silicon that needs a special sequence",
        "GCM encryption with a short last block on versions without NPBLB: process it in CTR mode, mask the unused "
        "bytes of the result and feed it again in the final phase",
    ),
    "aad-length": Kind(
        "size, unit, order or length block of additional data",
        "the last block of GCM takes both lengths in bits; feed every byte of additional data once, zero padded",
    ),
    "gcm-iv-not-96-bit": Kind(
        "GCM IV of other than 12 bytes",
        "compute J0 by GHASH in software and load J0 + 1, or refuse such IVs",
    ),
    "buffer-overrun": Kind(
        "read or write outside the caller's buffers",
        "move the last bytes through a word of your own",
    ),
    "in-place-overlap": Kind(
        "input changed, or needed after it was overwritten",
        "do not write to the input; save what is needed of it before the output is stored",
    ),
    "zero-length": Kind(
        "empty call or empty message",
        "return early when there is nothing to do, and let the message's total length decide, not the last call's",
    ),
    "hmac-key-handling": Kind(
        "HMAC key stages",
        "feed the same key before and after the text; LKEY = 1 exactly when it is longer than a block",
    ),
    "dma-memory-region": Kind(
        "memory that the DMA cannot reach",
        "copy through memory that the controller reaches, or use the CPU path",
    ),
    "dma-configuration": Kind(
        "wrong width, stride or count",
        "word width at the block's side, its address not incremented, whole blocks",
    ),
    "hash-dma-chunking": Kind(
        "several DMA chunks and the multi-buffer flag",
        "MDMAT = 1 for all transfers but the last; DCAL exactly once",
    ),
    "rng-error-unrecovered": Kind(
        "seed or clock error never recovered",
        "clear SEIS, clear RNGEN and set it again (version 1), then wait for DRDY with no error set",
    ),
    "rng-not-ready-accepted": Kind(
        "word taken with no ready flag, or zero or constant taken as random",
        "before each word: DRDY = 1 and no error; refuse 0 and a word equal to the last one",
    ),
    "rng-init-sequence": Kind(
        "start, conditioning reset, configuration",
        "wait for the first word as long as the block may take; do not start it anew while it runs",
    ),
    "rng-output-handling": Kind(
        "random words obtained but not put in the whole output",
        "loop until every byte of every word is stored, and report how many were",
    ),
    "error-swallowed": Kind("error result lost", "return the error, and test the return value at every level"),
    "clock-not-enabled": Kind(
        "own clock, kernel clock or the clock of a block it depends on",
        "enable the block's clock in RCC before the first access, and its kernel clock within its limits",
    ),
    "feature-missing-on-chip": Kind(
        "mode or block not there on this part",
        "test for the feature, and refuse or do it in software",
    ),
    "silent-software-fallback": Kind(
        "software does the job where hardware was asked for",
        "report it, or refuse",
    ),
    "timeout-units": Kind(
        "limit too short, counted in loops, or tied to a stopped tick",
        "a limit in time, longer than the block's longest legal latency",
    ),
    "handshake-ignored": Kind(
        "data moved without regard to the flags",
        "test the flag before each word or block",
    ),
    "dead-wait": Kind(
        "a flag is polled that nothing will set",
        "bring the block into the state in which the flag comes, and bound the wait",
    ),
    "unknown": Kind("cause not established", "see the register's description in the manual"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A public fault: number, where, chip."""

    id: str
    where: str


@dataclass(frozen=True, slots=True)
class Text:
    """A rule: its name, what it means, cases, repair; `needs` says what it has to see."""

    id: str
    name: str
    meaning: str
    repair: str
    cases: tuple[Case, ...]
    needs: str = "register accesses"

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)

    def render(self) -> list[RenderableType]:
        """Lines for a terminal."""
        lines: list[RenderableType] = [f"{self.id}: {self.name}", "", *_wrapped(self.meaning), ""]
        lines += _wrapped(f"Usual repair: {self.repair}")
        lines += ["", f"Sees: {self.needs}.", "", "Public cases:"]
        return lines + [f"  {case.id}  {case.where}" for case in self.cases]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, break_on_hyphens=False)


CALLS = "register accesses and the calls of a known crypto API"
INJECTED = "error injection"


def _cases(*pairs: tuple[str, str]) -> tuple[Case, ...]:
    return tuple(Case(number, where) for number, where in pairs)


RULES: dict[str, Text] = {
    t.id: t
    for t in (
        Text(
            "O1",
            "owner",
            "Every word written to key, IV, mode and context-swap registers belongs to the context whose call "
            "wrote it. Data "
            "of one context processed under the key, IV, mode or running state of another is a fault, even when "
            "the result "
            "happens to be right. The finding names both contexts, where the data went in and where the other one's "
            "register was written.",
            "Load what the operation depends on at its start, or keep one record per block of whose state is in it.",
            _cases(
                ("B01", "mbed OS, F439 AES"),
                ("B02", "mbed OS, F439 AES, twelve contexts"),
                ("B03", "mbed OS, F439 hashes"),
                ("B05", "wolfSSL, F2/F4/F7 hashes"),
                ("B07", "Linux, MP1 hashes"),
                ("B95", "Linux, too few registers saved"),
            ),
            CALLS,
        ),
        Text(
            "O2",
            "stale field",
            "A field that changes the result is used with a value that an earlier operation left: the algorithm's "
            "other bit, "
            "HMAC mode, a short last word (NBLW), multi-buffer DMA (MDMAT), a phase or direction. INIT and CRYPEN "
            "do not "
            "clear such fields.",
            "Write the whole register at the start of an operation instead of setting bits in it.",
            _cases(
                ("B08", "mbed OS, SHA-256 then MD5"),
                ("B09", "embassy, HMAC then hash"),
                ("B11", "TF-A, NBLW"),
                ("B12", "ST L4 HAL, phase"),
                ("B15", "F439, DMA then CPU"),
            ),
        ),
        Text(
            "O3",
            "bytes of data",
            "Bytes that reach DIN come from the declared input, each once; what is stored stays inside the "
            "declared output. "
            "Bytes behind the message in an authenticated last block change the tag. In `run` only matches beyond "
            "doubt are reported; `check` gives buffers unique contents and sees the rest.",
            "Move the last bytes through a zeroed block of your own, and store only what belongs to the output.",
            _cases(
                ("B54", "ST H7 HAL, GCM decryption"),
                ("B57", "wolfSSL, H7 GCM"),
                ("B66", "zephyr, tag overwritten"),
                ("B47", "wolfSSL, input reversed in place"),
                ("B79", "embassy, AAD block fed twice"),
            ),
            CALLS,
        ),
        Text(
            "O4",
            "handshake",
            "DIN written with the FIFO full, DOUT or HR read before the result is there, a digest read though "
            "status was "
            "never looked at, DCAL given twice.",
            "Test the flag that the manual names before each step.",
            _cases(("B94", "wolfSSL, F437 FIFO depth"), ("B29", "embassy, completion flag")),
        ),
        Text(
            "O5",
            "write while busy",
            "Control, key, IV or context-swap registers touched while BUSY = 1: writes are ignored, reads give a "
            "state in "
            "motion. A context saved without having seen the block idle is the same fault, found by luck of timing.",
            "Wait for BUSY = 0.",
            _cases(("B92", "wolfSSL, 65 bytes then one"), ("B135", "ST U5 HAL"), ("B156", "embassy, SAES")),
        ),
        Text(
            "O6",
            "key and IV readiness",
            "The key words that KEYSIZE or the mode needs were not all written, are in other registers (a 128-bit "
            "AES key "
            "belongs in K2 and K3), or are not the key that the call's context was given; IV registers never written.",
            "Key and IV of the right size into the registers that the manual's key table names.",
            _cases(
                ("B27", "libopencm3, key in K0 and K1"),
                ("B31", "wolfSSL, KEYSIZE lost"),
                ("B64", "wolfSSL, GCM IV length"),
            ),
        ),
        Text(
            "O7",
            "key preparation",
            "ECB or CBC decryption while the key registers hold the encryption key, or any other job after a "
            "preparation "
            "without the key written anew.",
            "Run ALGOMODE = 7 after the key was written, for AES-ECB and AES-CBC decryption only.",
            _cases(
                ("B22", "wolfSSL, CBC decryption"),
                ("B23", "wolfSSL, L4"),
                ("B28", "embassy, preparation for encryption"),
            ),
        ),
        Text(
            "O8",
            "lengths",
            "Bytes counted at the block against what the message says: the GCM length block, B0 and B1 of CCM, "
            "NBLW, the parts "
            "of an HMAC, a phase left out, a short last block without the sequence that this version needs.",
            "Count bits where the manual says bits, and count what was fed, not what was meant.",
            _cases(
                ("B80", "embassy, bytes for bits"),
                ("B55", "wolfSSL, short GCM block"),
                ("B59", "F437, short GCM block"),
                ("B58", "zephyr, CCM"),
                ("B62", "libopencm3, NBLW"),
                ("B91", "Linux, HMAC key"),
                ("B89", "Linux, empty"),
            ),
            CALLS,
        ),
        Text(
            "O9",
            "chaining",
            "The IV or counter that a call hands back, and the one that the next call loads, is the block's own "
            "chaining "
            "value: last ciphertext block, next counter.",
            "Take the chaining value from the IV registers or from the last ciphertext block, in byte order.",
            _cases(
                ("B41", "mbed CE, first block kept"),
                ("B43", "mbed OS, IV never updated"),
                ("B44", "wolfSSL, decryption"),
                ("B46", "wolfSSL, in place"),
                ("B38", "mbed CE, word order"),
                ("B90", "mbed CE, zero bytes"),
            ),
            CALLS,
        ),
        Text(
            "O10",
            "counter reuse",
            "The block counts in 32 bits: when IV1RR wraps in CTR mode the upper words must be rewritten by "
            "software. The same "
            "counter used twice inside one call gives the same key stream twice.",
            "Split the data where the low word wraps and carry into the upper words.",
            _cases(("B51", "Linux, wrap"), ("B52", "Linux, 16-bit counter"), ("B50", "OP-TEE, left-over key stream")),
        ),
        Text(
            "O11",
            "dead wait",
            "The firmware polls a flag for which nothing is pending, or an interrupt returns with its cause still "
            "set, again "
            "and again.",
            "Bring the block into the state in which the flag comes, and bound every wait.",
            _cases(("B102", "zephyr, WL55 boot"), ("B63", "RT-Thread"), ("B60", "ST H7 HAL"), ("B119", "zephyr, H743")),
        ),
        Text(
            "O12",
            "clocks and resets",
            "A block touched with its clock off or held in reset, its kernel clock stopped or out of range, or "
            "reset while "
            "another context is open in it.",
            "Enable clocks first; do not reset a shared block.",
            _cases(
                ("B117", "RT-Thread, F407 RNG"),
                ("B126", "wolfSSL, F427 RNG"),
                ("B16", "mbed OS, free resets the block"),
                ("B122", "zephyr, slow kernel clock"),
            ),
        ),
        Text(
            "O13",
            "re-entrancy",
            "Two threads, or a thread and an interrupt handler, use the block inside one open operation.",
            "One lock for the block, from loading the key to reading the result.",
            _cases(("B18", "wolfSSL, two links"), ("B19", "wolfSSL, no mutex"), ("B21", "piksi, RNG")),
            CALLS,
        ),
        Text(
            "O14",
            "interrupt points",
            "An interrupt handler changes a control register between a thread's read and write of the same "
            "register, so that "
            "one of the two changes is lost. A value that was read to save a context, or in a call that has ended, is "
            "restored, not lost. Injection delivers an interrupt after each access to find the rest.",
            "Mask the interrupt around read-modify-write.",
            _cases(("B119", "zephyr, H743 pool"), ("B120", "zephyr, suspended RNG")),
        ),
        Text(
            "O15",
            "DMA",
            "A stream for DIN or DOUT whose memory the controller cannot reach, whose items are not words, that "
            "increments the "
            "block's address, or moves no whole number of blocks.",
            "Word width at the block, memory that the bus matrix reaches, whole blocks.",
            _cases(("B86", "H5 HASH, byte width"), ("B158", "RIOT, data in flash"), ("B159", "CHIP, AAD in flash")),
        ),
        Text(
            "O16",
            "random words",
            "Every random word comes from one read of DR made with DRDY = 1 and no error; 0 and a repeated word "
            "are refused; a "
            "random function that read no word, or left part of its output as it was, has made no random numbers.",
            "Check DRDY and the error flags for each word, and the word itself.",
            _cases(
                ("B109", "OP-TEE, four words on one flag"),
                ("B110", "OP-TEE, zero"),
                ("B128", "F429, the same number"),
                ("B100", "wallet firmware, no RNG behind it"),
                ("B106", "embassy"),
                ("B113", "Linux, last word"),
            ),
            CALLS,
        ),
        Text(
            "O17",
            "RNG errors",
            "After a seed error no word may be used until the sequence of this version was done: SEIS cleared, "
            "RNGEN off and "
            "on. Polling on with SEIS set waits for ever.",
            "Do the whole recovery, in bounded time.",
            _cases(
                ("B101", "wallet firmware, L4"),
                ("B103", "embassy, SEIS never cleared"),
                ("B115", "Hubris, sticky flag"),
                ("B116", "NuttX"),
            ),
        ),
        Text(
            "O18",
            "errors reported",
            "When the block or the DMA reports an error, the function must not return success.",
            "Return the error, and test the return value at every level.",
            _cases(("B114", "Linux, wrong test"), ("B124", "mbed OS, DeviceKey"), ("B157", "wolfSSL, CTR")),
            CALLS,
        ),
        Text(
            "O19",
            "capability and write-back",
            "A value without meaning on this part, a reserved bit, a field that does not read back as written, or "
            "a mode that "
            "is not the one that was asked for.",
            "Compare with the register's table; test that the feature is there.",
            _cases(
                ("B25", "libopencm3, mode mask"),
                ("B28", "embassy, DES mode number"),
                ("B30", "OP-TEE, unshifted field"),
                ("B147", "AES without 192 bits"),
                ("B149", "parts without CRYP"),
            ),
        ),
        Text(
            "O20",
            "PKA operands",
            "Operands of the public key accelerator: each word written for this operation, lengths that agree, no "
            "overlap. Not "
            "judged yet: no chip here has a PKA model.",
            "See the operand table of the operation.",
            _cases(("B139", "wolfSSL, P-521"), ("B136", "wolfSSL, U5")),
            "a PKA block",
        ),
        Text(
            "O21",
            "lifetime",
            "A pointer to key, IV or header is kept and read later; what lies there then is another value.",
            "Copy what is needed when it is given.",
            _cases(("B37", "ST U5 HAL"), ("B40", "Linux, key wiped")),
            CALLS,
        ),
        Text(
            "O22",
            "time",
            "A function gives up although the block is healthy and only needs the time that it may take.",
            "A limit in time, above the longest legal latency.",
            _cases(("B112", "OP-TEE, first word"), ("B123", "mbed OS, first word"), ("B155", "zephyr, loop count")),
            CALLS,
        ),
    )
}


def explain(rule: str) -> Text:
    """The text of a rule. Raises: UsageError naming the nearest one."""
    text = RULES.get(rule.upper())
    if text is None:
        raise UsageError(f"there is no rule '{rule}', only O1 to O22{nearest(rule, RULES)}")
    return text
