"""Keywords of an Org file, such as `#+TITLE:`, and the tags of its headings."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sourcebook.model.document import JsonValue
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.markup.org.inline import markdown
from sourcebook.parsing.text.titles import plain_title

_KEYWORD = re.compile(r"[ \t]*#\+(\w[\w-]{0,100})(?:\[[^\]\n]{0,500}\])?:(?:[ \t](.*))?")
_HEADING = re.compile(r"(\*+)[ \t](.*)")
_TAGS = re.compile(r":[\w@#%:]+:")
_PRIORITY = re.compile(r"\[#\w{1,2}\][ \t]*")
_MOST_TAGS = 200
"""Tags of a document."""
_LONGEST_VALUE = 1000
"""Characters of a value in the metadata."""
_FOR_EXPORT = frozenset({"noexport", "export", "ignore", "archive", "crypt"})
"""Tags that instruct Org and say nothing about the text."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of an outline."""

    level: int
    """Number of its stars, from 1."""
    text: str
    """Its text in Markdown, with the word TODO or DONE, without priority and tags."""
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class Keywords:
    """The keywords of a file that describe it."""

    values: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title in Markdown, "" where there is none."""
        return markdown(self.values.get("title", ""))

    @property
    def language(self) -> str | None:
        """The declared language, an ISO 639-1 code."""
        code = self.values.get("language", "").replace("_", "-").partition("-")[0].lower()
        return code if len(code) == 2 and code.isalpha() else None


def heading_of(line: str) -> Heading | None:
    """Return the heading that a line is, or None for another line."""
    found = _HEADING.fullmatch(line)
    if found is None:
        return None
    text = found[2].strip()
    words, _, last = text.rpartition(" ")
    text, tags = (words.rstrip(), last) if _TAGS.fullmatch(last) else (text, "")
    return Heading(len(found[1]), markdown(_PRIORITY.sub("", text, count=1)), _tags(tags))


def keyword_of(line: str) -> tuple[str, str] | None:
    """Return the name of a keyword, in lower case, and its value; None for another line."""
    found = _KEYWORD.fullmatch(line)
    return None if found is None else (found[1].lower(), (found[2] or "").strip())


def read_keywords(lines: Iterable[str]) -> Keywords:
    """Return the keywords of a file's lines; the values of one that is repeated are joined, as Org joins them."""
    found = Keywords()
    for line in lines:
        keyword = keyword_of(line)
        if keyword is not None and len(before := found.values.get(keyword[0], "")) < _LONGEST_VALUE:
            found.values[keyword[0]] = f"{before} {keyword[1]}".strip()[:_LONGEST_VALUE]
    return found


def metadata_of(keywords: Keywords, headings: Sequence[Heading]) -> dict[str, JsonValue]:
    """Return author, date, description and tags: those of the file, then those of its headings."""
    values = keywords.values
    found: dict[str, JsonValue] = {
        name: plain_title(markdown(values[name])) for name in ("author", "subtitle", "description") if values.get(name)
    }
    if date := values.get("date", "").strip("<>[] "):
        found["date"] = iso_date(date.partition(" ")[0]) or iso_date(date) or date
    named = [*_tags(values.get("filetags", "")), *(word.strip() for word in values.get("keywords", "").split(","))]
    inside = (tag for heading in headings for tag in heading.tags if tag.lower() not in _FOR_EXPORT)
    if tags := [tag for tag in dict.fromkeys([*named, *inside]) if tag][:_MOST_TAGS]:
        found["tags"] = list[JsonValue](tags)
    return found


def _tags(written: str) -> tuple[str, ...]:
    return tuple(tag for tag in re.split(r"[:\s]+", written) if tag)
