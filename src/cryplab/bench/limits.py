"""How fast a row could be: what the accelerator and the bus allow, whatever the driver.

Cycles are those of the bus clock (HCLK), which is the core clock on F2 and F4. A block's FIFO lets the
engine work on one block while the next is fed, so a block of data takes the longer of two times:

    engine: cycles per block of the block's table (CYCLES)
    bus:    by CPU, for n words in and m words out:
                n + 1   loads of the message from RAM, pipelined
                n       stores to the data register, buffered
                2       one read of the status register
                m + 1   loads from the data register, pipelined      (m > 0)
                m       stores of the result to RAM
            by DMA, both directions: 4 (n + m)   words on the peripheral port, one after the other

A message adds what cannot overlap: a hash its padding block (engine) and the digest (8 words at most by
CPU: n + 1 loads, n stores); GCM and CCM their init and final phases and the tag. Key and vector loading
is left out: a driver may keep them. A row whose name says no single algorithm, such as a DRBG, gets the
same sums over the operations that were seen; a row that the accelerator has no part in has no limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cryplab.bench.formats import BYTES_PER_SECOND
from cryplab.chip import Chip
from cryplab.reports import Operation

__all__ = ["Limit", "limit_of", "operation_limit"]

STATUS_READ = 2
DMA_CYCLES_PER_WORD = 4
AES_BLOCK_BYTES, DES_BLOCK_BYTES, HASH_BLOCK_BYTES = 16, 8, 64
WORD_BYTES = 4
HASH_LENGTH_BYTES = 9
"A message is followed by one byte 0x80 and 8 bytes of length, so 55 bytes still fit one block."
DIGEST_WORDS = {"MD5": 4, "SHA-1": 5, "SHA-224": 7, "SHA-256": 8}
TAG_WORDS = 4


@dataclass(frozen=True, slots=True)
class Limit:
    """In the row's unit, by CPU and by DMA; None where the accelerator has no part."""

    cpu: float | None = None
    dma: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """The fields of `limit`."""
        return {"cpu": _rounded(self.cpu), "dma": _rounded(self.dma)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


@dataclass(frozen=True, slots=True)
class Job:
    """A named algorithm: `AES`, `GCM`, 256; mode empty for hashes."""

    algorithm: str
    mode: str = ""
    key_bits: int = 0

    @property
    def name(self) -> str:
        """As `Block.algorithms` has it."""
        return f"{self.algorithm}-{self.mode}" if self.mode else self.algorithm


def job_of(row: str) -> Job | None:
    """The algorithm that a row's name says, in any of the benchmarks' spellings; None for all else."""
    name = row.strip().upper()
    if match := re.fullmatch(r"AES-(ECB|CBC|CTR|GCM|CCM)-(128|192|256)", name):
        return Job("AES", match[1], int(match[2]))
    if match := re.fullmatch(r"AES-(128|192|256)-(ECB|CBC|CTR|GCM|CCM)(-(ENC|DEC))?", name):
        return Job("AES", match[2], int(match[1]))
    if match := re.fullmatch(r"(3DES|DES3|DES|TDES)(?:-(ECB|CBC))?", name):
        return Job("DES", match[2] or "CBC", 64) if match[1] == "DES" else Job("TDES", match[2] or "CBC", 192)
    digests = {"MD5": "MD5", "SHA": "SHA-1", "SHA-1": "SHA-1", "SHA-224": "SHA-224", "SHA-256": "SHA-256"}
    if name in digests:
        return Job(digests[name])
    return Job("AES", "CBC", 128) if name == "AES" else None


def limit_of(
    row: str, unit: str, bytes_per_call: float, chip: Chip, hz: int, operations: Iterable[Operation] = (),
    calls: int = 1,
) -> Limit:  # fmt: skip
    """The limit of one row.

    Args:
        row: its name.
        unit: of the result, a throughput; other units have no limit.
        bytes_per_call: message bytes of one call, without padding.
        chip: its blocks, and what they compute.
        hz: bus clock.
        operations: those seen in the row's measured part, over `calls` calls.
    """
    if unit not in BYTES_PER_SECOND or not bytes_per_call:
        return Limit()
    job = job_of(row)
    if job is not None:
        table = _table_of(job, chip)
        if table is None:
            return Limit()
        return _as_value(lambda bus: _job_cycles(job, table, bytes_per_call, bus), bytes_per_call, unit, hz)
    seen = list(operations)
    if not any(o.data_bytes for o in seen):
        return Limit()
    return _as_value(lambda bus: operation_limit(seen, bus) / calls, bytes_per_call, unit, hz)


def _as_value(cycles: Callable[[Callable[[int, int], int]], float], size: float, unit: str, hz: int) -> Limit:
    speeds = [size * hz / cycles(bus) / BYTES_PER_SECOND[unit] for bus in (by_cpu, by_dma)]
    return Limit(*speeds)


def by_cpu(words_in: int, words_out: int) -> int:
    """Bus cycles by CPU of moving words in and out once, with one look at the status."""
    feeding = 2 * words_in + 1 if words_in else 0
    fetching = 2 * words_out + 1 if words_out else 0
    return feeding + fetching + STATUS_READ


def by_dma(words_in: int, words_out: int) -> int:
    """Bus cycles by DMA of moving words in and out on the peripheral port."""
    return DMA_CYCLES_PER_WORD * (words_in + words_out)


def operation_limit(operations: Iterable[Operation], bus: Callable[[int, int], int]) -> int:
    """Least cycles for operations as they were: the longer of engine and bus for each."""
    return sum(max(o.busy_cycles, bus(o.words_in, o.words_out)) for o in operations)


def _table_of(job: Job, chip: Chip) -> dict[Any, int] | None:
    """The CYCLES of the block that computes it."""
    for at in chip.modelled:
        if job.name in at.block.algorithms:
            return getattr(at.block, "CYCLES", None)
    return None


def _job_cycles(job: Job, table: dict[Any, int], size: float, bus: Callable[[int, int], int]) -> float:
    if not job.mode:
        return _hash_cycles(job, table, int(size), bus)
    block_bytes = AES_BLOCK_BYTES if job.algorithm == "AES" else DES_BLOCK_BYTES
    words = block_bytes // WORD_BYTES
    blocks = -(-int(size) // block_bytes)
    moved = bus(words, words)
    if job.mode in ("GCM", "CCM"):
        engine = {p: table["AES", job.mode, p, job.key_bits] for p in ("init", "payload", "final")}
        return engine["init"] + blocks * max(engine["payload"], moved) + engine["final"] + by_cpu(0, TAG_WORDS)
    return blocks * max(table[job.algorithm, job.mode, "", job.key_bits], moved)


def _hash_cycles(job: Job, table: dict[Any, int], size: int, bus: Callable[[int, int], int]) -> float:
    whole, rest = divmod(size, HASH_BLOCK_BYTES)
    last = 1 + (rest + HASH_LENGTH_BYTES > HASH_BLOCK_BYTES)
    engine, words = table[job.algorithm], HASH_BLOCK_BYTES // WORD_BYTES
    tail = bus(-(-rest // WORD_BYTES), 0) if rest else 0
    return whole * max(engine, bus(words, 0)) + tail + last * engine + by_cpu(0, DIGEST_WORDS[job.algorithm])
