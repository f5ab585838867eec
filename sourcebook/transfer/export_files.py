"""The files of an export, and the list of their hashes, which grows with each of them."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from sourcebook.transfer.manifest import CHECKSUMS, MANIFEST

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_MOST_KNOWN: Final = 10_000
"""Folders that were made and are remembered."""


class ExportFile(RawIOBase):
    """A file that is being written in parts, and hashed meanwhile."""

    def __init__(self, file: BinaryIO, errors: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__()
        self.size = 0
        self.is_kept = True
        """Whether it belongs to the export; else it is deleted at the end."""
        self._file = file
        self._errors = errors
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> bytes:
        """The hash of what was written so far."""
        return self._digest.digest()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Add bytes.

        Raises:
            OSError: they cannot be written.
        """
        self._digest.update(data)
        rest = memoryview(data)
        self.size += rest.nbytes
        written = rest.nbytes
        with self._errors():
            while rest:
                rest = rest[self._file.write(rest) :]
        return written


class ExportFiles(ABC):
    """The files of one export.

    Args:
        folder: local folder of the list of hashes while it is written.
    """

    def __init__(self, folder: Path) -> None:
        self.files = 0
        self.bytes = 0
        self.unfinished: set[str] = set()
        """Paths of files that are being written in parts."""
        self.sums = folder / CHECKSUMS
        self._lines = self.sums.open("w", encoding="utf-8", newline="\n")

    def put(self, path: str, content: bytes, sha256: bytes | None = None) -> None:
        """Write a small file.

        Args:
            path: its path within the export.
            content: its bytes.
            sha256: of the bytes, where it is known.

        Raises:
            OSError: it cannot be written.
        """
        self._list(path, sha256 or hashlib.sha256(content).digest(), len(content))
        self._put(path, content)

    @contextmanager
    def file(self, path: str) -> Iterator[ExportFile]:
        """Lend a file to be written in parts; it is closed at the end, and deleted where it is not kept.

        Raises:
            OSError: it cannot be written.
        """
        self.unfinished.add(path)
        with self._errors():
            raw = self._begin(path)
        written = ExportFile(raw, self._errors)
        try:
            yield written
        except BaseException:
            with suppress(Exception):  # the first error says more
                raw.close()
            raise
        with self._errors():
            raw.close()
            if not written.is_kept:
                self._delete(path)
        if written.is_kept:
            self._list(path, written.sha256, written.size)
        self.unfinished.discard(path)

    def finish_list(self) -> bytes:
        """Close the list of hashes and return its own."""
        self._lines.flush()
        os.fsync(self._lines.fileno())
        self._lines.close()
        with self.sums.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    @abstractmethod
    def finish(self, manifest: bytes) -> None:
        """Write the manifest, the last file of an export.

        Raises:
            OSError: it cannot be written.
        """

    def close(self) -> None:
        """Close the list."""
        self._lines.close()

    def _list(self, path: str, sha256: bytes, size: int) -> None:
        self._lines.write(f"{sha256.hex()}  {path}\n")
        self.files += 1
        self.bytes += size

    def _errors(self) -> AbstractContextManager[None]:
        return nullcontext()

    @abstractmethod
    def _put(self, path: str, content: bytes) -> None: ...

    @abstractmethod
    def _begin(self, path: str) -> BinaryIO: ...

    @abstractmethod
    def _delete(self, path: str) -> None: ...


class FolderFiles(ExportFiles):
    """Files in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = str(folder)
        self._made: set[str] = set()

    def finish(self, manifest: bytes) -> None:
        """Write the manifest."""
        descriptor = self._create(MANIFEST)
        with os.fdopen(descriptor, "wb") as file:
            file.write(manifest)
            file.flush()
            os.fsync(descriptor)

    def _put(self, path: str, content: bytes) -> None:
        descriptor = self._create(path)  # an object of a file would cost four more calls of the system
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)

    def _begin(self, path: str) -> BinaryIO:
        return os.fdopen(self._create(path), "wb")

    def _delete(self, path: str) -> None:
        Path(self._folder, path).unlink()

    def _create(self, path: str) -> int:
        parent = path.rpartition("/")[0]
        if parent not in self._made:
            Path(self._folder, parent).mkdir(parents=True, exist_ok=True)
            if len(self._made) >= _MOST_KNOWN:
                self._made.clear()
            self._made.add(parent)
        return os.open(f"{self._folder}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
