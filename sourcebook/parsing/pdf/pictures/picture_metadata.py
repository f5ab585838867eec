"""Metadata of a picture: size, format, resolution, title, author, date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourcebook.model.document import JsonValue
from sourcebook.parsing.text.decode import clean

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_DATE = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d)")
_LEAST_DPI, _MOST_DPI = 50, 2400
"""Range of believable resolutions in dots per inch; others are defaults of some program, such as 1."""
_LONGEST_TEXT = 300
"""Characters to which a title or an author is cut."""


def read_picture_metadata(picture: ImageFile) -> dict[str, JsonValue]:
    """Return width, height and format, and where given, dpi, title, author and created (ISO 8601)."""
    width, height = picture.size
    found: dict[str, JsonValue] = {
        "width": width,
        "height": height,
        "format": "jpeg" if picture.format == "MPO" else str(picture.format).lower(),
    }
    dpi = resolution(picture)
    texts = {
        "title": _text(picture.info, "Title"),
        "author": _text(picture.info, "Author"),
        **_exif(picture),
    }
    if dpi is not None:
        found["dpi"] = round(dpi)
    return found | {name: text for name, text in texts.items() if text}


def resolution(picture: ImageFile) -> float | None:
    """Return the resolution in dots per inch, the mean of both directions, or None where it is not stated."""
    try:
        across, down = (float(value) for value in picture.info["dpi"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    mean = (across + down) / 2
    return mean if _LEAST_DPI <= mean <= _MOST_DPI else None


def _exif(picture: ImageFile) -> Mapping[str, str]:
    from PIL import ExifTags

    try:
        exif = picture.getexif()
        details = exif.get_ifd(ExifTags.IFD.Exif)
    except Exception:  # noqa: BLE001 # broken EXIF raises any exception, and the picture is readable without it
        return {}
    taken = details.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)
    date = _DATE.match(str(taken))
    found = {
        "title": _text(exif, ExifTags.Base.DocumentName),
        "author": _text(exif, ExifTags.Base.Artist),
        "created": f"{date[1]}-{date[2]}-{date[3]}T{date[4]}" if date else "",
    }
    return {name: text for name, text in found.items() if text}


def _text(found: Mapping[Any, object], key: object) -> str:
    value = found.get(key)
    return clean(" ".join(value.split()))[:_LONGEST_TEXT].strip("\0 ") if isinstance(value, str) else ""
