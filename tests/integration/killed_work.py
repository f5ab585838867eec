"""The process that the kill drills kill: each piece of work runs in a fork that has imported the library already.

`python -m tests.integration.killed_work URL HOME ANSWERS` reads one piece of work a line, as a JSON list of its name
and its arguments. To the file descriptor ANSWERS it writes the id of the process that does it, and then that process's
exit code. Standard output is left to the work: a worker of loky whose parent dies while it starts prints a traceback
there.
"""

import json
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sourcebook.admin.checks import run_checks
from sourcebook.admin.pending import find_pending
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.lock import collection_lock
from sourcebook.errors import SourcebookError
from sourcebook.indexing.generation_states import activate_generation, retire_generation
from sourcebook.indexing.generations import ensure_generations
from sourcebook.model.selection import Selection
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.stages import embeddings, index_upkeep
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import SubmittingEmbedder, embed_missing
from sourcebook.stages.generations import finish_generations, in_each_generation
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish
from sourcebook.stages.words_first import Ahead, WordsFirst
from sourcebook.transfer.backup import restore as restore_backup
from sourcebook.transfer.importing import import_collections

REFUSED = 3
"""Exit code of a piece of work that ended with a sentence for the user."""
BLOCK = 8
"""Entries of a block of keyword weights, instead of 8,000."""


def activate(database: Database, number: int) -> None:
    """Do what `sourcebook generations activate` does."""
    activate_generation(database, number)


def retire(database: Database, number: int) -> None:
    """Do what `sourcebook generations retire` does."""
    retire_generation(database, number)


def reconcile(database: Database, collection: str) -> None:
    """Do what the stages and checks of `sourcebook reconcile --deep` do; every vector is cached or published."""
    selection = Selection(thorough=True, deep=True)
    with (
        ParserPool() as parsers,
        collection_lock(database, collection),
        database.connection() as connection,
        database.connection() as writer,
    ):
        find_pending(connection, collection, selection)
        update_raw_files(connection, collection, selection)
        update_documents(connection, collection, selection, parsers=parsers)
        generations = ensure_generations(connection, collection)
        in_each_generation(connection, generations, lambda each: prepare_chunks(connection, each, selection))
        in_each_generation(connection, generations, lambda each: embed_missing(connection, writer, each, _no_embedder))
        in_each_generation(connection, generations, lambda each: publish(connection, each))
        in_each_generation(connection, generations, lambda each: maintain_index(connection, each))
        finish_generations(connection, collection)
        run_checks(connection, collection)


def fill(database: Database, collection: str) -> None:
    """Do what the stages of a first ingest do, with vectors that no model computes."""
    ahead = Ahead()
    with (
        ParserPool() as parsers,
        collection_lock(database, collection),
        database.connection() as connection,
        database.connection() as writer,
    ):
        update_raw_files(connection, collection)
        words = WordsFirst(connection, collection, ahead)
        update_documents(connection, collection, parsers=parsers, recorded=words.publish)
        (generation,) = ensure_generations(connection, collection)
        words.publish()
        prepare_chunks(connection, generation)
        embed_missing(
            connection,
            writer,
            generation,
            lambda _: HashedVectors(),
            embedded=lambda documents: ahead.publish_embedded(writer, generation, documents),
        )
        publish(connection, generation)
        maintain_index(connection, generation)


class HashedVectors:
    """Vectors of length 1 by the hash of the text."""

    def submit(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Compute at once."""
        computed: Future[NDArray[np.float32]] = Future()
        rows = np.stack([np.random.default_rng(zlib.crc32(text.encode())).normal(size=384) for text in texts])
        computed.set_result((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))
        return computed


def restore(database: Database, file: str) -> None:
    """Do what `sourcebook restore --replace` does."""
    restore_backup(database, Path(file), replace=True)


def load(database: Database, folder: str) -> None:
    """Do what `sourcebook import` does."""
    import_collections(database, Path(folder))


WORK: dict[str, Callable[..., None]] = {
    "activate": activate, "retire": retire, "reconcile": reconcile, "restore": restore, "load": load, "fill": fill
}  # fmt: skip


def main(url: str, home: str, answers: str) -> None:
    """Do the pieces of work that arrive, one after the other."""
    descriptor = int(answers)
    os.set_inheritable(descriptor, False)
    index_upkeep.BLOCK, index_upkeep.FEWEST_OF_A_BLOCK = BLOCK, 1
    embeddings.BATCH, embeddings.PASSAGES_AT_ONCE = BLOCK, 2 * BLOCK
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        process = os.fork()
        if not process:
            os._exit(_do(url, home, name, arguments))
        os.write(descriptor, b"%d\n" % process)
        os.write(descriptor, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def _do(url: str, home: str, name: str, arguments: list[Any]) -> int:
    try:
        with Database(DatabaseLocation(Path(home), url)) as database:
            WORK[name](database, *arguments)
    except SourcebookError as error:
        print(error, file=sys.stderr, flush=True)
        return REFUSED
    return 0


def _no_embedder(texts: int) -> SubmittingEmbedder:
    raise AssertionError(f"{texts} vectors are to be computed")


if __name__ == "__main__":
    main(*sys.argv[1:])
