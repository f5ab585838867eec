"""Sessions of the page: browsers that somebody has signed in with a key, or at the issuer of signed tokens.

A browser keeps a token, never the key: it opens the page alone, ends by itself, and can be ended while the key goes on.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import class_row, dict_row

from sourcebook.admin.access_keys import sha256_of
from sourcebook.admin.audit import record_event
from sourcebook.contract.access import AccessKey, PageSession, Person
from sourcebook.database.queries import queries

UNUSED: Final = timedelta(days=1)
"""Time after its last use when a session ends."""
LONGEST: Final = timedelta(days=7)
"""Time after its beginning when a session ends, however much it is used."""
_TIMES: Final = {"unused": UNUSED.total_seconds(), "longest": LONGEST.total_seconds()}
_LONGEST_BROWSER: Final = 200


def begin_session(connection: Connection, key: AccessKey, browser: str) -> str:
    """Begin a session with a key; return the token, which is kept nowhere here."""
    return _begin(connection, browser, {"key": key.id})


def begin_session_of_person(
    connection: Connection, person: Person, browser: str, *, issuer: str, lasts: timedelta
) -> str:
    """Begin a session of a person; return the token, which is kept nowhere here.

    Args:
        connection: the connection.
        person: who has signed in.
        browser: the browser's own name of itself.
        issuer: who has said it: the session opens nothing where another one is asked.
        lasts: time after which it ends, however much it is used.
    """
    told: dict[str, Any] = {"issuer": issuer, "person": person.name, "principals": sorted(person.principals)}
    told |= {"subject": person.subject, "provider_session": person.session}
    return _begin(connection, browser, {**told, "lasts": lasts.total_seconds()})


def _begin(connection: Connection, browser: str, whose: Mapping[str, Any]) -> str:
    token = secrets.token_urlsafe(32)
    shown = "".join(each for each in browser[:_LONGEST_BROWSER] if each.isprintable())
    nobody = dict.fromkeys(("key", "issuer", "person", "principals", "lasts", "subject", "provider_session"))
    values = {**_TIMES, **nobody, **whose, "sha256": sha256_of(token), "browser": shown}
    connection.execute(queries["begin_session"], values)
    return token


def key_of_session(connection: Connection, token: str) -> AccessKey | None:
    """Return the key of a session by its token, and record its use once a minute; None where none goes on."""
    row = _living(connection, "living_session", {"sha256": sha256_of(token)})
    return None if row is None else AccessKey(**{field.name: row[field.name] for field in fields(AccessKey)})


def person_of_session(connection: Connection, token: str, issuer: str) -> Person | None:
    """Return the person of a session by its token, and record its use once a minute; None where none goes on."""
    row = _living(connection, "living_session_of_person", {"sha256": sha256_of(token), "issuer": issuer})
    return None if row is None else Person(row["person"], frozenset(row["principals"]))


def _living(connection: Connection, name: str, values: Mapping[str, Any]) -> dict[str, Any] | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries[name], {**_TIMES, **values}).fetchone()
    if row is not None and datetime.now(UTC) - row["session_used_at"] > timedelta(minutes=1):
        connection.execute(queries["record_use_of_session"], {"id": row["session"]})
    return row


def list_sessions(connection: Connection, keys: Sequence[int] | None = None) -> list[PageSession]:
    """Return the sessions that go on, of some keys by their ids or of everybody, the newest first."""
    with connection.cursor(row_factory=class_row(PageSession)) as cursor:
        return cursor.execute(queries["sessions"], {**_TIMES, "keys": None if keys is None else list(keys)}).fetchall()


def end_session(connection: Connection, number: int, keys: Sequence[int] | None = None, *, actor: str) -> bool:
    """End a session by its id, of some keys or of anybody; return whether there was one."""
    with connection.transaction():
        row = connection.execute(
            queries["end_session"], {"id": number, "keys": None if keys is None else list(keys)}
        ).fetchone()
        if row is not None:
            record_event(connection, actor, "session.end", row[0], {"id": number})
    return row is not None


def sign_out(connection: Connection, token: str) -> bool:
    """End the session of a browser by its token; return whether an issuer has signed it in."""
    row = connection.execute(queries["end_session_of_token"], {"sha256": sha256_of(token)}).fetchone()
    return row is not None and bool(row[0])
