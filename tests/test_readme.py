"""The generated parts of README.md are what the code gives."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "readme.py"
GCC = shutil.which("arm-none-eabi-gcc")


def up_to_date(part: str) -> bool:
    return subprocess.run([sys.executable, str(TOOL), "--check", part], timeout=900).returncode == 0


def test_the_table_of_blocks() -> None:
    assert up_to_date("blocks"), "run tools/readme.py blocks"


@pytest.mark.slow
@pytest.mark.skipif(GCC is None, reason="arm-none-eabi-gcc is missing")
def test_the_bench_table() -> None:
    version = subprocess.check_output([str(GCC), "-dumpversion"], text=True)
    if not version.startswith("12."):
        pytest.skip("README shows what arm-none-eabi-gcc 12 gives")
    assert up_to_date("bench"), "run tools/readme.py bench"
