"""Uploads, originals and sources in a bucket of S3, over a real server."""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
import fsspec
from typer.testing import CliRunner

from sourcebook.admin.uploads import delete_unreferenced_bytes
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import TransferError, UploadError
from sourcebook.files.upload_store import UploadStore, open_store
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.transfer.export import FORMATS, export_collections
from sourcebook.transfer.importing import import_collections
from tests.conftest import CreateDatabase
from tests.integration.moved_base import QUESTIONS, export, fill
from tests.integration.object_store import object_store
from tests.integration.stages import Stages

TIDES = b"# Tides\n\nThe barnacle line of the harbour marks high water.\n"
STORE = "s3://library/uploads"


@pytest.fixture(scope="module")
def objects() -> Iterator[fsspec.AbstractFileSystem]:
    with object_store() as system:
        yield system


@pytest.fixture
def bucket(objects: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch) -> Iterator[fsspec.AbstractFileSystem]:
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", STORE)
    yield objects
    objects.invalidate_cache()
    if found := objects.find("library"):
        objects.rm(found)


def keys(bucket: fsspec.AbstractFileSystem) -> list[str]:
    bucket.invalidate_cache()
    return sorted(bucket.find("library"))


def put(content: bytes) -> bytes:
    with open_store(Path("/unused")).begin() as incoming:
        for start in range(0, len(content), 1 << 20):
            incoming.write(content[start : start + (1 << 20)])
        incoming.publish()
        return incoming.sha256


def test_bytes_get_one_place_in_a_bucket(bucket: fsspec.AbstractFileSystem) -> None:
    """Also those of several parts; the same ones are not written again, and damaged ones are replaced."""
    content = os.urandom(1 << 20) * 17
    text = hashlib.sha256(content).hexdigest()
    place = f"library/uploads/{text[:2]}/{text[2:4]}/{text}"
    put(content)
    assert keys(bucket) == [place]
    written = bucket.info(place)["LastModified"], bucket.info(place)["ETag"]
    put(content)
    bucket.invalidate_cache()
    assert (bucket.info(place)["LastModified"], bucket.info(place)["ETag"]) == written
    bucket.pipe_file(place, bytes(len(content)))
    with UploadStore(STORE).open(put(content)) as file:
        assert file.read() == content
    assert keys(bucket) == [place]


def test_bytes_that_are_not_whole_leave_nothing_in_a_bucket(bucket: fsspec.AbstractFileSystem) -> None:
    with open_store(Path("/unused")).begin() as incoming:
        incoming.write(TIDES)
    assert keys(bucket) == []
    bucket.pipe_file("library/uploads/incoming/left", b"of a killed process")
    store = UploadStore(STORE)
    assert store.remove_abandoned() == 0
    assert store.remove_abandoned(age=time.time()) == 0
    assert store.remove_abandoned(age=-60) == 1
    assert keys(bucket) == []


def test_two_homes_serve_each_others_uploads_and_originals(
    stages: Stages, bucket: fsspec.AbstractFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One machine takes the upload, a second one reads and shows it, and the first one deletes its bytes."""
    bucket.pipe_file("library/docs/pier.md", b"# Pier\n\nThe walrus sleeps at the pier.\n")
    stages.configure("collections: {handbook: {files: [{root: 's3://library/docs'}]}}")
    stages.run()
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "second"))
    location = replace(stages.database.location, home=tmp_path / "second")
    with Database(location) as database, KnowledgeBase(database) as second:
        second.upload("handbook", "tides.md", TIDES)
        assert not list(tmp_path.rglob("uploads"))
        monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "first"))
        stages.run()
        assert stages.found("barnacle") == {"tides.md"}
        for knowledge in (second, stages.knowledge):
            read = {}
            for item in knowledge.documents():
                with knowledge.original(item.uri) as original:
                    read[original.name] = original.stream.read()
            assert read == {"pier.md": b"# Pier\n\nThe walrus sleeps at the pier.\n", "tides.md": TIDES}
        second.remove_upload("handbook", "tides.md")
    stages.run()
    with stages.connection() as connection:
        connection.execute("DELETE FROM upload")
        assert delete_unreferenced_bytes(connection) == 1
    assert keys(bucket) == ["library/docs/pier.md"]
    bucket.pipe_file("library/docs/pier.md", b"# Pier\n\nThe seal sleeps at the pier.\n")
    bucket.pipe_file("library/docs/quay.md", b"# Quay\n\nThe gannet dives from the quay.\n")
    stages.run()
    assert stages.found("gannet") == {"quay.md"}
    assert stages.found("seal") == {"pier.md"}
    stages.assert_sound()


def test_faults_of_a_bucket_are_named_without_secrets(
    bucket: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing bucket, which is not made; no credentials; and nobody who answers."""

    def refused(location: str) -> str:
        monkeypatch.setenv("SOURCEBOOK_UPLOADS", location)
        with pytest.raises(UploadError) as found:
            put(TIDES)
        return str(found.value)

    assert "s3://libary/uploads is not there (The specified bucket does not exist)" in refused("s3://libary/uploads")
    assert not bucket.exists("libary")
    assert "password" in refused("s3://AKIAEXAMPLE:verysecretvalue@library/uploads")
    assert "needs a package" in refused("adl://library/uploads")

    type(bucket).clear_instance_cache()
    with monkeypatch.context() as here:
        here.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        assert "s3://library/uploads cannot be reached" in refused(STORE)
    type(bucket).clear_instance_cache()
    with monkeypatch.context() as here:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            here.delenv(name)
        assert "s3://library/uploads needs credentials" in refused(STORE)
    type(bucket).clear_instance_cache()
    assert "verysecretvalue" not in caplog.text


def test_an_export_to_a_bucket_is_that_to_a_folder(
    stages: Stages, bucket: fsspec.AbstractFileSystem, create_database: CreateDatabase, tmp_path: Path
) -> None:
    """The same files with the same bytes; an import from there answers as before, and refuses what was changed."""
    url, folder, filled = "s3://library/export", tmp_path / "export", fill(stages)

    def stop(collection: str, done: int, total: int) -> None:
        with pytest.raises(TransferError, match="being written, or was killed"):
            export_collections(filled.database, url, ["handbook"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_collections(filled.database, url, ["handbook"], progress=stop)
    assert keys(bucket) == []
    with pytest.raises(TransferError, match="s3://libary/export is not there"):
        export_collections(filled.database, "s3://libary/export", ["handbook"])

    local = export(filled, folder, *FORMATS)
    put = export_collections(filled.database, f"{url}/", ["handbook"], FORMATS)
    assert put == replace(local, folder=url, bytes=put.bytes)
    found = {key.removeprefix("library/export/"): bucket.cat_file(key) for key in keys(bucket)}
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del found["manifest.json"], written["manifest.json"]  # which have the time
    assert found == written
    with pytest.raises(TransferError, match=f"{url} is not empty"):
        export_collections(filled.database, url, ["handbook"])

    done = CliRunner().invoke(app, ["export", "s3://library/lines", "--format", "jsonl", "--json"])
    assert json.loads(done.output)["folder"] == "s3://library/lines"
    bucket.rm("library/lines", recursive=True)
    refused = CliRunner().invoke(app, ["import", url])
    assert (refused.exit_code, "has handbook already" in refused.output) == (1, True)

    location = DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))
    with Database(location) as database:
        for part in ("/originals/", ".parquet"):
            name = next(key for key in keys(bucket) if part in key)
            whole = bucket.cat_file(name)
            bucket.pipe_file(name, whole[:-1] + b"?")
            with pytest.raises(TransferError, match=f"s3://{re.escape(name)} is damaged"):
                import_collections(database, url)
            bucket.rm_file(name)
            with pytest.raises(TransferError, match=f"{url} is incomplete: the file handbook/.* is missing"):
                import_collections(database, url)
            bucket.pipe_file(name, whole)
        assert import_collections(database, url).passages == local.passages
        with KnowledgeBase(database, query_embedder=stages.embedder) as other:
            for question in QUESTIONS:
                assert [(hit.uri, hit.text, hit.score) for hit in other.search(question, min_relevance=0)] == [
                    (hit.uri, hit.text, hit.score) for hit in stages.search(question)
                ]
        with pytest.raises(TransferError, match=f"{url}/other is no export of Sourcebook: it has no manifest.json"):
            import_collections(database, f"{url}/other")
