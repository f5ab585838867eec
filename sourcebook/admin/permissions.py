"""Permissions: who may see which documents, and why; and the groups of the settings."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.admin.audit import account, record_event
from sourcebook.config.permissions import Groups, memberships
from sourcebook.config.principals import EVERYONE, principal_set
from sourcebook.contract.permissions import Permission, PermissionAnswer, PermissionReason
from sourcebook.database.queries import queries

Ways = dict[str, str | None]
"""Principals of a caller, groups among them, each with the one through which it is; None for those that were given."""


def record_groups(connection: Connection, groups: Groups) -> tuple[str, ...]:
    """Keep the members of groups equal to the settings; return the groups that got other members."""
    pairs = memberships(groups)
    given = {"members": [member for member, _ in pairs], "groups": [group for _, group in pairs]}
    changed = connection.execute(queries["record_groups"], given).fetchall()
    if changed:
        told = {group: {"added": added, "removed": removed} for group, added, removed in changed}
        record_event(connection, account(), "groups.change", "groups", told)
    return tuple(group for group, _, _ in changed)


def record_change(
    connection: Connection, subject: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, actor: str
) -> None:
    """Record in the audit that other principals see the items of a source."""
    details = {"before": _told(before), "after": _told(after)}
    record_event(connection, actor, "permissions.change", subject, details)


def _told(permissions: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return permissions as the settings have them; None where everyone sees everything."""
    if permissions is None:
        return None
    rest = {name: value for name, value in permissions.items() if name != "rules" and value}
    return {"allowed": {each.get("pattern") or "**": each["allowed"] for each in permissions.get("rules", ())}, **rest}


def permissions(
    connection: Connection, collections: Sequence[str] = (), principals: Iterable[str] = ()
) -> list[Permission]:
    """Return who sees how many documents of each collection, the most documents first.

    Args:
        connection: to the knowledge base.
        collections: names; every collection where empty.
        principals: a caller, for whom each is answered; none where empty.
    """
    rows = connection.execute(queries["audiences"], {"collections": list(collections)}).fetchall()
    found = [Permission(tuple(allowed), tuple(denied), documents) for allowed, denied, documents in rows]
    return _answered(connection, found, principals)


def permission_of(
    connection: Connection, document: int, collection: str, principals: Iterable[str] = ()
) -> list[Permission]:
    """Return who sees a document and why; see `permissions`."""
    rows = connection.execute(queries["audience_of_document"], {"document": document}).fetchall()
    reasons = tuple(_reasons(connection, document))
    found = [Permission(tuple(allowed), tuple(denied), {collection: 1}, document, reasons) for allowed, denied in rows]
    return _answered(connection, found, principals)


def _reasons(connection: Connection, document: int) -> Iterator[PermissionReason]:
    """Yield what decides on a document, and where it is a copy, on its originals."""
    seen: set[int | None] = {None}
    number: int | None = document
    while number not in seen:
        seen.add(number)
        with connection.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(queries["permission_reason"], {"document": number}).fetchone()
        if row is None:
            return
        number = row.pop("original")
        yield PermissionReason(**row)


def _answered(connection: Connection, found: list[Permission], principals: Iterable[str]) -> list[Permission]:
    given = list(principals)
    if not given:
        return found
    ways = _ways(connection, principal_set(given))
    return [replace(each, answer=_answer(each, ways)) for each in found]


def _ways(connection: Connection, principals: Iterable[str]) -> Ways:
    """Return all principals of a caller, by the fewest groups."""
    given = sorted(principals, key=lambda each: (each == EVERYONE, each))
    groups: dict[str, list[str]] = {}
    for member, group in connection.execute(queries["memberships"], {"principals": given}):
        groups.setdefault(member, []).append(group)
    ways: Ways = dict.fromkeys(given)
    waiting = deque(given)
    while waiting:
        member = waiting.popleft()
        new = [group for group in groups.get(member, ()) if group not in ways]
        ways.update(dict.fromkeys(new, member))
        waiting += new
    return ways


def _answer(permission: Permission, ways: Ways) -> PermissionAnswer:
    denied = next((each for each in ways if each in permission.denied), None)
    named = denied or next((each for each in ways if each in permission.allowed), None)
    return PermissionAnswer(named is not None and denied is None, _path(named, ways))


def _path(principal: str | None, ways: Ways) -> tuple[str, ...]:
    path: list[str] = []
    while principal is not None:
        path.append(principal)
        principal = ways[principal]
    return tuple(reversed(path))
