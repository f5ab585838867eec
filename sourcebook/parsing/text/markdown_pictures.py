"""Pictures that Markdown holds in itself: their bytes are no text."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

from sourcebook.parsing.text.picture_marks import embedded_picture, picture_mark

_PICTURE = re.compile(r"!\[([^\]\n]{0,1000})\]\(((?:data:|attachment:)[^)\s]*)(?:\s+\"[^\"\n]*\")?\)")
_PICTURE_ELEMENT = re.compile(
    r"""(<img\b[^>]{0,1000}?\bsrc\s*=\s*)(?P<quote>["'])(data:[^"']*)(?P=quote)([^>]{0,1000}>)?""", re.IGNORECASE
)


def with_picture_marks(markdown: str, held: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return Markdown with the alternative text and the mark of embedded pictures in place of their bytes.

    Args:
        markdown: the text.
        held: marks of pictures beside the text, by their addresses.
    """

    def mark(address: str) -> str:
        return held.get(unquote(address)) or picture_mark(embedded_picture(address) or b"")

    markdown = _PICTURE.sub(lambda found: f"{found[1]} {mark(found[2])}".strip(), markdown)
    return _PICTURE_ELEMENT.sub(lambda found: f'{found[1]}""{found[4] or ""}{mark(found[3])}', markdown)
