"""Names and tags of uploads: what a caller may call the bytes that it sends."""

import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from sourcebook.errors import UploadNameError

_LONGEST: Final = 255
"""Bytes of a name in UTF-8."""
_MOST_TAGS: Final = 50
_LONGEST_TAG: Final = 100
_REFUSED: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, surrogates, and separators of lines and paragraphs."""
SCHEME: Final = "upload://"


def upload_name(text: str) -> str:
    """Return the name of an upload, in Unicode's normal form C: a path of parts with `/` between them.

    Raises:
        UploadNameError: it is empty, too long, absolute, leads out of its folder or holds a control character.
    """
    name = unicodedata.normalize("NFC", text)
    if any(unicodedata.category(character) in _REFUSED for character in name):
        raise UploadNameError("the name of an upload holds no control characters and nothing but Unicode")
    if not 1 <= len(name.encode()) <= _LONGEST:
        raise UploadNameError(f"the name of an upload has 1 to {_LONGEST} bytes")
    if any(part.strip() in {"", ".", ".."} for part in name.split("/")):
        raise UploadNameError(
            "the name of an upload is a path such as policies/leave.md: without a slash in front or at the end, and "
            "without empty parts, `.` or `..`"
        )
    return name


def upload_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of an upload, without repetitions.

    Raises:
        UploadNameError: a tag is empty, too long or holds a control character, or there are too many.
    """
    tags = tuple(dict.fromkeys(text.strip() for text in texts))
    if len(tags) > _MOST_TAGS:
        raise UploadNameError(f"an upload has at most {_MOST_TAGS} tags")
    for tag in tags:
        if not 1 <= len(tag) <= _LONGEST_TAG:
            raise UploadNameError(f"a tag has 1 to {_LONGEST_TAG} characters")
        if any(unicodedata.category(character) in _REFUSED for character in tag):
            raise UploadNameError("a tag holds no control characters and nothing but Unicode")
    return tags


def upload_uri(location: str, name: str) -> str:
    """Return the URI of an upload by the location of its source and its name, encoded as those of files."""
    encoded = quote(name, safe="/~!$&'()*+,;=:@")
    return f"{location}/{encoded}"
