"""An export at a URL, fetched: what an import reads lies in a temporary folder, all else is compared as it arrives."""

import errno
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from sourcebook.errors import TransferError
from sourcebook.files.remote_bytes import RemoteFolder
from sourcebook.files.store_errors import MissingInStoreError, StoreError, store_calls
from sourcebook.transfer.file_names import is_safe_path
from sourcebook.transfer.judgments import JUDGMENTS
from sourcebook.transfer.manifest import (
    CHECKSUMS,
    MANIFEST,
    MOST_BYTES,
    Manifest,
    damaged,
    listed_files,
    load_manifest,
    read_manifest,
)
from sourcebook.transfer.urls import url_of

_PIECE: Final = 4 << 20
"""Bytes of a large file that are fetched at once."""
_SMALL: Final = 1 << 18
"""Bytes of files that are fetched side by side, where the file system can."""
_FILES_AT_ONCE: Final = 64
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def opened_export(folder: Path | str) -> Iterator[tuple[Path, Manifest]]:
    """Lend the folder and the manifest of an export whose files have their SHA-256.

    Args:
        folder: the folder of an export, or its fsspec URL.

    Raises:
        TransferError: it is no export, damaged, or out of reach; also from the block, with the URL in the sentence.
    """
    url = url_of(folder)
    if url is None:
        path = Path(str(folder).removeprefix("file://"))
        yield path, read_manifest(path)
        return
    with tempfile.TemporaryDirectory(prefix="sourcebook-") as name:
        work = Path(name)
        try:
            manifest = _fetch(RemoteFolder(url), work)
            yield work, manifest
        except StoreError as error:
            raise TransferError(f"{error.strerror or error}; nothing was imported") from error
        except TransferError as error:
            raise TransferError(str(error).replace(name, url)) from error


def _fetch(remote: RemoteFolder, work: Path) -> Manifest:
    """Fetch what an import reads, and compare every file."""
    with store_calls(remote.url):
        try:
            text = remote.system.cat_file(remote.path(MANIFEST), start=0, end=MOST_BYTES + 1)
        except FileNotFoundError:
            return load_manifest(work)  # whose error says that there is none
    _write(work / MANIFEST, [text])
    manifest = load_manifest(work)
    _fetch_file(remote, CHECKSUMS, work)
    files = listed_files(work, manifest)
    while batch := list(islice(files, _FILES_AT_ONCE)):
        for _, path in batch:
            if not is_safe_path(path):
                raise TransferError(f"{work} names the file {path!r}, which is outside of it: nothing was read")
        small = [(digest, path) for digest, path in batch if not _is_read(path)]
        large = [(digest, path) for digest, path in batch if _is_read(path)]
        large += _compare_small(remote, small, work)
        for digest, path in large:
            if _fetch_file(remote, path, work if _is_read(path) else None) != digest:
                raise damaged(work, path)
    return manifest


def _is_read(path: str) -> bool:
    """Whether an import reads a file."""
    return path.endswith(".parquet") or path.rpartition("/")[2] == JUDGMENTS


def _compare_small(remote: RemoteFolder, files: Sequence[tuple[str, str]], work: Path) -> list[tuple[str, str]]:
    """Compare files side by side; return those that are larger, or whose answer was an error."""
    paths = [remote.path(path) for _, path in files]
    with store_calls(remote.url):
        found = remote.system.cat_ranges(paths, [0] * len(paths), [_SMALL] * len(paths), on_error="return")
    rest = []
    for (digest, path), content in zip(files, found, strict=True):
        if not isinstance(content, bytes) or len(content) >= _SMALL:
            rest.append((digest, path))
        elif hashlib.sha256(content).hexdigest() != digest:
            raise damaged(work, path)
    return rest


def _fetch_file(remote: RemoteFolder, path: str, work: Path | None) -> str:
    """Fetch a file in pieces, into a folder where one is named; return its SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        with store_calls(remote.url), remote.system.open(remote.path(path), "rb", block_size=_PIECE) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
                yield piece

    try:
        if work is None:
            for _ in pieces():
                pass
        else:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            _write(work / path, pieces())
    except MissingInStoreError:
        raise TransferError(
            f"{remote.url} is incomplete: the file {path} is missing; copy or export it again"
        ) from None
    return digest.hexdigest()


def _write(path: Path, pieces: Sequence[bytes] | Iterator[bytes]) -> None:
    try:
        with path.open("xb") as file:
            for piece in pieces:
                file.write(piece)
    except StoreError:
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise TransferError(
                f"the disk of {tempfile.gettempdir()} has no space for the Parquet files of the export: free some, or "
                "set TMPDIR to a folder on another disk"
            ) from error
        raise
