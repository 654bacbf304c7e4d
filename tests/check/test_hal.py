"""The HAL's adapter: plans by hand, and firmware of both interfaces in the three forms."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import hal_firmware
import pytest

from cryplab.check import check
from cryplab.check.api import Call, Chain, Plan, Store, Wait
from cryplab.check.api.hal import Hal
from cryplab.check.api.hal_cryp import b0, prefix
from cryplab.check.api.hal_handle import words
from cryplab.check.report import CheckResult
from cryplab.check.script import Place, Step
from cryplab.errors import FirmwareError
from cryplab.layout import Layout, Member
from cryplab.observe.api.hal import CRYP, HASH, RNG
from cryplab.symbols import Symbol, Symbols
from firmware_builds import needs_gcc

KEY, IV = bytes(range(16)), bytes(range(0x20, 0x30))
FULL = (
    "AES-ECB/keys,AES-ECB/contexts,AES-CBC/splits,AES-CBC/alignment,AES-CBC/continuation,AES-CTR/wrap,3DES-CBC/splits,"
    "SHA-256/splits,SHA-256/edges,MD5/orders,HMAC-SHA-256,RNG,mixed/interleave/AES"
)
OLDER_CASES = "AES-CBC/vectors/SP,AES-CBC/splits,AES-CBC/continuation,AES-CBC/contexts,SHA-256/splits,SHA-256/edges,RNG"


def layout(*paths: str) -> Layout:
    return Layout(4 * len(paths), {path: Member(4 * i, 4) for i, path in enumerate(paths)})


INIT = ("Init.DataType", "Init.KeySize", "Init.pKey", "Init.pInitVect", "Init.Header", "Init.HeaderSize")
OLDER = {
    CRYP: layout("Instance", *INIT, "Init.IVSize", "Init.TagSize", "Init.pScratch", "State"),
    HASH: layout("Init.DataType", "Init.KeySize", "Init.pKey", "State"),
    RNG: layout("Instance", "State"),
}
LATER_INIT = (*INIT, "Init.Algorithm", "Init.B0", "Init.DataWidthUnit", "Init.KeyIVConfigSkip")
LATER = {
    CRYP: layout("Instance", *LATER_INIT, "State", "ErrorCode"),
    "CRYP_ConfigTypeDef": layout(*(path.removeprefix("Init.") for path in LATER_INIT)),
    HASH: layout("Init.DataType", "Init.KeySize", "Init.pKey", "pHashMsgBuffPtr", "State"),
    RNG: layout("Instance", "State"),
}


def linked(*names: str) -> Symbols:
    return Symbols(Symbol(name, 0x0800_0000 + 16 * i, 16) for i, name in enumerate(names))


def functions(plan: Plan) -> list[str]:
    return [deed.function for deed in plan.calls if isinstance(deed, Call)]


def stored(plan: Plan) -> dict[str, object]:
    return {put.path: put.value for deed in plan.calls if isinstance(deed, Store) for put in deed.puts}


class Caller:
    """Steps on contexts, one after the other."""

    def __init__(self, api: Hal, *kinds: str) -> None:
        self.api, self.chains = api, {number: Chain(kind) for number, kind in enumerate(kinds)}
        for number, kind in enumerate(kinds):
            self(Step("open", number, kind))

    def __call__(self, step: Step) -> Plan:
        return self.api.plan(step, self.chains)

    def crypt(self, context: int = 0, iv: bytes | None = IV, data: bytes = bytes(16), **more: object) -> Plan:
        return self(Step("crypt", context, "CBC", iv=iv, data=data, encrypt=False, **more))  # type: ignore[arg-type]


# -- values ----------------------------------------------------------------------------------------
def test_words_have_their_first_byte_on_top() -> None:
    assert words(bytes(range(8))) == bytes((3, 2, 1, 0, 7, 6, 5, 4))


def test_b0_is_that_of_the_published_examples() -> None:
    """SP 800-38C, examples 1 and 2."""
    one = b0(bytes.fromhex("10111213141516"), 8, 4, 4)
    assert one.hex() == "4f101112131415160000000000000004"
    assert b0(bytes.fromhex("1011121314151617"), 16, 16, 6).hex() == "56101112131415161700000000000010"
    assert prefix(8) == bytes.fromhex("0008")
    assert prefix(65536) == bytes.fromhex("fffe00010000")


# -- one handle, and two ---------------------------------------------------------------------------
def test_older_interface_goes_on_without_a_new_set_up() -> None:
    caller = Caller(Hal(Symbols(), OLDER), "AES", "AES")
    caller(Step("setkey", key=KEY))
    caller(Step("setkey", 1, key=KEY))
    first = caller.crypt()
    assert functions(first) == ["HAL_CRYP_Init", "HAL_CRYP_AESCBC_Decrypt"]
    assert first.clear == (0,)
    assert functions(caller.crypt(iv=None)) == ["HAL_CRYP_AESCBC_Decrypt"]
    caller.crypt(1)
    again = caller.crypt(iv=None)
    assert functions(again) == ["HAL_CRYP_Init", "HAL_CRYP_AESCBC_Decrypt"]
    assert next(b for b in again.buffers if b.name == "vector").data == bytes(16)  # the last cipher block


def test_later_interface_sets_key_and_iv_once_or_is_given_a_configuration() -> None:
    caller = Caller(Hal(linked("HAL_CRYP_SetConfig"), LATER), "AES")
    caller(Step("setkey", key=KEY))
    first = caller.crypt()
    assert functions(first) == ["HAL_CRYP_Init", "HAL_CRYP_Decrypt"]
    assert (stored(first)["Init.KeyIVConfigSkip"], stored(first)["Init.Algorithm"]) == (1, 0x28)
    assert functions(caller.crypt(iv=None)) == ["HAL_CRYP_Decrypt"]
    second = caller.crypt()
    assert functions(second) == ["HAL_CRYP_SetConfig", "HAL_CRYP_Decrypt"]
    assert (stored(second)["KeyIVConfigSkip"], stored(second)["pKey"]) == (0, "key")
    assert next(b for b in second.buffers if b.name == "key").data == words(KEY)
    caller(Step("setkey", key=IV))
    other = caller.crypt()
    assert (stored(other)["KeyIVConfigSkip"], functions(other)[0]) == (1, "HAL_CRYP_SetConfig")


def test_a_handle_is_initialised_anew_after_another_one_was_given_up() -> None:
    caller = Caller(Hal(Symbols(), OLDER), "AES", "AES")
    for number in (0, 1):
        caller(Step("setkey", number, key=KEY))
        caller.crypt(number)
    assert functions(caller(Step("free", 1))) == ["HAL_CRYP_DeInit"]
    assert caller.crypt().clear == (0,)


@pytest.mark.parametrize(
    ("layouts", "step", "why"),
    [
        (OLDER, Step("crypt", kind="CTR", iv=IV, data=bytes(17)), "the HAL takes whole blocks of 16 bytes here"),
        (OLDER, Step("crypt", kind="CBC", iv=IV, data=bytes(65536)), "a size has 16 bits"),
        (LATER, Step("crypt", kind="CBC", iv=IV, data=KEY, place=Place(input=1)), "the HAL takes pointers to words"),
        (OLDER, Step("crypt", kind="CTR", iv=b"\xff" * 16, data=bytes(32)), "the block counts 32 bits"),
        (OLDER, Step("crypt", kind="CBC", iv=IV, data=KEY, place=Place(output_at=-8)), "promises nothing for buffers"),
    ],
)
def test_what_the_hal_does_not_promise_is_not_asked(layouts: dict[str, Layout], step: Step, why: str) -> None:
    caller = Caller(Hal(Symbols(), layouts), "AES")
    caller(Step("setkey", key=KEY))
    assert why in caller(step).unsupported


def test_bytes_may_lie_anywhere_in_the_older_interface() -> None:
    caller = Caller(Hal(Symbols(), OLDER), "AES")
    caller(Step("setkey", key=KEY, place=Place(key=1)))
    plan = caller.crypt(place=Place(input=3, output=1))
    assert not plan.unsupported
    assert [b.offset for b in plan.buffers if b.name in ("key", "input", "output")] == [1, 3, 1]


def test_the_caller_compares_the_tag() -> None:
    for layouts, last in ((OLDER, "HAL_CRYPEx_AESGCM_Finish"), (LATER, "HAL_CRYPEx_AESGCM_GenerateAuthTAG")):
        caller = Caller(Hal(Symbols(), layouts), "GCM")
        caller(Step("setkey", key=KEY))
        plan = caller(Step("unseal", iv=IV[:12], aad=bytes(16), data=bytes(16), tag=bytes(16)))
        assert functions(plan)[-1] == last
        assert plan.compares == (("tag", bytes(16)),)
        vector = next(b for b in plan.buffers if b.name == "vector").data
        assert vector == (IV[:12] + bytes((0, 0, 0, 2)) if layouts is OLDER else words(IV[:12] + bytes((0, 0, 0, 2))))


def test_a_message_in_the_block_cannot_be_set_aside() -> None:
    caller = Caller(Hal(Symbols(), OLDER), "GCM", "AES")
    for number in (0, 1):
        caller(Step("setkey", number, key=KEY))
    caller(Step("starts", iv=IV[:12]))
    caller(Step("update", data=bytes(16)))
    assert "GCM message of another handle" in caller.crypt(1).unsupported


# -- hashes ----------------------------------------------------------------------------------------
def test_parts_of_a_hash_are_whole_words_and_the_last_call_has_something() -> None:
    api = Hal(linked("HAL_HASHEx_SHA256_Accmlt", "HAL_HASHEx_SHA256_Accmlt_End"), LATER)
    caller = Caller(api, "SHA-256")
    caller(Step("starts"))
    assert functions(caller(Step("update", data=b"abc"))) == []
    plan = caller(Step("update", data=b"defgh"))
    assert functions(plan) == ["HAL_HASH_Init", "HAL_HASHEx_SHA256_Accmlt"]
    assert plan.buffers[0].data == b"abcd"
    last = caller(Step("finish"))
    assert functions(last) == ["HAL_HASHEx_SHA256_Accmlt_End"]
    assert last.buffers[0].data == b"efgh"


def test_parts_of_the_older_hash_are_whole_blocks() -> None:
    caller = Caller(Hal(Symbols(), OLDER), "SHA-256")
    caller(Step("starts"))
    assert functions(caller(Step("update", data=bytes(64)))) == []
    plan = caller(Step("update", data=bytes(70)))
    assert functions(plan) == ["HAL_HASH_Init", "HAL_HASHEx_SHA256_Accumulate"]
    assert len(plan.buffers[0].data) == 128
    assert functions(caller(Step("finish"))) == ["HAL_HASHEx_SHA256_Start"]


def test_a_running_digest_is_lost_to_another_handle() -> None:
    caller = Caller(Hal(Symbols(), LATER), "SHA-256")
    caller(Step("starts"))
    caller(Step("update", data=bytes(9)))
    caller(Step("digest", kind="MD5", data=b"x"))
    assert "another handle has used it" in caller(Step("finish")).unsupported


def test_forms_have_their_own_functions() -> None:
    it = Hal(Symbols(), OLDER, "hal-it")
    plan = it.plan(Step("digest", kind="SHA-1", data=b"abc"), {})
    assert functions(plan) == ["HAL_HASH_Init", "HAL_HASH_SHA1_Start_IT"]
    assert isinstance(plan.calls[-1], Wait)
    assert (it.needs("SHA-256 digest") or ())[-1] == "HAL_HASHEx_IRQHandler"
    assert it.needs("SHA-256") is None
    dma = Hal(Symbols(), LATER, "hal-dma").plan(Step("hmac", kind="MD5", key=b"k" * 4, data=b"abcd"), {})
    assert functions(dma) == ["HAL_HASH_Init", "HAL_HMAC_MD5_Start_DMA", "HAL_HASH_MD5_Finish"]
    assert Hal(Symbols(), LATER, "hal-dma").needs("POLL") is None


def test_statuses_by_their_names() -> None:
    api = Hal(Symbols(), OLDER)
    assert [api.status(value) for value in (0, 1, 0x100)] == ["ok", "refused", "ok"]
    assert (api.error(3), api.error(9)) == ("3 (HAL_TIMEOUT)", "9")


# -- firmware --------------------------------------------------------------------------------------
@cache
def later(fault: str, only: str) -> CheckResult:
    return check(hal_firmware.later(fault), hal_firmware.BOARD, api="hal", level="quick", only=only)


@cache
def older(api: str, fault: str = "RIGHT", only: str = "") -> CheckResult:
    return check(hal_firmware.older(fault), hal_firmware.BOARD, api=api, level="quick", only=only)


@needs_gcc
def test_our_subset_of_the_later_hal_passes() -> None:
    result = later("RIGHT", FULL)
    assert (result.exit_code, result.api) == (0, "hal")
    assert result.calls > 300
    words_of = {(v.algorithm, v.group): v.word for v in result.verdicts.values()}
    assert words_of["AES-CBC", "splits"] == words_of["SHA-256", "splits"] == words_of["mixed", "interleave"] == "OK"
    assert words_of["AES-CBC", "alignment"] == "unsupported"


@needs_gcc
def test_short_last_block_of_gcm_is_not_right_in_our_subset() -> None:
    """wolfSSL never asks for one; the sequence that this version of CRYP needs is not there (case B59)."""
    result = later("RIGHT", "AES-GCM/vectors,AES-GCM/tags")
    assert {f.title for f in result.failures} == {"AES-GCM/vectors/GCM specification, test case 4, seal"}
    assert [f.kind for f in result.findings.values()] == ["silicon-erratum"]


@needs_gcc
@pytest.mark.parametrize(
    ("fault", "only", "problem", "rules"),
    [
        ("KEY_OF_THE_FIRST", "AES-ECB/interleave/two", "output is", set()),
        ("OUTPUT_OVERRUN", "AES-CBC/lengths/48", "4 bytes that are not the function's to change", {"O3"}),
        ("ALGO_LEFT", "MD5/orders", "output is", {"O2"}),
        ("NO_CLOCK", "RNG/random/4", "error 3 (HAL_TIMEOUT) was returned, success was due", {"O12", "O22"}),
    ],
)
def test_fault_is_found(fault: str, only: str, problem: str, rules: set[str]) -> None:
    result = later(fault, only)
    assert result.exit_code == 1
    assert any(problem in text for failure in result.failures for text in failure.problems)
    assert {finding.rule for finding in result.findings.values()} == rules
    assert later("RIGHT", only).exit_code == 0


@needs_gcc
def test_findings_name_the_handle_and_the_call() -> None:
    (finding,) = later("ALGO_LEFT", "MD5/orders").findings.values()
    assert finding.operation.startswith("HAL_HASH_MD5_Start(0x2022")
    assert finding.context.startswith("MD5 context 0x2022")
    assert finding.earlier is not None
    assert finding.earlier.context.startswith("SHA-256 context 0x2022")


@needs_gcc
@pytest.mark.parametrize("api", ["hal", "hal-it", "hal-dma"])
def test_older_interface_passes_in_every_form(api: str) -> None:
    result = older(api, only=OLDER_CASES)
    assert (result.exit_code, result.api) == (0, api)
    algorithms = {v.algorithm for v in result.verdicts.values() if v.word == "OK"}
    assert algorithms >= {"hal": {"AES-CBC", "SHA-256"}, "hal-it": {"AES-CBC", "SHA-256", "RNG"}}.get(api, {"AES-CBC"})


@needs_gcc
@pytest.mark.parametrize(
    ("api", "fault", "why"),
    [
        ("hal-it", "NOT_ENABLED", "interrupt 79 (CRYP) or 80 (HASH_RNG) is not enabled: the firmware's MspInit"),
        ("hal-it", "NO_HANDLER", "(Default_Handler, hal_older.c"),
        ("hal-dma", "NO_HANDLER", "the firmware has no DMA2_Stream5_IRQHandler"),
    ],
)
def test_what_the_firmware_lacks_for_a_form_is_said(api: str, fault: str, why: str) -> None:
    result = older(api, fault, "AES-CBC/lengths")
    (verdict,) = result.verdicts.values()
    assert (verdict.word, result.exit_code) == ("unsupported", 0)
    assert why in next(iter(verdict.why))
    assert any(why[:30] in line for line in result._not_asked())


@needs_gcc
def test_printed_program_of_a_job_by_interrupt() -> None:
    result = older("hal-it", "LAST_BLOCK_LEFT", "AES-CBC/lengths/48")
    failure = next(f for f in result.failures if f.python)
    assert "from cryplab.check import booted, fill, wait" in failure.python
    assert "api='hal-it'" in failure.python
    done = subprocess.run([sys.executable, "-c", failure.python], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    right = failure.python.replace(str(hal_firmware.older("LAST_BLOCK_LEFT")), str(hal_firmware.older()))
    done = subprocess.run([sys.executable, "-c", right], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_gcc
def test_auto_takes_the_hal_when_no_library_is_linked() -> None:
    result = check(hal_firmware.later(), hal_firmware.BOARD, level="quick", only="RNG/random/4", observe=False)
    assert (result.api, result.exit_code) == ("hal", 0)


@needs_gcc
def test_without_debug_information_handles_cannot_be_filled_in() -> None:
    with pytest.raises(FirmwareError, match=r"does not describe the HAL's handles.*compile the HAL with -g"):
        check(hal_firmware.later("RIGHT", "-g0"), hal_firmware.BOARD, api="hal", level="quick")
