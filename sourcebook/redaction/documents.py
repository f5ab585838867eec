"""Redaction of documents: every part of one is redacted by what was found in its whole text."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol

from sourcebook.errors import ConfigurationError
from sourcebook.redaction.categories import DEFAULT_CATEGORIES
from sourcebook.redaction.finds import Redacted, clipped
from sourcebook.redaction.redactor import RedactionMemory, Redactor, replaced

_MOST_DOCUMENTS: Final = 256
"""Documents whose finds are kept, so that the next search need not look for them again."""
_MOST_REDACTORS: Final = 32
_lock = Lock()
_redactors: "OrderedDict[tuple[object, ...], Redactor]" = OrderedDict()
_documents: "OrderedDict[tuple[int, bytes], DocumentRedaction]" = OrderedDict()


class Passage(Protocol):
    """A passage of a document, as several rooms have it."""

    @property
    def text(self) -> str: ...
    @property
    def heading_path(self) -> list[str]: ...
    @property
    def anchor(self) -> str | None: ...
    @property
    def start_char(self) -> int: ...
    @property
    def end_char(self) -> int: ...


@dataclass(frozen=True, slots=True)
class RedactedPassage:
    """A passage of a redacted document."""

    redacted: Redacted
    start_char: int
    """Start of its own text in the redacted document, in characters."""
    end_char: int


@dataclass(frozen=True, slots=True)
class DocumentRedaction:
    """A document's finds, by which its passages, its title and its metadata are redacted."""

    redactor: Redactor
    redacted: Redacted
    """Its whole text."""
    memory: RedactionMemory

    def passage(self, document: str, text: str, start: int, end: int) -> "RedactedPassage":
        """Return a redacted passage: no half of a find is left where a border of passages cuts it in two.

        Args:
            document: the document's whole text.
            text: the passage: context that it repeats, and the document's text from `start` to `end`.
            start: start of its own text in the document, in characters.
            end: end of it.
        """
        own = document[start:end]
        known, context = [], text
        if own and text.endswith(own):
            context = text[: len(text) - len(own)]
            known = [
                replace(span, start=span.start + len(context), end=span.end + len(context))
                for span in clipped(self.redacted.finds, start, end)
            ]
        memory = self._memory()
        spans = self.redactor.spans(context)
        memory.remember(context, spans)
        redacted = replaced(text, [*known, *spans, *memory.repetitions(context)], memory)
        return RedactedPassage(redacted, self.redacted.place(start), self.redacted.end_place(end))

    def fields(self, document: str, passage: Passage) -> dict[str, Any]:
        """Return the redacted fields of a passage by their names; an anchor that is made of a redacted heading is none.

        Args:
            document: the document's whole text.
            passage: the passage as it is stored.
        """
        redacted = self.passage(document, passage.text, passage.start_char, passage.end_char)
        headings = [self.words(heading) for heading in passage.heading_path]
        return {
            "text": redacted.redacted.text,
            "heading_path": headings,
            "anchor": passage.anchor if headings == list(passage.heading_path) else None,
            "start_char": redacted.start_char,
            "end_char": redacted.end_char,
        }

    def words(self, text: str) -> str:
        """Return a redacted text of the document that is no passage, such as its title."""
        return self.redactor.redact(text, self._memory()).text

    def values(self, value: Any) -> Any:
        """Return plain JSON values with every text and number redacted; names of fields stay."""
        return self._values(value, "")

    def _values(self, value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            return {key: self._values(part, str(key)) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._values(part, name) for part in value)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return value
        # As in a text: `password: …` and `phone: …` say what stands behind them.
        text, before = str(value), f"{name}: " if name else ""
        shown = self.words(before + text)
        shown = shown[len(before) :] if shown.startswith(before) else self.words(text)
        return value if shown == text else shown

    def _memory(self) -> RedactionMemory:
        """Return a copy of the memory: what one passage adds numbers nothing in another one."""
        return self.memory.copy()


def redacted_facts(redactor: Redactor, title: str | None, metadata: Any) -> tuple[str | None, Any]:
    """Return a title and metadata, redacted by what they say themselves."""
    redaction = DocumentRedaction(redactor, Redacted("", ()), RedactionMemory())
    return title and redaction.words(title), redaction.values(metadata)


def redactor_of(settings: Mapping[str, Any]) -> Redactor:
    """Return the redactor of a collection's settings as the database holds them; the same one for the same settings.

    Raises:
        ConfigurationError: the file of patterns cannot be read, or one of its patterns is none.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    categories = tuple(settings.get("categories") or DEFAULT_CATEGORIES)
    regions = tuple(settings.get("region") or ())
    patterns = Path(settings["patterns"]) if settings.get("patterns") else None
    try:
        status = patterns.stat() if patterns is not None else None
    except OSError as error:
        raise ConfigurationError(f"{patterns}: the patterns of redaction cannot be read: {error}") from error
    state = None if status is None else (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    key = (categories, regions, patterns, state)
    with _lock:
        known = _redactors.get(key)
    if known is None:
        known = Redactor(categories, regions, patterns)
        with _lock:
            known = _redactors.setdefault(key, known)
            while len(_redactors) > _MOST_REDACTORS:
                _redactors.popitem(last=False)
    return known


def redact_document(redactor: Redactor, text: str) -> DocumentRedaction:
    """Return the redaction of a document by its whole text; that of the last documents is remembered."""
    key = (id(redactor), hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    with _lock:
        known = _documents.get(key)
        if known is not None and known.redactor is redactor:
            _documents.move_to_end(key)
            return known
    memory = RedactionMemory()
    found = DocumentRedaction(redactor, redactor.redact(text, memory), memory)
    with _lock:
        _documents[key] = found
        while len(_documents) > _MOST_DOCUMENTS:
            _documents.popitem(last=False)
    return found
