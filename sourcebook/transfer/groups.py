"""Groups of an export: the members of those by which its documents are seen, by their names."""

from collections.abc import Mapping, Sequence

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.principals import GROUP, parse_principal
from sourcebook.database.queries import queries
from sourcebook.errors import TransferError
from sourcebook.model.acting import account
from sourcebook.transfer.manifest import Manifest


def exported_groups(connection: Connection, collections: Sequence[str]) -> dict[str, list[str]]:
    """Return the members of the groups that collections name, and of groups that are members of these."""
    return dict(connection.execute(queries["export_groups"], {"collections": list(collections)}).fetchall())


def known_groups(connection: Connection, manifest: Manifest) -> frozenset[str]:
    """Return those groups of an export that this base has, or by which its documents are seen: they stay as they are.

    With further members, these would see documents here that nobody has allowed to them.

    Raises:
        TransferError: what the manifest names is no group, or a member is no principal.
    """
    _check(manifest.groups)
    return frozenset(name for (name,) in connection.execute(queries["known_groups"], {"groups": list(manifest.groups)}))


def load_groups(connection: Connection, manifest: Manifest, known: frozenset[str]) -> tuple[str, ...]:
    """Add the groups that this base did not know, and return their names."""
    new = {group: members for group, members in sorted(manifest.groups.items()) if group not in known}
    pairs = [(member, group) for group, members in new.items() for member in members]
    if pairs:
        members, groups = (list(column) for column in zip(*pairs, strict=True))
        connection.execute(queries["add_groups"], {"members": members, "groups": groups})
        told = {group: {"added": members, "removed": []} for group, members in new.items()}
        event = {"actor": account(), "action": "groups.change", "subject": "groups", "details": Jsonb(told)}
        connection.execute(queries["record_audit_event"], event)
    return tuple(new)


def _check(groups: Mapping[str, Sequence[str]]) -> None:
    try:
        is_sound = all(parse_principal(name) == name for group, members in groups.items() for name in (group, *members))
    except ValueError:
        is_sound = False
    if not is_sound or not all(group.startswith(f"{GROUP}:") for group in groups):
        raise TransferError("the manifest names groups or members that are none: export again")
