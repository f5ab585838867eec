"""An import gives rows new numbers, and the database remembers for which exported ones they stand."""

import re
import tracemalloc
from pathlib import Path

import psycopg
import pytest

from sourcebook.database.database import Database
from sourcebook.errors import TransferError
from sourcebook.transfer import new_numbers
from sourcebook.transfer.new_numbers import NewNumbers

FILE = Path("ledger/indexed_document.parquet")
_FRAMES = 30
"""Callers that are remembered of each piece of memory: more than lie between `draw` and psycopg's innermost call."""


def test_exported_numbers_are_translated_in_order(database: Database) -> None:
    """By the column that refers to them: a source and a document may have had one number."""
    with database.connection() as connection, connection.transaction():
        numbers = NewNumbers(connection, "handbook", 1)
        source, documents = numbers.draw("source", [7]), numbers.draw("document", [7, 9, 8])
        assert len(set(documents)) == 3
        assert numbers.translate("document_id", [9, 9, 7, 8], FILE) == [documents[place] for place in (1, 1, 0, 2)]
        assert numbers.translate("source_id", [7], FILE) == source
        assert numbers.translate("source_id", [], FILE) == []


def test_each_collection_has_numbers_of_its_own(database: Database) -> None:
    with database.connection() as connection, connection.transaction():
        NewNumbers(connection, "handbook", 1).draw("document", [7])
        other = NewNumbers(connection, "news", 2)
        said = re.escape(f"{FILE} refers to the document_id 7, which the export lacks: export again")
        with pytest.raises(TransferError, match=said):
            other.translate("document_id", [7], FILE)


def test_a_number_that_an_export_has_twice_is_refused(database: Database) -> None:
    with database.connection() as connection, connection.transaction() as transaction:
        numbers = NewNumbers(connection, "handbook", 1)
        with pytest.raises(psycopg.IntegrityError), connection.transaction():
            numbers.draw("document", [7, 8, 7])
        raise psycopg.Rollback(transaction)


def test_numbers_are_not_kept_in_memory(database: Database) -> None:
    """What is kept of 60,000 documents, by whatever `draw` calls, is less than a byte for each."""
    with database.connection() as connection, connection.transaction():
        numbers = NewNumbers(connection, "handbook", 1)
        numbers.draw("document", range(1_000))
        tracemalloc.start(_FRAMES)
        try:
            for first in range(1_000, 61_000, 1_000):
                numbers.draw("document", range(first, first + 1_000))
            # Threads of pools and servers, which other tests began, keep memory of their own meanwhile.
            drawn = tracemalloc.Filter(inclusive=True, filename_pattern=new_numbers.__file__, all_frames=True)
            kept = tracemalloc.take_snapshot().filter_traces([drawn])
            assert sum(trace.size for trace in kept.traces) < 60_000
        finally:
            tracemalloc.stop()
