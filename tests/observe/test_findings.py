"""Findings: the same one is counted, the text fits a terminal, JSON has everything."""

from __future__ import annotations

import json

from cryplab.observe.findings import Earlier, Finding, Findings, Place

FILE = "/src/port/aes_alt.c"


def finding(pc: int = 0x0800_1234, line: int = 41) -> Finding:
    return Finding(
        "O1",
        "context-lost-on-interleave",
        "data processed under the key of another context",
        "Data of AES context 0x20000100 enters CRYP while the key registers K2LR to K3RR hold what was written for "
        "AES context 0x20000200.",
        "CRYP",
        Place(pc, 1000, "push+0x14", FILE, line),
        {"CRYP.K2LR": "0x64656667"},
        "mbedtls_aes_crypt_ecb(0x20000100, 16 bytes)",
        "AES context 0x20000100",
        ["0x08000400 main+0x3a at main.c:96"],
        Earlier("CRYP.K2LR was written", Place(0x0800_1100, 500, "load+0x4", FILE, 12), "AES context 0x20000200"),
        "load the key each time",
    )


def test_text() -> None:
    assert finding().show().splitlines() == [
        "O1 context-lost-on-interleave: data processed under the key of another context",
        "  at        0x08001234 push+0x14 at aes_alt.c:41",
        "            Data of AES context 0x20000100 enters CRYP while the key registers",
        "            K2LR to K3RR hold what was written for AES context 0x20000200.",
        "  during    mbedtls_aes_crypt_ecb(0x20000100, 16 bytes)",
        "  earlier   CRYP.K2LR was written at 0x08001100 load+0x4 at aes_alt.c:12, cycle",
        "            500, for AES context 0x20000200",
        "  register  CRYP.K2LR = 0x64656667",
        "  called by 0x08000400 main+0x3a at main.c:96",
        "  repair    load the key each time",
    ]


def test_the_same_finding_is_counted() -> None:
    found = Findings()
    assert found.add(finding())
    assert not found.add(finding())
    assert found.again(finding().key)
    assert not found.again(finding(pc=2).key)
    assert found.add(finding(pc=2))
    assert [f.count for f in found] == [3, 1]
    assert found.show().startswith(
        "O1 context-lost-on-interleave: data processed under the key of another context (3 times)"
    )


def test_json() -> None:
    found = Findings()
    found.add(finding())
    (document,) = json.loads(json.dumps(found.as_json()))
    assert document["rule"] == "O1"
    assert document["where"]["line"] == 41
    assert document["earlier"]["context"] == "AES context 0x20000200"
    assert document["count"] == 1


def test_no_findings() -> None:
    assert Findings().show() == "no findings"
