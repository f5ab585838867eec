"""Data files: one of many records is a document a record; one thing is its text, with the fields at its top."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from unicodedata import category

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model import media_types as media
from sourcebook.model.document import Attachment, JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.markup.docbook.read_docbook import is_docbook, parse_xml
from sourcebook.parsing.records.fields import Row, is_empty, key_of, plain
from sourcebook.parsing.records.judge import is_described, is_many
from sourcebook.parsing.records.rows import MOST_RECORDS, DataFile, Rows, read_data
from sourcebook.parsing.text.comma_separated import parse_csv
from sourcebook.parsing.text.fenced import parse_json, parse_json_lines, parse_toml, parse_yaml
from sourcebook.parsing.text.front_matter import FrontMatter, described
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.json_values import MetadataTooLargeError, json_mapping
from sourcebook.parsing.text.markdown_writing import code_fence

_WRITTEN: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_LEAST_SHARE: Final = 0.6
"""Share of a file that its records take; in another they are a part of one thing."""
_LONGEST_NAME: Final = 200
_MOST_NAMED: Final = 50
"""Fields and lines that are named."""
_WHOLE: Final = {
    media.JSON: parse_json,
    media.JSON_LINES: parse_json_lines,
    media.YAML: parse_yaml,
    media.TOML: parse_toml,
    media.CSV: parse_csv,
}


def parse_data(content: bytes, *, name: str, media_type: str, settings: ParsingSettings) -> ParsedDocument:
    """Parse a JSON, JSON Lines, YAML, TOML, CSV or XML file: many records, or one thing.

    Raises:
        ParseError: it is DocBook and damaged.
    """
    is_book = media_type == media.DOCBOOK or (media_type == media.XML and is_docbook(content))
    found = DataFile() if is_book else read_data(content, media_type)
    if found.rows is not None and settings.records != "never":
        records = _records(found.rows)
        if records and (settings.records == "always" or _is_export(found, records)):
            return _document(found.rows, records)
    read = _WHOLE.get(media_type)
    whole = read(content) if read is not None else parse_xml(content, name=name, media_type=media_type)
    return _with_fields(whole, found.top)


def record_content(content: bytes, *, media_type: str, number: int) -> bytes:
    """Return a record of a file, by its number among `ParsedDocument.attachments`, from 0.

    Raises:
        ParseError: the file has no such record.
    """
    found = read_data(content, media_type)
    records = _records(found.rows) if found.rows is not None else []
    if not 0 <= number < len(records):
        raise ParseError(f"the file has no record of the number {number}; read it again", FailureClass.MISSING)
    return records[number].content or b""


def _with_fields(document: ParsedDocument, top: Mapping[str, Any]) -> ParsedDocument:
    """Return one thing with the fields at its top as metadata, as front matter of Markdown gives them."""
    if not top or not is_described(top):
        return document
    facts = {field: fact for field, value in top.items() if not is_empty(fact := _short(plain(value)))}
    try:
        fields = described(json_mapping(facts))
    except MetadataTooLargeError:
        return document
    front_matter = FrontMatter(metadata=fields)
    return replace(
        document,
        title=front_matter.title or document.title,
        language=front_matter.language or document.language,
        metadata={**fields, **document.metadata},
    )


def _short(value: object) -> Any:
    """Return a value that describes a file: a fact, or a list of facts; None for a text or a part of the file."""
    if isinstance(value, list):
        return (
            value
            if all(isinstance(each, str | int | float) and len(str(each)) <= _LONGEST_NAME for each in value)
            else None
        )
    return value if not isinstance(value, Mapping) and len(str(value)) <= 5 * _LONGEST_NAME else None


def _is_export(found: DataFile, records: Sequence[Attachment]) -> bool:
    """Tell whether a file is one of many records: they are most of it, and it does not describe itself as one thing."""
    rows, top = found.rows, {name.casefold(): value for name, value in found.top.items()}
    if rows is None or (is_described(top) and any(top.get(field) for field in ("status", "type", "tags"))):
        return False
    inside = sum(record.size for record in records)
    beside = len(json.dumps(rows.beside, default=str)) if rows.beside is not None else 0
    return inside >= _LEAST_SHARE * (inside + beside) and is_many(rows.rows, rows.key, shape=rows.shape)


def _records(rows: Rows) -> list[Attachment]:
    """Return the records, each by its key, or else by its number from 1."""
    held = rows.rows[:MOST_RECORDS]
    key = rows.key
    contents = [_content(row, are_texts=rows.are_texts) for row in held]
    wanted = [
        _name(key_of(row.get(key)) if key is not None else rows.names[place] if rows.names else None) or str(place + 1)
        for place, row in enumerate(held)
    ]
    names = _unlike(wanted, contents)
    return [
        Attachment(name, media.RECORD, len(content), hashlib.sha256(content).digest(), content)
        for name, content in zip(names, contents, strict=True)
    ]


def _content(row: Row, *, are_texts: bool) -> bytes:
    value = list(row.items()) if are_texts else row
    return _WRITTEN.encode(value).encode("utf-8", "replace")


def _name(key: object) -> str:
    """Return a key as a name of a document, "" for none."""
    if is_empty(key) or isinstance(key, bool | Mapping | list):
        return ""
    name = str(key)
    if not (name.isascii() and name.isprintable()):
        name = "".join(sign for sign in name if category(sign) not in {"Cc", "Cf", "Cs", "Co", "Cn"})
    name = " ".join(name.split())
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}~{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _unlike(wanted: Sequence[str], contents: Sequence[bytes]) -> list[str]:
    """Return names of which no two are alike; what two hold decides which of them gets a number, not their order."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(wanted):
        places.setdefault(name, []).append(place)
    names, taken = list(wanted), set(places)
    for name, alike in places.items():
        count = 2
        for place in sorted(alike, key=contents.__getitem__)[1:]:
            while f"{name} ({count})" in taken:
                count += 1
            names[place] = f"{name} ({count})"
            taken.add(names[place])
    return names


def _document(rows: Rows, records: Sequence[Attachment]) -> ParsedDocument:
    """Return the document of the file itself: what its records are, and what it holds beside them."""
    key = rows.key
    fields = list(dict.fromkeys(field for row in rows.rows[:_MOST_NAMED] for field in row))
    left_out = len(rows.rows) - len(records) + len(rows.unread)
    joined = JoinedBlocks()
    by = f", by `{key}`" if key else ""
    several = "s, each" if len(records) > 1 else ","
    joined.add(f"{len(records):,} record{several} a document of its own{by}.", "paragraph")
    joined.add(f"Fields: {', '.join(fields[:_MOST_NAMED])}.", "paragraph")
    if rows.unread:
        numbers = ", ".join(map(str, rows.unread[:_MOST_NAMED]))
        joined.add(
            f"Lines that cannot be read: {numbers}{', …' if len(rows.unread) > _MOST_NAMED else ''}.", "paragraph"
        )
    if len(rows.rows) > len(records):
        joined.add(f"Records behind the first {MOST_RECORDS:,} are left out.", "paragraph")
    if rows.beside is not None:
        joined.add(code_fence(json.dumps(rows.beside, ensure_ascii=False, indent=1, default=str), "json"), "data")
    metadata: dict[str, JsonValue] = {"records": len(records), **({"records_by": key} if key else {})}
    if rows.unread:
        metadata["unread_lines"] = [*rows.unread[:_MOST_NAMED]]
    return ParsedDocument(
        markdown=joined.markdown(),
        blocks=tuple(joined.blocks),
        metadata=with_left_out(metadata, {"records": left_out}),
        attachments=tuple(records),
    )
