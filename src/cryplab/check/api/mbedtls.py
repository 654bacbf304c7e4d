"""mbed TLS, legacy API of release 2.28 (and 3.x where names differ only by `_ret`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from cryplab.check.api import Argument, Buffer, Call, Chain, Context, Function, Plan, Status
from cryplab.check.script import Place, Step
from cryplab.symbols import Symbols

__all__ = ["KINDS", "MbedTls"]

WORD = 1 << 32
CIPHER_ID_AES = 2
ENCRYPT, DECRYPT = 1, 0
# MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED, and what single modules had before it
UNSUPPORTED = {-0x0072, -0x0023, -0x0033}
OVER_ALLOCATED = 4096
"Bytes for a context whose size the firmware does not tell."
HASH_MODULES = {
    "MD5": ("md5", ()), "SHA-1": ("sha1", ()), "SHA-224": ("sha256", (1,)), "SHA-256": ("sha256", (0,)),
    "SHA-384": ("sha512", (1,)), "SHA-512": ("sha512", (0,)),
}  # fmt: skip
"Module and the argument that tells SHA-224 from SHA-256."
MD_TYPES = {"MD5": 3, "SHA-1": 4, "SHA-224": 5, "SHA-256": 6, "SHA-384": 7, "SHA-512": 8}
"mbedtls_md_type_t"
DIGEST_BYTES = {"MD5": 16, "SHA-1": 20, "SHA-224": 28, "SHA-256": 32, "SHA-384": 48, "SHA-512": 64}
BLOCK_BYTES = {"AES": 16, "DES": 8, "DES3": 8}
MODULES = {"AES": "aes", "DES": "des", "DES3": "des3", "GCM": "gcm", "CCM": "ccm", "CTR-DRBG": "ctr_drbg"}
AES_MODES = {
    "ECB": "mbedtls_aes_crypt_ecb", "CBC": "mbedtls_aes_crypt_cbc", "CTR": "mbedtls_aes_crypt_ctr",
    "CFB": "mbedtls_aes_crypt_cfb128", "OFB": "mbedtls_aes_crypt_ofb",
}  # fmt: skip
SETKEYS = {
    "AES": ("mbedtls_aes_setkey_enc", "mbedtls_aes_setkey_dec"),
    "DES": ("mbedtls_des_setkey_enc", "mbedtls_des_setkey_dec"),
    "DES3-16": ("mbedtls_des3_set2key_enc", "mbedtls_des3_set2key_dec"),
    "DES3-24": ("mbedtls_des3_set3key_enc", "mbedtls_des3_set3key_dec"),
}
KINDS = (
    "AES",
    "DES",
    "DES3",
    "GCM",
    "CCM",
    *HASH_MODULES,
    *(f"HMAC-{name}" for name in HASH_MODULES),
    "CTR-DRBG",
    "HASH-DRBG",
    "POLL",
)
"Every kind of context that can be opened."


class MbedTls:
    """The adapter for one firmware.

    Args:
        symbols: of the firmware.
        sizes: bytes of the library's context types by name, as far as known.
        returning: functions of `maybe_void` that return a status.
    """

    name = "mbedtls"
    prepare: tuple[str, ...] = ()
    keeps_refused: frozenset[str] = frozenset()

    def __init__(self, symbols: Symbols, sizes: Mapping[str, int], returning: Collection[str] = ()) -> None:
        self._symbols, self._sizes, self._returning = symbols, sizes, returning

    @staticmethod
    def maybe_void() -> list[str]:
        """Functions that returned nothing before release 2.7, and had no twin ending in `_ret` yet."""
        modules = sorted({module for module, _ in HASH_MODULES.values()})
        return [f"mbedtls_{module}{part}" for module in modules for part in ("", "_starts", "_update", "_finish")]

    def _returns(self, function: str) -> Literal["status", "nothing"]:
        return "status" if function.endswith("_ret") or function in self._returning else "nothing"

    def _hash_function(self, name: str) -> str:
        """2.28 has both spellings and deprecates the bare one; 3.x has only that."""
        return f"{name}_ret" if f"{name}_ret" in self._symbols else name

    # -- what is needed ------------------------------------------------------------------------
    def entries(self) -> Collection[str]:
        """Set-up of a key or of a hash, and everything in one call."""
        names = {name for pair in SETKEYS.values() for name in pair}
        names |= {"mbedtls_gcm_setkey", "mbedtls_ccm_setkey", "mbedtls_hardware_poll", "mbedtls_entropy_func"}
        names |= {f"mbedtls_{module}_starts{end}" for module, _ in HASH_MODULES.values() for end in ("", "_ret")}
        return sorted(
            names | {f"mbedtls_{m}_init" for m in ("aes", "gcm", "ccm", "des", "des3", "sha256", "sha1", "md5")}
        )

    def needs(self, kind: str) -> tuple[str, ...] | None:
        """See `Api.needs`."""
        name, _, what = kind.partition(" ")
        if name == "HASH-DRBG":
            return None
        if what == "life":
            return tuple(f"mbedtls_{self._module(name)}_{end}" for end in ("init", "free"))
        if what == "hmac":
            return ("mbedtls_md_info_from_type", "mbedtls_md_hmac")
        if name.startswith("HMAC-"):
            return self._hmac_needs(what)
        if name in HASH_MODULES:
            return self._hash_needs(name, what)
        if name in ("GCM", "CCM"):
            return self._aead_needs(MODULES[name], what)
        if name.startswith("AES"):
            mode = name[4:]
            return (AES_MODES[mode],) if mode else self._key_needs(name, what)
        if name.startswith("DES"):
            module, _, mode = name.partition("-")
            return (f"mbedtls_{module.lower()}_crypt_{mode.lower()}",) if mode else self._key_needs(name, what)
        if name == "POLL":
            return ("mbedtls_hardware_poll",)
        parts = (f"mbedtls_ctr_drbg_{end}" for end in ("init", "seed", "random"))
        return (*parts, "mbedtls_entropy_init", "mbedtls_entropy_func")

    @staticmethod
    def _key_needs(name: str, what: str) -> tuple[str, ...]:
        """`what`: empty for a context alone, else "[SIZE ]encryption key" or "[SIZE ]decryption key"."""
        if not what:
            return ()
        size, direction = what.split(" ")[:2] if name == "DES3" else ("", what.split(" ")[0])
        return (SETKEYS[f"{name}-{size}" if size else name][direction != "encryption"],)

    def _hash_needs(self, name: str, what: str) -> tuple[str, ...]:
        module = f"mbedtls_{HASH_MODULES[name][0]}"
        if what == "digest":
            return (self._hash_function(module),)
        if what == "clone":
            return (f"{module}_clone",)
        parts = (self._hash_function(f"{module}_{part}") for part in ("starts", "update", "finish"))
        return tuple(parts)

    @staticmethod
    def _hmac_needs(what: str) -> tuple[str, ...]:
        ends = ("init", "setup", "info_from_type", "free", "hmac_starts", "hmac_update", "hmac_finish")
        return tuple(f"mbedtls_md_{end}" for end in ends)

    @staticmethod
    def _aead_needs(module: str, what: str) -> tuple[str, ...]:
        prefix = f"mbedtls_{module}"
        if what.startswith("starts"):
            return (f"{prefix}_starts", f"{prefix}_update", f"{prefix}_finish")
        if what == "seal":
            return (f"{prefix}_crypt_and_tag" if module == "gcm" else f"{prefix}_encrypt_and_tag",)
        if what == "unseal":
            return (f"{prefix}_auth_decrypt",)
        return (f"{prefix}_setkey",)

    # -- contexts ------------------------------------------------------------------------------
    def context_bytes(self, kind: str) -> int:
        """From the firmware's debug information, else more than any version has."""
        if kind == "POLL":
            return 16
        if kind == "CTR-DRBG":
            sizes = [self._sizes.get(f"mbedtls_{name}_context", OVER_ALLOCATED) for name in ("ctr_drbg", "entropy")]
            return -(-sizes[0] // 8) * 8 + sizes[1]
        return self._sizes.get(f"mbedtls_{self._module(kind)}_context", OVER_ALLOCATED)

    @staticmethod
    def _module(kind: str) -> str:
        if kind.startswith("HMAC-"):
            return "md"
        return HASH_MODULES[kind][0] if kind in HASH_MODULES else MODULES[kind]

    def _entropy(self) -> int:
        """Bytes from a CTR-DRBG context to the entropy context behind it."""
        return -(-self._sizes.get("mbedtls_ctr_drbg_context", OVER_ALLOCATED) // 8) * 8

    def status(self, value: int) -> Status:
        """0 is success; errors are negative."""
        signed = value - WORD if value >= WORD // 2 else value
        if signed == 0:
            return "ok"
        return "unsupported" if signed in UNSUPPORTED else "refused"

    def error(self, value: int) -> str:
        """`-0x0072`."""
        return f"-{WORD - value & WORD - 1:#06x}"

    # -- steps ---------------------------------------------------------------------------------
    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """See `Api.plan`."""
        chain = chains.get(step.context, Chain())
        if step.does in ("digest", "hmac"):
            return self._whole(step)
        if chain.kind in HASH_MODULES:
            return self._hash(step, chain.kind)
        if chain.kind.startswith("HMAC-"):
            return self._hmac(step, chain.kind[5:])
        if chain.kind in ("GCM", "CCM"):
            return self._aead(step, chain.kind)
        if chain.kind in ("CTR-DRBG", "POLL"):
            return self._random(step, chain.kind)
        return self._cipher(step, chain)

    def _life(self, step: Step, module: str) -> Plan:
        """A firmware that never calls `init` has zeroed contexts; one without `free` keeps them."""
        function = f"mbedtls_{module}_{'init' if step.does == 'open' else 'free'}"
        if function not in self._symbols:
            return Plan(clear=(step.context,) if step.does == "open" else ())
        return Plan((Call(function, (Context(step.context),), "nothing"),))

    # -- AES, DES ------------------------------------------------------------------------------
    def _cipher(self, step: Step, chain: Chain) -> Plan:
        if step.does in ("open", "free"):
            return self._life(step, MODULES[chain.kind])
        if step.does == "setkey":
            kind = f"DES3-{len(step.key)}" if chain.kind == "DES3" else chain.kind
            function = SETKEYS[kind][0 if step.encrypt else 1]
            bits: tuple[int, ...] = (8 * len(step.key),) if kind == "AES" else ()
            return Plan(
                (Call(function, (Context(step.context), "key", *bits)),),
                (Buffer("key", step.key, offset=step.place.key),),
            )
        return self._crypt(step, chain)

    def _crypt(self, step: Step, chain: Chain) -> Plan:
        mode = ENCRYPT if step.encrypt else DECRYPT
        context, length = Context(step.context), len(step.data)
        texts = text_buffers(step.data, step.place)
        fresh = step.iv is not None
        iv = Buffer("iv", step.iv if step.iv is not None else chain.iv, "inout", step.place.iv)
        offset = Buffer("offset", bytes(4) if fresh else chain.offset, "inout")
        module = MODULES[chain.kind]
        if step.kind == "ECB":
            directed: tuple[Argument, ...] = (mode,) if chain.kind == "AES" else ()
            return Plan(
                (Call(f"mbedtls_{module}_crypt_ecb", (context, *directed, "input", "output")),), texts, ("output",)
            )
        if step.kind == "CBC":
            call = Call(f"mbedtls_{module}_crypt_cbc", (context, mode, length, "iv", "input", "output"))
            return Plan((call,), (iv, *texts), ("output", "iv"))
        if step.kind == "CTR":
            stream = Buffer("stream", bytes(16) if fresh else chain.stream, "inout")
            call = Call(AES_MODES["CTR"], (context, length, "offset", "iv", "stream", "input", "output"))
            return Plan((call,), (offset, iv, stream, *texts), ("output", "iv", "offset", "stream"))
        directed = (mode,) if step.kind == "CFB" else ()
        call = Call(AES_MODES[step.kind], (context, *directed, length, "offset", "iv", "input", "output"))
        return Plan((call,), (offset, iv, *texts), ("output", "iv", "offset"))

    # -- GCM, CCM ------------------------------------------------------------------------------
    def _aead(self, step: Step, kind: str) -> Plan:
        if step.does in ("open", "free"):
            return self._life(step, MODULES[kind])
        context, length, place = Context(step.context), len(step.data), step.place
        if step.does == "setkey":
            call = Call(f"mbedtls_{MODULES[kind]}_setkey", (context, CIPHER_ID_AES, "key", 8 * len(step.key)))
            return Plan((call,), (Buffer("key", step.key, offset=place.key),))
        iv, aad = Buffer("iv", step.iv or b"", offset=place.iv), Buffer("aad", step.aad, offset=place.aad)
        about: tuple[Argument, ...] = ("iv", len(iv.data), "aad", len(step.aad))
        texts = text_buffers(step.data, place)
        out_tag = Buffer("tag", bytes(step.length), "out", place.tag)
        if step.does == "starts":
            mode = ENCRYPT if step.encrypt else DECRYPT
            return Plan((Call("mbedtls_gcm_starts", (context, mode, *about)),), (iv, aad))
        if step.does == "update":
            return Plan((Call("mbedtls_gcm_update", (context, length, "input", "output")),), texts, ("output",))
        if step.does == "finish":
            return Plan((Call("mbedtls_gcm_finish", (context, "tag", step.length)),), (out_tag,), ("tag",))
        if step.does == "seal":
            if kind == "GCM":
                call = Call(
                    "mbedtls_gcm_crypt_and_tag",
                    (context, ENCRYPT, length, *about, "input", "output", step.length, "tag"),
                )
            else:
                call = Call(
                    "mbedtls_ccm_encrypt_and_tag", (context, length, *about, "input", "output", "tag", step.length)
                )
            return Plan((call,), (iv, aad, *texts, out_tag), ("output", "tag"))
        ends: tuple[Argument, ...] = (
            ("tag", len(step.tag), "input", "output") if kind == "GCM" else ("input", "output", "tag", len(step.tag))
        )
        call = Call(f"mbedtls_{MODULES[kind]}_auth_decrypt", (context, length, *about, *ends))
        return Plan((call,), (iv, aad, *texts, Buffer("tag", step.tag, offset=place.tag)), ("output",))

    # -- hashes --------------------------------------------------------------------------------
    def _hash(self, step: Step, kind: str) -> Plan:
        module, variant = HASH_MODULES[kind]
        if step.does in ("open", "free"):
            return self._life(step, module)
        name, context = f"mbedtls_{module}", Context(step.context)
        if step.does == "clone":
            ready = self._life(replace(step, does="open"), module)
            return replace(
                ready, calls=(*ready.calls, Call(f"{name}_clone", (context, Context(step.source)), "nothing"))
            )
        function = self._hash_function(f"{name}_{step.does}")
        returns = self._returns(function)
        if step.does == "starts":
            return Plan((Call(function, (context, *variant), returns),))
        if step.does == "update":
            data = Buffer("input", step.data, offset=step.place.input)
            return Plan((Call(function, (context, "input", len(step.data)), returns),), (data,))
        output = Buffer("output", bytes(DIGEST_BYTES[kind]), "out", step.place.output)
        return Plan((Call(function, (context, "output"), returns),), (output,), ("output",))

    def _whole(self, step: Step) -> Plan:
        """A digest or an HMAC in one call."""
        data = Buffer("input", step.data, offset=step.place.input)
        output = Buffer("output", bytes(DIGEST_BYTES[step.kind]), "out", step.place.output)
        if step.does == "digest":
            module, variant = HASH_MODULES[step.kind]
            function = self._hash_function(f"mbedtls_{module}")
            call = Call(function, ("input", len(step.data), "output", *variant), self._returns(function))
            return Plan((call,), (data, output), ("output",))
        info = Call("mbedtls_md_info_from_type", (MD_TYPES[step.kind],), "pointer", "info")
        key = Buffer("key", step.key, offset=step.place.key)
        call = Call("mbedtls_md_hmac", ("info", "key", len(step.key), "input", len(step.data), "output"))
        return Plan((info, call), (key, data, output), ("output",))

    def _hmac(self, step: Step, digest: str) -> Plan:
        context = Context(step.context)
        if step.does == "open":
            return Plan((
                Call("mbedtls_md_info_from_type", (MD_TYPES[digest],), "pointer", "info"),
                Call("mbedtls_md_init", (context,), "nothing"),
                Call("mbedtls_md_setup", (context, "info", 1)),
            ))  # fmt: skip
        if step.does == "free":
            return self._life(step, "md")
        if step.does == "reset":
            return Plan((Call("mbedtls_md_hmac_reset", (context,)),))
        if step.does == "starts":
            key = Buffer("key", step.key, offset=step.place.key)
            return Plan((Call("mbedtls_md_hmac_starts", (context, "key", len(step.key))),), (key,))
        if step.does == "update":
            data = Buffer("input", step.data, offset=step.place.input)
            return Plan((Call("mbedtls_md_hmac_update", (context, "input", len(step.data))),), (data,))
        output = Buffer("output", bytes(DIGEST_BYTES[digest]), "out", step.place.output)
        return Plan((Call("mbedtls_md_hmac_finish", (context, "output")),), (output,), ("output",))

    # -- random numbers ------------------------------------------------------------------------
    def _random(self, step: Step, kind: str) -> Plan:
        context = Context(step.context)
        output = Buffer("output", bytes(step.length), "out", step.place.output)
        if kind == "POLL":
            if step.does != "random":
                return Plan()
            written = Buffer("written", bytes(4), "out")
            call = Call("mbedtls_hardware_poll", (0, "output", step.length, "written"))
            return Plan((call,), (output, written), ("output", "written"))
        entropy = Context(step.context, self._entropy())
        if step.does == "open":
            return Plan(
                (
                    Call("mbedtls_entropy_init", (entropy,), "nothing"),
                    Call("mbedtls_ctr_drbg_init", (context,), "nothing"),
                )
            )
        if step.does == "free" and "mbedtls_ctr_drbg_free" not in self._symbols:
            return Plan()
        if step.does == "free":
            return Plan((Call("mbedtls_ctr_drbg_free", (context,), "nothing"),))
        if step.does == "seed":
            custom = Buffer("input", step.data)
            call = Call(
                "mbedtls_ctr_drbg_seed", (context, Function("mbedtls_entropy_func"), entropy, "input", len(step.data))
            )
            return Plan((call,), (custom,))
        return Plan((Call("mbedtls_ctr_drbg_random", (context, "output", step.length)),), (output,), ("output",))


def text_buffers(data: bytes, place: Place) -> tuple[Buffer, Buffer]:
    """Input and output of a cipher: apart, in place, or one over the other."""
    source = Buffer("input", data, offset=place.input)
    if place.output_at is None:
        return source, Buffer("output", bytes(len(data)), "out", place.output)
    return source, Buffer("output", bytes(len(data)), "out", over="input", shift=place.output_at)
