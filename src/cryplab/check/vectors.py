"""Readers of published cipher vectors: CAVP response files and Wycheproof documents.

Each gives plain records; nothing here knows what will be tested with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["AeadVector", "cavp_ccm", "cavp_gcm", "cavp_records", "wycheproof_aead"]


@dataclass(frozen=True, slots=True)
class AeadVector:
    """One case of authenticated encryption; `valid` is False when decryption must be refused.

    All in bytes. `text` is None where the file does not tell it (refused decryptions).
    """

    key: bytes
    iv: bytes
    aad: bytes
    text: bytes | None
    cipher: bytes
    tag: bytes
    valid: bool
    name: str


def cavp_records(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The records of a CAVP response file, one for each COUNT.

    Names are upper case. A name in brackets, or before the first COUNT of a section, holds for all
    records that follow until it is set again. `[ENCRYPT]` and `[DECRYPT]` become name SECTION; a
    bare word such as FAIL becomes a name with an empty value.
    """
    standing: dict[str, str] = {}
    record: dict[str, str] | None = None
    for raw in lines:
        line = raw.strip()
        if not line:
            if record:
                yield record
            record = None
            continue
        if line.startswith("#"):
            continue
        bracketed = line.startswith("[")
        for part in line.strip("[]").split(","):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            name = name.upper()
            if bracketed and not equals:
                name, value = "SECTION", name
            if name == "COUNT":
                if record:
                    yield record
                record = {**standing, name: value}
            elif record is None:
                standing[name] = value
            else:
                record[name] = value
    if record:
        yield record


def cavp_gcm(lines: Iterable[str], name: str) -> Iterator[AeadVector]:
    """GCM files: gcmEncryptExtIV*.rsp and gcmDecrypt*.rsp."""
    for record in cavp_records(lines):
        key, iv, aad, cipher, tag = (bytes.fromhex(record[part]) for part in ("KEY", "IV", "AAD", "CT", "TAG"))
        text = bytes.fromhex(record["PT"]) if "PT" in record else None
        case = f"{name} iv {record['IVLEN']} text {record['PTLEN']} aad {record['AADLEN']} count {record['COUNT']}"
        yield AeadVector(key, iv, aad, text, cipher, tag, "FAIL" not in record, case)


def cavp_ccm(lines: Iterable[str], name: str) -> Iterator[AeadVector]:
    """CCM files: VADT, VNT, VPT, VTT and DVPT. Empty strings are written as 00 with a length of 0."""
    for record in cavp_records(lines):
        text_bytes, aad_bytes, tag_bytes = (int(record[length]) for length in ("PLEN", "ALEN", "TLEN"))
        both = bytes.fromhex(record["CT"])
        valid = record.get("RESULT", "Pass").startswith("Pass")
        text = bytes.fromhex(record["PAYLOAD"])[:text_bytes] if valid else None
        yield AeadVector(
            bytes.fromhex(record["KEY"]),
            bytes.fromhex(record["NONCE"]),
            bytes.fromhex(record["ADATA"])[:aad_bytes],
            text,
            both[:text_bytes],
            both[text_bytes : text_bytes + tag_bytes],
            valid,
            f"{name} text {text_bytes} aad {aad_bytes} tag {tag_bytes} count {record['COUNT']}",
        )


def wycheproof_aead(document: str) -> Iterator[tuple[AeadVector, tuple[str, ...]]]:
    """An AEAD document of schema version 1: cases with their flags (why each exists)."""
    parsed: dict[str, Any] = json.loads(document)
    for group in parsed["testGroups"]:
        for test in group["tests"]:
            key, iv, aad, text, cipher, tag = (
                bytes.fromhex(test[part]) for part in ("key", "iv", "aad", "msg", "ct", "tag")
            )
            name = f"{parsed['algorithm']} tcId {test['tcId']}"
            yield AeadVector(key, iv, aad, text, cipher, tag, test["result"] != "invalid", name), tuple(test["flags"])
