"""Docstrings name their subject with a noun or a verb, so that a stranger reads them once."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ("sourcebook", "assets", "resources", "sensors", "orchestration", "benchmarks")
REFUSED = re.compile(r"(Of|In which|The same|What|Who|That of)\b")
"""Beginnings that leave the subject to be guessed."""
QUOTED = re.compile(rf"[\"'](\s|\\n)*{REFUSED.pattern}")
"""What a file without such docstrings does not have, so that it need not be parsed."""


def _docstrings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every docstring with its line: of the module, classes and functions, and those below assignments."""
    for node in ast.walk(module):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for statement in body if isinstance(body, list) else []:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    text = statement.value.value
                    if isinstance(text, str):
                        yield statement.lineno, text.strip()


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_begins_without_its_subject(folder: str) -> None:
    """`Of a document …` and `What a search …` are read twice; `Attempts per document` is read once."""
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}: {text.splitlines()[0]}"
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for code in [path.read_text(encoding="utf-8")]
        if QUOTED.search(code)
        for line, text in _docstrings(ast.parse(code))
        if REFUSED.match(text)
    ]

    assert found == []
