"""Where Python may be cut: at the functions and classes of the module, and at the methods of long classes."""

import ast
import warnings
from collections.abc import Iterable, Iterator
from itertools import accumulate

from sourcebook.parsing.fenced import Cut
from sourcebook.parsing.line_patterns import above_comments, code_cuts

_LARGEST = 1_000_000
_LONG_CLASS = 1500
"""Characters of a class above which its methods are cut apart."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_cuts(text: str) -> Iterator[Cut]:
    """Yield where each definition begins, with decorators and comments above; blank lines in what is no Python 3."""
    tree = _tree(text)
    if tree is None:
        yield from code_cuts(text)
        return
    lines = [0, *accumulate(len(line) for line in text.split("\n"))]
    starts = [length + number for number, length in enumerate(lines)]
    yield from _body(text, starts, tree.body, prefix="")


def _tree(text: str) -> ast.Module | None:
    if len(text) > _LARGEST or "\f" in text:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the author's business
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _body(text: str, starts: list[int], body: Iterable[ast.stmt], *, prefix: str) -> Iterator[Cut]:
    after_definition = False
    for statement in body:
        if isinstance(statement, _Definition):
            first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
            name = f"{prefix}{statement.name}"
            yield above_comments(text, starts[first - 1]), name
            size = starts[min(statement.end_lineno or first, len(starts) - 1)] - starts[first - 1]
            if isinstance(statement, ast.ClassDef) and size > _LONG_CLASS:
                yield from _body(text, starts, statement.body, prefix=f"{name}.")
        elif after_definition:
            yield above_comments(text, starts[statement.lineno - 1]), ""
        after_definition = isinstance(statement, _Definition)
