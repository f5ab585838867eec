"""Export of collections into a folder, which appears whole or not at all."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.database.schema import migrations
from sourcebook.errors import TransferError
from sourcebook.indexing.damage import find_every_damage
from sourcebook.indexing.suspicion import find_suspicion
from sourcebook.redaction.documents import redactor_of
from sourcebook.redaction.redactor import Redactor
from sourcebook.transfer.documents import DocumentsWriter, remove_empty_folders
from sourcebook.transfer.file_names import safe_name
from sourcebook.transfer.judgments import JUDGMENTS, write_judgments
from sourcebook.transfer.ledger_tables import FOLDER, TABLES, write_table
from sourcebook.transfer.manifest import (
    CHECKSUMS,
    MANIFEST,
    Checksums,
    ExportedCollection,
    ExportedGeneration,
    Manifest,
    write_manifest,
)
from sourcebook.transfer.partial_folder import partial_folder, remove_abandoned
from sourcebook.transfer.passages import JSON_LINES, PARQUET, write_passages

FORMATS: Final = ("markdown", "parquet", "jsonl")
DEFAULT_FORMATS: Final = ("markdown", "parquet")
_MOST_NAMED: Final = 5
"""Damaged items that a refusal names."""
_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Exported:
    """Numbers of an export."""

    folder: str
    collections: tuple[str, ...]
    documents: int
    originals: int
    passages: int
    files: int
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


def export_collections(
    database: Database,
    folder: Path,
    collections: Sequence[str],
    formats: Sequence[str] = DEFAULT_FORMATS,
    *,
    progress: Callable[[str, int, int], None] = lambda collection, done, total: None,
    unredacted: bool = False,
) -> Exported:
    """Write collections as they are at one moment into a folder, which must be empty or not exist.

    Ingests and searches go on meanwhile. Memory stays flat: rows are read and written in parts. What killed exports of
    that name have left beside it is deleted.

    Args:
        database: the knowledge base.
        folder: the folder to write.
        collections: names of collections that exist.
        formats: `markdown`, `parquet` and `jsonl`; an import needs `parquet`.
        progress: called with a collection and (done, total) passages.
        unredacted: whether collections that redact what leaves them are written as they are.

    Raises:
        TransferError: rows of a collection are damaged; a collection redacts what leaves it, and a format holds it
            whole; the folder has contents, cannot be written, or its disk is full; nothing is left then.
    """
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - `resolve` would follow a link in the name itself
    _check_target(target)
    try:
        remove_abandoned(target)
        with partial_folder(target) as work:
            with database.connection() as connection, connection.transaction():
                connection.execute(queries["begin_export"])
                _check_sound(connection, collections)
                redactors = {} if unredacted else _redactors(connection, collections, formats)
                exported = _write(connection, work, target, collections, formats, progress, redactors)
            work.chmod(0o777 & ~_umask())
            if target.is_dir():
                target.rmdir()
            work.rename(target)
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise TransferError(
                f"{target} was not written, its disk is full ({error.strerror}): free some space, or name a folder on "
                "another disk; nothing is left of it"
            ) from error
        raise TransferError(f"{target} was not written: {error.strerror or error}; nothing is left of it") from error
    return exported


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise TransferError(f"there is no folder {target.parent} to write {target.name} in: create it")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise TransferError(f"{target} is no folder: name one that does not exist yet")
    if target.is_dir() and any(target.iterdir()):
        raise TransferError(f"the folder {target} is not empty: name another one, or delete it first")


def _redactors(connection: Connection, collections: Sequence[str], formats: Sequence[str]) -> dict[str, Redactor]:
    """Return the redactors of collections that redact; refuse formats that would hold their text as it is."""
    found: dict[str, Any] = dict(
        connection.execute(queries["collection_redactions"], {"collections": list(collections)}).fetchall()
    )
    if found and set(formats) != {"markdown"}:
        name = min(found)
        raise TransferError(
            f"{name} redacts what leaves it, and {', '.join(sorted(set(formats) - {'markdown'}))} would hold it whole: "
            "choose  --format markdown  alone, or add  --unredacted"
        )
    return {name: redactor_of(settings) for name, settings in found.items()}


def _check_sound(connection: Connection, collections: Sequence[str]) -> None:
    """Refuse damaged rows: an import would seal them as sound."""
    for name in collections:
        damage = find_every_damage(connection, name) if find_suspicion(connection, name) else []
        if damage:
            more = f" and {len(damage) - _MOST_NAMED:,} more" if len(damage) > _MOST_NAMED else ""
            raise TransferError(
                f"{name} is damaged, and an import could not tell ({'; '.join(map(str, damage[:_MOST_NAMED]))}{more}): "
                f"mend it with  sourcebook reconcile {name}  and export again"
            )


def _write(
    connection: Connection,
    work: Path,
    target: Path,
    names: Sequence[str],
    formats: Sequence[str],
    progress: Callable[[str, int, int], None],
    redactors: Mapping[str, Redactor],
) -> Exported:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["exported_collections"], {"collections": list(names)}).fetchall()
    checksums = Checksums(work)
    originals = 0
    exported = []
    try:
        for row in rows:
            collection, copied = _write_collection(connection, work, row, formats, checksums, progress, redactors)
            originals += copied
            exported.append(collection)
        digest = checksums.finish()
    finally:
        checksums.close()
    manifest = Manifest(
        sourcebook=_version(),
        schema_version=max(migration.version for migration in migrations()),
        created_at=datetime.now(UTC).isoformat(),
        formats=list(formats),
        collections=exported,
        checksums=digest,
    )
    write_manifest(work, manifest)
    listed = sum((work / name).stat().st_size for name in (CHECKSUMS, MANIFEST))
    return Exported(
        str(target),
        tuple(collection.name for collection in exported),
        sum(collection.documents for collection in exported),
        originals,
        sum(collection.passages for collection in exported),
        checksums.files + 2,
        checksums.bytes + listed,
    )


def _write_collection(
    connection: Connection,
    work: Path,
    row: Mapping[str, Any],
    formats: Sequence[str],
    checksums: Checksums,
    progress: Callable[[str, int, int], None],
    redactors: Mapping[str, Redactor],
) -> tuple[ExportedCollection, int]:
    name = str(row["name"])
    folder = work / _folder_name(work, name)
    folder.mkdir()
    generation = _generation(row)
    passages = 0
    if generation is not None and row["id"] is not None and {"parquet", "jsonl"} & set(formats):
        passages = write_passages(
            connection,
            name,
            row["id"],
            generation,
            folder,
            formats,
            lambda done, total, failed=0: progress(name, done, total),
        )
        for file in (PARQUET, JSON_LINES):
            if (folder / file).exists():
                checksums.add(f"{folder.name}/{file}")
    if "parquet" in formats:
        (folder / FOLDER).mkdir()
        for table in TABLES:
            write_table(connection, table, folder / table.path, collection=name, generation=row["id"])
            checksums.add(f"{folder.name}/{table.path}")
    judgments = write_judgments(connection, name, folder / JUDGMENTS)
    if judgments:
        checksums.add(f"{folder.name}/{JUDGMENTS}")
    documents, originals = DocumentsWriter(connection, name, folder, checksums, redactors.get(name)).write(formats)
    remove_empty_folders(folder)
    return ExportedCollection(
        name=name,
        folder=folder.name,
        settings=row["settings"],
        declared_in=row["declared_in"],
        written_settings=row["written_settings"],
        generation=generation,
        documents=documents,
        passages=passages,
        judgments=judgments,
    ), originals


def _generation(row: Mapping[str, Any]) -> ExportedGeneration | None:
    if row["id"] is None:
        return None
    return ExportedGeneration(
        chunking=row["chunking"],
        embedding=row["embedding"],
        model=row["model"],
        dimensions=row["dimensions"],
        normalised=True,
        average_length=row["average_length"],
        averaged_entries=row["averaged_entries"],
        probe=row["probe"],
    )


def _folder_name(work: Path, collection: str) -> str:
    """Return the name of a collection's folder; a number tells apart names that differ in their signs alone."""
    name, number = safe_name(collection), 1
    while (work / name).exists():
        number += 1
        name = f"{safe_name(collection)}-{number}"
    return name


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("sourcebook")
    return "unknown"


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
