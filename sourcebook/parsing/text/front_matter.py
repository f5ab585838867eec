"""Front matter of Markdown files, at the top: YAML between `---` lines, TOML between `+++` lines, or a JSON object."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from sourcebook.model.document import JsonValue
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.text.json_values import MetadataTooLargeError, json_mapping

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_LONGEST = 65_536
"""Characters of the longest front matter that is read."""
_LONGEST_REASON = 200
"""Characters of the reason why it cannot be read."""
_YAML = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DATES = frozenset(
    {
        *("date", "created", "updated", "published", "modified", "lastmod", "publishdate", "pubdate", "pubdatetime"),
        *("lastupdated", "last_updated", "last_modified_at", "expirydate"),
    }
)
_KEYWORDS = ("tags", "keywords", "categories")
_DRAFT = ("published", "publish")
"""Fields of Jekyll and Obsidian that are false for a draft."""
_FIELD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[\w][\w .-]*[ \t]*[:=](?:[ \t]|$)", re.MULTILINE)
"""A first field: without one the lines are text between rules."""
_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata at the top of a Markdown file."""

    end: int = 0
    """Offset at which the file's own text begins."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str | None = None
    """Reason why it cannot be read, with the line of the file; then the text begins with it."""

    @property
    def title(self) -> str | None:
        """The `title` entry, where it is a text and not blank."""
        title = self.metadata.get("title")
        is_text = isinstance(title, str | int | float) and not isinstance(title, bool)  # YAML reads 1984 as a number
        return (" ".join(str(title).split()) or None) if is_text else None

    @property
    def language(self) -> str | None:
        """The ISO 639-1 code of the `lang` or `language` entry."""
        for name in ("lang", "language"):
            declared = self.metadata.get(name)
            if isinstance(declared, str) and (code := _LANGUAGE.fullmatch(declared.strip())):
                return code[1].lower()
        return None


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter; all of the text is content where there is none, or where it is no mapping.

    One that begins with a field and cannot be read has an `error`, and is content, too.

    Dates become ISO 8601. `tags`, `keywords` and `categories` become lists of texts, and the first of them that is
    not empty serves as `tags`; the number sign before a tag of Obsidian goes. Several authors become one `author`. What
    Jekyll or Obsidian does not publish is a `draft`.
    """
    if text.startswith("{"):
        return _json_front_matter(text)
    pattern = _YAML if text.startswith("---") else _TOML if text.startswith("+++") else None
    match = pattern.match(text, 0, _LONGEST) if pattern else None
    if match is None:
        return FrontMatter()
    from ruamel.yaml.error import YAMLError

    try:
        values: object = yaml_reader().load(match[1]) if pattern is _YAML else tomllib.loads(match[1])
        if values is None:
            return FrontMatter(end=match.end())
        if not isinstance(values, dict):
            return FrontMatter()
        return FrontMatter(end=match.end(), metadata=described(json_mapping(values)))
    except (YAMLError, MetadataTooLargeError, ValueError, TypeError, RecursionError) as error:
        return FrontMatter(error=_reason(error) if _FIELD.match(match[1]) else None)


def _json_front_matter(text: str) -> FrontMatter:
    """Read a JSON object on lines of its own, with text behind it, as Hugo does."""
    try:
        values, end = json.JSONDecoder().raw_decode(text[:_LONGEST])
        if not isinstance(values, dict) or not values or not text[end:].lstrip(" \t").startswith("\n"):
            return FrontMatter()
        metadata = described(json_mapping(values)) if text[end:].strip() else None
    except (ValueError, TypeError, RecursionError):
        return FrontMatter()
    return FrontMatter() if metadata is None else FrontMatter(end=text.index("\n", end) + 1, metadata=metadata)


def _reason(error: Exception) -> str:
    """Return why front matter cannot be read; its first line is the second of the file."""
    from ruamel.yaml.error import MarkedYAMLError

    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        problem = (error.problem or error.context or "it is no YAML").partition("\n")[0]
        return f"line {error.problem_mark.line + 2}: {' '.join(problem.split())[:_LONGEST_REASON]}"
    if isinstance(error, tomllib.TOMLDecodeError) and (place := _TOML_LINE.search(str(error))):
        return f"line {int(place[1]) + 1}: {str(error)[: place.start()][:_LONGEST_REASON]}"
    if isinstance(error, (MetadataTooLargeError, RecursionError)):
        return "line 2: it is too large or nested too deeply"
    return "line 2: it holds a value that cannot be read"


def described(values: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return fields with their dates in ISO 8601, their tags and their author under the names that filters know."""
    for name, value in values.items():
        if name.casefold() in _DATES and isinstance(value, str):
            values[name] = iso_date(value) or value
    terms = values.get("taxonomies")  # of Zola
    values.update({name: terms[name] for name in _KEYWORDS if isinstance(terms, dict) and name in terms})
    if "draft" not in values and any(values.get(name) is False for name in _DRAFT):
        values["draft"] = True
    for name in _KEYWORDS:
        if name in values:
            keywords: list[JsonValue] = list(
                dict.fromkeys(tag.removeprefix("#") or tag for tag in _texts(values[name]))
            )
            values[name] = keywords
    tags = next((values[name] for name in _KEYWORDS if values.get(name)), None)
    if tags:
        values["tags"] = tags
    authors = ", ".join(_names(values.get("author") or values.get("authors")))
    if authors:
        values["author"] = authors
    return values


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts of a list, of a line with commas, or of a single value."""
    match value:
        case None:
            return
        case str():
            yield from (part.strip() for part in value.split(",") if part.strip())
        case list():
            yield from (str(item).strip() for item in value if item is not None and str(item).strip())
        case dict():
            yield from value
        case _:
            yield str(value)


def _names(value: JsonValue) -> Iterator[str]:
    for person in value if isinstance(value, list) else [value]:
        name = person.get("name") if isinstance(person, dict) else person
        if isinstance(name, str) and name.strip():
            yield " ".join(name.split())


@cache
def yaml_reader() -> YAML:
    """Return the reader of YAML, which makes no objects."""
    from ruamel.yaml import YAML

    return YAML(typ="safe")
