"""Names of cipher suites."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from cryplab.errors import UsageError
from cryplab.tls.suites import SUITES, choose, suite_of


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("TLS-ECDHE-RSA-WITH-AES-128-CBC-SHA", [0xC013]),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", [0xC013]),
        ("ECDHE-RSA-AES128-SHA", [0xC013]),
        ("0xc013", [0xC013]),
        ("c02b", [0xC02B]),
        ("aes-gcm", [0xC02B, 0xC02F, 0xC02C, 0xC030]),
        ("AES-256-GCM", [0xC02C, 0xC030]),
        ("AES-CBC-SHA", [0xC009, 0xC013, 0xC00A, 0xC014]),
        ("AES-CBC-SHA256,AES-128-CCM", [0xC023, 0xC027, 0xC0AC, 0xC0AE]),
    ],
)
def test_names(name: str, numbers: list[int]) -> None:
    assert [suite.number for suite in choose([name])] == numbers


def test_no_name_is_all() -> None:
    assert choose([]) == list(SUITES)


def test_a_suite_that_a_library_has_not() -> None:
    """wolfSSL 5.5.4 declares no 0xC0AD in wolfssl/internal.h."""
    assert [suite.number for suite in SUITES if suite not in choose([], "wolfssl")] == [0xC0AD]
    assert [suite.number for suite in choose(["C0AD", "C0AF"], "wolfssl")] == [0xC0AF]
    message = (
        "wolfssl has no ECDHE-ECDSA-AES256-CCM; of AES-CCM it has ECDHE-ECDSA-AES128-CCM, ECDHE-ECDSA-AES128-CCM8, "
        "ECDHE-ECDSA-AES256-CCM8"
    )
    with pytest.raises(UsageError, match=message):
        choose(["C0AD"], "wolfssl")


def test_wrong_name() -> None:
    with pytest.raises(UsageError, match="no cipher suite 'AES-GMC'; did you mean 'AES-GCM'"):
        choose(["AES-GMC"])


def test_number_of_a_suite() -> None:
    suite = suite_of(0xC02F)
    assert suite is not None
    assert (suite.name, suite.key, suite.key_bits) == ("TLS-ECDHE-RSA-WITH-AES-128-GCM-SHA256", "RSA", 128)
    assert suite_of(0x1301) is None


def test_openssl_agrees() -> None:
    """OpenSSL's own list gives number and name of each."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("openssl is missing; Debian has it in package openssl")
    command = [tool, "ciphers", "-V", "ALL:@SECLEVEL=0"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    known = {int(line.split()[0].replace(",0x", ""), 16): line.split()[2] for line in listing.splitlines()}
    for suite in SUITES:
        assert known[suite.number] == suite.openssl
