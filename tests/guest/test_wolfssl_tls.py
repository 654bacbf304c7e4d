"""The programs with network with wolfSSL: their parts, and our C code without a warning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cryplab.errors import ToolError, UsageError
from cryplab.guest import build, network, sources, wolfssl_tls
from cryplab.guest.targets import BOARDS
from firmware_builds import needs_gcc

module = sys.modules["cryplab.guest.build"]
HERE = Path(wolfssl_tls.__file__).parent
F2, F4 = BOARDS["stm3221g-eval"], BOARDS["nucleo-f439zi"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ssl.c").touch()
    return tmp_path


@pytest.mark.parametrize(("board", "path"), [(F2, "spl"), (F4, "hal")])
@pytest.mark.parametrize("program", network.PROGRAMS)
def test_library_and_port_are_unmodified(root: Path, board: object, path: str, program: str) -> None:
    made = wolfssl_tls.parts(root, HERE, program, "hardware", board, "sp", Path("/lwip"))  # type: ignore[arg-type]
    assert all(root in source.parents for source in made.library)
    assert {root / "src" / "internal.c", root / "wolfcrypt/src/port/st/stm32.c"} <= set(made.library)
    assert all(HERE in source.parents for source in made.ours)
    assert HERE / "programs" / f"{program}.c" in made.ours
    assert path in {source.parent.name for source in made.ours}
    settings = next(flag for flag in made.flags if flag.startswith("-I"))
    assert settings == f"-I{HERE / 'ports' / 'wolfssl' / 'tls'}"  # before the settings of the other programs


def test_what_the_builds_are(root: Path) -> None:
    def macros(build_name: str, tasks: bool = False) -> set[str]:
        made = wolfssl_tls.parts(root, HERE, "tls_client", build_name, F4, "sp", Path("/lwip"), tasks)
        return {flag.removeprefix("-DCRYPLAB_") for flag in made.flags if flag.startswith("-DCRYPLAB_")}

    common = macros("software") - {"SOFTWARE"}
    assert macros("hardware") == common | {"HARDWARE"}
    assert macros("faulty") == common | {"HARDWARE", "FAULTY"}
    assert macros("hardware", tasks=True) == common | {"HARDWARE", "KERNEL"}
    with pytest.raises(UsageError, match="wolfssl has no hal-style build of tls_client; there is software, hardware,"):
        macros("hal-style")


def test_sources_without_tls(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no TLS of wolfSSL here, src/ssl\.c is missing"):
        wolfssl_tls.parts(tmp_path, HERE, "tls_client", "hardware", F4, "sp", tmp_path)


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("program", network.PROGRAMS)
@pytest.mark.parametrize(("board", "build_name"), [("nucleo-f439zi", "hardware"), ("stm3221g-eval", "faulty")])
def test_builds_without_a_warning(program: str, board: str, build_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's objects are those of tests/tls/test_wolfssl.py."""
    for library in ("wolfssl", "lwip"):
        try:
            sources.library(library)
        except ToolError as missing:
            pytest.skip(str(missing))
    monkeypatch.setattr(module, "OUR_FLAGS", (*module.OUR_FLAGS, "-Werror"))
    build(program, board, "wolfssl", build_name)
