"""Formats of text that their beginning proves, whatever the ending of the file's name: XML, HTML, mail, cards, RTF."""

import re
from typing import Final

from sourcebook.model import media_types as media
from sourcebook.parsing.text.decode import utf16_without_mark

_PROLOG: Final = rb"\s*+(?>(?:(?><\?.*?\?>)\s*+|(?><!--.*?-->)\s*+|<!doctype\s[^>\[]*+(?:\[[^\]]*+\]\s*+)?>\s*+)*)"
"""Beginning of XML; comments and the like are never tried twice, which would take exponential time."""
_ROOT: Final = re.compile(_PROLOG + rb"<(?:[\w.-]+:)?([a-z][\w.-]*)([^>]*)", re.IGNORECASE | re.DOTALL)
_HTML: Final = re.compile(
    rb"\s*+(?>(?:(?:<\?xml[^>]*+>|(?><!--.*?-->))\s*+)*)<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_FLAT_TYPE: Final = re.compile(rb"office:mimetype=[\"']([^\"']+)")
_PACKED: Final = re.compile(rb"progid=\"(Word|PowerPoint|Excel)|pkg:name=\"/(word|ppt|xl)/", re.IGNORECASE)
_PACKAGES: Final = {
    b"word": media.DOCX,
    b"powerpoint": media.PPTX,
    b"ppt": media.PPTX,
    b"excel": media.XLSX,
    b"xl": media.XLSX,
}
_OFFICE_ROOTS: Final = {
    b"workbook": (b"urn:schemas-microsoft-com:office:spreadsheet", media.XLS),
    b"worddocument": (b"schemas.microsoft.com/office/word/2003/wordml", media.DOC),
}
"""Roots of Office 2003's formats in one XML file, each with its namespace and the format that Office gives it."""
_ROOTS: Final = {b"fictionbook": media.FICTIONBOOK, b"svg": media.SVG, b"html": media.HTML}
_PARTS_OF_PAGES: Final = frozenset(b"table meta style body head div h1 h2 p center font".split())
"""Elements with which programs begin pages that they call .xls or .doc."""
_MARKS: Final = (
    (re.compile(rb"\s*\{\\rtf"), media.RTF),
    (re.compile(rb"\s*BEGIN:VCALENDAR\s", re.IGNORECASE), media.CALENDAR),
    (re.compile(rb"\s*BEGIN:VCARD\s", re.IGNORECASE), media.CONTACTS),
    (re.compile(rb"WEBVTT(?:[ \t][^\r\n]*)?\r?\n"), media.WEBVTT),
    (re.compile(rb"\s*\d+\r?\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}"), media.SUBRIP),
    # A line with a sender and a date before the first header; mail programs give mailboxes names without an ending.
    (re.compile(rb"From \S{1,200} +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [^\r\n]{8,100}\r?\n[\w-]{2,40}: "), media.MBOX),
    (
        re.compile(rb'\s*\{\s*"cells":\s*\[\s*\{\s*"cell_type"'),
        media.NOTEBOOK,
    ),
)
_HEADERS: Final = re.compile(rb"\s*((?:[A-Za-z][A-Za-z0-9-]*:[^\r\n]*\r?\n(?:[ \t]+[^\r\n]*\r?\n)*){2,})")
_OF_MAIL: Final = re.compile(
    rb"^(?:message-id|received|return-path|mime-version|x-mailer):", re.IGNORECASE | re.MULTILINE
)
_FROM: Final = re.compile(rb"^from:(?!\s*\"?<?saved by)", re.IGNORECASE | re.MULTILINE)
_ARCHIVED: Final = re.compile(rb"^content-type:\s*multipart/related", re.IGNORECASE | re.MULTILINE)
_OPEN: Final = frozenset(
    {media.PLAIN_TEXT, media.HTML, media.XML, media.CSV, media.JSON, media.JSON_LINES, media.NOTEBOOK, media.EMAIL,
     media.MBOX, media.MHTML, media.CALENDAR, media.CONTACTS, media.SUBRIP, media.WEBVTT, media.DOCBOOK,
     media.FICTIONBOOK, media.SVG}
)  # fmt: skip
"""Types of text whose files may begin with the signature of another; those of code and prose may quote any."""
_SHEETS: Final = frozenset({media.XLS, media.XLSX, media.XLSB, media.ODS})
_TABLE_LINES: Final = re.compile(rb"(?!ID;P)(?:sep=.\r?\n)?[^\r\n]*[\t;,]")


def type_of_text(head: bytes, named: str | None) -> str | None:
    """Return the media type that the beginning of a text proves, None where it proves none.

    Args:
        head: beginning of the file, which is text.
        named: media type of its name.
    """
    if named is not None and media.is_text_type(named) and named not in _OPEN:
        return None
    text = _in_ascii(head)
    if text.lstrip().startswith(b"<"):
        return _type_of_markup(text, named)
    for mark, media_type in _MARKS:
        if mark.match(text):
            return media_type
    if named not in {media.EMAIL, media.MBOX, media.MHTML} and (headers := _HEADERS.match(text)):
        if _ARCHIVED.search(headers[1]) and not _FROM.search(headers[1]):
            return media.MHTML
        if _FROM.search(headers[1]) and _OF_MAIL.search(headers[1]):
            return media.EMAIL
    return media.CSV if named in _SHEETS and _TABLE_LINES.match(text) else None


def _type_of_markup(text: bytes, named: str | None) -> str | None:
    if _HTML.match(text):
        return media.HTML
    if (root := _ROOT.match(text)) is None:
        return None
    name = root[1].lower()
    namespace, office_type = _OFFICE_ROOTS.get(name, (b"", ""))
    if office_type and namespace in root[2]:
        return office_type
    if name == b"package" and b"http://schemas.microsoft.com/office/2006/xmlPackage" in root[2]:
        held = _PACKED.search(text)
        return _PACKAGES[(held[1] or held[2]).lower()] if held else media.DOCX
    if name == b"document" and b"urn:oasis:names:tc:opendocument:" in root[2]:
        return _flat_type(text, named)
    if name in _ROOTS and named != media.HTML:  # a part of a page may begin with a drawing
        return _ROOTS[name]
    if named is None or named == media.PLAIN_TEXT:
        return media.XML if text.lstrip().startswith(b"<?xml") else None
    is_office = not media.is_text_type(named)
    return media.HTML if is_office and name in _PARTS_OF_PAGES else None


def _flat_type(text: bytes, named: str | None) -> str:
    """Return the media type that an OpenDocument of one XML file states; LibreOffice writes it behind all prefixes."""
    stated = _FLAT_TYPE.search(text)
    found = stated[1].decode("ascii", "replace").removesuffix("-template") if stated else named
    return found if found in {media.ODT, media.ODS, media.ODP} else media.PLAIN_TEXT


def _in_ascii(head: bytes) -> bytes:
    """Return the beginning of a text without its byte order mark, and of UTF-16 in UTF-8."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace").encode("utf-8", "replace")
    wide = utf16_without_mark(head)
    return head.decode(wide, "replace").encode("utf-8", "replace") if wide else head.removeprefix(b"\xef\xbb\xbf")
