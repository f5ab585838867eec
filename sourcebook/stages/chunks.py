"""The stage `chunks`: passages of documents, cut along their structure and prepared beside the published ones.

Reads: `document` and its `parsed_content`, and the tokenizer of the generation's embedding model.
Writes: `chunk`, and in `indexed_document` the content and the rules that the chunks were cut with.
Stale: a live document without chunks, or cut from another content hash or by other rules (`chunking_config_hash`).

The chunks of a generated index have no `embedding_hash`, unless `embedding.generated_indexes` is on: they get no
vector, and the keyword leg alone finds them.

It begins with the proof: where there is a sign of foreign changes, the rows of the collection's generations are
compared with the sums that were kept when they were published, and what is damaged is cut again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, Self

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sourcebook.chunking.chunk import Chunk, uncovered_characters
from sourcebook.chunking.chunker import chunk_document
from sourcebook.chunking.config_hash import chunking_config_hash
from sourcebook.chunking.generated_index import is_generated_index
from sourcebook.chunking.tokenizer import TokenCounter, token_counter
from sourcebook.database.batches import batched_by_size
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.refusals import Refusal, write_in_halves
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.indexing.mending import prove
from sourcebook.model.document import ParsedDocument, blocks_of
from sourcebook.model.generation import Generation
from sourcebook.model.passage_part import part_rows
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import is_first
from sourcebook.model.work import cutting_work
from sourcebook.stages.changes import changed_documents, documents_version
from sourcebook.stages.observed_stage import observed_stage

BATCH = 128
"""Documents per transaction."""
BATCH_CHARACTERS = 16_000_000
"""Characters of Markdown per transaction; a longer document is a batch of its own."""
_TYPES = ["int8", "int8", "int4", "text", "text", "text[]", "text", "int4", "int4", "int4", "int4", "bytea", "bytea"]
_TYPES += ["float8", "float8", "jsonb"]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A document with its new passages."""

    document: int
    content_hash: bytes
    chunks: Sequence[Chunk]
    has_vectors: bool
    uncovered: int
    """Characters in no passage."""
    refusal: Refusal | None = None
    """Reason why its passages cannot be stored; then it has none."""

    def failed(self, refusal: Refusal) -> Self:
        """Return it without the passages that the database refuses."""
        return replace(self, chunks=(), uncovered=0, refusal=refusal)


@observed_stage("chunks")
def prepare_chunks(
    connection: Connection,
    generation: Generation,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    ahead: StageReport | None = None,
) -> StageReport:
    """Cut the documents of a generation whose content or chunking rules changed; `added` and `removed` count chunks.

    Args:
        connection: in autocommit mode.
        generation: the generation whose chunks to prepare.
        selection: with `force`, the documents to cut again even where nothing changed.
        progress: called with (done, total) documents.
        ahead: counts of chunks that were cut earlier in this run; see `words_first`.

    Raises:
        ModelError: the tokenizer of the embedding model cannot be found.
    """
    report = StageReport()
    if ahead is not None:
        report.include(ahead)
    proves = is_first(selection.shard)
    with in_turn(connection, selection.shard, "proof"):
        damaged = prove(
            connection,
            generation,
            thorough=selection.thorough and proves,
            deep=selection.deep and proves,
            settles=not selection.is_partial,
        )
    if damaged:
        report.count("damaged", damaged)
    if selection.only_failed:
        retried = {"generation": generation.id, "documents": list(selection.documents)}
        connection.execute(queries["mark_refused_documents"], retried)
    tokenizer = token_counter(generation.embedding_settings)
    changed = changed_documents(
        connection, generation, thorough=selection.thorough or selection.force, shard=selection.shard
    )
    stale = connection.execute(
        queries["unprepared_documents"],
        {
            "collection": generation.collection,
            "generation": generation.id,
            "config_hash": chunking_config_hash(generation),
            "changed": changed.ids,
            "force": selection.force,
            "only_failed": selection.only_failed,
            "documents": list(selection.documents),
        },
    ).fetchall()
    done = 0
    if selection.force:
        connection.execute(queries["mark_documents"], {"documents": [number for number, _ in stale]})
    for batch in cut_in_batches(connection, generation, tokenizer, stale, report):
        done += len(batch)
        progress(done, len(stale))
    progress(len(stale), len(stale))
    scope = {"generation": generation.id, "changed": changed.ids}
    row = connection.execute(queries["count_chunks"], scope).fetchone()
    report.unchanged = int(row[0] if row else 0) - report.added
    refresh_statistics(connection, queries["analyze_chunks"], report)
    return report.finish(documents_version(connection, generation))


def cut_in_batches(
    connection: Connection,
    generation: Generation,
    tokenizer: TokenCounter,
    documents: Iterable[tuple[int, int]],
    report: StageReport,
) -> Iterator[list[int]]:
    """Cut documents, and yield the ids of those of each batch whose passages are stored, after their transactions.

    Args:
        connection: in autocommit mode.
        generation: the generation whose chunks to prepare.
        tokenizer: of its embedding model.
        documents: ids, and characters of Markdown.
        report: counts the chunks.
    """
    for batch in batched_by_size(documents, BATCH, BATCH_CHARACTERS, size=itemgetter(1)):
        yield _prepare(connection, generation, tokenizer, [number for number, _ in batch], report)


def _prepare(
    connection: Connection,
    generation: Generation,
    tokenizer: TokenCounter,
    documents: list[int],
    report: StageReport,
) -> list[int]:
    settings = generation.chunking_settings
    scope = {"generation": generation.id, "documents": documents}
    with connection.cursor(row_factory=dict_row) as cursor:
        contents = cursor.execute(queries["contents_to_cut"], scope).fetchall()
    parsed = [parsed_document(content) for content in contents]
    cut = [
        chunk_document(
            document,
            title=document.title,
            tokens=settings.tokens,
            overlap=settings.overlap,
            tokenizer=tokenizer,
            context=settings.context,
        )
        for document in parsed
    ]
    embeds_indexes = generation.embedding_settings.generated_indexes
    embedded = [embeds_indexes or not is_generated_index(document) for document in parsed]
    published: defaultdict[int, Counter[bytes]] = defaultdict(Counter)
    for document, digest in connection.execute(queries["published_chunk_hashes"], scope):
        published[document][digest] += 1
    prepared = [
        _Prepared(content["document_id"], content["content_hash"], chunks, has_vectors, _uncovered(document, chunks))
        for content, document, chunks, has_vectors in zip(contents, parsed, cut, embedded, strict=True)
    ]
    _, refused = write_in_halves(connection, prepared, partial(_store, connection, generation), _Prepared.failed)
    refusals = {each.document: refusal for each, refusal in refused}
    for content, each in zip(contents, prepared, strict=True):
        if refusal := refusals.get(each.document):
            report.fail(content["uri"], refusal.reason, refusal.failure_class)
            continue
        before = published[each.document]
        now = Counter(chunk.hash for chunk in each.chunks)
        report.work += cutting_work(len(each.chunks))
        report.added += (now - before).total()
        report.removed += (before - now).total()
    return [each.document for each in prepared if each.document not in refusals]


def _store(connection: Connection, generation: Generation, prepared: Sequence[_Prepared]) -> None:
    scope = {"generation": generation.id, "documents": [each.document for each in prepared]}
    connection.execute(queries["drop_prepared_chunks"], scope)
    with connection.cursor().copy(queries["copy_chunks"]) as copy:
        copy.set_types(_TYPES)
        for each in prepared:
            for chunk in each.chunks:
                copy.write_row(_row(generation.id, each.document, chunk, has_vector=each.has_vectors))
    connection.execute(
        queries["record_prepared_documents"],
        {
            **scope,
            "input_hashes": [each.content_hash for each in prepared],
            "chunk_counts": [len(each.chunks) for each in prepared],
            "uncovered": [each.uncovered for each in prepared],
            "failures": [each.refusal and each.refusal.reason for each in prepared],
            "failure_classes": [each.refusal and each.refusal.failure_class for each in prepared],
            "config_hash": chunking_config_hash(generation),
        },
    )


def parsed_document(content: dict[str, Any]) -> ParsedDocument:
    """Return the document of a row of `contents_to_cut`, without its metadata."""
    blocks = blocks_of(content["blocks"])
    return ParsedDocument(content["markdown"], blocks, content["title"], content["page_count"], content["language"], {})


def _uncovered(document: ParsedDocument, chunks: Sequence[Chunk]) -> int:
    spans = [(chunk.start_char, chunk.end_char) for chunk in chunks]
    return uncovered_characters(document.markdown, document.blocks, spans)


def _row(generation: int, document: int, chunk: Chunk, *, has_vector: bool) -> Sequence[Any]:
    return (
        generation,
        document,
        chunk.ordinal,
        chunk.text,
        chunk.embedding_text.removesuffix(chunk.text),
        list(chunk.heading_path),
        chunk.anchor,
        chunk.page,
        chunk.start_char,
        chunk.end_char,
        chunk.token_count,
        chunk.hash,
        chunk.embedding_hash if has_vector else None,
        chunk.start_seconds,
        chunk.end_seconds,
        Jsonb(part_rows(chunk.parts)) if chunk.parts else None,
    )
