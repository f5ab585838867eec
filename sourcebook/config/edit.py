"""Edits of a `sourcebook.yaml` that keep its comments, order and style."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from sourcebook.config.collection import CollectionSettings
from sourcebook.config.loading import load_configuration
from sourcebook.config.sites import SiteSource, site_location
from sourcebook.errors import ConfigurationError

_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.MULTILINE)
_DEEPEST = 8
"""Spaces of the indentation of a list."""


@dataclass(frozen=True, slots=True)
class NewSource:
    """A source to add to a collection."""

    collection: str
    kind: Literal["files", "sites", "repositories"]
    written: str
    """Root or URL as the file has it."""
    location: str
    """Absolute path or URL, which identifies the source."""
    exclude: tuple[str, ...] = ()
    """Patterns of what the source leaves out."""


def add_site(path: Path, collection: str, url: str, settings: Mapping[str, Any]) -> bool:
    """Add a web site to a collection or change its settings; create the file and the collection where they are missing.

    The file is replaced atomically, and only by a valid one.

    Args:
        path: the configuration file.
        collection: the name of the collection.
        url: the URL of the site.
        settings: new values by the names of the file; the other settings stay.

    Returns:
        Whether anything changed.

    Raises:
        ConfigurationError: the file is invalid, or would become invalid.
    """
    before, after = _edited(path, collection, url, settings)
    if before == after:
        return False
    _replace(path, after)
    return True


def add_sources(path: Path, sources: Iterable[NewSource]) -> None:
    """Add sources that the file does not have yet; create the file and the collections where they are missing.

    The file is replaced atomically, and only by a valid one.

    Raises:
        ConfigurationError: the file is invalid, or would become invalid.
    """
    editor, file, before = _opened(path)
    for source in sources:
        key = "root" if source.kind == "files" else "url"
        entry = _mapping(**{key: source.written})
        if source.exclude:
            entry["exclude"] = list(source.exclude)
        _sources(file, source.collection, source.kind).append(entry)
    _replace(path, _dumped(editor, file, before))


def write_new(path: Path, text: str) -> None:
    """Write a configuration where none is yet.

    Raises:
        ConfigurationError: the text is no valid configuration, or the file exists.
    """
    if path.exists():
        raise ConfigurationError(f"{path} exists already")
    _replace(path, text)


def with_site(
    path: Path, collection: str | None, url: str, settings: Mapping[str, Any]
) -> tuple[CollectionSettings, SiteSource]:
    """Return a site and its collection as `add_site` would leave them, without writing the file.

    Args:
        path: the configuration file, which may be missing.
        collection: the name of the collection; None for the first one that has the site, or an unnamed one.
        url: the URL of the site.
        settings: new values by the names of the file; the other settings stay.

    Raises:
        ConfigurationError: the file is invalid, or would become invalid.
    """
    if collection is None:
        known = load_configuration(path).collections if path.exists() else {}
        collection = next((name for name, each in known.items() if _has(each.sites, url)), "unnamed")
    _, after = _edited(path, collection, url, settings)
    with TemporaryDirectory(prefix="sourcebook-") as folder:
        draft = Path(folder) / path.name
        draft.write_text(after, encoding="utf-8")
        try:
            found = load_configuration(draft, folder=path.parent).collections[collection]
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(draft), str(path))) from None
    return found, next(site for site in found.sites if site.location == site_location(url))


def _has(sites: Iterable[SiteSource], url: str) -> bool:
    return any(site.location == site_location(url) for site in sites)


def _edited(path: Path, collection: str, url: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text of a configuration before and after a site is added or changed."""
    editor, file, before = _opened(path)
    sites = _sources(file, collection, "sites")
    known = next((site for site in sites if site_location(site.get("url", "")) == site_location(url)), None)
    if known is None:
        known = _mapping(url=url)
        sites.append(known)
    for name, value in settings.items():
        if isinstance(value, Mapping):  # a group keeps its other settings
            known.setdefault(name, _mapping()).update(value)
        else:
            known[name] = value
    return before, _dumped(editor, file, before)


def _opened(path: Path) -> tuple[Any, Any, str]:
    """Return an editor, the content of a valid or missing file, and its text.

    Raises:
        ConfigurationError: the file is invalid.
    """
    before = ""
    if path.exists():
        load_configuration(path)
        before = path.read_text(encoding="utf-8-sig")
    return *_read(before), before


def _sources(file: Any, collection: str, kind: str) -> Any:
    """Return the list of sources of a collection, made where it is missing."""
    from ruamel.yaml.comments import CommentedSeq

    collections = file.setdefault("collections", _mapping())
    settings = collections.setdefault(collection, _mapping())
    sources = settings.setdefault(kind, CommentedSeq())
    for part in (file, collections, settings, sources, *sources):
        if part.fa.flow_style():  # what is added to [{…}] would lose its braces
            part.ca.comment, part.ca.end = None, []
            part.ca.items.clear()
        part.fa.set_block_style()
    return sources


def _with_comments(text: str, before: str) -> str:
    """Return the text of a file with the comments that it has lost at its beginning: those within [ ] and { }."""
    lost = [comment for comment in _COMMENT.findall(before) if comment.strip() not in text]
    return "".join(f"{comment.strip()}\n" for comment in lost) + text


def _mapping(**items: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap

    return CommentedMap(**items)


def _dumped(editor: Any, file: Any, before: str) -> str:
    written = StringIO()
    editor.dump(file, written)
    return _with_comments(written.getvalue(), before)


def _read(text: str) -> tuple[Any, Any]:
    """Return an editor with the indentation of the text, and the content of the text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.util import load_yaml_guess_indent

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 4096
    _, sequence, offset = load_yaml_guess_indent(text) if text else (None, None, None)
    if sequence is None or offset is None or not offset + 2 <= sequence <= _DEEPEST:  # it has no list of lines
        sequence, offset = 4, 2
    editor.indent(mapping=2, sequence=sequence, offset=offset)
    return editor, (editor.load(text) if text else None) or _mapping()


def _replace(path: Path, text: str) -> None:
    """Replace the file by a text that is a valid configuration."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        load_configuration(draft)
        draft.replace(path.resolve() if path.is_symlink() else path)
    except ConfigurationError as error:
        raise ConfigurationError(str(error).replace(str(draft), str(path))) from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
