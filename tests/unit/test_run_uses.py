"""What runs use, as tags for Dagster's queue and its launchers; and the file with further tags."""

import json
from pathlib import Path

import pytest

from orchestration.jobs import ASSETS
from resources.pipeline import PIPELINE
from resources.run_uses import VARIABLE, Use, assets_of, configured_tags, queued_run_tags
from sourcebook.errors import ConfigurationError

RESOURCES = {"container_config": {"resources": {"limits": {"cpu": "4", "memory": "8Gi"}}}}
FILE = f"""\
speech:
  dagster-k8s/config: {json.dumps(RESOURCES)}
  team: sound
crawl: {{dagster-k8s/config: {{}}, dagster-celery/queue: browsers}}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "run-tags.yaml"
    monkeypatch.setenv(VARIABLE, str(file))
    return file


def test_only_a_run_that_transcribes_has_the_asset_of_the_pool() -> None:
    """Every other run would wait for a place in the pool `speech` before it reads its documents."""
    assert [each.key.to_user_string() for each in ASSETS] == list(PIPELINE)
    left = [key.to_user_string() for key in assets_of({Use.PARSERS, Use.MODEL})]
    assert left == [name for name in PIPELINE if name != "transcripts"]
    assert "transcripts" in [key.to_user_string() for key in assets_of({Use.SPEECH})]
    assert [asset.key.to_user_string() for asset in ASSETS if asset.op.pool] == ["transcripts"]


def test_without_a_file_the_tags_say_what_a_run_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert queued_run_tags({Use.MODEL, Use.PARSERS}) == {
        "sourcebook/uses-parsers": "true",
        "sourcebook/uses-model": "true",
    }


def test_the_file_adds_tags_and_its_first_use_decides(file: Path) -> None:
    """Texts stay, anything else becomes JSON, as the launchers read it."""
    file.write_text(FILE)
    assert queued_run_tags({Use.CRAWL, Use.SPEECH}) == {
        "dagster-k8s/config": json.dumps(RESOURCES),
        "dagster-celery/queue": "browsers",
        "team": "sound",
        "sourcebook/uses-speech": "true",
        "sourcebook/uses-crawl": "true",
    }
    assert queued_run_tags({Use.CRAWL})["dagster-k8s/config"] == "{}"
    assert queued_run_tags({Use.MODEL}) == {"sourcebook/uses-model": "true"}
    file.write_text("# nothing yet\n")
    assert configured_tags() == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("speach: {}\n", "line 1, column 1: speach: there is no such key; allowed are speech, crawl, parsers, model"),
        ("speech: 4\n", "line 1, column 9: speech: must be a mapping from tags of runs to their values"),
        ("- speech\n", "line 1, column 1: the file must be a mapping whose keys are of speech"),
        ("speech:\n  dagster/partition: x\n", "line 2, column 3: speech.dagster/partition: Sourcebook sets this tag"),
        ("crawl: {sourcebook/whole: x}\n", "crawl.sourcebook/whole: Sourcebook sets this tag itself"),
        ("speech: {\n", "this is not YAML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        queued_run_tags({Use.MODEL})
    assert told in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"SOURCEBOOK_RUN_TAGS names .*run-tags.yaml, and there is no such"):
        configured_tags()
