"""Published rows: the file is whole, and look-up finds what a person would."""

import pytest

from cryplab.bench.published import all_rows, canonical, find


def test_file_is_whole() -> None:
    rows = all_rows()
    assert len(rows) == 541
    assert len({r.board for r in rows}) == 11
    assert all(r.source and r.unit and r.crypto in ("software", "hardware") for r in rows)
    assert [r.value for r in rows if r.number is None] == ["85-90"]


@pytest.mark.parametrize(
    ("board", "library", "build", "row", "value"),
    [
        ("ublox-c030-u201", "mbedtls", "software", "SHA-256", "2936"),
        ("ublox-c030-u201", "mbedtls", "hardware", "AES-CBC-192", "31542"),
        ("ublox-c030-u201", "mbedtls", "hal-style", "AES-CBC-192", "31542"),
        ("ublox-c030-u201", "mbedtls", "hardware", "ECDHE-x25519 handshake", "385"),
        ("stm3221g-eval", "wolfssl", "hardware", "SHA-1", "21.28"),
        ("nucleo-h753zi", "wolfssl", "software", "ECDSA [      SECP256R1] 256 sign", "270.500"),
    ],
)
def test_find(board: str, library: str, build: str, row: str, value: str) -> None:
    found = find(board, library, build, row)
    assert found is not None
    assert found.value == value
    assert found.source


def test_nothing_is_nothing() -> None:
    assert find("ublox-c030-u201", "wolfssl", "software", "SHA-256") is None
    assert find("nucleo-f439zi", "mbedtls", "software", "SHA-256") is None
    assert find("ublox-c030-u201", "mbedtls", "software", "MD5") is None


def test_canonical() -> None:
    assert canonical("ECC   [      SECP256R1]   256  key gen") == canonical("ECC [ SECP256R1] 256 key gen")
    assert canonical("AES-CBC-128") != canonical("AES-CBC-192")
