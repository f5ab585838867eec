"""The guard against emptying, for folders, stores, repositories and uploads.

A listing may be complete and wrong: of a folder whose disk is not mounted, a bucket whose prefix is gone, a checkout of
another branch. Where it lacks more than a share of the source's documents, they stay as they are, the source has a
listing error that says so, and a run with `accept` takes the loss. Not counted are documents whose content another file
of the collection has, as after a rename, and files that a person took out: by a pattern, or by removing an upload.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote_to_bytes

from psycopg import Connection

from sourcebook.config.collection import RemovalSettings
from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass
from sourcebook.files.reading import local_path
from sourcebook.files.source import PathFilter, Source
from sourcebook.model.held_back import held_back
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.model.upload_names import upload_uri
from sourcebook.stages.raw_files.shards import Difference


def guarded(connection: Connection, difference: Difference, selection: Selection) -> Difference:
    """Return a difference without the files whose loss is held back; its error says so.

    A file that has become empty is lost like one that is gone.
    """
    emptied = [
        entry.uri
        for entry in difference.to_read
        if entry.size == 0 and (known := difference.known.get(entry.uri)) is not None and known.live and known.size > 0
    ]
    if difference.error is not None or selection.accept or not (difference.gone or emptied):
        return difference
    lost, of, error = _held(connection, difference.source, _unexpected(connection, difference), emptied)
    if error is None:
        return difference
    return replace(
        difference,
        error=error,
        failure_class=FailureClass.HELD,
        to_read=[entry for entry in difference.to_read if entry.uri not in lost],
        gone=[uri for uri in difference.gone if uri not in lost],
        held=[uri for uri in difference.gone if uri in lost],
        emptied=[uri for uri in emptied if uri in lost],
        held_of=of,
    )


def guarded_again(connection: Connection, difference: Difference, shard: Shard | None) -> Difference:
    """Return a difference after the files of all sources were read: what they show to be renamed is not lost."""
    if difference.failure_class is not FailureClass.HELD:
        return difference
    lost, of, error = _held(connection, difference.source, difference.held, difference.emptied)
    released = [uri for uri in difference.held if error is None or uri not in lost]
    return replace(
        difference,
        error=error,
        failure_class=FailureClass.HELD if error else None,
        gone=[*difference.gone, *(uri for uri in released if shard is None or shard.takes(uri))],
        held_of=of if error else None,
    )


def _held(
    connection: Connection, source: Source, gone: Iterable[str], emptied: Iterable[str]
) -> tuple[set[str], int, str | None]:
    """Return the URIs of lost documents, how many there were before, and why they are held back: None where not."""
    missing = [*gone, *emptied]
    if not missing:
        return set(), 0, None
    scope = {"source_id": source.id, "missing": missing}
    row = connection.execute(queries["lost_documents"], scope).fetchone()
    collection, settings, of, lost = row or ("", {}, 0, [])
    of = max(of, len(lost))  # documents that came while others were held are lost, too
    rules = RemovalSettings.model_validate(settings or {})
    return set(lost), of, held_back(len(lost), of, collection) if rules.hold(len(lost), of) else None


def _unexpected(connection: Connection, difference: Difference) -> list[str]:
    """Return the files that are gone although nobody took them out."""
    source = difference.source
    if source.records is not None:
        return difference.gone
    if source.uploads is not None:
        rows = connection.execute(queries["known_uploads"], {"source_id": source.id})
        removed = {upload_uri(source.location, name) for (name,) in rows}
        return [uri for uri in difference.gone if uri not in removed]
    patterns = PathFilter(source.include, source.exclude)
    return [uri for uri in difference.gone if (path := _path_inside(source, uri)) is None or patterns.takes(path)]


def _path_inside(source: Source, uri: str) -> str | None:
    """Return the path of a file within its source, to which patterns apply; None where the URI does not show it."""
    path = local_path(uri) if source.is_local else uri
    root = source.location.rstrip("/") + "/"
    if not path.startswith(root):
        return None
    inside = path.removeprefix(root)
    return inside if source.repository is None else os.fsdecode(unquote_to_bytes(inside))
