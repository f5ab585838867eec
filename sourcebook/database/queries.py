"""The SQL of the project, read once from queries/*.sql.

A block begins with a line `-- name: what_it_does` and ends where the next one begins. Python says
`queries["stale_documents"]` and never builds SQL from strings; parameters are named (`%(collection)s`).
"""

import re
from importlib.resources import files
from typing import LiteralString, cast

from psycopg import sql

_HEADER = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def _load() -> dict[str, sql.SQL]:
    found: dict[str, sql.SQL] = {}
    for resource in sorted(files(__package__).joinpath("queries").iterdir(), key=lambda entry: entry.name):
        if not resource.name.endswith(".sql"):
            continue
        pieces = _HEADER.split(resource.read_text(encoding="utf-8"))
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            if name in found:
                message = f"the query {name} is defined twice"
                raise ValueError(message)
            # The files are part of the package, as much source code as this line is.
            found[name] = sql.SQL(cast("LiteralString", text.strip()))
    return found


queries: dict[str, sql.SQL] = _load()
"""Every named query, as a psycopg `SQL` object."""
