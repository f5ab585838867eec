"""Judge of records: many objects of like fields, with a key each, and with texts that someone may look for."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final, Literal

from sourcebook.parsing.records.fields import (
    Row,
    is_address,
    is_date,
    is_empty,
    is_moment,
    is_page,
    key_of,
    key_rank,
    lifted,
    plain,
    title_field,
    word_count,
    words_of_name,
)

Shape = Literal["list", "names", "markup"]
"""Rows of a list or table, objects by their names, or elements of XML."""
_SAMPLE: Final = 300
"""Records whose texts are judged."""
_WORDS: Final = 4
"""Words of a text, by the median, that make one of a record with a key."""
_WORDS_WITHOUT_KEY: Final = 7
_FEWEST: Final = 5
"""Records from which a table of names without prose is one of records; a smaller one is read at once as a table."""
_COLUMNS: Final = 3
_SENTENCE: Final = re.compile(r"[.!?。！？]['\")»”]?(?:\s|\Z)")
_LONGEST_KEY: Final = 200
"""Characters of a key, by the median."""
_LANGUAGE: Final = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
_SHAPES: Final = frozenset({"geometry", "coordinates"})


def key_column(rows: Sequence[Row], shape: Shape = "list") -> str | None:
    """Return the column that holds a key of each record: unique and short, by its name or as the first of a list."""
    fields = list(dict.fromkeys(field for row in rows[:_SAMPLE] for field in row))
    named = sorted((rank, place) for place, field in enumerate(fields) if (rank := key_rank(field)) is not None)
    for _, place in named:
        if _holds_keys(rows, fields[place], by_name=True):
            return fields[place]
    is_first = shape == "list" and bool(fields) and _holds_keys(rows, fields[0], by_name=False)
    return fields[0] if is_first else None


def is_many(rows: Sequence[Row], key: str | None, *, shape: Shape = "list") -> bool:
    """Tell whether rows are records that are documents of their own, and not the parts of one thing.

    Args:
        rows: the rows, each with its filled fields.
        key: the column of their keys.
        shape: how the file holds them.
    """
    sample = [lifted(row) for row in rows[:: len(rows) // _SAMPLE + 1]]
    if shape == "markup" and 2 * sum(map(_holds_page, sample)) >= max(len(sample), 1):
        return True
    filled = Counter(field for row in sample for field, value in row.items() if not is_empty(value))
    common = [field for field, count in filled.items() if 2 * count >= len(sample)]
    inside = sum(filled[field] for field in common)
    if len(rows) < 2 or len(common) < 2 or 2 * inside < filled.total():
        return False
    if not _SHAPES.isdisjoint(common) or sum(_LANGUAGE.fullmatch(field) is not None for field in common) > 1:
        return False
    texts = [column for field in filled if 5 * len(column := _texts(sample, field)) >= len(sample)]
    if key is None and shape == "markup":
        return False
    if key is None and shape == "list":
        nested = sum(any(map(_has_rows, row.values())) for row in sample)
        moments = any(sum(map(is_moment, column)) > 0.9 * len(sample) for column in texts)
        long = [column for column in texts if median(map(word_count, column)) >= _WORDS_WITHOUT_KEY]
        return (
            not moments
            and 2 * nested < len(sample)
            and any(_is_distinct(column) and _has_sentences(column) for column in long)
        )
    titles = [str(row[field]) for row in sample if (field := title_field(row)) is not None and field != key]
    are_titled = 2 * len(set(titles)) >= len(sample)
    long = [column for column in texts if median(map(word_count, column)) >= _WORDS]
    reads = are_titled and len(rows) >= _FEWEST and len(common) >= _COLUMNS and median(map(word_count, titles)) > 1
    return (are_titled and bool(long)) or any(map(_is_distinct, long)) or (reads and shape == "list")


def _holds_keys(rows: Sequence[Row], field: str, *, by_name: bool) -> bool:
    values = [value for row in rows if not is_empty(value := key_of(row.get(field)))]
    if len(values) < 0.95 * len(rows) or not all(isinstance(value, str | int) for value in values):
        return False
    keys = [str(value) for value in values]
    twice = len(keys) - len(set(keys))
    if twice > max(0.05 * len(keys), min(2, len(keys) // 3)) or not keys or median(map(len, keys)) > _LONGEST_KEY:
        return False
    if by_name:
        return not any(isinstance(value, bool) for value in values)
    alike = sum(" " not in key and any(map(str.isdigit, key)) and not is_date(key) and "." not in key for key in keys)
    return alike >= 0.9 * len(keys) and words_of_name(field)[:1] not in (
        ("time",),
        ("date",),
        ("year",),
        ("timestamp",),
    )


def _holds_page(row: Row) -> bool:
    """Tell whether a record has a title and HTML as a text, as programs write pages, notes and tickets into XML."""
    texts = [value.get("text") if isinstance(value, Mapping) else value for value in row.values()]
    return title_field(row) is not None and any(isinstance(text, str) and is_page(text) for text in texts)


def _texts(sample: Sequence[Row], field: str) -> list[str]:
    values = (plain(row.get(field)) for row in sample)
    return [value for value in values if isinstance(value, str) and value and not is_address(value)]


def _has_rows(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, Mapping) for each in value)


def _is_distinct(column: Sequence[str]) -> bool:
    return 2 * len(set(column)) >= len(column)


def _has_sentences(column: Sequence[str]) -> bool:
    return 2 * sum(_SENTENCE.search(text) is not None for text in column) >= len(column)


def is_described(values: Mapping[str, object]) -> bool:
    """Tell whether the fields at the top of a file describe it: it has a title or an id, and none contradicts it."""
    held = {str(name).casefold(): value for name, value in values.items()}
    number = held.get("id")
    if isinstance(number, str) and (not number.strip() or " " in number.strip()):
        return False  # the texts of a program's buttons and labels
    if isinstance(date := held.get("date"), str) and not any(map(str.isdigit, date)):
        return False
    title = held.get("title")
    known = [name for name in ("status", "date", "type", "tags") if not is_empty(held.get(name))]
    named = isinstance(title, str) and bool(title.strip())
    return named or (isinstance(number, str | int) and not isinstance(number, bool)) or len(known) > 1
