"""Descriptions of pictures (alternative texts) that say something."""

import re
from typing import Any, Final

_SAYS_NOTHING: Final = re.compile(
    # The names of files, also behind a folder or an address, as office programs write them by themselves.
    r"(?:[a-z]+:|.*[/\\])?[^/\\]*\.(?:avif|bmp|emf|gif|heic|jfif|jpe?g|png|svgz?|tiff?|webp|wmf)(?:[@?]\S*)?"
    r"|[a-z][a-z0-9+.-]*:\S+|\S+\.\w{2,4}|(?:image|img|logo|icon|photo|picture|avatar|screenshot)s?(?: of)?|\W*",
    re.IGNORECASE,
)
_DECORATIVE: Final = "{http://schemas.microsoft.com/office/drawing/2017/decorative}decorative"
_NUMBERED: Final = re.compile(r"\S+ ?\d+")


def picture_words(text: str | None, *, name: str | None = None) -> str:
    """Return a description with single spaces; "" for a file's name, an address, or the object's own name again.

    Args:
        text: the description.
        name: name of the object, which programs number, such as `Picture 3`.
    """
    words = " ".join((text or "").split())
    return "" if _SAYS_NOTHING.fullmatch(words) or (words == name and _NUMBERED.fullmatch(words)) else words


def is_decorative(properties: Any) -> bool:
    """Tell whether the XML of an office picture's properties marks it as decoration."""
    return any(mark.get("val") in {"1", "true"} for mark in properties.iter(_DECORATIVE))
