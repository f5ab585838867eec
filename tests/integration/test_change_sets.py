"""A run costs what changed: marks name the changed rows, counts are kept, and a thorough run looks at everything."""

from collections import Counter

import pytest
from psycopg import Connection

from orchestration.ingest import IngestEvents, ingest
from sourcebook.admin.checks import run_checks
from sourcebook.admin.items import list_items
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.admin.removal import remove_items, restore_items
from sourcebook.admin.status import collection_statuses
from sourcebook.config.loading import load_configuration
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.indexing.generations import ensure_generation
from sourcebook.metrics.server import read_ledger
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.search_index import publish
from tests.integration.stages import Stages
from tests.integration.test_publication import CONFIGURATION, page

THOROUGH = Selection(thorough=True)
FEW, MANY = 20, 240
"""Files of the smaller and of the larger base."""
SLACK = 60
"""Rows by which plans may differ: far fewer than the rows by which the bases differ."""
NEW = page(Power="The generator was replaced in spring. " * 5)


def grow(stages: Stages, first: int, last: int) -> None:
    """Write files of one text, publish and check them, and refresh the statistics of the planner."""
    for number in range(first, last):
        stages.write(f"{number:04}.md", page())
    stages.run()
    with stages.connection() as connection:
        run_checks(connection, stages.collection)
        stages.rows("UPDATE indexed_document SET published_at = published_at - interval '1 hour' RETURNING 1")
        connection.execute("VACUUM ANALYZE")


def rows_read(connection: Connection, *but: str) -> Counter[str]:
    """Return the number of rows read from each table but the named ones, since the statistics were last flushed."""
    found = connection.execute(
        "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables "
        "WHERE NOT relname = ANY(%s)",
        [list(but)],
    )
    return Counter({name: int(rows) for name, rows in found if rows})


def rows_read_by_a_run(stages: Stages) -> Counter[str]:
    """Run what follows the listing, and return the numbers of rows that it reads."""
    name = stages.collection
    with stages.connection() as connection, connection.transaction():
        connection.execute("SET LOCAL enable_seqscan = off")  # a small table is read whole where the planner may
        before = rows_read(connection)
        update_documents(connection, name, parsers=stages.parsers)
        generation = ensure_generation(connection, name)
        prepare_chunks(connection, generation)
        embed_missing(connection, connection, generation, lambda _: stages.embedder)
        publish(connection, generation)
        assert not any(outcome.violations for outcome in run_checks(connection, name, thorough=False))
        return rows_read(connection) - before


def rows_read_by(stages: Stages, what: str) -> Counter[str]:
    """Return the numbers of rows that a read-only command reads; the inventory is compared as a whole."""
    with stages.connection() as connection, connection.transaction():
        connection.execute("SET LOCAL enable_seqscan = off")
        before = rows_read(connection, "raw_file")
        if what == "pending":
            assert not find_pending(connection, stages.collection).work
        elif what == "status":
            assert collection_statuses(connection)[0].documents >= FEW
        elif what == "metrics":
            assert "sourcebook_documents" in {family.name for family in read_ledger(connection)}
        else:
            assert len(list_items(connection, DocumentsRequest(limit=10))) == 10
        return rows_read(connection, "raw_file") - before


def test_a_run_after_one_edit_reads_as_many_rows_in_a_large_base_as_in_a_small_one(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    read = []
    for first, last in ((0, FEW), (FEW, MANY)):
        grow(stages, first, last)
        stages.write("0001.md", page(Power=f"The generator was replaced in year {last}. " * 5))
        stages.raw_files()
        read.append(rows_read_by_a_run(stages))
    assert read[1].total() <= read[0].total() + SLACK, read[1] - read[0]
    stages.assert_sound()


def test_a_run_after_a_deletion_reads_as_many_rows_in_a_large_base_as_in_a_small_one(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    read = []
    for first, last in ((0, FEW), (FEW, MANY)):
        grow(stages, first, last)
        (stages.root / f"{first:04}.md").unlink()
        stages.raw_files()
        read.append(rows_read_by_a_run(stages))
    assert read[1].total() <= read[0].total() + SLACK, read[1] - read[0]
    stages.assert_sound()


def test_commands_that_only_look_and_a_scrape_read_no_more_rows_in_a_large_base(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    read: list[dict[str, Counter[str]]] = []
    for first, last in ((0, FEW), (FEW, MANY)):
        grow(stages, first, last)
        read.append({what: rows_read_by(stages, what) for what in ("pending", "status", "documents", "metrics")})
    more = {what: read[1][what] - read[0][what] for what in read[0]}
    assert all(rows.total() <= SLACK for rows in more.values()), more


def test_equal_content_has_an_equal_version_in_whatever_order_it_came(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    stages.write("a.md", page())
    stages.write("b.md", NEW)
    before = {name: report.version for name, report in stages.run().items()}
    stages.write("a.md", NEW)
    assert stages.run()["documents"].version != before["documents"]
    (stages.root / "b.md").unlink()
    stages.run()
    stages.write("b.md", NEW)
    stages.write("a.md", page())
    assert {name: report.version for name, report in stages.run().items()} == before
    stages.assert_sound()


def test_a_page_of_documents_begins_as_the_whole_list_does(stages: Stages) -> None:
    """Files that are no documents have their place between the documents."""
    stages.configure(CONFIGURATION)
    for name in ("a.md", "c.md", "e.md"):
        stages.write(name, page())
    stages.write("b.bin", b"\x00\x01")
    stages.run()
    stages.write("d.bin", b"\x00\x01")
    stages.raw_files()
    with stages.connection() as connection:
        whole = list_items(connection)
        assert len(whole) == 5
        for limit in range(1, 7):
            assert list_items(connection, DocumentsRequest(limit=limit)) == whole[:limit]


def test_a_removed_item_is_counted_and_returns(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    stages.write("a.md", page())
    stages.write("b.md", NEW)
    stages.run()
    with stages.connection() as connection:
        remove_items(connection, stages.uri("a.md"))
    assert not stages.pending().work
    stages.assert_sound()
    with stages.connection() as connection:
        restore_items(connection, stages.uri("a.md"))
    assert stages.pending().documents == 1
    stages.run()
    assert stages.found("harbour") == {"a.md", "b.md"}
    stages.assert_sound()


def test_runs_over_single_documents_leave_no_marks_once_all_changes_are_taken(stages: Stages) -> None:
    """The watch ingests single files all day: what they cost does not grow until the next run over everything."""
    stages.configure(CONFIGURATION)
    for name in ("a.md", "b.md"):
        stages.write(name, page())
    stages.run()
    for name in ("a.md", "b.md"):
        stages.write(name, NEW)
    stages.raw_files()
    for name, left in (("a.md", True), ("b.md", False)):
        stages.documents(Selection(documents=(stages.uri(name),)))
        assert bool(stages.rows("SELECT FROM changed_item")) == left
    with stages.connection() as connection:
        pending = find_pending(connection, stages.collection, THOROUGH)
    assert (pending.documents, pending.index) == (0, 2)


def test_parsers_that_changed_nothing_are_compared_with_once(stages: Stages) -> None:
    """After an upgrade, the first `ingest` that finds nothing to do compares every document; later ones do not."""
    stages.configure(CONFIGURATION)
    stages.write("a.md", page())
    stages.run()
    stages.rows("UPDATE collection SET compared_with = 'other parsers' RETURNING 1")
    configuration = load_configuration(stages.root.parent / "sourcebook.yaml")

    def found(selection: Selection) -> Pending:
        (done,) = ingest(
            configuration,
            stages.database,
            collections=[stages.collection],
            selection=selection,
            events=IngestEvents(),
        )
        assert done.run_id is None
        return done.pending

    single = Selection(documents=(stages.uri("a.md"),))
    assert [found(selection).settled_parsers is None for selection in (single, EVERYTHING, EVERYTHING)] == [
        False,
        False,
        True,
    ]


def test_a_thorough_run_mends_what_no_mark_names(stages: Stages) -> None:
    """A row that was changed behind the back of the pipeline is found at night."""
    stages.configure(CONFIGURATION)
    stages.write("a.md", page())
    stages.run()
    stages.rows("UPDATE indexed_document SET published_title = 'Another' RETURNING 1")
    stages.rows("UPDATE tally SET items = items + 1 RETURNING 1")
    with stages.connection() as connection:
        assert find_pending(connection, stages.collection, THOROUGH).index == 1
        publish(connection, stages.generation, thorough=True)
    stages.run(THOROUGH)
    assert not stages.pending().work
    stages.assert_sound()


@pytest.mark.parametrize("thorough", [False, True])
def test_a_violation_is_reported_until_it_is_mended(stages: Stages, thorough: bool) -> None:
    """A run checks the documents that changed; at night, and after a violation, it checks all of them."""
    stages.configure(CONFIGURATION)
    grow(stages, 0, 2)
    stages.rows("DELETE FROM search_entry WHERE document_id = %(id)s RETURNING 1", id=stages.document("0000.md")["id"])
    stages.write("0001.md", NEW)
    stages.run()
    with stages.connection() as connection:
        first = {outcome.name: outcome.violations for outcome in run_checks(connection, "handbook", thorough=thorough)}
        again = {outcome.name: outcome.violations for outcome in run_checks(connection, "handbook", thorough=False)}
    assert first["every_live_document_is_searchable"] == int(thorough)
    assert again == first


def test_a_search_of_an_empty_index_loads_no_model(stages: Stages) -> None:
    """Loading one to say that there is nothing takes seconds."""
    stages.configure(CONFIGURATION)
    stages.run()
    assert stages.generation.id

    class Unloadable:
        def embed_query(self, text: str) -> None:
            raise AssertionError(f"embedded {text!r}")

    stages.embedder = Unloadable()  # type: ignore[assignment]
    hits = stages.search("harbour")
    assert not list(hits)
    assert hits.dropped_legs == {"vector": "there is no passage", "keyword": "there is no passage"}


def test_files_without_text_need_no_model(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    stages.write("empty.md", "")
    stages.write("program.exe", b"MZ\x00\x01")
    pending = stages.pending()
    assert pending.work
    assert not pending.needs_model
    stages.write("a.md", page())
    assert stages.pending().needs_model
