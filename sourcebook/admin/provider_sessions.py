"""Sessions of persons as their issuer sees them: ended by it, and renewed with a refresh token.

The refresh token is encrypted with the token that the browser alone has: whoever reads the database has neither.
"""

import base64
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Final, Literal

from cryptography.fernet import Fernet
from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.admin.access_keys import sha256_of
from sourcebook.admin.audit import record_event
from sourcebook.admin.sessions import UNUSED
from sourcebook.contract.access import Person, ProviderLogout
from sourcebook.database.queries import queries

PAUSE: Final = 30.0
"""Seconds until an issuer that has not answered is asked again."""
Renewal = tuple[Person, str] | Literal["refused", "unavailable"]
"""The person as the issuer says it now, with the next refresh token; or why it does not say it."""


def keep_refresh_token(
    connection: Connection, token: str, person: Person, refresh_token: str, every: timedelta
) -> None:
    """Renew a session with a refresh token from now on.

    Args:
        connection: the connection.
        token: the browser's.
        person: who the issuer says it is.
        refresh_token: what the issuer takes once.
        every: time until it is asked.
    """
    values = {"refresh_token": _box(token).encrypt(refresh_token.encode()), "seconds": every.total_seconds()}
    whose = {"sha256": sha256_of(token), "person": person.name, "principals": sorted(person.principals)}
    connection.execute(queries["keep_refresh_token"], {**values, **whose})


def renew(
    connection: Connection, token: str, issuer: str, every: timedelta, ask: Callable[[Person, str], Renewal]
) -> None:
    """Ask the issuer again who the person of a session is, where it is time; end a session that it refuses.

    A session goes on without its answer for twice the time between two questions.

    Args:
        connection: in autocommit mode.
        token: the browser's.
        issuer: who has signed the person in.
        every: time between two questions.
        ask: asks the issuer about a person, with a refresh token.
    """
    asked = {"sha256": sha256_of(token), "issuer": issuer, "unused": UNUSED.total_seconds()}
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries["session_to_renew"], asked).fetchone()
        if row is None:
            return
        before = Person(row["person"], frozenset(row["principals"]), row["subject"], row["provider_session"])
        found = ask(before, _box(token).decrypt(row["refresh_token"]).decode())
        if found == "unavailable":
            longest = 2 * every.total_seconds() + PAUSE
            connection.execute(queries["renew_later"], {**asked, "pause": PAUSE, "longest": longest})
        elif found == "refused":
            connection.execute(queries["end_session_of_token"], asked)
            record_event(connection, issuer, "session.end", before.name, {"because": "not renewed"})
        else:
            keep_refresh_token(connection, token, *found, every)


def end_by_provider(connection: Connection, issuer: str, logout: ProviderLogout) -> bool:
    """End the sessions that an issuer has ended; return whether its logout token is taken for the first time.

    Args:
        connection: in autocommit mode.
        issuer: whose token it is.
        logout: what it says.
    """
    digest = sha256(f"{issuer}\n{logout.number}".encode()).digest()
    with connection.transaction():
        used = {"sha256": digest, "ends_at": logout.ends_at}
        if connection.execute(queries["use_logout_token"], used).fetchone() is None:
            return False
        whose = {"issuer": issuer, "subject": logout.subject, "session": logout.session}
        for (person,) in connection.execute(queries["end_sessions_of_provider"], whose).fetchall():
            record_event(connection, issuer, "session.end", person, {"because": "logged out there"})
    return True


def _box(token: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(sha256(f"refresh {token}".encode()).digest()))
