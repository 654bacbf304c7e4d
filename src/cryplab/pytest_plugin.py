"""The pytest plugin: a booted chip for every test, and findings as failures.

    # pytest --cryplab-firmware firmware.elf --cryplab-board ublox-c030-u201
    def test_sum(machine, call):
        data = machine.allocate(b"123456789")
        assert call("crc32", data, 9) == 0xCBF43926

The firmware boots once for each process; every test starts from that snapshot, in milliseconds, and changes nothing
for the next. A test that passed fails after all when a rule was broken while it ran (`--cryplab-no-findings`: not).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cryplab.machine import Machine
    from cryplab.observe.findings import Finding

__all__ = ["call", "machine"]

Caller = Callable[..., int]
DEFAULT_BOARD = "ublox-c030-u201"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and their ini twins."""
    group = parser.getgroup("cryplab", "firmware on a virtual STM32")
    group.addoption("--cryplab-firmware", metavar="FILE", help="ELF to test (ini: cryplab_firmware).")
    group.addoption("--cryplab-board", metavar="B", help=f"Board name or file (ini: cryplab_board) [{DEFAULT_BOARD}].")
    group.addoption("--cryplab-init", action="append", metavar="SYMBOL", default=[],
                    help="Function called after the boot; repeatable.")  # fmt: skip
    group.addoption("--cryplab-boot", type=float, default=1.0, metavar="SECONDS",
                    help="Virtual time for the boot, unless it calls crypto or sleeps before [1].")  # fmt: skip
    group.addoption("--cryplab-seed", type=int, default=0, metavar="N", help="Of the RNG and all random choices [0].")
    group.addoption("--cryplab-inject", action="append", metavar="NAME[=N]", default=[],
                    help="Inject an error into every test; repeatable.")  # fmt: skip
    group.addoption("--cryplab-no-findings", action="store_true", help="Broken rules do not fail a test.")
    parser.addini("cryplab_firmware", "ELF to test, from the ini file's folder")
    parser.addini("cryplab_board", "board name or file")


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers",
        "cryplab(firmware=None, board=None, init=(), inject=(), findings=True): another firmware, board, functions "
        "called after the boot, errors injected, or broken rules allowed for this test",
    )


class _Booted:
    """A firmware booted on a board, with the snapshot that tests start from."""

    def __init__(self, firmware: Path, board: str, init: tuple[str, ...], seed: int, seconds: float) -> None:
        from cryplab.check.session import boot
        from cryplab.machine import Machine
        from cryplab.observe.api import known_functions

        self.machine = Machine(board, seed=seed)
        self.machine.load(firmware)
        self.observer = self.machine.observe()
        assert self.machine.image is not None
        linked = [f for f in known_functions().values() if f.name in self.machine.image.symbols]
        # a driver's functions are called while a firmware starts, before the libraries on it are ready
        entries = [f.name for f in linked if not f.driver] or [f.name for f in linked if f.does != "init"]
        self.where = boot(self.machine, entries, init, seconds)
        self.take_findings()
        self.snapshot = self.machine.snapshot()

    def take_findings(self) -> list[Finding]:
        """Findings since the last time."""
        found = self.observer.take_findings()
        self.machine.reports.clear()
        return found


_booted: dict[tuple[Any, ...], _Booted] = {}
"By what they were made of: one for each process, or for each marker."
_USED = pytest.StashKey[_Booted]()


def _settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    config = request.config
    marker = request.node.get_closest_marker("cryplab")
    given: dict[str, Any] = dict(marker.kwargs) if marker else {}
    firmware = given.get("firmware") or config.getoption("--cryplab-firmware")
    if not firmware and config.getini("cryplab_firmware"):
        firmware = config.rootpath / config.getini("cryplab_firmware")
    if not firmware:
        pytest.fail("no firmware: give --cryplab-firmware FILE, or cryplab_firmware in the ini file", pytrace=False)
    board = given.get("board") or config.getoption("--cryplab-board") or config.getini("cryplab_board") or DEFAULT_BOARD
    return {
        "firmware": Path(firmware),
        "board": board,
        "init": (*config.getoption("--cryplab-init"), *given.get("init", ())),
        "inject": (*config.getoption("--cryplab-inject"), *given.get("inject", ())),
        "seed": config.getoption("--cryplab-seed"),
        "boot": config.getoption("--cryplab-boot"),
    }


@pytest.fixture
def machine(request: pytest.FixtureRequest) -> Machine:
    """The chip with its firmware booted: `machine.call`, `allocate`, `read_memory`, `blocks`, `console`..."""
    from cryplab import inject
    from cryplab.errors import CryplabError

    settings = _settings(request)
    key = (settings["firmware"], settings["board"], settings["init"], settings["seed"], settings["boot"])
    try:
        if key not in _booted:
            _booted[key] = _Booted(*key)
        booted = _booted[key]
        booted.machine.restore(booted.snapshot)
        for injection in inject.parse(settings["inject"], settings["seed"]):
            injection.arm(booted.machine)
    except CryplabError as error:
        pytest.fail(str(error), pytrace=False)
    booted.take_findings()
    request.node.stash[_USED] = booted
    return booted.machine


@pytest.fixture
def call(machine: Machine) -> Caller:
    """`call("function", argument, ...)` calls a function of the firmware and returns r0; bytes go by pointer."""
    return machine.call


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Findings of a test that passed make it fail."""
    result = yield
    booted = item.stash.get(_USED, None)
    if booted is not None:
        marker = item.get_closest_marker("cryplab")
        wanted = not item.config.getoption("--cryplab-no-findings") and not (
            marker and marker.kwargs.get("findings") is False
        )
        found = booted.take_findings()
        if found and wanted:
            pytest.fail("\n\n".join(finding.show() for finding in found), pytrace=False)
    return result


def pytest_report_header(config: pytest.Config) -> list[str]:
    """The line that repeats a run."""
    firmware = config.getoption("--cryplab-firmware") or config.getini("cryplab_firmware")
    if not firmware:
        return []
    board = config.getoption("--cryplab-board") or config.getini("cryplab_board") or DEFAULT_BOARD
    return [f"cryplab: {firmware}, board {board}, seed {config.getoption('--cryplab-seed')}"]
