"""Citations: where a passage stands, in a form that a person can follow."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, Field

from sourcebook.context.fence import one_line
from sourcebook.contract.documents import Document, Passage
from sourcebook.model.page_labels import page_label
from sourcebook.model.place import Place, address_of, line_words, time_span

_LONGEST_TITLE: Final = 200
"""Characters of a title."""
_LONGEST_HEADING: Final = 100
"""Characters of a heading."""
_MOST_HEADINGS: Final = 8


class Citation(BaseModel):
    """Source of a text."""

    title: str
    heading_path: list[str] = Field(default=[], description="Titles of the headings above it, outermost first.")
    uri: str = Field(description="Address of the document, with the anchor, lines, page or time of the place.")
    version: int = Field(description="Version of the document, counted from 1.")
    page: int | None = Field(default=None, description="Page, counted from 1.")
    lines: str | None = Field(default=None, description="Lines of a text file, such as lines 10–42.")
    page_label: str | None = Field(default=None, description="Number printed on the page, such as iii.")
    time: str | None = Field(default=None, description="Time span in a recording, such as 12:30–14:15.")
    link: str | None = Field(default=None, description="Address of the file in the web view of its Git repository.")


def cite(
    place: Place | None,
    *,
    title: str | None,
    uri: str,
    version: int,
    link: str | None,
    metadata: Mapping[str, Any],
) -> Citation:
    """Return the citation of a place in a document, or of the document where there is none."""
    if place is None:
        return Citation(title=one_line(title or uri, _LONGEST_TITLE), uri=uri, version=version, link=link)
    return Citation(
        title=one_line(title or uri, _LONGEST_TITLE),
        heading_path=[one_line(heading, _LONGEST_HEADING) for heading in place.heading_path[:_MOST_HEADINGS]],
        uri=address_of(uri, place),
        version=version,
        page=place.page,
        lines=line_words(place.anchor) or None,
        page_label=page_label(place.page, metadata),
        time=time_span(place.start_seconds, place.end_seconds),
        link=None if link is None else address_of(link, place),
    )


def cite_document(document: Document, passage: Passage | None) -> Citation:
    """Return the citation of a document, or of one of its passages."""
    item = document.item
    return cite(
        passage, title=item.title, uri=item.uri, version=item.version, link=item.link, metadata=document.metadata
    )
