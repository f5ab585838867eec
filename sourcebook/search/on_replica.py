"""Reading searches, on the replica where one is named, otherwise and in its place on the primary."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sourcebook.contract.search_results import SearchResults
from sourcebook.database.replica import Replica, failures_of_replica, note_on_lateness
from sourcebook.errors import DatabaseBusyError, DatabaseError, ReplicaError
from sourcebook.search.ranking.state import SearchResources

Found = TypeVar("Found")


def read(
    resources: SearchResources, replica: Replica | None, work: Callable[[SearchResources], Found]
) -> tuple[Found, float | None, str | None]:
    """Return what work found, the seconds that its index is behind, and a sentence where it did not go as usual.

    Args:
        resources: what searches share, with connections to the primary.
        replica: the replica; None where none is named.
        work: reads with the resources that it is given.

    Raises:
        DatabaseError: the replica failed or is too late, and the settings do not let the primary take its place.
    """
    if replica is None:
        return work(resources), None, None
    try:
        behind = replica.seconds_behind()
        with failures_of_replica():
            return work(replace(resources, connections=replica.pool)), round(behind, 3), note_on_lateness(behind)
    except DatabaseError as error:
        if isinstance(error, DatabaseBusyError) and "max_connections" in error.remedy:
            raise  # many searches at once would fail on the primary as well
        replica.has_failed(error)
        if not replica.settings.falls_back:
            raise
        reason = str(error) if isinstance(error, ReplicaError) else error.detail
    return work(resources), 0.0, f"The primary was searched in place of the replica: {reason.partition(': ')[0]}."


def search_results(
    resources: SearchResources, replica: Replica | None, work: Callable[[SearchResources], SearchResults]
) -> SearchResults:
    """Return results that say how far their index is behind."""
    found, behind, note = read(resources, replica, work)
    if behind is None:
        return found
    return replace(found, seconds_behind=behind, notes=(*found.notes, note) if note else found.notes)
