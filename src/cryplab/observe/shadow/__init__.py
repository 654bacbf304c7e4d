"""Shadows: what the accesses alone say about a block. Never a look inside the model.

A shadow counts words, remembers what was written to which register by whom, and which status was read. It
tells the rules about moments ("use", "digest", "word"...), not about single accesses: the hot path is a
method of a few lines per register. Offsets and bits are retyped here from the facts, so that a slip in a
model's table and one in a rule do not agree by construction.
"""

from cryplab.observe.shadow.base import Shadow, Stamp
from cryplab.observe.shadow.cryp import CrypShadow
from cryplab.observe.shadow.dma import DmaShadow
from cryplab.observe.shadow.hash import HashShadow
from cryplab.observe.shadow.rcc import RccShadow
from cryplab.observe.shadow.rng import RngShadow

__all__ = ["CrypShadow", "DmaShadow", "HashShadow", "RccShadow", "RngShadow", "Shadow", "Stamp"]
