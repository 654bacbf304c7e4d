"""The rules, one class each (close families share a file). Each has the number of its text in `explain`.

A rule listens to moments of the shadows by the name of its methods: `cryp_use`, `hash_digest`, `rng_word`,
`dma_start`, `rcc_gated`; and to calls: `call_begins`, `call_ends`, `run_ends`. It may peek at a block's
registers as a debugger would; it never looks inside a model.
"""

from __future__ import annotations

from cryplab.observe.rules.base import Rule
from cryplab.observe.rules.o01_owner import Owner
from cryplab.observe.rules.o02_stale import StaleField
from cryplab.observe.rules.o03_bytes import DataBytes
from cryplab.observe.rules.o04_handshake import Handshake, WriteWhileBusy
from cryplab.observe.rules.o06_keys import KeyAndIv, KeyPreparation, Lifetime
from cryplab.observe.rules.o08_lengths import Lengths
from cryplab.observe.rules.o09_chaining import Chaining, CounterReuse
from cryplab.observe.rules.o11_waits import DeadWait, Time
from cryplab.observe.rules.o12_clocks import ClocksAndResets
from cryplab.observe.rules.o13_threads import InterruptPoints, Reentrancy
from cryplab.observe.rules.o15_dma import DmaSetup
from cryplab.observe.rules.o16_random import Entropy, ErrorsReported, RngErrors
from cryplab.observe.rules.o19_capability import Capability

__all__ = ["ALL", "Rule"]

ALL: tuple[type[Rule], ...] = (
    Owner, StaleField, DataBytes, Handshake, WriteWhileBusy, KeyAndIv, KeyPreparation, Lengths, Chaining, CounterReuse,
    DeadWait, ClocksAndResets, Reentrancy, InterruptPoints, DmaSetup, Entropy, RngErrors, ErrorsReported, Capability,
    Lifetime, Time,
)  # fmt: skip
