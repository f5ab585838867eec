"""`sourcebook ask --tool-schema` prints the tools for one's own agents and opens nothing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.answering.tools import tool_schemas
from sourcebook.command.app import app


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")


@pytest.mark.parametrize("name", ["openai", "responses", "anthropic"])
def test_each_protocol(name: str) -> None:
    result = CliRunner().invoke(app, ["ask", "--tool-schema", "--tool-format", name])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"tools": tool_schemas(name)}  # type: ignore[arg-type] # it is one of them


def test_wrong_options() -> None:
    unknown = CliRunner().invoke(app, ["ask", "--tool-schema", "--tool-format", "google"])
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr == ("sourcebook: the format is 'google'; it must be one of openai, responses, anthropic\n")
    alone = CliRunner().invoke(app, ["ask", "a question", "--tool-format", "anthropic"])
    assert alone.exit_code == 2
    assert "--tool-format belongs to --tool-schema" in " ".join(alone.stderr.split())


def test_what_an_agent_may_set() -> None:
    result = CliRunner().invoke(app, ["ask", "--tool-schema", "--tool-option", "tags"])
    assert json.loads(result.stdout) == {"tools": tool_schemas(tool_options=("tags",))}


def test_json_of_options(tmp_path: Path) -> None:
    """A schema and a history are files of JSON or JSON itself; what is neither is refused before anything opens."""
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for given, said in (
        (["--answer-schema", str(broken)], "--answer-schema must be JSON, or a file of JSON"),
        (["--history", "[{]"], "--history must be JSON, or a file of JSON"),
        (["--answer-schema", str(tmp_path / "none.json")], "No such file or directory"),
    ):
        result = CliRunner().invoke(app, ["ask", "How long?", *given], env={"COLUMNS": "400"})
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())
