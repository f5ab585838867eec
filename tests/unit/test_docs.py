"""The documentation names everything a user meets; a new asset, measure or variable must be written down."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args

import pytest

from orchestration.definitions import defs
from resources.selection import RunSelection
from sourcebook.cli.commands import documents, status
from sourcebook.config.evaluation import MEASURES
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
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.ranking.fusion import DEEPEST
from tests.checkout import CHECKOUT, DOCS


def _read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


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
    """docs/assets.md names each asset, check, sensor, schedule and key of the run configuration."""
    text = _read("assets.md")
    assert sorted(name for name in _names_in_the_ui() if f"`{name}`" not in text) == []


SEARCH = declared(SearchRequest)


def test_every_field_of_a_result_is_in_the_docs() -> None:
    """docs/python.md has a row for each field of what a search returns, and each property is named for its readers."""
    told = _read("search-results.md") + _read("searching.md")
    for kind in (SearchResult, SearchResults, OtherPassage, Explanation, LegExplanation, Part):
        named = _read("python.md").partition(f"\n### `{kind.__name__}`\n")[2].partition("\n### ")[0] + told
        assert [name for name in _public(kind) if f"`{name}`" not in named] == [], kind.__name__


@pytest.mark.parametrize("kind", [SearchRequest, Fusion, Reranking])
def test_every_option_of_a_search_is_in_the_docs(kind: type[Any]) -> None:
    """docs/python.md says of each option of a search, of fusion and of reranking what it is for."""
    text = _read("python.md").partition(f"\n### `{kind.__name__}`\n")[2].partition("\n### ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| `.+?` \| (.+) \|$", text, flags=re.MULTILINE))
    assert [each.name for each in fields(kind) if not rows.get(each.name)] == []


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
