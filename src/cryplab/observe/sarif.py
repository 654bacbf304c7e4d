"""Findings as SARIF 2.1.0, for code hosts that show them beside the source line.

Paths are relative to the firmware's source root (the longest folder that all source files share, or the one
that is given), under the base `SRCROOT`. A finding without a line has a logical location only.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cryplab.errors import InputError
from cryplab.observe.explain import KINDS, RULES
from cryplab.observe.findings import Finding, Place

__all__ = ["sarif", "source_root", "write_sarif"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT_NAME = "SRCROOT"


def source_root(findings: Iterable[Finding]) -> str:
    """The longest folder that all files of the findings lie in; empty when there is none."""
    files = [place.file for finding in findings for place in _places(finding) if place.file.startswith("/")]
    if not files:
        return ""
    return posixpath.commonpath([posixpath.dirname(file) for file in files])


def _places(finding: Finding) -> list[Place]:
    return [finding.where, *([finding.earlier.where] if finding.earlier else [])]


def sarif(findings: Iterable[Finding], root: str = "") -> dict[str, Any]:
    """A SARIF log of one run.

    Args:
        findings: in the order in which they are to be shown.
        root: source root; default see `source_root`.
    """
    found = list(findings)
    root = (root or source_root(found)).rstrip("/")
    used = sorted({finding.rule for finding in found}, key=lambda rule: int(rule[1:]))
    run: dict[str, Any] = {
        "tool": {"driver": _driver(used)},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, used, root) for finding in found],
    }
    if root:
        run["originalUriBaseIds"] = {ROOT_NAME: {"description": {"text": "root of the firmware's sources"}}}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(used: list[str]) -> dict[str, Any]:
    try:
        number = version("cryplab")
    except PackageNotFoundError:
        number = "0"
    return {
        "name": "cryplab",
        "version": number,
        "rules": [
            {
                "id": rule,
                "name": "".join(word.capitalize() for word in RULES[rule].name.replace("-", " ").split()),
                "shortDescription": {"text": RULES[rule].name},
                "fullDescription": {"text": RULES[rule].meaning},
                "help": {"text": f"{RULES[rule].repair} See `cryplab explain {rule}`."},
                "defaultConfiguration": {"level": "error"},
            }
            for rule in used
        ],
    }


def _result(finding: Finding, used: list[str], root: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": used.index(finding.rule),
        "level": "error",
        "message": {"text": _message(finding)},
        "locations": [_location(finding.where, root)],
        "occurrenceCount": finding.count,
        "properties": {
            "kind": finding.kind, "block": finding.block, "cycle": finding.where.cycle,
            "operation": finding.operation, "context": finding.context, "registers": finding.registers,
        },
    }  # fmt: skip
    if finding.earlier is not None:
        earlier = _location(finding.earlier.where, root)
        earlier["message"] = {"text": str(finding.earlier)}
        result["relatedLocations"] = [earlier]
    if finding.stack:
        result["stacks"] = [{"frames": [{"location": {"message": {"text": frame}}} for frame in finding.stack]}]
    return result


def _message(finding: Finding) -> str:
    during = f" During {finding.operation}." if finding.operation else ""
    return f"{finding.title[:1].upper()}{finding.title[1:]}. {finding.text}{during} {KINDS[finding.kind].repair}."


def _location(place: Place, root: str) -> dict[str, Any]:
    location: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": place.function or f"{place.pc:#010x}", "kind": "function"}]
    }
    if place.line:
        artifact: dict[str, Any] = {"uri": _uri(place.file, root)}
        if root and place.file.startswith(root + "/"):
            artifact["uriBaseId"] = ROOT_NAME
        location["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": place.line}}
    return location


def _uri(file: str, root: str) -> str:
    from urllib.parse import quote

    relative = file[len(root) + 1 :] if root and file.startswith(root + "/") else file
    return quote(relative)


def write_sarif(path: Path, findings: Iterable[Finding], root: str = "") -> None:
    """`--sarif FILE`. Raises: InputError when the file cannot be written."""
    try:
        path.write_text(json.dumps(sarif(findings, root), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the findings to {path}: {error.strerror}") from None
