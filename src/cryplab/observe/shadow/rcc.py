"""RCC as the accesses show it: reset and clock bits of the blocks that are watched."""

from __future__ import annotations

from collections.abc import Callable

from cryplab.observe.contexts import Contexts
from cryplab.observe.shadow.base import Shadow, Stamp

__all__ = ["RccShadow"]


class RccShadow(Shadow):
    """RCC.

    `resets` and `gates`: offset -> mask -> shadow that the bit belongs to. Moments: gated(stamp, shadow).
    """

    kind = "rcc"

    def __init__(
        self,
        name: str,
        contexts: Contexts,
        resets: dict[int, dict[int, Shadow]],
        gates: dict[int, dict[int, Shadow]],
    ) -> None:
        self._values: dict[int, int] = {}
        super().__init__(name, contexts)
        for offset, bits in resets.items():
            self.writes[offset] = self._watch(offset, bits, self._reset, rising=True)
        for offset, bits in gates.items():
            self.writes[offset] = self._watch(offset, bits, self._gate, rising=False)

    def clear(self) -> None:
        """As after reset."""
        self._values = {}

    def _watch(
        self, offset: int, bits: dict[int, Shadow], act: Callable[[Stamp, Shadow], None], *, rising: bool
    ) -> Callable[[int, int, int], None]:
        def write(cycle: int, pc: int, value: int) -> None:
            old = self._values.get(offset, 0)
            self._values[offset] = value
            for mask, shadow in bits.items():
                if (value & ~old if rising else old & ~value) & mask:
                    act(self.stamp(cycle, pc), shadow)

        return write

    def _reset(self, stamp: Stamp, shadow: Shadow) -> None:
        shadow.reset(stamp)

    def _gate(self, stamp: Stamp, shadow: Shadow) -> None:
        shadow.gated_by = stamp
        self.emit("gated", stamp, shadow)
