"""Decode the bytes of an HTML page; a declared encoding counts only if the bytes agree with it."""

import codecs
import re
from collections.abc import Iterator

from sourcebook.parsing.text.decode import DecodedText, clean, decode

_HEAD = 4096
"""Bytes that are searched for a declaration: browsers search 1,024, but some pages put long comments before it."""
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\s\"'>]+)", re.IGNORECASE)
_MOST_DAMAGE = 200
"""Characters per undecodable one, below which a declared encoding is wrong."""

# Python codecs by the declared encoding that browsers decode with them (https://encoding.spec.whatwg.org/#names-and-labels).
_READ_AS = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
_LABELS = {
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "unicode-1-1-utf-8": "utf-8",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-sjis": "cp932",
}
_MULTIBYTE = frozenset({"big5hkscs", "cp932", "cp949", "euc_jp", "gb18030", "iso2022_jp"})
_SINGLE_BYTE = frozenset(
    {"cp866", "cp874", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)


def decode_page(body: bytes, content_type: str = "") -> DecodedText:
    """Decode an HTML page; never fails.

    The order is: byte order mark, the charset of Content-Type, of <meta> or of the XML declaration, UTF-8 where the
    bytes are valid UTF-8, and then detection from the bytes. A declaration that contradicts the bytes is ignored.
    """
    if body.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(body)
    for encoding in dict.fromkeys(_declared(body, content_type)):
        text = _read(body, encoding)
        if text is not None:
            return DecodedText(clean(text), encoding)
    return decode(body)


def codec_name(label: str) -> str | None:
    """Return the Python codec that reads an encoding label as browsers do; None if it is no web encoding.

    UTF-16 gives None as well: without a byte order mark it is detected from the bytes.
    """
    label = label.strip().lower()
    try:
        name = _LABELS.get(label) or codecs.lookup(label.removeprefix("x-")).name
    except (LookupError, ValueError):  # ValueError: a label with a NUL
        return None
    name = _READ_AS.get(name, name)
    return name if name == "utf-8" or name in _MULTIBYTE or name in _SINGLE_BYTE else None


def _declared(body: bytes, content_type: str) -> Iterator[str]:
    labels: list[str] = []
    if parameter := _PARAMETER.search(content_type):
        labels.append(parameter[1])
    head = body[:_HEAD]
    if xml := _XML.match(head):
        labels.append(xml[1].decode("latin-1"))
    if meta := _META.search(_COMMENT.sub(b"", head)):
        labels.insert(1 if parameter else 0, meta[1].decode("latin-1"))
    for label in labels:
        encoding = codec_name(label)
        if encoding:
            yield encoding


def _read(body: bytes, encoding: str) -> str | None:
    """Decode the body; return None if the bytes contradict the encoding."""
    if encoding == "utf-8" or encoding in _SINGLE_BYTE:
        try:
            # Text of a single-byte encoding is valid UTF-8 by accident only where all of it is ASCII.
            return body.decode("utf-8")
        except UnicodeDecodeError:
            if encoding == "utf-8":
                return None  # `decode` distinguishes damaged UTF-8 from other encodings
    text = body.decode(encoding, errors="replace")
    return text if text.count("\ufffd") * _MOST_DAMAGE <= len(text) else None
