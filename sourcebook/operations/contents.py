"""Contents of a knowledge base, and pending work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from sourcebook.contract.fields import listed_names
from sourcebook.errors import QueryError
from sourcebook.installation import needing_extra
from sourcebook.operations.principals import for_principals

if TYPE_CHECKING:
    from sourcebook.contract.collections import CollectionSources, CollectionStatistics, CollectionSummary
    from sourcebook.contract.documents import Document, Item
    from sourcebook.contract.generations import GenerationState
    from sourcebook.contract.listing import DocumentsOptions, ItemOrder
    from sourcebook.contract.plans import CollectionPlan
    from sourcebook.contract.status import CollectionStatus
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.principals import AsPrincipals


def collections(
    knowledge: Opened, *, text: str | None = None, limit: int | None = None, offset: int = 0
) -> list[CollectionSummary]:
    """Return what each collection holds, in alphabetical order; see `status` for what is pending.

    Args:
        text: only collections with this in their name or their description, in any case.
        limit: the most collections; all where None.
        offset: number of collections before the first one.

    Raises:
        QueryError: the limit or the offset is not allowed.
    """
    from sourcebook.admin.summaries import collection_summaries

    if (limit is not None and limit < 1) or offset < 0:
        raise QueryError(f"the limit is {limit} and the offset {offset}; they must be 1 or more, and 0 or more")
    with knowledge.database.connection() as connection:
        found = [each for each in collection_summaries(connection) if text is None or each.is_called(text)]
    return found[offset:][:limit]


def sources(knowledge: Opened, collections: Sequence[str] | str | None = None) -> list[CollectionSources]:
    """Return the folders, sites and other sources of each collection, as their last listing or crawl left them.

    Args:
        collections: names, or one name; every collection where None.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.summaries import collection_sources

    with knowledge.database.connection() as connection:
        return collection_sources(connection, listed_names(collections))


def statistics(knowledge: Opened, collections: Sequence[str] | str | None = None) -> list[CollectionStatistics]:
    """Return counts of each collection: documents by state, kind, media type and language, failures by class.

    Args:
        collections: names, or one name; every collection where None.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.summaries import collection_statistics

    with knowledge.database.connection() as connection:
        return collection_statistics(connection, listed_names(collections))


@for_principals
def documents(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    failed: bool = False,
    removed: bool = False,
    curated: bool = False,
    failure: str | None = None,
    processing: bool = False,
    limit: int | None = None,
    offset: int = 0,
    after: tuple[str, str] | None = None,
    states: Sequence[str] = (),
    kinds: Sequence[str] = (),
    text: str | None = None,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    sort: ItemOrder = "uri",
    as_principals: AsPrincipals | None = None,
) -> list[Item]:
    """Return documents with their states, and files and pages that are no documents, by collection and URI.

    Args:
        collections: names, or one name; every collection where None.
        failed: only failed and skipped items, with the sources that cannot be listed.
        removed: removed documents as well.
        curated: only documents that were hidden from search or boosted by hand.
        failure: only items that failed in this way, one of `sourcebook.errors.FailureClass`.
        processing: only items that a process works on now.
        limit: the most items, the first ones; all where None.
        offset: number of items before the first one.
        after: collection and URI of the item before the first one, such as the last of the page before, in the same
            order.
        states: only items in one of these states.
        kinds: only items of one of these kinds.
        text: only items with this text in their title or URI, in any case.
        types: only documents of one of these types, such as `adr`.
        tags: only documents with one of these tags.
        sort: `uri` for the order by collection and URI, or `title`, `created`, `updated`, `indexed` or `size` for one
            across collections; with `-` in front the other way round. What has no such value comes last.
        as_principals: see `search`.

    Raises:
        QueryError: an argument is not allowed, or a collection does not exist.
    """
    from sourcebook.admin.items import list_items
    from sourcebook.contract.listing import DocumentsRequest

    request = DocumentsRequest.of(
        collections=collections,
        failed=failed,
        removed=removed,
        curated=curated,
        failure=failure,
        processing=processing,
        limit=limit,
        offset=offset,
        states=states,
        kinds=kinds,
        text=text,
        types=types,
        tags=tags,
        sort=sort,
    )
    with knowledge.database.connection() as connection:
        return list_items(connection, request, after)


@for_principals
def count_documents(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    as_principals: AsPrincipals | None = None,
    **options: Unpack[DocumentsOptions],
) -> int:
    """Return the number of items that `documents` lists without a limit.

    Args:
        collections: names, or one name; every collection where None.
        as_principals: see `search`.
        options: conditions of the list: `states`, `kinds`, `types`, `tags`, `text`, `failed`, `removed`, `curated`,
            `failure`, `processing`.

    Raises:
        QueryError: an argument is not allowed, or a collection does not exist.
    """
    from sourcebook.admin.items import count_items
    from sourcebook.contract.listing import DocumentsRequest

    with knowledge.database.connection() as connection:
        return count_items(connection, DocumentsRequest.of(collections=collections, **options))


def collection_of(knowledge: Opened, document: int) -> str | None:
    """Return the collection of a document, and read nothing else of it; None where there is no such document."""
    from sourcebook.database.queries import queries

    with knowledge.database.connection() as connection:
        row = connection.execute(queries["collection_of_document"], {"id": document}).fetchone()
    return None if row is None else str(row[0])


@for_principals
def show(
    knowledge: Opened,
    document: str | int | Path,
    collection: str | None = None,
    *,
    unredacted: bool = False,
    as_principals: AsPrincipals | None = None,
) -> Document:
    """Return one document with its text as Markdown, its metadata, its tags and its passages.

    Args:
        document: its id, its URI, or the path of its file.
        collection: name of its collection, where several have it.
        unredacted: whether personal data and secrets are shown also of a collection that redacts them.
        as_principals: see `search`.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: the collection does not exist.
        MissingDependencyError: a path is given, and the extra `pipeline` is not installed.
    """
    from sourcebook.admin.items import find_document

    name = document if isinstance(document, int) else str(document)
    with knowledge.database.connection() as connection, needing_extra("pipeline"):
        return find_document(connection, name, next(iter(listed_names(collection)), None), unredacted=unredacted)


def status(knowledge: Opened, collections: Sequence[str] | str | None = None) -> list[CollectionStatus]:
    """Return the state of each collection: its contents, stale items, failures, damage, sources and generations.

    Folders are compared with the ledger by name, size and time, on the machine of the knowledge base.

    Args:
        collections: names, or one name; every collection where None.

    Raises:
        QueryError: a collection does not exist.
        MissingDependencyError: the extra `pipeline` is not installed.
    """
    with knowledge.database.connection() as connection, needing_extra("pipeline"):
        from sourcebook.admin.status import collection_statuses

        return collection_statuses(connection, listed_names(collections))


def plan(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    configuration: str | Path | None = None,
    home: Path | None = None,
) -> list[CollectionPlan]:
    """Return what the next ingest of each collection would do and why, how much it would embed, how long it takes.

    Nothing is changed. Of the sources, only files as large as a published one are read, to recognise their content.
    Numbers of texts and seconds are estimates.

    Args:
        collections: names, or one name; every collection where None.
        configuration: path of the `sourcebook.yaml` to plan for; the settings as applied last where None.
        home: state folder with the mirrors of the Git repositories of this file, which are fetched first; none are
            where None.

    Raises:
        ConfigurationError: the configuration file is missing or has a mistake.
        QueryError: a collection does not exist.
        MissingDependencyError: the extra `pipeline` is not installed.
    """
    with knowledge.database.connection() as connection, needing_extra("pipeline"):
        from sourcebook.admin.planning.plan import make_plans
        from sourcebook.config.loading import load_configuration

        settings = None if configuration is None else load_configuration(Path(configuration))
        return make_plans(connection, settings, listed_names(collections), home=home)


def generations(knowledge: Opened, collections: Sequence[str] | str | None = None) -> list[GenerationState]:
    """Return the generations of collections: of each the active one first, then the one being built.

    Args:
        collections: names, or one name; every collection where None.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.collections import check_collections
    from sourcebook.indexing.generation_states import generation_states

    names = listed_names(collections)
    with knowledge.database.connection() as connection:
        check_collections(connection, names)
        return [state for name in names or (None,) for state in generation_states(connection, name)]
