"""Which destinations a guest may reach: those that the user named, and no others."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from cryplab.errors import UsageError
from cryplab.net.frames import address, dotted

__all__ = ["GATEWAY", "HOST_LOOPBACK", "AllowList", "Allowed", "parse", "parse_name"]

GATEWAY = address("10.0.2.2")
"What a guest calls the host's loopback."
HOST_LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = ("localhost", HOST_LOOPBACK, "10.0.2.2")


@dataclass(frozen=True, slots=True)
class Allowed:
    """A host by name or address, and a port; port 0 is any."""

    host: str
    port: int = 0

    @property
    def is_loopback(self) -> bool:
        """Whether the host itself is meant."""
        return self.host in LOOPBACK_NAMES

    @property
    def is_address(self) -> bool:
        """Whether `host` is an IPv4 address."""
        try:
            ipaddress.IPv4Address(self.host)
        except ValueError:
            return False
        return True


def parse(text: str) -> Allowed:
    """`HOST:PORT` or `HOST`. Raises: UsageError."""
    host, _, port = text.partition(":")
    if not host or (port and not port.isdigit()) or (port and not 0 < int(port) < 65536):
        raise UsageError(f"'{text}': expected HOST:PORT, such as localhost:4433")
    return Allowed(host.lower(), int(port or 0))


def parse_name(text: str) -> tuple[str, str]:
    """Name and what it stands for, of `HOST=ADDRESS`. Raises: UsageError."""
    name, equals, target = (part.strip().lower() for part in text.partition("="))
    if not (name and equals and target) or ":" in name + target or "=" in target:
        raise UsageError(
            f"'{text}': expected HOST=ADDRESS, such as developer.mbed.org=localhost; a port goes with --allow"
        )
    return name, target


class AllowList:
    """Decides; remembers what names stood for, since a guest connects to addresses.

    Args:
        entries: `HOST:PORT` each; `localhost` and 10.0.2.2 are the host's loopback.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self.entries = [parse(text) for text in entries]
        self._known: dict[bytes, set[str]] = {}

    def has_name(self, name: str) -> bool:
        """Whether a name may be asked for."""
        return any(e.host == name.lower() for e in self.entries)

    def learn(self, name: str, addresses: Iterable[bytes]) -> None:
        """A name stands for these addresses."""
        for raw in addresses:
            self._known.setdefault(raw, set()).add(name.lower())

    def host_address(self, destination: bytes, port: int) -> tuple[str, int] | None:
        """Where on the host's side a guest's destination is; None when it may not go there."""
        for entry in self.entries:
            if entry.port not in (0, port):
                continue
            if destination == GATEWAY:
                if entry.is_loopback:
                    return HOST_LOOPBACK, port
            elif entry.host in self._known.get(destination, ()) or entry.host == dotted(destination):
                return dotted(destination), port
        return None


def resolve(name: str) -> list[bytes]:
    """IPv4 addresses of a name as the host knows them; an empty list when there are none."""
    if name in LOOPBACK_NAMES:
        return [GATEWAY]
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    raw = dict.fromkeys(address(str(entry[4][0])) for entry in found)
    return [GATEWAY if each[0] == 127 else each for each in raw]
