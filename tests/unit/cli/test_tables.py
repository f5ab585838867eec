"""Tables and texts at the widths of terminals: no word is broken, no line is too long, nothing is lost."""

import re

import pytest

from sourcebook.cli.output import safe, say
from sourcebook.cli.tables import Column, Row, show_table

COLUMNS = (
    Column("id", "right"),
    Column("state"),
    Column("title", is_prose=True),
    Column("uri", leaves=2),
    Column("passages", "right", leaves=1),
)
URI = "file:///home/somebody/handbook/policies/2024/on-sick-leave-and-other-absences.md"
TITLE = "How long the batteries of the tide gauges last in a winter without any sun at all"
ROWS = (
    Row(("7", "ready", TITLE, URI, "12"), {1: "green"}),
    Row(("1024", "failed: password", "", "file:///a.pdf", "0"), {}, (("reason", "it needs a password to be read"),)),
    Row(("8", "ready", "潮汐表と灯台の手引き", "https://example.com/tide\ttable", "1,200")),
)
WORDS = {word for row in ROWS for cell in row.cells for word in cell.split() if word.isascii()}
WORDS |= {"it", "needs", "password", "read"}


@pytest.fixture(params=[40, 80, 120, 300])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The width of a terminal."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def test_nothing_is_broken_at_any_width(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Every word is there as a whole, and a line is longer than the terminal only where one word is."""
    show_table(COLUMNS, ROWS, names_below=("reason",))
    out = capsys.readouterr().out
    assert set(out.split()) >= WORDS
    assert set(out) >= set("潮汐表と灯台の手引き")
    assert "\t" not in out
    longest = [line for line in out.splitlines() if len(line) > width]
    assert all(len(line.split()) <= 3 for line in longest), longest
    assert not any(line != line.rstrip() for line in out.splitlines())


def test_columns_stand_below_each_other(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is room, a row is one line, numbers end and texts begin in the same column."""
    monkeypatch.setenv("COLUMNS", "220")
    show_table(COLUMNS, ROWS)
    head, first, second, reason, _third = capsys.readouterr().out.splitlines()
    assert head.index("title") == first.index(TITLE)
    assert head.index("uri") == first.index(URI) == second.index("file:")
    assert head.index("id") + 2 == first.index("7") + 1 == second.index("1024") + 4
    assert len(first) == len(head) == len(second)
    assert reason.strip() == "it needs a password to be read"


def test_columns_leave_in_their_order(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The column that may leave first goes below the row, with its name."""
    monkeypatch.setenv("COLUMNS", "80")
    show_table(COLUMNS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "state", "title", "passages"]
    assert any(line.strip() == f"uri {URI}" or line.strip() == URI for line in lines)


def test_a_pipe_has_one_line_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a tab between the columns, the same ones whatever the rows hold."""
    monkeypatch.delenv("COLUMNS", raising=False)
    show_table(COLUMNS, ROWS, names_below=("reason",))
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["id", "state", "title", "uri", "passages", "reason"]
    assert rows[1] == ["7", "ready", TITLE, URI, "12", ""]
    assert rows[2][-1] == "it needs a password to be read"
    assert {len(row) for row in rows} == {6}


def test_prose_is_wrapped_at_words(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    """With its indentation, and none in a pipe; a URL stays whole."""
    text = f"{TITLE}: {URI} ({TITLE})"
    say(safe(text), indent="  ", hanging="    ")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(line.strip() for line in lines) == text
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)
    assert all(re.match(r"      \S", line) for line in lines[1:])


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """FORCE_COLOR stands for a terminal with colours here."""
    monkeypatch.setenv("COLUMNS", "81")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    show_table(COLUMNS, ROWS)
    assert "\x1b[32m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    show_table(COLUMNS, ROWS)
    assert not re.search(r"\x1b\[[0-9;]*3\dm", capsys.readouterr().out)
