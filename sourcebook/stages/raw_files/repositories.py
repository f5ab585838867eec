"""The look at the Git repositories of a collection, which precedes the comparison of their files with the ledger.

A look asks a repository which commit its revision names, and fetches that where the mirror does not have it yet. A look
that fails leaves the last commit as it is and is recorded: the source is not listed then, and nothing of it is gone.
"""

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.config.repositories import RepositorySource
from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.mirror import Mirror, remove_unused_mirrors
from sourcebook.git.remote import Remote, Target, find_target
from sourcebook.git.tree import mark_damaged
from sourcebook.model.selection import EVERYTHING, Selection

_log = logging.getLogger("sourcebook.git")


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a look at one repository."""

    location: str
    seconds: float
    """Seconds until the next look."""
    commit: str | None = None
    mirror: str | None = None
    error: str | None = None
    failure_class: FailureClass | None = None


def fetch_repositories(
    connection: Connection,
    collection: str,
    home: Path,
    selection: Selection = EVERYTHING,
    *,
    only_due: bool = False,
) -> None:
    """Look at the repositories of a collection, and record what each look has brought.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        collection: name of the collection.
        home: the state folder.
        selection: the sources; a deep one reads every object of the mirrors.
        only_due: whether a repository is left out that was looked at within its setting `refresh`.
    """
    for row in _repositories(connection, collection, selection):
        mirror = Mirror(home, row["settings"]["url"])
        if selection.deep and mirror.path.exists() and not mirror.is_whole():
            mark_damaged(mirror.path)
        is_here = row["git_error"] is not None or mirror.has(row["git_commit"] or "none")
        if only_due and is_here and not row["is_due"]:
            continue
        record_look(
            connection, collection, look(row["location"], row["settings"], home, read_commits(connection, mirror))
        )
    if selection.thorough:
        urls = connection.execute(queries["repository_urls"]).fetchall()
        remove_unused_mirrors(home, [url for (url,) in urls])


def find_moved_repositories(connection: Connection, collection: str, *, seconds: float, deadline: float) -> list[str]:
    """Ask the due repositories of a collection for their commits, without a fetch, and return the moved ones.

    One that has not moved is not due until its setting `refresh` has passed again; nor is one that cannot be read, and
    its error is recorded.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        seconds: longest time without progress for each repository.
        deadline: time of the monotonic clock after which no further repository is asked.

    Returns:
        The locations, each with the new commit.
    """
    moved = []
    for row in _repositories(connection, collection, EVERYTHING):
        if not row["is_due"] or time.monotonic() > deadline:
            continue
        location, settings = row["location"], row["settings"]
        try:
            target = find_target(_remote(settings, seconds))
        except ListingError as error:
            found = Look(location, settings["refresh"], error=str(error), failure_class=error.failure_class)
        else:
            if target.commit != row["git_commit"] or row["git_error"] is not None:
                moved.append(f"{location} {target.commit}")
                continue
            found = Look(location, settings["refresh"])
        record_look(connection, collection, found)
    return moved


def look(location: str, settings: Mapping[str, Any], home: Path, kept: Collection[str]) -> Look:
    """Look at one repository, and fetch its commit where the mirror lacks it.

    Args:
        location: location of the source.
        settings: its settings in the ledger.
        home: the state folder.
        kept: commits that other sources read from its mirror.
    """
    refresh = float(settings["refresh"])
    remote = _remote(settings)
    mirror = Mirror(home, remote.url)
    try:
        target = find_target(remote)
        commit = target.commit if mirror.has(target.commit) else _fetch(remote, mirror, target, kept)
    except ListingError as error:
        return Look(location, refresh, error=str(error), failure_class=error.failure_class)
    return Look(location, refresh, commit, str(mirror.path))


def look_at(repository: RepositorySource, home: Path, connection: Connection) -> Look:
    """Look at a repository of a configuration that may not be applied yet."""
    settings = repository.model_dump(mode="json")
    return look(repository.location, settings, home, read_commits(connection, Mirror(home, repository.url)))


def record_look(connection: Connection, collection: str, found: Look) -> None:
    """Record the result of a look."""
    connection.execute(
        queries["record_fetch"],
        {
            "collection": collection,
            "location": found.location,
            "commit": found.commit,
            "mirror": found.mirror,
            "error": found.error,
            "failure_class": found.failure_class,
            "seconds": found.seconds,
        },
    )


def read_commits(connection: Connection, mirror: Mirror) -> list[str]:
    """Return the commits that sources read from a mirror."""
    return [commit for (commit,) in connection.execute(queries["read_commits"], {"mirror": str(mirror.path)})]


def _repositories(connection: Connection, collection: str, selection: Selection) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        scope = {"collection": collection, "locations": list(selection.sources)}
        return cursor.execute(queries["repositories"], scope).fetchall()


def _remote(settings: Mapping[str, Any], seconds: float | None = None) -> Remote:
    return Remote(
        settings["url"],
        settings["revision"],
        seconds or float(settings["timeout"]),
        anonymous=settings.get("anonymous", False),
    )


def _fetch(remote: Remote, mirror: Mirror, target: Target, kept: Collection[str]) -> str:
    _log.info("fetching %s at %s", remote.name, remote.revision or "its default branch")
    return mirror.fetch(remote, target, kept)
