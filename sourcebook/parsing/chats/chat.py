"""Messages with their time, speaker and thread, as every export of a chat holds them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from unicodedata import category

_FENCES: Final = re.compile(r"(```[^`]*```)")
_TAG: Final = re.compile(r"`[^`\n]+`|<(?=[A-Za-z/!?])(?!https?:|mailto:)")
"""Code within a line, or the sign with which a tag would begin."""
_BLOCK: Final = re.compile(
    r"^[ \t]{0,3}(?=#{1,6}(?:\s|$)|[>|]|[-=]{2,}\s*$|[*_]{3,}\s*$|:::|!!!|~~~|```)|^(?:\t|[ ]{4,})+", re.MULTILINE
)
"""Beginning of a line that Markdown would not take for text."""
_EMPTY_LINES: Final = re.compile(r"\n(?:[ \t]*\n)+")
_LONGEST_NAME: Final = 100
_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    time: datetime | None
    speaker: str
    text: str
    """Markdown, of which only what stands within a line is believed."""
    id: str = ""
    """Identity within the chat; "" where the export has none."""
    thread: str = ""
    """Identity of the message that a reply stands below; "" for all other messages."""
    link: str | None = None
    answers: str = ""
    """Speaker of the message that this one answers, in place of a thread."""
    files: tuple[str, ...] = ()
    """Names of files that were sent with it; the export has them elsewhere, if at all."""


@dataclass(slots=True)
class Chat:
    """A channel, a group or a conversation."""

    name: str
    messages: list[Message] = field(default_factory=list)
    about: str = ""
    """Its topic."""
    notices: int = 0
    """Joins, calls, changed topics and the like, which are left out."""


def name_of(value: object) -> str:
    """Return a name on one line, without characters that are invisible or reorder text."""
    return _name(str(value or "")) if isinstance(value, str | int | None) else ""


@lru_cache(maxsize=4096)
def _name(value: str) -> str:
    text = "".join(" " if letter.isspace() else letter for letter in value[:_LONGEST])
    kept = "".join(letter for letter in text if category(letter) not in {"Cf", "Cc", "Cs"} or letter == "\u200d")
    return " ".join(kept.split())[:_LONGEST_NAME]


def line_text(text: str) -> str:
    """Return a message as Markdown in which no line begins a heading, a quotation or a table; fenced code stays."""
    pieces = _FENCES.split(text.strip())
    for place in range(0, len(pieces), 2):
        lines = _BLOCK.sub(
            _escaped,
            _TAG.sub(lambda found: "\\<" if found[0] == "<" else found[0], _EMPTY_LINES.sub("\n", pieces[place])),
        )
        pieces[place] = lines
    return "".join(pieces).strip()


def _escaped(found: re.Match[str]) -> str:
    return "" if found[0] and found.string[found.end() : found.end() + 1] not in "#>|-=*_:!~`" else "\\"


def moment(value: object) -> datetime | None:
    """Return a time in seconds since 1970 (in UTC) or in ISO 8601; None where it is neither."""
    try:
        if isinstance(value, int | float) or (isinstance(value, str) and re.fullmatch(r"\d{9,10}(?:\.\d+)?", value)):
            return datetime.fromtimestamp(float(value), UTC)
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def texts(values: Iterable[object], *fields: str) -> list[str]:
    """Return the first filled text among some fields of each mapping."""
    found = [
        next((text for name in fields if isinstance(text := each.get(name), str) and text.strip()), "")
        for each in mappings(values)
    ]
    return [text for text in found if text]


def mappings(values: object) -> list[Mapping[str, Any]]:
    """Return the mappings of a list; none where the value is no list."""
    return [each for each in values if isinstance(each, Mapping)] if isinstance(values, list) else []


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping, an empty one in the place of another value."""
    return value if isinstance(value, Mapping) else {}
