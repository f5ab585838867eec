"""Keys for those who reach the knowledge base over a network, and the audit of what was changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.audit import AuditEvent
    from sourcebook.admin.provider_sessions import Renewal
    from sourcebook.contract.access import AccessKey, PageSession, Person, ProviderLogout
    from sourcebook.model.access import OnBehalf, Scope
    from sourcebook.operations.opened import Opened


def keys(knowledge: Opened) -> list[AccessKey]:
    """Return every key in the order of creation, revoked and expired ones included."""
    from sourcebook.admin.access_keys import list_keys

    with knowledge.database.connection() as connection:
        return list_keys(connection)


def create_key(
    knowledge: Opened,
    name: str,
    scopes: Sequence[Scope] = ("read",),
    collections: Sequence[str] | None = None,
    *,
    lasts: timedelta | None = None,
    limit: int | None = None,
    seen: Sequence[str] | None = None,
    principals: Sequence[str] | None = None,
    on_behalf: OnBehalf | None = None,
    origins: Sequence[str] | None = None,
    actor: str | None = None,
) -> tuple[AccessKey, str]:
    """Create a key; return it, and the text that is shown once and kept nowhere.

    Args:
        name: what a person calls it; no other valid key that the maker sees has it.
        scopes: `read`, `write`, `admin`, of which each includes those before it; `unredacted` lifts redaction.
        collections: names of the only collections that it sees; every collection where None.
        lasts: time until it expires; None: never.
        limit: requests a minute; None: the limit of the server.
        seen: names of the only collections that its maker sees; every collection where None.
        principals: for whom it asks, such as `user:anna@example.org` and `group:board`; everything in scope where None.
        on_behalf: `required` where each request says for whom it asks, `optional` where it may; None: it may not.
        origins: origins of the pages that alone may send it, such as `https://docs.example.com`: it only searches and
            asks, for everyone; None: anybody may send it.
        actor: who asks, for the audit.

    Raises:
        QueryError: an argument is not allowed, the name is taken, or a collection does not exist.
    """
    from sourcebook.admin.access_keys import create_key
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        return create_key(
            connection,
            name,
            scopes,
            collections,
            lasts=lasts,
            limit=limit,
            seen=seen,
            principals=principals,
            on_behalf=on_behalf,
            origins=origins,
            actor=actor or account(),
        )


def create_first_key(knowledge: Opened, text: str) -> AccessKey | None:
    """Create the first key of a knowledge base, with the scope `admin` and a given text; None where there was one.

    Raises:
        QueryError: the text cannot be a key.
    """
    from sourcebook.admin.access_keys import create_first_key
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        return create_first_key(connection, text, actor=account())


def revoke_key(knowledge: Opened, key: str | int, *, actor: str | None = None) -> AccessKey:
    """Revoke a key: the next request with it is refused.

    Args:
        key: its id, as a number or a text, or its name.
        actor: who asks, for the audit.

    Raises:
        QueryError: no valid key has this id or name.
    """
    from sourcebook.admin.access_keys import revoke_key
    from sourcebook.admin.audit import account

    with knowledge.database.connection() as connection:
        return revoke_key(connection, key, actor=actor or account())


def valid_key(knowledge: Opened, text: str) -> AccessKey | None:
    """Return the key that a text is; None where it is none, has expired or was revoked."""
    from sourcebook.admin.access_keys import PREFIX, find_key

    if not text.startswith(PREFIX):
        return None
    with knowledge.database.short_connection() as connection:
        return find_key(connection, text)


def origins_of_key(knowledge: Opened, key: int) -> list[str]:
    """Return the origins of the pages that may send a valid key, by its id; none where it has none."""
    from sourcebook.admin.access_keys import origins_of

    with knowledge.database.short_connection() as connection:
        return origins_of(connection, key)


def is_origin_of_a_key(knowledge: Opened, text: str) -> bool:
    """Return whether a page of an origin may send some valid key."""
    from sourcebook.admin.access_keys import is_origin

    with knowledge.database.short_connection() as connection:
        return is_origin(connection, text)


def sign_in(knowledge: Opened, text: str, browser: str) -> str | None:
    """Begin a session of the page with a key; return its token, None where the text is no valid key of a reader.

    A key that must say for whom each request asks is none: a browser cannot. Nor is a key of pages, which anybody has.
    """
    from sourcebook.admin.sessions import begin_session

    key = valid_key(knowledge, text)
    if key is None or key.on_behalf == "required" or key.origins is not None:
        return None
    with knowledge.database.connection() as connection:
        return begin_session(connection, key, browser)


def sign_in_person(knowledge: Opened, person: Person, browser: str, *, issuer: str, lasts: timedelta) -> str:
    """Begin a session of the page for a person whom an issuer has named; return its token.

    Args:
        person: who has signed in.
        browser: the browser's own name of itself.
        issuer: who has named the person.
        lasts: time after which the session ends.
    """
    from sourcebook.admin.sessions import begin_session_of_person

    with knowledge.database.connection() as connection:
        return begin_session_of_person(connection, person, browser, issuer=issuer, lasts=lasts)


def sign_out(knowledge: Opened, token: str) -> bool:
    """End the session of a browser by its token; return whether an issuer has signed it in."""
    from sourcebook.admin.sessions import sign_out

    with knowledge.database.connection() as connection:
        return sign_out(connection, token)


def person_of_session(knowledge: Opened, token: str, issuer: str) -> Person | None:
    """Return the person of a session of the page by its token; None where it is none of the issuer, or has ended."""
    from sourcebook.admin.sessions import person_of_session

    with knowledge.database.short_connection() as connection:
        return person_of_session(connection, token, issuer)


def keep_refresh_token(knowledge: Opened, token: str, person: Person, refresh_token: str, every: timedelta) -> None:
    """Renew the session of a person with a refresh token from now on; see `sourcebook.admin.provider_sessions`."""
    from sourcebook.admin.provider_sessions import keep_refresh_token

    with knowledge.database.connection() as connection:
        keep_refresh_token(connection, token, person, refresh_token, every)


def renew_session(
    knowledge: Opened, token: str, issuer: str, every: timedelta, ask: Callable[[Person, str], Renewal]
) -> None:
    """Ask the issuer again who the person of a session is, where it is time; end a session that it refuses."""
    from sourcebook.admin.provider_sessions import renew

    with knowledge.database.connection() as connection:
        renew(connection, token, issuer, every, ask)


def end_by_provider(knowledge: Opened, issuer: str, logout: ProviderLogout) -> bool:
    """End the sessions that an issuer has ended; return whether its logout token is taken for the first time."""
    from sourcebook.admin.provider_sessions import end_by_provider

    with knowledge.database.connection() as connection:
        return end_by_provider(connection, issuer, logout)


def key_of_session(knowledge: Opened, token: str) -> AccessKey | None:
    """Return the key of a session of the page by its token; None where the session or the key has ended."""
    from sourcebook.admin.sessions import key_of_session

    with knowledge.database.short_connection() as connection:
        return key_of_session(connection, token)


def sessions(knowledge: Opened, keys: Sequence[int] | None = None) -> list[PageSession]:
    """Return the browsers that are signed in, the newest first; with ids of keys, those of these keys."""
    from sourcebook.admin.sessions import list_sessions

    with knowledge.database.connection() as connection:
        return list_sessions(connection, keys)


def end_session(knowledge: Opened, number: int, keys: Sequence[int] | None = None, *, actor: str | None = None) -> bool:
    """Sign a browser out by the id of its session; return whether there was one.

    Args:
        number: id of the session.
        keys: ids of the only keys whose sessions may be ended; those of every key where None.
        actor: who asks, for the audit.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.sessions import end_session

    with knowledge.database.connection() as connection:
        return end_session(connection, number, keys, actor=actor or account())


def audit(knowledge: Opened, limit: int = 100, *, before: int | None = None) -> list[AuditEvent]:
    """Return what was changed, by whom and when, the newest first.

    Args:
        limit: number of events.
        before: only events with a lower id.
    """
    from sourcebook.admin.audit import audit_events

    with knowledge.database.connection() as connection:
        return audit_events(connection, limit, before=before)
