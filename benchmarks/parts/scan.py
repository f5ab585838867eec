"""The scan and the staleness queries alone, over many unchanged files."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, middle, say, spread
from sourcebook.admin.checks import run_checks
from sourcebook.admin.collections import apply
from sourcebook.admin.pending import find_pending
from sourcebook.database.database import Database
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.raw_files import collection_sources, compare, update_raw_files
from sourcebook.stages.search_index import publish

_BYTES = 400
"""Bytes of a file, one or two passages: neither the scan nor the queries read content."""
_REPEATS = 5


class StandInEmbedder:
    """An embedder of constant unit vectors: nothing measured here reads a vector."""

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(1)

    def submit(self, texts: Sequence[str]) -> "Future[NDArray[np.float32]]":
        """Return one vector a text."""
        rows = self._random.standard_normal((len(texts), 384), np.float32)
        done: Future[NDArray[np.float32]] = Future()
        done.set_result(rows / np.linalg.norm(rows, axis=1, keepdims=True))
        return done


def run(bench: Bench) -> list[Row]:
    """Ingest many files with constant vectors, then look for changes and find none."""
    library = many_files(bench)
    with library.database() as database, database.connection() as connection:
        listing, whole = [], []
        for _ in range(max(bench.options.repeat, _REPEATS)):
            started = time.perf_counter()
            for source in collection_sources(connection, COLLECTION):
                compare(connection, source)
            listing.append(time.perf_counter() - started)
            started = time.perf_counter()
            pending = find_pending(connection, COLLECTION)
            whole.append(time.perf_counter() - started)
            assert not pending.work, f"the ledger is not up to date: {pending}"
    size = f"{bench.options.many_files:,} unchanged files"
    return [
        Row(f"scan and staleness queries, {size}", middle(whole), "s", 0.5, spread(whole, "s")),
        Row("of which listing and comparing with the inventory", middle(listing), "s"),
    ]


def many_files(bench: Bench, files: int | None = None) -> Library:
    """Return a library of small files that is up to date, with random vectors.

    Args:
        bench: the run; a library of equal size is filled once.
        files: number of files; None: `--many-files`.
    """
    count = files or bench.options.many_files
    made = bench.folder / f"many-{count}"
    if made.exists():
        return Library(made)
    library = bench.library(made.name)
    write_corpus(library.files, count, size=_BYTES)
    with library.database() as database:
        take_in(database, library)
    return library


def take_in(database: Database, library: Library, collection: str = COLLECTION) -> None:
    """Bring a collection up to date with random vectors."""
    with database.connection() as connection, database.connection() as writer:
        apply(connection, library.configuration)
        say(f"  raw_files: {update_raw_files(connection, collection).seconds:.0f} s")
        say(f"  documents: {update_documents(connection, collection).seconds:.0f} s")
        generation = ensure_generation(connection, collection)
        report = prepare_chunks(connection, generation)
        say(f"  chunks: {report.seconds:.0f} s, {report.added:,} chunks")
        report = embed_missing(connection, writer, generation, lambda _: StandInEmbedder())
        say(f"  embeddings, stand-ins: {report.seconds:.0f} s")
        say(f"  search_index: {publish(connection, generation).seconds:.0f} s")
        say(f"  index_upkeep: {maintain_index(connection, generation).seconds:.0f} s")
        run_checks(connection, collection)
        connection.execute("VACUUM ANALYZE")
