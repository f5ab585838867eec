"""What a collection takes leaves it: by its rules, by the configuration, by a person, and by age."""

from datetime import timedelta

import pytest

from sourcebook.admin.removal import purge, remove_items, restore_items
from sourcebook.errors import QueryError, UnknownDocumentError
from tests.integration.membership import configure, hits, live, page, run, take, take_policies
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two policies and another page; `policies` takes the two."""
    return take_policies(stages)


def test_a_rule_that_changes_or_leaves_takes_other_documents_or_none(base: Stages) -> None:
    configure(base, "{from: {collection: handbook, tags: [hr]}}")
    take(base)
    assert set(live(base)) == {"b.md", "c.md"}
    base.root.parent.joinpath("more").mkdir()
    configure(base, "{files: [{root: ./more}]}")
    take(base)
    assert live(base) == {}
    configure(base)
    assert take(base)["documents"].extra["returned"] == 2


def test_a_collection_that_leaves_the_file_comes_back_with_what_it_takes_now(base: Stages) -> None:
    configure(base, None)
    base.write("a.md", page("alpha"))
    base.write("c.md", page("gamma", "policy"))
    run(base, "handbook")
    configure(base)
    take(base)
    assert set(live(base)) == hits(base, "green") == {"b.md", "c.md"}


def test_both_leave_the_file_and_what_is_purged_leaves_no_rest(base: Stages) -> None:
    base.root.parent.joinpath("more").mkdir()
    base.configure("collections:\n  other: {files: [{root: ./more}]}\n")
    purge(base.database)
    names = ("document", "source", "chunk", "embedding", "parsed_content", "changed_item", "tally")
    assert {name: len(base.rows(f"SELECT FROM {name}")) for name in names} == dict.fromkeys(names, 0) | {"source": 1}


def test_what_a_person_removes_leaves_every_collection_at_once_and_returns_to_both(base: Stages) -> None:
    with base.connection() as connection:
        removed = remove_items(connection, base.uri("a.md"))
        assert [item.collection for item in removed] == ["handbook", "policies"]
    assert hits(base, "green") == {"b.md"}
    assert hits(base, "green", "handbook") == {"b.md", "c.md"}
    run(base, "handbook")
    take(base)
    assert set(live(base)) == {"b.md"}
    with base.connection() as connection:
        restore_items(connection, base.uri("a.md"))
    run(base, "handbook")
    take(base)
    assert set(live(base)) == hits(base, "green") == {"a.md", "b.md"}


def test_a_taken_document_is_removed_where_it_is_from(base: Stages) -> None:
    number = live(base)["a.md"]["id"]
    with base.connection() as connection:
        for document, collection in ((base.uri("a.md"), "policies"), (str(number), None)):
            with pytest.raises(
                QueryError, match=r"is taken from handbook .* -c handbook, or change `from` of policies"
            ):
                remove_items(connection, document, collection)
        with pytest.raises(UnknownDocumentError):
            remove_items(connection, base.uri("c.md"), "policies")
    assert set(live(base)) == {"a.md", "b.md"}


def test_retention_deletes_what_both_removed_once(base: Stages) -> None:
    (base.root / "a.md").unlink()
    run(base, "handbook")
    take(base)
    assert purge(base.database).documents == 2
    assert base.rows("SELECT * FROM changed_item") == []
    take(base)
    assert set(live(base)) == {"b.md"}
    assert purge(base.database, older_than=timedelta(0)).total == 0
