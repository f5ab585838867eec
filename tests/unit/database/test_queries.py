"""Every statement is a named query with a description, and every named query is used."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sourcebook.database.queries import queries

CHECKOUT = Path(__file__).parents[3]
FOLDERS = ("sourcebook", "assets", "resources", "sensors", "orchestration")
VERBS = "SELECT INSERT UPDATE DELETE COPY ANALYZE VACUUM CREATE DROP ALTER SET SHOW TRUNCATE EXPLAIN WITH LOCK"
STATEMENT = re.compile(rf"\s*({VERBS.replace(' ', '|')})\s(?!/)")  # `DELETE /v1` is HTTP
REASON = re.compile(r"# SQL here: \w")


def _modules(*folders: str) -> Iterator[tuple[Path, str, ast.Module]]:
    for folder in folders:
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield path.relative_to(CHECKOUT), text, ast.parse(text)


def _blocks() -> Iterator[tuple[str, list[str]]]:
    for path in sorted((CHECKOUT / "sourcebook" / "database" / "queries").glob("*.sql")):
        pieces = re.split(r"^-- name: (\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            yield name, text.splitlines()


def test_every_query_has_a_description_of_one_line() -> None:
    """A reader of the SQL learns from the line below its name what a query returns or changes."""
    bare = [name for name, lines in _blocks() if not re.fullmatch(r"-- [A-Z][a-z]+ .*[.:]", lines[0])]

    assert bare == []


def test_every_query_is_used_and_every_used_query_is_defined() -> None:
    """No query is left behind by the code that used it, and no name leads nowhere."""
    literals: set[str] = set()
    undefined = []
    for path, _, module in _modules(*FOLDERS, "benchmarks"):
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
        undefined += [
            (str(path), name) for name in _subscripts(module) if isinstance(name, str) and name not in queries
        ]

    assert undefined == []
    assert sorted(set(queries) - literals) == []


def test_no_name_of_a_query_is_put_together() -> None:
    """A search for a query's name finds its users."""
    composed = [
        f"{path}:{index.lineno}"
        for path, _, module in _modules(*FOLDERS, "benchmarks")
        for index in _subscripts(module)
        if isinstance(index, ast.JoinedStr | ast.BinOp | ast.Call)
    ]

    assert composed == []


def test_python_holds_no_statement_but_where_a_comment_says_why() -> None:
    """SQL is in queries/*.sql; a line `# SQL here: …` above a statement gives the reason for an exception."""
    found = []
    for path, text, module in _modules(*FOLDERS):
        lines = text.splitlines()
        for node in ast.walk(module):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not STATEMENT.match(node.value):
                continue
            if not REASON.search("\n".join(lines[max(node.lineno - 3, 0) : node.lineno])):
                found.append(f"{path}:{node.lineno}")

    assert found == []


def _subscripts(module: ast.Module) -> Iterator[str | ast.expr]:
    """Yield the index of each `queries[…]`: its text where it is a literal, the expression otherwise."""
    for node in ast.walk(module):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "queries":
            index = node.slice
            is_literal = isinstance(index, ast.Constant) and isinstance(index.value, str)
            yield str(ast.literal_eval(index)) if is_literal else index
