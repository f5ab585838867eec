"""Records of tables as sources: real databases."""

import re
from datetime import UTC

import pytest

from sourcebook.errors import FailureClass
from sourcebook.model.report import StageReport
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files.pushed_records import push_records
from tests.integration.cli.command import run
from tests.integration.http_server import serving
from tests.integration.record_stages import RecordStages


def test_rows_are_found_edited_deleted_and_returned(records: RecordStages) -> None:
    """A row is cited by its link; an edit embeds it alone, a deletion takes it out, and its return costs nothing."""
    for number, body in enumerate(("The barnacle marks high water.", "A bowline holds.", "A tern dives."), 1):
        records.note(number, body)
    records.configure()
    reports = records.run()
    assert (reports["documents"].added, reports["embeddings"].extra["computed"]) == (3, 3)
    (hit,) = records.stages.search("barnacle", mode="keyword")
    assert (hit.uri, hit.link, hit.title) == ("record://notes/1", "https://notes.example.com/1", "Note 1")
    assert (hit.tags, hit.metadata["status"], hit.metadata["updated"]) == (("notes",), "open", "2024-01-01")
    assert not records.stages.pending().work

    records.do("UPDATE notes SET body = 'The limpet sits.', changed = '2024-02-01' WHERE id = 1")
    records.look()
    assert records.stages.pending().is_small, "it is brought up to date without Dagster"
    reports = records.run()
    assert (reports["documents"].changed, reports["embeddings"].extra["computed"]) == (1, 1)
    assert records.stages.found("limpet") == {"1"}
    assert records.stages.found("barnacle") == set()

    records.do("UPDATE notes SET status = 'closed', changed = '2024-02-02' WHERE id = 2")
    reports = records.run()
    assert reports["embeddings"].extra["computed"] == 0
    (hit,) = records.stages.search("bowline", mode="keyword")
    assert (hit.metadata["status"], hit.version) == ("closed", 1)

    records.do("DELETE FROM notes WHERE id = 3")
    assert records.run()["raw_files"].removed == 1
    assert records.stages.found("tern") == set()
    records.note(3, "A tern dives.")
    reports = records.run()
    assert (reports["documents"].extra["returned"], reports["embeddings"].extra["computed"]) == (1, 0)
    assert records.stages.found("tern") == {"3"}
    records.stages.assert_sound()


def test_the_page_and_the_command_say_when_the_next_look_is(records: RecordStages) -> None:
    """Once there was a look: its refresh later, five minutes where nothing else is set."""
    records.note(1, "The barnacle marks high water.")
    records.configure()
    with serving(records.stages.knowledge, requires_key=False) as client:
        assert "next look" not in client.get("/collections").content.decode()
        records.run()
        (due,) = records.stages.rows("SELECT next_fetch_at AS at, next_fetch_at - now() < '5 min' AS soon FROM source")
        assert due["soon"]
        said = f"next look {due['at'].astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        for path in ("/collections", f"/collections/{records.stages.collection}"):
            page = re.sub(r"</?time[^>]*>", "", client.get(path).content.decode())
            assert "record://notes" in page
            assert "records, read " in page
            assert said in page
    told = run("--config", str(records.folder / "sourcebook.yaml"), "status").out
    assert f"record://notes: next look {due['at'].astimezone():%Y-%m-%d %H:%M}" in told


def test_a_look_reads_only_rows_with_another_mark_until_it_is_settled(records: RecordStages) -> None:
    """A row with an older mark is not read again; one with the latest mark may be written once more in its second."""
    records.note(1, "The barnacle marks high water.", "2024-01-01")
    records.note(2, "A tern dives.", "2024-01-02")
    for number in range(3, 12):
        records.note(number, f"A bowline holds {number}.", "2024-01-01")
    records.configure()
    records.run()
    records.do("UPDATE notes SET body = 'The limpet sits.' WHERE id = 1")  # its mark says that nothing changed
    records.do("UPDATE notes SET body = 'The whelk sits.' WHERE id = 2")
    records.run()
    assert records.stages.found("limpet") == set()
    assert records.stages.found("whelk") == {"2"}
    records.run(Selection(deep=True))
    assert records.stages.found("limpet") == {"1"}


@pytest.mark.parametrize("updated", ["changed", None])
def test_a_complete_listing_that_forgets_half_of_its_records_is_held_back(
    records: RecordStages, updated: str | None
) -> None:
    """The records stay searchable, the source says so, and they are whole again after the next complete listing."""
    for number in range(20):
        records.note(number, f"The barnacle {number} marks high water.")
    records.configure(updated=updated)
    records.run()
    records.do("ALTER TABLE notes RENAME TO everything")
    records.do("CREATE VIEW notes AS SELECT * FROM everything WHERE id < 10")
    reports = records.run()
    assert reports["raw_files"].failures[0].failure_class is FailureClass.HELD
    assert len(records.stages.found("barnacle")) == 20
    records.do("DROP VIEW notes")
    records.do("ALTER TABLE everything RENAME TO notes")
    reports = records.run()
    assert (reports["raw_files"].removed, reports["raw_files"].failed) == (0, 0)
    assert not records.stages.pending().work


def test_a_table_that_cannot_be_read_removes_nothing(records: RecordStages, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dropped table, a column that is gone, a missing file and a missing variable are said, without a secret."""
    records.note(1, "The barnacle marks high water.")
    records.configure()
    records.run()
    records.do("ALTER TABLE notes RENAME COLUMN body TO text")
    assert "text: the table has no column body; it has id, heading" in str(records.look())
    records.do("DROP TABLE notes")
    assert records.look() == "the table cannot be read: no such table: notes"
    reports = records.run()
    assert (reports["raw_files"].removed, reports["raw_files"].failed) == (0, 1)
    assert records.stages.found("barnacle") == {"1"}
    records.configure(table={"url": "sqlite:///nowhere.db", "name": "notes"})
    assert "nowhere.db does not exist" in str(records.look())
    assert not (records.folder / "nowhere.db").exists()
    records.configure(table={"url": "${NOTES_URL}", "name": "notes"})
    assert "the environment variable NOTES_URL of the source's settings is not set" in str(records.look())
    monkeypatch.setenv("NOTES_URL", "postgresql://reader:s3cret-w0rd@127.0.0.1:1/notes")
    said = str(records.look())
    assert "the table cannot be read" in said
    assert "s3cret" not in said
    monkeypatch.setenv("NOTES_URL", "s3cret-w0rd:no url")
    assert "s3cret" not in str(records.look())


@pytest.mark.parametrize(
    "query", ["DELETE FROM notes RETURNING *", "SELECT 1) AS q; DELETE FROM notes; --", "DROP TABLE notes"]
)
def test_a_query_that_writes_writes_nothing(records: RecordStages, query: str) -> None:
    """It is an error of the source; the table is as it was."""
    records.note(1, "The barnacle marks high water.")
    records.configure(table={"url": "sqlite:///notes.db", "query": query})
    assert "cannot be read" in str(records.look())
    assert records.database.execute("SELECT count(*) FROM notes").fetchone() == (1,)


def test_odd_rows_fail_alone(records: RecordStages) -> None:
    """Equal keys, no key, a key of 10 KB, too long a text: each says so, the other rows are documents."""
    records.note("good", "The barnacle marks high water.")
    records.note("twice", "One")
    records.note("twice", "Two")
    records.note(None, "Keyless")
    records.note("k" * 10_000, "Long")
    records.note("large", "word " * 50_000)
    records.note("empty", None)
    records.note("a/b c?#%", "The limpet sits\0 here.", heading="Rock\npool")
    records.configure(max_bytes="100KB")
    records.run()
    failures = records.failures()
    assert failures.keys() == {"twice", "?without-key"}
    assert "several records have this key" in failures["twice"]
    assert "no key" in failures["?without-key"]
    records.run()
    assert records.failures() == failures, "they are failures as long as they are there"
    skipped = records.stages.rows("SELECT uri, skip_reason FROM raw_file WHERE skip_reason IS NOT NULL ORDER BY uri")
    assert ["shorten the names" in row["skip_reason"] or "max_bytes" in row["skip_reason"] for row in skipped] == [
        True
    ] * 2
    assert records.stages.found("barnacle") == {"good"}
    (hit,) = records.stages.search("limpet", mode="keyword")
    assert (hit.uri, hit.title) == ("record://notes/a%2Fb%20c%3F%23%25", "Rock pool")
    records.do("DELETE FROM notes WHERE body = 'Two'")
    records.do("DELETE FROM notes WHERE id IS NULL")
    records.run()
    assert records.failures() == {}
    records.stages.assert_sound()


def test_files_and_attachments_of_records_are_read_below_one_place(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path is read by the readers of files; an attachment is a document with its record's link, and goes with it."""
    folder = records.folder / "kept"
    folder.mkdir()
    (folder / "tides.html").write_text("<h1>Tides</h1><p>The barnacle marks high water.</p>")
    (folder / "odd.bin").write_bytes(b"\0\1\2")
    (folder / "limpet.csv").write_text("name,depth\nlimpet,3\n")
    records.configure(
        table=None,
        pushed=True,
        text=None,
        file="path",
        files={"root": str(folder)},
        updated=None,
        metadata=None,
        url="link",
        title=None,
        attachments={"field": "files", "name": "called", "url": "path"},
    )
    records.run()
    row = {"id": 1, "path": "tides.html", "link": "https://notes.example.com/1"}
    sheet, broken = {"called": "limpet.csv", "path": "limpet.csv"}, {"called": "odd.bin", "path": "odd.bin"}

    def push(*attached: dict[str, str], deleted: tuple[object, ...] = (), **fields: object) -> dict[str, StageReport]:
        rows = [] if deleted else [{**row, "files": list(attached), **fields}]
        with records.stages.connection() as connection:
            push_records(connection, records.stages.collection, records=rows, deleted=deleted)
        return records.run()

    push(sheet, {"called": "passwd", "path": "../../../../etc/passwd"})
    assert records.stages.found("barnacle") == {"1"}
    (hit,) = records.stages.search("limpet", mode="keyword")
    assert (hit.uri, hit.link, hit.title) == ("record://notes/1/limpet.csv", row["link"], "limpet.csv")
    assert "is not below" in records.failures()["1/passwd"]
    push(broken)
    assert records.stages.found("limpet") == set(), "an attachment goes where its record does not have it"
    push(sheet)
    assert records.stages.found("limpet") == {"limpet.csv"}
    push(path="nowhere.html")
    assert "nowhere.html cannot be read" in records.failures()["1"]
    assert records.stages.found("limpet barnacle") == {"1", "limpet.csv"}, "a record that fails keeps what it had"
    assert push(deleted=(1,))["raw_files"].removed == 2
    records.stages.assert_sound()


def test_marks_may_change_their_type(records: RecordStages) -> None:
    """Keys and marks that become numbers, or texts, are the same records; equal texts are not embedded again."""
    records.note("1", "The barnacle marks high water.", "5")
    records.configure(metadata=None)
    records.run()
    records.do("UPDATE notes SET id = 1, changed = 5.0")
    reports = records.run()
    assert (reports["raw_files"].removed, reports["embeddings"].extra["computed"]) == (0, 0)
    assert records.stages.found("barnacle") == {"1"}


def test_other_settings_make_the_documents_again(records: RecordStages) -> None:
    """A template takes the place of a field; a field marks deleted rows; texts that stay as they are embed nothing."""
    for number in range(3):
        records.note(number, f"The barnacle {number} marks high water.")
    records.configure()
    records.run()
    records.configure(text=None, template="{{ body }}{% if id == 2 %}\n\nSeen by {{ heading }} at low tide.{% endif %}")
    reports = records.run()
    assert (reports["documents"].changed, reports["embeddings"].extra["computed"]) == (1, 1)
    assert records.stages.found("tide") == {"2"}
    records.do("UPDATE notes SET status = NULL WHERE id < 2")
    records.configure(deleted="status", updated=None)
    assert records.run()["raw_files"].removed == 1
    assert records.stages.found("barnacle") == {"0", "1"}


def test_html_and_files_in_columns_are_read_by_the_readers_of_files(records: RecordStages) -> None:
    """HTML becomes text; bytes are read by their type or the name of a file."""
    records.note("page", "<h1>Tides</h1><p>The <b>barnacle</b> marks high water.</p>")
    records.configure(format="html")
    records.run()
    assert records.stages.search("barnacle", mode="keyword")[0].text == "# Tides\n\nThe **barnacle** marks high water."
    records.do("DELETE FROM notes")
    records.note("sheet", b"name,depth\nlimpet,3\n", heading="pools.csv")
    records.note("odd", b"\0\1\2", heading="thing.bin")
    records.configure(media_type="heading", title=None)
    records.run()
    assert records.stages.found("limpet") == {"sheet"}
