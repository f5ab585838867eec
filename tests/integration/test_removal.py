"""What removing and purging promise: gone at once, gone for good, and nothing else touched."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from psycopg import Connection

from sourcebook.admin.items import find_document, list_items
from sourcebook.admin.pending import find_pending
from sourcebook.admin.removal import purge, purgeable, remove_items, restore_items
from sourcebook.admin.retention import delete_unreferenced
from sourcebook.admin.status import collection_statuses
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.errors import AmbiguousDocumentError, QueryError, UnknownDocumentError
from sourcebook.files.listing import file_uri
from sourcebook.knowledge_base import KnowledgeBase

Ingest = Callable[[Path], int]
Write = Callable[[Path, str | bytes], None]

TABLES = (
    "collection",
    "source",
    "raw_file",
    "crawled_page",
    "document",
    "chunk",
    "parsed_content",
    "transcript",
    "embedding",
    "upload",
)
COUNTS = (
    "collections",
    "sources",
    "files",
    "pages",
    "documents",
    "chunks",
    "parsed_contents",
    "transcripts",
    "embeddings",
    "uploads",
)


@pytest.fixture
def write(settle: Callable[[Path], None]) -> Write:
    def run(path: Path, content: str | bytes) -> None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        settle(path)

    return run


@pytest.fixture
def folder(tmp_path: Path, write: Write) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    write(docs / "battery.md", "# Batteries\n\nThe batteries last two winters.\n")
    write(docs / "anchor.md", "# Anchors\n\nDrop the anchor in five fathoms.\n")
    write(docs / "empty.md", "  \n")
    write(docs / "picture.psd", b"8BPS\0\1")
    return docs


@pytest.fixture
def configuration(tmp_path: Path, folder: Path) -> Path:
    return configure(tmp_path, "boat")


def configure(tmp_path: Path, *collections: str, root: str = "docs") -> Path:
    path = tmp_path / "sourcebook.yaml"
    text = "".join(f"  {name}:\n    files:\n      - root: ./{root}\n" for name in collections)
    path.write_text("collections:\n" + text)
    return path


def found(database: Database, words: str) -> list[str]:
    """Return the file names that keyword search finds."""
    with KnowledgeBase(Database(database.location)) as knowledge:
        return [result.uri.rpartition("/")[2] for result in knowledge.search(words, mode="keyword")]


def rows(database: Database) -> dict[str, int]:
    with database.connection() as connection:
        return {
            name: (connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,))[0]
            for name, table in zip(COUNTS, TABLES, strict=True)
        }


class TestRemove:
    def test_not_found_from_that_moment_on(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """A removed document is not searchable any more, and everything else still is."""
        ingest(configuration)
        with database.connection() as connection:
            (item,) = remove_items(connection, str(folder / "battery.md"))
        assert (item.collection, item.uri) == ("boat", file_uri(str(folder / "battery.md")))
        assert item.document_id is not None
        assert found(database, "batteries winters") == []
        assert found(database, "fathoms") == ["anchor.md"]

    def test_no_ingest_brings_it_back(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path, write: Write
    ) -> None:
        """Neither an ingest nor a change of the file brings it back, and the ledger says there is nothing to do."""
        ingest(configuration)
        with database.connection() as connection:
            remove_items(connection, str(folder / "battery.md"))
            assert find_pending(connection, "boat").items == 0
        write(folder / "battery.md", "# Batteries\n\nThe batteries last three winters.\n")
        ingest(configuration)
        assert found(database, "batteries winters") == []
        with database.connection() as connection:
            assert find_pending(connection, "boat").items == 0

    def test_undo_costs_no_embedding(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """Let in again, the next ingest makes the same document searchable, from what was kept."""
        ingest(configuration)
        with database.connection() as connection:
            (removed,) = remove_items(connection, str(folder / "battery.md"))
            (restored,) = restore_items(connection, str(folder / "battery.md"))
            assert restored == removed
            assert find_pending(connection, "boat").items == 1
        assert ingest(configuration) == 0
        assert found(database, "batteries winters") == ["battery.md"]
        with database.connection() as connection:
            assert find_document(connection, str(removed.document_id)).item.version == 1

    def test_twice_is_once(self, database: Database, ingest: Ingest, configuration: Path, folder: Path) -> None:
        """Removing what is removed changes nothing and is no error."""
        ingest(configuration)
        with database.connection() as connection:
            first = remove_items(connection, str(folder / "battery.md"))
            assert remove_items(connection, str(first[0].document_id)) == first

    def test_one_collection_of_two(self, database: Database, ingest: Ingest, tmp_path: Path, folder: Path) -> None:
        """With a collection named, the other one keeps the document; without, both lose it."""
        ingest(configure(tmp_path, "boat", "harbour"))
        with database.connection() as connection:
            assert [item.collection for item in remove_items(connection, str(folder / "battery.md"), "harbour")] == [
                "harbour"
            ]
            assert found(database, "batteries winters") == ["battery.md"]
            assert len(remove_items(connection, str(folder / "battery.md"))) == 2
        assert found(database, "batteries winters") == []

    def test_a_file_that_is_no_document(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """Removing a skipped file takes it off the list of problems."""
        ingest(configuration)
        with database.connection() as connection:
            (item,) = remove_items(connection, str(folder / "picture.psd"))
            assert item.document_id is None
            problems = collection_statuses(connection)[0].problems
        assert [problem.uri.rpartition("/")[2] for problem in problems] == ["empty.md"]

    def test_an_end_of_a_path(self, database: Database, ingest: Ingest, configuration: Path, folder: Path) -> None:
        """It names the one document that ends so, of the live ones to remove it, of the removed ones to restore it."""
        ingest(configuration)
        uri = file_uri(str(folder / "battery.md"))
        with database.connection() as connection:
            with pytest.raises(UnknownDocumentError):
                remove_items(connection, "ttery.md")
            (removed,) = remove_items(connection, "docs/battery.md")
            assert removed.uri == uri
            with pytest.raises(UnknownDocumentError):
                restore_items(connection, "anchor.md")
            assert restore_items(connection, "battery.md") == [removed]

    def test_an_end_of_several_paths(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path, write: Write
    ) -> None:
        (folder / "old").mkdir()
        write(folder / "old" / "anchor.md", "# Anchors\n\nThe old anchor.\n")
        ingest(configuration)
        with database.connection() as connection:
            with pytest.raises(AmbiguousDocumentError, match=r"(?s)several documents.*old/anchor\.md"):
                remove_items(connection, "anchor.md")
            assert len(remove_items(connection, "old/anchor.md")) == 1
            assert [each.uri.endswith("docs/anchor.md") for each in remove_items(connection, "anchor.md")] == [True]

    def test_unknown(self, database: Database, ingest: Ingest, configuration: Path) -> None:
        """What no collection knows is refused, and so is a collection that does not exist."""
        ingest(configuration)
        with database.connection() as connection:
            with pytest.raises(UnknownDocumentError, match=r"nowhere\.md is not in any collection"):
                remove_items(connection, "nowhere.md")
            with pytest.raises(UnknownDocumentError):
                remove_items(connection, "99999999999999999999999")
            with pytest.raises(QueryError, match="there is no collection 'ship'; there is boat"):
                remove_items(connection, "nowhere.md", "ship")

    def test_a_pending_rename_keeps_its_document(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """Removing one document does not disturb another whose file was just renamed."""
        ingest(configuration)
        with database.connection() as connection:
            before = find_document(connection, str(folder / "anchor.md")).item.document_id
            (folder / "anchor.md").rename(folder / "mooring.md")
            remove_items(connection, str(folder / "battery.md"))
        ingest(configuration)
        with database.connection() as connection:
            assert find_document(connection, str(folder / "mooring.md")).item.document_id == before


class TestPurge:
    def test_deletes_what_it_counted(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """The counts are the rows that go: of documents that were removed and of files that are gone."""
        ingest(configuration)
        (folder / "anchor.md").unlink()
        ingest(configuration)
        with database.connection() as connection:
            remove_items(connection, str(folder / "battery.md"))
            counted = purgeable(connection)
        before = rows(database)
        purged = purge(database)
        after = rows(database)
        assert purged == counted
        assert asdict(purged) == {name: before[name] - after[name] for name in before}
        assert (purged.documents, purged.files, purged.chunks, purged.embeddings) == (2, 1, 2, 2)
        with database.connection() as connection:
            assert purgeable(connection).total == 0

    def test_what_was_taken_out_stays_out(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path
    ) -> None:
        """A document that a person removed does not return after a purge, until it is let in again."""
        ingest(configuration)
        with database.connection() as connection:
            remove_items(connection, str(folder / "battery.md"))
        purge(database)
        assert ingest(configuration) == 0
        assert found(database, "batteries winters") == []
        with database.connection() as connection:
            states = {
                item.uri.rpartition("/")[2]: item.state
                for item in list_items(connection, DocumentsRequest(removed=True))
            }
            assert states["battery.md"] == "removed"
            restore_items(connection, str(folder / "battery.md"))
        assert ingest(configuration) == 1
        assert found(database, "batteries winters") == ["battery.md"]

    def test_what_others_need_is_kept(
        self, database: Database, ingest: Ingest, configuration: Path, folder: Path, write: Write
    ) -> None:
        """Of two files with the same content one is purged: text and vector stay for the other."""
        write(folder / "copy.md", (folder / "battery.md").read_bytes())
        ingest(configuration)
        with database.connection() as connection:
            remove_items(connection, str(folder / "battery.md"))
        purged = purge(database)
        assert (purged.documents, purged.parsed_contents, purged.embeddings) == (1, 0, 0)
        assert found(database, "batteries winters") == ["copy.md"]
        with database.connection() as connection:
            assert "two winters" in find_document(connection, str(folder / "copy.md")).text

    def test_a_collection_that_left_the_configuration(
        self, database: Database, ingest: Ingest, tmp_path: Path, folder: Path
    ) -> None:
        """It goes with its partition of the index; the collection that stays keeps every row and answer."""
        ingest(configure(tmp_path, "boat"))
        alone = rows(database)
        ingest(configure(tmp_path, "boat", "harbour"))
        (folder.parent / "other").mkdir()
        ingest(configure(tmp_path, "boat"))
        before = rows(database)
        purged = purge(database)
        assert asdict(purged) == {name: number - rows(database)[name] for name, number in before.items()}
        assert (purged.collections, purged.sources) == (1, 1)
        assert rows(database) == alone
        assert found(database, "batteries winters") == ["battery.md"]
        with database.connection() as connection:
            partitions = connection.execute(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'search_entry'::regclass"
            ).fetchone()
        assert partitions == (1,)

    def test_searches_go_on_until_its_end(
        self, database: Database, ingest: Ingest, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing that a search reads is locked while a removed collection is deleted with what only it needs."""
        ingest(configure(tmp_path, "boat", "harbour"))
        ingest(configure(tmp_path, "boat"))
        answers: list[list[str]] = []

        def delete_last(connection: Connection) -> dict[str, int]:
            deleted = delete_unreferenced(connection)
            with database.own_connection() as other:
                held = other.execute(
                    "SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE datname = "
                    "current_database() AND relation = 'sourcebook.search_entry'::regclass "
                    "AND mode = 'AccessExclusiveLock'"
                ).fetchall()
                answers.append(["locked"] if held else found(database, "batteries winters"))
            return deleted

        monkeypatch.setattr("sourcebook.admin.removal.delete_unreferenced", delete_last)
        assert purge(database).collections == 1
        assert answers == [["battery.md"]]

    def test_a_source_waits_for_its_documents(
        self, database: Database, ingest: Ingest, tmp_path: Path, configuration: Path
    ) -> None:
        """A source that left the configuration is kept while its documents are still searchable."""
        from sourcebook.admin.collections import apply
        from sourcebook.config.loading import load_configuration

        ingest(configuration)
        (tmp_path / "elsewhere").mkdir()
        moved = configure(tmp_path, "boat", root="elsewhere")
        with database.connection() as connection:
            apply(connection, load_configuration(moved))
            assert purgeable(connection).total == 0
        assert purge(database).total == 0
        assert found(database, "batteries winters") == ["battery.md"]
        ingest(moved)
        assert purge(database).sources == 1
        assert rows(database)["documents"] == 0

    def test_nothing_to_do(self, database: Database, ingest: Ingest, configuration: Path) -> None:
        """Where nothing was removed nothing is deleted, and no lock is left behind."""
        ingest(configuration)
        before = rows(database)
        assert purge(database).total == 0
        assert rows(database) == before
        with database.connection() as connection:
            assert not is_locked(connection, "boat")
