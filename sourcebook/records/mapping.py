"""The mapping of a record's fields to a document, which the ledger keeps as bytes."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ParseError
from sourcebook.files.listing import LONGEST_URI, shortened, too_long
from sourcebook.model.document import JsonValue
from sourcebook.model.storable import storable_text
from sourcebook.records.record import DELETED, RenderedRecord, Row

if TYPE_CHECKING:
    from sourcebook.records.template import RecordTemplate

REVISION: Final = 1
"""Number to be counted up when a change of this module makes other bytes of the same record."""
_ABSENT: Final = ("", "0", "false", "f", "no", "n")
"""Texts of a field by which a record is not deleted."""


class RecordMapping:
    """The mapping of one source of records.

    Args:
        settings: the settings of the source.
        redact: replaces what the ledger may not hold in a text; None where it holds everything.
        redaction: identity of what that replaces.
    """

    def __init__(self, settings: RecordSource, redact: Callable[[str], str] | None = None, redaction: str = "") -> None:
        self._settings = settings
        self._redact = redact
        self._redaction = redaction
        self._template = None if settings.template is None else _template(settings.template)

    @cached_property
    def digest(self) -> str:
        """A digest of the settings on which the bytes of a record depend."""
        later = {name for name in ("dlt", "rest") if getattr(self._settings, name) is None}
        rules = self._settings.model_dump(mode="json", exclude={"tags", "refresh", "depends_on", *later})
        return hashlib.sha256(json.dumps([REVISION, rules, self._redaction], sort_keys=True).encode()).hexdigest()[:32]

    def uri(self, key: object) -> str | None:
        """Return the URI of the record with a key; None where it has none."""
        text = "" if key is None else plain_text(key)
        return self._settings.uri(text) if text else None

    def mark(self, row: Row) -> str | None:
        """Return the version of a row in its source; None without one."""
        return None if self._settings.updated is None else mark_of(value_of(row, self._settings.updated))

    def rendered(self, row: Row) -> RenderedRecord:
        """Return a record as the ledger keeps it, with the reason where there is nothing to keep."""
        settings = self._settings
        uri = self.uri(value_of(row, settings.key))
        if uri is None:
            return _failed(self.keyless, f"records have no key: the field {settings.key} is empty")
        if len(uri.encode()) > LONGEST_URI:
            return _skipped(shortened(uri), self.mark(row), too_long(len(uri.encode())))
        mark = self.mark(row)
        if settings.deleted is not None and _is_set(value_of(row, settings.deleted)):
            return RenderedRecord(uri, DELETED, mark)
        try:
            content = self._content(row)
        except ParseError as error:
            return _failed(uri, str(error), error.failure_class)
        if len(content) > settings.max_bytes:
            reason = f"{len(content):,} bytes, more than max_bytes of its source allows ({settings.max_bytes:,})"
            return _skipped(uri, mark, reason)
        version = hashlib.sha256(content).hexdigest()
        return RenderedRecord(uri, version, mark, content)

    @property
    def keyless(self) -> str:
        """The URI under which records without a key are reported."""
        return f"{self._settings.location}/?without-key"

    def repeated(self, uri: str) -> RenderedRecord:
        """Return the failure of a key that several rows have."""
        return _failed(uri, f"several records have this key: the field {self._settings.key} is not unique")

    def _content(self, row: Row) -> bytes:
        settings = self._settings
        metadata: dict[str, JsonValue] = {
            name: value for name, field in settings.metadata.items() if (value := _json(value_of(row, field)))
        }
        if updated := _json(value_of(row, settings.updated)) if settings.updated else None:
            metadata.setdefault("updated", updated)
        if labels := _words(value_of(row, settings.labels)) if settings.labels else None:
            metadata["tags"] = labels
        if link := self._text(row, settings.url):
            metadata["url"] = link
        envelope: dict[str, JsonValue] = {
            "title": " ".join((self._text(row, settings.title) or "").split()),
            "language": (self._text(row, settings.language) or "").lower() or None,
            "metadata": metadata,
            **self._body(row),
        }
        if self._redact is not None:
            for name in envelope.keys() & {"title", "text", "metadata"}:
                envelope[name] = _redacted(envelope[name], self._redact)
        return json.dumps(envelope, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")

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


def value_of(row: Row, field: str) -> object:
    """Return a field of a record, also one within another: `fields.summary`; None where it is not there."""
    if field in row or "." not in field:
        return row.get(field)
    value: object = row
    for part in field.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def mark_of(value: object) -> str | None:
    """Return the version of a record that a value of its field `updated` stands for."""
    return None if value is None else plain_text(value)


def plain_text(value: object) -> str:
    """Return a value as a text that the database holds."""
    match value:
        case str():
            return storable_text(value)
        case bytes() | bytearray() | memoryview():
            return storable_text(bytes(value).decode("utf-8", "replace"))
        case datetime() | date() | time():
            return value.isoformat()
        case dict() | list():
            return storable_text(json.dumps(value, ensure_ascii=False, default=str))
        case _:
            return storable_text(str(value))


def _json(value: object) -> JsonValue:
    match value:
        case None | bool() | int() | float():
            return value if value == value else None  # not NaN
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            return {str(name): _json(held) for name, held in value.items()}
        case bytes() | bytearray() | memoryview():
            return None
        case Sequence() if not isinstance(value, str):
            return [_json(held) for held in value]
        case _:
            return plain_text(value)


def _words(value: object) -> list[JsonValue]:
    found = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence | set) else ()
    return [*dict.fromkeys(word for each in found if (word := plain_text(each).strip()))]


def _is_set(value: Any) -> bool:
    return plain_text(value).strip().casefold() not in _ABSENT if isinstance(value, str | bytes) else bool(value)


def _failed(uri: str, reason: str, failure_class: FailureClass = FailureClass.CORRUPT) -> RenderedRecord:
    reason = storable_text(reason)
    version = hashlib.sha256(reason.encode()).hexdigest()[:16]
    return RenderedRecord(uri, f"failed {version}", None, failure=reason, failure_class=failure_class)


def _skipped(uri: str, mark: str | None, reason: str) -> RenderedRecord:
    return RenderedRecord(uri, f"skipped {reason}", mark, skip_reason=reason)
