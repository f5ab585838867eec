"""The store of uploaded bytes: one file for each content, named by its SHA-256, in a folder or at an fsspec URL.

Bytes are written under a temporary name and get their place when they are whole. Equal content has one place.
"""

import errno
import hashlib
import logging
import os
import stat
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

from sourcebook.config.paths import configuration_path, make_private_folder, sourcebook_home
from sourcebook.config.store_urls import has_password, shown_store
from sourcebook.errors import UploadError, UploadSpaceError
from sourcebook.files.incoming_folders import own_folder, remove_unheld
from sourcebook.files.remote_bytes import RemoteBytes
from sourcebook.files.store_errors import store_error
from sourcebook.model.closing import Closing

VARIABLE: Final = "SOURCEBOOK_UPLOADS"
_FOLDER: Final = "uploads"
_INCOMING: Final = "incoming"
"""Folder of the bytes that are not whole yet."""
_ABANDONED_SECONDS: Final = 86_400.0
"""Age of incoming bytes after which nobody writes them any more."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_log = logging.getLogger(__name__)


def store_location(home: Path) -> str:
    """Return where uploads are stored: SOURCEBOOK_UPLOADS, or else `uploads/` in the state folder."""
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return str(home.absolute() / _FOLDER)
    if "://" in named and not named.startswith("file://"):
        return named
    return str(Path(named.removeprefix("file://")).expanduser().absolute())


def open_store(home: Path) -> "UploadStore":
    """Return the store for new uploads.

    Args:
        home: the state folder.

    Raises:
        UploadError: it has a password in its URL, or the package of its file system is not installed.
    """
    location = store_location(home)
    if has_password(location):
        raise UploadError(
            f"{VARIABLE} has a password in its URL {shown_store(location)}, which the database would contain in clear: "
            "leave it to the environment, as the package of the file system reads it"
        )
    with _upload_errors(location):
        return UploadStore(location)


def open_upload(sha256: bytes, stored: str) -> BufferedReader:
    """Open uploaded bytes for reading.

    Args:
        sha256: of the bytes.
        stored: the location of their store when they were written; the present one is asked first.

    Raises:
        OSError: no store has them, or the store is out of reach.
    """
    missing: OSError | None = None
    for location in _locations(stored):
        try:
            return UploadStore(location).open(sha256)
        except FileNotFoundError as error:
            missing = missing or error
    raise FileNotFoundError(
        errno.ENOENT,
        "its bytes are not in the store of uploads: machines that share a database share a store, too, which "
        f"{VARIABLE} names",
    ) from missing


def upload_path(sha256: bytes, stored: str) -> Path | None:
    """Return the local path of uploaded bytes; None where they are at a URL, or nowhere."""
    for location in _locations(stored):
        path = Path(location, _place(sha256))
        if "://" not in location and path.is_file():
            return path
    return None


def remove_upload_bytes(sha256: bytes, stored: str) -> None:
    """Delete bytes from the store that they were written to.

    Raises:
        OSError: they are there and cannot be deleted.
    """
    for location in dict.fromkeys([stored, *_locations(stored)[:1]]):
        UploadStore(location).remove(sha256)


def _locations(stored: str) -> Sequence[str]:
    """Return the stores to look in: the named one, that of the time of writing, that of the present state folder."""
    home = sourcebook_home(configuration_path())
    return list(dict.fromkeys([store_location(home), stored, str(home.absolute() / _FOLDER)]))


class UploadStore:
    """One store.

    Args:
        location: an absolute folder or an fsspec URL.
    """

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/") if "://" in location else location
        self._remote = RemoteBytes(self.location) if "://" in location else None

    def begin(self) -> "IncomingBytes":
        """Return the writer of new bytes.

        Raises:
            UploadError: the store cannot be written.
        """
        name = uuid.uuid4().hex
        with _upload_errors(self.location):
            if self._remote is None:
                parent = Path(self.location, _INCOMING)
                self._make_folder(parent)
                path = own_folder(parent, self._mode()) / name
                mode = self._mode() & 0o666
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
                return IncomingBytes(self, str(path), os.fdopen(descriptor, "wb", buffering=0))
            return IncomingBytes(self, *self._remote.begin(_INCOMING, name))

    def publish(self, incoming: str, sha256: bytes, size: int) -> None:
        """Give whole bytes their place; bytes that have it already are replaced by the same ones.

        Raises:
            UploadError: the store cannot be written.
        """
        with _upload_errors(self.location):
            if self._remote is not None:
                self._remote.publish(incoming, _place(sha256), sha256, size)
                return
            path = Path(self.location, _place(sha256))
            self._make_folder(path.parent)
            Path(incoming).replace(path)
            for folder in (path.parent, path.parent.parent, Path(self.location)):
                _sync_folder(folder)

    def _make_folder(self, folder: Path) -> None:
        """Create a folder of a local store, with the mode of the store; a new store is private."""
        if not Path(self.location).is_dir():
            make_private_folder(Path(self.location))
        folder.parent.mkdir(mode=self._mode(), exist_ok=True)
        folder.mkdir(mode=self._mode(), exist_ok=True)

    def _mode(self) -> int:
        return stat.S_IMODE(Path(self.location).stat().st_mode)

    def discard(self, incoming: str) -> None:
        """Delete bytes that are not to be kept; errors are logged."""
        try:
            if self._remote is None:
                Path(incoming).unlink(missing_ok=True)
            else:
                self._remote.discard(incoming)
        except OSError as error:
            _log.warning("an unfinished upload cannot be deleted: %s", error)

    def open(self, sha256: bytes) -> BufferedReader:
        """Open bytes for reading.

        Raises:
            OSError: they are not there, or the store is out of reach.
        """
        if self._remote is None:
            return Path(self.location, _place(sha256)).open("rb")
        return self._remote.open(_place(sha256))

    def remove(self, sha256: bytes) -> None:
        """Delete bytes; those that are not there are deleted already.

        Raises:
            OSError: they cannot be deleted.
        """
        if self._remote is None:
            Path(self.location, _place(sha256)).unlink(missing_ok=True)
        else:
            self._remote.remove(_place(sha256))

    def remove_unheld(self) -> int:
        """Delete what processes have left that ended before their bytes were whole; return the number of files.

        At a URL, where there are no locks, only the age of a file tells; see `remove_abandoned`.

        Raises:
            OSError: it cannot be deleted.
        """
        return remove_unheld(Path(self.location, _INCOMING)) if self._remote is None else 0

    def remove_abandoned(self, age: float = _ABANDONED_SECONDS) -> int:
        """Delete what writers have left that ended before their bytes were whole; return the number of files.

        Args:
            age: seconds since the last change of a file whose process may still write it.

        Raises:
            OSError: they cannot be listed.
        """
        before = time.time() - age
        removed = self.remove_unheld()
        for path, changed_at in list(self._incoming()):
            if changed_at < before:
                self.discard(path)
                removed += 1
        return removed

    def _incoming(self) -> Iterator[tuple[str, float]]:
        """Yield the paths of incoming bytes with the times of their last changes; nothing where there is no store."""
        if self._remote is not None:
            yield from self._remote.changes(_INCOMING)
            return
        folder = Path(self.location, _INCOMING)
        for path in folder.rglob("*") if folder.is_dir() else ():
            with suppress(FileNotFoundError):  # it has become whole
                if path.is_file():
                    yield str(path), path.stat().st_mtime


class IncomingBytes(Closing):
    """Bytes that are being written to a store. Leaving the block deletes them unless they got their place."""

    def __init__(self, store: UploadStore, path: str, file: BinaryIO) -> None:
        self.store = store
        self.size = 0
        """Bytes written so far."""
        self._path = path
        self._file = file
        self._digest = hashlib.sha256()
        self._is_open = True
        self._is_kept = False

    @property
    def sha256(self) -> bytes:
        """The hash of the bytes written so far."""
        return self._digest.digest()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes.

        Raises:
            UploadSpaceError: there is no space for them.
            UploadError: the store cannot be written.
        """
        rest = memoryview(data)
        with _upload_errors(self.store.location):
            while rest:
                rest = rest[self._file.write(rest) :]
        self._digest.update(data)
        self.size += len(data)

    def finish(self) -> None:
        """Write everything to the disk; the bytes are whole.

        Raises:
            UploadSpaceError: there is no space for them.
            UploadError: the store cannot be written.
        """
        if self._is_open:
            with _upload_errors(self.store.location):
                if "://" not in self.store.location:
                    os.fsync(self._file.fileno())
                self._file.close()
            self._is_open = False

    def publish(self) -> None:
        """Give the bytes their place.

        Raises:
            UploadError: the store cannot be written.
        """
        self.finish()
        self.store.publish(self._path, self.sha256, self.size)
        self._is_kept = True

    def close(self) -> None:
        """Delete the bytes unless they got their place."""
        if self._is_kept:
            return
        if self._is_open:
            self._is_open = False
            with suppress(Exception):  # what cannot be closed is deleted all the same
                self._file.close()
        self.store.discard(self._path)


def _place(sha256: bytes) -> str:
    text = sha256.hex()
    return f"{text[:2]}/{text[2:4]}/{text}"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _upload_errors(location: str) -> Iterator[None]:
    """Raise the errors of writing to a store as sentences."""
    try:
        yield
    except (UploadError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise UploadSpaceError(
                "there is no space for the upload: free some, or set SOURCEBOOK_UPLOADS to another disk"
            ) from error
        found = store_error(error, location) if "://" in location else error
        reason = getattr(found, "strerror", None) or found
        raise UploadError(f"the upload cannot be stored: {reason}; see SOURCEBOOK_UPLOADS") from error
