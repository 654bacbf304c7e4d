"""Errors and statistics of predicted rows."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cryplab.bench.accuracy import Accuracy, AccuracyRow, accuracy
from cryplab.errors import UsageError


def row(name: str, unit: str, predicted: float, published: float) -> AccuracyRow:
    return AccuracyRow("S", "b", "cortex-m4", "mbedtls", "software", "software", name, unit, predicted, published)


def test_an_error_is_one_of_time() -> None:
    assert row("SHA-256", "KB/s", 1000, 1100).error == pytest.approx(0.1)
    assert row("RSA", "ms", 110, 100).error == pytest.approx(0.1)


def test_statistics_by_hand() -> None:
    rows = [row(str(n), "ms", 100 + n, 100) for n in range(11)]
    whole = Accuracy(rows, "exact", []).statistics()[0]
    assert (whole["rows"], whole["median"], whole["p90"], whole["worst"]) == (11, 0.05, 0.09, 0.1)
    assert [r.name for r in Accuracy(rows, "exact", []).worst(2)] == ["10", "9"]


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    result = Accuracy([row("a", "ms", 110, 100), row("b", "KB/s", 1000, 1100)], "exact", [])
    assert result.draw(tmp_path / "c.svg").stat().st_size > 1000


def test_a_board_without_published_rows() -> None:
    with pytest.raises(UsageError, match=r"no published rows for board 'ublox'.* there are rows for .*ublox-c030-u201"):
        accuracy("ublox")


def compiler() -> str:
    """The cross compiler's version, empty when there is none."""
    gcc = shutil.which("arm-none-eabi-gcc")
    return subprocess.check_output([gcc, "-dumpversion"], text=True).strip() if gcc else ""


@pytest.mark.slow
@pytest.mark.skipif(not compiler().startswith("12."), reason="the bars were measured with arm-none-eabi-gcc 12")
def test_the_published_rows_of_the_ublox_board() -> None:
    """The bars of the project: median within 8 %, 90th percentile within 25 % over the software column."""
    software = [r for r in accuracy("ublox-c030-u201").rows if r.crypto == "software"]
    assert len(software) == 25
    (whole, *_) = Accuracy(software, "exact", []).statistics()
    assert whole["median"] <= 0.08
    assert whole["p90"] <= 0.25
