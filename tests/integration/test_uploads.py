"""Uploads through the stages: bytes that are sent become documents, version by version, until they are removed."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import psycopg
import pytest

pytest.importorskip("pyarrow")
from sourcebook.admin import uploads
from sourcebook.admin.audit import audit_events
from sourcebook.admin.items import list_items
from sourcebook.admin.removal import purge, remove_items, restore_items
from sourcebook.admin.retention import forget_removed
from sourcebook.admin.uploads import delete_unreferenced_bytes
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.uploads import Upload
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.errors import EmptyUploadError, OriginalGoneError, QueryError, UnknownUploadError, UploadNameError
from sourcebook.files.upload_store import upload_path
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files import collection_sources
from sourcebook.stages.transcripts.update import place_of
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.stages import Stages

TIDES = b"# Tides\n\nThe barnacle line of the harbour marks high water.\n"
KNOTS = b"# Knots\n\nA bowline holds the walrus at the pier.\n"
NAME = "notes/tides & knots.md"
URI = "upload://5c1e09a7b2/notes/tides%20&%20knots.md"


@pytest.fixture
def base(stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """A collection over an empty folder, and a store of uploads of its own."""
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    monkeypatch.setattr(uploads, "new_location", lambda: "upload://5c1e09a7b2")
    stages.root.mkdir(exist_ok=True)
    stages.configure()
    return stages


def stored(base: Stages) -> int:
    """Return the number of files in the store."""
    return sum(path.is_file() for path in (base.root.parent / "uploads").rglob("*"))


def documents(base: Stages) -> list[tuple[str, int, list[str]]]:
    rows = base.rows("SELECT uri, version, tags FROM document WHERE removed_at IS NULL ORDER BY uri")
    return [(row["uri"], row["version"], row["tags"]) for row in rows]


def test_an_upload_is_found(base: Stages) -> None:
    sent = base.knowledge.upload("handbook", NAME, TIDES, tags=["water", "notes"], actor="key website")
    assert (sent.version, sent.bytes, sent.uri, sent.changed) == (1, len(TIDES), URI, True)
    assert (sent.sha256, sent.tags) == (hashlib.sha256(TIDES).hexdigest(), ("water", "notes"))
    assert base.knowledge.uploads("handbook") == [replace(sent, changed=False)]
    assert base.pending().changed_files == 1

    base.run()
    (hit,) = base.search("barnacle", mode="keyword")
    assert (hit.uri, hit.title, hit.version) == (URI, "Tides", 1)
    assert documents(base) == [(URI, 1, ["water", "notes"])]
    assert base.search("barnacle", mode="keyword", filters={"tags": ["water"]})[0].uri == URI
    assert not base.pending().work
    assert base.knowledge.show("tides & knots.md").item.uri == URI
    assert [source.kind for source in base.status().sources] == ["files", "uploads"]
    with base.connection() as connection:
        event = next(event for event in audit_events(connection) if event.action == "upload.add")
    assert (event.actor, event.subject, event.details["name"]) == ("key website", "collection handbook", NAME)
    base.assert_sound()


def test_tags_that_somebody_changed_by_sql_are_those_of_the_upload_again(base: Stages) -> None:
    """Its row of the inventory says which tags it was written with."""
    base.knowledge.upload("handbook", NAME, TIDES, tags=["Gezeiten/Ö", 'a "b"'])
    base.run()
    with psycopg.connect(base.database.url, autocommit=True) as foreign:
        foreign.execute("UPDATE sourcebook.raw_file SET tags = '{changed}'")
    (finding,) = base.status().damage
    assert (finding.uri, finding.reason) == (URI, "its row of the inventory was changed")
    base.run()
    assert documents(base) == [(URI, 1, ["Gezeiten/Ö", 'a "b"'])]
    assert not base.status().damage
    assert not base.pending().work


def test_the_same_bytes_change_nothing_and_other_bytes_are_the_next_version(base: Stages) -> None:
    base.knowledge.upload("handbook", NAME, TIDES, tags=["water"])
    base.run()
    again = base.knowledge.upload("handbook", NAME, BytesIO(TIDES))
    assert (again.version, again.changed, again.tags) == (1, False, ("water",))
    assert not base.pending().work

    other = base.knowledge.upload("handbook", NAME, BytesIO(KNOTS))
    assert (other.version, other.changed, other.tags) == (2, True, ("water",))
    base.run()
    assert documents(base) == [(URI, 2, ["water"])]
    assert base.found("walrus")
    assert not base.found("barnacle")
    versions = base.knowledge.upload_versions("handbook", NAME)
    assert [(each.version, each.removed_at is None) for each in versions] == [(2, True), (1, False)]
    base.assert_sound()


def test_other_tags_alone_reach_the_document(base: Stages) -> None:
    base.knowledge.upload("handbook", NAME, TIDES, tags=["water"])
    base.run()
    tagged = base.knowledge.upload("handbook", NAME, TIDES, tags=["sea"])
    assert (tagged.version, tagged.changed) == (1, True)
    base.run()
    assert documents(base) == [(URI, 1, ["sea"])]
    assert not base.pending().work
    base.assert_sound()


def test_a_removed_upload_is_gone_and_comes_back(base: Stages) -> None:
    base.knowledge.upload("handbook", NAME, TIDES)
    base.run()
    removed = base.knowledge.remove_upload("handbook", NAME, actor="key website")
    assert removed.removed_at is not None
    assert base.knowledge.uploads() == []
    with pytest.raises(UnknownUploadError):
        base.knowledge.remove_upload("handbook", NAME)
    base.run()
    assert documents(base) == []
    assert not base.search("barnacle", mode="keyword")
    assert base.knowledge.upload("handbook", NAME, TIDES).version == 2
    base.run()
    assert documents(base) == [(URI, 1, [])]
    assert base.found("barnacle")
    base.assert_sound()


def test_applying_the_configuration_leaves_uploads(base: Stages) -> None:
    base.knowledge.upload("handbook", NAME, TIDES)
    base.write("own.md", "# Own\n\nThe heron is grey.")
    base.run()
    base.configure()
    base.run()
    assert [uri for uri, _, _ in documents(base)] == [base.uri("own.md"), URI]


def test_the_same_upload_twice_at_once_is_one_version(base: Stages) -> None:
    results: list[Upload] = []
    threads = [
        threading.Thread(target=lambda: results.append(base.knowledge.upload("handbook", NAME, TIDES)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.version for each in results] == [1] * 6
    assert sum(each.changed for each in results) == 1
    assert stored(base) == 1


def test_different_uploads_at_once_are_versions_one_after_the_other(base: Stages) -> None:
    threads = [
        threading.Thread(target=base.knowledge.upload, args=("handbook", NAME, f"Text {n}".encode())) for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = base.knowledge.upload_versions("handbook", NAME)
    assert [each.version for each in versions] == [6, 5, 4, 3, 2, 1]
    assert [each.version for each in versions if each.removed_at is None] == [6]


def test_what_is_refused_leaves_nothing(base: Stages) -> None:
    for name, content, collection, error in (
        ("../x", TIDES, "handbook", UploadNameError),
        (NAME, b"", "handbook", EmptyUploadError),
        (NAME, TIDES, "nowhere", QueryError),
    ):
        with pytest.raises(error):
            base.knowledge.upload(collection, name, content)
    assert base.knowledge.uploads() == []
    assert stored(base) == 0
    assert base.rows("SELECT * FROM source WHERE kind = 'uploads'") == []


def test_lists_go_on_after_a_place(base: Stages) -> None:
    for number in range(5):
        base.knowledge.upload("handbook", f"{number}.txt", f"Text {number}".encode())
    first = base.knowledge.uploads(limit=2)
    rest = base.knowledge.uploads("handbook", limit=50, after=("handbook", first[-1].name))
    assert [each.name for each in [*first, *rest]] == [f"{number}.txt" for number in range(5)]
    for limit in (0, 1_001):
        with pytest.raises(QueryError):
            base.knowledge.uploads(limit=limit)


def test_bytes_go_when_the_last_upload_of_them_is_purged(base: Stages) -> None:
    base.knowledge.upload("handbook", "a.md", TIDES)
    base.knowledge.upload("handbook", "b.md", TIDES)
    base.knowledge.upload("handbook", "b.md", KNOTS)
    base.run()
    assert stored(base) == 2
    base.knowledge.remove_upload("handbook", "a.md")
    base.run()
    assert forget_removed(base.database, None) is not None
    assert stored(base) == 2
    assert purge(base.database).uploads == 2
    assert stored(base) == 1
    assert [each.name for each in base.knowledge.uploads()] == ["b.md"]
    base.run()
    assert base.found("walrus")
    base.assert_sound()


def test_bytes_without_a_row_are_found(base: Stages) -> None:
    """A process may die after the bytes got their place and before the upload is committed."""
    base.knowledge.upload("handbook", "a.md", TIDES)
    base.rows("DELETE FROM upload RETURNING 1")
    with base.connection() as connection:
        assert delete_unreferenced_bytes(connection) == 1
        assert connection.execute(queries["upload_stores"]).fetchall() == []
    assert stored(base) == 0


def test_missing_and_damaged_bytes_are_named(base: Stages) -> None:
    sent = [base.knowledge.upload("handbook", f"{word}.md", f"The {word} sings.".encode()) for word in ("lark", "wren")]
    paths = [upload_path(bytes.fromhex(each.sha256), "/nowhere") for each in sent]
    assert paths[0] is not None
    assert paths[1] is not None
    paths[0].unlink()
    paths[1].write_bytes(b"damaged")
    base.raw_files()
    with base.connection() as connection:
        problems = {item.uri: item.error or "" for item in list_items(connection, DocumentsRequest(failed=True))}
    assert "not in the store of uploads" in problems[sent[0].uri]
    assert "damaged" in problems[sent[1].uri]
    for each in sent:
        word = each.name.removesuffix(".md")
        base.knowledge.upload("handbook", each.name, f"The {word} sings.".encode())
    base.run(Selection(only_failed=True))
    base.run()
    assert base.found("lark")
    assert base.found("wren")


def test_a_single_upload_can_be_ingested_and_a_document_taken_out(base: Stages) -> None:
    base.knowledge.upload("handbook", "a.md", TIDES)
    base.knowledge.upload("handbook", "b.md", KNOTS)
    base.run(Selection(documents=("upload://5c1e09a7b2/b.md",), sources=("upload://5c1e09a7b2",)))
    assert base.found("walrus")
    assert not base.found("barnacle")
    with base.connection() as connection:
        remove_items(connection, "upload://5c1e09a7b2/b.md")
        assert not base.found("walrus")
        restore_items(connection, "upload://5c1e09a7b2/b.md")
    base.run()
    assert base.found("walrus")


def test_an_export_travels_with_its_uploads(
    base: Stages, create_database: Callable[[str], str], tmp_path: Path
) -> None:
    """The originals are in it, and the imported collection keeps the documents of uploads."""
    base.knowledge.upload("handbook", NAME, TIDES, tags=["water"])
    base.knowledge.upload("handbook", "old.md", KNOTS)
    base.knowledge.remove_upload("handbook", "old.md")
    base.run()
    export_collections(base.database, tmp_path / "export", ["handbook"], ("markdown", "parquet"))
    (original,) = [path for path in (tmp_path / "export").rglob("*.md") if "originals" in path.parts]
    assert original.read_bytes() == TIDES
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        import_collections(database, tmp_path / "export")
        other = replace(base, database=database, _knowledge=None)
        other.configure()
        other.run()
        assert documents(other) == [(URI, 1, ["water"])]
        assert other.found("barnacle")
        assert [each.version for each in other.knowledge.upload_versions("handbook", "old.md")] == [1]
        assert other.knowledge.upload("handbook", NAME, KNOTS).version == 2
        other.run()
        assert documents(other) == [(URI, 2, ["water"])]
        other.close()


def test_the_original_of_an_upload_is_its_bytes(base: Stages) -> None:
    base.knowledge.upload("handbook", NAME, TIDES)
    base.run()
    with base.knowledge.original(URI) as original:
        assert original.stream.read() == TIDES
        assert original.name == "tides & knots.md"
    base.knowledge.upload("handbook", NAME, KNOTS)
    with pytest.raises(OriginalGoneError):
        base.knowledge.original(URI)


def test_a_collection_of_the_api_holds_uploads_alone(base: Stages) -> None:
    base.knowledge.create_collection("inbox", {})
    base.knowledge.upload("inbox", "a.md", TIDES)
    base.configure()
    other = replace(base, collection="inbox", _knowledge=None)
    other.run()
    assert [hit.uri for hit in other.search("barnacle", mode="keyword")] == ["upload://5c1e09a7b2/a.md"]
    other.knowledge.delete_collection("inbox")
    with pytest.raises(QueryError):
        base.knowledge.upload("inbox", "b.md", TIDES)
    assert stored(base) == 1
    purge(base.database)
    assert stored(base) == 0
    other.close()


def test_members_of_an_uploaded_archive_have_its_tags(base: Stages) -> None:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("inside/tides.md", TIDES)
    base.knowledge.upload("handbook", "notes.zip", packed.getvalue(), tags=["water"])
    base.run()
    assert ("upload://5c1e09a7b2/notes.zip/inside/tides.md", 1, ["water"]) in documents(base)
    assert base.found("barnacle")
    base.assert_sound()


@pytest.mark.parametrize("location", [None, "memory://recordings-of-test"])
def test_a_recording_is_opened_where_it_is_stored_or_copied(
    base: Stages, monkeypatch: pytest.MonkeyPatch, location: str | None
) -> None:
    if location is not None:
        monkeypatch.setenv("SOURCEBOOK_UPLOADS", location)
    sent = base.knowledge.upload("handbook", "a.wav", b"RIFF" * 1_000)
    with base.connection() as connection:
        sources = {source.id: source for source in collection_sources(connection, "handbook")}
    (number,) = (each for each in sources if sources[each].uploads is not None)
    with place_of(sources, number, sent.uri) as place:
        assert Path(place).read_bytes() == b"RIFF" * 1_000
        assert (Path(place).name == sent.sha256) is (location is None)
    assert Path(place).exists() is (location is None)


def test_uploads_at_a_url_are_ingested(base: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", "memory://uploads-of-stages")
    base.knowledge.upload("handbook", NAME, TIDES)
    base.run()
    assert (bool(base.found("barnacle")), stored(base)) == (True, 0)
