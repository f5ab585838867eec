"""The part of the Python interface that says what a knowledge base holds, and what is pending.

A module is imported by the first call that needs it, so that a program that only searches pays for none of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.errors import MissingDependencyError, QueryError

if TYPE_CHECKING:
    from sourcebook.admin.collection_sources import CollectionSources
    from sourcebook.admin.items import Document, Item
    from sourcebook.admin.judgments import RecordedJudgment
    from sourcebook.admin.logged_queries import LoggedQuery
    from sourcebook.admin.planning.plan import CollectionPlan
    from sourcebook.admin.statistics import CollectionStatistics
    from sourcebook.admin.status import CollectionStatus
    from sourcebook.admin.summaries import CollectionSummary
    from sourcebook.admin.usage import Usage
    from sourcebook.database.database import Database
    from sourcebook.indexing.generation_states import GenerationState


class Contents(ABC):
    """Documents, states, plans and generations of a knowledge base, from the functions that the commands use."""

    @property
    @abstractmethod
    def database(self) -> "Database":
        """The knowledge base's database."""

    def collections(self) -> "list[CollectionSummary]":
        """Return what each collection holds, in alphabetical order; see `status` for what is pending.

        Raises:
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.summaries import collection_summaries

        with self.database.connection() as connection:
            return collection_summaries(connection)

    def sources(self, collections: Sequence[str] | str | None = None) -> "list[CollectionSources]":
        """Return the folders, sites and other sources of each collection, as their last listing or crawl left them.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.collection_sources import collection_sources

        with self.database.connection() as connection:
            return collection_sources(connection, _names(collections))

    def statistics(self, collections: Sequence[str] | str | None = None) -> "list[CollectionStatistics]":
        """Return counts of each collection: documents by state, kind, media type and language, failures by class.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.statistics import collection_statistics

        with self.database.connection() as connection:
            return collection_statistics(connection, _names(collections))

    def documents(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        failed: bool = False,
        removed: bool = False,
        failure: str | None = None,
        processing: bool = False,
        limit: int | None = None,
        offset: int = 0,
        after: tuple[str, str] | None = None,
        states: Sequence[str] = (),
        kinds: Sequence[str] = (),
        text: str | None = None,
        types: Sequence[str] = (),
    ) -> "list[Item]":
        """Return documents with their states, and files and pages that are no documents, by collection and URI.

        Args:
            collections: names, or one name; every collection where None.
            failed: only failed and skipped items, with the sources that cannot be listed.
            removed: removed documents as well.
            failure: only items that failed in this way, one of `sourcebook.errors.FailureClass`.
            processing: only items that a process works on now.
            limit: the most items, the first ones; all where None.
            offset: number of items before the first one.
            after: collection and URI of the item before the first one, such as the last of the page before.
            states: only items in one of these states.
            kinds: only items of one of these kinds.
            text: only items with this text in their title or URI, in any case.
            types: only documents of one of these types, such as `adr`.

        Raises:
            QueryError: an argument is not allowed, or a collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.items import list_items

        with self.database.connection() as connection:
            return list_items(
                connection,
                _names(collections),
                failed=failed,
                removed=removed,
                failure_class=failure,
                processing=processing,
                limit=limit,
                offset=offset,
                after=after,
                states=states,
                kinds=kinds,
                text=text,
                types=types,
            )

    def show(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Document":
        """Return one document with its text as Markdown, its metadata, its tags and its passages.

        Args:
            document: its id, its URI, or the path of its file.
            collection: name of its collection, where several have it.
            unredacted: whether personal data and secrets are shown also of a collection that redacts them.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: the collection does not exist.
            MissingDependencyError: a path is given, and the extra `pipeline` is not installed.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.items import find_document

        name = document if isinstance(document, int) else str(document)
        with self.database.connection() as connection, needing_extra("pipeline"):
            return find_document(connection, name, next(iter(_names(collection)), None), unredacted=unredacted)

    def judge(
        self,
        query: str,
        document: str | int | Path,
        grade: int | None = 1,
        *,
        collection: str | None = None,
        actor: str | None = None,
    ) -> None:
        """Record how well a document answers a query; `evaluate` asks these queries where it is given no files.

        Args:
            query: the query, as it was asked.
            document: id, URI or path of the document.
            grade: 0 where it does not answer, above 0 the better it does; None deletes the judgment.
            collection: name of the document's collection, where several have it.
            actor: who judges, for the audit; the account of this process by default.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: the query is empty or too long, the grade is too large, or there is no judgment to delete.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.audit import account
        from sourcebook.admin.judgments import forget_judgment, record_judgment

        item, actor = self.show(document, collection).item, actor or account()
        with self.database.connection() as connection:
            if grade is not None:
                record_judgment(connection, item.collection, query, item.uri, grade, actor=actor)
            elif not forget_judgment(connection, item.collection, query, item.uri, actor=actor):
                raise QueryError(f"{item.uri} was not judged for {query!r}: sourcebook judge  lists the judgments")

    def judgments(self, collections: Sequence[str] | str | None = None) -> "list[RecordedJudgment]":
        """Return the recorded judgments, query by query.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.judgments import recorded_judgments

        with self.database.connection() as connection:
            return recorded_judgments(connection, _names(collections))

    def queries(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        without_results: bool = False,
        since: timedelta | None = None,
        limit: int | None = None,
    ) -> "list[LoggedQuery]":
        """Return the queries of the log, the most frequent first; searches of the last ten seconds may be missing.

        Args:
            collections: names, or one name; every collection where None.
            without_results: only queries whose last search had no results.
            since: only searches of this last time, such as `timedelta(days=7)`.
            limit: the most queries; all where None.

        Raises:
            QueryError: a collection does not exist, or the limit is below 1.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.logged_queries import logged_queries

        with self.database.connection() as connection:
            return logged_queries(
                connection, _names(collections), without_results=without_results, age=since, limit=limit
            )

    def forget_logged_queries(self, collections: Sequence[str] | str | None = None, *, actor: str | None = None) -> int:
        """Delete the query log; return the number of searches that it held.

        Args:
            collections: names, or one name; every collection where None.
            actor: who asks, for the audit; the account of this process by default.

        Raises:
            QueryError: a collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.audit import account
        from sourcebook.admin.logged_queries import forget_logged_queries

        with self.database.connection() as connection:
            return forget_logged_queries(connection, _names(collections), actor=actor or account())

    def usage(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        since: timedelta | None = None,
        by: Sequence[str] | None = None,
    ) -> "list[Usage]":
        """Return what models were used for, the latest day first; that of the last ten seconds may be missing.

        Args:
            collections: names, or one name; every collection where None.
            since: only days of this last time, such as `timedelta(days=7)`; days are those of UTC.
            by: what to keep apart, of `day`, `collection`, `provider`, `model` and `operation`; all of them where
                None, and one sum of everything where empty.

        Raises:
            QueryError: a collection does not exist, or `by` names something else.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.usage import DIMENSIONS, usage

        with self.database.connection() as connection:
            return usage(connection, _names(collections), since=since, by=DIMENSIONS if by is None else by)

    def status(self, collections: Sequence[str] | str | None = None) -> "list[CollectionStatus]":
        """Return the state of each collection: its contents, stale items, failures, damage, sources and generations.

        Sources are compared with the ledger by name, size and time: the folders must be those of this machine.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist.
            MissingDependencyError: the extra `pipeline` is not installed.
            DatabaseError: the database is out of reach.
        """
        with self.database.connection() as connection, needing_extra("pipeline"):
            from sourcebook.admin.status import collection_statuses

            return collection_statuses(connection, _names(collections))

    def plan(
        self, collections: Sequence[str] | str | None = None, *, configuration: str | Path | None = None
    ) -> "list[CollectionPlan]":
        """Return what the next ingest of each collection would do and why, how much it would embed, how long it takes.

        Nothing is changed. Of the sources, only files as large as a published one are read, to recognise their content.
        Numbers of texts and seconds are estimates.

        Args:
            collections: names, or one name; every collection where None.
            configuration: path of the `sourcebook.yaml` to plan for; the settings as applied last where None.

        Raises:
            ConfigurationError: the configuration file is missing or has a mistake.
            QueryError: a collection does not exist.
            MissingDependencyError: the extra `pipeline` is not installed.
            DatabaseError: the database is out of reach.
        """
        with self.database.connection() as connection, needing_extra("pipeline"):
            from sourcebook.admin.planning.plan import make_plans
            from sourcebook.config.loading import load_configuration

            settings = None if configuration is None else load_configuration(Path(configuration))
            return make_plans(connection, settings, _names(collections))

    def generations(self, collections: Sequence[str] | str | None = None) -> "list[GenerationState]":
        """Return the generations of collections: of each the active one first, then the one being built.

        Args:
            collections: names, or one name; every collection where None.

        Raises:
            QueryError: a collection does not exist.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.collections import check_collections
        from sourcebook.indexing.generation_states import generation_states

        names = _names(collections)
        with self.database.connection() as connection:
            check_collections(connection, names)
            return [state for name in names or (None,) for state in generation_states(connection, name)]


def _names(collections: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return names of collections, each once; none for every collection."""
    from sourcebook.search.request import checked_names

    return tuple(dict.fromkeys(checked_names(collections) or ()))


@contextmanager
def needing_extra(extra: str) -> Iterator[None]:
    """Name the command that installs an extra where a package of it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        from sourcebook.installation import install_command

        message = f"this needs {error.name}, which is not installed: {install_command(extra)}"
        raise MissingDependencyError(message) from error
