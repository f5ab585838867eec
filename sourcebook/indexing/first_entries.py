"""The first entries of a generation: statistics that are counted once for all of them.

The triggers that follow `search_entry` add up what each statement adds. In a load that costs more than the entries:
each statement leaves another version of the row of every lexeme in it. A generation without entries needs no adding up:
its entries go into the partition itself, whose statements fire no trigger, and what the triggers keep is counted at the
end of the same transaction, in one pass over the words of the entries.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.processes.freed_memory import return_freed_memory

if TYPE_CHECKING:
    from sourcebook.indexing.first_weights import Integers, Vocabulary, Words

KEYWORD_BLOCK: Final = 8_000
"""Entries per block of keyword weights; the dimension of keyword_block.weights."""
_AT_ONCE: Final = 1_000
"""Entries whose words are fetched at once: the text takes many times the memory of the numbers that are read in it."""
_AHEAD: Final = 4
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
    from sourcebook.indexing.first_weights import Vocabulary  # it imports numpy

    scope = {"generation": generation.id}
    vocabulary = Vocabulary()
    row = connection.execute(queries["record_first_entries"], scope).fetchone()
    average_length = float(row[0]) if row and row[0] is not None else 0.0
    connection.execute(queries["recount_configurations"], scope)
    numbers, length = _copy_weights(connection, generation, vocabulary, average_length)
    with connection.cursor().copy(queries["copy_lexemes"]) as copy:
        copy.set_types(["int8", "text", "int4", "int4"])
        for token in sorted(vocabulary):  # in the order of the index: Python's order is that of the bytes in UTF-8
            place = vocabulary[token]
            copy.write_row((generation.id, token, int(numbers[place]), int(vocabulary.entries[place])))
    connection.execute(queries["record_total_length"], {**scope, "total_length": length})
    connection.execute(queries["insert_block_sizes"], {**scope, "entries": KEYWORD_BLOCK})
    connection.execute(queries["analyze_lexemes"])


def _copy_weights(
    connection: Connection, generation: Generation, vocabulary: "Vocabulary", average_length: float
) -> "tuple[Integers, int]":
    """Copy the keyword weights of all entries and of their blocks; a thread weighs the next ones meanwhile.

    Returns:
        The number of each lexeme of the vocabulary in the database, and the length of all entries.
    """
    import numpy as np

    from sourcebook.indexing.first_weights import keyword_rows

    entries = queries["copy_keyword_entries"].format(partition=generation.partitions["keyword_entry"])
    numbers, length = np.zeros(0, np.int32), 0

    def copy(weighed: "Future[tuple[bytes, bytes]]") -> None:
        of_entries, of_block = weighed.result()
        with connection.cursor().copy(entries) as into:
            into.write(of_entries)
        with connection.cursor().copy(queries["copy_keyword_blocks"]) as into:
            into.write(of_block)
        return_freed_memory()  # the C library keeps a third of what a block has needed, in pieces

    with ThreadPoolExecutor(1) as weigher:
        before = None
        for part, words in enumerate(_words(connection, generation, vocabulary), 1):
            new = {"table": "lexeme", "rows": len(vocabulary) - len(numbers)}
            drawn = [number for (number,) in connection.execute(queries["new_numbers"], new)]
            numbers = np.concatenate([numbers, np.array(drawn, np.int32)])
            following = weigher.submit(
                keyword_rows,
                words,
                numbers,
                average_length=average_length,
                generation=generation.id,
                block=part if len(words.chunks) == KEYWORD_BLOCK else None,
            )
            length += int(words.lengths.sum())
            if before is not None:
                copy(before)
            before = following
        if before is not None:
            copy(before)
    return numbers, length


def _words(connection: Connection, generation: Generation, vocabulary: "Vocabulary") -> "Iterator[Words]":
    """Yield the words of the entries block by block; a thread reads the next ones while the caller works on a block."""
    from sourcebook.indexing.first_weights import Words

    parts: list[Words] = []
    for part in _parts(connection, generation, vocabulary):
        parts.append(part)
        if sum(len(each.chunks) for each in parts) == KEYWORD_BLOCK:
            yield Words.joined(parts)
            parts.clear()
    if parts:
        yield Words.joined(parts)


def _parts(connection: Connection, generation: Generation, vocabulary: "Vocabulary") -> "Iterator[Words]":
    """Yield the words of the entries in parts, several of which are a block; a thread reads some parts ahead."""
    from sourcebook.indexing.first_weights import read_words

    with connection.cursor("entries_with_words") as cursor, ThreadPoolExecutor(1) as reader:
        cursor.execute(queries["entries_with_words"].format(partition=generation.partition))
        ahead: deque[Future[Words]] = deque()
        fetched = 0
        while rows := cursor.fetchmany(min(_AT_ONCE, KEYWORD_BLOCK - fetched % KEYWORD_BLOCK)):
            fetched += len(rows)
            ahead.append(reader.submit(read_words, rows, vocabulary))
            if len(ahead) > _AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
