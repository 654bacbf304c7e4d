"""Library sources for the reference firmware: from a folder, or from the Debian source package.

The package is fetched by `apt-get` with a private source list made from the machine's own mirror
setting (one-line and deb822 forms), private state folders and the system's own proxy and
authentication settings. No system file is changed. The original tarball's SHA-256 is pinned.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryplab.errors import ToolError, UsageError, nearest

Progress = Callable[[str], None]

RELEASE = "bookworm"  # the Debian release whose source packages we use, on whatever release we run
DEBIAN_NAMES = frozenset({
    "oldoldstable", "oldstable", "stable", "testing", "unstable", "sid", "buster", "bullseye", "bookworm", "trixie",
    "forky", "duke",
})  # fmt: skip
FETCH_LIMIT_S = 300


@dataclass(frozen=True)
class SourcePackage:
    """A Debian source package: `keep` are the folders of the tarball that we need, `probe` a file in them.

    `older`: a file by which a folder of an older version, with other names, is known.
    """

    name: str
    title: str
    version: str
    tarball: str
    sha256: str
    variable: str
    keep: tuple[str, ...]
    probe: str
    older: str = ""

    def complete(self, folder: Path) -> bool:
        """Whether all that we keep is in a folder, which an earlier cryplab may have filled with less."""
        return (folder / self.probe).is_file() and all((folder / part).exists() for part in self.keep)


PACKAGES = {
    "mbedtls": SourcePackage(
        name="mbedtls",
        title="mbed TLS",
        version="2.28.3",
        tarball="mbedtls_2.28.3.orig.tar.gz",
        sha256="3b4953aa55a681e084d31892d9904cc5328d6b4958ea57b90ae4b4f94ae69a8d",
        variable="CRYPLAB_MBEDTLS",
        keep=("include", "library", "LICENSE"),
        probe="library/aes.c",
    ),
    "wolfssl": SourcePackage(
        name="wolfssl",
        title="wolfSSL",
        version="5.5.4",
        tarball="wolfssl_5.5.4.orig.tar.gz",
        sha256="b7ee150e49def77c765bc02aac92ddeb0bebefd4cb12aa263d8f95e405221fb8",
        variable="CRYPLAB_WOLFSSL",
        keep=("src", "wolfcrypt", "wolfssl", "COPYING", "LICENSING"),
        probe="wolfcrypt/src/aes.c",
        older="ctaocrypt/src/aes.c",
    ),
    "lwip": SourcePackage(
        name="lwip",
        title="lwIP",
        version="2.1.3",
        tarball="lwip_2.1.3+dfsg1.orig.tar.xz",
        sha256="0a8276d09fc4e97bbba2f953d74af2388fc2195ea156be9d7589e297a68fde24",
        variable="CRYPLAB_LWIP",
        keep=("src", "COPYING"),
        probe="src/core/init.c",
    ),
}


@dataclass(frozen=True)
class Mirror:
    """One archive of the machine's apt settings that carries Debian releases."""

    uris: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def source_list(self, release: str) -> str:
        """A deb822 source list for the source packages of `release`."""
        fields = [
            ("Types", "deb-src"), ("URIs", " ".join(self.uris)), ("Suites", release), ("Components", "main"),
            *self.options,
        ]  # fmt: skip
        return "".join(f"{name}: {value}\n" for name, value in fields)


def cache_folder() -> Path:
    """Where everything built or fetched is kept: `$XDG_CACHE_HOME/cryplab`, else `~/.cache/cryplab`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cryplab"


def library(name: str, source: str | Path | None = None, progress: Progress | None = None) -> Path:
    """The folder of a library's sources, fetched when it is not there yet.

    Args:
        name: a key of PACKAGES.
        source: this folder instead; the environment variable of the package comes next.
        progress: called with a line of text at each longer step.
    Raises: ToolError with one sentence when the sources cannot be had.
    """
    if name not in PACKAGES:
        raise UsageError(f"no library '{name}'{nearest(name, PACKAGES) or '.'} There is {', '.join(PACKAGES)}")
    package = PACKAGES[name]
    given = source or os.environ.get(package.variable)
    if given:
        folder = Path(given).expanduser()
        known = [p for p in (package.probe, package.older) if p and (folder / p).is_file()]
        if not known:
            raise ToolError(f"{folder}: no {package.title} sources here, {package.probe} is missing")
        return folder
    folder = cache_folder() / "sources" / f"{package.name}-{package.version}"
    if not package.complete(folder):
        _fetch(package, folder, progress or (lambda _line: None))
    return folder


# ---- the machine's apt settings ------------------------------------------------------------------


def parse_one_line(text: str) -> Iterator[tuple[tuple[str, ...], str, list[str], dict[str, str]]]:
    """Entries of a `.list` file: types, URI, suites, options (names in lower case)."""
    for raw in text.splitlines():
        line = raw.split("#", 1)[0].strip()
        match = re.match(r"(deb|deb-src)\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)(.*)$", line)
        if not match:
            continue
        kind, bracket, uri, suite, _components = match.groups()
        options = dict(item.split("=", 1) for item in (bracket or "").split() if "=" in item)
        yield (kind,), uri, [suite], {name.lower().rstrip("+-"): value for name, value in options.items()}


def parse_deb822(text: str) -> Iterator[dict[str, str]]:
    """Stanzas of a `.sources` file, field names in lower case; continuation lines kept as they are."""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        fields: dict[str, str] = {}
        last = ""
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t") and last:
                fields[last] += "\n" + line
            elif ":" in line:
                last, value = line.split(":", 1)
                last = last.strip().lower()
                fields[last] = value.strip()
        if fields:
            yield fields


def _is_debian(suites: Iterable[str]) -> bool:
    return any(re.sub(r"-(updates|backports|proposed-updates)$", "", suite) in DEBIAN_NAMES for suite in suites)


def _mirrors_one_line(text: str) -> Iterator[Mirror]:
    for _types, uri, suites, options in parse_one_line(text):
        if _is_debian(suites) and not uri.startswith("cdrom:"):
            kept = [(deb822, options[name]) for name, deb822 in _KEPT.items() if name in options]
            yield Mirror((uri,), tuple(kept))


def _mirrors_deb822(text: str) -> Iterator[Mirror]:
    for fields in parse_deb822(text):
        if fields.get("enabled", "yes").lower() in ("no", "false", "off", "0"):
            continue
        uris = tuple(uri for uri in fields.get("uris", "").split() if not uri.startswith("cdrom:"))
        if uris and _is_debian(fields.get("suites", "").split()):
            kept = [(deb822, fields[name]) for name, deb822 in _KEPT.items() if name in fields]
            yield Mirror(uris, tuple(kept))


_KEPT = {"signed-by": "Signed-By", "trusted": "Trusted"}


def mirrors(files: Iterable[Path]) -> list[Mirror]:
    """The Debian archives named in apt's source files, in order, without repeats."""
    found: dict[tuple[str, ...], Mirror] = {}
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        parse = _mirrors_deb822 if file.suffix == ".sources" else _mirrors_one_line
        for mirror in parse(text):
            found.setdefault(mirror.uris, mirror)
    return list(found.values())


def apt_source_files() -> list[Path]:
    """The source list files that apt itself would read on this machine."""
    query = ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    values = dict(part.split("=", 1) for part in shlex.split(done.stdout) if "=" in part)
    main = Path(values.get("LIST") or "/etc/apt/sources.list")
    parts = Path(values.get("PARTS") or "/etc/apt/sources.list.d")
    extra = sorted(p for p in parts.glob("*") if p.suffix in (".list", ".sources")) if parts.is_dir() else []
    return [p for p in [main, *extra] if p.is_file()]


# ---- fetching --------------------------------------------------------------------------------------


def _advice(package: SourcePackage) -> str:
    return f"give the sources with --source DIR or {package.variable}"


def _fetch(package: SourcePackage, folder: Path, progress: Progress) -> None:
    if not shutil.which("apt-get"):
        raise ToolError(f"{package.title} {package.version}: no apt-get on this machine; {_advice(package)}")
    found = mirrors(apt_source_files())
    if not found:
        raise ToolError(
            f"{package.title} {package.version}: apt's source lists name no Debian archive; {_advice(package)}"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder.parent) as work:
        failure = "no source package"
        for mirror in found:
            progress(f"{package.title} {package.version}: fetching the Debian source package")
            failure = _download(package, mirror, Path(work)) or ""
            if not failure:
                break
        if failure:
            raise ToolError(f"{package.title} {package.version}: {failure}; {_advice(package)}")
        _unpack(package, Path(work) / package.tarball, folder)


def _download(package: SourcePackage, mirror: Mirror, work: Path) -> str | None:
    """Bring the tarball into `work`; returns what went wrong, if anything did."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (work / name).mkdir(parents=True, exist_ok=True)
    (work / "status").touch()
    (work / "private.sources").write_text(mirror.source_list(RELEASE), encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": work / "private.sources", "Dir::Etc::sourceparts": "-",
        "Dir::Etc::preferences": "-", "Dir::Etc::preferencesparts": "-",
        "Dir::State": work / "state", "Dir::State::status": work / "status", "Dir::Cache": work / "cache",
        "APT::Sandbox::User": "", "Acquire::Retries": 1, "Acquire::http::Timeout": 30,
        "Acquire::https::Timeout": 30, "Acquire::Languages": "none",
    }  # fmt: skip
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    wanted = f"{package.name}/{RELEASE}"
    for command in (["update", "-q"], ["source", "-q", "--download-only", "--only-source", wanted]):
        trouble = _run(["apt-get", *options, *command], work)
        if trouble:
            return trouble
    if not (work / package.tarball).is_file():
        return f"the Debian source package brought no {package.tarball}"
    return None


def _run(command: list[str], folder: Path) -> str | None:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=FETCH_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"apt-get did not end within {FETCH_LIMIT_S} seconds"
    complaints = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W: Failed"))]
    if done.returncode == 0 and not any(line.startswith("W: Failed") for line in complaints):
        return None
    reason = complaints[0][2:].strip() if complaints else f"exit code {done.returncode}"
    return f"apt-get could not fetch the Debian source package ({reason})"


def _unpack(package: SourcePackage, tarball: Path, folder: Path) -> None:
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if digest != package.sha256:
        raise ToolError(f"{package.tarball}: SHA-256 is {digest}, expected {package.sha256}; {_advice(package)}")
    fresh = tarball.parent / "unpacked"
    with tarfile.open(tarball) as archive:
        for member in archive:
            parts = Path(member.name).parts[1:]
            if not member.isfile() or not parts or ".." in parts or parts[0] not in package.keep:
                continue
            data = archive.extractfile(member)
            target = fresh.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            if data is not None:
                target.write_bytes(data.read())
    with contextlib.suppress(FileNotFoundError):
        folder.rename(tarball.parent / "incomplete")
    try:
        fresh.rename(folder)
    except OSError:
        if not package.complete(folder):  # somebody else was faster: theirs is as good
            raise
