"""Overviews: what a page of collections and of documents shows at once, by counts that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.overview import CollectionOverview, Growth
    from sourcebook.admin.work_groups import WorkGroup
    from sourcebook.contract.documents import DocumentHistory, Item
    from sourcebook.contract.uploads import Upload
    from sourcebook.operations.opened import Opened


def collection_names(knowledge: Opened) -> list[str]:
    """Return the names of the collections, in alphabetical order, or say at once that the database is out of reach."""
    from sourcebook.admin.collections import collection_names

    with knowledge.database.short_connection() as connection:
        return collection_names(connection)


def seen_collection_names(knowledge: Opened) -> list[str]:
    """Return the names of the collections in which the principals of a knowledge base see a document."""
    from sourcebook.admin.collections import seen_collection_names

    with knowledge.database.short_connection() as connection:
        return seen_collection_names(connection)


def collections_of_the_api(knowledge: Opened) -> list[str]:
    """Return the names of the collections that the API has made, in alphabetical order."""
    from sourcebook.admin.collections import collections_of_the_api

    with knowledge.database.connection() as connection:
        return collections_of_the_api(connection)


def overviews(knowledge: Opened, names: Sequence[str]) -> list[CollectionOverview]:
    """Return what collections hold, where it comes from, and what waits."""
    from sourcebook.admin.overview import collection_overviews

    with knowledge.database.connection() as connection:
        return collection_overviews(connection, names)


def growth(knowledge: Opened, names: Sequence[str]) -> list[Growth]:
    """Return the documents and passages of collections that each day added or took away."""
    from sourcebook.admin.overview import collection_growth

    with knowledge.database.connection() as connection:
        return collection_growth(connection, names)


def document_history(knowledge: Opened, item: Item) -> tuple[DocumentHistory | None, list[Upload]]:
    """Return the history of a document, and the versions of the upload that it is."""
    from sourcebook.admin.overview import document_history, uploaded_versions

    with knowledge.database.connection() as connection:
        return document_history(connection, item.document_id or 0), uploaded_versions(connection, item)


def items_at(knowledge: Opened, collection: str, uris: Sequence[str]) -> list[Item]:
    """Return the items of a collection that have one of some URIs, ordered by URI."""
    from sourcebook.admin.items import items_at

    with knowledge.database.connection() as connection:
        return items_at(connection, collection, uris)


def document_markdown(
    knowledge: Opened, document: int, *, with_source: bool = True, unredacted: bool = False
) -> tuple[str, str]:
    """Return the name of the file of a document, and the document as Markdown with front matter."""
    from sourcebook.transfer.documents import document_markdown

    with knowledge.database.connection() as connection:
        return document_markdown(connection, document, with_source=with_source, unredacted=unredacted)


def document_choices(knowledge: Opened, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return values of `kind`, `type`, `media_type`, `language` and `tag` with the numbers of the latest documents."""
    from sourcebook.admin.overview import document_choices

    with knowledge.database.short_connection() as connection:
        return document_choices(connection, names)


def titles_with(knowledge: Opened, names: Sequence[str], text: str) -> list[tuple[int, str]]:
    """Return ids and titles of some of the latest documents whose title has a text in it."""
    from sourcebook.admin.overview import titles_with

    with knowledge.database.short_connection() as connection:
        return titles_with(connection, names, text)


def judgments_of_query(knowledge: Opened, names: Sequence[str], query: str) -> dict[tuple[str, str], int]:
    """Return the grades of documents for a query, by collection and URI."""
    from sourcebook.admin.judgments import judgments_of_query

    with knowledge.database.connection() as connection:
        return judgments_of_query(connection, names, query)


def open_work_groups(knowledge: Opened, names: Sequence[str] | None) -> list[WorkGroup]:
    """Return the open requests for work, those that are alike as one; of every collection where None."""
    from sourcebook.admin.work_groups import open_work_groups

    with knowledge.database.connection() as connection:
        return open_work_groups(connection, names)
