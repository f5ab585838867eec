"""A collection that is deleted while somebody asks for it, or sends files to it."""

from typing import Any

import pytest

import sourcebook.admin.pending as pending
from sourcebook.admin import uploads
from tests.integration.http_server import serving
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook}]}\n")
    stages.knowledge.create_collection("manuals")
    return stages


@pytest.mark.parametrize("report", ["status", "plan"])
def test_reports_leave_out_what_is_deleted_meanwhile(
    base: Stages, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    found = pending.find_pending

    def delete_before(connection: Any, name: str, *others: Any) -> Any:
        if name == "manuals":
            base.knowledge.delete_collection(name)
        return found(connection, name, *others)

    monkeypatch.setattr(pending, "find_pending", delete_before)
    monkeypatch.setattr("sourcebook.admin.planning.plan.find_pending", delete_before)
    with serving(base.knowledge, requires_key=False) as client:
        answer = client.get(f"/v1/{report}")
        assert answer.status == 200
        assert [each["name"] for each in answer.json["collections"]] == ["handbook"]


def test_an_upload_to_a_collection_that_is_deleted_meanwhile_is_refused(
    base: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows may even be gone by then: nothing is stored, and nothing fails."""
    locked = uploads._lock_source

    def purge_before(connection: Any, name: str) -> None:
        with base.connection() as other:
            other.execute("DELETE FROM collection WHERE name = %s", [name])
        locked(connection, name)

    monkeypatch.setattr(uploads, "_lock_source", purge_before)
    with serving(base.knowledge, requires_key=False) as client:
        answer = client.request("PUT", "/v1/uploads/manuals/tides.md", b"# Tides")
        assert (answer.status, answer.json["detail"]) == (404, "there is no such collection")
