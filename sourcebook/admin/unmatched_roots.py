"""Folders of the configuration that an ingest would find missing, or without any file that their patterns match."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from sourcebook.config.collection import FilesSource
from sourcebook.config.loading import Configuration
from sourcebook.files.source import EVERY_FILE, PathFilter

_MOST_FILES = 20_000
"""Files that are looked at; a larger folder is left to the ingest."""
_MOST_ENDINGS = 3


def root_warnings(configuration: Configuration, names: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each folder that is missing or without a matching file.

    Args:
        configuration: a valid configuration.
        names: collections to look at; every one where empty.
    """
    return [
        f"{name}: {problem}"
        for name, settings in configuration.collections.items()
        if not names or name in names
        for source in settings.files
        if (problem := root_problem(source))
    ]


def root_problem(source: FilesSource) -> str | None:
    """Return the reason why a local folder gives no file; None where it gives one, or is too large to look through."""
    if not source.is_local:
        return None
    root = source.location
    if not Path(root).exists():
        return f"the folder {root} does not exist or is not mounted"
    if Path(root).is_file():
        return None
    wanted = PathFilter(source.include, source.exclude)
    paths = list(islice(_until_taken(root, wanted), _MOST_FILES))
    if not paths and _is_readable(root):
        return f"no file in {root}: the folder is empty"
    if not paths or len(paths) == _MOST_FILES or wanted.takes(paths[-1]):
        return None
    patterns = ", ".join(source.include)
    patterns += f" and none of {', '.join(source.exclude)}" if source.exclude else ""
    visible = [path for path in paths if PathFilter([EVERY_FILE], ()).takes(path)]
    return f"no file in {root} matches {patterns}; without the patterns there {_counted(visible)}"


def _until_taken(root: str, wanted: PathFilter) -> Iterator[str]:
    """Yield the files of a folder, relative to it, up to the first one that is taken."""
    for folder, folders, names in os.walk(root):
        base = os.path.relpath(folder, root)
        for name in names:
            path = name if base == "." else f"{base}/{name}"
            yield path
            if wanted.takes(path):
                return
        folders[:] = [name for name in folders if not name.startswith(".")]


def _is_readable(root: str) -> bool:
    return os.access(root, os.R_OK | os.X_OK)


def _counted(paths: Sequence[str]) -> str:
    """Return the number of files with their commonest endings: `are 5 files (3 .md, 1 .docx, 1 .pptx)`."""
    endings = Counter(Path(path).suffix.lower() or "without an ending" for path in paths)
    if not endings:
        return "is none either"
    shown = ", ".join(f"{number:,} {ending}" for ending, number in endings.most_common(_MOST_ENDINGS))
    more = ", …" if len(endings) > _MOST_ENDINGS else ""
    return (
        f"{'is' if len(paths) == 1 else 'are'} {len(paths):,} {'file' if len(paths) == 1 else 'files'} ({shown}{more})"
    )
