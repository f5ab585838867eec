"""Keys for those who reach the knowledge base over a network.

A key is `sb_` and 32 random bytes. Only its SHA-256 is kept: a key of so much chance cannot be guessed from it, so that
no slow hash is needed, and a lookup is one index scan.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, get_args

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.config.principals import principal_set
from sourcebook.contract.access import AccessKey
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.model.access import SCOPES, OnBehalf, Scope
from sourcebook.model.web_origins import check_origin

PREFIX: Final = "sb_"
_BEGINNING: Final = len(PREFIX) + 6
"""Characters of a key that are kept, by which a person recognises it."""
_LONGEST_NAME: Final = 80
FIRST_KEY: Final = "SOURCEBOOK_FIRST_KEY"
"""Variable with the first key of a knowledge base, where a deployment brings it along."""
_FIRST: Final = "first"
"""Name of that key."""
_SHORTEST: Final = len(PREFIX) + 40
"""Characters of that key, at least."""
MOST_REQUESTS: Final = 1_000_000
"""Largest limit of a key, in requests a minute."""
MOST_ORIGINS: Final = 20
"""Origins of a key, at most."""


def create_key(
    connection: Connection,
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
    text: str | None = None,
    actor: str,
) -> tuple[AccessKey, str]:
    """Create a key; return it, and the text that is shown once and kept nowhere.

    A maker who sees only some collections learns nothing of keys that open others: their names may be used again. A
    text that is given is that of the key.
    """
    name = name.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise QueryError(f"the name of a key has 1 to {_LONGEST_NAME} printable characters")
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise QueryError(f"there is no scope {', '.join(unknown) or '(none)'}; there is {', '.join(SCOPES)}")
    if lasts is not None and lasts <= timedelta():
        raise QueryError("a key lasts longer than no time")
    if limit is not None and not 0 < limit <= MOST_REQUESTS:
        raise QueryError(f"the limit of a key is 1 to {MOST_REQUESTS:,} requests a minute")
    if collections is not None:
        check_collections(connection, collections)
    asked_for = _principals(principals, scopes, on_behalf)
    pages = _origins(origins, scopes, principals or on_behalf)
    text = text or PREFIX + secrets.token_urlsafe(32)
    row: dict[str, Any] = {
        "name": name,
        "beginning": text[:_BEGINNING],
        "sha256": sha256_of(text),
        "scopes": ["search"] if pages else [scope for scope in SCOPES if scope in scopes],
        "collections": None if collections is None else sorted(set(collections)),
        "seconds": None if lasts is None else lasts.total_seconds(),
        "limit": limit,
        "seen": None if seen is None else list(seen),
        "principals": asked_for,
        "on_behalf": on_behalf,
        "origins": pages,
    }
    with connection.transaction(), connection.cursor(row_factory=class_row(AccessKey)) as cursor:
        key = cursor.execute(queries["create_access_key"], row).fetchone()
        if key is None:
            raise QueryError(f"there is a key {name!r} already: revoke it first, or choose another name")
        details = {
            "scopes": list(key.scopes),
            "collections": key.collections,
            "expires_at": _text(key.expires_at),
            "requests_a_minute": limit,
            **({} if asked_for is None else {"principals": asked_for}),
            **({} if on_behalf is None else {"on_behalf": on_behalf}),
            **({} if pages is None else {"origins": pages}),
        }
        record_event(connection, actor, "key.create", f"key {name}", details)
    return key, text


def _principals(texts: Sequence[str] | None, scopes: Sequence[Scope], on_behalf: OnBehalf | None) -> list[str] | None:
    """Return the principals of a key in order, `everyone` among them; None where it has none."""
    if on_behalf not in (None, *get_args(OnBehalf)):
        raise QueryError("a key asks on behalf of others as  required  or  optional")
    if not texts:
        return None
    if on_behalf is not None:
        raise QueryError("a key belongs to principals, or asks on behalf of others: choose one")
    if not set(scopes) <= {"read", "unredacted"}:
        raise QueryError("a key that belongs to principals changes nothing: its scope is read, or unredacted")
    try:
        return sorted(principal_set(texts))
    except ValueError as error:
        raise QueryError(str(error)) from error


def _origins(texts: Sequence[str] | None, scopes: Sequence[Scope], asks_for: object) -> list[str] | None:
    """Return the origins of the pages that may send a key, in order; None where anybody may."""
    if not texts:
        return None
    if asks_for or tuple(scopes) != ("read",):
        raise QueryError("a key of pages only searches and asks, for everyone: it has no other scope and no principals")
    if len(texts) > MOST_ORIGINS:
        raise QueryError(f"a key has at most {MOST_ORIGINS} origins")
    for each in texts:
        check_origin(each)
    return sorted(set(texts))


def create_first_key(connection: Connection, text: str, *, actor: str) -> AccessKey | None:
    """Create a key with the scope `admin` and a given text where there was never a key; else return None."""
    if len(text) < _SHORTEST or not re.fullmatch(PREFIX + "[A-Za-z0-9_-]+", text):
        raise QueryError(
            f"{FIRST_KEY} is no key: it begins with {PREFIX} and has {_SHORTEST} or more letters and digits, as from  "
            f"echo {PREFIX}$(openssl rand -hex 32)"
        )
    if list_keys(connection):
        return None
    try:
        return create_key(connection, _FIRST, ("admin",), text=text, actor=actor)[0]
    except QueryError:  # another server was quicker
        return None


def list_keys(connection: Connection) -> list[AccessKey]:
    """Return every key in the order of creation, revoked and expired ones included."""
    with connection.cursor(row_factory=class_row(AccessKey)) as cursor:
        return cursor.execute(queries["access_keys"]).fetchall()


def revoke_key(connection: Connection, key: str | int, *, actor: str) -> AccessKey:
    """Revoke a key: the next request with it is refused."""
    name = None if isinstance(key, int) else key
    number = int(key) if name is None or (name.isascii() and name.isdigit() and len(name) < 19) else None
    with connection.transaction(), connection.cursor(row_factory=class_row(AccessKey)) as cursor:
        revoked = cursor.execute(queries["revoke_access_key"], {"id": number, "name": name}).fetchone()
        if revoked is None:
            raise QueryError(
                f"there is no valid key {key!r}, or several have this name: sourcebook key list  shows their ids"
            )
        record_event(connection, actor, "key.revoke", f"key {revoked.name}")
    return revoked


def origins_of(connection: Connection, key: int) -> list[str]:
    """Return the origins of the pages that may send a valid key, by its id; none where it has none."""
    row = connection.execute(queries["origins_of_key"], {"id": key}).fetchone()
    return [] if row is None else list(row[0])


def is_origin(connection: Connection, text: str) -> bool:
    """Return whether a page of an origin may send some valid key."""
    row = connection.execute(queries["is_origin_of_a_key"], {"origin": text}).fetchone()
    return row is not None and bool(row[0])


def find_key(connection: Connection, text: str) -> AccessKey | None:
    """Return the valid key that a caller has sent, and record its use once a minute; None where it is none."""
    with connection.cursor(row_factory=class_row(AccessKey)) as cursor:
        key = cursor.execute(queries["living_access_key"], {"sha256": sha256_of(text)}).fetchone()
    if key is not None and (key.used_at is None or datetime.now(UTC) - key.used_at > timedelta(minutes=1)):
        connection.execute(queries["record_use_of_key"], {"id": key.id})
    return key


def sha256_of(text: str) -> bytes:
    """Return what is kept of a key or a token."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
