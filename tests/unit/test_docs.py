"""The documentation names everything a user meets; a new command, setting or asset must be written down."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from ruamel.yaml import YAML
from typer.core import TyperCommand, TyperGroup

from orchestration.definitions import defs
from resources.selection import RunSelection
from sourcebook.cli.app import app
from sourcebook.config import ChunkingSettings, CollectionSettings, EmbeddingSettings, FilesSource
from sourcebook.config_parsing import ParsingSettings
from sourcebook.config_sites import SiteSource
from sourcebook.config_speech import SpeechSettings
from sourcebook.inspection import Item, SourceStatus
from sourcebook.search.results import SearchResult, SearchResults

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def _commands() -> dict[str, TyperCommand]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return {name: command for name, command in group.commands.items() if isinstance(command, TyperCommand)}


def _read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(_commands()))
def test_every_command_and_option_is_in_the_docs(command: str) -> None:
    """A command has a section of its own in docs/commands.md, and each of its options stands in it."""
    sections = re.split(r"^## ", _read("commands.md"), flags=re.MULTILINE)
    section = next((text for text in sections if text.startswith(f"`{command}")), None)
    assert section is not None, f"docs/commands.md has no section for {command}"
    for parameter in _commands()[command].params:
        long_options = [name for name in parameter.opts if name.startswith("--") and name != "--help"]
        assert all(f"`{name}" in section for name in long_options), f"{command}: {long_options}"


def test_every_setting_is_in_the_docs() -> None:
    """docs/configuration.md has a row for each setting of sourcebook.yaml."""
    text = _read("configuration.md")
    keys = [f"files[].{name}" for name in FilesSource.model_fields]
    keys += [f"sites[].{name}" for name in SiteSource.model_fields]
    keys += [f"chunking.{name}" for name in ChunkingSettings.model_fields]
    keys += [f"embedding.{name}" for name in EmbeddingSettings.model_fields]
    keys += [f"speech.{name}" for name in SpeechSettings.model_fields]
    keys += [f"parsing.{name}" for name in ParsingSettings.model_fields]
    assert set(CollectionSettings.model_fields) == {"files", "sites", "chunking", "embedding", "speech", "parsing"}
    assert [key for key in keys if f"| `{key}` |" not in text] == []


def test_every_default_of_a_site_is_in_the_docs() -> None:
    """The default that docs/configuration.md gives for a setting of a site is the one that holds."""
    rows = re.findall(r"^\| `sites\[\]\.(\w+)` \| ([^|]+) \|", _read("configuration.md"), flags=re.MULTILINE)
    told = {name: value.strip("` ") for name, value in rows if value not in {"required", "unset"}}
    defaults = SiteSource(url="https://docs.example.com/")
    assert (
        SiteSource(url=defaults.url, **{name: YAML(typ="safe", pure=True).load(value) for name, value in told.items()})
        == defaults
    )
    assert len(told) == len(SiteSource.model_fields) - 2


def test_every_default_of_speech_is_in_the_docs() -> None:
    """The default that docs/configuration.md gives for a setting of speech is the one that holds."""
    rows = re.findall(r"^\| `speech\.(\w+)` \| `([^|`]+)` \|", _read("configuration.md"), flags=re.MULTILINE)
    told = {name: YAML(typ="safe", pure=True).load(value) for name, value in rows}
    assert SpeechSettings(**told) == SpeechSettings()
    assert set(told) == set(SpeechSettings.model_fields)


def test_every_default_of_parsing_is_in_the_docs() -> None:
    """The default that docs/configuration.md gives for a setting of parsing is the one that holds."""
    rows = re.findall(r"^\| `parsing\.(\w+)` \| ([^|]+) \|", _read("configuration.md"), flags=re.MULTILINE)
    told = {name: YAML(typ="safe", pure=True).load(value.strip("` ")) for name, value in rows if value != "unset"}
    assert ParsingSettings(**told) == ParsingSettings()
    assert {*told, "models"} == set(ParsingSettings.model_fields)


def test_every_key_of_the_json_is_in_the_docs() -> None:
    """docs/commands.md names each field of an item and of a source as `documents` and `status` print them."""
    text = _read("commands.md")
    fields = [*Item.__dataclass_fields__, *SourceStatus.__dataclass_fields__]
    assert [name for name in fields if f'"{name}"' not in text] == []


def test_every_environment_variable_is_in_the_docs() -> None:
    """docs/configuration.md names each variable that the code reads and a user may set."""
    read = {
        name
        for folder in ("sourcebook", "resources", "orchestration")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bSOURCEBOOK_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    text = _read("configuration.md")
    assert sorted(name for name in read if f"`{name}`" not in text) == []


def _names_in_the_ui() -> Iterator[str]:
    graph = defs.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        yield key.to_user_string()
    for check in graph.asset_check_keys:
        yield check.name
    repository = defs.get_repository_def()
    yield from (sensor.name for sensor in repository.sensor_defs)
    yield from (schedule.name for schedule in repository.schedule_defs)
    yield "ingest"
    yield from RunSelection.model_fields


def test_everything_in_the_ui_is_in_the_docs() -> None:
    """docs/pipeline.md names each asset, check, sensor, schedule and key of the run configuration."""
    text = _read("pipeline.md")
    assert sorted(name for name in _names_in_the_ui() if f"`{name}`" not in text) == []


def test_every_field_of_a_result_is_in_the_docs() -> None:
    """docs/searching.md names each field of a search result."""
    text = _read("searching.md")
    fields = [*SearchResult.__dataclass_fields__, *SearchResults.__dataclass_fields__]
    assert [name for name in fields if f"`{name}`" not in text and name != "results"] == []


def test_the_readme_names_exactly_two_commands_to_begin_with() -> None:
    """The section "Two commands" of the README holds `make demo` and `make test`, and nothing else to type."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## Two commands", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\$ (.+)$", section, flags=re.MULTILINE) == ["make demo", "make test"]


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    """A relative link in the README or the docs names a file that exists."""
    broken = [
        (page.name, link)
        for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []
