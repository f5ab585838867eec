"""A source of files as the database knows it, and how to reach it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


@dataclass(frozen=True, slots=True)
class Source:
    """One folder or fsspec URL of a collection."""

    id: int
    location: str
    """An absolute local path, or a URL such as `s3://bucket/folder`."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    max_bytes: int
    listing_error: str | None = None
    """Why its last listing was not complete."""

    @property
    def is_local(self) -> bool:
        """Whether it lies in this machine's own file tree."""
        return "://" not in self.location

    def file_system(self) -> "tuple[AbstractFileSystem, str]":
        """Return the fsspec file system of a URL, and the path of the source within it."""
        import fsspec.core

        return fsspec.core.url_to_fs(self.location)  # type: ignore[no-any-return]
