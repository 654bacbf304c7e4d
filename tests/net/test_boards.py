"""Boards that run at the wire: the NAT answers a sleeping guest; two boards over the hub, the same each time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from small_pcap import read_pcap
from tests.firmware_builds import FOLDER, needs_gcc
from tests.firmware_builds import build as build_alone

from cryplab.cli import main
from cryplab.errors import UsageError
from cryplab.machine import Machine
from cryplab.net import Hub, Impaired, Nat, Wire, parse_impairment

pytestmark = needs_gcc


def build(name: str, *flags: str) -> Path:
    return build_alone(name, str(FOLDER / "start.c"), *flags)


def test_a_sleeping_guest_is_answered_by_the_nat(tmp_path: Path) -> None:
    machine = Machine("nucleo-f439zi", net="user")
    machine.load(build("ether", "-DROLE=2"))
    machine.capture(tmp_path / "ping.pcap")
    outcome = machine.run(seconds=5)
    assert (outcome.reason, outcome.code, machine.console.text) == ("finished", 0, "ping answered\n")
    assert machine.reports.guest_errors == {}
    assert machine.reports.unmodelled == {}
    machine.disconnect()
    frames = read_pcap(tmp_path / "ping.pcap")
    assert [frame[12:14] for _, frame in frames] == [b"\x08\x06", b"\x08\x06", b"\x08\x00", b"\x08\x00"]
    start = machine.date.timestamp()
    times = [seconds - start for seconds, _ in frames]
    assert 0 < times[0] < times[1] < times[2] < times[3] < machine.clock.seconds() < 1


def test_a_board_with_another_phy_and_a_cortex_m3() -> None:
    machine = Machine("stm3221g-eval", net="user")
    machine.load(build("ether", "-DROLE=2", "-DPHY=1", "-DMII", "-mcpu=cortex-m3", "-mfloat-abi=soft"))
    outcome = machine.run(seconds=5)
    assert (outcome.code, machine.console.text) == (0, "ping answered\n")


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("-DMII", "SYSCFG.PMC.MII_RMII_SEL=0 chooses MII, the board's PHY uses RMII"),
        ("-DCLOCKS=(3u<<25)", "RCC.AHB1ENR.ETHMACRXEN=0"),
    ],
)
def test_a_clock_that_is_missing_is_told(flag: str, reason: str) -> None:
    machine = Machine("nucleo-f439zi")
    machine.load(build("ether", "-DROLE=2", flag))
    assert machine.run(seconds=0.01).reason == "time"
    texts = {error.text for error in machine.reports.guest_errors.values()}
    assert texts == {f"ETH.DMABMR.SR stays 1: {reason}"}


def command(*arguments: str) -> int:
    """The exit code of a command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["cryplab", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)


class Slow(Wire):
    """Somebody on the host who never answers; counts what the guest's sleep costs."""

    def __init__(self, busy: bool) -> None:
        super().__init__()
        self.paced, self.there, self.naps = True, busy, 0.0

    @property
    def busy(self) -> bool:
        return self.there

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        self.naps += 1
        return False


def test_a_sleeping_guest_does_not_outrun_the_host() -> None:
    wire = Slow(busy=True)
    machine = Machine("nucleo-f439zi", net=wire)
    machine.load(build("ether", "-DROLE=0"))
    started = time.monotonic()
    outcome = machine.run(seconds=0.2)
    assert (outcome.reason, time.monotonic() - started > 0.19) == ("time", True)
    assert wire.naps < 60, "it is looked at less and less often"


@pytest.mark.parametrize("wait", ["nop", "b ."])
def test_a_guest_that_does_not_sleep_keeps_pace_too(wait: str) -> None:
    """Of 200 virtual milliseconds, 20 may lie ahead of the wall; it waits in naps of 10 ms and more."""
    wire = Slow(busy=True)
    machine = Machine("nucleo-f439zi", net=wire)
    machine.load(build("ether", "-DROLE=0", f'-DWAIT="{wait}"'))
    started = time.monotonic()
    outcome = machine.run(seconds=0.2)
    assert (outcome.reason, time.monotonic() - started > 0.17) == ("time", True)
    assert 0 < wire.naps < 20


@pytest.mark.parametrize("wait", ["nop", "b ."])
def test_awake_with_nothing_open_outside_time_flies(wait: str) -> None:
    wire = Slow(busy=False)
    machine = Machine("nucleo-f439zi", net=wire)
    machine.load(build("ether", "-DROLE=0", f'-DWAIT="{wait}"'))
    machine.run(seconds=0.2)
    assert wire.naps == 0


def test_with_nothing_open_outside_time_flies() -> None:
    wire = Slow(busy=False)
    machine = Machine("nucleo-f439zi", net=wire)
    machine.load(build("ether", "-DROLE=0"))
    assert machine.run(seconds=1000).reason == "idle"
    assert wire.naps == 0


def test_the_cable_is_pulled_and_put_back() -> None:
    machine = Machine("nucleo-f439zi", net="user")
    machine.network.unplug()
    machine.load(build("ether", "-DROLE=2"))
    assert machine.run(seconds=0.02).reason == "time", "the driver waits for the link"
    machine.network.plug()
    outcome = machine.run(seconds=1)
    assert (outcome.code, machine.console.text) == (0, "ping answered\n")
    machine.disconnect()


def two_boards(loss: float = 0.0) -> tuple[tuple[int, int], list[str], bytes]:
    hub = Hub()
    server, client = Machine("nucleo-f439zi"), Machine("nucleo-f429zi")
    hub.connect(server)
    hub.connect(client)
    server.load(build("ether", "-DROLE=0"))
    client.load(build("ether", "-DROLE=1"))
    seen = bytearray()
    port = client.network.port
    port.tap = lambda frame, outgoing: seen.extend(frame + client.clock.now.to_bytes(8, "little"))
    outcomes = hub.run(seconds=2, wait_for=[client])
    assert (outcomes[1].reason, outcomes[1].code) == ("finished", 0)
    return (server.clock.now, client.clock.now), [o.reason for o in outcomes], bytes(seen)


def test_two_boards_over_a_hub_are_the_same_each_time() -> None:
    first, second = two_boards(), two_boards()
    assert first == second
    assert first[1] == ["stopped", "finished"]
    assert len(first[2]) > 20 * 2 * 60


def test_boards_that_all_wait_end_as_idle() -> None:
    hub = Hub()
    for name in ("nucleo-f439zi", "nucleo-f429zi"):
        machine = Machine(name)
        hub.connect(machine)
        machine.load(build("ether", "-DROLE=0"))
    assert [outcome.reason for outcome in hub.run(seconds=1)] == ["idle", "idle"]


def test_without_a_cable_the_guest_waits_for_ever() -> None:
    machine = Machine("nucleo-f439zi")
    machine.load(build("ether", "-DROLE=2"))
    assert machine.run(seconds=1).reason == "idle", "the frame goes nowhere, nobody answers"


def test_lost_frames_are_lost() -> None:
    wire = Impaired(Nat(), loss=1.0)
    machine = Machine("nucleo-f439zi", net=wire)
    machine.load(build("ether", "-DROLE=2"))
    assert machine.run(seconds=1).reason == "idle"
    assert wire.lost == 1


@pytest.mark.parametrize(
    ("board", "net", "sentence"),
    [
        ("ublox-c030-u201", "user", 'ublox-c030-u201 has no Ethernet PHY; a board file names one: phy = "LAN8742A"'),
        ("nucleo-f439zi", "usr", "net 'usr': expected user, hub or tap:NAME"),
        ("nucleo-f439zi", "hub", "net 'hub': a hub joins machines; make a net.Hub and connect them to it"),
    ],
)
def test_wires_that_make_no_sense(board: str, net: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        Machine(board, net=net)
    assert str(error.value) == sentence


def test_two_boards_from_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    server, client = build("ether", "-DROLE=0"), build("ether", "-DROLE=1")
    hub = ["--net", "hub", "--peer", str(server), "--peer-board", "nucleo-f429zi"]
    assert command("run", str(client), "--board", "nucleo-f439zi", *hub) == 0
    assert "network: 20 frames sent, 20 received" in capfd.readouterr().out


def test_what_goes_together_on_the_command_line(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    elf = str(build("ether", "-DROLE=2"))
    assert command("run", elf, "--net", "hub") == 2
    assert capfd.readouterr().err == "cryplab: --net hub and --peer FIRMWARE go together: a hub joins two boards\n"
    assert command("run", elf, "--allow", "localhost:80") == 2
    assert command("run", elf, "--net", "user", "--allow", "localhost:x") == 2
    capfd.readouterr()
    assert command("run", elf, "--name", "a.test=localhost") == 2
    assert capfd.readouterr().err == (
        "cryplab: --name goes with --net user; other wires have name servers of their own\n"
    )
    assert command("run", elf, "--net", "user", "--name", "a.test=localhost:80") == 2
    assert capfd.readouterr().err == (
        "cryplab: 'a.test=localhost:80': expected HOST=ADDRESS, such as developer.mbed.org=localhost; "
        "a port goes with --allow\n"
    )
    assert command("run", elf, "--board", "nucleo-f439zi", "--pcap", str(tmp_path / "no" / "file")) == 3
    assert capfd.readouterr().err.endswith("the capture cannot be written: No such file or directory\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("loss=0.02", {"loss": 0.02}),
        ("loss=2%, reorder=0.5,duplicate=1", {"loss": 0.02, "reorder": 0.5, "duplicate": 1}),
    ],
)
def test_impairments(text: str, found: dict[str, float]) -> None:
    assert parse_impairment(text) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("los=0.1", "'los=0.1'; did you mean 'loss'? A wire can do loss, duplicate, reorder"),
        ("loss", "'loss': expected a probability, such as loss=0.02 or loss=2%"),
        ("reorder=2", "reorder 2: expected a probability, 0 to 1"),
    ],
)
def test_impairments_that_make_no_sense(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_impairment(text)
    assert str(error.value) == sentence
