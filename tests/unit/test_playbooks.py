"""The playbooks quote sentences that Sourcebook prints, and commands that there are."""

import ast
import re
from collections.abc import Iterator

import pytest
import typer.main
from typer.core import TyperGroup

from sourcebook.command.app import app
from tests.checkout import CHECKOUT, DOCS

QUOTING = ("playbooks.md", "backup.md", "upgrade.md")
PAGES = (*QUOTING, "monitoring.md", "operating.md", "source-empties.md", "move-machine.md")
CODE = ("sourcebook", "orchestration", "sensors", "resources", "assets")
OF_POSTGRESQL = 'could not write lock file "postmaster.pid"'
"""Beginning of a quote that is PostgreSQL's own words."""
LEAST_CHARACTERS = 6
"""Characters from which a part of a quote is looked for."""


def _read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def _sentences(module: ast.Module) -> Iterator[str]:
    """Yield every text of a module with `…` for its values and single spaces."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())
        elif isinstance(node, ast.JoinedStr):
            parts = [
                value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else "…"
                for value in node.values
            ]
            yield " ".join("".join(parts).split())


def test_every_quoted_sentence_is_printed_by_the_code() -> None:
    """Each part of a quote between two `…` stands in one text of the code."""
    text = "\n".join(_read(page) for page in QUOTING)
    quotes = [" ".join(quote.split()) for quote in re.findall(r"^> (.+)$", text, flags=re.MULTILINE)]
    assert len(quotes) > 12
    missing = {
        part.strip()
        for quote in quotes
        if not quote.startswith(OF_POSTGRESQL)
        for part in quote.split("…")
        if len(part.strip()) >= LEAST_CHARACTERS
    }
    words = {word for part in missing for word in part.split()}
    texts = [path.read_text(encoding="utf-8") for folder in CODE for path in (CHECKOUT / folder).rglob("*.py")]
    for text in sorted(texts, key=lambda text: sum(word in text for word in words), reverse=True):
        if missing:  # the likeliest files are parsed first, and those behind the last sentence not at all
            sentences = set(_sentences(ast.parse(text)))
            missing = {part for part in missing if not any(part in sentence for sentence in sentences)}
    assert missing == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_exists_with_its_options(page: str) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    lines = re.findall(r"^\s*\$ sourcebook (.+)$|`sourcebook ([a-z][^`\n]*)`", _read(page), flags=re.MULTILINE)
    written = [first or second for first, second in lines]
    assert len(written) > 1
    for line in written:
        name = line.split()[0]
        assert name in group.commands, line
        known = {option for parameter in group.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<!\S)--[a-z-]+", line)) <= known, line
