"""Types of documents: found by path and front matter, filtered, counted, and held to their promises."""

from pathlib import Path

import pytest

from sourcebook.admin.checks import run_checks
from sourcebook.errors import QueryError
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages

TYPES = "types: {adr: {paths: ['adr/**'], fields: [status]}, plan: {paths: ['plans/**']}}"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("adr/0001-rows.md", "---\nstatus: accepted\n---\n# Rows\n\nState is rows.\n")
    stages.write("adr/0002-cron.md", "# Cron\n\nState is kept by cron.\n")
    stages.write("plans/q3.md", "---\ntype: adr\nstatus: draft\n---\n# Third quarter\n\nState of plans.\n")
    stages.write("other.md", "# Other\n\nState of the others.\n")
    stages.configure(f"collections: {{handbook: {{files: [{{root: ./docs}}], {TYPES}}}}}")
    stages.run()
    return stages


def names(base: Stages, **filters: object) -> set[str]:
    found = base.search("state", limit=10, mode="keyword", min_relevance=0, filters=filters)
    return {Path(hit.uri).name for hit in found}


def test_types_filter_and_are_counted(base: Stages) -> None:
    assert names(base, type="adr") == {"0001-rows.md", "0002-cron.md", "q3.md"}
    assert names(base, types=["plan"]) == set()
    facets = base.search("state", limit=10, mode="keyword", min_relevance=0, facets=True).facets
    assert facets is not None
    assert facets["type"] == {"adr": 3}
    assert base.knowledge.statistics()[0].types == {"adr": 3}
    assert {Path(item.uri).name for item in base.knowledge.documents(types=["adr"])} == {
        "0001-rows.md", "0002-cron.md", "q3.md",
    }  # fmt: skip
    assert base.knowledge.documents(types=["plan"], limit=3) == []


def test_a_promise_that_is_broken_is_a_warning_until_it_is_kept(base: Stages) -> None:
    with base.connection() as connection:
        (outcome,) = [each for each in run_checks(connection, "handbook") if each.name == "types_keep_their_promises"]
    assert outcome.violations == 1
    assert outcome.examples[0].endswith("0002-cron.md: adr without status")
    assert base.status().lacking == {"adr": 1}
    base.knowledge.change_document(base.uri("adr/0002-cron.md"), metadata={"status": "proposed"})
    assert base.status().lacking == {}


def test_other_types_are_applied_to_the_stored_documents(base: Stages) -> None:
    base.configure("collections: {handbook: {files: [{root: ./docs}], types: {plan: {paths: ['plans/**']}}}}")
    assert base.pending().unrelated == 4
    base.run()
    assert base.knowledge.statistics()[0].types == {"plan": 1}
    assert base.status().lacking == {}
    assert not base.pending().work


def test_types_that_are_none_stand_in_the_place_of_the_usual_ones(base: Stages) -> None:
    base.configure("collections: {handbook: {files: [{root: ./docs}], types: {}}}")
    base.run()
    assert base.knowledge.statistics()[0].types == {}


def test_documents_of_a_type_alone_are_brought_up_to_date(base: Stages) -> None:
    request = base.knowledge.request_work("handbook", types=["adr"])
    assert {Path(uri).name for uri in request.arguments["documents"]} == {"0001-rows.md", "0002-cron.md", "q3.md"}
    with pytest.raises(QueryError, match="no document of the type"):
        base.knowledge.request_work("handbook", types=["plan"])


def test_new_and_renamed_files_of_a_type_come_with_it(base: Stages) -> None:
    moved = base.document("adr/0002-cron.md")["id"]
    base.write("adr/0003-queue.md", "# Queue\n\nState is a queue.\n")
    base.write("more.md", "# More\n\nState of more.\n")
    (base.root / "adr/0002-cron.md").rename(base.root / "adr/0004-cron.md")
    wanted = base.knowledge.request_work("handbook", types=["adr"]).arguments["documents"]
    assert {Path(uri).name for uri in wanted} == {
        "0001-rows.md", "0002-cron.md", "0003-queue.md", "0004-cron.md", "q3.md",
    }  # fmt: skip
    base.run(Selection(tuple(wanted)))
    assert names(base, type="adr") == {"0001-rows.md", "0003-queue.md", "0004-cron.md", "q3.md"}
    assert base.document("adr/0004-cron.md")["id"] == moved
    assert "more.md" not in names(base)


def test_front_matter_that_cannot_be_read_is_a_warning_until_it_is_mended(base: Stages) -> None:
    """Its type, tags and relations are lost meanwhile: the file and the line are named."""

    def violations() -> tuple[str, ...]:
        with base.connection() as connection:
            (outcome,) = [each for each in run_checks(connection, "handbook") if each.name == "front_matter_is_read"]
        return outcome.examples

    assert violations() == ()
    base.write("plans/q4.md", "---\ntype: adr\nsupersedes: [q3.md\nstatus: draft\n---\n# Fourth quarter\n")
    base.run()
    error = "line 4: expected ',' or ']', but got ':'"
    assert violations() == (f"{base.uri('plans/q4.md')}: {error}",)
    assert base.status().unread_front_matter == {base.uri("plans/q4.md"): error}
    base.write("plans/q4.md", "---\ntype: adr\nsupersedes: [q3.md]\nstatus: draft\n---\n# Fourth quarter\n")
    base.run()
    assert violations() == ()
    assert base.status().unread_front_matter == {}
