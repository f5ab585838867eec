"""Text that files hold, taken from them without their reader: parts of office files, of e-books and of messages."""

import posixpath
import re
import zipfile
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree, html  # type: ignore[import-untyped] # its stubs are a package of their own

from benchmarks.harness.document_scores import words
from sourcebook.model import media_types as media

_PARTS: Final = {
    media.DOCX: re.compile(r"word/(document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml"),
    media.PPTX: re.compile(r"ppt/(slides|notesSlides|comments|diagrams)/(slide|notesSlide|comment|data)\d+\.xml"),
    media.XLSX: re.compile(r"xl/(sharedStrings\.xml|comments\d*\.xml|drawings/drawing\d+\.xml)"),
}
"""Parts with words by format; a chart's part repeats its categories, and sheets hold numbers without their format."""
_NOT_SHOWN: Final = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "rPh", "rt", "fld"})
_BREAKS: Final = frozenset({"p", "br", "tab", "cr", "si"})
_INLINE: Final = re.compile(r"a|abbr|b|bdi|bdo|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|u|var")
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:|www\.|cid:)\S*", re.IGNORECASE)
_NO_TEXT: Final = frozenset({"script", "style", "head", "title", "rt", "rp"})


def held_text(content: bytes, media_type: str) -> str:
    """Return the text that a file holds, in any order; addresses of pages in messages are no text."""
    if media_type == media.EMAIL:
        return _ADDRESS.sub(" ", _of_message(message_from_bytes(content, policy=policy.default)))
    with zipfile.ZipFile(BytesIO(content)) as archive:
        if media_type == media.EPUB:
            return " ".join(_of_html(archive.read(name)) for name in _chapters(archive))
        pieces: list[str] = []
        for name in archive.namelist():
            if _PARTS[media_type].fullmatch(name):
                _collect(etree.fromstring(archive.read(name)), pieces)
        return "".join(pieces)


def _collect(element: Any, pieces: list[str]) -> None:
    tag = etree.QName(element).localname if isinstance(element.tag, str) else "Fallback"
    if tag in _NOT_SHOWN:
        return
    pieces.append((element.text or "") if tag == "t" else " " if tag in _BREAKS else "")
    for child in element:
        _collect(child, pieces)
    pieces.append(" " if tag in _BREAKS else "")


def _chapters(archive: zipfile.ZipFile) -> list[str]:
    """Return the parts of an e-book that its spine names."""
    container = etree.fromstring(archive.read("META-INF/container.xml"))
    package = container.xpath("string(//*[local-name()='rootfile']/@full-path)")
    book = etree.fromstring(archive.read(package))
    paths = {item.get("id"): item.get("href") for item in book.iterfind(".//{*}manifest/{*}item")}
    spine = [paths[item.get("idref")] for item in book.iterfind(".//{*}spine/{*}itemref")]
    return [posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(path))) for path in spine]


def _of_html(content: bytes | str) -> str:
    if not content.strip():
        return ""
    encoding = None if isinstance(content, str) or b"encoding=" in content[:100] else "utf-8"
    pieces: list[str] = []
    _collect_html(html.document_fromstring(content, html.HTMLParser(encoding=encoding)), pieces)
    return "".join(pieces)


def _collect_html(element: Any, pieces: list[str]) -> None:
    if isinstance(element.tag, str) and element.tag not in _NO_TEXT:
        around = "" if _INLINE.fullmatch(element.tag) else " "
        pieces += [around, element.text or ""]
        for child in element:
            _collect_html(child, pieces)
        pieces.append(around)
    pieces.append(element.tail or "")


def _of_message(message: Message) -> str:
    """Return subject and text of a message: of alternatives the one with most words, and no attachments."""
    return f"{message['subject'] or ''} {_of_part(message)}"


def _of_part(part: Message) -> str:
    if part.get_content_maintype() == "multipart":
        texts = [_of_part(each) for each in part.get_payload() if isinstance(each, Message)]
        if part.get_content_subtype() == "alternative":
            return max(texts, key=lambda text: len(words(_ADDRESS.sub(" ", text))), default="")
        return " ".join(texts)
    if part.get_content_maintype() != "text" or part.get_filename() or not isinstance(part, EmailMessage):
        return ""
    if part.get_content_disposition() == "attachment":
        return ""
    payload = part.get_payload(decode=True)
    text = _decoded(payload if isinstance(payload, bytes) else b"", part.get_content_charset("cp1252"))
    return _of_html(text) if part.get_content_subtype() == "html" else text


def _decoded(content: bytes, charset: str) -> str:
    """Decode a text; several messages of the lists name another encoding than theirs."""
    if b"\x1b$" in content or b"\0" in content:
        return content.decode(charset, "replace")
    for encoding in ("utf-8", charset, "gb18030" if charset == "gb2312" else charset):
        with suppress(LookupError, UnicodeError):
            return content.decode(encoding)
    text = content.decode("utf-8", "replace")
    return text if text.count("\N{REPLACEMENT CHARACTER}") < len(text) / 100 else content.decode("cp1252", "replace")
