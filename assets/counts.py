"""The meanings of the counts in an asset's materializations, as Dagster's web page shows them."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_AT_THE_BEGINNING = {
    "added": "new {items}",
    "changed": "{items} whose content differs from the last run's",
    "unchanged": "{items} that stay as they were",
    "removed": "{items} that are gone",
    "failed": "{items} that failed in this run; the table `failures` has the reasons",
}
_AT_THE_END = {"total": "{items} after the run, without failed ones", "seconds": "duration of the work"}
"""Meanings of the counts that every materialization has, by name; those of a single asset stand in between."""


def describe(compute: Callable[..., Any], items: str, counts: Mapping[str, str]) -> str:
    """Return the description of an asset: the docstring of its function, and a table of its counts.

    Args:
        compute: the function of the asset.
        items: the counted things, in the plural.
        counts: meanings of further counts by name; they also replace those of `added` to `failed`.
    """
    meanings = {**_AT_THE_BEGINNING, **counts, **_AT_THE_END}
    rows = [f"| `{name}` | {meaning.format(items=items)} |" for name, meaning in meanings.items()]
    return "\n".join([inspect.getdoc(compute) or "", "", "| count | meaning |", "|---|---|", *rows])
