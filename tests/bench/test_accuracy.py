"""Errors and statistics of predicted rows; which published rows are compared and which are left out."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from cryplab import board as boards
from cryplab import show
from cryplab.bench import accuracy as module
from cryplab.bench import published
from cryplab.bench.accuracy import NO_REASON, Accuracy, AccuracyRow, LeftOut, accuracy, compare_with_published
from cryplab.bench.campaigns import CAMPAIGNS, F217, F437, NOT_MODELLED, UBLOX, Campaign
from cryplab.bench.rows import BenchRow, Column, convert
from cryplab.bench.run import BenchResult
from cryplab.errors import UsageError

# Rows as each program prints them today, where that is not how they were published.
PRINTED = {
    "ECC 256 key gen": "ECC [ SECP256R1] 256 key gen",
    "ECDHE 256 agree": "ECDHE [ SECP256R1] 256 agree",
    "ECDSA 256 sign": "ECDSA [ SECP256R1] 256 sign",
    "ECDSA 256 verify": "ECDSA [ SECP256R1] 256 verify",
}


def row(name: str, unit: str, predicted: float, published: float, reason: str = "because") -> AccuracyRow:
    return AccuracyRow(
        "S", "b", "cortex-m4", "mbedtls", "software", "software", name, unit, predicted, published, reason
    )


def result_of(campaign: Campaign, *, without: str = "", factor: float = 1.0) -> BenchResult:
    """What a bench would give that is `factor` times as fast as published in every row."""
    table: dict[str, BenchRow] = {}
    for crypto, ours in campaign.builds:
        for p in published.rows_of(campaign.board, campaign.library, crypto):
            if p.row == without or p.number is None:
                continue
            value = p.number / factor if p.unit == "ms" else p.number * factor
            made = table.setdefault(p.row, BenchRow(PRINTED.get(p.row, p.row), p.unit))
            made.columns[ours] = Column(convert(value, p.unit, made.unit) or 0.0, 1, 1)
    board = boards.find(campaign.board)
    return BenchResult(board, campaign.library, "exact", 0, 1, tuple(b for _, b in campaign.builds), [*table.values()])


def test_an_error_is_one_of_time() -> None:
    assert row("SHA-256", "KB/s", 1000, 1100).error == pytest.approx(0.1)
    assert row("RSA", "ms", 110, 100).error == pytest.approx(0.1)


def test_statistics_by_hand() -> None:
    rows = [row(str(n), "ms", 100 + n, 100) for n in range(11)]
    whole = Accuracy(rows, "exact", []).statistics()[0]
    assert (whole["rows"], whole["median"], whole["p90"], whole["worst"]) == (11, 0.05, 0.09, 0.1)
    assert [r.name for r in Accuracy(rows, "exact", []).worst(2)] == ["10", "9"]


@pytest.mark.parametrize(
    ("campaign", "number"), [(UBLOX, 50), (F217, 22), (F437, 52)], ids=lambda c: getattr(c, "board", c)
)
def test_every_published_row_of_a_board_finds_its_partner(campaign: Campaign, number: int) -> None:
    rows, left_out = compare_with_published(campaign, result_of(campaign, factor=1.25))
    assert len(rows) == number
    assert left_out == []
    assert {round(r.error, 9) for r in rows} == {-0.2}
    assert Counter(r.crypto for r in rows) == {"software": number // 2, "hardware": number // 2}


def test_a_row_that_we_lack_is_left_out_by_name() -> None:
    rows, left_out = compare_with_published(F437, result_of(F437, without="POLY1305"))
    assert len(rows) == 50
    assert [(each.crypto, each.rows) for each in left_out] == [("software", ("POLY1305",)), ("hardware", ("POLY1305",))]
    assert left_out[0].line == (
        "STM32F437I-EVAL, software: POLY1305: the software build of our benchmark has no such row"
    )


def test_published_rows_are_compared_or_left_out_with_a_reason() -> None:
    compared = sum(len(compare_with_published(c, result_of(c))[0]) for c in CAMPAIGNS)
    without = list(module._without_campaign())
    assert compared == 124
    assert compared + sum(len(each.rows) for each in without) == len(published.all_rows())
    assert all(each.reason for each in without)
    assert {each.board for each in without} == set(NOT_MODELLED)


def test_reasons_are_of_kinds_of_rows_and_point_somewhere() -> None:
    """Every reason fits a published row, and names a page that exists."""
    for campaign in CAMPAIGNS:
        for reason in campaign.reasons:
            page = reason.text.split("docs/")[-1].split(",")[0].split(")")[0]
            assert (Path(__file__).parents[2] / "docs" / page).is_file(), reason.text
        given = {r.reason for r in compare_with_published(campaign, result_of(campaign))[0]}
        assert {reason.text for reason in campaign.reasons} <= given


def test_what_a_person_sees(capsys: pytest.CaptureFixture[str]) -> None:
    left_out = [LeftOut("S", "X", "software", ("A", "B"), "no model"), LeftOut("S", "Y", "hardware", ("C",) * 9, "old")]
    rows = [row("a", "ms", 150, 100), row("b", "ms", 101, 100, NO_REASON)]
    result = Accuracy(rows, "exact", left_out, {"b, mbedtls": "published: old; here: new"})
    show.write(*result.render())
    text = capsys.readouterr().out
    assert "worst\n  +50.0 %  a, software, b: because\n  +1.0 %  b, software, b: not explained\n" in text
    assert "conditions\n  b, mbedtls: published: old; here: new\n" in text
    assert "left out\n  X, software: A, B: no model\n  Y, hardware: 9 rows: old\n" in text
    assert result.to_json()["left_out"][0]["rows"] == ["A", "B"]
    assert result.to_json()["worst"][0]["reason"] == "because"


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    result = Accuracy([row("a", "ms", 150, 100), row("b", "KB/s", 1000, 1100)], "exact", [])
    drawn = result.draw(tmp_path / "c.svg").read_text()
    assert "1  +50 %  a, software, b" in drawn  # matplotlib keeps a text in a comment of its drawing
    assert result.draw(tmp_path / "c.png").stat().st_size > 1000


def test_a_board_without_published_rows() -> None:
    with pytest.raises(UsageError, match=r"no published rows for board 'ublox'.* there are rows for .*ublox-c030-u201"):
        accuracy("ublox")


def test_sources_are_of_one_library() -> None:
    with pytest.raises(UsageError, match=r"--source x is of one library; say which with --library: mbedtls, wolfssl"):
        accuracy(source="x")


def compiler() -> str:
    """The cross compiler's version, empty when there is none."""
    gcc = shutil.which("arm-none-eabi-gcc")
    return subprocess.check_output([gcc, "-dumpversion"], text=True).strip() if gcc else ""


@pytest.mark.slow
@pytest.mark.skipif(not compiler().startswith("12."), reason="the bars were measured with arm-none-eabi-gcc 12")
def test_the_published_rows_of_the_ublox_board() -> None:
    """What has been reached over the software column; with the library of the rows it is 4.0 and 8.3 %."""
    software = [r for r in accuracy("ublox-c030-u201").rows if r.crypto == "software"]
    assert len(software) == 25
    (whole, *_) = Accuracy(software, "exact", []).statistics()
    assert whole["median"] <= 0.065
    assert whole["p90"] <= 0.245
