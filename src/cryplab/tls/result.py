"""What a TLS session gave: how it ended, what took how long, how much of it the accelerators did."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import RenderableType

from cryplab.machine import Machine
from cryplab.observe.operations import cycles_inside
from cryplab.observe.report import RunReport
from cryplab.reports import Operation
from cryplab.show import hanging, plain_table
from cryplab.tls.parameters import Target
from cryplab.tls.suites import suite_of

__all__ = ["Ending", "Phase", "TlsResult", "phases_of"]

PHASE = struct.Struct("<IIIIQQQ")
"`struct cryplab_phase` of guest/programs/tls_parameters.h."
CYCCNT, COUNTER_RANGE = 0x004, 1 << 32
LONGEST_NAME = 16
HASH, HASH_SPREAD = "HASH", 4
"A driver that feeds HASH by the CPU takes two to four times as long as the engine."
RANDOM = "RNG"
"One job from the first word to the last: no measure of work."
STAGES = (
    "done", "setting up", "link", "DHCP", "name look-up", "connection", "handshake", "request", "response", "answer",
    "work beside the session",
)  # fmt: skip
BESIDE = STAGES[-1]
RECORDS = ("request", "response")
ALERTS = {  # source: RFC 5246, section 7.2
    0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow",
    40: "handshake_failure", 42: "bad_certificate", 46: "certificate_unknown", 47: "illegal_parameter",
    48: "unknown_ca", 50: "decode_error", 51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
    80: "internal_error", 112: "unrecognized_name",
}  # fmt: skip
SERVER_ENDED = "the server closed the connection in the middle of the conversation"
NO_TLS = "what came is no TLS record; is it a TLS server that listens there?"
HINTS = {  # by what the library said: mbed TLS, wolfSSL
    "indicated an EOF": SERVER_ENDED,
    "invalid SSL record": NO_TLS,
    "error state on socket": SERVER_ENDED,
    "record layer version error": NO_TLS,
    "unknown type in record hdr": NO_TLS,
}
ALERT_HINTS = {
    40: "nothing in common: cipher suite, curve, or the kind of the server's key (RSA, ECDSA)",
    70: "the server does not speak TLS 1.2",
}
OWN_DOING = "the guest reset the connection"
"How a client ends that gave up: a result, no reason."
VERDICT = re.compile(r"^Certificate verification failed:\n((?:    .*\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ending:
    """`struct cryplab_tls_end`: stage 0 is done; `error` of the library or the network; IANA number of the suite."""

    stage: int
    error: int
    verify_flags: int
    alert: int
    suite: int
    status: int
    received: int


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the session. Cycles are core cycles; `idle` of them slept; `hardware` inside jobs of CRYP and HASH.

    For `response`, `calls` counts records received, the handshake's last one among them.
    """

    name: str
    calls: int
    data_bytes: int
    cycles: int
    idle: int
    hardware: int
    hz: int

    @property
    def milliseconds(self) -> float:
        """Virtual, waiting included."""
        return 1000 * self.cycles / self.hz

    @property
    def busy_milliseconds(self) -> float:
        """Virtual, without the time asleep."""
        return 1000 * (self.cycles - self.idle) / self.hz

    @property
    def hardware_share(self) -> float:
        """Of the busy cycles."""
        return self.hardware / max(1, self.cycles - self.idle)

    @property
    def kib_per_second(self) -> float:
        """Bytes of data by busy time, in 1024 bytes per second; 0 without data."""
        return self.data_bytes * self.hz / max(1, self.cycles - self.idle) / 1024

    def to_json(self) -> dict[str, Any]:
        """Fields of `phases[]`."""
        return {
            "name": self.name, "calls": self.calls, "bytes": self.data_bytes, "cycles": self.cycles,
            "idle_cycles": self.idle, "milliseconds": round(self.milliseconds, 3),
            "busy_milliseconds": round(self.busy_milliseconds, 3), "hardware_share": round(self.hardware_share, 6),
        }  # fmt: skip


def _job(operation: Operation) -> Operation:
    """A hash job that was put aside counts as open until the next one begins; here only while there was work."""
    if operation.block != HASH:
        return operation
    most = operation.first_cycle + HASH_SPREAD * operation.busy_cycles
    return replace(operation, last_cycle=min(operation.last_cycle, most))


def phases_of(machine: Machine, address: int, count: int) -> list[Phase]:
    """Read the guest's table, and what the accelerators did meanwhile."""
    begun = (machine.clock.now - machine.blocks["DWT"].read(CYCCNT)) % COUNTER_RANGE  # the guest counts from there
    jobs = [_job(operation) for operation in machine.reports.operations if operation.algorithm != RANDOM]
    found = []
    for index in range(count):
        raw = machine.read_memory(address + index * PHASE.size, PHASE.size)
        name_at, calls, data_bytes, _, start, end, idle = PHASE.unpack(raw)
        name = machine.read_memory(name_at, LONGEST_NAME).split(b"\0")[0].decode("ascii", "replace")
        first, last = begun + start, begun + end
        inside = cycles_inside((o for o in jobs if o.first_cycle < last and o.last_cycle > first), first, last)
        found.append(Phase(name, calls, data_bytes, end - start, idle, inside, machine.clock.hz))
    return found


@dataclass
class TlsResult:
    """One session; `report` is that of `cryplab run`.

    `refused` and `failures`: what the wire has to say; `wire`: what it did to frames when that was asked for.
    """

    target: Target
    build: str
    library: str
    report: RunReport
    ending: Ending
    phases: list[Phase]
    refused: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    wire: str = ""
    quiet: bool = False
    verbose: bool = False

    @property
    def console(self) -> str:
        """The transcript."""
        return self.report.machine.console.text

    @property
    def findings(self) -> list[Any]:
        """Broken rules."""
        return self.report.findings

    @property
    def exit_code(self) -> int:
        """0, 1 when the session failed or a rule was broken, 4 when the guest crashed."""
        return self.report.exit_code

    @property
    def suite(self) -> str:
        """mbed TLS's name of what was agreed, empty before that."""
        known = suite_of(self.ending.suite)
        return known.name if known else f"{self.ending.suite:#06x}" if self.ending.suite else ""

    def phase(self, name: str) -> Phase:
        """By name. Raises: KeyError when it did not come to that."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise KeyError(name)

    @property
    def failure(self) -> str:
        """What went wrong, in a sentence; empty when nothing did."""
        if not self.ending.stage:
            return ""
        said = re.findall(r"^(\w+\(\) failed: .*)$", self.console, re.MULTILINE)
        if STAGES[self.ending.stage] == BESIDE:
            said = re.findall(r"^Beside the session: (.*)$", self.console, re.MULTILINE)
        parts = [said[-1] if said else f"HTTP status {self.ending.status}"]
        parts += [hint for words, hint in HINTS.items() if words in parts[0]]
        if self.ending.alert >= 0:
            parts.append(f"alert {self.ending.alert} ({ALERTS.get(self.ending.alert, 'unknown')})")
            parts += [hint for number, hint in ALERT_HINTS.items() if number == self.ending.alert]
        parts += self._verdict(parts[0])
        parts += [f"the wire: {text}" for text in self.failures if not text.endswith(OWN_DOING)]
        parts += [f"the wire: {text} was not allowed" for text in self.refused]
        return f"failed at {STAGES[self.ending.stage]}: {'; '.join(parts)}"

    def _verdict(self, said: str) -> list[str]:
        """Why the certificate was not accepted, unless it was `said`, and what it was held against."""
        refused = VERDICT.search(self.console)
        if refused is None:
            return []
        asked = re.search(r"^Connecting with (.*)$", self.console, re.MULTILINE)
        name, today = asked[1] if asked else self.target.host, self.report.machine.date
        words = "; ".join(line.strip() for line in refused[1].splitlines())
        held = f"the board asked for {name}, its date is {today:%Y-%m-%d}"
        return [held if said.endswith(words) else f"{words} ({held})"]

    def to_json(self) -> dict[str, Any]:
        """One document."""
        ending = self.ending
        return {
            "target": f"{self.target.host}:{self.target.port}{self.target.path}",
            "library": self.library,
            "build": self.build,
            "suite": self.suite,
            "failure": self.failure,
            "stage": STAGES[ending.stage],
            "error": ending.error,
            "alert": ending.alert if ending.alert >= 0 else None,
            "verify_flags": ending.verify_flags,
            "status": ending.status,
            "received": ending.received,
            "wire": self.wire,
            "phases": [phase.to_json() for phase in self.phases],
            **self.report.to_json(),
        }

    # -- text ----------------------------------------------------------------------------------
    def render(self) -> list[RenderableType]:
        """Behind the transcript: phases, hardware by operation, failure and findings."""
        parts: list[RenderableType] = [] if self.quiet else ["", self._heading(), "", self._table()]
        parts += ["", self.wire] if self.wire and not self.quiet else []
        if self.verbose:
            self.report.verbose = True
            return [*parts, *self.report.render(), *self._failed()]
        if self.report.operations and not self.quiet:
            parts += ["", self._operations()]
        if self.report.software and not self.quiet:
            parts += ["", self._software()]
        parts += self._failed()
        for finding in self.findings:
            parts += ["", finding.show()]
        if self.report.outcome.crash:
            parts += ["", self.report.outcome.crash]
        return parts

    def _failed(self) -> list[RenderableType]:
        if not self.failure:
            return []
        why = "; what explains it:" if self.findings and not self.verbose else ""
        return ["", hanging(self.failure + why, 0)]

    def _heading(self) -> str:
        board = self.report.machine.board
        agreed = f", {self.suite}" if self.suite else ""
        return f"{board.title}, {self.library}, {self.build} build{agreed}"

    def _table(self) -> RenderableType:
        table = plain_table("phase", "virtual ms", "of it waiting", "in hardware", "bytes", "KB/s",
                            right=("virtual ms", "of it waiting", "in hardware", "bytes", "KB/s"))  # fmt: skip
        for phase in self.phases:
            table.add_row(
                phase.name,
                f"{phase.milliseconds:.2f}",
                f"{phase.milliseconds - phase.busy_milliseconds:.2f}",
                f"{100 * phase.hardware_share:.2f} %" if phase.hardware else "-",
                str(phase.data_bytes) if phase.name in RECORDS else "",
                f"{phase.kib_per_second:.0f}" if phase.name in RECORDS else "",
            )
        return table

    def _software(self) -> RenderableType:
        table = plain_table("in software", "of the session", "why", right=("of the session",))
        for row in self.report.software:
            table.add_row(row.algorithm, f"{100 * row.share:.1f} %", row.reason)
        return table

    def _operations(self) -> RenderableType:
        table = plain_table("in hardware", "key", "calls", "bytes", "block", right=("key", "calls", "bytes"))
        for row in self.report.operations:
            table.add_row(row.name, str(row.key_bits or "-"), str(row.calls), str(row.data_bytes), row.block)
        return table
