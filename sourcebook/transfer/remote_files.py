"""Files of an export at an fsspec URL.

A mark keeps two exports from one place, and tells what a killed one has left. The manifest is written last, and then
the mark is deleted: what has no manifest is no export.
"""

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from sourcebook.errors import TransferError
from sourcebook.files.remote_bytes import RemoteFolder
from sourcebook.files.store_errors import StoreError, store_calls
from sourcebook.transfer.export_files import ExportFiles
from sourcebook.transfer.manifest import CHECKSUMS, MANIFEST

MARK: Final = "UNFINISHED"
"""Name of the mark, which names the process that writes."""
_BLOCK: Final = 16 << 20
"""Bytes of a part of a large file, which are in memory."""
_FILES_AT_ONCE: Final = 64
_BYTES_AT_ONCE: Final = 8 << 20
"""Small files that are sent side by side, where the file system can, and their bytes."""
_DELETED_AT_ONCE: Final = 1_000
_PATH: Final = 66
"""Place of the path in a line of the list."""


@contextmanager
def remote_export(url: str) -> Iterator["RemoteFiles"]:
    """Lend the files of an export at a URL, which has nothing yet; after an error what was written is deleted.

    Raises:
        TransferError: the place has contents, or cannot be reached or written.
    """
    with tempfile.TemporaryDirectory(prefix="sourcebook-") as folder:
        try:
            files = RemoteFiles(RemoteFolder(url), Path(folder))
        except StoreError as error:
            raise TransferError(f"{error.strerror or error}; nothing was written") from error
        try:
            yield files
        except BaseException as error:
            left = "nothing is left of it" if files.remove() else f"what was written of it has no {MANIFEST}: delete it"
            if isinstance(error, StoreError):
                raise TransferError(f"the export was not written: {error.strerror or error}; {left}") from error
            raise
        finally:
            files.close()


class RemoteFiles(ExportFiles):
    """Files below a URL.

    Args:
        remote: the place.
        folder: local folder for the list of hashes.

    Raises:
        TransferError: the place has contents.
        OSError: it cannot be reached or written.
    """

    def __init__(self, remote: RemoteFolder, folder: Path) -> None:
        self._remote = remote
        self._waiting: dict[str, bytes] = {}
        self._waiting_bytes = 0
        self._mark = json.dumps(
            {
                "export": secrets.token_hex(16),
                "host": socket.gethostname(),
                "process": os.getpid(),
                "began": datetime.now(UTC).isoformat(),
            }
        ).encode()
        with self._errors():
            self._check_empty()
            self._set_mark()
        super().__init__(folder)

    def finish(self, manifest: bytes) -> None:
        """Write the list and the manifest, and delete the mark.

        Raises:
            TransferError: another export has begun to write to the same place.
            OSError: they cannot be written.
        """
        with self._errors():
            self._send()
            mark = self._remote.path(MARK)
            if self._remote.system.cat_file(mark) != self._mark:
                raise TransferError(f"another export has begun to write to {self._remote.url}: export to another place")
            self._remote.system.put_file(str(self.sums), self._remote.path(CHECKSUMS))
            self._remote.system.pipe_file(self._remote.path(MANIFEST), manifest)
            with suppress(Exception):  # the export is whole, and an import does not look at it
                self._remote.system.rm_file(mark)

    def remove(self) -> bool:
        """Delete what was written, after an error; return whether nothing is left."""
        self.close()
        system, path = self._remote.system, self._remote.path
        try:
            with self._errors(), self.sums.open(encoding="utf-8", newline="\n") as file:
                system.invalidate_cache()
                if system.cat_file(path(MARK)) != self._mark:
                    return False  # the files are another export's by now
                while lines := list(islice(file, _DELETED_AT_ONCE)):
                    self._delete_all([path(line.rstrip("\n")[_PATH:]) for line in lines])
                self._delete_all([path(name) for name in (*self.unfinished, MANIFEST, CHECKSUMS)])
                folders = [folder for folder, _, _ in system.walk(self._remote.root) if folder != self._remote.root]
                for folder in reversed(folders):  # of a file system that has folders
                    system.rmdir(folder)
                self._delete_all([path(MARK)])
        except OSError:
            return False
        return True

    def _errors(self) -> AbstractContextManager[None]:
        return store_calls(self._remote.url)

    def _put(self, path: str, content: bytes) -> None:
        self._waiting[self._remote.path(path)] = content
        self._waiting_bytes += len(content)
        if len(self._waiting) >= _FILES_AT_ONCE or self._waiting_bytes >= _BYTES_AT_ONCE:
            with self._errors():
                self._send()

    def _begin(self, path: str) -> BinaryIO:
        there = self._remote.path(path)
        file: BinaryIO = self._remote.written([there], lambda: self._remote.system.open(there, "wb", block_size=_BLOCK))
        return file

    def _delete(self, path: str) -> None:
        self._remote.system.rm_file(self._remote.path(path))

    def _send(self) -> None:
        if self._waiting:
            self._remote.written(self._waiting, lambda: self._remote.system.pipe(self._waiting))
            self._waiting = {}
            self._waiting_bytes = 0

    def _check_empty(self) -> None:
        try:
            found = self._remote.system.ls(self._remote.root, detail=False)
        except FileNotFoundError:
            return
        names = {str(path).rstrip("/").rpartition("/")[2] for path in found}
        if MARK in names and MANIFEST not in names:
            raise TransferError(
                f"{self._remote.url} holds an export that is being written, or was killed (see {MARK} there): name "
                "another place, or delete it"
            )
        if found:
            raise TransferError(f"{self._remote.url} is not empty: name another place, or delete what is there")

    def _set_mark(self) -> None:
        """Write the mark, and fail where there is one, as far as the file system can tell."""
        path, system = self._remote.path(MARK), self._remote.system
        try:
            self._remote.written([path], lambda: system.pipe_file(path, self._mark, mode="create"))
        except FileExistsError:
            raise TransferError(
                f"another export has begun to write to {self._remote.url}: export to another place"
            ) from None
        except (NotImplementedError, TypeError, ValueError, OSError) as error:
            if isinstance(error, OSError) and "NotImplemented" not in f"{error!r} {error.__cause__!r}":
                raise
            self._remote.written([path], lambda: system.pipe_file(path, self._mark))

    def _delete_all(self, paths: list[str]) -> None:
        system = self._remote.system
        try:
            system.rm(paths)
        except FileNotFoundError:
            for path in paths:
                with suppress(FileNotFoundError):
                    system.rm_file(path)
