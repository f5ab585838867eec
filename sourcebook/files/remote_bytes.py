"""Files at an fsspec URL; those of uploads are written under a temporary name and moved once they are whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BufferedReader
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from sourcebook.files.store_errors import store_calls

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


_BLOCK: Final = 16 << 20
"""Bytes of a part of a written file, which are in memory: 10,000 parts, the most of S3, are 160 GB."""
_READ_AHEAD: Final = 4 << 20


class RemoteBytes:
    """The files below a URL.

    Args:
        url: an fsspec URL without a slash at its end.

    Raises:
        OSError: no file system is known for it, or its package is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._folder = RemoteFolder(url)
        self._system = self._folder.system

    def begin(self, folder: str, name: str) -> tuple[str, BinaryIO]:
        """Return the path of a new file, and the file opened for writing.

        Raises:
            OSError: the store cannot be written.
        """
        path = self._folder.path(f"{folder}/{name}")
        with store_calls(self._url):
            return path, self._folder.written([path], lambda: self._system.open(path, "wb", block_size=_BLOCK))

    def publish(self, incoming: str, place: str, sha256: bytes, size: int) -> None:
        """Move a whole file to its place. Equal bytes there stay as they are, and damaged ones are replaced.

        Args:
            incoming: path of the file.
            place: its path within the store.
            sha256: of its bytes.
            size: number of its bytes.

        Raises:
            OSError: the store cannot be written.
        """
        there = self._folder.path(place)
        with store_calls(self._url):
            if self._has(there, sha256, size):
                self._system.rm_file(incoming)
                return
            if self._system.exists(there):
                self._system.rm_file(there)  # damaged; not every file system moves over a file
            try:
                self._folder.written([there], lambda: self._system.mv(incoming, there))
            except Exception:
                if not self._has(there, sha256, size):  # else somebody has stored the same bytes in between
                    raise
                self._system.rm_file(incoming)

    def discard(self, path: str) -> None:
        """Delete a file where it is there.

        Raises:
            OSError: it cannot be deleted.
        """
        with store_calls(self._url):
            if self._system.exists(path):
                self._system.rm_file(path)

    def open(self, place: str) -> BufferedReader:
        """Open a file for reading.

        Raises:
            OSError: it is not there, or the store is out of reach.
        """
        with store_calls(self._url):
            opened: BufferedReader = self._system.open(self._folder.path(place), "rb", block_size=_READ_AHEAD)
            return opened

    def remove(self, place: str) -> None:
        """Delete a file; one that is not there is deleted already.

        Raises:
            OSError: it cannot be deleted.
        """
        self.discard(self._folder.path(place))

    def changes(self, folder: str) -> Iterator[tuple[str, float]]:
        """Yield the paths of the files of a folder with the times of their last changes, in seconds since 1970.

        Raises:
            OSError: the store is out of reach.
        """
        with store_calls(self._url):
            for path in self._system.find(self._folder.path(folder)):
                with suppress(FileNotFoundError):  # it has become whole
                    yield path, self._system.modified(path).timestamp()

    def _has(self, path: str, sha256: bytes, size: int) -> bool:
        """Whether there is a file of these bytes."""
        try:
            if self._system.size(path) != size:
                return False
            with self._system.open(path, "rb", block_size=_READ_AHEAD) as file:
                return hashlib.file_digest(file, "sha256").digest() == sha256
        except FileNotFoundError:
            return False


_T = TypeVar("_T")


class RemoteFolder:
    """A folder that is written.

    Args:
        url: an fsspec URL without a slash at its end.

    Raises:
        OSError: no file system is known for it, or its package is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.system: AbstractFileSystem
        with store_calls(url):
            import fsspec.core

            self.system, self.root = fsspec.core.url_to_fs(url)
            self.system.invalidate_cache()  # other processes write there, too

    def path(self, name: str) -> str:
        """Return the path of a file within the file system."""
        return f"{self.root}/{name}"

    def written(self, paths: Iterable[str], write: Callable[[], _T]) -> _T:
        """Write files, and make their folders where that fails for want of them.

        Stores of objects never want any, and some would make a bucket of a mistyped name.

        Args:
            paths: the files, as `path` returns them.
            write: writes them; called again after the folders were made.

        Raises:
            FileNotFoundError: what the folder itself would be in is not there.
        """
        try:
            return write()
        except FileNotFoundError:
            above = self.root.rpartition("/")[0] or ("/" if self.root.startswith("/") else self.root)
            if not self.system.exists(above):
                raise
            for folder in dict.fromkeys(path.rpartition("/")[0] for path in paths):
                self.system.makedirs(folder, exist_ok=True)
            return write()
