"""The index of one candidate in the scratch database: cut, embedded from the kept vectors on, and published."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.database.batches import batched
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.database.usage_log import store_uses
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import SettledModel
from sourcebook.evaluation.bakeoff.candidates import Indexing
from sourcebook.indexing.generations import create_generation
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent
from sourcebook.model.usage import Use
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.embeddings import SubmittingEmbedder, embed_missing
from sourcebook.stages.search_index import publish

_HASHES_AT_ONCE: Final = 5_000


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """One candidate's index over the sample."""

    generation: int
    """Id in the scratch database."""
    model: str
    """`generation.model`."""
    passages: int
    vector_bytes: int
    text_bytes: int
    texts: int
    """Distinct texts."""
    tokens: int
    """Tokens of the passages."""
    computed: int
    """Texts that the model embedded now; the others had their vectors."""


@dataclass(slots=True)
class Builder:
    """Builds candidates in the scratch database with the vectors of the knowledge base, which takes over new ones.

    So a bakeoff that was killed, or one with further candidates, computes nothing twice; nor does the ingest of the
    candidate that is chosen. `sourcebook purge` deletes vectors that no generation needs.
    """

    base: Database
    scratch: Database
    collection: str
    pool: EmbedderPool = field(default_factory=EmbedderPool)

    def build(self, indexing: Indexing, model: SettledModel, progress: Progress = silent) -> BuiltIndex:
        """Build the index of a candidate.

        Raises:
            ModelError: its model cannot be loaded or failed.
        """
        with self.scratch.connection() as reader, self.scratch.connection() as writer, self.base.connection() as base:
            generation = create_generation(
                reader,
                self.collection,
                indexing.chunking,
                indexing.embedding,
                model=model.identity,
                dimensions=model.dimensions,
                is_active=self._is_first(reader),
            )
            prepare_chunks(reader, generation)
            missing = _hashes(reader, "hashes_without_vector", generation)
            _take_vectors(base, reader, generation.model, missing)

            def start(texts: int) -> SubmittingEmbedder:
                access = ProviderAccess(self.base.connection, self.collection)
                return self.pool.for_generation(generation, self.base.location.home, texts, access)

            def keep(documents: Sequence[int]) -> None:
                hashes = _hashes(writer, "hashes_of_documents", generation, documents)
                _take_vectors(writer, base, generation.model, hashes)

            try:
                report = embed_missing(reader, writer, generation, start, progress, thorough=True, embedded=keep)
            finally:  # also of what an interruption ends
                if not writer.closed:
                    _take_vectors(writer, base, generation.model, missing)
            self.pool.export_beside(indexing.embedding, self.base.location.home)
            self.pool.wait_for_exports()  # the questions are asked without torch
            publish(reader, generation, thorough=True)
            row = reader.execute(queries["size_of_generation"], {"generation": generation.id}).fetchone()
            passages, vector_bytes, text_bytes, texts, tokens = row or (0, 0, 0, 0, 0)
            return BuiltIndex(
                generation.id,
                generation.model,
                passages=passages,
                vector_bytes=vector_bytes,
                text_bytes=text_bytes,
                texts=texts,
                tokens=tokens,
                computed=report.extra["computed"],
            )

    def close(self) -> None:
        """End the models, and record in the knowledge base what they were used for."""
        self.pool.close()
        with (
            self.scratch.connection() as scratch,
            self.base.connection() as base,
            scratch.cursor(row_factory=class_row(Use)) as cursor,
        ):
            store_uses(base, cursor.execute(queries["scratch_usage"]).fetchall())

    def _is_first(self, connection: Connection) -> bool:
        row = connection.execute(queries["active_generation"], {"collection": self.collection}).fetchone()
        return row is None


def _hashes(connection: Connection, query: str, generation: Generation, documents: Sequence[int] = ()) -> list[bytes]:
    scope = {"generation": generation.id, "model": generation.model, "documents": list(documents)}
    return [text_hash for (text_hash,) in connection.execute(queries[query], scope)]


def _take_vectors(source: Connection, target: Connection, model: str, hashes: Sequence[bytes]) -> None:
    """Copy the vectors of texts that a database has into another one, which keeps those that it has already."""
    target.execute(queries["create_vector_staging"])
    for batch in batched(hashes, _HASHES_AT_ONCE):
        scope = {"model": model, "hashes": list(batch)}
        with target.transaction():
            with (
                source.cursor().copy(queries["copy_kept_vectors"], scope) as rows,
                target.cursor().copy(queries["copy_vectors"]) as copy,
            ):
                for data in rows:
                    copy.write(data)
            target.execute(queries["keep_vectors"], {"model": model})
