"""`RemoteKnowledgeBase` counts, asks for work and changes what `KnowledgeBase` does."""

import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.work_requests import claim_work, end_work, record_progress
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import (
    AccessError,
    ChangedSettingsError,
    ConflictError,
    DatabaseUnavailableError,
    OriginalGoneError,
    QueryError,
    UnknownDocumentError,
)
from sourcebook.knowledge_base import KnowledgeBase
from tests.checkout import EXAMPLES
from tests.integration.http_server import serving
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook}], retention: {queries: 30}}
  personnel: {files: [{root: ./docs/personnel}]}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/broken.pdf", b"%PDF-1.7 no more than this")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a bonus in winter.")
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")
    stages.write("handbook/new.md", "# New\n\nNothing is known of it yet.")
    return stages


@pytest.fixture
def remote(base: Stages, knowledge: KnowledgeBase) -> Iterator[RemoteKnowledgeBase]:
    with base.connection() as connection:
        _, key = create_key(connection, "editor", ("admin",), None, actor="test")
    with (
        serving(knowledge, requires_key=True) as client,
        RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}", key) as remote,
    ):
        yield remote


def test_reports_are_equal(knowledge: KnowledgeBase, remote: RemoteKnowledgeBase) -> None:
    remote.search("batteries", "handbook")
    remote.judge("batteries", "handbook/power.md", 2)
    remote.judge("batteries", "handbook/power.md", 3, collection="handbook")
    knowledge.release()  # writes the logs
    for names in (None, "handbook", ["personnel", "handbook"]):
        assert remote.sources(names) == knowledge.sources(names)
        assert remote.statistics(names) == knowledge.statistics(names)
        assert remote.plan(names) == knowledge.plan(names)
        assert remote.judgments(names) == knowledge.judgments(names)
        assert remote.queries(names) == knowledge.queries(names)
        options: dict[str, Any]
        for options in ({}, {"by": []}, {"by": ["model", "day"]}, {"since": timedelta(days=7)}):
            assert remote.usage(names, **options) == knowledge.usage(names, **options)
    assert remote.plan("handbook")[0].items != ()
    assert remote.judgments()[0].grade == 3
    assert remote.queries(since=timedelta(days=400), limit=1, without_results=True) == []
    remote.judge("batteries", "handbook/power.md", None)
    assert remote.judgments() == []
    for refused in (
        lambda: remote.judge("batteries", "handbook/power.md", None),
        lambda: remote.usage(by=["weather"]),
        lambda: remote.sources("nothing"),
        lambda: remote.plan(configuration="sourcebook.yaml"),
        lambda: remote.judge("batteries", "handbook/power.md", actor="Ada"),
    ):
        with pytest.raises(QueryError):
            refused()
    with pytest.raises(UnknownDocumentError):
        remote.judge("batteries", "nothing.md")
    assert remote.forget_logged_queries("handbook") == 1


def test_work_is_asked_for_followed_and_cancelled(knowledge: KnowledgeBase, remote: RemoteKnowledgeBase) -> None:
    asked = remote.request_work("handbook", kinds=["files"], only_failed=True, idempotency_key="monday")
    assert asked == knowledge.work(asked.id) == remote.work(asked.id)
    assert (asked.asked_by, asked.arguments) == ("key editor", {"kinds": ["files"], "only_failed": True})
    assert remote.request_work("handbook", kinds=["files"], only_failed=True, idempotency_key="monday").id == asked.id
    others = [remote.request_work("personnel").id for _ in range(3)]
    assert len(set(others)) == 3
    assert remote.work_requests() == knowledge.work_requests()
    assert remote.work_requests("personnel", states=["waiting"], before=others[-1], limit=1)[0].id == others[1]
    cancelled = remote.cancel_work(asked.id)
    assert cancelled is not None
    assert (cancelled.state, cancelled) == ("cancelled", knowledge.work(asked.id))
    assert remote.work(999_999) is None
    assert remote.cancel_work(999_999) is None
    with pytest.raises(QueryError):
        remote.request_work("nothing")
    with pytest.raises(QueryError):
        remote.work_requests(limit=0)


def test_work_is_followed_to_its_end(base: Stages, remote: RemoteKnowledgeBase) -> None:
    number = remote.request_work("handbook").id
    told = remote.follow_work(number)
    assert next(told).state == "waiting"
    with base.connection() as connection:
        claim_work(connection, worker="host:1")
        assert next(told) == remote.work(number)
        record_progress(connection, number, "documents", 1, 2, 0)
        running = next(told)
        assert (running.stage, running.done, running.total) == ("documents", 1, 2)
        end_work(connection, number, "failed", "the disk is full")
    last = next(told)
    assert (last.state, last.error) == ("failed", "the disk is full")
    assert list(told) == []
    assert [each.state for each in remote.follow_work(number)] == ["failed"]
    with pytest.raises(QueryError, match="no such request"):
        next(remote.follow_work(999_999))


def test_work_is_followed_past_a_server_that_starts_again(
    base: Stages, knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.client.work_requests._PAUSES", (0.05, 0.05))
    number = knowledge.request_work("handbook").id
    with serving(knowledge, requires_key=False) as client:
        remote = RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}")
        told = remote.follow_work(number)
        assert next(told).state == "waiting"
    with serving(knowledge, requires_key=False, port=client.port):
        knowledge.cancel_work(number)
        assert [each.state for each in told] == ["cancelled"]
    with remote, pytest.raises(DatabaseUnavailableError):
        next(remote.follow_work(number))


def test_a_page_is_the_picture_of_the_library(
    base: Stages, knowledge: KnowledgeBase, remote: RemoteKnowledgeBase
) -> None:
    base.write("handbook/report.pdf", (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes())
    base.run()
    passage = next(each for each in knowledge.show("report.pdf").passages if each.page == 2).ordinal
    options: dict[str, Any]
    for options in ({}, {"scale": 0.5, "passage": passage}, {"scale": None, "passage": passage}):
        here = knowledge.page_image("report.pdf", 2, "handbook", **options)
        assert remote.page_image("report.pdf", 2, "handbook", **options) == here
    assert len(here.boxes) > 1
    with pytest.raises(QueryError):
        remote.page_image("report.pdf", 99)
    with pytest.raises(QueryError):
        remote.page_image("handbook/power.md", 1)
    with pytest.raises(UnknownDocumentError):
        remote.page_image("nothing.pdf", 1)


def test_lists_of_work_come_in_pages(
    knowledge: KnowledgeBase, remote: RemoteKnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.client.work_requests._PAGE", 2)
    for _ in range(5):
        knowledge.request_work("handbook")
    for limit in (1, 2, 3, 4, 5, 6):
        assert remote.work_requests(limit=limit) == knowledge.work_requests(limit=limit)


def test_documents_are_changed_removed_and_restored(
    base: Stages, knowledge: KnowledgeBase, remote: RemoteKnowledgeBase
) -> None:
    changed = remote.change_document("handbook/power.md", tags=["policy"], metadata={"owner": "Harbour", "draft": None})
    assert changed == knowledge.show("handbook/power.md")
    assert "policy" in changed.tags
    number = changed.item.document_id
    assert number is not None
    with remote.original(number) as there, knowledge.original(number) as here:
        assert (there.name, there.media_type, there.size, there.sha256) == (
            here.name,
            here.media_type,
            here.size,
            here.sha256,
        )
        assert there.stream.read() == here.stream.read()
    base.write("handbook/power.md", "# Power\n\nSomething else.")
    with pytest.raises(OriginalGoneError):
        remote.original("handbook/power.md")
    (removed,) = remote.remove_document("handbook/power.md", "handbook")
    assert (removed.collection, removed.document_id) == ("handbook", number)
    assert knowledge.show(number).item.state == "removed"
    assert remote.restore_document(number) == [removed]
    base.run()
    assert remote.show(number).item.state == "ready"
    assert "policy" in remote.show(number).tags
    with pytest.raises(UnknownDocumentError):
        remote.remove_document("nothing.md")
    with base.connection() as connection:
        actors = {event.actor for event in audit_events(connection) if event.action.startswith("document.")}
    assert actors == {"key editor"}


def test_uploads_are_stored_listed_and_removed(
    knowledge: KnowledgeBase, remote: RemoteKnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.client.upload_requests._PAGE", 2)
    first = remote.upload("handbook", "policies/leave & more.md", b"# Leave\n\nThirty days.", tags=["policy"])
    second = remote.upload("handbook", "policies/leave & more.md", io.BytesIO(b"# Leave\n\nForty days."))
    assert (first.version, second.version, second.tags, second.bytes) == (1, 2, ("policy",), 20)
    for number in range(3):
        remote.upload("personnel", f"{number}.txt", f"text {number}".encode())
    assert remote.uploads() == knowledge.uploads()
    assert remote.uploads("personnel", limit=2) == knowledge.uploads("personnel", limit=2)
    assert remote.upload_versions("handbook", first.name) == knowledge.upload_versions("handbook", first.name)
    assert remote.upload_versions("handbook", "nothing.md") == []
    removed = remote.remove_upload("handbook", first.name)
    assert removed.removed_at is not None
    assert [each.collection for each in remote.uploads()] == ["personnel"] * 3
    for refused in (
        lambda: remote.upload("nothing", "a.md", b"a"),
        lambda: remote.upload("handbook", "../a.md", b"a"),
        lambda: remote.upload("handbook", "a.md", b""),
        lambda: remote.remove_upload("handbook", "nothing.md"),
        lambda: remote.upload_versions("nothing", "a.md"),
    ):
        with pytest.raises(QueryError):
            refused()


def test_collections_are_made_changed_and_deleted(
    knowledge: KnowledgeBase, remote: RemoteKnowledgeBase, tmp_path: Path
) -> None:
    made = remote.create_collection("notes", {"retries": {"attempts": 3}})
    assert made == knowledge.collection_settings("notes") == remote.collection_settings("notes")
    changed = remote.change_collection("notes", {"retries": {"attempts": 4}}, expected=made.settings)
    assert changed.settings["retries"]["attempts"] == 4
    with pytest.raises(ChangedSettingsError):
        remote.change_collection("notes", {"retries": None}, expected=made.settings)
    source: dict[str, Any] = {"url": "https://docs.example.org/"}
    added = remote.add_source("notes", "site", source)
    assert added == knowledge.collection_settings("notes")
    with pytest.raises(ConflictError):
        remote.add_source("notes", "site", source)
    remote.remove_source("notes", "https://docs.example.org/")
    assert remote.rename_collection("notes", "memos") == knowledge.collection_settings("memos")
    with pytest.raises(ConflictError):
        remote.rename_collection("memos", "handbook")
    remote.delete_collection("memos")
    for refused, error in (
        (lambda: remote.create_collection("handbook"), ConflictError),
        (lambda: remote.change_collection("handbook", {}), ConflictError),
        (lambda: remote.create_collection("no/name"), QueryError),
        (lambda: remote.create_collection("other", {"colour": "red"}), QueryError),
        (lambda: remote.delete_collection("notes"), QueryError),
    ):
        with pytest.raises(error):
            refused()


def test_a_key_that_reads_changes_nothing(base: Stages, knowledge: KnowledgeBase) -> None:
    with base.connection() as connection:
        _, key = create_key(connection, "reader", ("read",), None, actor="test")
    with (
        serving(knowledge, requires_key=True) as client,
        RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}", key) as reader,
    ):
        for refused in (
            lambda: reader.request_work("handbook"),
            lambda: reader.judge("batteries", "handbook/power.md"),
            lambda: reader.remove_document("handbook/power.md"),
            lambda: reader.upload("handbook", "a.md", b"a"),
            lambda: reader.create_collection("notes"),
            lambda: reader.queries(),
        ):
            with pytest.raises(AccessError, match="scope"):
                refused()
    assert knowledge.work_requests() == []
