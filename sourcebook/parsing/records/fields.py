"""Fields of a record: the words of their names, and what a value is: a key, a title, prose, a date or an address."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

Row = Mapping[str, object]
"""A record: its fields by name."""

_WORDS: Final = re.compile(r"[^\W\d_]+|\d+|#")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ADDRESSES: Final = ("link", "url", "uri")
_KEYS: Final = (
    *("key", "number", "iid", "sku", "id", "identifier", "code", "guid", "uuid", "ref", "reference", "slug"),
    *("no", "nr", "num", "nummer", "numéro", "numero", "número", "clave", "schlüssel", "clé", "#"),
    *_ADDRESSES,
)
"""Last words of the names of columns that hold keys; of several columns the one that is named here first has them."""
_TITLES: Final = (
    *("title", "subject", "summary", "name", "headline", "heading", "question", "label", "topic"),
    *("titel", "titre", "título", "titulo", "titolo", "betreff", "objet", "asunto", "oggetto", "frage", "pregunta"),
    *("domanda", "bezeichnung", "nom", "nombre", "nome", "naam", "onderwerp", "emne", "ämne", "navn", "namn"),
)
_NAMES: Final = (*_TITLES, "login", "displayname", "username", "value", "email", "text", "key", "id")
"""Fields by which a mapping within a record is called, such as the user who opened an issue."""
_LONGEST_TITLE: Final = 300
_LONGEST_FACT: Final = 80
"""Characters above which a text is prose."""
_MOST_WORDS: Final = 12
_WORD: Final = re.compile(r"(?<!\S)[(\[\"'«„“‘]{0,2}[^\W\d_][^\W\d_'’-]*[)\]\"'»“”’.,;:!?]{0,3}(?!\S)")
"""A word with the marks beside it, between white space."""
_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_URL: Final = re.compile(r"(?:https?|ftp|mailto|file)://?\S+\Z", re.IGNORECASE)
_DATE: Final = re.compile(r"\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?(?:[T ].*)?\Z|\d{1,2}:\d{2}")
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\d{1,2}:\d{2}:\d{2}")
_BLOCK: Final = re.compile(r"</(?:p|div|[uo]l|h[1-6]|table|blockquote|pre)>", re.IGNORECASE)
_PACKED: Final = re.compile(r"\s*(?:data:[\w/+.;=-]{1,99},)?[\w+/-]{60,}(?:\s+[\w+/=-]{20,})*=*\s*", re.ASCII)
_TAG: Final = re.compile(r"</(?:p|div|ul|ol|li|h[1-6]|table|b|strong|em|a)>|<br ?/?>", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a field's name in lower case: `issueKey`, `Issue key` and `issue_key` have the same."""
    return tuple(word.casefold() for word in _WORDS.findall(_CAMEL.sub(" ", name)))


def key_rank(name: str) -> tuple[int, int] | None:
    """Return how surely a column holds keys, the surest first; None where its name says nothing of it."""
    words = words_of_name(name)
    if not words or words[-1] not in _KEYS or (len(words) > 1 and words[-1] in _ADDRESSES):
        return None
    return min(len(words) - 1, 1), _KEYS.index(words[-1])


def plain(value: object) -> object:
    """Return what a mapping with one entry holds: `{"$oid": "5f1e"}` of MongoDB is its text."""
    while isinstance(value, Mapping) and len(value) == 1 and str(next(iter(value))).startswith(("$", "#")):
        value = next(iter(value.values()))
    return value.strip() if isinstance(value, str) else value


def key_of(value: object) -> object:
    """Return the value of a key; that of an element of XML with attributes is its text."""
    value = plain(value)
    return value.get("text", value) if isinstance(value, Mapping) else value


def is_empty(value: object) -> bool:
    """Tell whether a field holds nothing."""
    return value is None or value in ("", [], {}) or value != value  # the last is true of NaN alone


def word_count(text: str) -> int:
    """Return the number of words, codes and paths not among them; two signs of Chinese, Japanese or Korean are one."""
    return len(_WORD.findall(text)) + len(_DENSE.findall(text)) // 2


def is_prose(text: str) -> bool:
    """Tell whether a text is more than a fact of a few words."""
    return "\n" in text or ((len(text) > _LONGEST_FACT or word_count(text) > _MOST_WORDS) and not is_address(text))


def is_address(text: str) -> bool:
    """Tell whether a text is a URL."""
    return _URL.match(text) is not None


def is_date(text: str) -> bool:
    """Tell whether a text is a date or a time."""
    return _DATE.match(text) is not None


def is_moment(text: str) -> bool:
    """Tell whether a text is a date with a time, or a time."""
    return _TIME.match(text) is not None


def has_markup(text: str) -> bool:
    """Tell whether a text is HTML."""
    return _TAG.search(text) is not None


def is_page(text: str) -> bool:
    """Tell whether a text is HTML with paragraphs or lists, and no word of a program with a mark in it."""
    return _BLOCK.search(text) is not None


def is_packed(text: str) -> bool:
    """Tell whether a text is a file in base64, which nobody reads."""
    return len(text) > 200 and _PACKED.fullmatch(text) is not None


def name_of(row: Row) -> str | None:
    """Return what a mapping within a record is called, such as the login of a user; None without a name."""
    by_name = {"".join(words_of_name(field)): plain(value) for field, value in row.items()}
    found = (by_name.get(field) for field in _NAMES)
    return next((str(value) for value in found if isinstance(value, str | int) and str(value).strip()), None)


def title_field(row: Row) -> str | None:
    """Return the field with a record's title: one that is called so, or else the first short text of several words."""
    ranks = {field: _title_rank(field) for field, value in row.items() if _is_title(plain(value))}
    if ranks and (best := min(ranks, key=ranks.__getitem__)) and ranks[best] < len(_TITLES):
        return best
    return next((field for field, value in row.items() if _is_title(text := plain(value)) and _reads(text)), None)


@lru_cache(maxsize=1_000)
def _title_rank(field: str) -> int:
    words = words_of_name(field)
    ends = {words[0], words[-1]} if words else set()
    return next((rank for rank, wanted in enumerate(_TITLES) if wanted in ends), len(_TITLES))


def lifted(row: Row) -> Row:
    """Return a record with the fields of the mapping that is most of it: `attributes`, `fields`, `_source`."""
    inner = [field for field, value in row.items() if isinstance(value, Mapping) and len(value) > 1]
    if title_field(row) is not None or not inner:
        return row
    most = max(inner, key=lambda field: len(str(row[field])))
    value = row[most]
    if not isinstance(value, Mapping) or 2 * len(str(value)) < len(str(row)):
        return row
    return {**{field: held for field, held in row.items() if field != most}, **value}


def _is_title(value: object) -> bool:
    return isinstance(value, str) and bool(value) and len(value) <= _LONGEST_TITLE and "\n" not in value


def _reads(value: object) -> bool:
    text = str(value)
    return word_count(text) > 1 and not is_address(text) and not is_date(text) and "@" not in text
