"""Results and sources as pages of other sites get them: what a reader sees, and nothing else."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

from sourcebook.contract.answers import Answer, Source
from sourcebook.contract.search_results import SearchResult, printable
from sourcebook.model.page_labels import labelled
from sourcebook.server.page.found_on_page import shown_hit
from sourcebook.server.page.rendering import web_address

MOST_PASSAGES: Final = 20
_OF_A_DOCUMENT: Final = 3
"""Passages of one document."""


def documents_of(found: Iterable[SearchResult]) -> list[dict[str, Any]]:
    """Return the documents of results in the order of their best passages, each with its first passages."""
    documents: dict[int, dict[str, Any]] = {}
    for hit in found:
        document = documents.setdefault(
            hit.document_id,
            {"title": _title(hit.title, hit.uri), "url": web_address(hit.link or hit.uri), "passages": []},
        )
        if len(document["passages"]) < _OF_A_DOCUMENT:
            shown = shown_hit(hit, "")
            document["passages"].append({"place": shown.place, "url": shown.source, "snippet": shown.snippet})
    return list(documents.values())


def shown_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer with its sources."""
    sources = [_source(each) for each in answer.sources]
    return {"text": printable(answer.text), "refused": answer.refused, "sources": sources}


def _source(source: Source) -> dict[str, Any]:
    headings = " › ".join(each for each in source.heading_path if each != source.title)
    place = (headings, labelled(source.page, source.page_label), source.time_span or "")
    return {
        "number": source.number,
        "title": _title(source.title, source.uri),
        "url": web_address(source.uri),
        "place": printable(" · ".join(each for each in place if each)),
    }


def _title(title: str, uri: str) -> str:
    """Return the title of a document, or the last part of its address: its folder may be nobody's business."""
    return printable(title or unquote(uri.rstrip("/").rpartition("/")[2]))
