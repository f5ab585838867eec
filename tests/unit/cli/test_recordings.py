"""A passage of a recording is shown with its time."""

import pytest
from typer.testing import CliRunner

from sourcebook.cli.commands import show
from sourcebook.cli.passages import show_results
from sourcebook.command.app import app
from sourcebook.contract.documents import Document, Item, Passage
from sourcebook.contract.search_results import SearchResult, SearchResults


def result(start: float | None, end: float | None, page: int | None) -> SearchResult:
    return SearchResult(
        document_id=1,
        collection="radio",
        uri="file:///talks/harbour.mp3",
        title="Harbour",
        heading_path=(),
        anchor=None,
        page=page,
        start_seconds=start,
        end_seconds=end,
        ordinal=3,
        text="[12:30] The tide is high.",
        score=0.5,
        vector_rank=1,
        keyword_rank=None,
        version=1,
    )


def test_a_hit_leads_to_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    """The span stands where the page would, and the address ends in a media fragment."""
    show_results(SearchResults((result(750.2, 855.6, None),), 1.0, {}))
    out = capsys.readouterr().out
    assert "\n   12:30–14:15, score 0.5000 (vector rank 1), radio\n" in out
    assert "\n   file:///talks/harbour.mp3#t=750,856\n" in out


def test_other_hits_are_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    """A page keeps its page and its plain address."""
    show_results(SearchResults((result(None, None, 7),), 1.0, {}))
    out = capsys.readouterr().out
    assert "\n   page 7, score 0.5000" in out
    assert "\n   file:///talks/harbour.mp3\n" in out


def test_show_lists_passages_with_their_spans(capsys: pytest.CaptureFixture[str]) -> None:
    """Each passage says when it is spoken."""
    item = Item(1, "radio", "file:///a.mp3", "Harbour", "recording", "audio/mpeg", "en", 1, 1, "ready", None)
    passage = Passage(0, "[0:03] High tide.", [], None, None, 3.0, 8.5, 0, 17, 9)
    show._show(Document(item, passage.text, {}, [], (passage,)))
    assert "passage 0: 9 tokens, characters 0 to 17, 0:03–0:08\n" in capsys.readouterr().out


def test_show_says_why_a_recording_has_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody speaks the state has its reason."""
    item = Item(1, "radio", "file:///a.mp3", "Harbour", "recording", "audio/mpeg", None, 1, 0, "skipped", "no speech")
    show._show(Document(item, "", {}, [], ()))
    assert "skipped: no speech" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--srt", "--vtt"], ["--srt", "--json"], ["--vtt", "--json"]])
def test_one_format_at_a_time(options: list[str]) -> None:
    """Two formats at once are wrong usage."""
    ran = CliRunner().invoke(app, ["show", "1", *options])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "exclude each other" in ran.stderr
