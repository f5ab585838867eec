"""The first entries of a generation: statistics that are counted once for all of them.

The triggers that follow `search_entry` add up what each statement adds. In a load that costs more than the entries:
each statement leaves another version of the row of every lexeme in it. A generation without entries needs no adding up:
its entries go into the partition itself, whose statements fire no trigger, and what the triggers keep is counted at the
end of the same transaction, in one pass over the words of the entries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from psycopg import Connection

from sourcebook.database.batches import read_ahead
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.processes.machine_memory import return_freed_memory

if TYPE_CHECKING:
    from sourcebook.indexing.first_weights import Integers, Vocabulary, Words

KEYWORD_BLOCK: Final = 8_000
"""Entries per block of keyword weights; the dimension of keyword_block.weights."""
_AT_ONCE: Final = 1_000
"""Entries whose words are fetched at once: the text takes many times the memory of the numbers that are read in it."""
_AHEAD: Final = 2
"""Parts of this size that wait to be read while earlier ones are copied."""


def is_unused(connection: Connection, generation: Generation) -> bool:
    """Return whether a generation has no entry, and nothing that was counted of earlier ones."""
    return connection.execute(queries["is_unused_generation"], {"generation": generation.id}).fetchone() == (True,)


def count_statistics(connection: Connection, generation: Generation) -> None:
    """Record the vocabulary, the numbers of entries and texts, the keyword weights and their blocks.

    Args:
        connection: in the transaction that has inserted every entry of the generation into its partition.
        generation: the generation, which was unused before that transaction.
    """
    scope = {"generation": generation.id}
    connection.execute(queries["count_first_audiences"], scope)
    row = connection.execute(queries["record_first_entries"], scope).fetchone()
    average_length = float(row[0]) if row and row[0] is not None else 0.0
    connection.execute(queries["recount_configurations"], scope)
    connection.execute(queries["create_vocabulary"])
    length = _copy_weights(connection, generation, average_length)
    connection.execute(queries["insert_first_lexemes"], scope)
    connection.execute(queries["drop_vocabulary"])
    connection.execute(queries["record_total_length"], {**scope, "total_length": length})
    connection.execute(queries["insert_block_sizes"], {**scope, "entries": KEYWORD_BLOCK})
    connection.execute(queries["analyze_lexemes"])


def _copy_weights(connection: Connection, generation: Generation, average_length: float) -> int:
    """Copy the keyword weights of all entries and of their blocks, and return the length of all entries.

    Memory does not grow with the entries: their words are here block by block, the vocabulary is in the database.
    """
    length = 0
    for block, (parts, vocabulary) in enumerate(_words(connection, generation), 1):
        length += sum(int(part.lengths.sum()) for part in parts)
        is_full = sum(len(part.chunks) for part in parts) == KEYWORD_BLOCK
        _copy_block(connection, generation, average_length, parts, vocabulary, block if is_full else None)
        return_freed_memory()  # the C library keeps a third of what a block has needed, in pieces
    return length


def _copy_block(
    connection: Connection,
    generation: Generation,
    average_length: float,
    parts: Sequence[Words],
    vocabulary: Vocabulary,
    block: int | None,
) -> None:
    """Copy the weights of entries and of the block that they fill; a thread makes the next rows meanwhile."""
    from sourcebook.indexing.first_weights import BlockWeights  # it imports numpy

    numbers = _numbers(connection, vocabulary)
    weights = BlockWeights(numbers, average_length=average_length, generation=generation.id, block=block)
    entries = queries["copy_keyword_entries"].format(partition=generation.partitions["keyword_entry"])
    for statement, rows in (
        (entries, weights.entry_rows(parts)),
        (queries["copy_keyword_blocks"], weights.block_rows()),
    ):
        with connection.cursor().copy(statement) as into:
            for some in read_ahead(rows):
                into.write(some)


def _numbers(connection: Connection, vocabulary: Vocabulary) -> Integers:
    """Count the lexemes of a block in the vocabulary of the database, and return the number of each there."""
    import numpy as np

    lexemes = {"lexemes": list(vocabulary), "entries": vocabulary.entries.tolist()}
    connection.execute(queries["number_lexemes"], lexemes)
    return np.fromiter((number for (number,) in connection.execute(queries["count_lexemes"], lexemes)), np.int32)


def _words(connection: Connection, generation: Generation) -> Iterator[tuple[list[Words], Vocabulary]]:
    """Yield the words of the entries block by block, in parts, with the vocabulary of each block.

    A thread reads the words of some parts ahead.
    """
    parts: list[Words] = []
    for part, vocabulary in _parts(connection, generation):
        parts.append(part)
        if sum(len(each.chunks) for each in parts) == KEYWORD_BLOCK:
            yield parts, vocabulary
            parts.clear()
    if parts:
        yield parts, vocabulary


def _parts(connection: Connection, generation: Generation) -> Iterator[tuple[Words, Vocabulary]]:
    """Yield the words of some entries, and the vocabulary of their block, which has the words of other parts, too."""
    from sourcebook.indexing.first_weights import Vocabulary, read_words

    with connection.cursor("entries_with_words") as cursor, ThreadPoolExecutor(1) as reader:
        cursor.execute(queries["entries_with_words"].format(partition=generation.partition))
        ahead: deque[tuple[Future[Words], Vocabulary]] = deque()
        fetched, vocabulary = 0, Vocabulary()
        while rows := cursor.fetchmany(min(_AT_ONCE, KEYWORD_BLOCK - fetched % KEYWORD_BLOCK)):
            if fetched % KEYWORD_BLOCK == 0:
                vocabulary = Vocabulary()
            fetched += len(rows)
            ahead.append((reader.submit(read_words, rows, vocabulary), vocabulary))
            if len(ahead) > _AHEAD:
                words, of_block = ahead.popleft()
                yield words.result(), of_block
        while ahead:
            words, of_block = ahead.popleft()
            yield words.result(), of_block
