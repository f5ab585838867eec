"""Preview of a change of a collection's settings: the next ingest as if they were saved, which is rolled back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from sourcebook.admin.api_collections import change_collection, find_declaration, record_new
from sourcebook.admin.planning.plan import differing_settings, make_plans
from sourcebook.config.api_collection import ApiLimits, read_settings
from sourcebook.config.field_types import NAME_RULE, is_collection_name
from sourcebook.contract.plans import CollectionPlan
from sourcebook.errors import SettingsError


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """Effects of saving settings."""

    changed: tuple[str, ...]
    """Names of the settings that differ, such as `chunking.tokens`; all that are given of a new collection."""
    plan: CollectionPlan
    """The next ingest."""


def plan_change(
    connection: Connection,
    name: str,
    written: Mapping[str, Any],
    limits: ApiLimits,
    *,
    is_new: bool,
    rebuild: bool = False,
    actor: str,
) -> PlannedChange:
    """Return what the next ingest would do if settings were saved; nothing of them is.

    Args:
        connection: to the knowledge base.
        name: of the collection.
        written: all of its settings.
        limits: reach of collections that are made over the API.
        is_new: whether the collection would be made.
        rebuild: see `change_collection`.
        actor: who would save them.
    """
    with connection.transaction(force_rollback=True):
        before: Mapping[str, Any] = {}
        if is_new:
            if not is_collection_name(name):
                raise SettingsError(f"a collection's name is {NAME_RULE}")
            record_new(connection, name, written, read_settings(written, limits), actor=actor)
        else:
            before = find_declaration(connection, name).settings
            change_collection(connection, name, patch_between(before, written), limits, rebuild=rebuild, actor=actor)
        (plan,) = make_plans(connection, None, [name])
    return PlannedChange(tuple(sorted(written)) if is_new else differing_settings(before, written), plan)


def patch_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch (RFC 7396) that makes one mapping of another."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        held = before.get(name)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            patch |= {name: patch_between(held, value)} if held != value else {}
        elif held != value:
            patch[name] = value
    return patch
