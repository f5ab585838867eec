"""The documentation names everything a user meets; a new command, setting or asset must be written down."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args

import pytest
import typer.main
from ruamel.yaml import YAML
from typer.core import TyperCommand, TyperGroup

import sourcebook
from orchestration.definitions import defs
from resources.selection import RunSelection
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.cli.commands import documents, status
from sourcebook.command.app import app
from sourcebook.config.answering import AnsweringSettings, UsageSettings
from sourcebook.config.browser import BrowserSettings
from sourcebook.config.collection import (
    ChunkingSettings,
    CollectionSettings,
    EmbeddingSettings,
    FilesSource,
    RemovalSettings,
    RetentionSettings,
    RetrySettings,
)
from sourcebook.config.document_types import DocumentType
from sourcebook.config.evaluation import MEASURES, EvaluationSettings, GenerationSettings
from sourcebook.config.field_types import Settings
from sourcebook.config.membership import TakenDocuments
from sourcebook.config.parsing import ParsingSettings
from sourcebook.config.record_apis import DltSettings, RestSettings
from sourcebook.config.record_files import AttachmentSettings, FilePlace
from sourcebook.config.records import ProgramSettings, RecordSource, TableSettings
from sourcebook.config.redaction import RedactionSettings
from sourcebook.config.relations import RelationSettings
from sourcebook.config.repositories import RepositorySource
from sourcebook.config.sites import LoginSettings, PolitenessSettings, RequestSettings, SiteSource
from sourcebook.config.speech import SpeechSettings
from sourcebook.config.synonyms import SynonymSettings
from sourcebook.contract.documents import Item
from sourcebook.contract.explanation import Explanation, LegExplanation
from sourcebook.contract.fields import declared
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.listing import ItemKind, ItemState
from sourcebook.contract.other_documents import OtherPassage
from sourcebook.contract.reranking import MOST_RERANKED, Reranking
from sourcebook.contract.search import LARGEST_OFFSET, MOST_CHARACTERS, MOST_RESULTS, SearchRequest
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.contract.status import ProcessingItem, SourceStatus
from sourcebook.contract.windows import MOST_NEIGHBOURS, Part
from sourcebook.errors import FailureClass
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.ranking.fusion import DEEPEST
from tests.checkout import CHECKOUT, DOCS


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
    section = next((text for text in sections if text.startswith((f"`{command}`", f"`{command} "))), None)
    assert section is not None, f"docs/commands.md has no section for {command}"
    for parameter in _commands()[command].params:
        long_options = [name for name in parameter.opts if name.startswith("--") and name != "--help"]
        assert all(f"`{name}" in section for name in long_options), f"{command}: {long_options}"


def test_every_setting_is_in_the_docs() -> None:
    """docs/configuration.md has a row for each setting of sourcebook.yaml."""
    text = _read("configuration.md")
    keys = [f"files[].{name}" for name in FilesSource.model_fields]
    keys += [f"sites[].{name}" for name in SiteSource.model_fields]
    keys += [f"sites[].login.{name}" for name in LoginSettings.model_fields]
    keys += [f"sites[].browser.{name}" for name in BrowserSettings.model_fields]
    keys += [f"sites[].politeness.{name}" for name in PolitenessSettings.model_fields]
    keys += [f"sites[].request.{name}" for name in RequestSettings.model_fields]
    keys += [f"repositories[].{name}" for name in RepositorySource.model_fields]
    keys += [
        f"records[].{name}"
        for name in RecordSource.model_fields.keys() - {"table", "python", "dlt", "rest", "files", "attachments"}
    ]
    keys += [f"records[].files.{name}" for name in FilePlace.model_fields]
    keys += [f"records[].attachments.{name}" for name in AttachmentSettings.model_fields]
    keys += [f"records[].table.{field.alias or name}" for name, field in TableSettings.model_fields.items()]
    keys += [f"records[].python.{name}" for name in ProgramSettings.model_fields]
    keys += [f"records[].dlt.{name}" for name in DltSettings.model_fields]
    keys += [f"records[].rest.{name}" for name in RestSettings.model_fields]
    keys += [f"from[].{name}" for name in TakenDocuments.model_fields]
    keys += ["shards", "description", "groups"]
    keys += [f"chunking.{name}" for name in ChunkingSettings.model_fields]
    keys += [f"embedding.{name}" for name in EmbeddingSettings.model_fields]
    keys += [f"speech.{name}" for name in SpeechSettings.model_fields]
    keys += [f"parsing.{name}" for name in ParsingSettings.model_fields]
    keys += [f"evaluation.{name}" for name in EvaluationSettings.model_fields]
    keys += [f"generations.{name}" for name in GenerationSettings.model_fields]
    keys += [f"removals.{name}" for name in RemovalSettings.model_fields]
    keys += [f"retention.{name}" for name in RetentionSettings.model_fields]
    keys += [f"retries.{name}" for name in RetrySettings.model_fields]
    keys += [f"redaction.{name}" for name in RedactionSettings.model_fields]
    keys += [f"usage.{name}" for name in UsageSettings.model_fields]
    keys += [f"answering.{name}" for name in AnsweringSettings.model_fields]
    keys += [f"types{{}}.{name}" for name in DocumentType.model_fields]
    keys += [f"relations.{name}" for name in RelationSettings.model_fields]
    keys += [f"synonyms.{name}" for name in SynonymSettings.model_fields]
    parts = {"files", "sites", "taken", "chunking", "embedding", "generations", "speech", "parsing", "evaluation"}
    keys += ["allowed", "denied"]
    parts |= {
        "allowed",
        "denied",
        "description",
        "shards",
        "repositories",
        "records",
        "removals",
        "retention",
        "retries",
        "usage",
        "redaction",
        "answering",
        "relations",
        "types",
        "synonyms",
    }
    assert set(CollectionSettings.model_fields) == parts
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
    assert len(told) == len(SiteSource.model_fields) - len(
        {"url", "follow_links", "follow", "keep", "login", "browser", "allowed"}
    )


@pytest.mark.parametrize(("group", "settings"), [("politeness", PolitenessSettings()), ("request", RequestSettings())])
def test_every_default_of_a_sites_group_is_in_the_docs(group: str, settings: Settings) -> None:
    """The default that docs/configuration.md gives for a setting of the group is the one that holds."""
    rows = re.findall(rf"^\| `sites\[\]\.{group}\.(\w+)` \| `([^|]+)` \|", _read("configuration.md"), re.MULTILINE)
    told = {name: YAML(typ="safe", pure=True).load(value) for name, value in rows}
    assert type(settings)(**told) == settings
    assert set(told) == set(type(settings).model_fields) - {"proxy"}


def test_every_default_of_a_sites_browser_is_in_the_docs() -> None:
    """The default that docs/configuration.md gives for a setting of the browser is the one that holds."""
    rows = re.findall(r"^\| `sites\[\]\.browser\.(\w+)` \| `([^|]+)` \|", _read("configuration.md"), flags=re.MULTILINE)
    told = {name: YAML(typ="safe", pure=True).load(value) for name, value in rows}
    assert BrowserSettings(**told) == BrowserSettings()
    assert set(told) == set(BrowserSettings.model_fields) - {"wait_for", "page_timeout", "locale"}


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


def test_every_default_of_evaluation_is_in_the_docs() -> None:
    """The default that docs/configuration.md gives for a setting of evaluation is the one that holds."""
    rows = re.findall(r"^\| `evaluation\.(\w+)` \| ([^|]+) \|", _read("configuration.md"), flags=re.MULTILINE)
    told = {name: YAML(typ="safe", pure=True).load(value.strip("` ")) for name, value in rows if value != "unset"}
    assert EvaluationSettings(**told).model_dump() == EvaluationSettings().model_dump()
    assert {*told, "queries", "qrels"} == set(EvaluationSettings.model_fields)


def test_every_measure_is_in_the_docs() -> None:
    """docs/evaluation.md names each measure that a floor may be set on."""
    text = _read("evaluation.md")
    assert [name for name in MEASURES if f"`{name}`" not in text] == []


def test_every_class_of_failures_is_in_the_docs() -> None:
    """docs/monitoring.md has a row for each class of a failure."""
    text = _read("monitoring.md")
    assert [kind for kind in FailureClass if f"| `{kind}` |" not in text] == []


def test_every_key_of_the_json_is_in_the_docs() -> None:
    """docs/commands.md names each field of an item and of a source as `documents` and `status` print them."""
    text = _read("commands.md")
    fields = [*Item.__dataclass_fields__, *SourceStatus.__dataclass_fields__, *ProcessingItem.__dataclass_fields__]
    assert [name for name in fields if f'"{name}"' not in text] == []


def test_every_word_of_the_tables_is_in_the_glossary() -> None:
    """docs/glossary.md explains the headings of `status` and `documents`, the states, the kinds and the searches."""
    explained = {word.lower() for word in re.findall(r"\*\*([\w ]+)\*\*", _read("glossary.md"))}
    explained |= set(re.findall(r"`(\w+)`", _read("glossary.md")))
    headings = {column.heading for column in (*status.COLUMNS, *documents.COLUMNS)}
    singular = {heading if heading in explained else heading.removesuffix("s") for heading in headings}
    words = {*singular, *get_args(ItemState), *get_args(ItemKind), "keyword search", "vector search", "stale", "parked"}
    assert sorted(words - explained - {"id", "uri", "title", "version", "state"}) == []


def test_every_environment_variable_is_in_the_docs() -> None:
    """docs/configuration.md names each variable that the code reads and a user may set."""
    read = {
        name
        for folder in ("sourcebook", "resources", "orchestration")
        for path in (CHECKOUT / folder).rglob("*.py")
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


SEARCH = declared(SearchRequest)


def test_every_field_of_a_result_is_in_the_docs() -> None:
    """docs/search-results.md names each field of what a search returns, in the part that tells of it."""
    for kind, section in (
        (SearchResult, "What comes back"),
        (SearchResults, "What comes back"),
        (OtherPassage, "What comes back"),
        (Explanation, "Why is this here?"),
        (LegExplanation, "Why is this here?"),
        (Part, "Context"),
    ):
        text = _section("searching.md" if section == "Context" else "search-results.md", section)
        found = [name for name in _public(kind) if f"`{name}`" not in text and name != "results"]
        assert found == [], kind.__name__


def test_every_option_of_a_search_is_in_the_docs() -> None:
    """docs/search-options.md has a row for each option of a search, with the default that holds."""
    rows = re.findall(
        r"^\| `(\w+)` \|([^|]*)\|", _section("search-options.md", "Options of a search"), flags=re.MULTILINE
    )
    assert sorted(name for name, _ in rows) == sorted(SEARCH)
    told = {name: ast.literal_eval(value.strip("` ")) for name, value in rows if "`" in value}
    assert told == {name: SEARCH[name].default for name in told}
    assert set(SEARCH) - set(told) <= {"query", "fusion"}


def test_every_setting_of_fusion_and_reranking_is_in_the_docs() -> None:
    """docs/ranking.md and docs/reranking.md have a row for each of them, with the default that holds."""
    assert _told(_section("ranking.md", "Fusion")) == {field.name: field.default for field in fields(Fusion)}
    assert _told(_section("reranking.md", "Reranking")) == {
        field.name: field.default for field in fields(Reranking) if field.name != "model"
    }


def test_the_limits_of_a_search_are_in_the_docs() -> None:
    """docs/search-options.md gives the limits that hold."""
    numbers = re.findall(r"([\d,]+) \|$", _section("search-options.md", "Limits"), flags=re.MULTILINE)
    limits = [MOST_CHARACTERS, MOST_RESULTS, LARGEST_OFFSET, MOST_NEIGHBOURS, DEEPEST, MOST_RERANKED]
    assert [int(number.replace(",", "")) for number in numbers] == limits


def test_queries_in_the_docs_are_understood_as_told() -> None:
    """What docs/query-language.md shows as an operator is one, and what it calls text is nothing but text."""
    operators, texts = _section("query-language.md", "The query language").split("| written | is text")
    shown = re.findall(r"^\| `([^|]+)` \| (?!passages)", operators, flags=re.MULTILINE)
    assert [query for query in shown if not parse_query(query).has_operators] == ["battery winter"]
    queries = [
        query
        for row in re.findall(r"^\| (`.+`) \|", texts, flags=re.MULTILINE)
        for query in re.findall("`([^`]+)`", row)
    ]
    assert len(queries) > 8
    assert [query for query in queries if parse_query(query).has_operators] == []


def test_every_method_of_the_knowledge_base_is_in_the_docs() -> None:
    """docs/python.md names each method with the type that it returns; the asyncio form has the same ones."""
    text = _read("python.md")
    methods = [name for name in dir(KnowledgeBase) if not name.startswith("_") and name != "connect"]
    assert [name for name in methods if f"`{name}`" not in text] == []
    asked = ("search", "documents", "show", "status", "plan", "generations")
    returned = [inspect.signature(getattr(KnowledgeBase, name)).return_annotation for name in asked]
    types = [kind.removeprefix("list[").removesuffix("]") for kind in returned]
    assert [kind for kind in types if f"`{kind}`" not in text or not hasattr(sourcebook, kind)] == []
    assert [name for name in asked if not inspect.iscoroutinefunction(getattr(AsyncKnowledgeBase, name, None))] == []


WITH_EXAMPLES = [page.name for page in sorted(DOCS.glob("*.md")) if "\n```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", [name for name in WITH_EXAMPLES if name != "frameworks.md"])
def test_examples_ask_for_what_there_is(page: str) -> None:
    """Every Python example of the pages imports what there is and takes options that there are."""
    examples = re.findall(r"^```python\n(.*?)^```$", _read(page), flags=re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        for node in ast.walk(ast.parse(example)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sourcebook"):
                module = import_module(str(node.module))
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "search":
                assert {keyword.arg for keyword in node.keywords} <= set(SEARCH)
                assert len(node.args) <= 4


def _section(page: str, title: str) -> str:
    """Return what stands below a heading of the second level."""
    return _read(page).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _public(kind: type[Any]) -> list[str]:
    """Return the fields of a dataclass and its properties."""
    return [name for name, value in vars(kind).items() if isinstance(value, property)] + [
        field.name for field in fields(kind)
    ]


def _told(section: str) -> dict[str, object]:
    """Return the defaults of a table of settings, whose rows may name several of one default."""
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `([^|`]+)` \|", section, flags=re.MULTILINE)
    return {name: ast.literal_eval(value) for names, value in rows for name in re.findall(r"\w+", names)}


def test_the_readme_names_exactly_two_commands_to_begin_with() -> None:
    """The section "Two commands" of the README holds `make demo` and `make test`, and nothing else to type."""
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## Two commands", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\$ (.+)$", section, flags=re.MULTILINE) == ["make demo", "make test"]


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    """A relative link in the README or the docs names a file that exists."""
    broken = [
        (page.name, link)
        for page in [*CHECKOUT.glob("*.md"), *DOCS.rglob("*.md")]
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")


def test_every_anchor_of_a_link_is_a_heading() -> None:
    """What stands behind the # of a link to a page is a heading of that page."""
    texts = {
        page.resolve(): re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for page in [*CHECKOUT.glob("*.md"), *DOCS.rglob("*.md")]
    }
    headings = {
        page: {_anchor(each) for each in re.findall(r"^#+ (.+)$", text, re.MULTILINE)} for page, text in texts.items()
    }
    broken = [
        (page.name, link)
        for page, text in texts.items()
        for link in re.findall(r"\]\((?!https?:)([^)\s]*#[^)\s]+)\)", text)
        for target in [(page.parent / link.partition("#")[0]).resolve() if link[0] != "#" else page]
        if target in headings and link.partition("#")[2] not in headings[target]
    ]
    assert broken == []
