"""The part of the client that counts, plans and judges."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.client.of_the_server import check_actor
from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.collections import CollectionSources, CollectionStatistics
    from sourcebook.contract.judgments import RecordedJudgment
    from sourcebook.contract.plans import CollectionPlan
    from sourcebook.contract.query_log import LoggedQuery
    from sourcebook.contract.usage import Usage

_MOST_QUERIES: Final = 10_000
"""Logged queries of an answer, at most."""
_UNITS: Final = (("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400))
_LARGEST: Final = 99_999
"""Largest number of a unit of time."""


class RemoteReports(ABC):
    """Counts, plans and judgments of a knowledge base behind a server; see `Contents` for the arguments."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def sources(self, collections: Sequence[str] | str | None = None) -> "list[CollectionSources]":
        """Return the folders, sites and other sources of each collection, as their last listing or crawl left them.

        Raises:
            QueryError: a collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.collections import CollectionSources

        return read_list(CollectionSources, self._report("/v1/sources", collections), "collections")

    def statistics(self, collections: Sequence[str] | str | None = None) -> "list[CollectionStatistics]":
        """Return counts of each collection: documents by state, kind, media type and language, failures by class.

        Raises:
            QueryError: a collection does not exist for the key.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.collections import CollectionStatistics

        return read_list(CollectionStatistics, self._report("/v1/statistics", collections), "collections")

    def usage(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        since: timedelta | None = None,
        by: Sequence[str] | None = None,
    ) -> "list[Usage]":
        """Return what models were used for, the latest day first; see `KnowledgeBase.usage`.

        Raises:
            QueryError: a collection does not exist for the key, or `by` names something else.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.usage import Usage

        sums = {"by": list(by or ()), "total": True if by is not None and not by else None}
        content = self._report("/v1/usage", collections, since=duration_text(since), **sums)
        return read_list(Usage, content, "usage")

    def plan(
        self, collections: Sequence[str] | str | None = None, *, configuration: str | Path | None = None
    ) -> "list[CollectionPlan]":
        """Return what the next ingest of each collection would do and why, by the settings as applied last.

        Args:
            collections: names, or one name; every collection where None.
            configuration: None: a server plans for no file of another machine.

        Raises:
            QueryError: a collection does not exist for the key, or a configuration is given.
            MissingDependencyError: the extra `pipeline`, whose types the plan has, is not installed here.
            DatabaseError: the server fails or is out of reach.
        """
        if configuration is not None:
            raise QueryError("a server plans by the settings as applied last: leave configuration out")
        from sourcebook.installation import needing_extra
        from sourcebook.client.answers import read_list

        content = self._report("/v1/plan", collections)
        with needing_extra("pipeline"):
            from sourcebook.contract.plans import CollectionPlan
        return read_list(CollectionPlan, content, "collections")

    def judge(
        self,
        query: str,
        document: str | int | Path,
        grade: int | None = 1,
        *,
        collection: str | None = None,
        actor: str | None = None,
    ) -> None:
        """Record how well a document answers a query; see `KnowledgeBase.judge`.

        Raises:
            UnknownDocumentError: there is no such document for the key, or several collections have it and none is
                named.
            QueryError: the query is empty or too long, the grade is too large, or there is no judgment to delete.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        check_actor(actor)
        named = document if isinstance(document, int) else str(document)
        body = {"query": query, "document": named, "grade": grade, "collection": collection}
        self.server.change("POST", "/v1/judgments", body)

    def judgments(self, collections: Sequence[str] | str | None = None) -> "list[RecordedJudgment]":
        """Return the recorded judgments, query by query.

        Raises:
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.judgments import RecordedJudgment

        return read_list(RecordedJudgment, self._report("/v1/judgments", collections), "judgments")

    def queries(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        without_results: bool = False,
        since: timedelta | None = None,
        limit: int | None = None,
    ) -> "list[LoggedQuery]":
        """Return the queries of the log, the most frequent first, 10,000 at most; see `KnowledgeBase.queries`.

        Raises:
            QueryError: a collection does not exist for the key, or the limit is not allowed.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.query_log import LoggedQuery

        most = _MOST_QUERIES if limit is None else limit
        options = {"without_results": without_results, "since": duration_text(since), "limit": most}
        return read_list(LoggedQuery, self._report("/v1/queries", collections, **options), "queries")

    def forget_logged_queries(self, collections: Sequence[str] | str | None = None, *, actor: str | None = None) -> int:
        """Delete the query log; return the number of searches that it held.

        Raises:
            QueryError: a collection does not exist for the key.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        from collections.abc import Mapping

        from sourcebook.client.answers import read

        check_actor(actor)
        answer = self.server.change("DELETE", "/v1/queries", parameters={"collection": listed_names(collections)})
        return read(Mapping[str, int], answer.content)["searches"]  # type: ignore[type-abstract]

    def _report(self, path: str, collections: Sequence[str] | str | None, **options: object) -> bytes:
        return self.server.get(path, {"collection": listed_names(collections), **options})


def listed_names(collections: Sequence[str] | str | None) -> list[str]:
    """Return names of collections, each once; none for every collection."""
    from sourcebook.search.request import checked_names

    return list(dict.fromkeys(checked_names(collections) or ()))


def duration_text(time: timedelta | None) -> str | None:
    """Return a time as `7d` or `90m`, in the smallest unit that holds it, rounded up; None for None."""
    if time is None:
        return None
    seconds = max(1, math.ceil(time.total_seconds()))
    unit, length = next((unit for unit in _UNITS if seconds <= _LARGEST * unit[1]), _UNITS[-1])
    return f"{min(math.ceil(seconds / length), _LARGEST)}{unit}"
