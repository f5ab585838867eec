"""Information in a DocBook document about itself: title, authors, date, keywords and language."""

from collections.abc import Iterator
from typing import Any

from sourcebook.model.document import JsonValue
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.markup.xml_tree import descendants, elements, first_of, local_name, words_of
from sourcebook.parsing.text.titles import cut_title

_PEOPLE = ("author", "editor", "corpauthor", "collab")
_DATES = ("pubdate", "date")
_MOST = 100
"""Authors or keywords of a document."""
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def is_information(name: str) -> bool:
    """Return whether an element of a name describes the part of the document in which it stands."""
    return name == "info" or (name.endswith("info") and name not in {"classsynopsisinfo", "funcsynopsisinfo"})


def metadata_of(root: Any) -> dict[str, JsonValue]:
    """Return author, date, subtitle and tags of a document."""
    found: dict[str, JsonValue] = {}
    for part in [child for child in elements(root) if is_information(local_name(child))]:
        if authors := list(_authors(part))[:_MOST]:
            found["author"] = cut_title(", ".join(authors))
        if date := next((text for name in _DATES if (text := words_of(next(descendants(part, name), None)))), ""):
            found["date"] = iso_date(date) or cut_title(date)
        if subtitle := words_of(first_of(part, "subtitle")):
            found["subtitle"] = cut_title(subtitle)
        if tags := [cut_title(words) for word in descendants(part, "keyword") if (words := words_of(word))][:_MOST]:
            found["tags"] = list[JsonValue](dict.fromkeys(tags))
    return found


def declared_language(root: Any) -> str | None:
    """Return the language of the root element, an ISO 639-1 code."""
    code = (root.get(_XML_LANGUAGE) or root.get("lang") or "").replace("_", "-").partition("-")[0].lower()
    return code if len(code) == 2 and code.isalpha() else None


def _authors(part: Any) -> Iterator[str]:
    kind = _PEOPLE[0] if next(descendants(part, "author"), None) is not None else ""
    for person in descendants(part, *([kind] if kind else _PEOPLE)):
        given = words_of(next(descendants(person, "firstname", "givenname"), None))
        family = words_of(next(descendants(person, "surname"), None))
        whole = words_of(next(descendants(person, "personname", "orgname", "collabname"), None)) or words_of(person)
        if name := f"{given} {family}".strip() or whole:
            yield cut_title(name)
