"""The PSA adapter: on mbed TLS with PSA Crypto over our drivers; constants against the library's header."""

from __future__ import annotations

import re

import psa_firmware
import pytest

from cryplab.check import check
from cryplab.check.api.psa import AEADS, HASHES, MODES, Psa
from cryplab.check.script import Step
from cryplab.guest import library
from cryplab.symbols import Symbols
from firmware_builds import needs_gcc


@pytest.mark.slow
@needs_gcc
def test_quick_check_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    elf = psa_firmware.build(monkeypatch)
    only = "AES-CBC/lengths,AES-GCM/tags,AES-CCM/lengths,SHA-256,HMAC-SHA-1,RNG,3DES-ECB/vectors"
    result = check(elf, "ublox-c030-u201", api="psa", level="quick", only=only, observe=False)
    assert (result.api, result.failed) == ("psa", 0)
    assert result.calls > 800
    words = {(v.algorithm, v.group): v.word for v in result.verdicts.values()}
    assert words["SHA-256", "clone"] == "OK"
    assert words["AES-GCM", "tags"] == "OK"


@pytest.mark.slow
def test_numbers_are_those_of_the_library() -> None:
    text = (library("mbedtls") / "include" / "psa" / "crypto_values.h").read_text()
    numbers = {
        name: int(value, 16)
        for name, value in re.findall(r"#define PSA_ALG_(\w+) +\(\(psa_algorithm_t\) ?0x(\w+)\)", text)
    }
    assert {name: numbers[name.replace("SHA-", "SHA_")] for name in HASHES} == HASHES
    known = {"ECB": "ECB_NO_PADDING", "CBC": "CBC_NO_PADDING"}
    assert {name: numbers[known.get(name, name)] for name in MODES} == MODES
    assert {name: numbers[name] for name in AEADS} == AEADS


def test_key_is_imported_once_for_each_algorithm_and_destroyed_at_the_end() -> None:
    from cryplab.check.api import Chain

    api, chains = Psa(Symbols(), {}), {0: Chain("AES")}
    api.plan(Step("setkey", key=bytes(16)), chains)
    one = api.plan(Step("crypt", kind="ECB", data=bytes(16)), chains)
    two = api.plan(Step("crypt", kind="ECB", data=bytes(16)), chains)
    other = api.plan(Step("crypt", kind="CBC", iv=bytes(16), data=bytes(16)), chains)
    assert [[c.function for c in plan.calls if "import" in c.function] for plan in (one, two, other)] == [
        ["psa_import_key"],
        [],
        ["psa_import_key"],
    ]
    last = api.plan(Step("free"), chains)
    assert [c.function for c in last.calls] == ["psa_destroy_key"] * 2


def test_what_psa_does_not_promise_is_not_asked() -> None:
    from cryplab.check.api import Chain
    from cryplab.check.script import Place

    api, chains = Psa(Symbols(), {}), {0: Chain("AES", key=bytes(16))}
    assert (
        api.plan(Step("crypt", kind="CTR", data=b"1"), chains).unsupported
        == "an IV is not carried on between PSA operations"
    )
    step = Step("crypt", kind="CTR", iv=bytes(16), data=b"1", place=Place(output_at=0))
    assert api.plan(step, chains).unsupported == "PSA promises nothing for buffers that overlap"
