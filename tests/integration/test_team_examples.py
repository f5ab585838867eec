"""The examples of teams: each question finds the right passage at the right place."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sourcebook.admin.collections import apply
from sourcebook.config.loading import load_configuration
from sourcebook.stages.raw_files.repositories import fetch_repositories
from tests.checkout import EXAMPLES
from tests.integration.stages import Stages

FOLDER = EXAMPLES / "teams"


def runner() -> ModuleType:
    """Return `examples/teams/ask.py` as a module."""
    name = "examples_teams_ask"
    spec = importlib.util.spec_from_file_location(name, FOLDER / "ask.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ASK = runner()


@pytest.mark.parametrize("team", ["meetings", "office", "research", "software"])
def test_every_question_of_a_team_finds_its_answer_first(team: str, stages: Stages, tmp_path: Path) -> None:
    """It is ingested into a knowledge base of its own, and its README has a row for each question."""
    ASK.copy(team, tmp_path / team)
    configuration = load_configuration(tmp_path / team / "sourcebook.yaml")
    with stages.connection() as connection:
        apply(connection, configuration)
        for collection in configuration.collections:
            fetch_repositories(connection, collection, tmp_path / "home")
    stages.run_all(*configuration.collections)
    questions = ASK.questions_of(team)
    faults = {question["question"]: ASK.fault(stages.knowledge, question) for question in questions}
    assert {question: fault for question, fault in faults.items() if fault} == {}
    readme = (FOLDER / team / "README.md").read_text(encoding="utf-8")
    shown = [question for question in faults if question.splitlines()[0] in readme]
    assert len(shown) >= len(faults) - 1, "a stack trace is too long for a row"


def test_the_command_asks_the_archive_in_eight_languages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared_public_folder: Path
) -> None:
    """`python examples/teams/ask.py archive` ingests with the model that its languages choose, and finds each."""
    into = shared_public_folder / "archive"
    monkeypatch.setattr(sys, "argv", ["ask.py", "archive", "--into", str(into)])
    assert ASK.main() == 0
    printed = capsys.readouterr().out
    assert printed.count("right  ") == len(ASK.questions_of("archive"))
    assert sorted(ASK.TEAMS) == ["archive", "meetings", "office", "research", "software"]
