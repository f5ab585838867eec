"""What an entry must fulfil to be found at all, whichever leg looks for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from psycopg import sql


@dataclass(frozen=True, slots=True)
class EntryCondition:
    """A condition on rows of `search_entry`, which the statement that takes it in calls `entry`.

    Values travel as parameters; the text is put together from the project's own words alone.
    """

    text: sql.Composable
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By name; the names of conditions that are joined differ."""

    @classmethod
    def all_of(cls, conditions: Sequence["EntryCondition"]) -> Self | None:
        """Return the condition that all of them hold; None where there are none."""
        if not conditions:
            return None
        parameters = {name: value for each in conditions for name, value in each.parameters.items()}
        return cls(sql.SQL(" AND ").join(sql.SQL("({})").format(each.text) for each in conditions), parameters)
