"""Edits of a `sourcebook.yaml` that keep its comments, order and style."""

import os
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from sourcebook.config.loading import load_configuration
from sourcebook.config.sites import SiteSource
from sourcebook.errors import ConfigurationError


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
    from ruamel.yaml.comments import CommentedMap

    before = ""
    if path.exists():
        load_configuration(path)
        before = path.read_text(encoding="utf-8-sig")
    editor, file = _read(before)
    collections = file.setdefault("collections", CommentedMap())
    sites = collections.setdefault(collection, CommentedMap()).setdefault("sites", [])
    known = next((site for site in sites if _location(site.get("url", "")) == _location(url)), None)
    if known is None:
        known = CommentedMap(url=url)
        sites.append(known)
    known.update(settings)
    written = StringIO()
    editor.dump(file, written)
    if written.getvalue() == before:
        return False
    _replace(path, written.getvalue())
    return True


def _read(text: str) -> tuple[Any, Any]:
    """Return an editor with the indentation of the text, and the content of the text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.util import load_yaml_guess_indent

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 4096
    _, mapping, offset = load_yaml_guess_indent(text) if text else (None, 4, 2)
    editor.indent(mapping=2, sequence=mapping or 4, offset=offset if offset is not None else 2)
    return editor, (editor.load(text) if text else None) or CommentedMap()


def _location(url: str) -> str:
    try:
        return SiteSource(url=url).location
    except ValueError:
        return url


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
