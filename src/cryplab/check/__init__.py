"""Calls a firmware's crypto functions from Python and judges what they do.

from cryplab.check import check

result = check("firmware.elf", "ublox-c030-u201", level="quick")
print(result.failed, result.calls)
"""

from __future__ import annotations

from typing import Any

__all__ = ["CheckResult", "at_edge", "booted", "check", "fill", "wait"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the readers of vectors need no machine."""
    if name == "check":
        from cryplab.check.runner import check

        return check
    if name == "CheckResult":
        from cryplab.check.report import CheckResult

        return CheckResult
    if name in ("booted", "at_edge"):
        from cryplab.check import session

        return getattr(session, name)
    if name in ("fill", "wait"):
        from cryplab.check import structs

        return getattr(structs, name)
    raise AttributeError(name)
