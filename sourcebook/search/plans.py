"""PostgreSQL's plans, for who asks how a search was done."""

import re
from collections.abc import Mapping
from typing import Any, Final

from psycopg import Connection, sql

_LONG: Final = re.compile(r"([\[{][^\]}]{40})[^\]}]+")


def explained(connection: Connection, statement: sql.Composable, parameters: Mapping[str, Any]) -> str:
    """Return the plan of a statement, which is not run; of long lists and vectors the beginning."""
    # SQL here: the prefix of a named query.
    rows = connection.execute(sql.SQL("EXPLAIN (COSTS OFF) ") + statement, parameters)
    return "\n".join(_LONG.sub(r"\1…", line) for (line,) in rows)
