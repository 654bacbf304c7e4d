"""State of blocks that the core may use itself, so that a hot register costs no call.

A block keeps what its data and status registers show in these objects and names them in `Block.loads` and
`Block.stores`. The core then serves an access that changes nothing else; every other access goes to the block's hooks,
which see the same objects. `native/served.h` has the rules:

- `Fifo(size, group, source)`: 32-bit words. A store is served below `size` words unless it completes a group of `group`
  words (0: never); a load while more than `keep` words are left and `source` holds no whole group; both before cycle
  `until`. `last` is the cycle of the last store. `expect` names words that come later, `arrive` lets them in.
- `Status(inward, in_flags, outward, out_flags)`: `value` with flags by the number of words in two queues, before cycle
  `until`. From then on, if `simple`, words that `outward` expects have arrived and `value` is `after`, unless
  they do not fit or `inward` holds a whole group. With `step` set, a store that completes
  the only group of `inward` is served, too, while `value` is not `busy` and `outward` has room: `step` makes the words
  to come, `value` is `busy` for `delay` cycles, to `end`, and `repeated` counts.
- `Bridge()`: `divider` and `busy_until` of an APB bridge.

Words in a `Fifo` are as software wrote them.
"""

from __future__ import annotations

from cryplab.errors import ToolError

try:
    from cryplab._native import Bridge, Fifo, Status
except ImportError as _error:  # pragma: no cover
    raise ToolError(f"the native extension of cryplab is not built ({_error}); run 'pip install .'") from None

__all__ = ["Bridge", "Fifo", "Served", "Status"]

Served = Status | Fifo | None
"What serves a load or a store of one register."
