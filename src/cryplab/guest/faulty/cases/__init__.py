"""The cases, one fault each. Data, not code: a file of cases for each C file."""

from cryplab.guest.faulty.cases import aead, aes, dma, hash, rng, tasks
from cryplab.guest.faulty.cases.case import Case

__all__ = ["CASES", "Case"]

CASES: tuple[Case, ...] = (*aes.CASES, *aead.CASES, *hash.CASES, *rng.CASES, *dma.CASES, *tasks.CASES)
