"""The string below each field of a class, which says what the field is for."""

import ast
import inspect
import textwrap
from functools import cache


@cache
def docstrings_of(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class and of its bases, each as one line."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("sourcebook."):
            found |= _own(base)
    return found


def _own(kind: type) -> dict[str, str]:
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value)
            found[field.target.id] = " ".join(text.split())
    return found
