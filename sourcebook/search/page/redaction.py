"""Redaction of results: texts, titles, headings and metadata of the collections whose settings ask for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from psycopg import Connection

from sourcebook.contract.other_documents import OtherPassage
from sourcebook.contract.search_results import RedactedSpan, SearchResult
from sourcebook.contract.windows import Part
from sourcebook.database.queries import queries
from sourcebook.database.redacted_titles import redacted_titles
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import lines_of
from sourcebook.redaction.documents import DocumentRedaction, redact_document, redactor_of
from sourcebook.redaction.finds import Redacted


def redact_results(
    connection: Connection, results: Sequence[SearchResult], redactions: Mapping[str, Mapping[str, Any]]
) -> tuple[SearchResult, ...]:
    """Return results with placeholders in the place of personal data and secrets.

    Args:
        connection: to the knowledge base.
        results: of one page.
        redactions: settings of redaction by the name of the collection; results of others stay as they are.

    Raises:
        ConfigurationError: a file of patterns cannot be read.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    results = _with_redacted_copies(connection, results, redactions)
    wanted = list({result.document_id for result in results if result.collection in redactions})
    if not wanted:
        return tuple(results)
    texts: dict[int, str] = dict(connection.execute(queries["document_texts"], {"documents": wanted}).fetchall())
    shown = []
    for result in results:
        if result.collection not in redactions:
            shown.append(result)
            continue
        document = texts.get(result.document_id) or ""
        redaction = redact_document(redactor_of(redactions[result.collection]), document)
        shown.append(_redacted(result, redaction, document))
    return tuple(shown)


def _with_redacted_copies(
    connection: Connection, results: Sequence[SearchResult], redactions: Mapping[str, Mapping[str, Any]]
) -> Sequence[SearchResult]:
    """Return results whose copies in other documents are named as the collections of these show them."""
    every = [copy for result in results for copy in result.also_in]
    if not any(copy.collection in redactions for copy in every):
        return results
    titles = redacted_titles(
        connection, [(copy.collection, copy.document_id, copy.title) for copy in every], redactions
    )
    shown = iter(
        replace(copy, title=title, anchor=_anchor(copy.anchor, is_own=copy.collection not in redactions))
        for copy, title in zip(every, titles, strict=True)
    )
    return [replace(result, also_in=tuple(islice(shown, len(result.also_in)))) for result in results]


def redact_suggestion(suggestion: str | None, redactions: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return a suggested query, or None where it holds something that is redacted."""
    if suggestion is None or all(not redactor_of(settings).spans(suggestion) for settings in redactions.values()):
        return suggestion
    return None


def _redacted(result: SearchResult, redaction: DocumentRedaction, document: str) -> SearchResult:
    passage = redaction.passage(document, result.text, result.start_char, result.end_char)
    text = passage.redacted
    start = text.place(result.snippet_start)
    end = text.end_place(result.snippet_start + len(result.snippet))
    headings = _headings(redaction, result.heading_path)
    return replace(
        result,
        title=redaction.words(result.title),
        heading_path=headings,
        anchor=_anchor(result.anchor, is_own=headings == result.heading_path),
        text=text.text,
        start_char=passage.start_char,
        end_char=passage.end_char,
        metadata=redaction.values(result.metadata),
        parts=tuple(_part(part, redaction, document) for part in result.parts),
        also=result.also and tuple(_place(other, redaction) for other in result.also),
        sections=tuple(_section(section, redaction, text) for section in result.sections),
        snippet=text.text[start:end],
        snippet_start=start,
        highlights=tuple(
            (text.place(begin), text.end_place(stop))
            for begin, stop in result.highlights
            if not any(find.start < stop and begin < find.end for find in text.finds)
        ),
        redactions=tuple(
            RedactedSpan(find.category, text.place(find.start), text.place(find.start) + len(find.placeholder))
            for find in text.finds
        ),
    )


def _headings(redaction: DocumentRedaction, path: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(redaction.words, path))


def _part(part: Part, redaction: DocumentRedaction, document: str) -> Part:
    passage = redaction.passage(document, part.text, part.start_char, part.end_char)
    return replace(
        part,
        text=passage.redacted.text,
        start_char=passage.start_char,
        end_char=passage.end_char,
        anchor=_anchor(part.anchor, is_own=not redaction.redacted.finds),
    )


def _place(other: OtherPassage, redaction: DocumentRedaction) -> OtherPassage:
    return replace(other, anchor=_anchor(other.anchor, is_own=not redaction.redacted.finds))


def _anchor(anchor: str | None, *, is_own: bool) -> str | None:
    """Return an anchor that no redacted heading can have made: where none was redacted, and of lines."""
    return anchor if is_own or lines_of(anchor) else None


def _section(section: PassagePart, redaction: DocumentRedaction, text: Redacted) -> PassagePart:
    headings = _headings(redaction, section.heading_path)
    return replace(
        section,
        start=text.place(section.start),
        heading_path=headings,
        anchor=_anchor(section.anchor, is_own=headings == section.heading_path),
    )
