"""New documents of a large change, published by their words while others are parsed: a first ingest answers in seconds.

Embedding takes most of a first ingest. So each new document is cut and published as soon as it is recorded, its entries
without vectors, which the stage `embeddings` lets follow some documents at a time. A document that is published already
keeps its old version until the new one is embedded: nothing that could be found gets lost meanwhile.
"""

from dataclasses import dataclass, field

from psycopg import Connection

from sourcebook.chunking.tokenizer import TokenCounter, token_counter
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.errors import ModelError
from sourcebook.indexing.generations import ensure_generations
from sourcebook.indexing.graphs import index_words
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.model.shard import Shard
from sourcebook.stages.chunks import cut_in_batches
from sourcebook.stages.search_index import publish_ready, publish_words

FEW = 64
"""New documents up to which nothing is published without vectors: these follow within seconds."""


@dataclass(slots=True)
class Ahead:
    """Counts of what a run has made, cut and published before the stages that report it."""

    documents: StageReport = field(default_factory=StageReport)
    chunks: StageReport = field(default_factory=StageReport)
    entries: StageReport = field(default_factory=StageReport)

    def publish_embedded(self, connection: Connection, generation: Generation, documents: list[int]) -> None:
        """Publish documents whose texts have their vectors; a generation that is being built is published at once."""
        if generation.is_active:
            publish_ready(connection, generation, documents, self.entries)


class WordsFirst:
    """Publishes the new documents of a collection, or of a shard, by their words.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection or the shard.
        collection: name of the collection.
        ahead: counts what is done.
        shard: the shard; None: the whole collection.
    """

    def __init__(self, connection: Connection, collection: str, ahead: Ahead, shard: Shard | None = None) -> None:
        self._connection = connection
        self._collection = collection
        self._ahead = ahead
        self._shard = shard
        self._latest = 0
        self._opened: tuple[Generation, TokenCounter] | None = None
        self._has_model = True

    def publish(self, documents: int = 0) -> None:
        """Cut and publish what was recorded since the last call.

        Args:
            documents: number of documents that the run makes in all, as far as is known.
        """
        if self._opened is None and (documents or len(self._new())) <= FEW:
            return
        try:
            generation, tokenizer = self._open()
        except ModelError:  # the stage that needs the model reports the error
            self._has_model = False
            return
        new = self._new()
        for ids in cut_in_batches(self._connection, generation, tokenizer, new, self._ahead.chunks):
            publish_words(self._connection, generation, ids, self._ahead.entries)
        if new:
            self._latest = new[-1][0]
            index_words(self._connection, generation)

    def _open(self) -> tuple[Generation, TokenCounter]:
        if self._opened is None:
            if not self._has_model:
                raise ModelError("there is no model")
            with in_turn(self._connection, self._shard, "generations"):
                generation = ensure_generations(self._connection, self._collection, knows_languages=False)[0]
            self._opened = generation, token_counter(generation.embedding_settings)
        return self._opened

    def _new(self) -> list[tuple[int, int]]:
        """Return ids and sizes of documents that are not published, in the order in which they were made."""
        scope = {
            "collection": self._collection,
            "after": self._latest,
            **(self._shard.values if self._shard else {"shard": None, "shards": None}),
        }
        return self._connection.execute(queries["new_documents"], scope).fetchall()
