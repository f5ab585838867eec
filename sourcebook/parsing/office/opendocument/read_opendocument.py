"""OpenDocument texts, spreadsheets and presentations (.odt, .ods, .odp), and their templates."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.media_types import ODP, ODS, ODT
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.office.office_archive import opened_archive
from sourcebook.parsing.office.opendocument.flat import as_archive, is_flat
from sourcebook.parsing.office.opendocument.opendocument_archive import mark_pictures, open_opendocument, qualified
from sourcebook.parsing.text.left_out import LeftOut
from sourcebook.parsing.text.markdown_writing import WrittenDocument
from sourcebook.parsing.text.titles import document_title, is_title

_ENDINGS: Final = {ODT: "odt", ODS: "ods", ODP: "odp"}
_PROPERTIES: Final = {
    "dc:title": "title",
    "meta:initial-creator": "author",
    "dc:creator": "author",
    "meta:creation-date": "created",
    "dc:date": "modified",
    "dc:subject": "subject",
    "dc:description": "description",
}
_NUMBERED_SLIDE: Final = re.compile(r"Slide \d+(?: \(hidden\))?")


def parse_opendocument(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse a text, spreadsheet or presentation; slides and sheets count as pages.

    The file's content decides over its media type. Links are not fetched, and macros are not read.

    Args:
        content: the whole file.
        name: file name, path or URI.
        media_type: ODT, ODS or ODP.

    Raises:
        ParseError: the file is damaged, protected, too large, or no such document.
    """
    named = _ENDINGS[media_type]
    if is_flat(content):
        content = as_archive(content, media_type=media_type)
    held, roots = open_opendocument(content, named=named)
    properties = dict(_properties(roots.get("meta.xml")))
    title = properties.pop("title", None)
    written, pages, left_out = _read(content, roots["content.xml"], held, name)
    if not isinstance(title, str):
        title = None if held == ODS else document_title(written.blocks, written.markdown)
        title = None if title and _NUMBERED_SLIDE.fullmatch(title) else title
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=title,
        page_count=pages,
        language=detect_language(written.markdown, written.blocks),
        metadata=properties | left_out.metadata(),
    )


def _read(content: bytes, root: Any, media_type: str, name: str) -> tuple[WrittenDocument, int | None, LeftOut]:
    if media_type == ODS:
        from sourcebook.parsing.office.opendocument.spreadsheet import read_spreadsheet

        with opened_archive(content, named="ods") as archive:
            mark_pictures(root, archive)
        return *read_spreadsheet(root), LeftOut()
    from sourcebook.parsing.docling.backends import import_without_models

    import_without_models()
    from sourcebook.parsing.office.opendocument.text_and_slides import read_slides, read_text

    if media_type == ODT:
        written, left_out = read_text(content, root, name=name)
        return written, None, left_out
    return *read_slides(content, root, name=name), LeftOut()


def _properties(root: Any) -> Mapping[str, JsonValue]:
    """Return title, author, created, modified, subject, description and keywords (a list), where given."""
    found: dict[str, JsonValue] = {}
    held = root.find(qualified("office:meta")) if root is not None else None
    if held is None:
        return found
    for element, name in _PROPERTIES.items():
        text = " ".join((held.findtext(qualified(element)) or "").split())
        if text and name not in found and not (name == "title" and not is_title(text)):
            found[name] = text
    words = [" ".join((word.text or "").split()) for word in held.iterfind(qualified("meta:keyword"))]
    if keywords := [part for word in words for part in re.split(r"\s*[;,]\s*", word) if part]:
        found["keywords"] = list(keywords)
    return found
