"""A run may stop anywhere: what was searchable before stays so, whole, and the next run ends where it would have."""

from collections.abc import Callable

import pytest

from tests.integration.stages import Stages
from tests.integration.test_publication import CONFIGURATION, page

NEW = page(Power="The generator was replaced in spring. " * 5)
STEPS: tuple[Callable[[Stages], object], ...] = (
    Stages.raw_files,
    Stages.documents,
    Stages.chunks,
    Stages.embeddings,
    Stages.search_index,
)
BEFORE_PUBLISHING = pytest.mark.parametrize(
    "stopped_after", [1, 2, 3, 4], ids=["raw_files", "documents", "chunks", "embeddings"]
)


@pytest.fixture
def edited(stages: Stages) -> Stages:
    """One published document, with an edit that no stage has seen."""
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    stages.run()
    stages.write("a.md", NEW)
    return stages


def test_the_old_version_is_searchable_until_the_new_one_is_published(edited: Stages) -> None:
    old = edited.chunk_ids("a.md")
    for step in STEPS[:-1]:
        step(edited)
        assert edited.found("batteries") == {"a.md"}
        assert edited.found("generator") == set()
        hits = edited.search("harbour power levelling", limit=50)
        assert {hit.text for hit in hits} == set(old)
        assert {hit.version for hit in hits} == {1}
        assert edited.chunk_ids("a.md") == old
    edited.search_index()
    assert edited.found("batteries") == set()
    assert edited.found("generator") == {"a.md"}
    assert {hit.version for hit in edited.search("harbour")} == {2}


@BEFORE_PUBLISHING
def test_a_second_run_ends_where_one_run_would_have(edited: Stages, stopped_after: int) -> None:
    for step in STEPS[:stopped_after]:
        step(edited)
    assert edited.pending().work
    edited.run()
    assert edited.found("generator") == {"a.md"}
    assert edited.document("a.md")["version"] == 2
    edited.assert_sound()
    assert not edited.pending().work


@BEFORE_PUBLISHING
def test_an_edit_taken_back_before_it_was_published_leaves_no_trace(edited: Stages, stopped_after: int) -> None:
    old = edited.chunk_ids("a.md")
    for step in STEPS[:stopped_after]:
        step(edited)
    edited.write("a.md", page())
    edited.run()
    assert edited.chunk_ids("a.md") == old
    assert edited.found("batteries") == {"a.md"}
    assert edited.found("generator") == set()
    edited.assert_sound()


@BEFORE_PUBLISHING
def test_a_file_removed_before_its_edit_was_published_returns_as_one_version(
    edited: Stages, stopped_after: int
) -> None:
    """Whichever version returns, the other one's passages do not come with it."""
    for step in STEPS[:stopped_after]:
        step(edited)
    (edited.root / "a.md").unlink()
    edited.run()
    assert edited.found("harbour") == set()
    edited.write("a.md", NEW)
    edited.run()
    assert edited.found("generator") == {"a.md"}
    assert edited.found("batteries") == set()
    edited.assert_sound()


@BEFORE_PUBLISHING
def test_a_file_renamed_before_its_edit_was_published_is_published_under_its_new_name(
    edited: Stages, stopped_after: int
) -> None:
    number = edited.document("a.md")["id"]
    for step in STEPS[:stopped_after]:
        step(edited)
    (edited.root / "a.md").rename(edited.root / "b.md")
    edited.run()
    assert edited.found("generator") == {"b.md"}
    assert edited.found("batteries") == set()
    if stopped_after > 1:
        assert edited.document("b.md")["id"] == number
    edited.assert_sound()


def test_a_third_edit_before_the_second_was_published_replaces_it(edited: Stages) -> None:
    for step in STEPS[:4]:
        step(edited)
    edited.write("a.md", page(Power="The windmill turns. " * 5))
    edited.run()
    assert edited.found("windmill") == {"a.md"}
    assert edited.found("generator") | edited.found("batteries") == set()
    edited.assert_sound()


def test_an_interrupted_embedding_keeps_the_vectors_it_had(edited: Stages) -> None:
    """A crash costs one batch: vectors are kept by the hash of their text as they come."""
    for step in STEPS[:4]:
        step(edited)
    report = edited.embeddings()
    assert report.extra["computed"] == 0
    assert report.extra["reused"] > 0
