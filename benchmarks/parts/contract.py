"""How often a field of a search and an operation are written down: lines and places of the code outside their logic.

A *line* is one of `sourcebook/` whose code names the field, as `min_relevance` or as `--min-relevance`; comments,
docstrings and blank lines do not count. Logic is what does something with it: `search/`, `context/`, `admin/`,
`operations/`, `stages/` and `database/`, but for the classes that `KnowledgeBase` is made of (the table of operations
among them), which pass it on.

A *place* is a function, a method, or the top level of a file outside the logic whose code names the operation under any
name by which a face knows it: the method of `KnowledgeBase` (`remove_document`, also as `operation_id` of a route), the
function that does it (`remove_items`), and at the top level of a file the module of the command (`remove`).
"""

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook import KnowledgeBase

_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_LOGIC: Final = tuple(
    f"sourcebook/{room}/" for room in ("search", "context", "admin", "operations", "stages", "database")
)
_DOING: Final = {"remove_document": "remove_items", "restore_document": "restore_items"}
"""Functions that do what a method of `KnowledgeBase` offers, where their names differ."""
_COMMANDS: Final = {"remove_document": "remove", "restore_document": "remove", "change_document": "tag"}
"""Modules of commands whose names are not those of the methods."""
_OF_COMMANDS: Final = re.compile(r"/(cli|commands?)/")
_MOST_LINES: Final = 6
_MOST_PLACES: Final = 4
_WORD: Final = re.compile(r"[\w-]+")


def run(bench: Bench) -> list[Row]:
    """Count the lines that name the field and the places that name the operation."""
    field, operation = bench.options.field, bench.options.operation
    lines = [f"{path}:{line}" for path, line in _lines(field) if not _is_logic(path)]
    places = [place for place in _places(operation) if not _is_logic(place.partition(":")[0])]
    for what, found in ((field, lines), (operation, places)):
        say(f"  {what}, outside its logic:" + "".join(f"\n    {each}" for each in found))
    files = {line.partition(":")[0] for line in lines}
    all_lines = _lines(field)
    note = f"{len(files)} files; {len(all_lines)} lines of {len({path for path, _ in all_lines})} files with its logic"
    return [
        Row(f"lines outside its logic that name `{field}`", len(lines), bar=_MOST_LINES, note=note),
        Row(f"places outside its logic that name `{operation}`", len(places), bar=_MOST_PLACES),
        *(_elsewhere(name, folders) for name in (field, operation) for folders in (("tests", "benchmarks"), ("docs",))),
    ]


def naming_lines(text: str, names: Collection[str]) -> list[int]:
    """Return the numbers of the lines of Python code that name something, in texts also with dashes."""
    documentation = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in {tokenize.NAME, tokenize.STRING} and token.start[0] not in documentation:
            for offset, line in enumerate(token.string.split("\n")):
                if any(word.strip("-").replace("-", "_") in names for word in _WORD.findall(line)):
                    found.add(token.start[0] + offset)
    return sorted(found)


def naming_places(text: str, names: Collection[str], command: str) -> list[str]:
    """Return the functions and methods whose code has one of the names; a command counts at the top level alone."""
    spans = [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    places: dict[str, None] = {}
    for line in naming_lines(text, {*names, command}):
        name = next((name for first, last, name in spans if first <= line <= last), "top level")
        if name == "top level" or line in naming_lines(text, names):
            places[name] = None
    return list(places)


def _lines(field: str) -> list[tuple[str, int]]:
    found = [(path, line) for path, text in _sources({field}) for line in naming_lines(text, {field})]
    for file in sorted((_CHECKOUT / "sourcebook").rglob("*.sql")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(rf"\b{field}\b", line.partition("--")[0]):
                found.append((str(file.relative_to(_CHECKOUT)), number))
    return found


def _places(operation: str) -> list[str]:
    names = {operation, _DOING.get(operation, operation)}
    command = _COMMANDS.get(operation, operation)
    return [
        f"{path}: {place}"
        for path, text in _sources({*names, command})
        for place in naming_places(text, names, command if _OF_COMMANDS.search(path) else operation)
    ]


def _sources(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of the files that may have one of the names."""
    for file in sorted((_CHECKOUT / "sourcebook").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if any(name in text.replace("-", "_") for name in names):
            yield str(file.relative_to(_CHECKOUT)), text


def _is_logic(path: str) -> bool:
    faces = {f"{kind.__module__.replace('.', '/')}.py" for kind in KnowledgeBase.__mro__}
    return path.startswith(_LOGIC) and path not in faces


def _elsewhere(name: str, folders: Collection[str]) -> Row:
    """Return the lines of tests or documents that name something, comments included."""
    word = re.compile(rf"\b{name.replace('_', '[_-]')}\b")
    files = [file for folder in folders for kind in ("*.py", "*.md") for file in (_CHECKOUT / folder).rglob(kind)]
    counts = [len(word.findall(file.read_text(encoding="utf-8"))) for file in files]
    note = f"{sum(count > 0 for count in counts)} files"
    return Row(f"mentions of `{name}` in {' and '.join(f'{folder}/' for folder in folders)}", sum(counts), note=note)
