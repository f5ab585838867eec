"""An export holds collections whole, and other programs read it."""

# ruff: noqa: E402 - the module under test cannot be imported without pyarrow

import hashlib
import json
import os
import resource
from pathlib import Path

import psycopg
import pytest

pq = pytest.importorskip("pyarrow.parquet")
from ruamel.yaml import YAML

from sourcebook.errors import TransferError
from sourcebook.transfer.export import FORMATS, export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.moved_base import TEXTS, export, fill
from tests.integration.stages import Stages


@pytest.fixture
def filled(stages: Stages) -> Stages:
    return fill(stages)


def test_markdown_has_everything_that_the_ledger_knows(filled: Stages, tmp_path: Path) -> None:
    """Front matter is YAML; the original is there byte for byte, and not where the source has changed it."""
    filled.write("tides/gauge.md", "changed since")
    exported = export(filled, tmp_path / "export", "markdown")
    pages = {}
    for path in (tmp_path / "export" / "handbook" / "documents").rglob("*.md"):
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        facts = YAML(typ="safe", pure=True).load(head)
        pages[facts["uri"]] = facts, body
    facts, body = pages[filled.uri("power.md")]
    row = filled.document("power.md")
    assert facts["title"] == "Power supply"
    assert facts["language"] == "en"
    assert facts["kind"] == "file"
    assert facts["metadata"] == row["metadata"]
    assert facts["version"] == 1
    assert facts["tags"] == row["tags"]
    assert facts["sha256"] == row["input_hash"].hex()
    assert facts["content_hash"] == row["content_hash"].hex()
    assert facts["source"] == {"kind": "files", "location": str(filled.root)}
    assert facts["dated"].startswith("2024-03-01")
    assert "The batteries last three days in winter." in body
    original = tmp_path / "export" / "handbook" / facts["original"]
    assert original.read_bytes() == TEXTS["power.md"].encode()
    assert "original" not in pages[filled.uri("tides/gauge.md")][0]
    assert (exported.documents, exported.originals) == (4, 3)


def test_an_original_that_cannot_be_reached_is_left_out(filled: Stages, tmp_path: Path) -> None:
    """Whatever error the file system of its source has, or where the package for it is not installed here."""
    filled.rows("UPDATE source SET location = 'nosuch://bucket' RETURNING 1")
    assert export(filled, tmp_path / "export").originals == 0
    assert sorted(path.suffix for path in (tmp_path / "export" / "handbook" / "documents").rglob("*.*")) == [".md"] * 4


def test_every_file_is_in_the_checksums(filled: Stages, tmp_path: Path) -> None:
    """SHA256SUMS is what `sha256sum --check` reads, and names every file but itself and the manifest."""
    exported = export(filled, tmp_path / "export", *FORMATS)
    lines = (tmp_path / "export" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    named = {line[66:]: line[:64] for line in lines}
    files = {
        str(path.relative_to(tmp_path / "export")): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (tmp_path / "export").rglob("*")
        if path.is_file() and path.name not in {"SHA256SUMS", "manifest.json"}
    }
    assert named == files
    assert exported.files == len(files) + 2
    assert exported.bytes == sum(path.stat().st_size for path in (tmp_path / "export").rglob("*") if path.is_file())


def test_lines_of_json_hold_documents_and_passages(filled: Stages, tmp_path: Path) -> None:
    exported = export(filled, tmp_path / "export", "jsonl")
    folder = tmp_path / "export" / "handbook"
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines()]
    passages = [json.loads(line) for line in (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (len(documents), len(passages)) == (exported.documents, exported.passages)
    assert {len(passage["vector"]) for passage in passages} == {384}
    assert "The batteries last three days in winter." in "".join(document["markdown"] for document in documents)
    with pytest.raises(TransferError, match="no Parquet files"):
        import_collections(filled.database, tmp_path / "export")


def test_other_tools_read_the_passages(filled: Stages, tmp_path: Path) -> None:
    """pandas and DuckDB read the Parquet file; its metadata names the model and whether vectors have the length 1."""
    pandas = pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    exported = export(filled, tmp_path / "export", "parquet")
    path = tmp_path / "export" / "handbook" / "passages.parquet"
    metadata = pq.read_schema(path).metadata
    assert metadata[b"model"].decode() == filled.generation.model
    assert (metadata[b"dimensions"], metadata[b"normalised"]) == (b"384", b"true")
    frame = pandas.read_parquet(path)
    assert len(frame) == exported.passages
    assert abs(float((frame["vector"].iloc[0] ** 2).sum()) - 1) < 0.01
    rows = duckdb.sql(f"SELECT uri, ordinal, len(vector), text FROM '{path}' WHERE text LIKE '%diesel%'").fetchall()
    assert [row[:3] for row in rows] == [(filled.uri("power.md"), rows[0][1], 384)]
    stored = filled.rows(
        "SELECT chunk.text, entry.vector::text AS vector FROM search_entry entry JOIN chunk ON chunk_id = chunk.id"
    )
    known = {row["text"]: json.loads(row["vector"]) for row in stored}
    assert all([float(x) for x in row.vector] == pytest.approx(known[row.text], abs=1e-6) for row in frame.itertuples())


def test_an_export_appears_whole_or_not_at_all(filled: Stages, tmp_path: Path) -> None:
    """A folder with contents is left alone; a failure in between leaves nothing, not even beside it."""
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    with pytest.raises(TransferError, match="is not empty"):
        export(filled, full)
    with pytest.raises(TransferError, match="there is no folder"):
        export(filled, tmp_path / "missing" / "export")
    (tmp_path / "into").mkdir()

    def stop(collection: str, done: int, total: int) -> None:
        raise OSError(28, os.strerror(28))

    with pytest.raises(TransferError, match="its disk is full"):
        export_collections(filled.database, tmp_path / "into" / "export", ["handbook"], progress=stop)
    assert list((tmp_path / "into").iterdir()) == []
    assert [path.name for path in full.iterdir()] == ["mine.txt"]


def test_the_next_export_deletes_what_a_killed_one_has_left(filled: Stages, tmp_path: Path) -> None:
    left = tmp_path / "into" / ".export.new-abcd_123"
    left.mkdir(parents=True)
    (left / "SHA256SUMS").touch()
    export_collections(filled.database, tmp_path / "into" / "export", ["handbook"], ["parquet"])
    assert [path.name for path in left.parent.iterdir()] == ["export"]


def test_damaged_rows_are_refused(filled: Stages, tmp_path: Path) -> None:
    """In a base of their own they would count as sound, for good."""
    with psycopg.connect(filled.database.url) as foreign:
        foreign.execute("UPDATE sourcebook.chunk SET page = 12 WHERE id = (SELECT min(id) FROM sourcebook.chunk)")
    with pytest.raises(TransferError, match=r"handbook is damaged.* sourcebook reconcile handbook"):
        export(filled, tmp_path / "export")
    assert list(tmp_path.glob("*export*")) == []


def test_a_full_disk_is_named(filled: Stages, tmp_path: Path) -> None:
    """With the place that lacks room and what to do; nothing is left of the export."""
    (tmp_path / "into").mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
        with pytest.raises(TransferError, match=r"was not written, its disk is full .* free some space"):
            export(filled, tmp_path / "into" / "export")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "into").iterdir()) == []
    assert export(filled, tmp_path / "into" / "export").documents == 4
