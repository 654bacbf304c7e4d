"""SARIF: the log has the shape that version 2.1.0 of the standard asks for, and paths below the source root."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cryplab.errors import InputError
from cryplab.observe.findings import Findings, Place
from cryplab.observe.sarif import sarif, source_root, write_sarif
from observe.test_findings import finding

TEXT: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
LOCATION: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "uri": {"type": "string", "format": "uri-reference"},
                        "uriBaseId": {"type": "string"},
                    },
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
            },
        },
        "message": TEXT,
    },
}
SCHEMA: dict[str, Any] = {  # the part of the standard's schema that concerns what is written, OASIS SARIF 2.1.0
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "additionalProperties": False,
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "name": {"type": "string"},
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "properties": {
                                                        "level": {"enum": ["none", "note", "warning", "error"]}
                                                    },
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {"type": "object"},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["message"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION},
                                "relatedLocations": {"type": "array", "items": LOCATION},
                                "occurrenceCount": {"type": "integer", "minimum": 1},
                                "stacks": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["frames"],
                                        "properties": {
                                            "frames": {
                                                "type": "array",
                                                "items": {"type": "object", "properties": {"location": LOCATION}},
                                            }
                                        },
                                    },
                                },
                                "properties": {"type": "object"},
                            },
                        },
                    },
                },
            },
        },
    },
}


def log() -> dict[str, Any]:
    found = Findings()
    found.add(finding())
    found.add(replace(finding(pc=0x0800_2000), rule="O17", kind="rng-error-unrecovered", earlier=None))
    found.add(replace(finding(), rule="O4", kind="handshake-ignored", where=Place(0x0800_3000)))
    return sarif(found)


def test_it_validates() -> None:
    jsonschema.validate(json.loads(json.dumps(log())), SCHEMA)
    jsonschema.validate(sarif([]), SCHEMA)


def test_paths_are_relative_to_the_source_root() -> None:
    run = log()["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "aes_alt.c", "uriBaseId": "SRCROOT"}, "region": {"startLine": 41}}
    assert "SRCROOT" in run["originalUriBaseIds"]
    assert run["results"][0]["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 12}
    assert "physicalLocation" not in run["results"][2]["locations"][0]
    assert run["results"][2]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "0x08003000"
    assert sarif([finding()], "/src")["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"][
        "uri"
    ] == ("port/aes_alt.c")


def test_rules_are_listed_in_order_and_referred_to() -> None:
    run = log()["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["O1", "O4", "O17"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]


def test_source_root() -> None:
    other = replace(finding(), where=Place(1, 0, "f", "/src/lib/x.c", 3), earlier=None)
    assert source_root([finding(), other]) == "/src"
    assert source_root([replace(finding(), where=Place(1), earlier=None)]) == ""


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    write_sarif(tmp_path / "found.sarif", [finding()])
    assert json.loads((tmp_path / "found.sarif").read_text())["version"] == "2.1.0"
    with pytest.raises(InputError, match=r"cannot write the findings to .*: No such file or directory"):
        write_sarif(tmp_path / "nowhere" / "found.sarif", [])
