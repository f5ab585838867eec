"""Sources of an answer: the passages that a model was shown, each with the number by which it is cited."""

from dataclasses import replace
from typing import Any

from sourcebook.contract.answers import Source
from sourcebook.contract.documents import Document, Passage
from sourcebook.contract.search_results import SearchResult
from sourcebook.contract.windows import Part
from sourcebook.model.page_labels import page_label
from sourcebook.model.place import address_of, time_span


class Sources:
    """Passages that were shown in one session, by their numbers."""

    def __init__(self) -> None:
        self._held: list[Source] = []
        self._known: dict[tuple[int, int, int], Source] = {}
        self._worked_on: dict[tuple[int, int], Source] = {}
        """Parts of the document under work, by their starts: passages that begin there are shown with them."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._held)

    @property
    def all(self) -> tuple[Source, ...]:
        """The sources in the order of their numbers."""
        return tuple(self._held)

    def get(self, number: int) -> Source | None:
        """Return the source of a number; None where there is none."""
        return self._held[number - 1] if 0 < number <= len(self._held) else None

    def keep(self, number: int) -> None:
        """Drop the sources after the first ones, which the model was not shown."""
        self._held = self._held[:number]
        self._known = {key: each for key, each in self._known.items() if each.number <= number}

    def has_document(self, document_id: int) -> bool:
        """Return whether a passage of a document was found."""
        return any(each.document_id == document_id for each in self._held)

    def add_result(self, found: SearchResult) -> list[tuple[Source, bool]]:
        """Return the source of a result, and whether it is a new one; with neighbours those of its parts."""
        return [self._add_passage(_neighbour(found, each)) for each in found.parts] or [self._add_passage(found)]

    def _add_passage(self, found: SearchResult) -> tuple[Source, bool]:
        worked_on = self._worked_on.get((found.document_id, found.start_char))
        if worked_on is not None:
            return worked_on, False
        return self._add(
            (found.document_id, found.start_char, found.end_char),
            document_id=found.document_id,
            collection=found.collection,
            uri=address_of(found.uri, found),
            title=found.title,
            heading_path=found.heading_path,
            page=found.page,
            page_label=page_label(found.page, found.metadata),
            time_span=found.time_span,
            version=found.version,
            text=found.text,
            start_char=found.start_char,
            end_char=found.end_char,
        )

    def add_worked_on(self, document: Document, start: int, end: int, passage: Passage | None) -> Source:
        """Return the source of a part of the document under work; see `add_part`."""
        source, _ = self.add_part(document, start, end, passage)
        self._worked_on[source.document_id, start] = source
        return source

    def add_part(self, document: Document, start: int, end: int, passage: Passage | None = None) -> tuple[Source, bool]:
        """Return the source of a part of a document's text, from `start` to `end`, and whether it is a new one.

        The heading, the page and the time are those of the passage that begins there, where one is given.
        """
        item = document.item
        return self._add(
            (item.document_id or 0, start, end),
            document_id=item.document_id or 0,
            collection=item.collection,
            uri=item.uri if passage is None else address_of(item.uri, passage),
            title=item.title or item.uri,
            heading_path=() if passage is None else tuple(passage.heading_path),
            page=None if passage is None else passage.page,
            page_label=None if passage is None else page_label(passage.page, document.metadata),
            time_span=None if passage is None else time_span(passage.start_seconds, passage.end_seconds),
            version=item.version,
            text=document.text[start:end],
            start_char=start,
            end_char=end,
        )

    def _add(self, key: tuple[int, int, int], **values: Any) -> tuple[Source, bool]:
        known = self._known.get(key)
        if known is not None:
            return known, False
        source = Source(number=len(self._held) + 1, **values)
        self._held.append(source)
        self._known[key] = source
        return source, True


def _neighbour(found: SearchResult, part: Part) -> SearchResult:
    """Return the passage of a part of a result's window; the result itself for its own part."""
    if part.start_char == found.start_char:
        return found
    return replace(
        found,
        text=part.text,
        heading_path=(),
        anchor=part.anchor,
        page=part.page,
        start_seconds=part.start_seconds,
        end_seconds=part.end_seconds,
        start_char=part.start_char,
        end_char=part.end_char,
    )
