"""Regular expressions that mean the same in each Python from 3.11.0 on."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import sourcebook

SINGLE = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN}


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5, `(?:ab?c)*+` takes a part of what it repeats (CPython's gh-106052); `(?>(?:ab?c)*)` never does."""
    assert is_possessive_group(re.compile(r"x|(y(?:ab?c)*+)"))
    assert not is_possessive_group(re.compile(r"x|(?>(?:[ab]++c)*)"))
    checked = {pattern for module in modules() for pattern in vars(module).values() if isinstance(pattern, re.Pattern)}
    assert len(checked) > 500
    assert not [pattern.pattern for pattern in checked if is_possessive_group(pattern)]


def modules() -> Iterator[ModuleType]:
    for found in walk_packages(sourcebook.__path__, "sourcebook."):
        if not found.name.startswith("sourcebook.frameworks."):
            yield sys.modules.get(found.name) or import_module(found.name)


def is_possessive_group(pattern: "re.Pattern[Any]") -> bool:
    return any(
        operator is _constants.POSSESSIVE_REPEAT and (len(value[2]) > 1 or value[2][0][0] not in SINGLE)
        for operator, value in operations(_parser.parse(pattern.pattern, pattern.flags))
    )


def operations(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the operations of a parsed expression, also those within others."""
    if isinstance(parsed, _parser.SubPattern):
        yield from parsed
    if isinstance(parsed, _parser.SubPattern | tuple | list):
        for part in parsed:
            yield from operations(part)
