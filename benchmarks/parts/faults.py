"""Random faults in every table of an index: how many are found and mended, and how long the proof takes."""

import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from random import Random

import psycopg

from benchmarks.harness.bench import Bench
from benchmarks.harness.faults.index_state import different_parts, index_state
from benchmarks.harness.faults.random_fault import FaultMaker
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, middle, say
from sourcebook.admin.pending import find_pending
from sourcebook.database.database import Database
from sourcebook.embedding.model import find_model
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.indexing.damage import find_damage, find_suspicion
from sourcebook.indexing.generations import ensure_generation
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages import index_upkeep
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish

FAULTS = 1_000
AT_ONCE = 10
"""Faults before each repair."""
BLOCK = 64
"""Entries of a block of keyword weights in the small base, instead of 8,000."""
_MESSAGES = 10
"""Messages with attachments beside the files of the small base."""


def run(bench: Bench) -> list[Row]:
    """Make the faults in a small base, ten before each repair, and compare with the state before."""
    library = bench.filled("faults", files=bench.options.small_files)
    for number in range(_MESSAGES):
        _write_message(library.files / f"message-{number}.eml", number)
    library.ingest()
    index_upkeep.BLOCK, index_upkeep.FEWEST_OF_A_BLOCK = BLOCK, BLOCK // 2
    found = mended = named = 0
    seconds: list[float] = []
    with (
        library.database() as database,
        database.connection() as connection,
        ParserPool() as parsers,
        EmbeddingProcess(find_model(BUNDLED_NAME)) as embedder,
    ):
        _bring_up_to_date(database, parsers, embedder)
        fresh = index_state(connection, COLLECTION)
        with psycopg.connect(database.url, autocommit=True) as foreign:
            foreign.execute("SET search_path TO sourcebook, public")
            maker = FaultMaker(foreign, Random(bench.options.seed))
            for _ in range(FAULTS // AT_ONCE):
                faults = []
                for _ in range(AT_ONCE):
                    marks = len(find_suspicion(connection, COLLECTION).marks)
                    faults.append(str(maker.make()))
                    found += len(find_suspicion(connection, COLLECTION).marks) > marks
                pending = find_pending(connection, COLLECTION)
                named += bool(pending.damage or pending.items)
                started = time.perf_counter()
                _bring_up_to_date(database, parsers, embedder)
                seconds.append(time.perf_counter() - started)
                differing = different_parts(fresh, index_state(connection, COLLECTION))
                if differing or find_pending(connection, COLLECTION).work:
                    say(f"  not mended: {'; '.join(faults)}: {differing}")
                    fresh = index_state(connection, COLLECTION)
                else:
                    mended += AT_ONCE
    bench.drop(library)
    return [
        Row("random faults found", found, "faults", FAULTS, at_least=True),
        Row("random faults mended, the index as before", mended, "faults", FAULTS, at_least=True),
        Row(f"groups of {AT_ONCE} faults with the damage named", named, "groups"),
        Row(f"repair of {AT_ONCE} faults among {bench.options.small_files:,} files", middle(seconds), "s"),
        *_proof(bench),
    ]


def _write_message(path: Path, number: int) -> None:
    """Write a message with two attachments."""
    message = EmailMessage()
    message["Subject"] = f"Gauge {number}"
    message.set_content(f"Gauge {number} was read at noon; the log and the plan are attached.\n")
    for name in ("log", "plan"):
        text = f"The {name} of gauge {number} is kept in the harbour office.\n"
        message.add_attachment(text, filename=f"{name}.txt")
    path.write_bytes(message.as_bytes())


def _bring_up_to_date(database: Database, parsers: ParserPool, embedder: EmbeddingProcess) -> None:
    with database.connection() as connection, database.connection() as writer:
        update_raw_files(connection, COLLECTION)
        update_documents(connection, COLLECTION, parsers=parsers)
        generation = ensure_generation(connection, COLLECTION)
        prepare_chunks(connection, generation)
        embed_missing(connection, writer, generation, lambda _: embedder)
        publish(connection, generation)
        maintain_index(connection, generation)


def _proof(bench: Bench) -> list[Row]:
    """Time the look for signs, and the comparison of a whole base."""
    library: Library = bench.ingested
    with library.database() as database, database.connection() as connection:
        generation = ensure_generation(connection, COLLECTION)
        signs = [_seconds(lambda: find_suspicion(connection, COLLECTION)) for _ in range(50)]
        compared = [_seconds(lambda: find_damage(connection, generation)) for _ in range(3)]
        deep = _seconds(lambda: find_damage(connection, generation, deep=True))
    files = f"{bench.options.files:,} files"
    return [
        Row(f"look for signs of foreign changes among {files}", middle(signs) * 1000, "ms"),
        Row(f"comparison of all rows of {files} with seals and sums", middle(compared), "s"),
        Row(f"comparison with every keyword weight of {files}", deep, "s"),
    ]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
