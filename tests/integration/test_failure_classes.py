"""Failures as data: each has a class, some attempts, and a state in which no time tries it again."""

import pickle

import pytest

from sourcebook.admin.items import list_items
from sourcebook.admin.status import collection_statuses
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.errors import FailureClass, ListingError, ParseError, RecordingError, TemporaryParseError
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html

BROKEN = b"PK\x03\x04 this is no archive" + bytes(50)


def test_documents_fail_in_classes_that_can_be_asked_for(stages: Stages) -> None:
    """The class is in the report, in the item and in the status; a filter by class gives these items alone."""
    stages.write("broken.docx", BROKEN)
    stages.write("gone.md", "The flag is green.")
    stages.write("flag.md", "The flag is white.")
    stages.configure()
    stages.raw_files()
    (stages.root / "gone.md").unlink()
    report = stages.documents()
    classes = {failure.uri: failure.failure_class for failure in report.failures}
    assert classes == {stages.uri("broken.docx"): FailureClass.CORRUPT, stages.uri("gone.md"): FailureClass.MISSING}
    with stages.connection() as connection:
        (item,) = list_items(connection, DocumentsRequest(failure=FailureClass.CORRUPT))
        assert (item.uri, item.failure_class, item.attempts, item.parked) == (
            stages.uri("broken.docx"), "corrupt", 1, True,
        )  # fmt: skip
        (item,) = list_items(connection, DocumentsRequest(failure=FailureClass.MISSING))
        assert (item.uri, item.parked) == (stages.uri("gone.md"), False)
        assert list_items(connection, DocumentsRequest(failure=FailureClass.PASSWORD)) == []
        (status,) = collection_statuses(connection)
    assert {problem.failure_class: problem.parked for problem in status.problems} == {"corrupt": True, "missing": False}


def test_a_folder_that_is_not_there_has_a_class(stages: Stages) -> None:
    stages.configure("collections: {handbook: {files: [{root: ./nowhere}]}}")
    (failure,) = stages.raw_files().failures
    assert failure.failure_class == FailureClass.MISSING
    with stages.connection() as connection:
        (item,) = list_items(connection, DocumentsRequest(failure=FailureClass.MISSING))
    assert (item.kind, item.failure_class) == ("source", "missing")


def test_an_item_is_parked_after_the_attempts_of_the_setting(stages: Stages) -> None:
    """Only a person's word or other content brings it back, and other content counts its attempts from the start."""
    file = stages.write("a.md", "The flag is green.")
    stages.configure("collections: {handbook: {files: [{root: ./docs}], retries: {attempts: 3}}}")
    stages.raw_files()
    file.unlink()
    for attempt in (1, 2, 3):
        assert stages.documents().failed == 1
        item = stages.item("a.md")
        assert (item["attempts"], item["parked"], item["next_retry_at"] is None) == (
            attempt,
            attempt == 3,
            attempt == 3,
        )
        stages.due_now()
    assert stages.documents().failed == 0, "it is parked"
    assert stages.documents(Selection(only_failed=True)).failed == 1
    assert (stages.item("a.md")["attempts"], stages.item("a.md")["parked"]) == (4, True)
    stages.write("a.md", "The flag is white, and longer.")
    stages.raw_files()
    file.unlink()
    stages.documents()
    assert (stages.item("a.md")["attempts"], stages.item("a.md")["parked"]) == (1, False)
    stages.write("a.md", "The flag is white, and longer.")
    stages.run()
    item = stages.item("a.md")
    assert (item["state"], item["attempts"], item["failure_class"], item["parked"]) == ("ready", 0, None, False)


@pytest.mark.parametrize("kind", [ParseError, TemporaryParseError, RecordingError, ListingError])
def test_the_class_comes_out_of_a_child_process(kind: type[ParseError | RecordingError | ListingError]) -> None:
    error = pickle.loads(pickle.dumps(kind("it is damaged", FailureClass.CORRUPT)))  # noqa: S301 - made here
    assert (type(error), str(error), error.failure_class) == (kind, "it is damaged", FailureClass.CORRUPT)


def test_pages_fail_in_classes_by_their_answers(stages: Stages) -> None:
    """401 and 403 are `forbidden`, other answers `server`; of a host that does not answer its site says `network`."""
    stages.web.page("/", html("Start", links=["/private", "/broken"]))
    stages.web.page("/private", "no", status=403)
    stages.web.page("/broken", "trouble", status=500)
    stages.configure_site()
    stages.crawl()
    with stages.connection() as connection:
        (private,) = list_items(connection, DocumentsRequest(failure=FailureClass.FORBIDDEN))
        (broken,) = list_items(connection, DocumentsRequest(failure=FailureClass.SERVER))
    assert (private.uri, private.parked) == (f"{stages.web.url}/private", True)
    assert (broken.uri, broken.parked) == (f"{stages.web.url}/broken", False)
