"""The manifest of an export: what it holds, and the SHA-256 of each of its files.

`SHA256SUMS` has a line for every file, as `sha256sum --check` reads it; `manifest.json` is written last and has the
SHA-256 of that list. A folder without a manifest is no export.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sourcebook.config.field_types import CollectionName
from sourcebook.config.gone_settings import without_gone
from sourcebook.errors import TransferError
from sourcebook.transfer.file_names import is_safe_path

MANIFEST: Final = "manifest.json"
CHECKSUMS: Final = "SHA256SUMS"
FORMAT_VERSION: Final = 2
"""Version of the folder's layout; a reader refuses a newer one."""
OF_CHECKOUTS: Final = 1
"""Version of exports by checkouts before the first release; versions of the schema count anew since."""
MOST_BYTES: Final = 64_000_000
"""Bytes of a manifest; a larger file is no manifest."""
_SMALL: Final = 1 << 18
"""Bytes from which a file is hashed in parts."""
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)\n")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class ExportedGeneration(_Part):
    """The generation of the exported passages."""

    chunking: dict[str, Any]
    embedding: Annotated[dict[str, Any], AfterValidator(lambda found: without_gone(found, "embedding"))]
    model: str
    dimensions: int = Field(gt=0)
    normalised: bool
    """Whether every vector has the length 1."""
    average_length: float | None
    """Average passage length in words that the keyword weights were computed with."""
    averaged_entries: int | None
    probe: list[float] | None = None
    """Vector of a fixed text by a provider's model; None for a local one."""


class ExportedCollection(_Part):
    """One collection of an export."""

    name: CollectionName
    folder: str
    settings: Annotated[dict[str, Any], AfterValidator(without_gone)]
    declared_in: Literal["file", "api"] = "file"
    written_settings: dict[str, Any] | None = None
    """Settings of a collection of the API as they were written."""
    generation: ExportedGeneration | None
    documents: int
    passages: int
    judgments: int = 0
    """Lines of its `judgments.jsonl`; without any there is no such file."""


class Manifest(_Part):
    """The manifest of an export."""

    format: Literal["sourcebook export"] = "sourcebook export"
    format_version: int = FORMAT_VERSION
    sourcebook: str
    """Version of the Sourcebook that wrote it."""
    schema_version: int
    """Version of the database's schema, which names the columns of the ledger."""
    created_at: str
    formats: list[str]
    collections: list[ExportedCollection]
    groups: dict[str, list[str]] = {}
    """Members of the groups by which their documents are seen; none in exports that cannot be imported."""
    checksums: str
    """SHA-256 of SHA256SUMS, in hexadecimal digits."""


def manifest_text(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest, the last file of an export."""
    return f"{json.dumps(manifest.model_dump(mode='json'), ensure_ascii=False, indent=2)}\n".encode()


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an export, after comparing every file with its SHA-256.

    Raises:
        TransferError: the folder is no export, of a newer version, incomplete or damaged.
    """
    manifest = load_manifest(folder)
    known: set[str] = set()
    for digest, path in listed_files(folder, manifest):
        if _sha256_inside(folder, path, known) != digest:
            raise damaged(folder, path)
    return manifest


def load_manifest(folder: Path) -> Manifest:
    """Return the manifest of an export, without a look at the files.

    Raises:
        TransferError: the folder is no export, or of a newer version, or the manifest is damaged.
    """
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise TransferError(
            f"{folder} is no export of Sourcebook: it has no {MANIFEST}; name the folder that  sourcebook export  wrote"
        ) from None
    except OSError as error:
        raise TransferError(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = json.loads(text)
        version = found.get("format_version") if isinstance(found, dict) else None
        if isinstance(version, int) and version > FORMAT_VERSION:
            raise TransferError(
                f"{folder} has version {version} of the export's format, this Sourcebook reads {FORMAT_VERSION}: "
                "upgrade Sourcebook"
            )
        manifest = Manifest.model_validate(found)
    except (ValueError, ValidationError) as error:
        raise TransferError(f"{path} is not a manifest of Sourcebook, or it is damaged: export again") from error
    _check_names(folder, manifest)
    return manifest


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb", buffering=0) as file:
        return _sha256(file)


def _sha256(file: FileIO) -> str:
    head = file.read(_SMALL)
    if len(head) < _SMALL and not file.read(1):  # most files are; hashing in parts costs more than reading them
        return hashlib.sha256(head).hexdigest()
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def inside(folder: Path, path: str) -> Path:
    """Return the path of a regular file within a folder.

    Raises:
        TransferError: the path leads out of the folder, by its name or by a symbolic link, or there is no such file.
    """
    if not is_safe_path(path):
        raise TransferError(f"{folder} names the file {path!r}, which is outside of it: nothing was read")
    found = folder / path
    if not found.is_file():
        raise TransferError(f"{folder} is incomplete: the file {path} is missing; copy or export it again")
    if not found.resolve().is_relative_to(folder.resolve()):
        raise TransferError(f"{folder} has {path} as a link that leads out of it: nothing was read")
    return found


def _sha256_inside(folder: Path, path: str, known: set[str]) -> str:
    """Return the SHA-256 of a file within a folder, of which an export has ten thousands.

    Args:
        folder: the folder.
        path: the relative path of the file.
        known: relative paths of folders that were found to be within the folder; that of the file is added.

    Raises:
        TransferError: as `inside`.
    """
    parent, _, name = path.rpartition("/")
    if parent in known and "\\" not in name and name not in {".", ".."}:
        with suppress(OSError, ValueError):  # a link, or a name that no file has: the slower way says why
            flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a named pipe would wait for a writer
            descriptor = os.open(f"{folder}/{path}", flags)
            with FileIO(descriptor) as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return _sha256(file)
    found = inside(folder, path)
    if not found.is_symlink():
        known.add(parent)
    return sha256_of(found)


def _check_names(folder: Path, manifest: Manifest) -> None:
    names = [collection.name for collection in manifest.collections]
    if len(set(names)) != len(names):
        raise TransferError(f"{folder / MANIFEST} names a collection twice: export again")
    for collection in manifest.collections:
        if not is_safe_path(collection.folder) or "/" in collection.folder:
            raise TransferError(
                f"{folder} names the folder {collection.folder!r}, which is outside of it: nothing was read"
            )


def listed_files(folder: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 and the path of each file in the list of an export, after a look at the list's own.

    Raises:
        TransferError: the list is missing or damaged.
    """
    if sha256_of(inside(folder, CHECKSUMS)) != manifest.checksums:
        raise TransferError(f"{folder / CHECKSUMS} is damaged: it differs from its SHA-256; copy or export it again")
    with (folder / CHECKSUMS).open(encoding="utf-8", newline="\n") as file:
        for line in file:
            matched = _LINE.fullmatch(line)
            if matched is None:
                raise TransferError(f"{folder / CHECKSUMS} is damaged: a line has no SHA-256; export again")
            digest, path = matched.groups()
            yield digest, path


def damaged(folder: Path, path: str) -> TransferError:
    """Return the error of a file that differs from its SHA-256."""
    return TransferError(
        f"{folder / path} is damaged or was changed: it differs from its SHA-256; copy or export it again"
    )
