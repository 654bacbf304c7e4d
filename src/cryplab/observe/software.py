"""Crypto that ran in software, found by function name, and why it did not run in hardware.

Only the inner functions are listed, those that do the arithmetic (mbed TLS 2 and 3, wolfCrypt and its
ancestor CTaoCrypt, tinycrypt, micro-ecc): they exist in an image only when the software implementation
was compiled in, and the cycles of a function are its own, without its callees.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cryplab.chip import Chip
from cryplab.observe.profile import FunctionProfile
from cryplab.reports import Operation
from cryplab.symbols import Symbols

__all__ = ["SoftwareRow", "algorithm_of", "software_table"]


@dataclass(frozen=True, slots=True)
class Known:
    """Inner functions of one algorithm.

    `does` is how the table calls it; `hardware` the names of operations that would do the same job
    (a prefix counts: `AES` stands for every AES mode); `functions` are patterns; `files` limits
    names that several sources share to local symbols of these files. `least`: a driver may stand in
    under the same name, so only a function that runs at least so many instructions per call counts.
    """

    does: str
    hardware: tuple[str, ...]
    functions: str
    files: str = ""
    least: int = 0


PUBLIC_KEY = ("RSA", "ECC", "PKA", "MODEXP")
DRIVER_AT_MOST = 200
"Instructions per call of a driver's own function of one block or one key, waiting left to its callees."
TABLE: tuple[Known, ...] = (
    Known("AES", ("AES",), """
        mbedtls_internal_aes_encrypt mbedtls_internal_aes_decrypt aes_gen_tables wc_AesEncrypt wc_AesDecrypt
        AesEncrypt_C AesDecrypt_C AesEncryptBlocks_C AesDecryptBlocks_C AesEncrypt AesDecrypt AES_ECB_encrypt
        AES_ECB_decrypt AES_CBC_encrypt AES_CBC_decrypt AES_CTR_encrypt tc_aes_encrypt tc_aes_decrypt mix_columns
        sub_bytes shift_rows aes_maybe_realign
    """),
    Known("AES", ("AES",), """
        mbedtls_aes_encrypt mbedtls_aes_decrypt mbedtls_aes_setkey_enc mbedtls_aes_setkey_dec wc_AesSetKeyLocal
        AesSetKey_C AES_set_encrypt_key AES_invert_key tc_aes128_set_encrypt_key
    """, least=DRIVER_AT_MOST),
    Known("GHASH", ("AES-GCM", "AES-GMAC"), """
        gcm_mult gcm_mult_* gcm_gen_table GMULT GHASH GHASH_* GCM_GMULT_LEN GCM_gmult_len GenerateM0
    """),
    Known("DES and 3DES", ("DES", "TDES"), """
        mbedtls_des_setkey DesRawProcessBlock Des3ProcessBlock DesProcessBlock DesSetKey
    """),
    Known("DES and 3DES", ("DES", "TDES"), "mbedtls_des_crypt_ecb mbedtls_des3_crypt_ecb", least=DRIVER_AT_MOST),
    Known("SHA-256", ("SHA-256", "SHA-224"), """
        mbedtls_internal_sha256_process mbedtls_internal_sha256_process_* Transform_Sha256 Transform_Sha256_*
        Sha256Transform wc_Sha256Transform tc_sha256_compress
    """),
    Known("SHA-256", ("SHA-256", "SHA-224"), "Transform compress", "sha256.c"),
    Known("SHA-256", ("SHA-256", "SHA-224"), "mbedtls_sha256_process", least=DRIVER_AT_MOST),
    Known("SHA-512", ("SHA-512", "SHA-384"), "mbedtls_sha512_process", least=DRIVER_AT_MOST),
    Known("SHA-1", ("SHA-1",), "mbedtls_sha1_process", least=DRIVER_AT_MOST),
    Known("MD5", ("MD5",), "mbedtls_md5_process", least=DRIVER_AT_MOST),
    Known("SHA-512", ("SHA-512", "SHA-384"), """
        mbedtls_internal_sha512_process mbedtls_internal_sha512_process_* _Transform_Sha512 Transform_Sha512
        Transform_Sha512_* Sha512Transform
    """),
    Known("SHA-1", ("SHA-1",), "mbedtls_internal_sha1_process ShaTransform wc_ShaTransform"),
    Known("SHA-1", ("SHA-1",), "Transform transform", "sha.c"),
    Known("SHA-3", ("SHA3", "SHA-3"), "keccak_f1600 keccak_p1600 BlockSha3 BlockSha3_* sha3_block*"),
    Known("MD5", ("MD5",), "mbedtls_internal_md5_process Md5Transform wc_Md5Transform"),
    Known("MD5", ("MD5",), "Transform transform", "md5.c"),
    Known("MD2, MD4, RIPEMD-160", ("MD4", "RIPEMD"), """
        mbedtls_internal_md[24]_process mbedtls_md[24]_process *ripemd160_process
    """),
    Known("ChaCha20", ("CHACHA20",), """
        chacha20_block chacha20_inner_block chacha20_quarter_round mbedtls_chacha20_update wc_Chacha_wordtobyte
        wc_Chacha_encrypt_bytes wc_chacha_* Chacha_encrypt_*
    """),
    Known("Poly1305", ("POLY1305",), """
        poly1305_process poly1305_blocks poly1305_block poly1305_blocks_* poly1305_*_arm*
    """),
    Known("ARC4", ("ARC4",), "mbedtls_arc4_crypt wc_Arc4Process Arc4Process"),
    Known("Camellia", ("CAMELLIA",), """
        camellia_feistel mbedtls_camellia_crypt_ecb camellia_encrypt* camellia_decrypt*
    """),
    Known("ARIA", ("ARIA",), "mbedtls_aria_crypt_ecb aria_sl aria_a aria_fo_xor aria_fe_xor"),
    Known("Blowfish", ("BLOWFISH",), "blowfish_enc blowfish_dec F", "blowfish.c"),
    Known("elliptic curves", PUBLIC_KEY, """
        ecp_mod_p* ecp_modp mbedtls_ecp_mod_* ecp_double_jac ecp_add_mixed ecp_double_add_mxz ecp_mul_comb*
        ecp_mul_mxz ecp_select_comb ecp_normalize_* ecp_safe_invert_jac ecc_projective_* ecc_map* wc_ecc_mulmod*
        ecc_mulmod* fe_mul fe_mul_* fe_sq fe_sq_* fe_invert* fe_*25519* ge_* curve25519* sp_256_* sp_384_* sp_521_*
        uECC_* vli_* XYcZ_*
    """),
    Known("big numbers (RSA, ECC)", PUBLIC_KEY, """
        mpi_mul_hlp mpi_montmul mpi_montred mpi_sub_hlp mpi_select mbedtls_mpi_core_* mbedtls_mpi_mul_mpi
        mbedtls_mpi_mul_int mbedtls_mpi_div_mpi mbedtls_mpi_mod_mpi mbedtls_mpi_exp_mod mbedtls_mpi_exp_mod_*
        mbedtls_mpi_inv_mod mbedtls_mpi_add_abs mbedtls_mpi_sub_abs mbedtls_mpi_shift_l mbedtls_mpi_shift_r
        mbedtls_mpi_cmp_mpi mbedtls_mpi_cmp_abs mbedtls_mpi_copy mbedtls_mpi_grow mbedtls_mpi_mod_raw*
        mbedtls_ct_mpi_* mbedtls_mpi_safe_cond_* add_sub_mpi mpi_safe_cond_* fp_mul* fp_sqr* fp_montgomery_*
        fp_exptmod* _fp_exptmod* fp_mod* fp_div* innermul8* s_mp_* fast_s_mp_* fast_mp_* mp_mul mp_sqr mp_exptmod*
        mp_montgomery_* mp_div mp_mod* mp_invmod* sp_mul* _sp_mul* sp_sqr* _sp_sqr* _sp_mont_* sp_mont_*
        _sp_exptmod* sp_exptmod* sp_div* _sp_div* sp_2048_* sp_3072_* sp_4096_*
    """),
    Known("deterministic random bits", (), """
        ctr_drbg_update_internal block_cipher_df mbedtls_hmac_drbg_update* Hash_DRBG_Generate Hash_df Hash_gen
    """),
)  # fmt: skip


@functools.cache
def _exact_and_patterns() -> tuple[dict[str, list[Known]], list[tuple[str, Known]]]:
    exact: dict[str, list[Known]] = {}
    patterns: list[tuple[str, Known]] = []
    for known in TABLE:
        for name in known.functions.split():
            if any(c in name for c in "*[?"):
                patterns.append((name, known))
            else:
                exact.setdefault(name, []).append(known)
    return exact, patterns


@functools.lru_cache(maxsize=16384)
def algorithm_of(function: str, file: str = "") -> Known | None:
    """What crypto a function of this name does, or None. Local names are told apart by source file."""
    exact, patterns = _exact_and_patterns()
    found = [k for k in exact.get(function, []) if not k.files or file in k.files.split()]
    if found:
        return found[0]
    return next((k for name, k in patterns if fnmatch.fnmatchcase(function, name)), None)


@dataclass(slots=True)
class SoftwareRow:
    """Functions of one algorithm that ran on the core.

    `cycles` are those functions' own. `reason` is a sentence's worth of why; `avoidable` says that
    this chip's hardware could have done it.
    """

    algorithm: str
    reason: str
    avoidable: bool
    cycles: int = 0
    share: float = 0.0
    functions: list[FunctionProfile] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The fields of `software[]`."""
        return {
            "algorithm": self.algorithm,
            "reason": self.reason,
            "avoidable": self.avoidable,
            "cycles": self.cycles,
            "share": round(self.share, 6),
            "functions": [
                {"name": f.name, "calls": f.calls, "cycles": f.cycles, "instructions": f.instructions}
                for f in self.functions
            ],
        }


def software_table(
    functions: Iterable[FunctionProfile],
    run_cycles: int,
    chip: Chip,
    operations: Iterable[Operation] = (),
    symbols: Symbols | None = None,
) -> list[SoftwareRow]:
    """Software crypto of a run, most cycles first.

    Args:
        functions: the profile by symbol.
        run_cycles: cycles of the whole run, for `share`.
        chip: tells what its blocks can do.
        operations: what went through hardware.
        symbols: to leave out functions that start operations themselves: those are drivers.
    """
    operations = list(operations)
    used = {(o.block, o.name) for o in operations}
    starts = (symbols.at(pc) for pc in {o.pc for o in operations}) if symbols else ()
    drivers = {symbol.address for symbol in starts if symbol}
    rows: dict[str, SoftwareRow] = {}
    for function in functions:
        known = algorithm_of(function.plain_name, function.file)
        if known is None or function.address in drivers or not _worked(function, known):
            continue
        row = rows.get(known.does)
        if row is None:
            reason, avoidable = why_software(known, chip, used)
            row = rows[known.does] = SoftwareRow(known.does, reason, avoidable)
        row.cycles += function.cycles
        row.functions.append(function)
    for row in rows.values():
        row.share = row.cycles / run_cycles if run_cycles else 0.0
        row.functions.sort(key=lambda f: (-f.cycles, f.name))
    return sorted(rows.values(), key=lambda r: (-r.cycles, r.algorithm))


def _worked(function: FunctionProfile, known: Known) -> bool:
    return function.cycles > 0 and function.instructions >= known.least * max(1, function.calls)


def why_software(known: Known, chip: Chip, used: Iterable[tuple[str, str]]) -> tuple[str, bool]:
    """Why it ran in software, and whether this chip's hardware could have done it.

    `used` are block and operation name of what went through hardware in the run.
    """
    if not known.hardware:
        return "glue around other algorithms; no hardware does it", False
    able = [(at.name, name) for at in chip.modelled for name in at.block.algorithms if _does(name, known.hardware)]
    if not able:
        return _why_not(known, chip), False
    blocks = sorted({block for block, _ in able})
    names = [wanted for wanted in known.hardware if any(_does(name, (wanted,)) for _, name in able)]
    can = f"{' and '.join(blocks)} does {', '.join(names)}"
    if any(block in blocks and _does(name, known.hardware) for block, name in used):
        return f"{can}; the firmware used it for a part only", True
    return f"{can}; the firmware did not use it", True


def _why_not(known: Known, chip: Chip) -> str:
    """The chip cannot: name the block that does the same cipher in other modes, if there is one."""
    base = known.hardware[0].split("-")[0]
    for at in chip.modelled:
        if any(name.split("-")[0] == base for name in at.block.algorithms):
            return f"{at.name} of {chip.name} has no {known.hardware[0]}"
    return f"{chip.name} has no hardware for it"


def _does(name: str, wanted: tuple[str, ...]) -> bool:
    return any(name == w or name.startswith(f"{w}-") for w in wanted)
