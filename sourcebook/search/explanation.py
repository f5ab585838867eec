"""Explanation of a search: input, output and time of each part."""

import re
from collections.abc import Mapping
from typing import Any, Final

from psycopg import Connection, sql

_LONG: Final = re.compile(r"([\[{][^\]}]{40})[^\]}]+")


def read_plan(connection: Connection, statement: sql.Composable, parameters: Mapping[str, Any]) -> str:
    """Return PostgreSQL's plan of a statement, which is not run; long lists and vectors are shortened."""
    # SQL here: the prefix of a named query.
    rows = connection.execute(sql.SQL("EXPLAIN (COSTS OFF) ") + statement, parameters)
    return "\n".join(_LONG.sub(r"\1…", line) for (line,) in rows)
