"""An import of anything but a whole export writes nothing, and says what is wrong and what to do."""

# ruff: noqa: E402 - the module under test cannot be imported without pyarrow

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import TransferError
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.kill_drills import Work
from tests.integration.stages import Stages

KILLS = 20
PASSAGES = "handbook/passages.parquet"
DOCUMENTS = "handbook/ledger/document.parquet"


@pytest.fixture
def folder(stages: Stages, tmp_path: Path) -> Path:
    """An export of three documents."""
    stages.write(
        "power.md", "# Batteries\n\nThe batteries last three days in winter.\n\n# Fuel\n\nDiesel is in the shed.\n"
    )
    stages.write("gauge.md", "# Tide gauge\n\nThe gauge is read twice a day.\n")
    stages.write("pier.md", "# Pier\n\nSeals rest on the steps.\n")
    stages.configure()
    stages.run()
    export_collections(stages.database, tmp_path / "export", ["handbook"])
    return tmp_path / "export"


@pytest.fixture
def empty(create_database: Callable[[str], str], tmp_path: Path) -> Iterator[Database]:
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        yield database


def rows_of(database: Database) -> int:
    """Return the number of rows that an import writes to."""
    tables = ("collection", "source", "raw_file", "parsed_content", "document", "generation", "chunk", "embedding",
              "search_entry", "keyword_entry", "lexeme", "tally", "changed_item", "changed_document")  # fmt: skip
    with database.connection() as connection:
        return sum(connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()[0] for name in tables)  # type: ignore[index]


def seal(folder: Path, **manifest: Any) -> None:
    """Write the checksums of a changed export again, as somebody would who means harm."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"SHA256SUMS", "manifest.json"}
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    found |= {"checksums": hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest(), **manifest}
    (folder / "manifest.json").write_text(json.dumps(found), encoding="utf-8")


def change(folder: Path, name: str, column: str, edit: Callable[[list[Any]], list[Any]], kind: Any = None) -> None:
    """Change the values of a column in a Parquet file, and seal the export."""
    table = pq.read_table(folder / name)
    place = table.schema.get_field_index(column)
    field = pa.field(column, kind or table.schema.field(column).type)
    values = pa.array(edit(table.column(column).to_pylist()), type=field.type)
    metadata = table.schema.metadata
    pq.write_table(table.set_column(place, field, values).replace_schema_metadata(metadata), folder / name)
    seal(folder)


def refused(database: Database, folder: Path, reason: str) -> None:
    before = rows_of(database)
    with pytest.raises(TransferError, match=reason):
        import_collections(database, folder)
    assert rows_of(database) == before == 0


def collections_of(folder: Path) -> list[Any]:
    found: list[Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["collections"]
    return found


def test_a_damaged_file_is_named(folder: Path, empty: Database) -> None:
    """Truncated, with one bit flipped, missing, or a manifest that is no JSON."""
    for name in (PASSAGES, DOCUMENTS, "SHA256SUMS", "manifest.json"):
        path = folder / name
        whole = path.read_bytes()
        for damaged in (whole[: len(whole) // 2], bytes([*whole[:50], whole[50] ^ 1, *whole[51:]]), b""):
            if name == "manifest.json" and damaged and len(damaged) == len(whole):
                continue  # a bit of its date
            path.write_bytes(damaged)
            refused(empty, folder, "damaged")
        path.unlink()
        refused(empty, folder, "missing|is no export")
        path.write_bytes(whole)
    assert import_collections(empty, folder).documents == 3


def test_a_foreign_folder_is_no_export(tmp_path: Path, empty: Database) -> None:
    (tmp_path / "foreign").mkdir()
    refused(empty, tmp_path / "foreign", "is no export of Sourcebook")
    refused(empty, tmp_path / "missing", "is no export of Sourcebook")
    (tmp_path / "foreign" / "manifest.json").write_text('{"name": "a web app", "start_url": "/"}')
    refused(empty, tmp_path / "foreign", "is not a manifest of Sourcebook")


def test_a_newer_export_is_refused(folder: Path, empty: Database) -> None:
    seal(folder, schema_version=9999)
    refused(empty, folder, "upgrade Sourcebook")
    seal(folder, format_version=3)
    refused(empty, folder, "upgrade Sourcebook")


def test_an_export_of_a_checkout_before_the_first_release_is_imported(folder: Path, empty: Database) -> None:
    """Its versions of the schema are others: 58 is older than 1."""
    seal(folder, format_version=1, schema_version=58)
    assert import_collections(empty, folder).documents == 3


def test_a_name_that_leads_out_is_refused(folder: Path, empty: Database, tmp_path: Path) -> None:
    """In the list of files, as the folder of a collection, as a symbolic link; and a pipe is no file."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (tmp_path / "secret").write_text("secret")
    for name in ("../secret", str(tmp_path / "secret"), "handbook/../../secret"):
        lines = (copy / "SHA256SUMS").read_text(encoding="utf-8") + f"{'0' * 64}  {name}\n"
        (folder / "SHA256SUMS").write_text(lines, encoding="utf-8")
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        manifest["checksums"] = hashlib.sha256(lines.encode()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        refused(empty, folder, "outside of it: nothing was read")
    (collection,) = collections_of(copy)
    for name in ("..", "../copy", "/etc", ""):
        seal(copy, collections=[{**collection, "folder": name}])
        refused(empty, copy, "outside of it: nothing was read")
    seal(copy, collections=[collection])
    (copy / DOCUMENTS).unlink()
    (copy / DOCUMENTS).symlink_to(folder / DOCUMENTS)
    seal(copy)
    refused(empty, copy, "link that leads out")
    (copy / DOCUMENTS).unlink()
    os.mkfifo(copy / DOCUMENTS)  # nobody writes to it: to read it would take for ever
    refused(empty, copy, "document.parquet is missing")


def test_vectors_are_checked(folder: Path, empty: Database, tmp_path: Path) -> None:
    """NaN, infinity, a missing one, one of the wrong length and one that is not of length 1."""

    def first(new: Sequence[float | None] | None) -> Callable[[list[Any]], list[Any]]:
        return lambda vectors: [new, *vectors[1:]]

    any_length = pa.list_(pa.float32())
    for new, reason in (
        ([float("nan")] * 384, "not finite"),
        ([float("inf")] + [0.0] * 383, "not finite"),
        ([None] + [0.0] * 383, "not finite"),
        ([1.0] * 384, "has the length"),
        ([0.0] * 384, "has the length"),
        (None, "is missing"),
        ([1.0] + [0.0] * 99, "has 100 numbers, not 384"),
    ):
        copy = tmp_path / f"copy-{reason}-{new is None or len(new)}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        change(copy, PASSAGES, "vector", first(new), any_length)
        refused(empty, copy, reason)


def test_an_export_that_contradicts_itself_is_refused(folder: Path, empty: Database, tmp_path: Path) -> None:
    """Passages of documents that are not there, two documents of one URI, and columns of another type."""
    edits: list[tuple[str, str, Callable[[list[Any]], list[Any]], Any, str]] = [
        (PASSAGES, "document_id", lambda values: [987654, *values[1:]], None, "which the export lacks"),
        (PASSAGES, "text", lambda values: [len(value) for value in values], pa.int64(), "in the column text"),
        (DOCUMENTS, "uri", lambda values: [values[0]] * len(values), None, "contradicts itself"),
        (DOCUMENTS, "kind", lambda values: ["spell"] * len(values), None, "contradicts itself"),
        (DOCUMENTS, "metadata", lambda values: ["{"] * len(values), None, "contradicts itself"),
        (DOCUMENTS, "title", lambda values: ["a\0b"] * len(values), None, "contradicts itself"),
    ]
    for number, (name, column, edit, kind, reason) in enumerate(edits):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(folder, copy)
        change(copy, name, column, edit, kind)
        refused(empty, copy, reason)


def test_another_model_is_refused(folder: Path, empty: Database) -> None:
    """Its vectors could not be compared with queries of this machine."""
    (collection,) = collections_of(folder)
    generation = {**collection["generation"], "model": "all-MiniLM-L6-v2:0123456789ab/float32"}
    seal(folder, collections=[{**collection, "generation": generation}])
    refused(empty, folder, "cannot be compared")


def test_names_and_settings_that_no_configuration_has_are_refused(folder: Path, empty: Database) -> None:
    """With the reason, before a row is written: a name that leads elsewhere, and settings of a newer Sourcebook."""
    (collection,) = collections_of(folder)
    for name in ("../handbook", "hand\u001b[2Jbook", ""):
        seal(folder, collections=[{**collection, "name": name}])
        refused(empty, folder, "manifest")
    wrong: tuple[tuple[str, dict[str, Any]], ...] = (
        ("embedding", {"model": 3}),
        ("embedding", {"pooling": "mean"}),
        ("chunking", {"tokens": 0}),
    )
    for part, settings in wrong:
        generation = {**collection["generation"], part: {**collection["generation"][part], **settings}}
        seal(folder, collections=[{**collection, "generation": generation}])
        refused(empty, folder, "settings that this Sourcebook does not know")


def test_an_import_that_is_killed_leaves_the_base_empty(folder: Path, empty: Database, tmp_path: Path) -> None:
    """At twenty moments from its start to its end; then the same command imports the whole."""
    random = Random(13)
    seconds = 0.6
    killed = 0
    with Work(empty, tmp_path / "other") as work:
        for _ in range(KILLS):
            ended = not work.kill(random.uniform(0, seconds), "load", str(folder), with_sessions=False)
            found = documents_of(empty)
            assert found in ((0, 0), (3, 3)), found
            assert not ended or found == (3, 3)
            if found == (0, 0):
                killed += 1
                assert rows_of(empty) == 0
            else:
                seconds *= 0.8
                with empty.connection() as connection:
                    connection.execute(
                        "TRUNCATE collection, parsed_content, embedding, tally, changed_item, changed_document, "
                        "keyword_entry, keyword_block CASCADE"
                    )
    assert killed > KILLS // 4
    assert import_collections(empty, folder).documents == 3


def documents_of(database: Database) -> tuple[int, int]:
    """Return the numbers of documents and of searchable passages."""
    with database.connection() as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM search_entry)"
        ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)
