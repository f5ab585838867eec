"""The document under work as numbered sources: its passages one behind the other, so that each letter stands once."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Source
from sourcebook.contract.asking import page_ranges
from sourcebook.contract.documents import Document, Passage
from sourcebook.errors import AmbiguousDocumentError, QueryError, UnknownDocumentError

_LENGTH: Final = 4_000
"""Characters of a part of a document without passages."""


def document_of(show: Callable[..., Document], document: str | int, collections: Sequence[str]) -> Document:
    """Return a document of the collections that are asked, whose model may read it.

    Raises:
        UnknownDocumentError: none of them has it, whether another collection has it or not.
        AmbiguousDocumentError: several of them have it.
    """
    found = []
    for name in collections:
        try:
            found.append(show(document, name))
        except AmbiguousDocumentError:
            raise
        except UnknownDocumentError:
            continue
    found = [each for each in found if each.item.state != "removed"]
    if not found:
        raise UnknownDocumentError(f"there is no document {document} in the collections that are asked")
    if len(found) > 1:
        listed = ", ".join(each.item.collection for each in found)
        raise AmbiguousDocumentError(f"{document} is in several collections ({listed}): ask one of them")
    return found[0]


def document_sources(document: Document, pages: str | None, sources: Sources) -> list[Source]:
    """Add the parts of a document to the sources and return them.

    Args:
        document: the document, as its caller may see it.
        pages: the only pages that are meant; the whole document where None.
        sources: what they are added to.

    Raises:
        QueryError: the document has no text, or it has not these pages.
    """
    if not document.text.strip():
        raise QueryError(f"the document {document.item.uri} has no text")
    passages = sorted(document.passages, key=lambda each: (each.start_char, each.ordinal))
    chosen = None if pages is None else _on_pages(document, passages, pages)
    starts = {each.start_char: each for each in reversed(passages)}
    places = sorted({0, *starts}) if passages else range(0, len(document.text), _LENGTH)
    parts = [
        sources.add_worked_on(document, start, end, starts.get(start))
        for start, end in pairwise([*places, len(document.text)])
        if document.text[start:end].strip() and (chosen is None or start in chosen)
    ]
    if not parts:
        raise QueryError(f"the pages {pages} of the document {document.item.uri} have no text")
    return parts


def _on_pages(document: Document, passages: Sequence[Passage], pages: str) -> set[int]:
    """Return the starts of the passages on some pages, and of those before them, which may run into the pages.

    Raises:
        QueryError: the document has not these pages.
    """
    numbered = [(each.start_char, each.page) for each in passages if each.page is not None]
    if not numbered:
        raise QueryError(f"the document {document.item.uri} has no pages: leave document_pages out")
    last = max(page for _, page in numbered)
    ranges = page_ranges(pages)
    if not any(first <= last for first, _ in ranges):
        raise QueryError(f"the document {document.item.uri} has text up to page {last}: {pages} is behind it")
    ends = [page for _, page in numbered[1:]] + [last]
    return {
        start
        for (start, page), end in zip(numbered, ends, strict=True)
        if any(first <= max(page, end) and page <= final for first, final in ranges)
    }
