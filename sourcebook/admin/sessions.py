"""Sessions of the page: browsers that somebody has signed in with a key.

A browser keeps a token, never the key: it opens the page alone, ends by itself, and can be ended while the key goes on.
"""

import secrets
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.access_keys import sha256_of
from sourcebook.admin.audit import record_event
from sourcebook.contract.access import AccessKey, PageSession
from sourcebook.database.queries import queries

UNUSED: Final = timedelta(days=1)
"""Time after its last use when a session ends."""
LONGEST: Final = timedelta(days=7)
"""Time after its beginning when a session ends, however much it is used."""
_TIMES: Final = {"unused": UNUSED.total_seconds(), "longest": LONGEST.total_seconds()}
_LONGEST_BROWSER: Final = 200


def begin_session(connection: Connection, key: AccessKey, browser: str) -> str:
    """Begin a session; return the token, which is kept nowhere here."""
    token = secrets.token_urlsafe(32)
    shown = "".join(each for each in browser[:_LONGEST_BROWSER] if each.isprintable())
    connection.execute(
        queries["begin_session"], {**_TIMES, "key": key.id, "sha256": sha256_of(token), "browser": shown}
    )
    return token


def key_of_session(connection: Connection, token: str) -> AccessKey | None:
    """Return the key of a session by its token, and record its use once a minute; None where none goes on."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries["living_session"], {**_TIMES, "sha256": sha256_of(token)}).fetchone()
    if row is None:
        return None
    if datetime.now(UTC) - row["session_used_at"] > timedelta(minutes=1):
        connection.execute(queries["record_use_of_session"], {"id": row["session"]})
    return AccessKey(**{field.name: row[field.name] for field in fields(AccessKey)})


def list_sessions(connection: Connection, keys: Sequence[int] | None = None) -> list[PageSession]:
    """Return the sessions that go on, of some keys by their ids or of all, the newest first."""
    with connection.cursor(row_factory=class_row(PageSession)) as cursor:
        return cursor.execute(queries["sessions"], {**_TIMES, "keys": None if keys is None else list(keys)}).fetchall()


def end_session(connection: Connection, number: int, keys: Sequence[int] | None = None, *, actor: str) -> bool:
    """End a session by its id, of some keys or of any; return whether there was one."""
    with connection.transaction():
        row = connection.execute(
            queries["end_session"], {"id": number, "keys": None if keys is None else list(keys)}
        ).fetchone()
        if row is not None:
            record_event(connection, actor, "session.end", f"key {row[0]}", {"id": number})
    return row is not None


def sign_out(connection: Connection, token: str) -> None:
    """End the session of a browser by its token."""
    connection.execute(queries["end_session_of_token"], {"sha256": sha256_of(token)})
