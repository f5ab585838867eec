"""Files in a file that is no archive, such as attachments of messages and PDFs: names and media types."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from mimetypes import guess_extension
from typing import Protocol
from unicodedata import category

from sourcebook.model.document import Attachment
from sourcebook.model.media_types import extension_of, media_type_of_name
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type

MOST_ATTACHMENTS = 1000
"""Attachments read of a file, those of nested files included."""
DEEPEST = 10
"""Levels of nested files whose attachments are read."""
_LONGEST_NAME = 200
"""Characters of an attachment's name, its ending included."""
_MOST_NAMED = 50
"""Attachments listed by name."""
_SEPARATORS = re.compile(r"[/\\:]+")
_UNKNOWN = "application/octet-stream"
_ENDINGS = {"message/rfc822": ".eml", "text/plain": ".txt", "text/calendar": ".ics", "image/jpeg": ".jpg"}


class AttachedFile(Protocol):
    """A file under the name that the outer file gives, with the declared media type, which it may contradict."""

    @property
    def name(self) -> str:
        """Name, as it is written."""

    @property
    def media_type(self) -> str:
        """Declared media type."""

    def read(self) -> bytes:
        """Return the bytes."""


def attachments_line(attachments: Sequence[Attachment], more: int) -> str:
    """Return a line that names attachments; `more` are not read."""
    names = [attachment.name for attachment in attachments]
    unread = f". Of {len(names) + more:,} attachments only these {len(names):,} are read" if more else ""
    return f"Attachments: {', '.join(names[:_MOST_NAMED])}{more_than(_MOST_NAMED, names)}{unread}"


def more_than(most: int, names: Sequence[str]) -> str:
    """Return how many names are not listed, "" for none."""
    return f" and {len(names) - most:,} more" if len(names) > most else ""


def attachments_of(files: Iterable[AttachedFile], taken: set[str]) -> Iterator[Attachment]:
    """Yield attachments, their names cleaned and unlike the names taken, to which they are added."""
    for number, file in enumerate(files, start=1):
        content = file.read()
        name = _unique(_clean_name(file, number, content[:HEAD_BYTES]), taken)
        taken.add(name.casefold())
        yield Attachment(
            name=name,
            media_type=detect_media_type(name, content[:HEAD_BYTES]),
            size=len(content),
            sha256=hashlib.sha256(content).digest(),
        )


def _clean_name(file: AttachedFile, number: int, head: bytes) -> str:
    """Return the last part of a file name without unprintable characters; "attachment-3.pdf" where there is none."""
    visible = "".join(letter for letter in file.name if category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn"})
    name = " ".join(_SEPARATORS.split(visible.strip("/\\: "))[-1].split()).strip(". ")
    if not name:
        return f"attachment-{number}{_ending(file.media_type, head)}"
    if "." not in name and media_type_of_name(name) is None:
        name += _ending(file.media_type, head)
    return _cut(name, _LONGEST_NAME)


def _ending(declared: str, head: bytes) -> str:
    proven = detect_media_type("", head)
    media_type = declared if proven in {_UNKNOWN, "text/plain"} and declared != _UNKNOWN else proven
    return _ENDINGS.get(media_type) or guess_extension(media_type) or ""


def _unique(name: str, taken: set[str]) -> str:
    found, count = name, 2
    while found.casefold() in taken:
        mark = f" ({count})"
        stem, dot, ending = _cut(name, _LONGEST_NAME - len(mark)).rpartition(".")
        found = f"{stem}{mark}{dot}{ending}" if stem else f"{ending}{mark}"
        count += 1
    return found


def _cut(name: str, longest: int) -> str:
    """Shorten a name to a number of characters, keeping its ending."""
    if len(name) <= longest:
        return name
    ending = extension_of(name)
    ending = f".{ending}" if 0 < len(ending) <= 20 else ""
    return name[: longest - len(ending)].rstrip(". ") + ending
