"""Who may see what and why, as operations say it; and the groups of the settings."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sourcebook.admin.collections import apply
from sourcebook.admin.permissions import record_groups
from sourcebook.config.loading import Configuration, ConfigurationFile, without_file
from sourcebook.contract.permissions import Permission
from sourcebook.errors import AccessError, QueryError, UnknownDocumentError
from tests.integration.record_stages import RecordStages
from tests.integration.stages import Stages

MAIL = b"""From: anna@example.org
To: eve@example.org
Subject: Pay
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

The barnacle.
--x
Content-Type: text/plain; name=pay.txt
Content-Disposition: attachment; filename=pay.txt

The barnacle of the pay marks high water.
--x--
"""


def configure(stages: Stages, groups: dict[str, list[str]] | None = None, **permissions: Any) -> tuple[str, ...]:
    """Apply a configuration of one folder, whose documents a second collection takes; return the changed groups."""
    folder = {"root": str(stages.root), **permissions}
    both = {"handbook": {"files": [folder]}, "all": {"from": {"collection": "handbook"}}}
    return stages.configure(json.dumps({"collections": both, "groups": groups or {}})).groups


def ingest(stages: Stages) -> None:
    """Ingest the collections, of which the second one takes the documents of the first."""
    for stages.collection in ("handbook", "all"):
        stages.run()


def explained(stages: Stages, document: str, *principals: str, collection: str = "handbook") -> Permission:
    """Return who sees one document of a collection."""
    (found,) = stages.knowledge.permissions(document, principals=principals, collections=collection)
    return found


def test_each_document_says_what_decides(stages: Stages) -> None:
    """A pattern, none, the document itself, the message of an attachment, the original of a copy."""
    stages.write("hr/pay.eml", MAIL)
    stages.write("own.md", "---\nallowed: [user:anna]\n---\n# Own\n\nThe barnacle.")
    stages.write("odd.md", "---\nallowed: {board: true}\n---\n# Odd\n\nThe barnacle.")
    stages.write("else.md", "# Else\n\nThe barnacle.")
    configure(stages, allowed={"hr/**": ["group:hr"]}, denied=["user:eve"], documents_decide=True)
    ingest(stages)
    message = f"{stages.root.as_uri()}/hr/pay.eml"

    found = explained(stages, "hr/pay.eml")
    assert (found.allowed, found.denied, found.documents) == (("group:hr",), ("user:eve",), {"handbook": 1})
    (reason,) = found.reasons
    assert (reason.kind, reason.pattern, reason.source, reason.container) == (
        "rule", "hr/**", str(stages.root), None,
    )  # fmt: skip
    (reason,) = explained(stages, f"{message}/pay.txt").reasons
    assert (reason.kind, reason.pattern, reason.container) == ("rule", "hr/**", message)
    assert explained(stages, "own.md").allowed == ("user:anna",)
    assert [reason.kind for reason in explained(stages, "own.md").reasons] == ["document"]
    assert [reason.kind for reason in explained(stages, "odd.md").reasons] == ["invalid"]
    assert [reason.kind for reason in explained(stages, "else.md").reasons] == ["unmatched"]
    assert explained(stages, "odd.md").allowed == explained(stages, "else.md").allowed == ()
    copy = explained(stages, "hr/pay.eml", collection="all")
    assert (copy.allowed, copy.documents) == (("group:hr",), {"all": 1})
    assert [(each.kind, each.collection, each.source, each.pattern) for each in copy.reasons] == [
        ("original", "all", "handbook", None),
        ("rule", "handbook", str(stages.root), "hr/**"),
    ]
    configure(stages)
    assert [reason.kind for reason in explained(stages, "own.md").reasons] == ["unset"]


def test_a_table_of_all_documents(stages: Stages) -> None:
    """Documents are counted by who sees them and by collection; those that are removed, not."""
    for name in ("hr/a.md", "hr/b.md", "news.md", "gone.md"):
        stages.write(name, f"# {name}\n\nThe barnacle.")
    configure(stages, allowed={"hr/*": ["group:hr", "group:board"], "news.md": ["everyone"]})
    ingest(stages)
    stages.knowledge.remove_document("gone.md")
    found = stages.knowledge.permissions(principals="group:hr")
    assert [(each.allowed, each.documents, each.answer and each.answer.is_seen) for each in found] == [
        (("group:board", "group:hr"), {"all": 2, "handbook": 2}, True),
        (("everyone",), {"all": 1, "handbook": 1}, True),
    ]
    (hr, news) = stages.knowledge.permissions(collections="all")
    assert (hr.documents, news.documents, news.answer, news.reasons) == ({"all": 2}, {"all": 1}, None, ())


def test_a_field_of_a_record_is_the_reason(records: RecordStages) -> None:
    records.note(0, "The barnacle marks high water.", heading="N")
    records.do("ALTER TABLE notes ADD COLUMN readers TEXT")
    records.do("UPDATE notes SET readers = 'board'")
    records.configure(allowed="readers")
    records.run()
    (document,) = records.stages.knowledge.documents()
    (found,) = records.stages.knowledge.permissions(document.document_id)
    assert (found.allowed, [reason.kind for reason in found.reasons]) == (("group:board",), ["record"])


def test_it_says_through_which_group_and_what_denies(stages: Stages) -> None:
    """The way over the fewest groups; whoever is denied does not see it, whatever else allows it; circles end."""
    stages.write("board.md", "# Board\n\nThe barnacle.")
    groups = {"board": ["chairs", "board"], "chairs": ["user:anna", "board"], "gone": ["user:eve"], "x": ["user:anna"]}
    assert configure(stages, groups, allowed=["group:board"], denied=["group:gone"]) == (
        "group:board", "group:chairs", "group:gone", "group:x",
    )  # fmt: skip
    ingest(stages)

    def answer(*principals: str) -> tuple[bool, tuple[str, ...]]:
        found = explained(stages, "board.md", *principals).answer
        assert found is not None
        assert found.is_seen == bool(stages.knowledge.seen_by(principals).count_documents("handbook"))
        return found.is_seen, found.path

    assert answer("user:anna") == (True, ("user:anna", "group:chairs", "group:board"))
    assert answer("group:board") == (True, ("group:board",))
    assert answer("user:anna", "user:eve") == (False, ("user:eve", "group:gone"))
    assert answer("everyone") == answer("user:Anna") == (False, ())
    assert configure(stages, groups, allowed=["everyone"]) == ()
    assert answer("user:eve") == (True, ("everyone",))


def test_groups_follow_the_file(stages: Stages) -> None:
    """What left the file goes, in the same transaction; without a file all stay as they are."""
    stages.write("board.md", "# Board\n\nThe barnacle.")
    configure(stages, {"board": ["user:anna", "user:otto"]}, allowed=["group:board"])
    ingest(stages)
    seen = stages.knowledge.seen_by
    assert seen(["user:otto"]).count_documents() == 2
    assert configure(stages, {"board": ["user:anna"]}, allowed=["group:board"]) == ("group:board",)
    assert seen(["user:otto"]).count_documents() == 0
    with stages.connection() as connection:
        assert apply(connection, without_file(stages.root / "none.yaml")).groups == ()
    assert seen(["user:anna"]).count_documents() == 2
    assert configure(stages, allowed=["group:board"]) == ("group:board",)
    assert seen(["user:anna"]).count_documents() == 0


def test_ten_thousand_groups_of_a_person(stages: Stages) -> None:
    """All of them count, those that they nest in, too, also in a chain of all."""
    stages.write("board.md", "# Board\n\nThe barnacle.")
    configure(stages, allowed=["group:board"])
    ingest(stages)
    groups = {f"g{number}": ["user:anna"] for number in range(10_000)} | {"board": ["g9999"]}
    content = {"collections": {"handbook": {"files": [{"root": str(stages.root), "allowed": ["group:board"]}]}}}
    given = ConfigurationFile.model_validate({**content, "groups": groups}, context={"folder": stages.root})
    with stages.connection() as connection:
        applied = apply(connection, Configuration(path=stages.root / "x.yaml", **dict(given)))
    assert len(applied.groups) == 10_001
    answer = explained(stages, "board.md", "user:anna").answer
    assert answer is not None
    assert answer.path == ("user:anna", "group:g9999", "group:board")
    assert stages.knowledge.seen_by(["user:anna"]).count_documents() == 1
    chain = {f"g{number}": (f"group:g{number + 1}",) for number in range(10_000)}
    with stages.connection() as connection:
        record_groups(connection, {**chain, "g10000": ("user:anna", "group:board"), "board": ("group:g0",)})
    answer = explained(stages, "board.md", "user:anna").answer
    assert answer is not None
    assert (answer.is_seen, len(answer.path)) == (True, 10_003)
    assert stages.knowledge.seen_by(["user:anna"]).count_documents() == 1


def test_answers_are_what_the_database_decides(stages: Stages) -> None:
    """In random worlds of nested and circular groups: the answer is `audiences_of`, and each way is one of members."""
    world = random.Random(47)
    names = [f"group:{number}" for number in range(7)]
    persons = ["user:a", "user:b", "everyone"]
    for _ in range(60):
        groups = {name: tuple(world.sample(names + persons[:2], world.randint(0, 3))) for name in names}
        with stages.connection() as connection:
            record_groups(connection, groups)
            sets = [(world.sample(names + persons, 2), world.sample(names + persons[:2], 1)) for _ in range(5)]
            ids = {
                connection.execute("SELECT audience_of(%s, %s)", [*each]).fetchone()[0]: each  # type: ignore[index]
                for each in sets
            }
            for caller in (["user:a"], ["user:b"], ["user:a", "group:3"]):
                row = connection.execute("SELECT audiences_of(%s::text[])", [caller]).fetchone()
                assert row is not None
                for number, (allowed, denied) in ids.items():
                    answer = _answer(connection, allowed, denied, caller)
                    assert answer.is_seen == (number in row[0])
                    assert all(
                        member in groups[group] for member, group in zip(answer.path, answer.path[1:], strict=False)
                    )
                    assert not answer.path or answer.path[0] in {*caller, "everyone"}


def _answer(connection: Any, allowed: list[str], denied: list[str], caller: list[str]) -> Any:
    from sourcebook.admin.permissions import _answered

    (found,) = _answered(connection, [Permission(tuple(allowed), tuple(denied), {})], caller)
    return found.answer


def test_what_is_asked_wrongly_is_refused(stages: Stages, tmp_path: Path) -> None:
    """Unknown documents and collections, principals that are none; and whoever asks for principals."""
    stages.write("a.md", "# A\n\nThe barnacle.")
    configure(stages)
    ingest(stages)
    knowledge = stages.knowledge
    with pytest.raises(UnknownDocumentError):
        knowledge.permissions("b.md")
    with pytest.raises(QueryError):
        knowledge.permissions(collections="nothing")
    for wrong in ("anna", "user:", "team:x", "user:\0", "user: x", "u" * 600):
        with pytest.raises(QueryError, match="principal"):
            knowledge.permissions(principals=[wrong])
    with pytest.raises(AccessError, match="not open to principals"):
        knowledge.seen_by(["user:anna"]).permissions()
