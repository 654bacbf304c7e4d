"""wolfCrypt, release 4 and 5 (3.x where the names are the same).

The IV lives in the context: a step that brings one sets it first (`wc_AesSetIV`, or the key again with it where that
is not linked), a step without one goes on. The key of single DES decides the direction of ECB. Keys of triple DES have
24 bytes; for one of 16 the first third stands last, too. There is no HMAC in one call: it is made of parts on a
context that lives for the step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from cryplab.check.api import Argument, Buffer, Call, Chain, Context, Plan, Status
from cryplab.check.api.mbedtls import DIGEST_BYTES, text_buffers
from cryplab.check.script import Step
from cryplab.symbols import Symbols

__all__ = ["ERRORS", "HASHES", "HMAC_TYPES", "TYPES", "WolfCrypt"]

WORD = 1 << 32
AES_ENCRYPTION, AES_DECRYPTION = 0, 1
INVALID_DEVID = -2
OVER_ALLOCATED = 4096
"Bytes for a context whose size the firmware does not tell."
HASHES = {
    "MD5": "Md5", "SHA-1": "Sha", "SHA-224": "Sha224", "SHA-256": "Sha256", "SHA-384": "Sha384", "SHA-512": "Sha512",
}  # fmt: skip
"As function names have them."
HMAC_TYPES = {"MD5": 3, "SHA-1": 4, "SHA-224": 5, "SHA-256": 6, "SHA-384": 7, "SHA-512": 8}
"enum wc_HashType, where it is not that of a FIPS build"
TYPES = {
    "AES": "Aes", "GCM": "Aes", "CCM": "Aes", "DES": "Des", "DES3": "Des3", "HMAC": "Hmac", "HASH-DRBG": "WC_RNG",
    **{name: f"wc_{part}" for name, part in HASHES.items()},
}  # fmt: skip
"C type of a kind of context."
AES_MODES = {
    "CBC": ("wc_AesCbcEncrypt", "wc_AesCbcDecrypt"), "CTR": ("wc_AesCtrEncrypt", "wc_AesCtrEncrypt"),
    "CFB": ("wc_AesCfbEncrypt", "wc_AesCfbDecrypt"), "OFB": ("wc_AesOfbEncrypt", "wc_AesOfbDecrypt"),
}  # fmt: skip
PREFIXES = {"AES": "wc_Aes", "DES": "wc_Des_", "DES3": "wc_Des3_"}
"What the names of key, IV and cipher functions begin with."
DIRECT = ("wc_AesEncryptDirect", "wc_AesDecryptDirect")
ECB = ("wc_AesEcbEncrypt", "wc_AesEcbDecrypt")
ONLY_IN_PLACE = "wolfCrypt promises input and output apart or at one place, not over each other"
SHORTEST_GCM_TAG = 12
"WOLFSSL_MIN_AUTH_TAG_SZ, unless the firmware was compiled with another."
SEED_STATE_BYTES = 16
ERRORS = {
    -105: "RAN_BLOCK_E", -106: "BAD_MUTEX_E", -107: "WC_TIMEOUT_E", -125: "MEMORY_E", -132: "BUFFER_E",
    -173: "BAD_FUNC_ARG", -174: "NOT_COMPILED_IN", -180: "AES_GCM_AUTH_E", -181: "AES_CCM_AUTH_E",
    -199: "RNG_FAILURE_E", -209: "DRBG_CONT_FIPS_E", -279: "BAD_LENGTH_E",
}  # fmt: skip
NOT_COMPILED_IN = -174


class WolfCrypt:
    """The adapter for one firmware.

    Args:
        symbols: of the firmware.
        sizes: bytes of the types in TYPES by name, as far as known.
        returning: functions of `maybe_void` that return a status.
    """

    name = "wolfcrypt"
    keeps_refused = frozenset({"GCM"})

    def __init__(self, symbols: Symbols, sizes: Mapping[str, int], returning: Collection[str] = ()) -> None:
        self._symbols, self._sizes, self._returning = symbols, sizes, returning
        self.prepare: tuple[str, ...] = ("wolfCrypt_Init",) if "wolfCrypt_Init" in symbols else ()

    @staticmethod
    def maybe_void() -> list[str]:
        """Functions that returned nothing in some releases."""
        return [*DIRECT, *(f"wc_{name}" for part in HASHES.values() for name in (f"Init{part}", f"{part}Update"))]

    def _returns(self, function: str) -> Literal["status", "nothing"]:
        return "status" if function in self._returning or function not in self.maybe_void() else "nothing"

    def _has(self, *names: str) -> bool:
        return all(name in self._symbols for name in names)

    # -- what is needed ------------------------------------------------------------------------
    def entries(self) -> Collection[str]:
        """Set-up of a key, a hash or a generator, and everything in one call."""
        names = {f"wc_{name}" for part in HASHES.values() for name in (f"Init{part}", f"Init{part}_ex", f"{part}Hash")}
        names |= {f"wc_{name}SetKey" for name in ("Aes", "AesGcm", "AesCcm", "Des_", "Des3_", "Hmac")}
        return sorted(names | {"wc_AesInit", "wc_Des3Init", "wc_HmacInit", "wc_InitRng", "wc_GenerateSeed"})

    def needs(self, kind: str) -> tuple[str, ...] | None:
        """See `Api.needs`."""
        name, _, what = kind.partition(" ")
        if kind == "GCM starts decrypt":
            return None
        if what == "hmac" or name.startswith("HMAC-"):
            return ("wc_HmacSetKey", "wc_HmacUpdate", "wc_HmacFinal")
        if name in HASHES:
            return self._hash_needs(HASHES[name], what)
        if name in ("GCM", "CCM"):
            return self._aead_needs(name, what)
        if name.startswith("AES"):
            return self._aes_needs(name[4:], what)
        if name.startswith("DES"):
            return self._des_needs(name, what)
        if name == "POLL":
            return ("wc_GenerateSeed",)
        return (self._init("Rng"), "wc_RNG_GenerateBlock") if name == "HASH-DRBG" else None

    def _hash_needs(self, part: str, what: str) -> tuple[str, ...]:
        if what == "digest" and self._has(f"wc_{part}Hash"):
            return (f"wc_{part}Hash",)
        if what == "clone":
            return (f"wc_{part}Copy",)
        return (f"wc_{part}Free",) if what == "life" else (self._init(part), f"wc_{part}Update", f"wc_{part}Final")

    def _init(self, what: str) -> str:
        """Both are public; compilers put the shorter one in line."""
        short = f"wc_Init{what}"
        return f"{short}_ex" if self._has(f"{short}_ex") and not self._has(short) else short

    @staticmethod
    def _aead_needs(name: str, what: str) -> tuple[str, ...]:
        prefix = f"wc_Aes{name.capitalize()}"
        if what == "starts":
            return tuple(f"{prefix}Encrypt{part}" for part in ("Init", "Update", "Final"))
        ends = {"seal": ("Encrypt",), "unseal": ("Decrypt",), "life": ()}.get(what, ("SetKey",))
        return tuple(f"{prefix}{end}" for end in ends)

    def _aes_needs(self, mode: str, what: str) -> tuple[str, ...]:
        if what == "life":
            return ("wc_AesInit", "wc_AesFree")
        if mode == "ECB":
            return (self._aes_ecb()[0],)
        if mode:
            return (self._set_iv("wc_Aes"), AES_MODES[mode][0])
        if what == "decryption key":
            able = [name for name in (AES_MODES["CBC"][1], DIRECT[1], ECB[1]) if self._has(name)]
            return ("wc_AesSetKey", (able or [AES_MODES["CBC"][1]])[0])
        return ("wc_AesSetKey",)

    def _aes_ecb(self) -> tuple[str, str]:
        """Single blocks: wolfCrypt calls them direct; ECB of several is compiled in with an option of its own."""
        return ECB if self._has(ECB[0]) and not self._has(DIRECT[0]) else DIRECT

    def _set_iv(self, prefix: str) -> str:
        """What sets an IV: the function for it, else that of the key."""
        alone, with_key = f"{prefix}SetIV", f"{prefix}SetKey"
        return with_key if self._has(with_key) and not self._has(alone) else alone

    def _des_needs(self, name: str, what: str) -> tuple[str, ...]:
        module, _, mode = name.partition("-")
        prefix = "wc_Des3" if module == "DES3" else "wc_Des"
        if what == "life":
            return (f"{prefix}Init", f"{prefix}Free") if module == "DES3" else ()
        if mode == "CBC":
            return (self._set_iv(f"{prefix}_"), f"{prefix}_CbcEncrypt", f"{prefix}_CbcDecrypt")
        return (f"{prefix}_EcbEncrypt",) if mode else (f"{prefix}_SetKey",)

    # -- contexts and errors -------------------------------------------------------------------
    def context_bytes(self, kind: str) -> int:
        """From the firmware's debug information, else more than any version has."""
        if kind == "POLL":
            return SEED_STATE_BYTES
        return self._sizes.get(TYPES["HMAC" if kind.startswith("HMAC-") else kind], OVER_ALLOCATED)

    def status(self, value: int) -> Status:
        """0 is success; errors are negative."""
        if value == 0:
            return "ok"
        return "unsupported" if _signed(value) == NOT_COMPILED_IN else "refused"

    def error(self, value: int) -> str:
        """`-173 (BAD_FUNC_ARG)`."""
        number = _signed(value)
        return f"{number} ({ERRORS[number]})" if number in ERRORS else str(number)

    # -- steps ---------------------------------------------------------------------------------
    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """See `Api.plan`."""
        chain = chains.get(step.context, Chain())
        if step.does in ("digest", "hmac"):
            return self._whole(step)
        if chain.kind.startswith("HMAC-"):
            return self._hmac(step, chain)
        if chain.kind in HASHES:
            return self._hash(step, chain.kind)
        if chain.kind in ("POLL", "HASH-DRBG"):
            return self._random(step, chain.kind)
        if step.does == "open":
            return self._open(step, chain.kind)
        if step.does == "free":
            return self._free(step, {"DES": "", "DES3": "wc_Des3Free"}.get(chain.kind, "wc_AesFree"))
        if chain.kind in ("GCM", "CCM"):
            return self._aead(step, chain.kind)
        return self._set_key(step, chain) if step.does == "setkey" else self._crypt(step, chain)

    def _open(self, step: Step, kind: str) -> Plan:
        """A firmware that never calls `init`, and single DES, which has none, have zeroed contexts."""
        function = {"DES": "", "DES3": "wc_Des3Init"}.get(kind, "wc_AesInit")
        if not function or not self._has(function):
            return Plan(clear=(step.context,))
        return Plan((Call(function, (Context(step.context), 0, INVALID_DEVID)),))

    def _free(self, step: Step, function: str) -> Plan:
        return Plan((Call(function, (Context(step.context),), "nothing"),)) if self._has(function) else Plan()

    # -- AES, DES ------------------------------------------------------------------------------
    def _set_key(self, step: Step, chain: Chain) -> Plan:
        chain.key = step.key + step.key[:8] if chain.kind == "DES3" and len(step.key) == 16 else step.key
        chain.own = AES_ENCRYPTION if step.encrypt else AES_DECRYPTION
        return Plan((self._key_call(step, chain, 0),), (Buffer("key", chain.key, offset=step.place.key),))

    @staticmethod
    def _key_call(step: Step, chain: Chain, iv: Argument) -> Call:
        size = (len(chain.key),) if chain.kind == "AES" else ()
        return Call(f"{PREFIXES[chain.kind]}SetKey", (Context(step.context), "key", *size, iv, chain.own))

    def _crypt(self, step: Step, chain: Chain) -> Plan:
        prefix = PREFIXES[chain.kind]
        context, texts = Context(step.context), text_buffers(step.data, step.place)
        calls: list[Call] = []
        buffers = list(texts)
        if step.iv is not None:
            buffers.append(Buffer("iv", step.iv, offset=step.place.iv))
            if (function := self._set_iv(prefix)).endswith("SetKey"):
                buffers.append(Buffer("key", chain.key))
                calls.append(self._key_call(step, chain, "iv"))
            else:
                calls.append(Call(function, (context, "iv"), "nothing" if chain.kind == "DES" else "status"))
        function = self._crypt_function(prefix, step)
        size: tuple[int, ...] = () if function in DIRECT else (len(step.data),)
        calls.append(Call(function, (context, "output", "input", *size), self._returns(function)))
        return Plan(tuple(calls), tuple(buffers), ("output",))

    def _crypt_function(self, prefix: str, step: Step) -> str:
        if step.kind == "ECB" and prefix != "wc_Aes":
            return f"{prefix}EcbEncrypt"
        if prefix == "wc_Aes":
            pair = self._aes_ecb() if step.kind == "ECB" else AES_MODES[step.kind]
            return pair[0 if step.encrypt else 1]
        return f"{prefix}Cbc{'Encrypt' if step.encrypt else 'Decrypt'}"

    # -- GCM, CCM ------------------------------------------------------------------------------
    def _aead(self, step: Step, kind: str) -> Plan:
        prefix, context, place = f"wc_Aes{kind.capitalize()}", Context(step.context), step.place
        if step.does == "setkey":
            call = Call(f"{prefix}SetKey", (context, "key", len(step.key)))
            return Plan((call,), (Buffer("key", step.key, offset=place.key),))
        if step.does in ("starts", "update", "finish"):
            return self._gcm_part(step, prefix)
        if place.output_at:
            return Plan(unsupported=ONLY_IN_PLACE)
        iv, aad = Buffer("iv", step.iv or b"", offset=place.iv), Buffer("aad", step.aad, offset=place.aad)
        seals = step.does == "seal"
        tag = Buffer("tag", bytes(step.length), "out", place.tag) if seals else Buffer("tag", step.tag, "in", place.tag)
        texts = text_buffers(step.data, place)
        arguments = (context, "output", "input", len(step.data), "iv", len(iv.data), "tag", len(tag.data))
        call = Call(f"{prefix}{'Encrypt' if seals else 'Decrypt'}", (*arguments, "aad", len(step.aad)))
        short = kind == "GCM" and len(tag.data) < SHORTEST_GCM_TAG
        why = f"GCM tags of less than {SHORTEST_GCM_TAG} bytes are compiled in by WOLFSSL_MIN_AUTH_TAG_SZ"
        results = ("output", "tag") if seals else ("output",)
        return Plan((call,), (iv, aad, *texts, tag), results, may_refuse=why if short else "")

    @staticmethod
    def _gcm_part(step: Step, prefix: str) -> Plan:
        """Messages in parts (WOLFSSL_AESGCM_STREAM), encryption only: at the end decryption takes the tag."""
        context, place = Context(step.context), step.place
        if step.does == "update":
            call = Call(f"{prefix}EncryptUpdate", (context, "output", "input", len(step.data), 0, 0))
            return Plan((call,), text_buffers(step.data, place), ("output",))
        if step.does == "finish":
            call = Call(f"{prefix}EncryptFinal", (context, "tag", step.length))
            return Plan((call,), (Buffer("tag", bytes(step.length), "out", place.tag),), ("tag",))
        if not step.encrypt:
            return Plan(unsupported="decryption in parts gives no tag, it takes the one to compare with")
        iv, aad = Buffer("iv", step.iv or b"", offset=place.iv), Buffer("aad", step.aad, offset=place.aad)
        start = Call(f"{prefix}EncryptInit", (context, 0, 0, "iv", len(iv.data)))
        more = Call(f"{prefix}EncryptUpdate", (context, 0, 0, 0, "aad", len(step.aad)))
        return Plan((start, more), (iv, aad))

    # -- hashes --------------------------------------------------------------------------------
    def _hash(self, step: Step, kind: str) -> Plan:
        part, context = HASHES[kind], Context(step.context)
        if step.does == "open":
            return Plan()
        if step.does == "free":
            return self._free(step, f"wc_{part}Free")
        if step.does == "clone":
            return Plan((Call(f"wc_{part}Copy", (Context(step.source), context)),))
        return self._parts(step, context, kind, (step.does,))

    def _parts(self, step: Step, context: Argument, kind: str, does: Iterable[str]) -> Plan:
        """Calls of a message in parts; `context` may be a buffer."""
        part = HASHES[kind]
        begin = self._init(part)
        functions: dict[str, tuple[str, tuple[Argument, ...]]] = {
            "starts": (begin, (context, *self._alone(begin))),
            "update": (f"wc_{part}Update", (context, "input", len(step.data))),
            "finish": (f"wc_{part}Final", (context, "output")),
        }
        calls = tuple(Call(name, words, self._returns(name)) for name, words in (functions[do] for do in does))
        buffers: tuple[Buffer, ...] = ()
        if "update" in does:
            buffers += (Buffer("input", step.data, offset=step.place.input),)
        if "finish" not in does:
            return Plan(calls, buffers)
        return Plan(calls, (*buffers, _digest(step, kind)), ("output",))

    def _whole(self, step: Step) -> Plan:
        """A digest or an HMAC of one message."""
        kind = step.kind
        data = Buffer("input", step.data, offset=step.place.input)
        if step.does == "hmac":
            bound = Buffer("hmac", bytes(self.context_bytes("HMAC-")), "out" if self._has("wc_HmacInit") else "inout")
            key = Buffer("key", step.key, offset=step.place.key)
            calls = (
                *self._hmac_init("hmac"), Call("wc_HmacSetKey", ("hmac", HMAC_TYPES[kind], "key", len(step.key))),
                Call("wc_HmacUpdate", ("hmac", "input", len(step.data))), Call("wc_HmacFinal", ("hmac", "output")),
            )  # fmt: skip
            return Plan(calls, (bound, key, data, _digest(step, kind)), ("output",))
        if self._has(f"wc_{HASHES[kind]}Hash"):
            call = Call(f"wc_{HASHES[kind]}Hash", ("input", len(step.data), "output"))
            return Plan((call,), (data, _digest(step, kind)), ("output",))
        plan = self._parts(step, "hash", kind, ("starts", "update", "finish"))
        return Plan(plan.calls, (Buffer("hash", bytes(self.context_bytes(kind)), "out"), *plan.buffers), plan.results)

    @staticmethod
    def _alone(function: str) -> tuple[int, ...]:
        """Heap and device of a function that takes them: none."""
        return (0, INVALID_DEVID) if function.endswith("_ex") else ()

    def _hmac_init(self, context: Argument) -> tuple[Call, ...]:
        return (Call("wc_HmacInit", (context, 0, INVALID_DEVID)),) if self._has("wc_HmacInit") else ()

    def _hmac(self, step: Step, chain: Chain) -> Plan:
        """After `wc_HmacFinal` a context is ready for another message under its key, as PBKDF2 uses it."""
        context, kind = Context(step.context), chain.kind[5:]
        if step.does == "open":
            calls = self._hmac_init(context)
            return Plan(calls, clear=() if calls else (step.context,))
        if step.does == "free":
            return self._free(step, "wc_HmacFree")
        if step.does == "update":
            chain.open = True
            data = Buffer("input", step.data, offset=step.place.input)
            return Plan((Call("wc_HmacUpdate", (context, "input", len(step.data))),), (data,))
        if step.does == "finish":
            chain.open = False
            return Plan((Call("wc_HmacFinal", (context, "output")),), (_digest(step, kind),), ("output",))
        if step.does == "reset" and not chain.open:
            return Plan()
        chain.key, chain.open = step.key if step.does == "starts" else chain.key, False
        key = Buffer("key", chain.key, offset=step.place.key)
        return Plan((Call("wc_HmacSetKey", (context, HMAC_TYPES[kind], "key", len(key.data))),), (key,))

    # -- random numbers ------------------------------------------------------------------------
    def _random(self, step: Step, kind: str) -> Plan:
        context = Context(step.context)
        if step.does == "open":
            return Plan(clear=(step.context,))
        if step.does == "seed":
            begin = self._init("Rng")
            return Plan((Call(begin, (context, *self._alone(begin))),))
        if step.does == "free":
            return self._free(step, "wc_FreeRng") if kind == "HASH-DRBG" else Plan()
        function = "wc_GenerateSeed" if kind == "POLL" else "wc_RNG_GenerateBlock"
        output = Buffer("output", bytes(step.length), "out", step.place.output)
        return Plan((Call(function, (context, "output", step.length)),), (output,), ("output",))


def _signed(value: int) -> int:
    return value - WORD if value >= WORD // 2 else value


def _digest(step: Step, kind: str) -> Buffer:
    return Buffer("output", bytes(DIGEST_BYTES[kind]), "out", step.place.output)
