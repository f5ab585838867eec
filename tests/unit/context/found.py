"""Results of a search, made without one, for the tests of contexts."""

from collections.abc import Sequence
from typing import Any

from sourcebook.context.assembly import Assembled, assemble
from sourcebook.context.passages import passages_of
from sourcebook.context.tokens import token_counter
from sourcebook.contract.search import ContextRequest
from sourcebook.contract.search_results import SearchResult

Hashes = dict[tuple[int, int], str]


def found(document: int, ordinal: int, text: str, start: int = 0, **more: Any) -> SearchResult:
    """Return a passage of a document."""
    fields: dict[str, Any] = {
        "document_id": document, "collection": "handbook", "uri": f"file:///{document}.md",
        "title": f"Manual {document}", "heading_path": (f"Manual {document}", "Seals"), "anchor": "seals", "page": None,
        "start_seconds": None, "end_seconds": None, "ordinal": ordinal, "text": text, "score": 1.0, "vector_rank": 1,
        "keyword_rank": None, "version": 2, "generation": 1, "relevance": 0.8, "start_char": start,
        "end_char": start + len(text),
    }  # fmt: skip
    return SearchResult(**fields | more)


def passages_in(markdown: str, document: int, length: int = 400, **more: Any) -> list[SearchResult]:
    """Return the passages of a document: its paragraphs, each at its place."""
    passages, at = [], 0
    for ordinal, paragraph in enumerate(markdown.split("\n\n")):
        passages.append(found(document, ordinal, paragraph, at, **more))
        at += len(paragraph) + 2
    return passages


def made(results: Sequence[SearchResult], max_tokens: int = 4_000, form: str = "markdown", **options: Any) -> Assembled:
    """Return the context of results, counted by the bound unless a tokenizer is named."""
    request = ContextRequest.of(question="How?", max_tokens=max_tokens, format=form, **{"tokenizer": "bound"} | options)
    hashes = {(result.generation, result.document_id): f"{result.document_id:064x}" for result in results}
    return assemble(request, token_counter(request.tokenizer), list(passages_of(results)), hashes, lambda: ())
