"""Import of an export into a knowledge base that lacks its collections, in one transaction."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import psycopg
from psycopg import Connection, sql
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.database.batches import read_ahead
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_locks
from sourcebook.database.queries import queries
from sourcebook.database.schema import newest_version
from sourcebook.embedding.model import find_model
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import local_model
from sourcebook.errors import ConfigurationError, MissingDependencyError, TransferError
from sourcebook.indexing.first_entries import count_statistics
from sourcebook.indexing.generations import create_generation
from sourcebook.indexing.graphs import maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.model.passage_part import parts_of
from sourcebook.model.plain_values import PlainValues
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.relations.update import update_relations
from sourcebook.transfer.column_types import JSONB
from sourcebook.transfer.fetched_export import opened_export
from sourcebook.transfer.groups import known_groups, load_groups
from sourcebook.transfer.judgments import JUDGMENTS, load_judgments
from sourcebook.transfer.ledger_import import copy_columns, load_table
from sourcebook.transfer.ledger_tables import TABLES
from sourcebook.transfer.manifest import OF_CHECKOUTS, ExportedCollection, ExportedGeneration, Manifest, inside
from sourcebook.transfer.new_numbers import NewNumbers, new_numbers
from sourcebook.transfer.parquet_files import read_metadata, read_parts
from sourcebook.transfer.passages import OPTIONAL, PARQUET, checked_vectors, column_types, vector_rows

_CHUNK: Final[dict[str, int | str]] = {
    "ordinal": "int4",
    "text": "text",
    "context": "text",
    "heading_path": "text[]",
    "anchor": "text",
    "page": "int4",
    "start_char": "int4",
    "end_char": "int4",
    "token_count": "int4",
    "hash": "bytea",
    "embedding_hash": "bytea",
    "start_seconds": "float8",
    "end_seconds": "float8",
    "parts": JSONB,
}
"""Columns of a passage that are columns of `chunk`, with their types."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Some passages that are ready to be copied."""

    rows: int
    documents: list[int]
    """Number of the document of each in the exported base."""
    columns: list[list[Any]]
    """The columns of `_CHUNK`."""
    vectors: bytes
    """Rows of the temporary table of vectors, as data of a COPY."""


@dataclass(frozen=True, slots=True)
class Imported(PlainValues):
    """Numbers of an import."""

    collections: tuple[str, ...]
    documents: int
    passages: int
    groups: tuple[str, ...] = ()
    """Groups that came along with their members."""
    known_groups: tuple[str, ...] = ()
    """Groups of the export that this base knew before: they have the members that they had here."""


def import_collections(
    database: Database,
    folder: Path | str,
    *,
    progress: Callable[[str, int, int], None] = lambda collection, done, total: None,
    waiting: Callable[[str], None] = lambda collection: None,
) -> Imported:
    """Import every collection of an export; all of them become searchable at one moment, or none does.

    Nothing is embedded: the vectors come from the export. An import that is killed leaves the base as it was.

    Args:
        database: the knowledge base.
        folder: the folder that an export has written, with Parquet files, or its fsspec URL.
        progress: called with a collection and (done, total) passages.
        waiting: called with a collection that another process is ingesting.

    Raises:
        TransferError: the export is damaged, incomplete or foreign, or a collection exists already.
        ModelError: a model of the export cannot be found on this machine.
    """
    with opened_export(folder) as (fetched, manifest):
        return _import_all(database, fetched, manifest, progress, waiting)


def _import_all(
    database: Database,
    folder: Path,
    manifest: Manifest,
    progress: Callable[[str, int, int], None],
    waiting: Callable[[str], None],
) -> Imported:
    _check_readable(folder, manifest)
    for collection in manifest.collections:
        if collection.generation is not None:
            _check_model(collection.name, collection.generation)
    names = sorted(collection.name for collection in manifest.collections)
    generations: list[Generation] = []
    with collection_locks(database, names, waiting=waiting), database.connection() as connection:
        try:
            with connection.transaction():
                connection.execute(queries["lock_passages"])
                _check_free(connection, names)
                known = known_groups(connection, manifest)
                groups = load_groups(connection, manifest, known)
                for collection in manifest.collections:
                    generations += _import(connection, folder, collection, progress)
                while connection.execute(queries["follow_originals"], {"collections": names}).rowcount:
                    pass
        except (psycopg.IntegrityError, psycopg.DataError) as error:
            raise TransferError(
                f"{folder} contradicts itself: {error.diag.message_primary or error}; nothing was imported: "
                "export again"
            ) from error
        for generation in generations:
            maintain_index(connection, generation)
        for name in names:
            with suppress(ConfigurationError, MissingDependencyError):  # the next ingest says so
                update_relations(connection, name)
    return Imported(
        tuple(names),
        sum(collection.documents for collection in manifest.collections),
        sum(collection.passages for collection in manifest.collections),
        groups,
        tuple(sorted(known)),
    )


def _check_readable(folder: Path, manifest: Manifest) -> None:
    if "parquet" not in manifest.formats:
        raise TransferError(
            f"{folder} has no Parquet files, which an import needs: export again with  --format parquet"
        )
    known = newest_version()
    if manifest.schema_version > known and manifest.format_version > OF_CHECKOUTS:
        raise TransferError(
            f"{folder} was written with schema version {manifest.schema_version}, this Sourcebook knows {known}: "
            "upgrade Sourcebook"
        )


def _check_model(name: str, generation: ExportedGeneration) -> None:
    """Refuse settings of another Sourcebook, and vectors that queries of this machine cannot be compared with."""
    try:
        settings = EmbeddingSettings.model_validate(generation.embedding)
        ChunkingSettings.model_validate(generation.chunking)
    except ValidationError as error:
        raise TransferError(
            f"the passages of {name} were made by settings that this Sourcebook does not know "
            f"({error.errors()[0]['msg']}): upgrade Sourcebook, or export again"
        ) from error
    if settings.provider is not None:
        return  # its first request compares the vector of a fixed text
    found = local_model(settings, find_model(settings.model))
    identity, known = generation.model.partition("/")[0], found.identity.partition("/")[0]
    if known != identity or found.dimensions != generation.dimensions:
        raise TransferError(
            f"the passages of {name} were embedded by {identity} with {generation.dimensions} dimensions, and the "
            f"model {settings.model} of this machine is {known} with {found.dimensions}: their vectors cannot "
            "be compared; install the same weights, or ingest the sources anew"
        )


def _check_free(connection: Connection, names: list[str]) -> None:
    taken = [name for (name,) in connection.execute(queries["taken_collections"], {"collections": names})]
    if taken:
        raise TransferError(
            f"the knowledge base has {', '.join(taken)} already, and an import replaces nothing: import into another "
            "one (SOURCEBOOK_HOME), or take the collection out of sourcebook.yaml and run  sourcebook apply  and  "
            "sourcebook purge"
        )


def _import(
    connection: Connection,
    folder: Path,
    collection: ExportedCollection,
    progress: Callable[[str, int, int], None],
) -> list[Generation]:
    name, exported = collection.name, collection.generation
    written = collection.written_settings
    declaration = {
        "collection": name,
        "settings": Jsonb(collection.settings),
        "declared_in": collection.declared_in,
        "written": None if written is None else Jsonb(written),
    }
    connection.execute(queries["import_collection"], declaration)
    generation = None
    if exported is not None:
        generation = create_generation(
            connection,
            name,
            ChunkingSettings.model_validate(exported.chunking),
            EmbeddingSettings.model_validate(exported.embedding),
            model=exported.model,
            dimensions=exported.dimensions,
            partitioned=("keyword_entry",),
        )
        connection.execute(
            queries["import_statistics"],
            {
                "generation": generation.id,
                "average_length": exported.average_length,
                "averaged_entries": exported.averaged_entries,
            },
        )
        if exported.probe is not None:
            access = ProviderAccess.through(connection, name)
            probe = np.array(exported.probe, np.float32)
            access.keep(exported.model.partition("/")[0], generation.embedding_settings, probe)
    if collection.judgments:
        load_judgments(connection, name, inside(folder, f"{collection.folder}/{JUDGMENTS}"))
    numbers = NewNumbers(connection, name, generation.id if generation else None)
    for table in TABLES:
        path = f"{collection.folder}/{table.path}"
        if not table.is_late or (folder / path).exists():
            load_table(connection, table, inside(folder, path), numbers)
    if exported is None or generation is None:
        return []
    passages = _load_passages(connection, folder, collection, exported, generation, numbers, progress)
    count_statistics(connection, generation)
    for query in ("sum_import", "import_proof"):
        connection.execute(queries[query], {"generation": generation.id})
    connection.execute(queries["drop_staging"].format(staging=sql.Identifier("imported_sum")))
    maintain_indexes(connection, generation, entries=passages, moved=passages)
    return [generation]


def _load_passages(
    connection: Connection,
    folder: Path,
    collection: ExportedCollection,
    exported: ExportedGeneration,
    generation: Generation,
    numbers: NewNumbers,
    progress: Callable[[str, int, int], None],
) -> int:
    path = inside(folder, f"{collection.folder}/{PARQUET}")
    if read_metadata(path).get("model") != exported.model:
        raise TransferError(f"{path} has vectors of another model than the manifest says: export again")
    connection.execute(queries["create_vector_staging"])
    done = 0
    for part in read_ahead(_passages(path, collection, exported)):
        documents = numbers.translate("document_id", part.documents, path)
        chunks = new_numbers(connection, "chunk", part.rows)
        copy_columns(
            connection,
            queries["import_chunks"],
            ["int8", "int8", "int8", *_CHUNK.values()],
            [chunks, [generation.id] * part.rows, documents, *part.columns],
        )
        with connection.cursor().copy(queries["copy_vectors"]) as copy:
            copy.write(part.vectors)
        connection.execute(queries["keep_vectors"], {"model": generation.model})
        connection.execute(queries["empty_vector_staging"])
        if not done:
            connection.execute(queries["analyze_import"])
        done += part.rows
        progress(collection.name, done, collection.passages)
        del part, documents, chunks  # so that they are not in memory beside the next ones
    if _insert_entries(connection, generation) != done:
        raise TransferError(f"{path} has passages of documents that are not published: export again")
    return done


def _passages(path: Path, collection: ExportedCollection, exported: ExportedGeneration) -> Iterator[_Part]:
    """Yield the checked passages of a file in parts, ready to be copied."""
    types = column_types(exported.dimensions)
    for part in read_parts(path, types):
        missing = [column for column in types if column not in {*part.schema.names, *OPTIONAL}]
        if missing:
            raise TransferError(f"{path} has no column {', '.join(missing)}: export again")
        vectors = checked_vectors(part, path, collection, exported)
        documents = part.column("document_id").to_pylist()
        columns = {
            column: part.column(column).to_pylist() if column in part.schema.names else [None] * part.num_rows
            for column in _CHUNK
        }
        try:
            for rows_of_parts in columns["parts"]:
                if rows_of_parts is not None:
                    parts_of(json.loads(rows_of_parts))
            hashes = [text_hash for text_hash in columns["embedding_hash"] if text_hash is not None]
            rows = vector_rows(hashes, vectors)
        except (ValueError, TypeError) as error:
            raise TransferError(f"{path} contradicts itself: {error}; nothing was imported: export again") from error
        yield _Part(part.num_rows, documents, list(columns.values()), rows)


def _insert_entries(connection: Connection, generation: Generation) -> int:
    """Insert the entries of all passages of a generation into its new partition, and return their number."""
    connection.execute(queries["keep_sorts_in_memory"])
    connection.execute(queries["import_words"], {"generation": generation.id})
    table, (name, _) = sql.Identifier("search_entry"), generation.tables
    place = {"partition": generation.partition, "table": table}
    connection.execute(queries["create_unattached_partition"].format(**place))
    statement = queries["import_entries"].format(partition=generation.partition)
    inserted = connection.execute(statement, {"generation": generation.id, "model": generation.model}).rowcount
    connection.execute(queries["drop_staging"].format(staging=sql.Identifier("imported_entry")))
    attach = queries["attach_partition"].format(**place, number=sql.Literal(generation.id), name=sql.Literal(name))
    connection.execute(attach)
    connection.execute(queries["record_storage"], {"generation": generation.id})
    return inserted
