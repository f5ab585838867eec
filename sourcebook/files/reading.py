"""Reading of one file, with the modification mark of the bytes that were read."""

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from sourcebook.files.confinement import open_confined
from sourcebook.files.source import Source, UploadedFile
from sourcebook.files.store_errors import StoreError, store_calls, store_error
from sourcebook.files.upload_store import open_upload
from sourcebook.model.media_types import goes_by_whole_name
from sourcebook.model.upload_names import SCHEME

_HEAD = 4096
_BETWEEN_WORDS = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
_READ_WHOLE = 64_000_000
"""Bytes up to which a remote file is fetched in one request."""
_OWN = (OSError.__module__, StoreError.__module__)
"""Modules of errors that say enough as they are."""


@dataclass(frozen=True, slots=True)
class FileDigest:
    """The hash and the first bytes of a file."""

    sha256: bytes
    head: bytes
    """The first 4,096 bytes, or fewer."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file and its modification mark when they were read."""

    content: bytes
    modified: str
    """Modification mark as in `FileEntry.modified`; empty where the store gives none."""


def read_file(source: Source, uri: str) -> FileContent:
    """Read the file of a URI.

    Raises:
        OSError: the file cannot be read, or is outside the root of its source.
    """
    if source.is_local:
        with open_confined(source, local_path(uri)) as file:
            return FileContent(file.read(), str(os.fstat(file.fileno()).st_mtime_ns))
    if source.repository is not None:
        return FileContent(_read_blob(source, uri), "")
    if source.uploads is not None:
        with store_errors(source), open_file(source, uri) as upload:
            return FileContent(_checked(source, uri, upload.read()), "")
    with store_errors(source):
        system, _ = source.file_system()
        return FileContent(bytes(system.cat_file(uri)), "")


def digest_file(source: Source, uri: str, size: int) -> FileDigest:
    """Hash the file of a URI in constant memory.

    Args:
        source: the source of the file.
        uri: the URI of the file.
        size: the approximate size in bytes.

    Raises:
        OSError: the file cannot be read, or is outside the root of its source.
    """
    if source.is_local:
        with open_confined(source, local_path(uri)) as file:
            digest = hashlib.file_digest(file, "sha256").digest()
            file.seek(0)
            return FileDigest(digest, file.read(_HEAD))
    if source.repository is not None:
        content = _read_blob(source, uri)
        return FileDigest(hashlib.sha256(content).digest(), content[:_HEAD])
    if source.uploads is not None:
        stored = _upload(source, uri)
        with store_errors(source), open_upload(stored.sha256, stored.store) as upload:
            head = upload.read(_HEAD)
            upload.seek(0)
            digest = hashlib.file_digest(upload, "sha256").digest()
        return FileDigest(_undamaged(source, uri, digest), head)
    with store_errors(source):
        system, _ = source.file_system()
        if size <= _READ_WHOLE:
            content = system.cat_file(uri)
            return FileDigest(hashlib.sha256(content).digest(), bytes(content[:_HEAD]))
        with system.open(uri, "rb") as remote:
            head = remote.read(_HEAD)
            remote.seek(0)
            return FileDigest(hashlib.file_digest(remote, "sha256").digest(), head)


def has_hash(source: Source, uri: str, size: int, sha256: bytes | None) -> bool:
    """Return whether the file of a URI still has a hash; not where it cannot be read."""
    try:
        return digest_file(source, uri, size).sha256 == sha256
    except OSError:
        return False


def open_file(source: Source, uri: str) -> BinaryIO:
    """Open the file of a URI for reading.

    Raises:
        OSError: the file cannot be opened, or is outside the root of its source.
    """
    if source.is_local:
        return open_confined(source, local_path(uri))
    if source.records is not None:
        raise OSError("it is a record, of which its source has the original")
    if source.repository is not None:
        return BytesIO(_read_blob(source, uri))
    if source.uploads is not None:
        stored = _upload(source, uri)
        return open_upload(stored.sha256, stored.store)
    with store_errors(source):
        opened: BinaryIO = source.file_system()[0].open(uri, "rb")
        return opened


@contextmanager
def store_errors(source: Source) -> Iterator[None]:
    """Raise every error of a remote source as an OSError: its file system has errors of its own, or lacks a package."""
    if source.is_local:
        yield
    elif source.repository is None and source.uploads is None:
        with store_calls(source.location):
            yield
    else:
        try:
            yield
        except Exception as error:
            if isinstance(error, OSError) and type(error).__module__ in _OWN:
                raise
            raise store_error(
                error, "the store of uploads" if source.repository is None else source.location
            ) from error


def _read_blob(source: Source, uri: str) -> bytes:
    tree = source.repository.tree if source.repository is not None else None
    if tree is None:
        raise OSError("its repository has not been fetched")
    return tree.read(os.fsdecode(unquote_to_bytes(uri.removeprefix(f"{source.location}/"))))


def _upload(source: Source, uri: str) -> UploadedFile:
    file = source.uploads.get(uri) if source.uploads is not None else None
    if file is None:
        raise FileNotFoundError(errno.ENOENT, "it is no upload any more")
    return file


def _checked(source: Source, uri: str, content: bytes) -> bytes:
    _undamaged(source, uri, hashlib.sha256(content).digest())
    return content


def _undamaged(source: Source, uri: str, digest: bytes) -> bytes:
    if digest != _upload(source, uri).sha256:
        raise OSError(errno.EIO, "its bytes in the store of uploads are damaged: upload it again")
    return digest


def local_path(uri: str) -> str:
    """Return the local path of a `file://` URI."""
    return os.fsdecode(unquote_to_bytes(uri.removeprefix("file://")))


def file_name(uri: str) -> str:
    """Return the last part of a URI's path, percent-decoded."""
    scheme = next((scheme for scheme in ("file://", SCHEME) if uri.startswith(scheme)), None)
    path = unquote(uri.removeprefix(scheme), errors="replace") if scheme is not None else urlsplit(uri).path
    return PurePosixPath(path).name or uri


def name_as_title(uri: str) -> str:
    """Return the title of a document that has none: its file name, of a text or a recording without its extension.

    Code, data and settings keep their whole names: `_auth.py`, `uv.lock`, `.env.example`. Signs at the ends of a name
    stay; underscores between words become spaces where the extension goes, and in addresses of pages without one.
    """
    name = file_name(uri)
    is_page = "." not in name and uri.startswith(("https://", "http://"))
    if goes_by_whole_name(name) and not is_page:
        return name
    return _BETWEEN_WORDS.sub(" ", PurePosixPath(name).stem).strip() or name
