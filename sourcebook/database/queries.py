"""The SQL of the project, read once from queries/*.sql.

A statement begins with a line `-- name: stale_documents`, followed by a description, and ends before the next one.
Python refers to it as `queries["stale_documents"]` and never builds SQL from strings. Parameters are named
(`%(collection)s`); `{braces}` are identifiers and literals for `SQL.format`. The file has the name of the stage
or module that uses its statements.

Each statement begins with a comment that names it. By this comment the triggers of schema/proof.sql know the library's
own statements, whoever sends them; anything else that is executed on the same connection counts as somebody else's.
"""

import re
from importlib.resources import files

from psycopg import sql

_MARK = "/* sourcebook: {} */ "
"""Beginning of a statement of the library; `is_library` in schema/proof.sql looks for it."""
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
            # The files are source code of the package, not input: to psycopg their text is a literal.
            found[name] = sql.SQL(marked(name, text.strip()))
    return found


def marked(name: str, text: str) -> str:
    """Return a statement of the library with the comment that names it."""
    return _MARK.format(name) + text


queries: dict[str, sql.SQL] = _load()
"""Every named query, as a psycopg `SQL` object."""
