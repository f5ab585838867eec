"""The bars of an ingest: they fit a terminal of 80 columns, and say how much of the known work is done."""

import re
from dataclasses import fields
from typing import Any

import pytest

from orchestration.ingest import IngestedCollection
from orchestration.progress_display import ProgressDisplay
from resources.pipeline import PIPELINE
from sourcebook.admin.pending import Pending
from sourcebook.cli.output import without_controls
from sourcebook.model.progress import TotalProgress, announce


@pytest.mark.parametrize(
    ("stage", "done", "total", "failed"),
    [("crawled_pages", 12_345, 76_032, 138), ("crawled_pages", 0, 1, 0), ("transcripts", 3_600, 72_000, 0)],
)
def test_a_bar_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stage: str,
    done: int,
    total: int,
    failed: int,
) -> None:
    """One line a stage, with the numbers whole."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with ProgressDisplay(quiet=False):
        announce(stage, "handbook", done // 2, total, 0)
        announce(stage, "handbook", done, total, failed)
    shown = re.split(r"[\r\n]+", capsys.readouterr().err)
    lines = [line for line in map(without_controls, shown) if line.strip()]
    assert lines
    assert all(len(line) <= 80 and line.split()[0] == stage.split("_")[0] for line in lines), lines
    last = re.sub(r"\s+", "", lines[-1])
    assert f"{done}/{total}" in last
    assert not failed or f"{failed}failed" in last
    assert "…" not in lines[-1]


def test_progresses_beside_each_other_add_up() -> None:
    """Two sites of one collection are one bar."""
    shown: list[tuple[int, int, int]] = []
    total = TotalProgress(lambda done, known, failed=0: shown.append((done, known, failed)))
    first, second = total.part(), total.part()
    first(1, 10)
    second(2, 5, 1)
    first(10, 10)
    assert shown == [(1, 10, 0), (3, 15, 1), (12, 15, 1)]


def test_the_result_is_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Counts with words, without those that are 0; the first three failures with reasons, the new ones first."""
    counts = dict.fromkeys(("added", "changed", "unchanged", "removed", "failed"), 0)
    assets: dict[str, dict[str, Any]] = {asset: dict(counts) for asset in PIPELINE}
    assets["documents"] |= {"added": 3, "changed": 2, "removed": 1, "failed": 1}
    assets["search_index"] |= {"added": 5, "unchanged": 2_000}
    assets["embeddings"] |= {"computed": 5, "reused": 0}
    old = {f"file:///old{number}.pdf": "it is damaged" for number in range(4)}
    new = {"file:///new.pdf": "it needs a password"}
    nothing: dict[str, Any] = {each.name: () for each in fields(Pending)}
    done = IngestedCollection("docs", "run", assets, 5, new, old, Pending(**nothing))
    ProgressDisplay(quiet=False).finished(done)
    assert capsys.readouterr().err.splitlines() == [
        "docs: documents: 3 new, 2 changed, 1 removed, 1 failed; 2,005 passages searchable, 5 embedded",
        "docs: 5 failed, 1 new",
        "  file:///new.pdf: not indexed because it needs a password",
        "  file:///old0.pdf: not indexed because it is damaged",
        "  file:///old1.pdf: not indexed because it is damaged",
        "  and 2 more:  sourcebook documents --failed -c docs",
    ]
