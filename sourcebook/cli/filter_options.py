"""Filters in the notation of the command line: `KEY=VALUE`, `KEY>=VALUE`, …"""

import json
import re
from collections.abc import Iterable
from typing import Any

from sourcebook.contract.filtering.periods import BOUNDS
from sourcebook.contract.filtering.values import shown
from sourcebook.contract.filters import Filters
from sourcebook.errors import QueryError

_FILTER = re.compile(r"(?P<key>[^=<>]+)(?P<operator>=|>=|<=|>|<)(?P<value>.*)", re.DOTALL)
_BOUNDS = dict(zip((">=", ">", "<=", "<"), BOUNDS, strict=True))
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_ONE_VALUE = ("uri_prefix",)
_DATES = ("date", "added", "changed")


def parse_filters(texts: Iterable[str]) -> Filters | None:
    """Return the filters of `--filter` options; None without any.

    `kind=page`, `tag=policy` and similar filters may be repeated: a document needs one of the values. `date>=2024-05`
    and `date<2025` are the bounds of one range. `metadata.KEY=VALUE` and `metadata.KEY>=VALUE` compare metadata, with
    dots for nested keys; a value that is a number, `true`, `false` or `null` also equals the text.

    Raises:
        QueryError: a text has another form, or names an unknown filter.
    """
    given: dict[str, Any] = {}
    for text in texts:
        parse_filter(text, given)
    return Filters.checked(given) if given else None


def parse_filter(text: str, given: dict[str, Any]) -> None:
    """Add the filter of one option to the mapping that `Filters.checked` takes.

    Raises:
        QueryError: the text has another form, or repeats a filter that takes one value.
    """
    parts = _FILTER.fullmatch(text)
    if parts is None:
        raise QueryError(f"the filter {shown(text)} must be KEY=VALUE, such as kind=page or metadata.year>=2020")
    key, operator, value = parts["key"].strip(), parts["operator"], parts["value"].strip()
    if key.startswith("metadata."):
        metadata = given.setdefault("metadata", {})
        _add(metadata, tuple(key.split(".")[1:]), operator, _values(value), _bound(value), shown(text))
    elif operator == "=" and key in (*_ONE_VALUE, *_DATES):
        _once(given, key, value, shown(text))
    elif operator == "=":
        given.setdefault(key, []).append(value)
    elif key in _DATES:
        _add(given, key, operator, [value], value, shown(text))
    else:
        raise QueryError(f"the filter {shown(text)} must be {key}=VALUE: only dates and metadata have an order")


def _add(given: dict[Any, Any], key: object, operator: str, equal: list[Any], bound: Any, text: str) -> None:
    """Add one of several values, or one bound of a range."""
    known = given.setdefault(key, [] if operator == "=" else {})
    if operator == "=" and isinstance(known, list):
        known += equal
    elif operator != "=" and isinstance(known, dict):
        _once(known, _BOUNDS[operator], bound, text)
    else:
        raise QueryError(f"the filter {text} repeats the field of another one: give one value, or one range")


def _once(given: dict[Any, Any], key: str, value: Any, text: str) -> None:
    if key in given:
        raise QueryError(f"the filter {text} repeats another one: {key} takes one value")
    given[key] = value


def _values(text: str) -> list[Any]:
    """Return the metadata values that a text may denote."""
    if text in _WORDS:
        return [_WORDS[text], text]
    return [json.loads(text), text] if _NUMBER.fullmatch(text) else [text]


def _bound(text: str) -> Any:
    return json.loads(text) if _NUMBER.fullmatch(text) else text
