"""Settings and commands that the documentation shows are taken."""

import re
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from sourcebook.command.app import app
from sourcebook.config.loading import load_configuration
from tests.checkout import DOCS

PAGES = sorted(page.name for page in DOCS.glob("*.md"))
_SOURCES = {"git.md": "repositories", "records.md": "records", "record-programs.md": "records"}
"""The kind of sources that a page is about; of all others sites."""
_ENTRIES = ("sites", "repositories")
"""The kinds whose settings, on pages that show no more, belong to an entry that needs its URL alone."""


def _whole(page: str, block: str) -> str | None:
    """Return a `sourcebook.yaml` with a block; None where the block is of another file. Its indent tells its place."""
    kind = _SOURCES.get(page, "sites")
    indent = len(block) - len(block.lstrip(" "))
    above = {
        0: "" if re.match("(time_zone|groups|collections):", block) else None,
        4: "collections:\n  handbook:\n    files: [{root: .}]\n",
        6: f"collections:\n  handbook:\n    {kind}:\n",
        8: f"collections:\n  handbook:\n    {kind}:\n      - url: https://docs.example.com/handbook\n"
        if kind in _ENTRIES
        else None,
    }.get(indent)
    return None if above is None else above + block


def _settings(page: str) -> list[str]:
    """Return the blocks of a page that are a `sourcebook.yaml` or a part of one, each made whole."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [whole for block in blocks if (whole := _whole(page, block)) is not None]


@pytest.mark.parametrize("page", [page for page in PAGES if _settings(page)])
def test_every_configuration_of_a_page_loads(page: str, tmp_path: Path) -> None:
    file = tmp_path / "sourcebook.yaml"
    for settings in _settings(page):
        file.write_text(settings, encoding="utf-8")
        assert load_configuration(file).collections, settings


def _commands(page: str) -> list[str]:
    """Return the commands of a page without the program's name."""
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = re.findall(r"^\s*(?:\$ )?sourcebook (.+)$|`sourcebook ([a-z][^`\n]*)`", text, flags=re.MULTILINE)
    return [(first or second).partition(" #")[0] for first, second in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if _commands(page)])
def test_every_command_of_a_page_exists_with_its_options(page: str) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for line in _commands(page):
        words = line.partition(" -- ")[0].split()
        while words[0] == "--config":
            words = words[2:]
        assert words[0] in group.commands, line
        known = {option for parameter in group.commands[words[0]].params for option in parameter.opts}
        assert {word for word in words if re.fullmatch(r"--[a-z-]+", word)} <= known, line
