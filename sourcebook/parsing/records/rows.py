"""Rows of a data file: the longest list of objects in it, and what stands beside that list."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sourcebook.model import media_types as media
from sourcebook.parsing.records.fields import is_empty, is_page
from sourcebook.parsing.records.judge import Shape, key_column
from sourcebook.parsing.text.decode import decode

MOST_RECORDS: Final = 100_000
"""Records of a file that are read."""
MOST_BYTES: Final = 128 << 20
"""Bytes of a file that is looked at for records."""
_MOST_YAML: Final = 512 << 10
"""Characters of YAML that are looked at: its reader takes a second for each 100 kB."""
_DEEPEST: Final = 5
"""Objects around a list of records."""
_MOST_BROKEN: Final = 0.1
"""Share of lines of JSON Lines that may be unreadable."""
_TRAILING: Final = re.compile(r'("(?>(?:[^"\\]++|\\.)*)"?)|,(?=\s*[}\]])', re.DOTALL)
"""Commas behind the last member, which many programs write; texts are passed over, one without an end to the last
character: it is no JSON, and each of its quotes would begin another search for the end."""
_YAML_RECORDS: Final = re.compile(r"^ {0,4}- +[\"'\w][^\n:]*:(?:\s|$)", re.MULTILINE)
_YAML_ALIAS: Final = re.compile(r"^(?:[^\"'#\n]*[:\-\[,])?\s+\*\w", re.MULTILINE)
"""A use of a value that was named before: a few of them can stand for billions of values."""
_TOP_FIELD: Final = re.compile(r"^[\"']?(?:title|id|status|date|type|tags)[\"']?\s*[:=]", re.MULTILINE | re.IGNORECASE)
_TOP: Final = 64 << 10
"""Characters of YAML and TOML in which the fields of one thing are looked for."""
_PARTS: Final = frozenset(
    {"p", "para", "paragraph", "section", "chapter", "part", "div", "topic", "title", "head", "li"}
)
"""Elements of which running text is made."""
_MARKS: Final = frozenset(
    {"$schema", "openapi", "swagger", "asyncapi", "nbformat", "lockfileVersion", "content-hash", "_meta"}
    | {"bomFormat", "spdxVersion", "@context", "geometries"}
)
"""Fields at the top of formats that are one thing: interfaces, lock files, notebooks, bills of materials."""


@dataclass(slots=True)
class Rows:
    """The objects of a file that may be records."""

    rows: list[dict[str, Any]]
    key: str | None = None
    """The field with their keys; None where they have none, or have names."""
    beside: Any = None
    """Content of the file beside them; None for nothing."""
    names: list[str] = field(default_factory=list)
    """Their names in the file, where it has them by name."""
    unread: list[int] = field(default_factory=list)
    """Numbers of the lines that cannot be read."""
    shape: Shape = "list"
    are_texts: bool = False
    """Whether all values are texts, as in CSV and XML; a number is then written as one."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """Content of a data file: perhaps rows, and the fields at its top."""

    rows: Rows | None = None
    top: Mapping[str, Any] = field(default_factory=dict)


def read_data(content: bytes, media_type: str) -> DataFile:
    """Read a JSON, JSON Lines, CSV, YAML, TOML or XML file; nothing is found in one that is damaged or too large."""
    if len(content) > MOST_BYTES:
        return DataFile()
    try:
        found = _READERS[media_type](content)
    except (ValueError, RecursionError, OverflowError):
        return DataFile()
    if found.rows is not None and not found.rows.names:
        found.rows.key = key_column(found.rows.rows, found.rows.shape)
    return found


def _json(content: bytes) -> DataFile:
    text = decode(content).text
    try:
        return _of_value(read_json(text))
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data") or "\n" not in text:
            raise
        return _json_lines(content)  # JSON Lines under another name


def read_json(text: str) -> Any:
    """Return the value of a JSON text, which may have commas behind the last member.

    Raises:
        ValueError: it is none.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError:
        mended = _TRAILING.sub(lambda found: found[1] or "", text)
        if mended == text:
            raise
        return json.loads(mended, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; the values of a name that it has twice become a list."""
    found = dict(pairs)
    if len(found) < len(pairs):
        for name in found:
            values = [value for other, value in pairs if other == name]
            found[name] = values[0] if len(values) == 1 else values
    return found


def _json_lines(content: bytes) -> DataFile:
    values, unread = [], []
    lines = decode(content).text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                values.append(read_json(line))
            except (ValueError, RecursionError):
                unread.append(number)
    if len(unread) > _MOST_BROKEN * (len(values) + len(unread)) + 1:
        raise ValueError
    rows = [value for value in values if isinstance(value, dict)]
    if len(rows) == len(values) == 1 and not unread:
        return DataFile(top=rows[0])
    others = [value for value in values if not isinstance(value, dict)]
    return DataFile(Rows(rows, beside=others or None, unread=unread))


def _of_value(value: Any) -> DataFile:
    """Return the longest list of objects that is in a value, below objects alone."""
    top = value if isinstance(value, dict) else {}
    if not _MARKS.isdisjoint(top) or top.get("type") in {"FeatureCollection", "Topology"}:
        return DataFile(top=top)
    best: list[Any] = []
    holder, name = None, ""
    waiting: list[tuple[Any, Any, str, int]] = [(value, None, "", 0)]
    for held, above, key, depth in waiting:
        if isinstance(held, list) and len(held) > len(best) and any(isinstance(each, dict) for each in held):
            best, holder, name = held, above, key
        elif isinstance(held, dict) and depth < _DEEPEST:
            waiting += [(inner, held, str(inner_key), depth + 1) for inner_key, inner in held.items()]
    if named := _named_rows(top, len(best)):
        return DataFile(named, top)
    if not best:
        return DataFile(top=top)
    rows = [_by_text(row) for row in best if isinstance(row, dict)]
    others = [row for row in best if not isinstance(row, dict) and not is_empty(row)]
    if holder is None:
        return DataFile(Rows(rows, beside=others or None))
    beside = _without(value, holder, name, others)
    return DataFile(Rows(rows, beside=None if is_empty(beside) else beside), top)


def _by_text(row: dict[Any, Any]) -> dict[str, Any]:
    """Return a record whose fields have texts as names, which YAML reads also as numbers."""
    return row if all(type(key) is str for key in row) else {str(key): each for key, each in row.items()}


def _without(value: Any, holder: Any, name: str, instead: Any) -> Any:
    """Return a value with something else in the place of its list of records, and without what is empty."""
    if not isinstance(value, dict):
        return value
    held = {
        key: instead if value is holder and key == name else _without(each, holder, name, instead)
        for key, each in value.items()
    }
    return {key: each for key, each in held.items() if not is_empty(each)}


def _named_rows(top: Mapping[str, Any], fewest: int) -> Rows | None:
    """Return the objects that a file has by their ids, which hold a digit, as databases export them."""
    named = {str(name): each for name, each in top.items() if isinstance(each, dict)}
    ids = sum(any(map(str.isdigit, name)) for name in named)
    if len(named) < 2 or len(named) <= fewest or ids < 0.8 * len(top):
        return None
    beside = {name: each for name, each in top.items() if not isinstance(each, dict)}
    return Rows(list(named.values()), beside=beside or None, names=list(named), shape="names")


def _csv(content: bytes) -> DataFile:
    from sourcebook.parsing.text.comma_separated import read_rows
    from sourcebook.parsing.text.tables_in_rows import tables_in

    try:
        tables = list(tables_in(read_rows(decode(content).text)))
    except csv.Error:
        return DataFile()
    table = max(tables, key=lambda each: len(each.rows), default=None)
    if table is None or len(table.rows) < 2 or sum(map(bool, table.rows[0])) < 2:
        return DataFile()
    columns = _columns(table.rows[0], max(map(len, table.rows)))
    rows = [
        {name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()} for row in table.rows[1:]
    ]
    others = [[*each.labels, *map(", ".join, each.rows if each is not table else []), *each.notes] for each in tables]
    return DataFile(Rows(rows, beside=[line for lines in others for line in lines] or None, are_texts=True))


def _columns(header: Sequence[str], width: int) -> list[str]:
    """Return a name for each column, each once; one without a name has its number."""
    names: list[str] = []
    for number in range(width):
        name = " ".join(header[number].split()) if number < len(header) else ""
        name = name or f"column {number + 1}"
        names.append(name if name not in names else f"{name} ({number + 1})")
    return names


def _yaml(content: bytes) -> DataFile:
    from ruamel.yaml.error import YAMLError

    from sourcebook.parsing.text.front_matter import yaml_reader

    text = decode(content).text
    has_records = len(text) <= _MOST_YAML and _YAML_RECORDS.search(text)
    if not (has_records or (len(text) <= _TOP and _TOP_FIELD.search(text))) or _YAML_ALIAS.search(text):
        return DataFile()
    try:
        return _of_value(_as_json(yaml_reader().load(text)))
    except (YAMLError, TypeError):
        return DataFile()


def _toml(content: bytes) -> DataFile:
    import tomllib

    text = decode(content).text
    return DataFile(top=_as_json(tomllib.loads(text))) if len(text) <= _TOP and _TOP_FIELD.search(text) else DataFile()


def _as_json(value: Any) -> Any:
    """Return what YAML or TOML holds with texts for its dates, and for names that are none."""
    if isinstance(value, dict):
        return {str(key): _as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_as_json(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else _written(value)


def _written(value: Any) -> str:
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def _xml(content: bytes) -> DataFile:
    from sourcebook.errors import ParseError
    from sourcebook.parsing.markup.xml_tree import xml_root

    try:
        root = xml_root(content)
    except ParseError:
        return DataFile()
    holder, name, best = None, "", (False, 1)
    for element in _outer(root, 0):
        for tag, number in _tags(element).items():
            if tag not in _PARTS and (this := (_is_page(element, tag), number)) > best:
                holder, name, best = element, tag, this
    top = _element(root) if best[1] < MOST_RECORDS and len(content) <= _MOST_YAML else None
    top = top if isinstance(top, dict) else {}
    if holder is None:
        return DataFile(top=top)
    found = [child for child in holder if _tag(child) == name]
    rows = [each for child in found if isinstance(each := _element(child), dict)]
    for child in found:
        holder.remove(child)
    beside = _element(root)
    return DataFile(Rows(rows, beside=None if is_empty(beside) else beside, are_texts=True, shape="markup"), top)


def _outer(element: Any, depth: int) -> Iterator[Any]:
    yield element
    if depth < _DEEPEST - 2 and len(element) < 50:
        for child in element:
            yield from _outer(child, depth + 1)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def _is_page(element: Any, tag: str) -> bool:
    """Tell whether the first element of a name has HTML as a text: a page, a note or a ticket of an export.

    What also holds elements with titles is the channel of these.
    """
    first = next(child for child in element if _tag(child) == tag)
    texts = (*first.attrib.values(), *(child.text for child in first if not len(child)))
    holds_entries = any(_tag(each) == "title" for child in first for each in child)
    return any(text and is_page(text) for text in texts) and not holds_entries


def _tags(element: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for child in element:
        if tag := _tag(child):
            found[tag] = found.get(tag, 0) + 1
    return found


def _element(element: Any) -> Any:
    """Return an element as its text, or as its attributes and the elements in it by their names."""
    fields: dict[str, Any] = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    own = " ".join(part.strip() for part in (element.text, *(child.tail for child in element)) if part and part.strip())
    children = [child for child in element if _tag(child)]
    if own and children:
        own, children = " ".join("".join(element.itertext()).split()), []  # running text
    for child in children:
        value, name = _listed(_element(child), child), _tag(child)
        if is_empty(value):
            continue
        before = fields.get(name)
        fields[name] = value if before is None else [*before, value] if isinstance(before, list) else [before, value]
    if not fields:
        return own
    return {**fields, "text": own} if own else fields


def _listed(value: Any, element: Any) -> Any:
    """Return the value of an element that is a list, such as `<tags><tag>`, as a list."""
    names = set(_tags(element))
    if not isinstance(value, dict) or len(names) != 1 or set(value) != names:
        return value
    name = names.pop()
    held = value[name]
    return held if isinstance(held, list) else [held] if _tag(element).startswith(name) else value


_READERS: Final[Mapping[str, Callable[[bytes], DataFile]]] = {
    media.JSON: _json,
    media.JSON_LINES: _json_lines,
    media.CSV: _csv,
    media.YAML: _yaml,
    media.TOML: _toml,
    media.XML: _xml,
}
