"""Requested work in this process: requests are taken one after the other, each an ingest of its part."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from sourcebook.admin.claimed_work import ClaimedWork, WorkStoppedError, claimed_work, recover_work, selection_of
from sourcebook.admin.collections import apply
from sourcebook.admin.work_requests import find_work
from sourcebook.config.loading import Configuration
from sourcebook.contract.work import WorkRequest
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.errors import DatabaseConnectionLostError, DatabaseError, SourcebookError

if TYPE_CHECKING:
    from sourcebook.embedding.embedder_pool import EmbedderPool

_MOST_CHARACTERS = 2_000
"""Characters of a reason."""
_SECONDS_BETWEEN_LOOKS = 0.5
"""Seconds between two looks at the lock of a collection."""
_log = logging.getLogger("sourcebook.work")


def do_requested_work(
    configuration: Configuration,
    database: Database,
    *,
    events: IngestEvents,
    done: Callable[[IngestedCollection], None] = lambda result: None,
) -> Iterator[WorkRequest]:
    """Do the waiting requests, the oldest first, until none waits; yield each as it ended.

    Requests whose worker has died come again, at most three times.

    Args:
        configuration: the configuration to apply.
        database: the knowledge base.
        events: callbacks of the ingests.
        done: called with the result of each ingest.

    Raises:
        DatabaseError: the database is out of reach; the request that was being done waits again.
    """
    while True:
        with database.connection() as connection:
            recover_work(connection)
        request = do_one_request(configuration, database, events=events, done=done)
        if request is None:
            return
        yield request


def do_one_request(
    configuration: Configuration,
    database: Database,
    *,
    events: IngestEvents,
    done: Callable[[IngestedCollection], None] = lambda result: None,
    number: int | None = None,
    embedders: "EmbedderPool | None" = None,
) -> WorkRequest | None:
    """Do the oldest waiting request; return it as it ended, or None where nothing waits.

    Args:
        configuration: the configuration to apply.
        database: the knowledge base.
        events: callbacks of the ingest.
        done: called with the result of the ingest.
        number: only the request with this id.
        embedders: a pool that stays open; one of its own by default.

    Raises:
        DatabaseError: the database is out of reach; the request waits again.
    """
    with claimed_work(database, number=number) as work:
        if work is None:
            return None
        try:
            with work.followed():
                result = _do(work, configuration, database, events, embedders)
        except (SourcebookError, WorkStoppedError) as error:
            if isinstance(error, DatabaseError) and error.is_temporary:
                raise
            _end_early(work, error)
        except Exception as error:  # noqa: BLE001 - whatever it was, it must not be tried for ever
            _log.exception("request %d failed", work.request.id)
            _end_early(work, error)
        else:
            work.end("succeeded", failed=_failed_items(result), run_id=result.run_id if result else None)
            if result is not None:
                done(result)
    with database.connection() as connection:
        return find_work(connection, work.request.id) or work.request


def _do(
    work: ClaimedWork,
    configuration: Configuration,
    database: Database,
    events: IngestEvents,
    embedders: "EmbedderPool | None",
) -> IngestedCollection | None:
    """Ingest the part of a collection that a request is about; None where it has no such part."""
    with database.connection() as connection:
        apply(connection, configuration)
        selection = selection_of(connection, work.request)
    if selection is None:
        return None
    name = work.request.collection
    _wait_for(work, database, events)
    results = ingest(
        configuration, database, collections=[name], selection=selection, events=events, embedders=embedders
    )
    (result,) = results
    return result


def _wait_for(work: ClaimedWork, database: Database, events: IngestEvents) -> None:
    """Wait while another process works on the collection.

    Raises:
        WorkStoppedError: the request was cancelled meanwhile.
    """
    has_said = False
    with database.connection() as connection:
        while is_locked(connection, work.request.collection):
            if not has_said:
                has_said = True
                events.waiting(work.request.collection)
            if work.is_cancelled or work.is_lost:
                raise WorkStoppedError
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _end_early(work: ClaimedWork, error: BaseException) -> None:
    """Record the end of a request whose work did not come to its end."""
    if work.is_lost:
        raise DatabaseConnectionLostError(
            f"the connection of the request {work.request.id} was lost", remedy="the next worker goes on with it"
        ) from error
    if work.is_cancelled:
        work.end("cancelled")
    else:
        work.end("failed", " ".join(str(error).split())[:_MOST_CHARACTERS] or type(error).__name__)


def _failed_items(result: IngestedCollection | None) -> int:
    """Return the number of items that failed in a run."""
    return 0 if result is None else sum(counts.get("failed", 0) for counts in result.assets.values())
