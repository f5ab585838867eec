"""Marks in a text where a picture stands, until it is known whether the picture is read."""

import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from unicodedata import category
from urllib.parse import unquote

MARK = re.compile("\ue00a([0-9]+)\ue00b")
_SAYS_NOTHING = re.compile(
    r"\S+\.\w{2,4}|(?:image|img|logo|icon|photo|picture|avatar|screenshot)s?(?: of)?|\W*", re.IGNORECASE
)
FEW_CHARACTERS = 100
"""Characters for each picture of a section below which the pictures are its text."""
PIXELS_A_CHARACTER = 10
"""Pixels whose reading takes as long as one character of a document, cut and embedded."""
MOST_PIXELS_BESIDE = 12_000_000
"""Pixels that are read beside a document's text."""
_FEWEST_BYTES = 100
"""Bytes below which a picture is a dot that counts readers, or a spacer."""
_MOST_BYTES = 100_000_000
"""Bytes of a document's pictures that are kept until they are read."""


@dataclass(slots=True)
class MarkedPictures:
    """The pictures of a document, each once, in the order of their marks."""

    contents: list[bytes | None] = field(default_factory=list)
    """Bytes of each; None where there was no room for them."""
    _numbers: dict[int, int] = field(default_factory=dict)
    _bytes: int = 0

    def mark(self, content: bytes | None) -> str:
        """Return the mark of a picture, the same for the same picture; "" for a dot."""
        if content is not None and len(content) < _FEWEST_BYTES:
            return ""
        number = len(self.contents) if content is None else self._numbers.setdefault(hash(content), len(self.contents))
        if number == len(self.contents):
            self._bytes += len(content or b"")
            self.contents.append(content if self._bytes <= _MOST_BYTES else None)
        return f"\ue00a{number}\ue00b"


_marked: ContextVar[MarkedPictures | None] = ContextVar("marked_pictures", default=None)


@contextmanager
def marked_pictures() -> Iterator[MarkedPictures]:
    """Collect the pictures that readers mark meanwhile."""
    pictures = MarkedPictures()
    before = _marked.set(pictures)
    try:
        yield pictures
    finally:
        _marked.reset(before)


def are_marked() -> bool:
    """Tell whether somebody reads or counts the pictures that are marked."""
    return _marked.get() is not None


def picture_mark(content: bytes | None) -> str:
    """Return a mark to stand in the text at a picture's place, "" where nobody reads pictures, as in a crawl.

    Args:
        content: the picture; None for one that is only counted.
    """
    pictures = _marked.get()
    return pictures.mark(content) if pictures is not None else ""


def count_pictures(number: int) -> None:
    """Count pictures that have no mark."""
    for _ in range(number):
        picture_mark(None)


def count_embedded_pictures(content: bytes) -> None:
    """Count the pictures in a file whose format says no more about them, by the signs at their start."""
    count_pictures(
        sum(content.count(sign) for sign in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1"))
    )


def description(text: str | None) -> str:
    """Return the description of a picture in one line, "" where it says no more than a file name does."""
    words = " ".join((text or "").split())
    is_sign = any(category(sign) == "So" for sign in words)  # ✅ and ❌ say something
    return "" if _SAYS_NOTHING.fullmatch(words) and not is_sign else words


def embedded_picture(address: str) -> bytes | None:
    """Return the picture that is written in its own address (`data:image/png;base64,…`); None for other addresses."""
    head, _, data = address.partition(",")
    if _marked.get() is None or head[:11].lower() != "data:image/" or not head.lower().endswith(";base64"):
        return None
    content = decoded_picture(unquote(data))
    return None if "svg" in head.lower() and b"<text" not in content else content


def decoded_picture(data: str) -> bytes:
    """Return the bytes of a picture in base64, b"" where it is damaged."""
    with suppress(ValueError):
        return b64decode(f"{data}==")
    return b""


def without_marks(text: str) -> str:
    """Return a text without marks of pictures."""
    return MARK.sub("", text) if "\ue00a" in text else text
