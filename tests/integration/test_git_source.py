"""Git repositories as sources: real ones, made with git and read through `file://`."""

from pathlib import Path

import pytest

from sourcebook.admin.items import find_document
from sourcebook.admin.removal import remove_items
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files import collection_sources
from sourcebook.stages.transcripts.update import place_of
from tests.integration.git_stages import GitStages


def test_a_moved_branch_costs_the_changed_files_alone(git: GitStages) -> None:
    """Files go in, a commit changes and deletes some, and the others are neither read nor parsed again."""
    git.configure(include=["docs/**/*.md"])
    assert git.run()["documents"].added == 2
    assert git.stages.found("barnacle") == {"tides.md"}
    assert not git.stages.pending().work

    (git.repository.folder / "docs/knots.md").unlink()
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n", birds="# Birds\n\nA tern dives.\n")
    assert not git.stages.pending().work, "nobody has looked at the repository yet"
    reports = git.run()
    assert (reports["raw_files"].added, reports["raw_files"].changed, reports["raw_files"].removed) == (1, 1, 1)
    assert (reports["documents"].added, reports["documents"].changed, reports["documents"].removed) == (1, 1, 1)
    assert git.stages.found("limpet") == {"tides.md"}
    assert git.stages.found("bowline") == set()
    git.stages.assert_sound()


def test_results_name_the_file_in_the_web_view_at_the_commit(git: GitStages) -> None:
    """The document's URI names repository and path, and its link the commit as well."""
    git.repository.write("docs/a b/öl & gas.md", "# Oil\n\nPetroleum burns.\n")
    commit = git.repository.commit()
    git.configure(web="https://git.example.com/handbook/{commit}/view/{path}")
    git.run()
    (hit,) = git.stages.search("petroleum", mode="keyword")
    assert hit.uri == git.uri("docs/a%20b/%C3%B6l%20&%20gas.md")
    assert hit.link == f"https://git.example.com/handbook/{commit}/view/docs/a%20b/%C3%B6l%20&%20gas.md"
    later = git.repository.commit(knots="# Knots\n\nA hitch slips.\n")
    assert git.run()["documents"].changed == 1
    (hit,) = git.stages.search("petroleum", mode="keyword")
    assert hit.link is not None
    assert later in hit.link


def test_documents_stay_the_same_over_revisions_and_a_force_push(git: GitStages) -> None:
    """Branch, tag and commit of one repository are read in turn; an unchanged file is one document throughout."""
    first = git.repository.git("rev-parse", "HEAD")
    git.repository.git("tag", "--annotate", "v1", "--message", "One")
    git.repository.git("checkout", "--quiet", "-b", "release/2")
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
    git.repository.git("checkout", "--quiet", "main")
    git.configure()
    git.run()
    known = git.stages.rows("SELECT id FROM document WHERE uri = %(uri)s", uri=git.uri("docs/knots.md"))
    for revision, word, changed in (("release/2", "limpet", 1), ("v1", "barnacle", 1), (first, "barnacle", 0)):
        git.configure(revision=revision)
        report = git.run()["documents"]
        assert (report.added, report.changed, report.removed) == (0, changed, 0)
        assert git.stages.found(word) == {"tides.md"}
    git.configure(revision="main")
    git.repository.commit(tides="# Tides\n\nThe whelk line marks high water.\n")
    git.run()
    git.repository.git("reset", "--quiet", "--hard", first)
    git.repository.commit(tides="# Tides\n\nThe mussel line marks high water.\n")
    assert git.run()["documents"].changed == 1
    assert git.stages.found("mussel") == {"tides.md"}
    assert git.stages.rows("SELECT id FROM document WHERE uri = %(uri)s", uri=git.uri("docs/knots.md")) == known
    git.stages.assert_sound()


def test_an_unmoved_repository_is_asked_once_and_neither_fetched_nor_read(git: GitStages) -> None:
    """A look at an unmoved branch writes nothing into the mirror; a due one that has moved is found without a fetch."""
    git.configure()
    git.run()
    before = {path: path.stat().st_mtime_ns for path in git.mirror.rglob("*")}
    git.fetch()
    assert not git.stages.pending().work
    assert {path: path.stat().st_mtime_ns for path in git.mirror.rglob("*")} == before

    moved = git.repository.commit(birds="# Birds\n\nA tern dives.\n")
    assert git.moved() == [], "it is not due"
    git.stages.rows("UPDATE source SET next_fetch_at = now() RETURNING 1")
    assert git.moved() == [f"{git.source['location']} {moved}"]
    assert git.source["git_commit"] != moved
    git.fetch(only_due=True)
    assert git.source["git_commit"] == moved
    assert git.moved() == []


def test_a_repository_that_is_gone_loses_nothing(git: GitStages) -> None:
    """The source is unread and says so once; what was read stays searchable and can be read again from the mirror."""
    git.configure()
    git.run()
    git.repository.folder.rename(git.repository.folder.with_name("elsewhere"))
    report = git.run()["raw_files"]
    assert (report.removed, report.failed) == (0, 1)
    assert "cannot be read" in report.failures[0].reason
    assert git.source["listing_error_class"] == "missing"
    assert not git.stages.pending().work
    assert git.stages.found("barnacle") == {"tides.md"}
    git.stages.rows("UPDATE document SET next_retry_at = now(), failure = 'x', config_hash = 'old' RETURNING 1")
    assert git.stages.documents().failed == 0

    git.repository.folder.with_name("elsewhere").rename(git.repository.folder)
    git.run()
    assert git.error is None
    git.stages.assert_sound()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"revision": "mian"}, "has no branch or tag 'mian'; near it: main"),
        ({"revision": "1234567"}, "a commit is given with all of its 40 digits"),
        ({"revision": "0" * 40}, "no commit " + "0" * 40),
        ({"path": "dcos"}, "has no folder 'dcos'"),
        ({"path": "docs/tides.md"}, "is a file at"),
    ],
)
def test_a_revision_or_folder_that_does_not_exist_is_named(
    git: GitStages, settings: dict[str, str], reason: str
) -> None:
    """The message has the repository, what is missing and what is near it; earlier documents stay."""
    git.configure()
    git.run()
    git.configure(**settings)
    git.run()
    assert git.error is not None
    assert reason in git.error
    assert git.stages.found("barnacle") == ({"tides.md"} if "revision" in settings else set())


def test_a_plan_looks_at_the_repository_and_changes_nothing(git: GitStages) -> None:
    """The plan names the files of the new commit, and leaves the ledger at the old one."""
    git.configure()
    assert {item.uri for item in git.plan().items} == {git.uri("docs/tides.md"), git.uri("docs/knots.md")}
    assert git.source["git_commit"] is None
    git.run()
    before = git.source
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
    (item,) = git.plan().items
    assert (item.uri, item.reason) == (git.uri("docs/tides.md"), "content changed")
    assert git.source == before


def test_folders_of_one_repository_share_a_mirror(git: GitStages) -> None:
    """Each source has its own revision and tags, and the mirror keeps the commits of both."""
    git.repository.git("tag", "v1")
    git.repository.write("guide/sails.md", "# Sails\n\nA jib pulls.\n")
    git.repository.commit()
    url = git.repository.url
    git.configure_several(
        {"url": url, "path": "docs", "revision": "v1", "tags": ["old"]}, {"url": url, "path": "guide"}
    )
    assert git.run()["documents"].added == 2 + 1
    assert git.mirror.is_dir()
    git.repository.commit(birds="# Birds\n")
    git.repository.write("guide/sails.md", "# Sails\n\nA genoa pulls.\n")
    git.repository.commit()
    assert git.run()["documents"].changed == 1
    assert git.stages.found("barnacle") == {"tides.md"}
    (hit,) = git.stages.search("barnacle", mode="keyword", filters={"tag": "old", "source": f"git+{url}/docs"})
    assert hit.uri == git.uri("docs/tides.md")


def test_a_file_is_removed_and_shown_like_one_of_a_folder(git: GitStages) -> None:
    """`remove` keeps it out over commits, `show` has its text and link."""
    git.configure(web="https://git.example.com/{commit}/{path}")
    git.run()
    with git.stages.connection() as connection:
        found = find_document(connection, git.uri("docs/tides.md"))
        assert "barnacle" in found.text
        assert found.item.link == f"https://git.example.com/{git.source['git_commit']}/docs/tides.md"
        remove_items(connection, git.uri("docs/tides.md"))
    git.run()
    git.repository.commit(tides="# Tides\n\nThe limpet line and the barnacle.\n")
    git.run()
    assert git.stages.found("barnacle") == set()
    assert git.stages.found("bowline") == {"knots.md"}


def test_a_recording_is_lent_as_a_file(git: GitStages) -> None:
    """What needs a path, such as FFmpeg, gets a copy that is gone afterwards."""
    git.repository.write("docs/talk.mp3", b"\xff\xfb\x90sound")
    git.repository.commit()
    git.configure()
    git.fetch()
    with git.stages.connection() as connection:
        sources = {source.id: source for source in collection_sources(connection, git.stages.collection)}
    (number,) = sources
    with place_of(sources, number, git.uri("docs/talk.mp3")) as place:
        assert Path(place).read_bytes() == b"\xff\xfb\x90sound"
    assert not Path(place).exists()


def test_the_mirror_of_a_repository_that_left_is_deleted_at_night(git: GitStages) -> None:
    """Its documents leave with the next ingest, its mirror with the next thorough one."""
    git.configure()
    git.run()
    mirror = git.mirror
    git.stages.root.mkdir(exist_ok=True)
    git.stages.configure()
    assert git.run()["documents"].removed == 2
    assert mirror.is_dir()
    git.run(Selection(thorough=True))
    assert not mirror.exists()
