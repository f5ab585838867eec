"""Judgments, the query log, the audit of reading, the use of models, and permissions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.contract.fields import listed_names
from sourcebook.errors import QueryError
from sourcebook.operations.contents import show

if TYPE_CHECKING:
    from sourcebook.contract.judgments import RecordedJudgment
    from sourcebook.contract.permissions import Permission
    from sourcebook.contract.query_log import LoggedQuery
    from sourcebook.contract.readings import Reading
    from sourcebook.contract.usage import Usage
    from sourcebook.operations.opened import Opened


def judge(
    knowledge: Opened,
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
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.judgments import forget_judgment, record_judgment

    item, actor = show(knowledge, document, collection).item, actor or account()
    with knowledge.database.connection() as connection:
        if grade is not None:
            record_judgment(connection, item.collection, query, item.uri, grade, actor=actor)
        elif not forget_judgment(connection, item.collection, query, item.uri, actor=actor):
            raise QueryError(f"{item.uri} was not judged for {query!r}: sourcebook judge  lists the judgments")


def judgments(knowledge: Opened, collections: Sequence[str] | str | None = None) -> list[RecordedJudgment]:
    """Return the recorded judgments, query by query.

    Args:
        collections: names, or one name; every collection where None.
    """
    from sourcebook.admin.judgments import recorded_judgments

    with knowledge.database.connection() as connection:
        return recorded_judgments(connection, listed_names(collections))


def queries(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    without_results: bool = False,
    since: timedelta | None = None,
    limit: int | None = None,
) -> list[LoggedQuery]:
    """Return the queries of the log, the most frequent first; searches of the last ten seconds may be missing.

    Args:
        collections: names, or one name; every collection where None.
        without_results: only queries whose last search had no results.
        since: only searches of this last time, such as `timedelta(days=7)`.
        limit: the most queries; all where None.

    Raises:
        QueryError: a collection does not exist, or the limit is below 1.
    """
    from sourcebook.admin.logged_queries import logged_queries

    with knowledge.database.connection() as connection:
        return logged_queries(
            connection, listed_names(collections), without_results=without_results, age=since, limit=limit
        )


def forget_logged_queries(
    knowledge: Opened, collections: Sequence[str] | str | None = None, *, actor: str | None = None
) -> int:
    """Delete the query log; return the number of searches that it held.

    Args:
        collections: names, or one name; every collection where None.
        actor: who asks, for the audit; the account of this process by default.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.logged_queries import forget_logged_queries

    with knowledge.database.connection() as connection:
        return forget_logged_queries(connection, listed_names(collections), actor=actor or account())


def readings(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    principal: str | None = None,
    document: str | int | None = None,
    since: timedelta | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Reading]:
    """Return who asked for what and which documents the answers showed, the newest first.

    Args:
        collections: names, or one name; every collection where None.
        principal: only what was asked for this principal, or by this actor, such as `user:anna@example.org` or
            `key portal`.
        document: only answers that showed this document: its id, its URI or the end of it, also of one that is gone.
        since: only answers of this last time, such as `timedelta(days=7)`.
        before: only readings with a lower id, such as the last of the page before.
        limit: the most readings, 1 to 10,000.

    Raises:
        QueryError: a collection does not exist, or the limit is not allowed.
    """
    from sourcebook.admin.readings import readings

    with knowledge.database.connection() as connection:
        return readings(
            connection,
            listed_names(collections),
            principal=principal,
            document=document,
            age=since,
            before=before,
            limit=limit,
        )


def forget_readings(
    knowledge: Opened, collections: Sequence[str] | str | None = None, *, actor: str | None = None
) -> int:
    """Delete the audit of reading; return the number of readings that it held.

    Args:
        collections: names, or one name; every collection where None.
        actor: who asks, for the audit; the account of this process by default.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.readings import forget_readings

    with knowledge.database.connection() as connection:
        return forget_readings(connection, listed_names(collections), actor=actor or account())


def usage(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    since: timedelta | None = None,
    by: Sequence[str] | None = None,
) -> list[Usage]:
    """Return what models were used for, the latest day first; that of the last ten seconds may be missing.

    Args:
        collections: names, or one name; every collection where None.
        since: only days of this last time, such as `timedelta(days=7)`; days are those of UTC.
        by: what to keep apart, of `day`, `collection`, `provider`, `model` and `operation`; all of them where
            None, and one sum of everything where empty.

    Raises:
        QueryError: a collection does not exist, or `by` names something else.
    """
    from sourcebook.admin.usage import usage
    from sourcebook.contract.usage import DIMENSIONS

    with knowledge.database.connection() as connection:
        return usage(connection, listed_names(collections), since=since, by=DIMENSIONS if by is None else by)


def permissions(
    knowledge: Opened,
    document: str | int | Path | None = None,
    *,
    principals: Sequence[str] | str | None = None,
    collections: Sequence[str] | str | None = None,
) -> list[Permission]:
    """Return who may see how many documents of each collection; or who may see one document, and why.

    Args:
        document: its id, its URI, the path of its file, or the end of one; None for all documents.
        principals: a caller, such as `user:anna@example.org`, for whom is answered whether and through what it may see
            them; several are one caller, who is all of them. Nobody where None or empty.
        collections: names, or one name; every collection where None.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: a collection does not exist, what is named is no document, or a principal is none.
    """
    from sourcebook.admin.collections import check_collections
    from sourcebook.admin.items import find_document
    from sourcebook.admin.permissions import permission_of, permissions
    from sourcebook.config.principals import principal_set

    names, given = listed_names(collections), (principals,) if isinstance(principals, str) else tuple(principals or ())
    try:
        principal_set(given)
    except ValueError as error:
        raise QueryError(str(error)) from None
    with knowledge.database.connection() as connection:
        check_collections(connection, names)
        if document is None:
            return permissions(connection, names, given)
        found: list[Permission] = []
        for name in names or [None]:
            named = document if isinstance(document, int) else str(document)
            item = find_document(connection, named, name, unredacted=True).item
            if item.document_id is None:
                raise QueryError(f"{item.uri} is no document: permissions are those of documents")
            found += permission_of(connection, item.document_id, item.collection, given)
        return found
