"""Collections that the API makes: beside those of the file, read by the same stages, gone when they are deleted."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.removal import purge
from sourcebook.admin.retention import forget_removed
from sourcebook.admin.work_requests import ask_for_work, find_work, list_work
from sourcebook.database.lock import collection_lock
from sourcebook.errors import ConfigurationError, ConflictError, QueryError, SettingsError, UnknownSourceError
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    """A collection of the file; the folder `shared` beside its own may be read by collections of the API."""
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.\n")
    stages.configure()
    shared = stages.root.parent / "shared"
    for name, text in (("notes/seal.md", "The seal of the housing is greased."), ("other/rope.md", "A bowline holds.")):
        path = shared / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem.title()}\n\n{text}\n")
        stages.settle(path)
    stages.knowledge.folders = (shared,)
    stages.run()
    return stages


def shared(base: Stages, name: str = "notes") -> str:
    return str(base.root.parent / "shared" / name)


def run(base: Stages, collection: str) -> None:
    base.collection = collection
    base.run()
    base.collection = "handbook"


def found(knowledge: KnowledgeBase, collection: str) -> list[str]:
    return sorted(hit.title for hit in knowledge.search("housing rope batteries", collection, min_relevance=0))


def test_a_collection_is_made_read_and_searched_like_one_of_the_file(base: Stages, knowledge: KnowledgeBase) -> None:
    made = knowledge.create_collection("notes", {"files": [{"root": shared(base)}]}, actor="key app")
    assert (made.name, made.declared_in) == ("notes", "api")
    assert made.settings == {"files": [{"root": shared(base)}]}
    run(base, "notes")
    assert found(knowledge, "notes") == ["Seal"]

    after = knowledge.add_source("notes", "files", {"root": shared(base, "other"), "tags": ["rope"]}, actor="key app")
    assert [source["root"] for source in after.settings["files"]] == [shared(base), shared(base, "other")]
    run(base, "notes")
    assert found(knowledge, "notes") == ["Rope", "Seal"]

    knowledge.change_collection("notes", {"search": {"limit": 1, "min_relevance": 0}}, actor="key app")
    assert len(knowledge.search("housing rope", "notes")) == 1
    one = knowledge.search("housing rope", "notes", neighbours=0, explain=True)
    assert one.explanation is not None
    assert one.explanation.defaults == {"limit": 1, "min_relevance": 0}
    assert "defaults   limit 1, min_relevance 0 (settings of the collections)" in str(one.explanation)
    assert len(knowledge.search("housing rope", "notes", 2)) == 2
    both = knowledge.search("housing rope", ["notes", "handbook"], explain=True)  # which do not agree
    assert both.explanation is not None
    assert both.explanation.defaults == {}
    knowledge.change_collection("notes", {"search": {"limit": 2, "min_relevance": 1}}, actor="key app")
    assert "are below the relevance of 1 that the settings" in " ".join(knowledge.search("rope", "notes").notes)
    assert len(knowledge.search("rope", "notes", min_relevance=0)) == 2

    knowledge.remove_source("notes", shared(base), actor="key app")
    run(base, "notes")
    assert found(knowledge, "notes") == ["Rope"]
    with pytest.raises(UnknownSourceError):
        knowledge.remove_source("notes", shared(base))
    with pytest.raises(ConflictError, match="has this source already"):
        knowledge.add_source("notes", "files", {"root": shared(base, "other")})
    with base.connection() as connection:
        events = [(event.action, event.actor) for event in audit_events(connection)]
    actions = ("source.remove", *["collection.change"] * 2, "source.add", "collection.create")
    assert events == [(name, "key app") for name in actions]
    states = {each.name: each.declared_in for each in knowledge.status()}
    assert states == {each.name: each.declared_in for each in knowledge.collections()}
    assert states == {"handbook": "file", "notes": "api"}


def test_the_file_leaves_collections_of_the_api_alone(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    run(base, "notes")
    applied = base.configure()
    assert (applied.removed, applied.changed) == ((), ())
    assert found(knowledge, "notes") == ["Seal"]

    with pytest.raises(ConfigurationError, match=r"the API has made a collection of the name notes already: choose"):
        base.configure("collections:\n  other: {files: [{root: ./docs}]}\n  notes: {files: [{root: ./docs}]}\n")
    assert [each.name for each in knowledge.collections()] == ["handbook", "notes"]

    for refused in (
        lambda: knowledge.create_collection("handbook"),
        lambda: knowledge.change_collection("handbook", {"retries": {"attempts": 3}}),
        lambda: knowledge.delete_collection("handbook"),
        lambda: knowledge.add_source("handbook", "files", {"root": shared(base)}),
        lambda: knowledge.remove_source("handbook", str(base.root)),
    ):
        with pytest.raises(ConflictError):
            refused()
    with pytest.raises(ConflictError, match=r"sourcebook\.yaml declares this collection"):
        knowledge.delete_collection("handbook")
    assert found(knowledge, "handbook") == ["Power"]


def test_a_deleted_collection_is_gone_at_once_and_its_name_is_free(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    run(base, "notes")
    with base.connection() as connection:
        waiting = ask_for_work(connection, "notes", asked_by="key app")
    with collection_lock(base.database, "notes"):  # as a running ingest holds it
        knowledge.delete_collection("notes", actor="key app")
        with pytest.raises(QueryError, match="there is no collection"):
            found(knowledge, "notes")
        assert {hit.collection for hit in knowledge.search("housing", min_relevance=0)} <= {"handbook"}
        with pytest.raises(ConflictError, match="an ingest still works"):
            knowledge.create_collection("notes")
    with base.connection() as connection:
        cancelled = find_work(connection, waiting.id)
        assert cancelled is not None
        assert cancelled.state == "cancelled"

    knowledge.create_collection("notes", {"files": [{"root": shared(base, "other")}]})
    assert base.rows("SELECT FROM document WHERE collection = 'notes'") == []
    run(base, "notes")
    assert found(knowledge, "notes") == ["Rope"]
    assert found(knowledge, "handbook") == ["Power"]


def test_nothing_of_a_deleted_collection_outlives_the_night(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    run(base, "notes")
    knowledge.delete_collection("notes")
    assert forget_removed(base.database, None) is not None
    assert base.rows("SELECT name FROM collection") == [{"name": "handbook"}]
    assert base.rows("SELECT FROM document WHERE collection = 'notes'") == []


def test_an_ingest_of_a_collection_that_is_deleted_beside_it_ends(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    base.collection = "notes"
    base.raw_files()
    base.documents()
    knowledge.delete_collection("notes")
    with pytest.raises(ConfigurationError, match="there is no collection notes, or no longer"):
        base.chunks()
    assert {hit.collection for hit in knowledge.search("housing", min_relevance=0)} <= {"handbook"}
    purge(base.database)
    assert base.rows("SELECT name FROM collection") == [{"name": "handbook"}]


def test_of_two_that_make_a_collection_at_once_one_does(base: Stages, knowledge: KnowledgeBase) -> None:
    def make(number: int) -> bool:
        try:
            knowledge.create_collection("notes", {"retries": {"attempts": number + 1}})
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(16))) == 1
    with base.connection() as connection:
        assert [event.action for event in audit_events(connection)] == ["collection.create"]


def test_two_rules_at_once_close_no_circle(base: Stages, knowledge: KnowledgeBase) -> None:
    def take(pair: tuple[str, str]) -> bool:
        try:
            knowledge.add_source(pair[0], "collection", {"collection": pair[1]})
        except SettingsError:
            return False
        return True

    for number in range(5):
        one, other = f"one{number}", f"other{number}"
        for name in (one, other):
            knowledge.create_collection(name)
        with ThreadPoolExecutor(2) as threads:
            taken = list(threads.map(take, [(one, other), (other, one)]))
        assert sorted(taken) == [False, True]
        giver, taker = (other, one) if taken[0] else (one, other)
        with pytest.raises(ConflictError, match="takes documents of this one"):
            knowledge.delete_collection(giver)
        knowledge.delete_collection(taker)
        knowledge.delete_collection(giver)


def test_a_collection_takes_another_name_with_all_that_is_its_own(base: Stages, knowledge: KnowledgeBase) -> None:
    """Ids, judgments, costs and work that waits follow; the next ingest has nothing to do; refusals change nothing."""
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    run(base, "notes")
    knowledge.judge("housing", knowledge.documents("notes")[0].uri, collection="notes")
    before = knowledge.documents("notes"), knowledge.search("housing", "notes")[0].passage_id
    with base.connection() as connection:
        asked = ask_for_work(connection, "notes", asked_by="key app")
        create_key(connection, "reader", ["read"], collections=["handbook", "notes"], actor="key app")
    for name, error in (("handbook", "taken"), ("../x", "letters")):
        with pytest.raises((ConflictError, SettingsError), match=error):
            knowledge.rename_collection("notes", name)
    with collection_lock(base.database, "notes"), pytest.raises(ConflictError, match="an ingest works"):
        knowledge.rename_collection("notes", "seals")
    with pytest.raises(ConflictError, match=r"sourcebook\.yaml declares"):
        knowledge.rename_collection("handbook", "manual")

    assert knowledge.rename_collection("notes", "seals", actor="key app").name == "seals"
    after = [replace(each, collection="notes") for each in knowledge.documents("seals")]
    assert (after, knowledge.search("housing", "seals")[0].passage_id) == before
    assert [each.query for each in knowledge.judgments("seals")] == ["housing"]
    with base.connection() as connection:
        assert [each.id for each in list_work(connection, ["seals"])] == [asked.id]
        assert audit_events(connection)[0].action == "collection.rename"
    with pytest.raises(QueryError):
        knowledge.search("housing", "notes")
    assert base.rows("SELECT collections FROM access_key") == [{"collections": ["handbook", "seals"]}]
    assert base.rows("SELECT 1 FROM tally WHERE collection = 'notes'") == []
    base.collection = "seals"
    assert all(not (report.added or report.changed or report.removed) for report in base.run().values())
    knowledge.create_collection("all", {"from": {"collection": "seals"}})
    with pytest.raises(ConflictError, match="takes documents of this one"):
        knowledge.rename_collection("seals", "notes")


def test_a_patch_is_merged_and_lists_are_replaced(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}], "parsing": {"ocr": False, "html": "body"}})
    changed = knowledge.change_collection(
        "notes", {"parsing": {"ocr": None}, "files": [{"root": shared(base, "other")}]}
    )
    assert changed.settings == {"files": [{"root": shared(base, "other")}], "parsing": {"html": "body"}}
    assert knowledge.collection_settings("notes") == changed
    with pytest.raises(ConflictError, match="have changed since"):
        knowledge.change_collection("notes", {"parsing": None}, expected={})
    knowledge.change_collection("notes", {"parsing": None}, expected=changed.settings)
    assert knowledge.collection_settings("notes").settings == {"files": [{"root": shared(base, "other")}]}
    with pytest.raises(SettingsError, match=r"^parsing\.ocr: allowed: true or false$"):
        knowledge.change_collection("notes", {"parsing": {"ocr": "perhaps"}})


def test_settings_that_moved_since_they_were_written_are_changed_in_their_place(
    base: Stages, knowledge: KnowledgeBase
) -> None:
    """What the database has of an earlier version is read, shown and changed as if it were written now."""
    knowledge.create_collection("notes", {"sites": [{"url": "https://docs.example.com/"}]})
    stored = '{"sites": [{"url": "https://docs.example.com/", "user_agent": "Reader/2"}]}'
    base.rows("UPDATE collection SET written_settings = %(stored)s WHERE name = 'notes' RETURNING 1", stored=stored)
    site = {"url": "https://docs.example.com/", "request": {"user_agent": "Reader/2"}}
    shown = knowledge.collection_settings("notes")
    assert shown.settings == {"sites": [site]}
    changed = knowledge.change_collection("notes", {"retries": {"attempts": 3}}, expected=shown.settings)
    assert changed.settings == {"sites": [site], "retries": {"attempts": 3}}
    knowledge.remove_source("notes", "https://docs.example.com/")


def test_what_a_generation_fixes_is_changed_by_a_new_one_alone(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}], "chunking": {"tokens": 128}})
    knowledge.change_collection("notes", {"chunking": {"tokens": 64}})  # nothing was read so far
    run(base, "notes")
    (first,) = knowledge.generations("notes")
    with pytest.raises(
        SettingsError, match=r"chunking: it is fixed by the generation that is searched\. Ask with rebuild"
    ):
        knowledge.change_collection("notes", {"chunking": {"tokens": 32}})
    knowledge.change_collection("notes", {"chunking": {"tokens": 64}, "embedding": {"device": "cpu"}})
    knowledge.change_collection("notes", {"chunking": {"tokens": 32}}, rebuild=True)
    run(base, "notes")
    base.collection = "notes"
    base.finish()
    assert knowledge.generations("notes")[0].id != first.id
    assert found(knowledge, "notes") == ["Seal"]


def test_it_takes_documents_of_others(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("all", {"from": {"collection": "handbook"}})
    run(base, "all")
    assert found(knowledge, "all") == ["Power"]
    for rules in ([{"collection": "nothing"}], [{"collection": "all"}], [{"collection": "handbook"}] * 2):
        with pytest.raises(SettingsError, match=r"^from: "):
            knowledge.change_collection("all", {"from": rules})
    base.configure(f"collections:\n  other: {{files: [{{root: ./{base.root.name}}}]}}\n")  # its giver leaves the file
    run(base, "all")
    assert found(knowledge, "all") == ["Power"]  # as it was last, like a folder that is not mounted
    purge(base.database)
    knowledge.remove_source("all", "handbook")
    run(base, "all")
    assert knowledge.documents("all") == [] or found(knowledge, "all") == []


def test_a_name_that_has_left_the_file_is_kept_for_it(base: Stages, knowledge: KnowledgeBase) -> None:
    base.configure(f"collections:\n  other: {{files: [{{root: ./{base.root.name}}}]}}\n")
    with pytest.raises(ConflictError, match="sourcebook purge"):
        knowledge.create_collection("handbook")
    purge(base.database)
    knowledge.create_collection("handbook", {"files": [{"root": shared(base)}]})
    run(base, "handbook")
    assert found(knowledge, "handbook") == ["Seal"]


def test_settings_of_the_file_are_told_without_secrets(
    base: Stages, knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base.configure_site(
        request={"headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}, "proxy": "http://user:${PASS}@proxy.example:1"}
    )
    told = knowledge.collection_settings("handbook")
    assert told.declared_in == "file"
    assert "DOCS_TOKEN" not in str(told.settings)
    assert "PASS" not in str(told.settings)
    assert told.settings["sites"][0]["max_depth"] == 10


def test_a_repository_of_the_api_is_read_without_the_logins_of_the_server(
    base: Stages, knowledge: KnowledgeBase
) -> None:
    repository = {"url": "https://github.com/org/handbook.git", "path": "docs"}
    knowledge.create_collection("notes")
    knowledge.add_source("notes", "repository", repository)
    base.configure(f"collections: {{handbook: {{repositories: [{{url: '{repository['url']}'}}]}}}}")
    rows = base.rows("SELECT collection, settings ? 'anonymous' AS anonymous FROM source WHERE settings ? 'url'")
    assert {row["collection"]: row["anonymous"] for row in rows} == {"notes": True, "handbook": False}


def test_a_folder_that_becomes_a_link_later_leads_nowhere_else(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("notes", {"files": [{"root": shared(base)}]})
    run(base, "notes")
    folder = Path(shared(base))
    shutil.rmtree(folder)
    folder.symlink_to(base.root)
    run(base, "notes")
    (status,) = [each for each in knowledge.status() if each.name == "notes"]
    assert "has become a link" in str(status.sources[0].listing_error)
    assert [item.title for item in knowledge.documents("notes")] == ["Seal"]  # what cannot be listed is not gone
    folder.unlink()
    folder.mkdir()
    run(base, "notes")
    assert knowledge.documents("notes", states=["ready"]) == []
