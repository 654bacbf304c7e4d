"""PSA Crypto: hashes in parts and at once, MAC, ciphers, authenticated encryption in one call, random numbers.

A key is imported when an algorithm first needs it, because its policy names one algorithm, and destroyed with the
context. The cipher output of `update` may come late, so a cipher step is a whole operation: nothing is promised that
would carry an IV from one to the next, and cases that do are not for this API.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping

from cryplab.check.api import Argument, Buffer, Call, Chain, Context, Join, Plan, Status
from cryplab.check.api.mbedtls import text_buffers
from cryplab.check.script import Step
from cryplab.symbols import Symbols

__all__ = ["Psa"]

WORD = 1 << 32
HASHES = {
    "MD5": 0x0200_0003, "SHA-1": 0x0200_0005, "SHA-224": 0x0200_0008, "SHA-256": 0x0200_0009, "SHA-384": 0x0200_000A,
    "SHA-512": 0x0200_000B,
}  # fmt: skip
DIGEST_BYTES = {"MD5": 16, "SHA-1": 20, "SHA-224": 28, "SHA-256": 32, "SHA-384": 48, "SHA-512": 64}
MODES = {"ECB": 0x0440_4400, "CBC": 0x0440_4000, "CTR": 0x04C0_1000, "CFB": 0x04C0_1100, "OFB": 0x04C0_1200}
AEADS = {"GCM": 0x0550_0200, "CCM": 0x0550_0100}
AEAD_TAG = 0x003F_0000
HMAC, HASH_OF_HMAC = 0x0380_0000, 0xFF
KEY_TYPES = {"AES": 0x2400, "DES": 0x2301, "DES3": 0x2301, "GCM": 0x2400, "CCM": 0x2400, "HMAC": 0x1100}
USE_ENCRYPT, USE_DECRYPT, USE_SIGN = 0x100, 0x200, 0x1400
NOT_SUPPORTED = -134
NO_OVERLAP = "PSA promises nothing for buffers that overlap"
ATTRIBUTES_BYTES = 64
OVER_ALLOCATED = 1024
OPERATIONS = {"hash": "psa_hash_operation_t", "cipher": "psa_cipher_operation_t"}


class Psa:
    """The adapter for one firmware.

    Args:
        symbols: of the firmware.
        sizes: bytes of `psa_hash_operation_t` and so on, by name, as far as known.
        key_id_first: in the key attributes the id stands before the policy, as in releases before 3.6.
    """

    name = "psa"
    prepare: tuple[str, ...] = ("psa_crypto_init",)
    keeps_refused: frozenset[str] = frozenset()

    def __init__(self, symbols: Symbols, sizes: Mapping[str, int], *, key_id_first: bool = True) -> None:
        self._symbols, self._sizes, self._key_id_first = symbols, sizes, key_id_first

    def entries(self) -> Collection[str]:
        """The first call of every user."""
        return ("psa_crypto_init", "psa_hash_setup", "psa_import_key", "psa_generate_random")

    def needs(self, kind: str) -> tuple[str, ...] | None:
        """See `Api.needs`."""
        name, _, what = kind.partition(" ")
        if what == "hmac":
            return ("psa_import_key", "psa_destroy_key", "psa_mac_compute")
        if name in HASHES:
            parts = {"digest": ("compute",), "clone": ("clone",)}.get(what, ("setup", "update", "finish", "abort"))
            return tuple(f"psa_hash_{part}" for part in parts)
        if name in AEADS and what in ("", "seal", "unseal"):
            ends = {"seal": ("psa_aead_encrypt",), "unseal": ("psa_aead_decrypt",)}.get(what, ())
            return ("psa_import_key", "psa_destroy_key", *ends)
        if name.startswith(("AES", "DES")):
            steps = ("encrypt_setup", "decrypt_setup", "update", "finish") if "-" in name else ()
            return ("psa_import_key", "psa_destroy_key", *(f"psa_cipher_{part}" for part in steps))
        return ("psa_generate_random",) if name == "POLL" else None

    def context_bytes(self, kind: str) -> int:
        """From the firmware's debug information, else more than any version has."""
        return self._sizes.get(OPERATIONS["hash" if kind in HASHES else "cipher"], OVER_ALLOCATED)

    def status(self, value: int) -> Status:
        """0 is success; errors are negative."""
        signed = value - WORD if value >= WORD // 2 else value
        if signed == 0:
            return "ok"
        return "unsupported" if signed == NOT_SUPPORTED else "refused"

    def error(self, value: int) -> str:
        """`-134`."""
        return str(value - WORD if value >= WORD // 2 else value)

    # -- steps ---------------------------------------------------------------------------------
    def plan(self, step: Step, chains: Mapping[int, Chain]) -> Plan:
        """See `Api.plan`."""
        chain = chains.get(step.context, Chain())
        if step.does == "digest":
            return self._digest(step)
        if step.does == "hmac":
            return self._hmac(step)
        if chain.kind in HASHES:
            return self._hash(step, chain.kind)
        if step.does == "open":
            return Plan(clear=(step.context,))
        if step.does in ("setkey", "free"):
            old = self._destroy(chain)
            chain.key, chain.ids = step.key, []
            return Plan(old)
        if step.does == "crypt":
            return self._crypt(step, chain)
        if step.does in ("seal", "unseal"):
            return self._aead(step, chain)
        if step.does == "random":
            output = Buffer("output", bytes(step.length), "out", step.place.output)
            return Plan((Call("psa_generate_random", ("output", step.length)),), (output,), ("output",))
        return Plan(unsupported=f"{step.does} of {chain.kind} is not in this adapter")

    # -- keys ----------------------------------------------------------------------------------
    def _attributes(self, kind: str, key: bytes, algorithm: int, use: int) -> bytes:
        bits = 8 * len(key)
        policy = struct.pack("<III", use, algorithm, 0)
        fields = (bytes(4), policy) if self._key_id_first else (policy, bytes(4))
        head = struct.pack("<HHI", KEY_TYPES[kind], bits, 0)
        return (head + b"".join(fields)).ljust(ATTRIBUTES_BYTES, b"\0")

    def _key(self, step: Step, chain: Chain, algorithm: int) -> tuple[str, tuple[Call, ...], tuple[Buffer, ...]]:
        """The name under which a key's id is kept; calls and buffers that import it when it is not there yet."""
        name = f"id{step.context}_{algorithm:x}"
        if name in chain.ids:
            return name, (), ()
        chain.ids.append(name)
        return name, *self._import(name, chain.kind, chain.key, algorithm, USE_ENCRYPT | USE_DECRYPT, step.place.key)

    def _import(
        self, name: str, kind: str, key: bytes, algorithm: int, use: int, offset: int
    ) -> tuple[tuple[Call, ...], tuple[Buffer, ...]]:
        call = Call("psa_import_key", ("attributes", "key", len(key), "id"), keep=name, kept_from="id")
        attributes = Buffer("attributes", self._attributes(kind, key, algorithm, use))
        return (call,), (attributes, Buffer("key", key, offset=offset), Buffer("id", bytes(4), "out"))

    @staticmethod
    def _destroy(chain: Chain) -> tuple[Call, ...]:
        return tuple(Call("psa_destroy_key", (name,)) for name in chain.ids)

    # -- ciphers -------------------------------------------------------------------------------
    def _crypt(self, step: Step, chain: Chain) -> Plan:
        if step.iv is None and step.kind != "ECB":
            return Plan(unsupported="an IV is not carried on between PSA operations")
        if step.place.output_at is not None:
            return Plan(unsupported=NO_OVERLAP)
        algorithm, context = MODES[step.kind], Context(step.context)
        name, calls, buffers = self._key(step, chain, algorithm)
        way = "encrypt" if step.encrypt else "decrypt"
        length = len(step.data)
        more = [Call(f"psa_cipher_{way}_setup", (context, name, algorithm))]
        texts: list[Buffer] = list(text_buffers(step.data, step.place))
        if step.iv is not None:
            more.append(Call("psa_cipher_set_iv", (context, "iv", len(step.iv))))
            texts.append(Buffer("iv", step.iv, offset=step.place.iv))
        more.append(Call("psa_cipher_update", (context, "input", length, "output", length, "given")))
        more.append(Call("psa_cipher_finish", (context, "rest", len(REST), "given_rest")))
        texts += [Buffer("given", bytes(4), "out"), Buffer("rest", REST, "out"), Buffer("given_rest", bytes(4), "out")]
        join = Join("output", (("output", "given"), ("rest", "given_rest")))
        return Plan((*calls, *more), (*buffers, *texts), ("output", "given", "rest", "given_rest"), joins=(join,))

    def _aead(self, step: Step, chain: Chain) -> Plan:
        tag_bytes = step.length if step.does == "seal" else len(step.tag)
        algorithm = AEADS[chain.kind] & ~AEAD_TAG | tag_bytes << 16
        name, calls, buffers = self._key(step, chain, algorithm)
        iv, aad = Buffer("iv", step.iv or b"", offset=step.place.iv), Buffer("aad", step.aad, offset=step.place.aad)
        given = Buffer("given", bytes(4), "out")
        about: tuple[Argument, ...] = (name, algorithm, "iv", len(iv.data), "aad", len(step.aad))
        data = step.data if step.does == "seal" else step.data + step.tag
        out_bytes = len(step.data) + (tag_bytes if step.does == "seal" else 0)
        if step.place.output_at is not None:
            return Plan(unsupported=NO_OVERLAP)
        source = Buffer("input", data, offset=step.place.input)
        output = Buffer("output", bytes(out_bytes), "out", step.place.output)
        function = "psa_aead_encrypt" if step.does == "seal" else "psa_aead_decrypt"
        call = Call(function, (*about, "input", len(data), "output", out_bytes, "given"))
        split = len(step.data) if step.does == "seal" else None
        joins = (Join("output", (("output", "given"),), split_at=split, tail="tag"),)
        results = ("output", "given")
        return Plan((*calls, call), (*buffers, iv, aad, source, output, given), results, joins=joins)

    # -- hashes --------------------------------------------------------------------------------
    def _hash(self, step: Step, kind: str) -> Plan:
        context = Context(step.context)
        if step.does == "open":
            return Plan(clear=(step.context,))
        if step.does == "clone":
            return Plan((Call("psa_hash_clone", (Context(step.source), context)),), clear=(step.context,))
        if step.does == "free":
            return Plan((Call("psa_hash_abort", (context,)),))
        if step.does == "starts":
            abort = Call("psa_hash_abort", (context,))
            return Plan((abort, Call("psa_hash_setup", (context, HASHES[kind]))))
        if step.does == "update":
            data = Buffer("input", step.data, offset=step.place.input)
            return Plan((Call("psa_hash_update", (context, "input", len(step.data))),), (data,))
        output = Buffer("output", bytes(DIGEST_BYTES[kind]), "out", step.place.output)
        call = Call("psa_hash_finish", (context, "output", len(output.data), "given"))
        return Plan((call,), (output, Buffer("given", bytes(4), "out")), ("output",))

    def _digest(self, step: Step) -> Plan:
        data = Buffer("input", step.data, offset=step.place.input)
        output = Buffer("output", bytes(DIGEST_BYTES[step.kind]), "out", step.place.output)
        arguments = (HASHES[step.kind], "input", len(step.data), "output", len(output.data), "given")
        return Plan(
            (Call("psa_hash_compute", arguments),), (data, output, Buffer("given", bytes(4), "out")), ("output",)
        )

    def _hmac(self, step: Step) -> Plan:
        if not step.key:
            return Plan(unsupported="PSA has no empty keys")
        algorithm = HMAC | HASHES[step.kind] & HASH_OF_HMAC
        calls, buffers = self._import("id_of_mac", "HMAC", step.key, algorithm, USE_SIGN, step.place.key)
        data = Buffer("input", step.data, offset=step.place.input)
        output = Buffer("output", bytes(DIGEST_BYTES[step.kind]), "out", step.place.output)
        arguments = ("id_of_mac", algorithm, "input", len(step.data), "output", len(output.data), "given")
        last = Call("psa_destroy_key", ("id_of_mac",))
        made = (*calls, Call("psa_mac_compute", arguments), last)
        return Plan(made, (*buffers, data, output, Buffer("given", bytes(4), "out")), ("output",))


REST = bytes(16)
"Room for what `finish` still gives."
