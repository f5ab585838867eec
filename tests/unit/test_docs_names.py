"""Names that pages write as code are those of the product, so that every page of docs/ is held by the source."""

import re
from functools import cache

import pytest

from benchmarks.__main__ import PARTS
from tests.acceptance.typed_page import PAGES as TYPED
from tests.acceptance.typed_page import PREPARED
from tests.checkout import CHECKOUT, DOCS
from tests.references.pages import REFERENCES

PAGES = sorted(page.name for page in DOCS.glob("*.md") if page.name not in REFERENCES)
MOST_WORDS = 35_000
_SOURCES = ("sourcebook", "assets", "resources", "sensors", "orchestration", "examples", "deploy", "benchmarks")
_OF_THE_PAGE = ("asking.md", "page.md")
"""Pages about addresses of the server's page."""
_ENDINGS = {".py", ".sql", ".html", ".yaml", ".yml", ".toml", ".js", ".md"}
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_OF_OTHERS = {
    *("allowed_modules", "claude_desktop_config", "email_verified", "extra_body", "from_defaults", "max_connections"),
    *("mem_limit", "nano_cpus", "offline_access", "pg_basebackup", "pool_mode", "preferred_username", "pytorch_model"),
    *("code_server", "quarterly_report", "snake_case", "stock_2024", "top_p", "web_server"),
}
"""Names of other programs, of examples, and of logs, whose names have spaces in the code."""


@cache
def source() -> set[str]:
    """Return every name in the code, its SQL, templates and examples."""
    paths = [path for folder in _SOURCES for path in (CHECKOUT / folder).rglob("*") if path.suffix in _ENDINGS]
    return {name for path in paths for name in _NAME.findall(path.read_text(encoding="utf-8"))}


def _coded(page: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", _read(page), flags=re.MULTILINE | re.DOTALL))


def _read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_names_of_a_page_are_in_the_source(page: str) -> None:
    """Those with the prefix `sourcebook_` are made: `test_monitoring_files.py` and `test_dagster_docs.py` have them."""
    names = {name for code in _coded(page) for name in _NAME.findall(code) if not name.startswith("sourcebook_")}
    assert sorted(names - source() - _OF_OTHERS) == []


@pytest.mark.parametrize("page", _OF_THE_PAGE)
def test_addresses_of_the_page_exist(page: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (CHECKOUT / "sourcebook/server").rglob("*.py"))
    named = {found[0] for text in _coded(page) if (found := re.match(r"/[a-z-]+", text))}
    assert named
    assert sorted(name for name in named if f'"{name}' not in code) == []


def test_the_teams_of_the_page_are_those_of_the_examples() -> None:
    teams = {path.parent.name for path in (CHECKOUT / "examples/teams").glob("*/README.md")}
    assert set(re.findall(r"^\| \[(\w+)\]", _read("examples.md"), flags=re.MULTILINE)) == teams


@pytest.mark.parametrize("page", PAGES)
def test_measurements_of_a_page_can_be_run(page: str) -> None:
    """`make bench ARGS="…"` and `python -m benchmarks …` name parts of the benchmarks."""
    commands = re.findall(r'make bench ARGS="?([^"`\n]+)|python -m benchmarks ([^`\n]+)', _read(page))
    words = {word for pair in commands for word in "".join(pair).split(" --")[0].split()}
    assert sorted(word for word in words if word not in PARTS) == []


def test_every_page_is_held_by_its_source() -> None:
    """Each is made or typed, or shows commands, settings, programs or names that tests compare with the source."""
    shown = re.compile(r"sourcebook |python -m benchmarks|make bench|^```(?:yaml|python)$", re.MULTILINE)
    held = {*TYPED, *PREPARED, *_OF_THE_PAGE, "README.md", "examples.md"}
    free = [page for page in PAGES if page not in held and not shown.search(_read(page))]
    assert [page for page in free if not any(_NAME.search(code) for code in _coded(page))] == []


def test_the_docs_are_short() -> None:
    """Words of all pages that are not made from the source: what has a letter or a digit."""
    words = [word for page in PAGES for word in _read(page).replace("|", " ").split() if re.search(r"\w", word)]
    assert len(words) <= MOST_WORDS
