"""Export of collections into a folder or to a URL, where they are whole or no export."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.database.schema import newest_version
from sourcebook.errors import TransferError
from sourcebook.indexing.damage import find_every_damage, find_suspicion
from sourcebook.model.plain_values import PlainValues
from sourcebook.redaction.documents import redactor_of
from sourcebook.redaction.for_models import redactions_in_force
from sourcebook.redaction.redactor import Redactor
from sourcebook.transfer.documents import DocumentsWriter
from sourcebook.transfer.export_files import ExportFiles
from sourcebook.transfer.export_place import Place, export_place
from sourcebook.transfer.file_names import safe_name
from sourcebook.transfer.groups import exported_groups
from sourcebook.transfer.judgments import JUDGMENTS, write_judgments
from sourcebook.transfer.ledger_tables import TABLES, write_table
from sourcebook.transfer.manifest import ExportedCollection, ExportedGeneration, Manifest, manifest_text
from sourcebook.transfer.passages import write_passages

FORMATS: Final = ("markdown", "parquet", "jsonl")
DEFAULT_FORMATS: Final = ("markdown", "parquet")
_MOST_NAMED: Final = 5
"""Damaged items that a refusal names."""


@dataclass(frozen=True, slots=True)
class Exported(PlainValues):
    """Numbers of an export."""

    folder: str
    collections: tuple[str, ...]
    documents: int
    originals: int
    passages: int
    files: int
    bytes: int


def export_collections(
    database: Database,
    folder: Path | str,
    collections: Sequence[str],
    formats: Sequence[str] = DEFAULT_FORMATS,
    *,
    progress: Callable[[str, int, int], None] = lambda collection, done, total: None,
    unredacted: bool = False,
) -> Exported:
    """Write collections as they are at one moment into a folder, which must be empty or not exist.

    Ingests and searches go on meanwhile. Memory stays flat: rows are read and written in parts. Folders that killed
    exports of that name have left beside it are deleted. At a URL the manifest comes last: without it there is no
    export.

    Args:
        database: the knowledge base.
        folder: the folder to write, or an fsspec URL such as `s3://bucket/handbook`.
        collections: names of collections that exist.
        formats: `markdown`, `parquet` and `jsonl`; an import needs `parquet`.
        progress: called with a collection and (done, total) passages.
        unredacted: whether collections that redact what leaves them are written as they are.

    Raises:
        TransferError: rows of a collection are damaged; a collection redacts what leaves it, and a format holds it
            whole; the folder has contents, cannot be written or reached, or its disk is full; nothing is left then, or
            the message says what.
    """
    with (
        export_place(folder) as place,
        database.connection() as connection,
        connection.transaction(),
    ):
        connection.execute(queries["begin_export"])
        _check_sound(connection, collections)
        redactors = {} if unredacted else _redactors(connection, collections, formats)
        return _write(connection, place, collections, formats, progress, redactors)


def _redactors(connection: Connection, collections: Sequence[str], formats: Sequence[str]) -> dict[str, Redactor]:
    """Return the redactors of collections that redact; refuse formats that would hold their text as it is."""
    rows = connection.execute(queries["collection_redactions"], {"collections": list(collections)}).fetchall()
    found = redactions_in_force(dict(rows))
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
    place: Place,
    names: Sequence[str],
    formats: Sequence[str],
    progress: Callable[[str, int, int], None],
    redactors: Mapping[str, Redactor],
) -> Exported:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["exported_collections"], {"collections": list(names)}).fetchall()
    originals = 0
    exported: list[ExportedCollection] = []
    for row in rows:
        folder = _folder_name(row["name"], {collection.folder for collection in exported})
        collection, copied = _write_collection(connection, place.files, folder, row, formats, progress, redactors)
        originals += copied
        exported.append(collection)
    digest = place.files.finish_list().hex()
    manifest = Manifest(
        sourcebook=_version(),
        schema_version=newest_version(),
        created_at=datetime.now(UTC).isoformat(),
        formats=list(formats),
        collections=exported,
        groups=exported_groups(connection, names) if "parquet" in formats else {},
        checksums=digest,
    )
    text = manifest_text(manifest)
    place.files.finish(text)
    return Exported(
        place.shown,
        tuple(collection.name for collection in exported),
        sum(collection.documents for collection in exported),
        originals,
        sum(collection.passages for collection in exported),
        place.files.files + 2,
        place.files.bytes + place.files.sums.stat().st_size + len(text),
    )


def _write_collection(
    connection: Connection,
    files: ExportFiles,
    folder: str,
    row: Mapping[str, Any],
    formats: Sequence[str],
    progress: Callable[[str, int, int], None],
    redactors: Mapping[str, Redactor],
) -> tuple[ExportedCollection, int]:
    name = str(row["name"])
    generation = _generation(row)
    passages = 0
    if generation is not None and row["id"] is not None and {"parquet", "jsonl"} & set(formats):
        passages = write_passages(
            connection,
            name,
            row["id"],
            generation,
            files,
            folder,
            formats,
            lambda done, total, failed=0: progress(name, done, total),
        )
    if "parquet" in formats:
        for table in TABLES:
            with files.file(f"{folder}/{table.path}") as target:
                write_table(connection, table, target, collection=name, generation=row["id"])
    judgments = write_judgments(connection, name, files, f"{folder}/{JUDGMENTS}")
    documents, originals = DocumentsWriter(connection, name, files, folder, redactors.get(name)).write(formats)
    return ExportedCollection(
        name=name,
        folder=folder,
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


def _folder_name(collection: str, taken: AbstractSet[str]) -> str:
    """Return the name of a collection's folder; a number tells apart names that differ in their signs alone."""
    name, number = safe_name(collection), 1
    while name in taken:
        number += 1
        name = f"{safe_name(collection)}-{number}"
    return name


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("sourcebook")
    return "unknown"
