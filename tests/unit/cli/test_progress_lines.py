"""Lines of progress, for output that is no terminal."""

import time

import pytest

from sourcebook.cli import progress_lines
from sourcebook.cli.progress_bar import passage_bar
from sourcebook.cli.progress_lines import ProgressLines


def test_a_line_says_what_is_done_how_fast_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    lines = ProgressLines()
    assert lines.line() == ""
    lines.begin("docs")
    now += 12
    assert lines.line() == "docs: at work for 12 s"
    lines.show("documents", 0, 2_000, unit="documents")
    lines.show("embeddings", 1_000, 5_000, unit="chunks")
    assert lines.line() == "docs: documents 0 of 2,000, embeddings 1,000 of 5,000 chunks"
    now += 10
    lines.show("documents", 2_000, 2_000, unit="documents")
    lines.show("embeddings", 1_500, 5_000, unit="chunks", failed=3)
    assert lines.line() == (
        "docs: embeddings 1,500 of 5,000 chunks (50 a second, 3 failed); about 70 s remaining"
    )  # those that were done before count for no speed
    now += 25
    assert (
        lines.line() == "docs: embeddings 1,500 of 5,000 chunks (nothing new for 25 s, 3 failed)"
    )  # no forecast that grows
    lines.begin("site")
    assert lines.line() == "site: at work for 0 s"


def test_a_line_comes_while_nothing_moves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress_lines, "SECONDS", 0.02)
    with passage_bar("exporting", quiet=False) as show:
        show("docs\x1b[2J", 1, 4)
        time.sleep(0.2)  # nothing moves
    told = capsys.readouterr().err.splitlines()
    assert len(told) > 1
    assert {line.partition(" (")[0] for line in told} == {"exporting: docs 1 of 4"}
