"""One record as a document: its title, its texts as text, its facts as a list and as metadata that filter."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.records.fields import (
    has_markup,
    is_address,
    is_empty,
    is_packed,
    is_prose,
    lifted,
    name_of,
    plain,
    title_field,
)
from sourcebook.parsing.text.front_matter import described
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.json_values import MetadataTooLargeError, json_mapping

_LONGEST_FACT: Final = 500
"""Characters of a text that is metadata, too."""
_DEEPEST: Final = 4
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_SEPARATE: Final = re.compile(r"[\W\d_]+")


def parse_record(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a record of a file, as `read_records` writes it.

    Args:
        content: a JSON object, or, where all values are texts, a list of its fields.
        name: the name of the file and, behind a slash, the key of the record: `issues.json/103`.
    """
    value = json.loads(content)
    are_texts = isinstance(value, list)
    row = dict(lifted(dict(value) if are_texts else value))
    writing = _Writing()
    title = title_field(row)
    if title is not None:
        writing.joined.add_heading(str(plain(row[title])), 1)
    writing.joined.add(_called(name), "paragraph")
    for field, held in row.items():
        if field != title:
            writing.add(field, held)
    writing.finish()
    text, blocks = writing.joined.markdown(), tuple(writing.joined.blocks)
    return ParsedDocument(
        markdown=text,
        blocks=blocks,
        title=" ".join(str(plain(row[title])).split()) if title is not None else _called(name),
        language=detect_language(text, blocks),
        metadata=with_left_out(_metadata(row, are_texts=are_texts), {"fields": writing.left_out}),
    )


def _called(name: str) -> str:
    """Return the words by which people speak of a record: `issues 103`."""
    file, _, key = name.partition("/")
    return f"{_SEPARATE.sub(' ', file.partition('.')[0]).strip()} {key}".strip()


class _Writing:
    """The text of a record: its facts in one list, then its longer texts, each below its name where it has several."""

    def __init__(self, *, is_part: bool = False) -> None:
        self.joined = JoinedBlocks()
        self._is_part = is_part
        self.left_out = 0
        """Values that are neither in the text nor in the metadata."""
        self._facts: list[str] = []
        self._texts: list[tuple[str, str]] = []

    def add(self, field: str, value: object, depth: int = 0) -> None:
        """Add a field with all that is in it."""
        value = plain(value)
        if is_empty(value):
            return
        if isinstance(value, Mapping):
            self._add_mapping(field, value, depth)
        elif isinstance(value, list):
            self._add_list(field, value, depth)
        elif isinstance(value, str) and is_packed(value):
            self.left_out += 1
        elif isinstance(value, str) and (is_prose(value) or has_markup(value)):
            self._texts.append((field, value))
        elif not (isinstance(value, str) and is_address(value)):  # addresses are in the metadata
            self._add_fact(field, _shown(value))
        elif self._is_part or len(value) > _LONGEST_FACT:
            self._add_fact(field, value)

    def _add_mapping(self, field: str, value: Mapping[str, Any], depth: int) -> None:
        name = name_of(value)
        if name is not None and not _has_prose(value):
            self._add_fact(field, name)
            self.left_out += _leaves(value) - 1 if self._is_part else 0  # of other fields, the metadata have the rest
        elif depth == _DEEPEST:
            self._texts.append((field, json.dumps(value, ensure_ascii=False)))
        else:
            for inner, held in value.items():
                self.add(f"{field}.{inner}", held, depth + 1)

    def _add_list(self, field: str, values: list[Any], depth: int) -> None:
        held = [value for each in values if not is_empty(value := plain(each))]
        names = [name_of(value) if isinstance(value, Mapping) else None for value in held]
        if not any(isinstance(value, Mapping | list) or is_prose(str(value)) for value in held):
            self._add_fact(field, ", ".join(map(_shown, held)))
        elif all(names) and not any(map(_has_prose, held)):
            self._add_fact(field, ", ".join(map(str, names)))
            self.left_out += sum(_leaves(value) for value in held) - len(held)
        elif depth == _DEEPEST:
            self._texts.append((field, json.dumps(held, ensure_ascii=False)))
        else:
            for number, value in enumerate(held, start=1):
                part = _Writing(is_part=True)
                for inner, each in value.items() if isinstance(value, Mapping) else (("", value),):
                    part.add(inner, each, depth + 1)
                self.left_out += part.left_out
                facts = "; ".join(fact.removeprefix("- ") for fact in part._facts)
                self._texts += [(f"{field} {number}", facts)] if facts else []
                self._texts += [(f"{field} {number}", text) for _, text in part._texts]

    def _add_fact(self, field: str, value: str) -> None:
        words = " ".join(value.split())
        self._facts.append(f"- {' '.join(field.split())}: {words}" if field else f"- {words}")

    def finish(self) -> None:
        """Write the facts and the texts."""
        self.joined.add("\n".join(self._facts), "list")
        several = len(self._texts) > 1
        above = ""
        for field, text in self._texts:
            part = field.partition(".")[0]
            if several and part != above:
                self.joined.add_heading(part, 2)
                above = part
            if not (has_markup(text) and _add_html(self.joined, text)):
                self.joined.add_markdown(text)


def _add_html(joined: JoinedBlocks, html: str) -> bool:
    from sourcebook.parsing.html.joined_html import add_html  # few records have HTML

    return add_html(joined, html)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _has_prose(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_prose, value.values()))
    if isinstance(value, list):
        return any(map(_has_prose, value))
    return isinstance(value, str) and (is_prose(value) or has_markup(value))


def _leaves(value: object) -> int:
    if isinstance(value, Mapping):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else int(not is_empty(value))


def _metadata(row: Mapping[str, Any], *, are_texts: bool) -> dict[str, JsonValue]:
    facts = {field: fact for field, value in row.items() if not is_empty(fact := _fact(value, are_texts=are_texts))}
    try:
        return described(json_mapping(facts))
    except MetadataTooLargeError:
        short = {field: fact for field, fact in facts.items() if not isinstance(fact, Mapping | list)}
        return described(json_mapping(dict(list(short.items())[:1_000])))


def _fact(value: object, *, are_texts: bool) -> Any:
    """Return what filters can compare: no long texts, and lists of mappings as the names of these."""
    value = plain(value)
    if isinstance(value, str):
        if are_texts and _NUMBER.fullmatch(value):
            return float(value) if "." in value else int(value)
        return value if len(value) <= _LONGEST_FACT else None
    if isinstance(value, Mapping):
        inner = {field: _fact(held, are_texts=are_texts) for field, held in value.items()}
        return {field: fact for field, fact in inner.items() if not is_empty(fact)}
    if not isinstance(value, list):
        return value
    held = [plain(each) for each in value]
    if all(isinstance(each, Mapping) and not _has_prose(each) for each in held):
        return [name for each in held if isinstance(each, Mapping) and (name := name_of(each)) is not None]
    return [
        fact
        for each in held
        if not isinstance(each, Mapping | list) and not is_empty(fact := _fact(each, are_texts=are_texts))
    ]
