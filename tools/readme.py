"""Writes the generated parts of README.md: the bench table and the table of blocks per chip.

.venv/bin/python tools/readme.py [--check] [blocks] [bench]
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from rich.console import Console

from cryplab import chips
from cryplab.bench import bench
from cryplab.chip import At

README = Path(__file__).resolve().parent.parent / "README.md"
SHOWN = (
    "CRYP",
    "HASH",
    "RNG",
    "DMA1",
    "DMA2",
    "RCC",
    "PWR",
    "FLASH",
    "SYSCFG",
    "EXTI",
    "GPIOA",
    "USART1",
    "TIM2",
    "TIM3",
    "TIM6",
    "RTC",
    "CRC",
    "DBGMCU",
    "ETH",
    "ADC",
    "IWDG",
    "OTG_FS",
)


def blocks_table() -> str:
    """One line a block, one column a chip."""
    names = [name for name in chips.names() if chips.find(name).has("CRYP")]
    lines = ["| block | " + " | ".join(n.removeprefix("stm32").upper() for n in names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    for block in SHOWN:
        cells = []
        for name in names:
            chip = chips.find(name)
            found = next((p for p in chip.peripherals if p.name == block), None)
            cells.append("absent" if found is None else _state(found) if isinstance(found, At) else "named only")
        lines.append(f"| {block} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _state(at: At) -> str:
    fields = [f for reg in at.block.registers.values() for f in reg.fields]
    return "partly" if any(not f.modelled for f in fields) else "modelled"


def bench_table() -> str:
    """What `make bench` prints, at 80 columns."""
    text = io.StringIO()
    console = Console(file=text, width=80, highlight=False)
    console.print(bench("ublox-c030-u201").render())
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def replace(readme: str, mark: str, content: str) -> str:
    """The text between `<!-- MARK -->` and `<!-- /MARK -->` changed."""
    before, _, rest = readme.partition(f"<!-- {mark} -->\n")
    _, _, after = rest.partition(f"<!-- /{mark} -->")
    return f"{before}<!-- {mark} -->\n{content}\n<!-- /{mark} -->{after}"


def main(arguments: list[str]) -> int:
    """Rewrite, or with --check say whether anything would change."""
    parts = [a for a in arguments if not a.startswith("-")] or ["blocks", "bench"]
    old = new = README.read_text()
    if "blocks" in parts:
        new = replace(new, "blocks", blocks_table())
    if "bench" in parts:
        new = replace(new, "bench", f"```\n$ make bench\n{bench_table()}\n```")
    if "--check" in arguments:
        return int(new != old)
    README.write_text(new)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "80")
    sys.exit(main(sys.argv[1:]))
