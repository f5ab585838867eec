"""Programs as sources of records: classes with `changes(cursor)`, readers of LlamaIndex and loaders of LangChain."""

import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from itertools import chain
from typing import Any, Final

from sourcebook.config.records import RecordSource
from sourcebook.errors import FailureClass, ListingError
from sourcebook.model.document import JsonValue
from sourcebook.records.environment import Secrets
from sourcebook.records.record import Checkpoint, Deleted, Row

GROUP: Final = "sourcebook.sources"
"""Group of the entry points that name sources."""


def changes_of(
    settings: RecordSource, cursor: JsonValue, failed: Iterable[str] = ()
) -> Iterator[Row | Deleted | Checkpoint]:
    """Yield what a program says has changed since a cursor.

    Args:
        settings: with `python`.
        cursor: that of its last checkpoint; None: since ever.
        failed: keys of records that had no document; a program with a method `read(key)` gives them once more.

    Raises:
        ListingError: it cannot be imported, or fails; the message has none of the secrets in its arguments.
    """
    program = settings.python
    if program is None:
        raise ValueError(settings.name)
    secrets = Secrets()
    arguments, load = secrets.filled(program.arguments), secrets.filled(program.load)
    try:
        source = named_object(program.use, program.folder)(**arguments)
        changes = chain(_read(source, failed), _changes(source, cursor, load))
        while (change := next(changes, None)) is not None:
            yield _checked(change)
    except ListingError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody's program
        said = " ".join(secrets.shown(str(error)).split())[:500]
        reason = f"{program.use} fails: {type(error).__name__}: {said}"
        missing = isinstance(error, ImportError)
        raise ListingError(reason, FailureClass.UNSUPPORTED if missing else FailureClass.UNREADABLE) from None


def _checked(change: Any) -> Row | Deleted | Checkpoint:
    if isinstance(change, Checkpoint):
        written = json.dumps(change.cursor, allow_nan=False, ensure_ascii=False).encode()
        if b"\\u0000" in written:
            raise ValueError("its cursor holds a NUL, which the ledger does not")
    if isinstance(change, Mapping | Deleted | Checkpoint):
        return change
    raise TypeError(f"it yields {type(change).__name__}; a record is a mapping from fields to values")


def named_object(use: str, folder: str | None) -> Any:
    """Return what `module:name` stands for, also of a module in a folder, or the entry point of a name."""
    module, colon, name = use.partition(":")
    if not colon:
        for found in entry_points(group=GROUP, name=use):
            return found.load()
        raise ImportError(f"no installed package has the entry point {use} in the group {GROUP}")
    if folder is not None and folder not in sys.path:
        sys.path.append(folder)  # behind what is installed, which it hides nothing of
    return getattr(importlib.import_module(module), name)


def _read(source: Any, keys: Iterable[str]) -> Iterator[Any]:
    if hasattr(source, "read"):
        for key in keys:
            yield source.read(key) or Deleted(key)


def _changes(source: Any, cursor: JsonValue, load: Mapping[str, Any]) -> Iterable[Any]:
    if hasattr(source, "changes"):
        return source.changes(cursor)  # type: ignore[no-any-return]
    if hasattr(source, "lazy_load"):
        return _every(source.lazy_load(), "page_content")
    if hasattr(source, "load_data"):
        lazy = getattr(source, "lazy_load_data", source.load_data)
        try:
            return _every(iter(lazy(**load)), "text")
        except NotImplementedError:
            return _every(source.load_data(**load), "text")
    raise TypeError("it has neither changes(cursor) nor lazy_load() nor load_data()")


def _every(documents: Iterable[Any], text: str) -> Iterator[Row | Checkpoint]:
    """Yield the documents of a framework, which lists all of them each time, as records of their metadata."""
    for document in documents:
        identity = getattr(document, "id_", None) or getattr(document, "id", None)
        yield {"id": identity, "text": getattr(document, text), **document.metadata}
    yield Checkpoint(complete=True)
