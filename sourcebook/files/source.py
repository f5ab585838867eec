"""A folder as a source, with its patterns and the access to its files."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourcebook.errors import FailureClass
from sourcebook.git.tree import Tree
from sourcebook.model.media_types import is_recording, media_type_of_name

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


@dataclass(frozen=True, slots=True)
class FetchedRepository:
    """Result of the last look at a Git repository."""

    tree: Tree | None
    """The folder of the commit that is read; None where the mirror never had one."""
    error: str | None = None
    """Reason why the last look failed; None where it succeeded."""
    failure_class: FailureClass | None = None


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """Result of the last look at a source of records."""

    failures: Mapping[str, tuple[str, FailureClass]]
    """Reasons why records have no document, by their URIs."""
    error: str | None = None
    """Reason why the last look failed; None where it succeeded."""
    failure_class: FailureClass | None = None


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """The present version of an upload."""

    name: str
    sha256: bytes
    size: int
    tags: tuple[str, ...]
    store: str
    """Location of the store that has its bytes."""


@dataclass(frozen=True, slots=True)
class Source:
    """One folder or fsspec URL of a collection, or its uploads."""

    id: int
    location: str
    """An absolute local path, or a URL such as `s3://bucket/folder` or `git+https://example.com/handbook.git/docs`; of
    uploads such as `upload://5c1e09a7b2`."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    max_bytes: int
    max_recording_bytes: int = sys.maxsize
    """Maximum bytes of an audio or video file, which is never in memory as a whole."""
    listing_error: str | None = None
    """Reason why the last listing was incomplete; None where it was complete."""
    follow_links: bool = False
    """Whether symbolic links that lead out of the root are followed."""
    repository: FetchedRepository | None = None
    """Mirror of a Git repository; None for a folder or a store."""
    records: FetchedRecords | None = None
    """The last look at records; None for every other source."""
    is_fixed: bool = False
    """Whether the root has to stay where it was allowed: a folder of the API may not become a link to another one."""
    has_permissions: bool = False
    """Whether owner, group, mode and ACL of each file say who sees its document."""
    grantees: Mapping[str, Sequence[str]] | None = None
    """Principals by grantee, where the ACLs of objects say who sees their documents; None otherwise."""
    wants_acls: bool = False
    """Whether the ACL of each object is asked for, and not only of those in folders that differ."""
    uploads: Mapping[str, UploadedFile] | None = None
    """Present uploads by their URIs; None for every other source."""

    @property
    def least_most_bytes(self) -> int:
        """Maximum bytes of a file of any type."""
        return min(self.max_bytes, self.max_recording_bytes)

    def most_bytes(self, name: str) -> int:
        """Return the maximum bytes of a file with a name."""
        media_type = media_type_of_name(name)
        return self.max_recording_bytes if media_type is not None and is_recording(media_type) else self.max_bytes

    @property
    def is_local(self) -> bool:
        """Whether the source is a folder of this machine."""
        return "://" not in self.location

    def file_system(self) -> tuple[AbstractFileSystem, str]:
        """Return the fsspec file system of a URL, and the path of the source within it."""
        import fsspec.core

        return fsspec.core.url_to_fs(self.location)  # type: ignore[no-any-return]


EVERY_FILE = "**/*"
"""The default pattern, which needs no regular expression."""


class PathFilter:
    """The include and exclude patterns of a source, applied to paths relative to its root with `/` between the parts.

    `*` stays within one part, `**` crosses parts, `{a,b}` is either. A name that begins with a dot is included only
    where a pattern spells the dot, which leaves out `.git`. A pattern that names a folder excludes its whole content.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._wanted = _is_visible if list(include) == [EVERY_FILE] else _compiled(include)
        self._unwanted = _compiled([*exclude, *(f"{pattern.rstrip('/')}/**" for pattern in exclude)], takes_hidden=True)
        self._visits_hidden = any(re.search(r"(^|[/{,])\.[^./]", pattern) for pattern in include)

    def takes(self, path: str) -> bool:
        """Return whether the source includes a file."""
        return self._wanted(path) and not self._unwanted(path)

    def enters(self, path: str, name: str) -> bool:
        """Return whether the source may include files below a folder."""
        return (self._visits_hidden or not name.startswith(".")) and not self._unwanted(path)


def _is_visible(path: str) -> bool:
    return not path.startswith(".") and "/." not in path


def _compiled(patterns: Sequence[str], *, takes_hidden: bool = False) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    from wcmatch import glob  # compiles dozens of expressions, which a source without patterns does not need

    flags = glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX | (glob.DOTGLOB if takes_hidden else 0)
    return glob.compile(list(patterns), flags=flags).match
