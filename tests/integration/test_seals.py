"""What anybody has changed by SQL stays noticed, whatever the library does with the row, and whoever it was."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest

from sourcebook.admin.removal import remove_items, restore_items
from sourcebook.indexing.damage import find_ledger_damage
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("gauge.md", "# Tide gauge\n\nThe gauge is read twice a day.\n")
    stages.write("pier.md", "# Pier\n\nSeals rest on the steps.\n")
    stages.configure()
    stages.run()
    return stages


@pytest.fixture
def visitor(base: Stages) -> Iterator[psycopg.Connection]:
    """A session of a role without any right but to read and write the tables."""
    role = f"visitor_{uuid4().hex}"
    with psycopg.connect(base.database.url, autocommit=True) as connection:
        connection.execute(
            f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA sourcebook TO {role}; "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sourcebook TO {role}; "
            f"REVOKE ALL ON sourcebook.foreign_change FROM {role}; SET ROLE {role}".encode()
        )
        try:
            yield connection
        finally:
            connection.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}".encode())


def damaged(stages: Stages) -> list[str]:
    with stages.connection() as connection:
        return [str(finding) for finding in find_ledger_damage(connection, stages.collection)]


def foreign(stages: Stages, statement: str) -> None:
    with psycopg.connect(stages.database.url, autocommit=True) as connection:
        connection.execute(statement.encode())


def test_a_file_that_is_removed_and_let_in_again_stays_damaged_until_it_is_read_again(base: Stages) -> None:
    """Neither writes what the seal is about."""
    foreign(base, "UPDATE sourcebook.raw_file SET media_type = 'text/plain' WHERE uri LIKE '%gauge.md'")
    (found,) = damaged(base)
    assert "gauge.md: its row of the inventory was changed" in found
    with base.connection() as connection:
        remove_items(connection, base.uri("gauge.md"))
        restore_items(connection, base.uri("gauge.md"))
    assert damaged(base) == [found]
    base.run()
    assert not damaged(base)
    assert {row["media_type"] for row in base.rows("SELECT media_type FROM raw_file")} == {"text/markdown"}


def test_a_document_stays_damaged_when_its_retry_is_moved(base: Stages) -> None:
    foreign(base, "UPDATE sourcebook.document SET title = 'Another' WHERE uri LIKE '%gauge.md'")
    (found,) = damaged(base)
    base.rows("UPDATE document SET next_retry_at = now() RETURNING 1")
    assert damaged(base) == [found]
    base.run()
    assert not damaged(base)
    assert base.search("gauge", mode="keyword")[0].title == "Tide gauge"


def test_no_temporary_table_hides_who_changed_a_row(base: Stages, visitor: psycopg.Connection) -> None:
    """The mark is written by the owner's function: a table of the session comes last, and its triggers never run."""
    visitor.execute("CREATE TEMPORARY TABLE collection (name text)")
    visitor.execute("CREATE TEMPORARY TABLE foreign_change (collection text, relation text, operation text)")
    visitor.execute("UPDATE sourcebook.document SET title = 'Another'")
    assert {row["relation"] for row in base.rows("SELECT relation FROM foreign_change")} == {"document"}
    assert base.pending().suspicious


def test_changed_tags_of_a_file_are_found_and_are_what_they_were(base: Stages) -> None:
    """The seal of a file does not hold its tags, which only uploads have."""
    for tags in ("{changed}", "{one,two}"):
        foreign(base, f"UPDATE sourcebook.raw_file SET tags = '{tags}' WHERE uri LIKE '%gauge.md'")
        (found,) = damaged(base)
        assert "gauge.md: its row of the inventory was changed" in found
        base.run()
        assert not damaged(base)
        assert {tuple(row["tags"]) for row in base.rows("SELECT tags FROM document")} == {()}
    assert not base.pending().work
