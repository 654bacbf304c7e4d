"""The vendor's HAL for CRYP, HASH and RNG, both interfaces; the handle is the context.

The older one (F4: until release 1.7.4) has a function for each algorithm and direction; the later one
has `HAL_CRYP_Encrypt` and `HAL_CRYP_Decrypt`, and the handle says the algorithm and whether a size counts words. A
hash function begins a message or goes on with it as the handle's phase says. The handle's IV is no role: the
functions never hand one back, and calls that go on do not take it. Source: the public headers of the HAL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cryplab.observe.api import Function, line

__all__ = ["CRYP", "FUNCTIONS", "HASH", "HASHES", "MODES", "RNG"]

CRYP, HASH, RNG = "CRYP_HandleTypeDef", "HASH_HandleTypeDef", "RNG_HandleTypeDef"
MODES = {
    0x00: "TDES-ECB", 0x08: "TDES-CBC", 0x10: "DES-ECB", 0x18: "DES-CBC", 0x20: "AES-ECB", 0x28: "AES-CBC",
    0x30: "AES-CTR",
}  # fmt: skip
"Of CR.ALGOMODE, as `Init.Algorithm` has it. GCM and CCM may come in several calls, so a call's length says nothing."
HASHES = {"MD5": "HASH_MD5", "SHA1": "HASH_SHA1", "SHA224": "HASHEx_SHA224", "SHA256": "HASHEx_SHA256"}
"Names of algorithms in functions, and how the functions of that algorithm begin behind `HAL_`."
ALGORITHMS = {"MD5": "MD5", "SHA1": "SHA-1", "SHA224": "SHA-256", "SHA256": "SHA-256"}
READY, PROCESS = 1, 2
"Phases of a HASH handle: before a message, in one."
BLOCKING, STARTED = ("",), ("_IT", "_DMA")


def _of(handle: str, functions: Iterator[Function]) -> Iterator[Function]:
    for function in functions:
        yield replace(function, handle=handle, driver=True)


def _cryp() -> Iterator[Function]:
    yield line("init", "HAL_CRYP_Init", "", "ctx")
    yield line("free", "HAL_CRYP_DeInit", "", "ctx")
    for word in ("Encrypt", "Decrypt"):
        for end in (*BLOCKING, *STARTED):
            arguments = "ctx input length output unit@Init.DataWidthUnit mode_bits@Init.Algorithm"
            made = line("crypt", f"HAL_CRYP_{word}{end}", "", arguments, f"{word.lower()}")
            yield replace(made, modes=MODES)
            for mode in ("AESECB", "AESCBC", "AESCTR", "DESECB", "DESCBC", "TDESECB", "TDESCBC"):
                what = f"{mode[:-3]}-{mode[-3:]}"
                yield line("crypt", f"HAL_CRYP_{mode}_{word}{end}", what, "ctx input length output", word.lower())
            for mode in ("GCM", "CCM"):
                name = f"HAL_CRYPEx_AES{mode}_{word}{end}"
                yield line("crypt", name, "AES", "ctx input length output", word.lower())
    for name in ("AESGCM_Finish", "AESCCM_Finish", "AESGCM_GenerateAuthTAG", "AESCCM_GenerateAuthTAG"):
        yield line("finish", f"HAL_CRYPEx_{name}", "AES", "ctx")
    for name in ("CRYP", "CRYPEx_GCMCCM"):
        yield line("interrupt", f"HAL_{name}_IRQHandler", "", "ctx")


def _hash(name: str, prefix: str) -> Iterator[Function]:
    what, in_phase = ALGORITHMS[name], "phase@Phase"
    last = {READY: "crypt", PROCESS: "finish"}
    part = {READY: "starts", PROCESS: "update"}
    for end in (*BLOCKING, "_IT"):
        for start in ("Start", "Accmlt_End"):
            made = line("update", f"HAL_{prefix}_{start}{end}", what, f"ctx input length output {in_phase}")
            yield replace(made, stages=last)
        for start in ("Accumulate", "Accmlt"):
            yield replace(
                line("update", f"HAL_{prefix}_{start}{end}", what, f"ctx input length {in_phase}"), stages=part
            )
    yield line("update", f"HAL_{prefix}_Start_DMA", what, "ctx input length")
    yield line("read", f"HAL_{prefix}_Finish", what, "ctx output")
    keyed = "ctx input length output key@Init.pKey key_bytes@Init.KeySize"
    for end in (*BLOCKING, "_IT"):
        yield line("crypt", f"HAL_{prefix.replace('HASH', 'HMAC')}_Start{end}", f"HMAC-{what}", keyed)
    for start in ("Start", "Step1_2", "Step2", "Step2_3"):
        prefix_of_steps = prefix if start == "Start" else f"HASHEx_{name}"
        function = f"HAL_{prefix_of_steps.replace('HASH', 'HMAC')}_{start}_DMA"
        yield line("update", function, f"HMAC-{what}", "ctx input length")


def _hashes() -> Iterator[Function]:
    yield line("init", "HAL_HASH_Init", "", "ctx")
    yield line("free", "HAL_HASH_DeInit", "", "ctx")
    for name, prefix in HASHES.items():
        yield from _hash(name, prefix)
    yield line("save", "HAL_HASH_ContextSaving", "", "ctx")
    yield line("restore", "HAL_HASH_ContextRestoring", "", "ctx")
    for name in ("HASH", "HASHEx"):
        yield line("interrupt", f"HAL_{name}_IRQHandler", "", "ctx")


def _random() -> Iterator[Function]:
    yield line("init", "HAL_RNG_Init", "RNG", "ctx")
    yield line("free", "HAL_RNG_DeInit", "RNG", "ctx")
    yield line("random", "HAL_RNG_GenerateRandomNumber", "RNG", "ctx output length=4")
    # these hand their word back as the result, or later: what they return says nothing of success
    yield line("word", "HAL_RNG_GetRandomNumber", "RNG", "ctx")
    yield line("word", "HAL_RNG_GetRandomNumber_IT", "RNG", "ctx")
    yield line("word", "HAL_RNG_GenerateRandomNumber_IT", "RNG", "ctx")
    yield line("interrupt", "HAL_RNG_IRQHandler", "RNG", "ctx")


FUNCTIONS: tuple[Function, ...] = (*_of(CRYP, _cryp()), *_of(HASH, _hashes()), *_of(RNG, _random()))
