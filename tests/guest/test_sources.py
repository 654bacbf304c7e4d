"""Library sources: apt's source lists in both forms, a folder instead, and everything that can be missing."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from cryplab.errors import ToolError, UsageError
from cryplab.guest import sources
from cryplab.guest.sources import PACKAGES, Mirror, SourcePackage, library, mirrors

ONE_LINE = """\
# deb http://off.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian trixie main
deb http://mirror.example/debian trixie-updates main  # the same archive again
deb http://security.example/debian-security trixie-security main
deb cdrom:[Debian GNU/Linux]/ trixie main
deb https://packages.example/tools stable-tools main
deb-src http://other.example/debian bookworm main
"""

DEB822 = """\
Types: deb
URIs: http://mirror.example/debian http://second.example/debian
Suites: trixie trixie-updates
Components: main
# a comment in a stanza
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEZ
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://security.example/debian-security
Suites: trixie-security
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: sid
Components: main

Types: deb
URIs: https://node.example/node_20.x
Suites: nodistro
Components: main
"""


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_one_line_form(tmp_path: Path) -> None:
    found = mirrors([put(tmp_path, "sources.list", ONE_LINE)])
    assert found == [
        Mirror(("http://mirror.example/debian",), (("Signed-By", "/usr/share/keyrings/debian-archive-keyring.gpg"),)),
        Mirror(("http://other.example/debian",)),
    ]


def test_deb822_form_with_inline_key(tmp_path: Path) -> None:
    (found,) = mirrors([put(tmp_path, "debian.sources", DEB822)])
    assert found.uris == ("http://mirror.example/debian", "http://second.example/debian")
    assert found.source_list("bookworm") == (
        "Types: deb-src\n"
        "URIs: http://mirror.example/debian http://second.example/debian\n"
        "Suites: bookworm\n"
        "Components: main\n"
        "Signed-By: \n"
        " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEZ\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )


def test_mirror_method_and_trusted(tmp_path: Path) -> None:
    text = "deb [trusted=yes] mirror+file:/etc/apt/mirrors/debian.list bookworm-backports main\n"
    (found,) = mirrors([put(tmp_path, "a.list", text)])
    assert found == Mirror(("mirror+file:/etc/apt/mirrors/debian.list",), (("Trusted", "yes"),))


def test_both_forms_and_missing_files(tmp_path: Path) -> None:
    files = [tmp_path / "absent.list", put(tmp_path, "a.list", ONE_LINE), put(tmp_path, "b.sources", DEB822)]
    uris = [mirror.uris[0] for mirror in mirrors(files)]
    assert uris == ["http://mirror.example/debian", "http://other.example/debian", "http://mirror.example/debian"]


@pytest.mark.parametrize(
    "text", ["", "garbage\n", "deb\n", "deb http://x.example/ubuntu jammy main\n", "deb [broken\n"]
)
def test_lists_without_debian(tmp_path: Path, text: str) -> None:
    assert mirrors([put(tmp_path, "sources.list", text), put(tmp_path, "x.sources", text)]) == []


# ---- what can be missing ---------------------------------------------------------------------------


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CRYPLAB_MBEDTLS", raising=False)
    return tmp_path


def test_folder_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tree(tmp_path / "mine")
    assert library("mbedtls", tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("CRYPLAB_MBEDTLS", str(tmp_path / "mine"))
    assert library("mbedtls") == tmp_path / "mine"


def put_tree(folder: Path) -> None:
    (folder / "library").mkdir(parents=True)
    (folder / "library" / "aes.c").touch()


def test_folder_without_sources(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no mbed TLS sources here, library/aes.c is missing") as error:
        library("mbedtls", tmp_path)
    assert str(tmp_path) in str(error.value)


def test_unknown_library() -> None:
    with pytest.raises(UsageError, match="no library 'mbedtsl'; did you mean 'mbedtls'"):
        library("mbedtsl")


def test_no_apt(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.shutil, "which", lambda _name: None)
    with pytest.raises(ToolError, match="no apt-get on this machine; give the sources with --source"):
        library("mbedtls")


def test_no_debian_archive(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sources, "apt_source_files", list)
    with pytest.raises(ToolError, match="apt's source lists name no Debian archive; give the sources with --source"):
        library("mbedtls")


def fake_apt(folder: Path, body: str) -> None:
    (folder / "bin").mkdir()
    script = folder / "bin" / "apt-get"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo 'E: Could not resolve the mirror' >&2; exit 100", r"\(Could not resolve the mirror\)"),
        ("echo 'W: Failed to fetch the index' >&2; exit 0", r"\(Failed to fetch the index\)"),
        ("exit 100", r"\(exit code 100\)"),
        ("exit 0", r"brought no mbedtls_2.28.3.orig.tar.gz"),
    ],
)
def test_apt_fails(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str) -> None:
    fake_apt(empty_cache, body)
    monkeypatch.setenv("PATH", f"{empty_cache / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(sources, "apt_source_files", lambda: [put(empty_cache, "a.list", ONE_LINE)])
    with pytest.raises(ToolError, match=reason) as error:
        library("mbedtls")
    assert "\n" not in str(error.value)
    assert list((empty_cache / "cache" / "cryplab" / "sources").iterdir()) == []


def tarball(path: Path, names: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_fetch_checks_and_unpacks(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = empty_cache / "packed.tar.gz"
    wanted = {"top/library/aes.c": b"aes", "top/include/aes.h": b"", "top/LICENSE": b""}
    tarball(packed, {**wanted, "top/tests/big": b"no", "top/../../escape": b"no", "lone": b"no"})
    fake_apt(empty_cache, f'[ "$#" -gt 0 ] && cp {packed} mbedtls_2.28.3.orig.tar.gz')
    monkeypatch.setenv("PATH", f"{empty_cache / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(sources, "apt_source_files", lambda: [put(empty_cache, "a.list", ONE_LINE)])
    with pytest.raises(ToolError, match=f"SHA-256 is [0-9a-f]{{64}}, expected {PACKAGES['mbedtls'].sha256}"):
        library("mbedtls")

    import hashlib
    from dataclasses import replace

    good: SourcePackage = replace(PACKAGES["mbedtls"], sha256=hashlib.sha256(packed.read_bytes()).hexdigest())
    monkeypatch.setitem(PACKAGES, "mbedtls", good)
    lines: list[str] = []
    folder = library("mbedtls", progress=lines.append)
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
        "LICENSE", "include/aes.h", "library/aes.c",
    ]  # fmt: skip
    assert lines == ["mbed TLS 2.28.3: fetching the Debian source package"]
    assert library("mbedtls", progress=lines.append) == folder
    assert len(lines) == 1  # kept
    (folder / "LICENSE").unlink()  # as an earlier version that kept less would have it
    assert library("mbedtls", progress=lines.append) == folder
    assert len(lines) == 2
    assert (folder / "LICENSE").is_file()
