"""External interrupt and event controller, version 1 (STM32F1, F2, F4, F7)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, rc_w1, rs, rw

__all__ = ["ExtiV1"]

LINE_COUNT = 23
GROUPS = {  # interrupt: lines that raise it
    "exti0": (0,), "exti1": (1,), "exti2": (2,), "exti3": (3,), "exti4": (4,),
    "exti9_5": (5, 6, 7, 8, 9), "exti15_10": (10, 11, 12, 13, 14, 15),
    "pvd": (16,), "rtc_alarm": (17,), "otg_fs_wkup": (18,), "eth_wkup": (19,), "otg_hs_wkup": (20,),
    "tamp_stamp": (21,), "rtc_wkup": (22,),
}  # fmt: skip


class ExtiV1(Block):
    """Edge detector of 23 lines: 0 to 15 pins, 16 PVD, 17 RTC alarm, 21 tamper, 22 RTC wake-up.

    `set_line(line, level)` is what pins and blocks call. Events (EMR) wake a core that waits for one;
    `on_event` is called then.

    Source: RM0090, chapter Interrupts and events.
    """

    class IMR(Reg, at=0x00):
        """interrupt mask register"""

        MR = rw(22, 0, "one bit per line: 1 raises an interrupt")

    class EMR(Reg, at=0x04):
        """event mask register"""

        MR = rw(22, 0, "one bit per line: 1 raises an event")

    class RTSR(Reg, at=0x08):
        """rising trigger selection register"""

        TR = rw(22, 0, "one bit per line: rising edge counts")

    class FTSR(Reg, at=0x0C):
        """falling trigger selection register"""

        TR = rw(22, 0, "one bit per line: falling edge counts")

    class SWIER(Reg, at=0x10):
        """software interrupt event register"""

        SWIER = rs(22, 0, "one bit per line: raises it; cleared with PR")

    class PR(Reg, at=0x14):
        """pending register"""

        PR = rc_w1(22, 0, "one bit per line: trigger came")

    imr: IMR
    emr: EMR
    rtsr: RTSR
    ftsr: FTSR
    swier: SWIER
    pr: PR

    lines = tuple(GROUPS)
    saved = ("_levels", "_before")

    def on_reset(self) -> None:
        """Nothing pending; levels outside stay what they are."""
        self._levels = getattr(self, "_levels", 0)
        self._before = 0
        self._update()

    def set_line(self, line: int, level: bool | int) -> None:
        """The level of an input line."""
        bit = 1 << line
        if bool(self._levels & bit) == bool(level):
            return
        self._levels ^= bit
        if (self.rtsr if level else self.ftsr).TR & bit:
            self._trigger(bit)

    def _trigger(self, bits: int) -> None:
        self.pr.PR |= bits & self.imr.MR
        if bits & self.emr.MR:
            self.on_event()
        self._update()

    def on_event(self) -> None:
        """Set by the machine: an event for WFE."""

    @SWIER.being_written
    def _before_software(self, value: int) -> int:
        self._before = self.swier.SWIER
        return value

    @SWIER.written
    def _software(self) -> None:
        self._trigger(self.swier.SWIER & ~self._before)

    @PR.being_written
    def _clear_software(self, value: int) -> int:
        self.swier.SWIER &= ~value
        return value

    @PR.written
    @IMR.written
    def _update(self) -> None:
        pending = self.pr.PR & self.imr.MR
        for name, members in GROUPS.items():
            getattr(self, name).set(any(pending >> line & 1 for line in members))
