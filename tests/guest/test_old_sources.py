"""Which files of which version of mbed TLS are compiled, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from cryplab.guest.build import _library_units
from cryplab.guest.targets import BOARDS


def sources(folder: Path, headers: list[str]) -> Path:
    (folder / "library").mkdir()
    (folder / "include" / "mbedtls").mkdir(parents=True)
    for name in ("aes", "md_wrap", "gcm"):
        (folder / "library" / f"{name}.c").touch()
    for header in headers:
        (folder / "include" / "mbedtls" / header).touch()
    return folder


@pytest.mark.parametrize(("headers", "wipes"), [(["platform_util.h"], True), ([], False)])
def test_only_files_that_the_version_has_and_no_wiping_before_2_10(
    tmp_path: Path, headers: list[str], wipes: bool
) -> None:
    compiled = _library_units(sources(tmp_path, headers), "software", BOARDS["ublox-c030-u201"])
    units = {unit.source.stem: unit.flags for unit in compiled}
    assert set(units) == {"aes", "md_wrap", "gcm"}
    assert ("wipe_contexts.h" in units["aes"]) is wipes
    assert "-fno-split-wide-types" in units["gcm"]
