"""The wolfCrypt adapter: what steps become, its numbers against the library's headers, the library on both paths."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from cryplab.check import check
from cryplab.check.api import Chain, Plan
from cryplab.check.api.wolfcrypt import ERRORS, HMAC_TYPES, WolfCrypt
from cryplab.check.cases.common import Maker
from cryplab.check.cases.mixed import cases as mixed_cases
from cryplab.check.paste import as_python
from cryplab.check.report import CheckResult
from cryplab.check.script import Place, Step
from cryplab.check.session import APIS
from cryplab.cli import check as command
from cryplab.errors import ToolError
from cryplab.guest import CHECKED, build, library
from cryplab.symbols import Symbol, Symbols
from firmware_builds import needs_gcc

LINKED = ("wc_AesInit", "wc_AesFree", "wc_AesEncryptDirect", "wc_AesDecryptDirect", "wc_HmacInit", "wc_Sha256Hash")


def api(*names: str) -> WolfCrypt:
    symbols = Symbols(Symbol(name, 0x0800_0000 + 16 * i, 16, "function") for i, name in enumerate(names))
    return WolfCrypt(symbols, {"Hmac": 700})


def calls(plan: Plan) -> list[str]:
    return [f"{c.function}({', '.join(map(str, c.arguments))})" for c in plan.calls]  # type: ignore[union-attr]


# -- steps -----------------------------------------------------------------------------------------
def test_an_iv_is_set_before_the_call_and_a_call_without_goes_on() -> None:
    chains = {0: Chain("AES")}
    first = api(*LINKED).plan(Step("crypt", kind="CBC", iv=bytes(16), data=bytes(32)), chains)
    assert [c.split("(")[0] for c in calls(first)] == ["wc_AesSetIV", "wc_AesCbcEncrypt"]
    more = api(*LINKED).plan(Step("crypt", kind="CBC", data=bytes(32), encrypt=False), chains)
    assert calls(more) == ["wc_AesCbcDecrypt(Context(number=0, behind=0), output, input, 32)"]


def test_functions_that_are_not_linked_have_others_that_do_their_work() -> None:
    """A linker keeps what is used: an IV can be set with the key, the longer starts are what the shorter ones call."""
    linked, chains = api("wc_AesSetKey", "wc_AesCbcDecrypt", "wc_InitSha_ex", "wc_InitRng_ex"), {0: Chain("AES")}
    linked.plan(Step("setkey", key=bytes(24), encrypt=False), chains)
    crypt = linked.plan(Step("crypt", kind="CBC", encrypt=False, iv=b"i" * 16, data=bytes(16)), chains)
    assert calls(crypt)[0] == "wc_AesSetKey(Context(number=0, behind=0), key, 24, iv, 1)"
    assert {b.name: b.data for b in crypt.buffers if b.use == "in"} == {
        "input": bytes(16), "iv": b"i" * 16, "key": bytes(24),
    }  # fmt: skip
    assert linked.needs("AES-CBC") == ("wc_AesSetKey", "wc_AesCbcEncrypt")
    assert linked.needs("SHA-1 starts") == ("wc_InitSha_ex", "wc_ShaUpdate", "wc_ShaFinal")
    start = linked.plan(Step("starts"), {0: Chain("SHA-1")})
    assert calls(start) == ["wc_InitSha_ex(Context(number=0, behind=0), 0, -2)"]
    seed = linked.plan(Step("seed"), {0: Chain("HASH-DRBG")})
    assert calls(seed) == ["wc_InitRng_ex(Context(number=0, behind=0), 0, -2)"]


def test_single_blocks_go_direct_or_as_ecb() -> None:
    step, chains = Step("crypt", kind="ECB", data=bytes(16)), {0: Chain("AES")}
    assert calls(api(*LINKED).plan(step, chains)) == ["wc_AesEncryptDirect(Context(number=0, behind=0), output, input)"]
    assert calls(api("wc_AesEcbEncrypt").plan(step, chains)) == [
        "wc_AesEcbEncrypt(Context(number=0, behind=0), output, input, 16)"
    ]


def test_two_keys_of_triple_des_are_three() -> None:
    plan = api().plan(Step("setkey", key=bytes(range(16)), encrypt=False), {0: Chain("DES3")})
    assert plan.buffers[0].data == bytes((*range(16), *range(8)))
    assert calls(plan) == ["wc_Des3_SetKey(Context(number=0, behind=0), key, 0, 1)"]


def test_a_context_that_has_no_init_is_zeroed() -> None:
    assert api(*LINKED).plan(Step("open"), {0: Chain("DES")}) == Plan(clear=(0,))
    assert calls(api(*LINKED).plan(Step("open"), {0: Chain("GCM")})) == [
        "wc_AesInit(Context(number=0, behind=0), 0, -2)"
    ]
    assert api(*LINKED).plan(Step("free"), {0: Chain("DES")}) == Plan()


def test_short_gcm_tags_may_be_refused_and_overlap_is_not_promised() -> None:
    chains = {0: Chain("GCM")}
    assert "WOLFSSL_MIN_AUTH_TAG_SZ" in api().plan(Step("seal", iv=bytes(12), length=11), chains).may_refuse
    assert not api().plan(Step("seal", iv=bytes(12), length=12), chains).may_refuse
    plan = api().plan(Step("seal", iv=bytes(12), length=16, place=Place(output_at=-8)), chains)
    assert plan.unsupported == "wolfCrypt promises input and output apart or at one place, not over each other"


def test_hmac_goes_on_with_its_key_after_a_digest_only() -> None:
    chain = Chain("HMAC-SHA-256")
    steps = [Step("starts", key=b"k"), Step("update", data=b"x"), Step("finish"), Step("reset")]
    made = [calls(api(*LINKED).plan(step, {0: chain})) for step in steps]
    assert [c[0].split("(")[0] if c else "" for c in made] == ["wc_HmacSetKey", "wc_HmacUpdate", "wc_HmacFinal", ""]
    api(*LINKED).plan(Step("update", data=b"y"), {0: chain})
    assert calls(api(*LINKED).plan(Step("reset"), {0: chain})) == [
        "wc_HmacSetKey(Context(number=0, behind=0), 6, key, 1)"
    ]


def test_one_call_where_there_is_none() -> None:
    hmac = api(*LINKED).plan(Step("hmac", kind="MD5", key=b"k", data=b"x"), {})
    assert [c.split("(")[0] for c in calls(hmac)] == ["wc_HmacInit", "wc_HmacSetKey", "wc_HmacUpdate", "wc_HmacFinal"]
    assert len(hmac.buffers[0].data) == 700
    digest = api().plan(Step("digest", kind="SHA-256", data=b"x"), {})
    assert [c.split("(")[0] for c in calls(digest)] == ["wc_InitSha256", "wc_Sha256Update", "wc_Sha256Final"]
    assert calls(api(*LINKED).plan(Step("digest", kind="SHA-256", data=b"x"), {})) == [
        "wc_Sha256Hash(input, 1, output)"
    ]


def test_long_results_are_compared_by_digest() -> None:
    key, iv = bytes(range(16)), bytes(range(16, 32))
    steps = (Step("open", kind="AES"), Step("setkey", key=key), Step("crypt", kind="CBC", iv=iv, data=bytes(0x10000)))
    text = as_python(steps, api(*LINKED), firmware="firmware.elf", board="board")
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    digest = sha256(encryptor.update(bytes(0x10000))).hexdigest()
    assert text.startswith("from hashlib import sha256\n\nfrom cryplab.check import booted\n")
    assert 'machine.call("wc_AesCbcEncrypt", context0, output, b"\\x00" * 65536, 65536) == 0' in text
    assert f'assert sha256(machine.read_memory(output, 65536)).hexdigest() == "{digest}"' in text


def test_interleaved_gcm_in_parts_encrypts_where_it_cannot_decrypt() -> None:
    """One lane that is not supported would end the whole case."""
    one_way = [c for c in mixed_cases(Maker("default", 0, lambda kind: kind != "GCM starts decrypt"))]
    both = [c for c in mixed_cases(Maker("default", 0))]
    assert {s.encrypt for c in both for s in c.steps if s.does == "starts" and s.iv} == {True, False}
    assert {s.encrypt for c in one_way for s in c.steps if s.does == "starts" and s.iv} == {True}
    assert [(c.title, len(c.steps)) for c in one_way] == [(c.title, len(c.steps)) for c in both]
    assert api("wc_AesGcmEncryptInit").needs("GCM starts decrypt") is None


def test_what_a_status_means() -> None:
    assert [api().status(value & 0xFFFF_FFFF) for value in (0, -174, -173)] == ["ok", "unsupported", "refused"]
    assert [api().error(value & 0xFFFF_FFFF) for value in (-180, -999)] == ["-180 (AES_GCM_AUTH_E)", "-999"]


def test_the_command_knows_every_api() -> None:
    assert set(command.APIS) == set(APIS)


@pytest.mark.slow
def test_numbers_are_those_of_the_library() -> None:
    folder = sources() / "wolfssl" / "wolfcrypt"
    errors = dict(re.findall(r"(\w+) += (-\d+),", (folder / "error-crypt.h").read_text()))
    assert {name: int(errors[name]) for name in ERRORS.values()} == {name: number for number, name in ERRORS.items()}
    types = (folder / "types.h").read_text().rpartition("WC_HASH_TYPE_NONE = 0")[2]
    numbers = {name: int(number) for name, number in re.findall(r"WC_HASH_TYPE_(\w+) = (\d+)", types)}
    assert {name: numbers[name.replace("-", "").replace("SHA1", "SHA")] for name in HMAC_TYPES} == HMAC_TYPES


# -- the library on the board ----------------------------------------------------------------------
F2, F4 = "stm3221g-eval", "stm32f437i-eval"
RIGHT = "AES-ECB/interleave,AES-CBC/continuation,AES-CTR/continuation,AES-GCM/splits,AES-CCM/aad,RNG,HASH-DRBG"
"Groups that the port of 5.5.4 gets right on both of its paths."
WRONG = "DES-ECB/turnaround,DES-CBC/zero,3DES-CBC/continuation,MD5/splits,SHA-256/clone,HMAC-MD5/keys,AES-GCM/edges"


def sources() -> Path:
    try:
        return library("wolfssl")
    except ToolError as missing:
        pytest.skip(str(missing))


@cache
def elf(board: str, how: str) -> Path:
    sources()
    return build(CHECKED["wolfssl"], board, "wolfssl", how)


@cache
def checked(board: str, how: str, only: str, *inject: str) -> CheckResult:
    return check(elf(board, how), board, level="quick", only=only, inject=inject)


def failed(result: CheckResult) -> set[str]:
    return {f"{v.algorithm}/{v.group}" for v in result.verdicts.values() if v.failed}


@needs_gcc
@pytest.mark.slow
def test_software_is_right() -> None:
    result = checked(F2, "software", f"{RIGHT},{WRONG}")
    assert (result.api, result.exit_code, failed(result)) == ("wolfcrypt", 0, set())
    assert result.missing == []
    assert {v.algorithm for v in result.verdicts.values() if v.word != "OK"} == set()


@needs_gcc
@pytest.mark.slow
def test_standard_peripheral_library_path() -> None:
    """Every failure is argued in docs/wolfssl.md."""
    result = checked(F2, "hardware", f"{RIGHT},{WRONG}")
    assert failed(result) == {
        "DES-ECB/turnaround", "DES-CBC/zero", "3DES-CBC/continuation", "MD5/splits", "HMAC-MD5/keys",
    }  # fmt: skip
    assert {f.rule for f in result.findings.values()} == {"O19", "O9", "O8"}
    chained = next(f for f in result.findings.values() if f.kind == "iv-not-updated-for-chaining")
    assert re.match(r"wc_Des3?_Cbc(En|De)crypt\(0x[0-9a-f]{8}, \d+ bytes\) should go on from the IV", chained.text)


@needs_gcc
@pytest.mark.slow
def test_hal_path() -> None:
    result = checked(F4, "hardware", f"{RIGHT},{WRONG}")
    assert failed(result) == {
        "DES-ECB/turnaround", "MD5/splits", "SHA-256/clone", "HMAC-MD5/keys", "AES-GCM/edges",
    }  # fmt: skip
    assert {f.rule for f in result.findings.values()} == {"O19", "O8"}


@needs_gcc
@pytest.mark.slow
def test_printed_program_fails_on_hardware_and_passes_in_software() -> None:
    result = checked(F2, "hardware", f"{RIGHT},{WRONG}")
    failure = next(
        f for f in result.failures if f.algorithm == "3DES-CBC" and f.python and "output is" in f.problems[0]
    )
    wrong, right = (
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        for text in (failure.python, failure.python.replace(str(elf(F2, "hardware")), str(elf(F2, "software"))))
    )
    assert wrong.returncode == 1
    assert "AssertionError" in wrong.stderr
    assert (right.returncode, right.stderr) == (0, "")


@needs_gcc
@pytest.mark.slow
def test_another_task_meets_the_mutex_but_in_triple_des() -> None:
    """The port's 3DES takes none."""
    inject = "task-switch-each-access"
    assert failed(checked(F2, "hardware", "AES-CBC/continuation,AES-CTR/lengths/7,DES-CBC/keys,RNG", inject)) == set()
    assert failed(checked(F2, "hardware", "3DES-CBC/keys", inject)) == {"3DES-CBC/keys"}
