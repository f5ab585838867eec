"""Collections and sources of a job: made where they are missing, changed where they are known."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sourcebook.admin.api_collections import allowed_folders
from sourcebook.config.paths import expand_user
from sourcebook.config.sites import site_location
from sourcebook.errors import ConflictError, QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import collection_names
from sourcebook.server.visibility import NO_COLLECTION, NotFoundError, seen_collections

DEFAULT: Final = "default"
"""Collection of what an agent adds without naming one."""
_SECTIONS: Final = {"files": "files", "site": "sites", "repository": "repositories"}
"""Settings that list the sources, by the kind of these."""
_PLACES: Final = {"files": "root", "site": "url", "repository": "url"}
"""Setting that names the place, by the kind of a source."""


def ready_collection(knowledge: KnowledgeBase, grant: Grant, named: str | None) -> str:
    """Return the collection that a job is for; it is made where it is missing and the caller may make one.

    Args:
        knowledge: the knowledge base.
        grant: what the caller may do.
        named: its name; None for the only one that exists for the caller, or else `default`.

    Raises:
        NotFoundError: it does not exist for the caller, who may not make it.
        SettingsError: the name is none of a collection.
    """
    name = named or (grant.collections[0] if grant.collections and len(grant.collections) == 1 else DEFAULT)
    if name not in collection_names(knowledge):
        if not grant.sees(name):
            raise NotFoundError(NO_COLLECTION)
        if not grant.allows("admin"):
            raise NotFoundError(NO_COLLECTION if named else f"{NO_COLLECTION}: name one of list_collections")
        try:
            knowledge.create_collection(name, actor=grant.actor)
        except ConflictError:  # another caller has just made it, or it is kept
            if name not in collection_names(knowledge):
                raise
    seen_collections(knowledge, grant, [name])
    return name


def put_source(knowledge: KnowledgeBase, grant: Grant, collection: str, kind: str, source: Mapping[str, Any]) -> str:
    """Let a collection have a source with these settings; return what changed of one that it has, or "".

    Args:
        knowledge: the knowledge base.
        grant: what the caller may do.
        collection: name of the collection, which exists.
        kind: `files`, `site` or `repository`.
        source: settings of the source, its place among them.

    Raises:
        QueryError: a setting is not allowed.
        ConflictError: `sourcebook.yaml` declares the collection, and not this source.
    """
    section, place = _SECTIONS[kind], _PLACES[kind]
    declared = knowledge.collection_settings(collection)
    entries = [dict(each) for each in declared.settings.get(section) or ()]
    wanted = location_of(kind, str(source[place]))
    known = next((each for each in entries if location_of(kind, str(each.get(place))) == wanted), None)
    changed = {} if known is None else _changes(known, {name: source[name] for name in source if name != place})
    if declared.declared_in == "file":
        is_held = kind == "files" and source.keys() == {place} and _holds(knowledge, collection, wanted)
        if changed or (known is None and not is_held):
            raise ConflictError(_left_to_the_file(collection, kind, str(source[place])))
    elif known is None:
        knowledge.add_source(collection, kind, source, actor=grant.actor)
    elif changed:
        after = [_merged(each, source) if each is known else each for each in entries]
        knowledge.change_collection(collection, {section: after}, actor=grant.actor)
    return "; ".join(f"{name}: {before} → {after}" for name, (before, after) in changed.items())


def location_of(kind: str, place: str) -> str:
    """Return the location of a source as `sources()` shows it."""
    if kind == "site":
        return site_location(place)
    return os.path.realpath(expand_user(place.removeprefix("file://"))) if kind == "files" else place


def local_root(knowledge: KnowledgeBase, place: str) -> str:
    """Return the path of a folder or a file as the settings of a source have it.

    Raises:
        QueryError: the caller may read it, and it does not exist.
    """
    root = expand_user(place.removeprefix("file://"))
    folders = allowed_folders(knowledge.folders) or ((Path("/"),) if knowledge.is_owners else ())
    if root.startswith("/"):
        real = Path(os.path.realpath(root))
        if any(real.is_relative_to(each) for each in folders) and not real.exists():
            raise QueryError(f"there is no file or folder {place}")
    return root


def _holds(knowledge: KnowledgeBase, collection: str, location: str) -> bool:
    """Return whether a folder or a file is in a folder that a collection reads."""
    (status,) = knowledge.sources([collection])
    folders = [each.location for each in status.sources if each.kind == "files"]
    return any(Path(location).is_relative_to(folder) for folder in folders if folder.startswith("/"))


def _changes(known: Mapping[str, Any], given: Mapping[str, Any], above: str = "") -> dict[str, tuple[Any, Any]]:
    """Return the settings that change, by name, each with its value before and after."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, value in given.items():
        before = known.get(name)
        if isinstance(value, Mapping):
            found |= _changes(before if isinstance(before, Mapping) else {}, value, f"{above}{name}.")
        elif before != value:
            found[f"{above}{name}"] = ("the default" if before is None else before, value)
    return found


def _merged(known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with others in their place; groups of settings are joined."""
    return {
        **known,
        **{
            name: {**known.get(name, {}), **value} if isinstance(value, Mapping) else value
            for name, value in given.items()
            if name not in _PLACES.values()
        },
    }


def _left_to_the_file(collection: str, kind: str, place: str) -> str:
    command = "crawl" if kind == "site" else "ingest"
    return (
        f"sourcebook.yaml declares the collection {collection}, and agents do not change that file: name another "
        f"collection, which is made, or have  sourcebook {command} {place} -c {collection}  run on the machine"
    )
