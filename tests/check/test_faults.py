"""`check` against a small driver with one fault each: found, made small, and the printed program fails as it says."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest
import wrong

from cryplab.check import check
from cryplab.check.report import CheckResult
from cryplab.errors import FirmwareError, UsageError
from firmware_builds import needs_gcc

pytestmark = needs_gcc


@cache
def checked(fault: str, only: str = "", inject: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> CheckResult:
    return check(wrong.build(fault, *flags), wrong.BOARD, level="quick", only=only, inject=inject, observe=False)


def test_right_driver_passes() -> None:
    result = checked("RIGHT")
    assert result.exit_code == 0
    assert result.calls > 900
    assert {v.algorithm for v in result.verdicts.values()} == {"AES-ECB", "AES-CBC", "RNG", "mixed"}


FOUND = [
    # fault, cases to run, group in which it must be found, words of the message
    ("SHARED_KEY", "AES-ECB/interleave", "interleave", "output is"),
    ("IV_LOST", "AES-CBC/continuation", "continuation", "iv is"),
    ("OUTPUT_OVERRUN", "AES-CBC", "splits", "0 bytes behind output"),
    ("INPUT_OVERREAD", "AES-ECB/edges", "edges", "data access to where nothing lives, address 0x20280000"),
    ("IN_PLACE", "AES-CBC/in-place", "in-place", "iv is"),
    ("KEY_POINTER", "AES-ECB/vectors/FIPS", "vectors", "output is"),
    ("MISALIGNED", "AES-ECB/alignment", "alignment", "output is"),
    ("SHARED_HASH", "mixed/interleave/hashes", "interleave", "output is"),
    ("SHARED_HASH", "SHA-256/contexts", "contexts", "output is"),
    ("RNG_UNCHECKED", "RNG", "random", "output has a word of zero at byte 0"),
    ("RNG_SHORT", "RNG", "random", "bytes from 28 of output (31 bytes) were not written"),
    ("CRASHES", "AES-ECB/turnaround", "turnaround", "BusFault"),
    ("WRITES_INPUT", "AES-ECB/lengths", "lengths", "1 bytes that are not the function's to change were changed"),
    ("SMALL_CONTEXT", "AES-ECB/keys", "keys", "memory behind context 0 (40 bytes) was changed"),
]


@pytest.mark.parametrize(("fault", "only", "group", "words"), FOUND, ids=[f"{f[0]}-{f[2]}" for f in FOUND])
def test_fault_is_found(fault: str, only: str, group: str, words: str) -> None:
    result = checked(fault, only)
    assert result.exit_code == 1
    problems = [p for f in result.failures if f.group == group for p in f.problems]
    assert any(words in problem for problem in problems), problems
    assert fault == "SHARED_HASH" or checked("RIGHT", only).exit_code == 0


@pytest.mark.slow
def test_hang_is_told_with_its_place() -> None:
    result = checked("HANGS", "AES-CBC/lengths/48")
    assert [f.status for f in result.failures] == ["hung", "hung"]
    assert "has not returned after 1.0" in result.failures[0].problems[0]
    assert "mbedtls_aes_crypt_cbc" in result.failures[0].problems[0]


def test_shared_key_shrinks_to_two_contexts() -> None:
    """The smallest sequence of the public case: two keys set, then a block with the first."""
    (failure, *_) = checked("SHARED_KEY", "AES-ECB/interleave/two").failures
    assert [step.split(" ")[1] for step in failure.steps] == ["open", "setkey", "open", "setkey", "crypt"]
    assert failure.steps[-1].startswith("0: ")
    assert failure.alone


def run_program(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("fault", "only"),
    [
        ("SHARED_KEY", "AES-ECB/interleave/two"),
        ("IN_PLACE", "AES-CBC/in-place"),
        ("KEY_POINTER", "AES-ECB/vectors/FIPS"),
        ("MISALIGNED", "AES-CBC/alignment"),
    ],
)
def test_printed_program_fails_at_its_last_line(fault: str, only: str) -> None:
    failure = next(f for f in checked(fault, only).failures if f.python)
    done = run_program(failure.python)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
    asserts = [i for i, line in enumerate(failure.python.splitlines(), 1) if line.startswith("assert")]
    assert any(f"line {where}," in done.stderr for where in asserts[-2:])


def test_printed_program_passes_on_the_right_driver() -> None:
    failure = next(f for f in checked("SHARED_KEY", "AES-ECB/interleave/two").failures if f.python)
    text = failure.python.replace(str(wrong.build("SHARED_KEY")), str(wrong.build("RIGHT")))
    done = run_program(text)
    assert (done.returncode, done.stderr) == (0, "")


def test_same_seed_gives_the_same_result() -> None:
    elf, only = wrong.build("SHARED_KEY"), "AES-CBC/splits"
    one, two = (check(elf, wrong.BOARD, level="quick", only=only, seed=5, observe=False) for _ in range(2))
    assert [f.python for f in one.failures] == [f.python for f in two.failures]
    assert one.failures


def test_processes_give_what_one_gives() -> None:
    one = checked("IV_LOST", "AES-CBC")
    two = check(wrong.build("IV_LOST"), wrong.BOARD, level="quick", only="AES-CBC", jobs=2, observe=False)
    assert (one.calls, one.failed) == (two.calls, two.failed)
    assert [f.title for f in one.failures] == [f.title for f in two.failures]


# -- what cannot be checked ------------------------------------------------------------------------
def test_unsupported_is_no_failure() -> None:
    result = checked("REFUSES", "AES-ECB/lengths")
    (verdict,) = result.verdicts.values()
    assert (verdict.failed, verdict.unsupported, verdict.word) == (0, 2, "OK")


def test_functions_that_were_dropped_are_named_with_the_option_that_keeps_them() -> None:
    elf = wrong.build("RIGHT", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,-u,mbedtls_aes_init", "-DNOTHING")
    result = check(elf, wrong.BOARD, level="quick", only="AES-ECB/lengths", observe=False)
    assert result.exit_code == 0
    kept = wrong.build(
        "RIGHT", "-DUNREFERENCED", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,-u,mbedtls_hardware_poll"
    )
    result = check(kept, wrong.BOARD, level="quick", observe=False)
    reasons = {m.function: m.reason for m in result.missing}
    assert reasons["mbedtls_aes_crypt_ecb"] == "not linked"
    assert reasons["mbedtls_gcm_setkey"] == ""
    text = " ".join(str(part) for part in result.render())
    assert "-Wl,-u,mbedtls_aes_crypt_ecb" in text.replace("\n", " ")


def test_firmware_with_one_function_gets_one_sentence() -> None:
    flags = ("-DUNREFERENCED", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,-u,mbedtls_aes_init")
    with pytest.raises(FirmwareError, match=r"no algorithm has all the functions .* -Wl,-u,mbedtls_aes_crypt_ecb"):
        check(wrong.build("RIGHT", *flags), wrong.BOARD)


PARTS = ("-DUNREFERENCED", "-ffunction-sections", "-Wl,--gc-sections")
NO_DECRYPTION = ("mbedtls_aes_init", "mbedtls_aes_setkey_enc", "mbedtls_aes_crypt_ecb", "mbedtls_aes_crypt_cbc")


def test_a_cipher_without_decryption_is_called_as_far_as_it_goes() -> None:
    """`free` is not linked either: contexts are left as they are."""
    elf = wrong.build("RIGHT", *PARTS, *(f"-Wl,-u,{name}" for name in NO_DECRYPTION))
    result = check(elf, wrong.BOARD, level="quick", observe=False)
    assert (result.exit_code, result.failed) == (0, 0)
    groups = {v.group for v in result.verdicts.values() if v.algorithm == "AES-CBC"}
    assert groups >= {"vectors", "lengths", "in-place", "alignment", "continuation", "contexts"}
    assert "interleave" in {v.group for v in result.verdicts.values() if v.algorithm == "AES-ECB"}
    assert not any(v.unsupported for v in result.verdicts.values())
    text = " ".join(str(part) for part in result.render())
    assert "-Wl,-u,mbedtls_aes_setkey_dec" in text.replace("\n", " ")
    assert "-Wl,-u,mbedtls_aes_free" in text.replace("\n", " ")


def test_a_shared_key_is_found_without_decryption_too() -> None:
    elf = wrong.build("SHARED_KEY", *PARTS, *(f"-Wl,-u,{name}" for name in NO_DECRYPTION))
    result = check(elf, wrong.BOARD, level="quick", only="AES-ECB/interleave", observe=False)
    assert result.failed == 2


def test_what_functions_of_old_releases_leave_in_r0_is_no_status() -> None:
    """mbed TLS 2.5: `mbedtls_sha256_update` and its like return nothing."""
    names = ("init", "free", "starts", "update", "finish")
    elf = wrong.build("SHARED_HASH", "-DVOID_HASH", *PARTS, *(f"-Wl,-u,mbedtls_sha256_{name}" for name in names))
    result = check(elf, wrong.BOARD, level="quick", only="SHA-256/splits", observe=False)
    assert (result.exit_code, result.failed) == (0, 0)
    assert result.calls > 50


def test_stripped_firmware_gets_one_sentence() -> None:
    stripped = wrong.build("RIGHT", "-s")
    with pytest.raises(FirmwareError, match="the firmware has no symbols: give the ELF before it was stripped"):
        check(stripped, wrong.BOARD)


def test_without_debug_information_contexts_are_over_allocated() -> None:
    result = check(wrong.build("RIGHT", "-g0"), wrong.BOARD, level="quick", only="AES-ECB", observe=False)
    assert (result.exit_code, result.failed) == (0, 0)
    assert "The firmware has no debug information" in " ".join(str(part) for part in result.render())


def test_firmware_of_another_kind_gets_one_sentence() -> None:
    import firmware_builds

    with pytest.raises(FirmwareError, match=r"has none of the crypto functions that check knows \(mbedtls: "):
        check(firmware_builds.build("small"), wrong.BOARD)


def test_only_that_matches_nothing() -> None:
    with pytest.raises(UsageError, match="--only CRC: no case of this firmware has such a title"):
        checked("RIGHT", "CRC")


# -- injected errors -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["rng-seed-error", "rng-clock-error", "rng-slow", "cryp-slow", "cryp-fast", "irq-each-access"]
)
def test_right_driver_survives_or_reports(name: str) -> None:
    assert checked("RIGHT", "AES-CBC/splits,RNG", (name,)).failed == 0


@pytest.mark.parametrize("name", ["rng-stuck", "rng-zero=1"])
def test_driver_that_does_not_look_at_words_is_found(name: str) -> None:
    """Our right driver has no continuous test."""
    assert checked("RIGHT", "RNG", (name,)).failed > 0


def test_seed_error_ignored_is_found() -> None:
    assert checked("RNG_UNCHECKED", "RNG", ("rng-slow=1", "rng-seed-error=1")).failed > 0


@pytest.mark.slow
def test_task_switch_finds_the_missing_lock() -> None:
    name = ("task-switch-each-access",)
    only = "AES-ECB/lengths/blocks,AES-CBC/continuation"
    assert checked("RIGHT", only, name).failed > 0
    assert checked("RIGHT", only, name, ("-DLOCKED",)).failed == 0
