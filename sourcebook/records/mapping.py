"""The mapping of a record's fields to a document, which the ledger keeps as bytes."""

import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sourcebook.config.permissions import PERMISSION_FIELDS
from sourcebook.config.principals import GROUP, parse_principal
from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ParseError
from sourcebook.files.listing import LONGEST_URI, shortened, too_long
from sourcebook.model.document import JsonValue
from sourcebook.model.storable import storable_text
from sourcebook.records.record import DELETED, Known, NamedFile, RenderedRecord, Row
from sourcebook.records.values import is_set, json_value, mark_of, parsed, plain_text, value_of, words_of

if TYPE_CHECKING:
    from sourcebook.records.template import RecordTemplate

_LATER: Final = ("dlt", "rest", "file", "files", "attachments")
"""Settings that came later: one that is unset makes no other bytes."""
REVISION: Final = 2
"""Number to be counted up when a change of this module makes other bytes of the same record."""
_LANGUAGE: Final = re.compile(r"([a-z]{2})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)
_NOTHING: Final[Mapping[str, Known]] = MappingProxyType({})


class RecordMapping:
    """The mapping of one source of records.

    Args:
        settings: the settings of the source.
        redact: replaces what the ledger may not hold in a text; None where it holds everything.
        redaction: identity of what that replaces.
        read_file: reads a file that a record names; raises ParseError.
    """

    def __init__(
        self,
        settings: RecordSource,
        redact: Callable[[str], str] | None = None,
        redaction: str = "",
        read_file: Callable[[str], NamedFile] | None = None,
    ) -> None:
        self._settings = settings
        self._read_file = read_file
        self._redact = redact
        self._redaction = redaction
        self._template = None if settings.template is None else _template(settings.template)

    @cached_property
    def digest(self) -> str:
        """A digest of the settings on which the bytes of a record depend."""
        later = {name for name in _LATER if getattr(self._settings, name) is None}
        later |= PERMISSION_FIELDS - ({"allowed"} if isinstance(self._settings.allowed, str) else set())
        rules = self._settings.model_dump(mode="json", exclude={"tags", "refresh", "depends_on", *later})
        return hashlib.sha256(json.dumps([REVISION, rules, self._redaction], sort_keys=True).encode()).hexdigest()[:32]

    def uri(self, key: object) -> str | None:
        """Return the URI of the record with a key; None where it has none."""
        text = "" if key is None else plain_text(key)
        return self._settings.uri(text) if text else None

    def mark(self, row: Row) -> str | None:
        """Return the version of a row in its source; None without one."""
        return None if self._settings.updated is None else mark_of(value_of(row, self._settings.updated))

    def rendered(self, row: Row, known: Mapping[str, Known] = _NOTHING) -> RenderedRecord:
        """Return a record as the ledger keeps it, with the reason where there is nothing to keep.

        Args:
            row: the fields of the record.
            known: known records by URI; the file of one whose fields are as they were is not read again.
        """
        try:
            return replace(self._rendered(row, known), allowed=self._allowed(row))
        except Exception as error:  # noqa: BLE001 - a number of any size, a circle, or what a value of a program raises
            reason = f"a field of it cannot be read: {type(error).__name__}: {error}"
            with suppress(Exception):  # the key may be such a value
                return _failed(self.uri(value_of(row, self._settings.key)) or self.keyless, reason)
            return _failed(self.keyless, reason)

    def _rendered(self, row: Row, known: Mapping[str, Known]) -> RenderedRecord:
        settings = self._settings
        uri = self.uri(value_of(row, settings.key))
        if uri is None:
            return _failed(self.keyless, f"records have no key: the field {settings.key} is empty")
        if len(uri.encode()) > LONGEST_URI:
            return _skipped(shortened(uri), self.mark(row), too_long(len(uri.encode())))
        mark = self.mark(row)
        if settings.deleted is not None and is_set(value_of(row, settings.deleted)):
            return RenderedRecord(uri, DELETED, mark)
        try:
            envelope = self._facts(row)
            if settings.file is None:
                return self._kept(uri, mark, {**envelope, **self._body(row)})
            path = self._text(row, settings.file)
            if path is None:
                return self._kept(uri, mark, {**envelope, "format": "plain", "text": ""})
            media_type = self._text(row, settings.media_type)
            return self._with_file(uri, mark, {**envelope, "type": media_type}, path, known)
        except ParseError as error:
            return _failed(uri, str(error), error.failure_class)

    def attachments(self, row: Row, uri: str, known: Mapping[str, Known] = _NOTHING) -> list[RenderedRecord]:
        """Return the attachments of a record as records with its tags, metadata and link.

        Args:
            row: the fields of the record.
            uri: its URI.
            known: known records by URI; an attachment whose fields are as they were is not read again.
        """
        settings = self._settings.attachments
        listed = parsed(value_of(row, settings.field)) if settings is not None else None
        if settings is None or not isinstance(listed, Sequence) or isinstance(listed, str | bytes):
            return []
        facts = self._facts(row)
        found: dict[str, RenderedRecord] = {}
        for item in listed:
            if not isinstance(item, Mapping):
                continue
            name = self._text(item, settings.name) or "attachment"
            place = f"{uri}/{quote(name, safe='')}"
            number = 2
            while place in found:
                place, number = f"{uri}/{quote(name, safe='')};{number}", number + 1
            if len(place.encode()) > LONGEST_URI:
                found[place] = _skipped(shortened(place), None, too_long(len(place.encode())))
                continue
            envelope = {**facts, "title": name, "type": self._text(item, settings.media_type)}
            try:
                found[place] = self._attached(place, envelope, item, name, known)
            except ParseError as error:
                found[place] = _failed(place, str(error), error.failure_class)
        allowed = self._allowed(row)
        return [replace(each, allowed=allowed) for each in found.values()]

    def _allowed(self, row: Row) -> tuple[str, ...] | None:
        """Return the principals of the field that names them; a name that is none means that group."""
        if not isinstance(self._settings.allowed, str):
            return None
        words = words_of(value_of(row, self._settings.allowed))
        return tuple(found for word in words if (found := _principal(str(word))))

    def _attached(
        self, uri: str, envelope: dict[str, JsonValue], item: Row, name: str, known: Mapping[str, Known]
    ) -> RenderedRecord:
        settings = self._settings.attachments
        if settings is None:
            raise ValueError(uri)
        if settings.content is not None:
            content = value_of(item, settings.content)
            held = bytes(content) if isinstance(content, bytes | memoryview | bytearray) else b""
            if isinstance(content, str):  # JSON has no bytes
                held = _from_base64(content)
            return self._kept_file(uri, None, envelope, NamedFile(name, held))
        path = self._text(item, settings.url)
        if path is None:
            raise ParseError(f"its field {settings.url} is empty", FailureClass.MISSING)
        envelope["item"] = json_value(item)
        return self._with_file(uri, None, envelope, path, known, name)

    def _with_file(
        self,
        uri: str,
        mark: str | None,
        envelope: dict[str, JsonValue],
        path: str,
        known: Mapping[str, Known],
        name: str | None = None,
    ) -> RenderedRecord:
        """Return a record with a file, which is read where the record is another one than is known."""
        if mark is None:
            mark = hashlib.sha256(_written({**envelope, "path": path})).hexdigest()[:32]
        version, known_mark, is_live = known.get(uri, ("", None, False))
        if is_live and known_mark == mark:
            return RenderedRecord(uri, version, mark)
        if self._read_file is None:
            raise ParseError("files are read below files.root alone, which is missing", FailureClass.FORBIDDEN)
        file = self._read_file(path)
        return self._kept_file(uri, mark, envelope, replace(file, name=name or file.name))

    def _kept_file(self, uri: str, mark: str | None, envelope: dict[str, JsonValue], file: NamedFile) -> RenderedRecord:
        from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
        from sourcebook.parsing.registry import parser_for, skip_reason

        said = str(envelope["type"] or "")
        found = detect_media_type(file.name, file.content[:HEAD_BYTES])
        media_type = next((each for each in (said, found, file.media_type or "") if parser_for(each)), None)
        if media_type is None:
            return _skipped(uri, mark, skip_reason(found))
        envelope = {key: value for key, value in envelope.items() if key != "item"}
        held = {"type": media_type, "file": file.name, "base64": b64encode(file.content).decode()}
        return self._kept(uri, mark, {**envelope, **held}, len(file.content))

    def _kept(
        self, uri: str, mark: str | None, envelope: dict[str, JsonValue], size: int | None = None
    ) -> RenderedRecord:
        if self._redact is not None:
            for name in envelope.keys() & {"title", "text", "metadata"}:
                envelope[name] = _redacted(envelope[name], self._redact)
        content = _written(envelope)
        size, most = len(content) if size is None else size, self._settings.max_bytes
        if size > most:
            return _skipped(uri, mark, f"{size:,} bytes, more than max_bytes of its source allows ({most:,})")
        return RenderedRecord(uri, hashlib.sha256(content).hexdigest(), mark, content)

    @property
    def keyless(self) -> str:
        """The URI under which records without a key are reported."""
        return f"{self._settings.location}/?without-key"

    def repeated(self, uri: str) -> RenderedRecord:
        """Return the failure of a key that several rows have."""
        return _failed(uri, f"several records have this key: the field {self._settings.key} is not unique")

    def _facts(self, row: Row) -> dict[str, JsonValue]:
        settings = self._settings
        metadata: dict[str, JsonValue] = {
            name: value for name, field in settings.metadata.items() if (value := json_value(value_of(row, field)))
        }
        if updated := json_value(value_of(row, settings.updated)) if settings.updated else None:
            metadata.setdefault("updated", updated)
        if labels := words_of(value_of(row, settings.labels)) if settings.labels else None:
            metadata["tags"] = labels
        if link := self._text(row, settings.url):
            metadata["url"] = link
        language = self._text(row, settings.language) or ""
        return {
            "title": " ".join((self._text(row, settings.title) or "").split()),
            "language": found[1].lower() if (found := _LANGUAGE.fullmatch(language)) else None,
            "metadata": metadata,
        }

    def _body(self, row: Row) -> dict[str, JsonValue]:
        settings = self._settings
        if self._template is not None:
            return {"format": settings.format, "text": storable_text(self._template.render(dict(row)))}
        value = value_of(row, settings.text or "text")
        if isinstance(value, memoryview | bytearray):
            value = bytes(value)
        if settings.media_type is not None and value is not None:
            content = value if isinstance(value, bytes) else plain_text(value).encode()
            return {"type": self._text(row, settings.media_type), "base64": b64encode(content).decode()}
        return {"format": settings.format, "text": "" if value is None else plain_text(value)}

    def _text(self, row: Row, field: str | None) -> str | None:
        value = value_of(row, field) if field is not None else None
        return None if value is None else plain_text(value).strip() or None


def _written(envelope: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(envelope, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


def _from_base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return text.encode()


def _redacted(value: JsonValue, redact: Callable[[str], str]) -> JsonValue:
    match value:
        case str():
            return redact(value)
        case list():
            return [_redacted(held, redact) for held in value]
        case dict():
            return {name: _redacted(held, redact) for name, held in value.items()}
        case _:
            return value


def _template(source: str) -> "RecordTemplate":
    from sourcebook.records.template import RecordTemplate  # most looks need no Jinja

    return RecordTemplate(source)


def _failed(uri: str, reason: str, failure_class: FailureClass = FailureClass.CORRUPT) -> RenderedRecord:
    reason = storable_text(reason)
    version = hashlib.sha256(reason.encode()).hexdigest()[:16]
    return RenderedRecord(uri, f"failed {version}", None, failure=reason, failure_class=failure_class)


def _skipped(uri: str, mark: str | None, reason: str) -> RenderedRecord:
    return RenderedRecord(uri, f"skipped {reason}", mark, skip_reason=reason)


def _principal(word: str) -> str | None:
    for text in (word, f"{GROUP}:{word}"):
        try:
            return parse_principal(text)
        except ValueError:
            continue
    return None
