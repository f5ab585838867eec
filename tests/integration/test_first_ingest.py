"""A configuration before its first ingest: `apply` refuses what no ingest can use, `ingest` names what is missing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.cli.errors import WRONG_USE
from sourcebook.command.app import app
from sourcebook.database.database import Database


@pytest.fixture
def folder(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a folder of documents; the environment names a knowledge base without a collection."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text("# Tides\n\nThe gauge stands in the harbour.\n")
    return tmp_path


def configure(folder: Path, settings: str = "", root: str = "./docs") -> None:
    text = f"collections:\n  handbook:\n    files:\n      - root: {root}\n{settings}"
    (folder / "sourcebook.yaml").write_text(text)


@pytest.mark.parametrize(
    ("settings", "place", "reason"),
    [
        ("    embedding: {model: ./no-model}\n", "line 5, column 24", "there is no folder"),
        ("    embedding: {model: nobody/nothing}\n", "line 5, column 24", "was not found"),
        ("    speech: {model: ./no.pt}\n", "line 5, column 13", "there is no Whisper model"),
        ("    parsing: {models: ./no-models}\n", "line 5, column 23", "there is no folder"),
    ],
)
def test_apply_refuses_what_the_first_ingest_cannot_use(
    folder: Path, database: Database, settings: str, place: str, reason: str
) -> None:
    """The message has line and column, and nothing is recorded."""
    configure(folder, settings)
    done = CliRunner().invoke(app, ["apply"])
    assert done.exit_code == WRONG_USE
    assert f"sourcebook.yaml, {place}: collections.handbook." in done.stderr
    assert reason in done.stderr
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM collection").fetchone() == (0,)


def test_apply_refuses_a_store_that_no_file_system_reads(folder: Path) -> None:
    configure(folder, root="nothing://bucket/folder")
    done = CliRunner().invoke(app, ["apply"])
    assert done.exit_code == WRONG_USE
    assert "nothing:// cannot be read" in done.stderr


def test_apply_warns_of_a_folder_that_may_be_mounted_later(folder: Path) -> None:
    """A missing folder, variable or file of an evaluation is no mistake: it may come before the ingest."""
    headers = '{Authorization: "Bearer ${NO_SUCH_TOKEN}"}'
    sites = f'    sites: [{{url: "https://example.org/", request: {{headers: {headers}}}}}]\n'
    files = "{root: 'https://example.org/', request: {headers: {Authorization: 'Bearer ${NO_SUCH_WIKI_TOKEN}'}}}"
    records = f"    records: [{{name: n, pushed: true, key: id, file: path, files: {files}}}]\n"
    configure(folder, f"{sites}{records}    evaluation: {{queries: q.jsonl, qrels: q.tsv}}\n", root="./absent")
    shown = CliRunner().invoke(app, ["apply"])
    assert shown.exit_code == 0
    told = json.loads(CliRunner().invoke(app, ["apply", "--json"]).stdout)["warnings"]
    for reason in (
        "absent does not exist",
        "no variable NO_SUCH_TOKEN",
        "no variable NO_SUCH_WIKI_TOKEN",
        "there is no file",
    ):
        assert reason in " ".join(shown.stdout.split())
        assert any(reason in warning for warning in told)


def test_a_pattern_that_matches_nothing_is_named(folder: Path) -> None:
    """Not "0 documents are up to date", but the pattern and the folder."""
    configure(folder, '        include: ["**/*.markdown"]\n')
    done = CliRunner().invoke(app, ["ingest"])
    assert done.exit_code == 0
    assert f"handbook: no file in {folder / 'docs'} matches **/*.markdown" in done.stderr
    assert "up to date" not in done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith("handbook: no file in")
    assert "; without the patterns there " in first
    assert done.stderr.count("no file in") == 1
    assert first.removeprefix("handbook: ") in CliRunner().invoke(app, ["apply"]).stdout
