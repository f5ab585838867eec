"""Searches, and contexts for language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sourcebook.contract.fields import checked_names
from sourcebook.errors import QueryError
from sourcebook.operations.contents import show
from sourcebook.operations.principals import for_principals

if TYPE_CHECKING:
    from sourcebook.contract.context_results import ContextResult
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.reranking import Reranking
    from sourcebook.contract.search import ContextFormat, ContextOptions, Mode, SearchOptions
    from sourcebook.contract.search_results import SearchResults
    from sourcebook.contract.text_vectors import TextVectors
    from sourcebook.operations.opened import Opened
    from sourcebook.operations.principals import AsPrincipals


@for_principals
def search(
    knowledge: Opened,
    query: str,
    collections: Sequence[str] | str | None = None,
    limit: int | None = None,
    mode: Mode = "hybrid",
    *,
    as_principals: AsPrincipals | None = None,
    **options: Unpack[SearchOptions],
) -> SearchResults:
    """Return the passages that answer a query, best first.

    Args:
        query: words or a question, at most 10,000 characters. A passage must hold `"a phrase"`, must not
            hold `-word` and `-"a phrase"`, and its document's title must hold `title:word`.
        collections: names, or one name; where None, every collection but those that only take documents of others.
        limit: number of passages, 1 to 1,000; where None, as the settings of the collections say, or 5.
        mode: `hybrid` fuses vector search and keyword search; `vector` and `keyword` use one of them alone.
        as_principals: for whom is asked, such as `["user:anna@example.org", "group:board"]`: the answer is as if
            documents that these may not see were not there; everything where None.
        options: `SearchOptions`; the fields of `SearchRequest` say what they mean, their bounds and their defaults.

    Raises:
        QueryError: an argument is not allowed, or a collection or a generation does not exist.
        ModelError: the embedding or the reranking model cannot be loaded.
        DatabaseUnavailableError: the database is out of reach; a retry can succeed.
        DatabaseBusyError: a lock, a slow statement or too many searches at once; a retry can succeed.
        DatabaseError: any other failure of the database.
        TypeError: there is no such option.
    """
    from sourcebook.contract.search import SearchRequest
    from sourcebook.search.on_replica import search_results
    from sourcebook.search.run import run_search

    request = SearchRequest.checked(query, collections, limit, mode, **options)
    return search_results(knowledge._ready(), knowledge.replica, lambda resources: run_search(resources, request))


@for_principals
def similar(
    knowledge: Opened,
    document: str | int | Path,
    *,
    passage: int | None = None,
    collection: str | None = None,
    collections: Sequence[str] | str | None = None,
    limit: int = 5,
    filters: Filters | Mapping[str, Any] | None = None,
    unredacted: bool = False,
    as_principals: AsPrincipals | None = None,
) -> SearchResults:
    """Return the documents most similar to one, or to one of its passages, best first.

    Each result is the passage of another document that is nearest; its scores are cosine similarities.

    Args:
        document: its id, its URI, or the path of its file.
        passage: place of a passage within the document, counted from 0; the whole document where None.
        collection: name of the document's collection, where several have it.
        collections: names of the collections to search, or one name; every collection where None.
        limit: number of documents, 1 to 1,000.
        filters: conditions on the documents found; see `search`.
        unredacted: whether personal data and secrets are shown also of collections that redact them.
        as_principals: see `search`.

    Raises:
        UnknownDocumentError: there is no such document, or several collections have it and none is named.
        QueryError: the document or the passage is not searchable, or an argument is not allowed.
    """
    from sourcebook.contract.similar import SimilarRequest
    from sourcebook.search.on_replica import search_results
    from sourcebook.search.similar import similar_on

    request = SimilarRequest.of(
        document=document,
        passage=passage,
        collection=collection,
        collections=collections,
        limit=limit,
        filters=filters,
        unredacted=unredacted,
    )
    found = show(knowledge, request.document, request.collection).item.document_id
    if found is None:
        raise QueryError(f"{document} is not searchable: it has not become a document yet")
    return search_results(knowledge._ready(), knowledge.replica, lambda shared: similar_on(shared, found, request))


def embed(
    knowledge: Opened,
    texts: Sequence[str],
    model: str | None = None,
    *,
    collections: Sequence[str] | str | None = None,
    as_queries: bool = False,
) -> TextVectors:
    """Return vectors of texts of the program's own, by a model of the knowledge base.

    Args:
        texts: 1 to 2,048 texts; longer ones than the model reads are truncated.
        model: name of a model that a collection uses; that of the first collection where None.
        collections: names of the collections whose models are meant, or one name; every collection where None.
        as_queries: whether the texts are queries, which some models embed in another way than passages.

    Raises:
        QueryError: an argument is not allowed, or a collection does not exist or none has the model.
        ModelError: the model cannot be loaded.
    """
    from sourcebook.search.embed_texts import embed_texts
    from sourcebook.search.scope import find_scope

    resources = knowledge._ready()
    with resources.connections.hold() as held:
        scope = find_scope(held.connection, checked_names(collections))
    return embed_texts(resources.vectors, scope, texts, model, as_queries=as_queries)


def prewarm(
    knowledge: Opened, collections: Sequence[str] | str | None = None, rerank: Reranking | str | None = None
) -> None:
    """Connect, load the models and read the indexes once, so that the first search does not wait for it.

    Args:
        collections: names, or one name; every collection where None.
        rerank: a reranking model that later searches use.

    Raises:
        QueryError: a collection does not exist.
        ModelError: a model cannot be loaded.
    """
    from sourcebook.contract.reranking import Reranking

    if rerank is not None:
        knowledge._ready().reranker.prewarm(Reranking(rerank) if isinstance(rerank, str) else rerank)
    search(knowledge, "What is there to know?", collections, limit=1, literal=True, log=False)


def forget_queries(knowledge: Opened) -> None:
    """Empty the cache of query vectors: each query is embedded again. For measurements."""
    knowledge._ready().vectors.forget()


@for_principals
def context(
    knowledge: Opened,
    question: str,
    collections: Sequence[str] | str | None = None,
    max_tokens: int = 4_000,
    format: ContextFormat = "markdown",  # noqa: A002 - the name of the option in every face
    *,
    as_principals: AsPrincipals | None = None,
    **options: Unpack[ContextOptions],
) -> ContextResult:
    """Return the passages that answer a question as a context for a language model, within a budget of tokens.

    Passages are taken by relevance as long as they fit. Neighbours become one text, duplicates and near-duplicates
    are left out, each document has one number and its passages stand in reading order. What comes from documents is
    fenced by a random boundary and made harmless. Secrets are redacted, and what collections redact.

    Args:
        question: as in `search`.
        collections: names, or one name; where None, every collection but those that only take documents of others.
        max_tokens: tokens of the context, at most: 1 to 1,000,000.
        format: `markdown` or `xml` for a text; `messages` for the messages of a chat, `anthropic` for content
            blocks with search results, `openai` for input items, each with the question.
        as_principals: see `search`.
        options: `ContextOptions`; the fields of `ContextRequest` and `SearchRequest` say what they mean. `tokenizer` is
            `bound`, an encoding or a model that `bpe-openai` knows, or the folder or the Hugging Face name of a model
            with a tokenizer.json on this machine; where None, `o200k_base` where `bpe-openai` is installed, else
            `bound`: an upper bound for every model. With `expand`, passages of the documents to which the five best
            ones lead get up to a quarter of the budget.

    Raises:
        QueryError: an argument is not allowed, or a collection or a generation does not exist.
        ModelError: a model or the tokenizer cannot be loaded.
        MissingDependencyError: the tokenizer needs a package that is not installed.
        DatabaseError: the database is out of reach or busy.
        TypeError: there is no such option.
    """
    from sourcebook.context.make_context import make_context
    from sourcebook.contract.search import ContextRequest
    from sourcebook.redaction.for_models import read_by_model
    from sourcebook.search.on_replica import read

    request = ContextRequest.checked(question, collections, max_tokens, format, **options)
    resources, cache = knowledge._ready(), knowledge._made_contexts()
    with read_by_model():
        made, behind, note = read(resources, knowledge.replica, lambda given: make_context(given, cache, request))
    if behind is None:
        return made
    return replace(made, seconds_behind=behind, notes=(*made.notes, note) if note else made.notes)
