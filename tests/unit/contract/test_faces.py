"""Messages advise in the words of the face that asks, and name nothing that is not there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from sourcebook.command.app import app as command
from sourcebook.contract.faces import ADVICE, FACES, Face, advice, asked_by
from sourcebook.contract.search import SearchOptions
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.mcp.catalogue import TOOLS
from sourcebook.server.types import SearchQuery
from tests.surface.short_forms import SNAPSHOTS

LIBRARY = Path(__file__).parents[3] / "sourcebook"
NAMING = re.compile(r"(?<![\w-])--[a-z]|\bsourcebook [a-z]+  |\bin Python\b|\w=(?:True|False)\b")
COMMANDS = typer.main.get_command(command).commands  # type: ignore[attr-defined]
ROUTES = {re.sub(r"\{[^}]*\}", "{}", line) for line in (SNAPSHOTS / "rest.txt").read_text().splitlines()}


FOREIGN: dict[Face, str] = {
    "python": r'--[a-z]|/v1|\w"?: ',
    "command": r'/v1|\w"?: |\w=|Base\.',
    "rest": r"--[a-z]|\w=|\w: |Base\.|sourcebook ",
    "tool": r'--[a-z]|\w=|\w": |Base\.|sourcebook |/v1',
    "page": r"--[a-z]|\w=|: |Base\.|sourcebook |/v1",
}
"""What means of other faces look like."""


def is_there(face: Face, said: str) -> bool:
    """Whether everything that an advice names is a means of the face."""
    if re.search(FOREIGN[face], said):
        return False
    options = {name for each in COMMANDS["search"].params for name in (*each.opts, *each.secondary_opts)}
    fields = {field for tool in TOOLS for field in tool.arguments.model_fields} | {tool.name for tool in TOOLS}
    runs = [name in COMMANDS for name in re.findall(r"sourcebook (\w+)", said)]
    match face:
        case "python":
            names = [name in SearchOptions.__annotations__ for name in re.findall(r"(\w+)=", said)]
            return all([*runs, *names, *(hasattr(KnowledgeBase, name) for name in re.findall(r"Base\.(\w+)", said))])
        case "command":
            return all([*runs, *(name in options for name in re.findall(r"--[\w-]+", said))])
        case "rest":
            paths = [
                f"{verb} {re.sub(r'{[^}]*}', '{}', path)}" for verb, path in re.findall(r"([A-Z]+) (/v1\S+)", said)
            ]
            named = [name in SearchQuery.model_fields for name in re.findall(r'"(\w+)":', said)]
            return all([*named, *(any(path in line for line in ROUTES) for path in paths)])
        case "tool":
            pairs = re.findall(r"(\w+):|(\w+_\w+)", said)
            return all((one or other) in fields for one, other in pairs)
        case "page":
            return True


@pytest.mark.parametrize("face", FACES)
def test_advice_names_what_the_face_has(face: Face) -> None:
    """Options, parameters, arguments, commands and routes that an advice names are those of the face."""
    said = [each[face] for each in ADVICE.values() if face in each]
    assert said
    assert [each for each in said if not is_there(face, each)] == []
    others = [each[other] for each in ADVICE.values() for other in FACES if other in each and each[other] not in said]
    assert not all(is_there(face, each) for each in others), "the test tells the faces apart"


def test_the_face_is_asked_for() -> None:
    """By default Python's words; a face without the means has no advice."""
    assert advice("operators") == "; literal=False makes them operators"
    with asked_by("page"):
        assert advice("operators") == ""
        with asked_by("command"):
            assert advice("ingest", name="tides") == "; run  sourcebook ingest tides"
    assert advice("operators").endswith("operators")


def texts(path: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in docstrings:
            yield each.value


def test_messages_of_a_search_name_no_means_of_one_face() -> None:
    """Below the faces, what a search says of its means is in the table."""
    found = {
        f"{path.relative_to(LIBRARY)}: {text}"
        for room in ("search", "context")
        for path in (LIBRARY / room).rglob("*.py")
        for text in texts(path)
        if NAMING.search(text) and "\n" not in text
    }
    assert found == set()
