"""The wire between an emulated Ethernet port and what is at its other end: host, TAP device, another board."""

from __future__ import annotations

from cryplab.net.allow import parse_name
from cryplab.net.hub import Hub
from cryplab.net.nat import Nat
from cryplab.net.pcap import PcapWriter
from cryplab.net.wire import Impaired, Wire, parse_impairment

__all__ = ["Hub", "Impaired", "Nat", "PcapWriter", "Wire", "parse_impairment", "parse_name"]
