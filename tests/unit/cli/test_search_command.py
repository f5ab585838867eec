"""`sourcebook search` on its way to the database: what is wrong is told before anything is opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No database answers: who opened it would end with 1. No folder is made."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    yield
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--offset", "-1"], "--offset is -1; it must be 0 to 10,000"),
        (["--neighbours", "21"], "--neighbours is 21; it must be 0 to 20"),
        (["--diversity", "1.5"], "--diversity is 1.5; it must be 0 to 1"),
        (["--diversity", "nan"], "--diversity is nan"),
        (["--min-relevance", "2"], "--min-relevance is 2.0; it must be 0 to 1"),
        (["--filter", "kind=novel"], "it may have file, page, recording"),
        (["--filter", "kind"], "must be KEY=VALUE"),
        (["--filter", "colour=red"], "there is no filter 'colour'"),
        (["--filter", "date>=soon"], "the filter date"),
        (["--rerank", " "], "reranking needs the name or the folder of a model"),
        (["--group-by", "chapter"], "document"),
        (["--fusion", "psychic"], "weighted"),
    ],
)
@pytest.mark.usefixtures("untouched")
def test_wrong_values_are_told_before_anything_is_opened(arguments: list[str], said: str) -> None:
    """An option of the wrong value ends with 2 and says what it may be."""
    ran = CliRunner().invoke(app, ["search", "tide", *arguments], env={"COLUMNS": "200"})
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert said in " ".join(ran.stderr.split())


@pytest.mark.usefixtures("untouched")
def test_a_dash_begins_an_option_unless_it_is_quoted() -> None:
    """`-diesel` alone is no option there is; within quotes, or behind `--`, it is part of the query."""
    alone = CliRunner().invoke(app, ["search", "generator", "-diesel"])
    assert (alone.exit_code, alone.stdout) == (2, "")
    for query in (["generator -diesel"], ["--", "-diesel generator"], ["--", "-diesel", "generator"]):
        ran = CliRunner().invoke(app, ["search", *query])
        assert ran.exit_code == 1
        assert "the database cannot be reached" in ran.stderr


def test_help_shows_how_to_write_a_query() -> None:
    """The operators, the shell's quoting and every option that narrows, orders or shows have an example or a line."""
    shown = " ".join(CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "140"}).stdout.split())
    assert """sourcebook search '"power cut" -diesel title:manual'""" in shown
    assert "sourcebook search -- '-diesel generator'" in shown
    assert "single quotes" in shown
    assert "--filter 'date>=2024-05'" in shown
