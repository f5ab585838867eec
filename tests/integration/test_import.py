"""An import makes of an export the collections that were exported."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from typer.testing import CliRunner

from sourcebook.admin.removal import purge
from sourcebook.command.app import app
from sourcebook.contract.documents import Purged
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import TransferError
from sourcebook.indexing import first_entries
from sourcebook.indexing.damage import find_every_damage
from sourcebook.indexing.mending import prove
from sourcebook.stages import index_upkeep
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.moved_base import QUESTIONS, export, fill, hits, ingest
from tests.integration.stages import Stages, html
from tests.waiting import wait_until


@pytest.fixture
def filled(stages: Stages) -> Stages:
    return fill(stages)


@pytest.fixture
def other(filled: Stages, create_database: Callable[[str], str], tmp_path: Path) -> Iterator[Stages]:
    """An empty knowledge base over the same folder."""
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, filled.embedder, filled.parsers, filled.root, filled.settle, filled.speech_home)
        yield other
        other.close()


def test_an_import_gives_identical_hits_and_embeds_nothing(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """Scores included; the next ingest finds every file unchanged, and embeds nothing."""
    exported = export(filled, tmp_path / "export")
    imported = import_collections(other.database, tmp_path / "export")
    assert (imported.collections, imported.documents) == (("handbook",), exported.documents) == (("handbook",), 4)
    assert imported.passages == exported.passages >= 4
    assert hits(other) == hits(filled)
    other.assert_sound()
    with other.connection() as connection:
        assert prove(connection, other.generation, thorough=True, deep=True) == 0
    assert other.pending().unrelated == 0
    other.configure()
    reports = ingest(other)
    assert "damaged" not in reports["chunks"].extra
    assert reports["raw_files"].unchanged == 4
    assert {name: report.added + report.changed + report.removed for name, report in reports.items()} == dict.fromkeys(
        reports, 0
    )
    assert reports["embeddings"].extra["computed"] == 0
    assert not other.pending().work
    assert hits(other) == hits(filled)
    other.assert_sound()


def test_a_collection_of_the_api_stays_one(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """It has its settings as they were written, and no configuration file takes it away."""
    written = {"sites": [{"url": "https://tides.example/"}]}
    filled.knowledge.create_collection("website", written)
    before = filled.knowledge.collection_settings("website")
    export_collections(filled.database, tmp_path / "export", ["handbook", "website"], ("parquet",))
    import_collections(other.database, tmp_path / "export")
    other.configure()
    assert other.knowledge.collection_settings("website") == before
    assert other.knowledge.collection_settings("handbook").declared_in == "file"
    assert other.knowledge.change_collection("website", {"retries": {"attempts": 3}}).declared_in == "api"


def test_a_purge_waits_for_an_import(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """Contents that nobody needed before are those of imported documents, and stay."""
    export(filled, tmp_path / "export")
    for row in filled.rows("SELECT sha256, parser, markdown, blocks::text, title, content_hash FROM parsed_content"):
        other.rows(
            "INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, metadata, content_hash) VALUES "
            "(%(sha256)s, %(parser)s, %(markdown)s, %(blocks)s, %(title)s, '{}', %(content_hash)s) RETURNING 1",
            **row,
        )
    with ThreadPoolExecutor(1) as beside:
        purges: list[Future[Purged]] = []

        def begin_purge(collection: str, done: int, total: int) -> None:
            purges.append(beside.submit(purge, other.database))
            wait_until(lambda: other.rows("SELECT FROM pg_locks WHERE NOT granted"), what="the purge waits")

        imported = import_collections(other.database, tmp_path / "export", progress=begin_purge)
        (purged,) = purges
        found = purged.result(60)
        assert (found.documents, found.parsed_contents) == (1, 1)  # of the document that was removed before the export
    assert imported.documents == 4
    assert hits(other) == hits(filled)
    other.assert_sound()


def test_an_import_counts_its_statistics_once(
    filled: Stages, other: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lexeme is written once, blocks are built with the entries, and the proof finds nothing to mend."""
    monkeypatch.setattr(first_entries, "KEYWORD_BLOCK", 3)
    monkeypatch.setattr(index_upkeep, "FEWEST_OF_A_BLOCK", 1)
    export(filled, tmp_path / "export")
    import_collections(other.database, tmp_path / "export")
    assert hits(other) == hits(filled)
    (blocks,) = other.rows("SELECT count(*) AS blocks, min(entries) AS fewest FROM keyword_block_size")
    assert blocks == {"blocks": 1, "fewest": 3}
    with other.connection() as connection:
        assert not find_every_damage(connection, "handbook", deep=True)
        connection.execute("SELECT pg_stat_force_next_flush()")
    (written,) = other.rows(
        "SELECT n_tup_upd AS updated, n_tup_ins AS inserted, (SELECT count(*) FROM lexeme) AS lexemes "
        "FROM pg_stat_user_tables WHERE relname = 'lexeme'"
    )
    assert (written["updated"], written["inserted"]) == (0, written["lexemes"])


def test_several_collections_are_imported_at_once(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """Each has its own generation, entries and statistics; texts that they share have one vector."""
    root = f"{{files: [{{root: ./{filled.root.name}}}]}}"
    filled.configure(f"collections:\n  handbook: {root}\n  notes: {root}\n")
    replace(filled, collection="notes", _knowledge=None).run()
    exported = export_collections(filled.database, tmp_path / "export", ["handbook", "notes"])
    imported = import_collections(other.database, tmp_path / "export")
    assert (imported.collections, imported.passages) == (("handbook", "notes"), exported.passages)
    for name in imported.collections:
        found, wanted = (
            [[(hit.uri, hit.text, hit.score) for hit in base.knowledge.search(asked, name)] for asked in QUESTIONS]
            for base in (other, filled)
        )
        assert found == wanted
    with other.connection() as connection:
        assert not any(find_every_damage(connection, name, deep=True) for name in imported.collections)


def test_the_imported_collection_lives_on(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """An edit, a new file, a removed one and one that returns are taken in as in the base that was exported."""
    export(filled, tmp_path / "export")
    import_collections(other.database, tmp_path / "export")
    version = other.document("tides/gauge.md")["version"]
    other.configure()
    filled.write("tides/gauge.md", "# Tide gauge\n\nThe gauge is read every hour by a machine.\n")
    filled.write("new.md", "# New\n\nA lighthouse stands behind the pier.\n")
    filled.write("gone.md", "# Gone\n\nThis file leaves.\n")
    (filled.root / "power.md").unlink()
    ingest(other)
    ingest(filled)
    assert hits(other, "keyword") == hits(filled, "keyword")
    assert other.document("tides/gauge.md")["version"] == version + 1
    assert other.found("lighthouse") == {"new.md"}
    assert other.found("leaves") == {"gone.md"}
    assert other.found("diesel") == set()
    other.assert_sound()


def test_a_moved_folder_keeps_its_documents(filled: Stages, other: Stages, tmp_path: Path) -> None:
    """Where the sources are elsewhere on the machine of the import, their files are found by content."""
    export(filled, tmp_path / "export")
    import_collections(other.database, tmp_path / "export")
    before = {row["id"] for row in other.rows("SELECT id FROM document WHERE removed_at IS NULL")}
    other.root = filled.root.rename(tmp_path / "moved")
    other.configure()
    reports = other.run()
    assert {row["id"] for row in other.rows("SELECT id FROM document WHERE removed_at IS NULL")} == before
    assert reports["embeddings"].extra["computed"] == 0
    assert other.found("diesel") == {"power.md"}
    other.assert_sound()


def test_sites_travel_with_their_crawl(stages: Stages, create_database: Callable[[str], str], tmp_path: Path) -> None:
    """Pages and linked files have the same hits; a crawl requests nothing before it is due."""
    stages.web.page("/", html("Harbour", "The harbour office opens at eight.", links=["/notes.md", "/pier"]))
    stages.web.page("/pier", html("Pier", "Seals rest on the steps of the pier."))
    stages.web.page("/notes.md", "# Notes\n\nThe keeper sleeps by day.", content_type="text/markdown")
    stages.configure_site()
    stages.run()
    exported = export(stages, tmp_path / "export")
    assert (exported.documents, exported.originals) == (3, 1)
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, stages.embedder, stages.parsers, stages.root, stages.settle, stages.speech_home)
        other.web = stages.web
        import_collections(database, tmp_path / "export")
        assert hits(other) == hits(stages)
        before = len(stages.web.paths())
        other.configure_site()
        reports = other.run()
        assert len(stages.web.paths()) == before
        other.refresh()
        reports |= other.run()
        assert not any(report.added or report.changed or report.removed for report in reports.values())
        assert other.pages() == stages.pages()
        other.assert_sound()
        del other.__dict__["web"]  # the server is the other one's to close
        other.close()


def test_an_import_replaces_nothing(filled: Stages, tmp_path: Path) -> None:
    export(filled, tmp_path / "export")
    before = hits(filled)
    with pytest.raises(TransferError, match="has handbook already"):
        import_collections(filled.database, tmp_path / "export")
    assert hits(filled) == before


def test_the_commands_print_what_they_did(
    filled: Stages, other: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For programs as one JSON object; an error is one sentence and its exit code."""

    def run(*arguments: str, url: str) -> tuple[int, str, str]:
        monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
        result = CliRunner().invoke(app, list(arguments))
        assert "Traceback" not in result.output
        return result.exit_code, result.stdout, result.stderr

    folder, file = str(tmp_path / "export"), str(tmp_path / "base.dump")
    code, out, _ = run("export", folder, "-c", "handbook", "--json", url=filled.database.url)
    assert (code, json.loads(out)["passages"], json.loads(out)["collections"]) == (0, 4, ["handbook"])
    code, _, told = run("export", folder, url=filled.database.url)
    assert (code, told) == (1, f"sourcebook: the folder {folder} is not empty: name another one, or delete it first\n")
    assert run("export", folder, "-c", "nothing", url=filled.database.url)[0] == 2
    code, out, _ = run("import", folder, url=other.database.url)
    assert (code, out) == (0, "handbook: 4 documents, 4 passages\n")
    code, out, _ = run("backup", file, "--json", url=filled.database.url)
    assert (code, json.loads(out)) == (0, {"file": file, "bytes": Path(file).stat().st_size})
    code, _, told = run("restore", file, url=other.database.url)
    assert code == 1
    assert "has handbook already" in told
    code, out, _ = run("restore", file, "--replace", url=other.database.url)
    assert (code, out) == (0, "handbook: 4 documents. Next: sourcebook ingest\n")
    assert hits(other) == hits(filled)
