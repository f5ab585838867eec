"""The front door: a short README, an index with every page, links that lead to a place."""

import re
from pathlib import Path
from typing import Final

import pytest
from ruamel.yaml import YAML

from tests.acceptance.typed_page import untyped
from tests.checkout import CHECKOUT, DOCS, EXAMPLES
from tests.references.pages import REFERENCES

README: Final = (CHECKOUT / "README.md").read_text(encoding="utf-8")
MOST_WORDS: Final = 450
_CODE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HOW_TO: Final = (
    "api-collections.md", "audit.md", "backup.md", "changing.md", "claude-code.md", "colleagues.md", "confluence.md",
    "curation.md", "dagster.md", "docker.md", "keep-a-site.md", "keys.md", "mcp.md", "move-machine.md",
    "object-stores.md", "replica.md", "server-processes.md", "sign-in.md", "source-empties.md", "uploads.md",
    "who-asks.md", "who-may-see-what.md", "work.md",
)  # fmt: skip


def pages() -> list[Path]:
    """Return every page that a reader meets."""
    return [*CHECKOUT.glob("*.md"), *DOCS.rglob("*.md"), *EXAMPLES.rglob("*.md")]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: those of its headings, as GitHub makes them, and those that it names itself."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    made = {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


def test_the_readme_names_exactly_two_commands_to_begin_with() -> None:
    """The section "Two commands" of the README holds `make demo` and `make test`, and nothing else to type."""
    section = README.split("## Two commands", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\$ (.+)$", section, flags=re.MULTILINE) == ["make demo", "make test"]


def test_the_readme_is_one_screen_and_three_pictures() -> None:
    assert len(README.split()) <= MOST_WORDS
    assert len(re.findall(r"^!\[", README, flags=re.MULTILINE)) == 3


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    """A relative link names a file that exists, and its anchor a heading of that page."""
    broken = []
    for page in pages():
        for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
            path = page.parent / target if target else page
            if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
                broken.append(f"{page.relative_to(CHECKOUT)}: {target}#{anchor}")
    assert broken == []


def test_every_page_is_in_the_index() -> None:
    """docs/README.md has a link to each page of docs/, which has no folders but those of pictures and decisions."""
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index] == []


@pytest.mark.parametrize("page", HOW_TO)
def test_a_how_to_is_under_two_screens(page: str) -> None:
    assert len((DOCS / page).read_text(encoding="utf-8").split()) <= 700


def test_each_command_of_a_page_is_typed_or_says_why_not() -> None:
    """References are made; the commands of docs/dagster.md are run by `test_dagster_docs.py`."""
    written = [page.name for page in DOCS.glob("*.md") if page.name not in {*REFERENCES, "dagster.md"}]
    assert {page: found for page in written if (found := untyped(page))} == {}


def test_services_and_variables_of_the_docker_page_exist() -> None:
    page = (DOCS / "docker.md").read_text(encoding="utf-8")
    compose = YAML(typ="safe", pure=True).load(CHECKOUT / "docker-compose.yml")
    written = (CHECKOUT / "docker-compose.yml").read_text(encoding="utf-8")
    variables = set(re.findall(r"\b(?:SOURCEBOOK|POSTGRES)_[A-Z_]+", page))
    assert len(variables) > 4
    assert [name for name in variables if name not in written] == []
    named = re.findall(r"docker compose up --build --detach --wait (.+)$|docker compose exec (\w+)", page, re.MULTILINE)
    assert {name for groups in named for group in groups for name in group.split()} <= set(compose["services"])
    assert named
