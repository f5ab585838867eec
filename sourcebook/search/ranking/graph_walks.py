"""Walks of the HNSW indexes of a generation's parts, joined in one statement."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.model.graph_layout import BREADTH, MOST_BREADTH, GraphLayout
from sourcebook.search.scope import EntryCondition

_OF_BITS = 8
"""Entries that a walk by bits gives for each entry wanted: the order of their distances is a rough one."""
_SPREAD = 5.0
"""Standard deviations by which a part may hold more of the nearest entries than its share."""


@dataclass(frozen=True, slots=True)
class WalkStatement:
    """The statement that finds the nearest entries through the indexes of one layout."""

    layout: GraphLayout
    condition: EntryCondition
    dimensions: int
    entries: int
    """Entries of the largest generation that is walked."""
    at_once: int = 0
    """Nearest entries that a walk is to give before it goes on, which takes as long again, and gives no order."""

    @property
    def text(self) -> sql.Composed:
        """The statement; parameters beside those of the condition: vector, generations, depth and budget."""
        values = {"condition": self.condition.text, "dimensions": sql.Literal(self.dimensions)}
        if self.layout == GraphLayout():
            return queries["nearest_by_index"].format(**values)
        walk = queries["walk_bits" if self.layout.bits else "walk_part"]
        walks = [
            walk.format(mask=sql.Literal(self.layout.parts - 1), part=sql.Literal(part), **values)
            for part in range(self.layout.parts)
        ]
        return queries["nearest_in_parts"].format(walks=sql.SQL("\nUNION ALL\n").join(walks), **values)

    def budget(self, entries: int) -> int:
        """Return the most entries that the walk of each part gives, where all walks are to give a number of them.

        A hash spreads the nearest entries over the parts by chance: with more than their share of them, and five
        standard deviations, less than one search in a million is short of one.
        """
        entries *= _OF_BITS if self.layout.bits else 1
        share = entries / self.layout.parts
        return min(entries, math.ceil(share + _SPREAD * math.sqrt(share)))

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the nearest entries: chunk id, distance, and whether an index gave it."""
        parameters = {**self.condition.parameters, **values}
        breadth = min(max(self.layout.breadth(self.entries), self.budget(self.at_once)), MOST_BREADTH)
        if breadth == BREADTH:
            return connection.execute(self.text, parameters).fetchall()
        with connection.transaction():
            connection.execute(queries["set_breadth"], {"breadth": breadth})
            return connection.execute(self.text, parameters).fetchall()
