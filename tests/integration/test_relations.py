"""Relations between documents: read from the stored parse, resolved when their target comes, dangling when it goes."""

import re
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from sourcebook.admin.access_keys import create_key
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.search.page.relations import MOST_SUPERSEDING
from sourcebook.server.mcp.budget import FEWEST_TOKENS
from sourcebook.stages.relations.update import update_relations
from tests.integration.http_server import serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages

NEW = "---\nsupersedes: ADR-0002\nrequires: [1, 3]\n---\n# Queues\n\nAs [the first](0001-rows.md) says, and RFC 9110.\n"
BY_WORD: dict[str, Any] = {"mode": "keyword", "min_relevance": 0}
Related = set[tuple[str, str, str | None]]


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("adr/0001-rows.md", "# Rows\n\nState is rows.\n")
    stages.write("adr/0002-cron.md", "# Cron\n\nWork is done by cron.\n")
    stages.write("adr/0004-queues.md", NEW)
    stages.configure()
    stages.run()
    return stages


def related(base: Stages, name: str, *, dangling: bool = False, kinds: Sequence[str] = ()) -> Related:
    found = base.knowledge.related(base.uri(name), dangling=dangling, kinds=kinds)
    return {(each.kind, each.direction, Path(each.uri).name if each.uri else each.written) for each in found}


def test_relations_are_known_from_both_ends(base: Stages) -> None:
    assert related(base, "adr/0004-queues.md", dangling=True) == {
        ("supersedes", "out", "0002-cron.md"),
        ("requires", "out", "0001-rows.md"),
        ("requires", "out", "3"),
        ("references", "out", "0001-rows.md"),
        ("references", "out", "RFC 9110"),
    }
    assert related(base, "adr/0002-cron.md") == {("supersedes", "in", "0004-queues.md")}
    assert related(base, "adr/0001-rows.md", kinds=["requires"]) == {("requires", "in", "0004-queues.md")}
    first = base.knowledge.related(base.uri("adr/0004-queues.md"), kinds="supersedes", direction="out")
    assert [(each.written, each.origin, each.title) for each in first] == [("ADR-0002", "field", "Cron")]
    assert base.knowledge.related(base.uri("adr/0004-queues.md"), direction="in") == []
    with pytest.raises(QueryError, match="no kind of relation"):
        base.knowledge.related(base.uri("adr/0004-queues.md"), kinds="likes")


def test_a_target_that_comes_resolves_what_dangles_and_dangles_when_it_goes(base: Stages) -> None:
    path = base.write("adr/0003-locks.md", "# Locks\n")
    base.run()
    assert ("requires", "out", "0003-locks.md") in related(base, "adr/0004-queues.md")
    path.unlink()
    base.run()
    assert ("requires", "out", "3") in related(base, "adr/0004-queues.md", dangling=True)
    base.write("adr/0003-locks.md", "# Locks\n")
    base.run()
    assert related(base, "adr/0003-locks.md") == {("requires", "in", "0004-queues.md")}
    assert not base.pending().work


def test_a_rename_keeps_ids_and_moves_links(base: Stages) -> None:
    """A renamed target is still found by its id, no longer by its path; links of a renamed document start elsewhere."""
    (base.root / "adr" / "0001-rows.md").rename(base.root / "adr" / "0001-all-rows.md")
    base.run()
    assert {each for each in related(base, "adr/0004-queues.md") if each[2] != "0002-cron.md"} == {
        ("requires", "out", "0001-all-rows.md")
    }
    base.write("adr/old/0001-rows.md", "# The rows before\n")
    base.run()
    (base.root / "adr" / "0004-queues.md").rename(base.root / "adr" / "old" / "0004-queues.md")
    base.run()
    assert ("references", "out", "0001-rows.md") in related(base, "adr/old/0004-queues.md")


def test_circles_end(base: Stages) -> None:
    base.write("adr/0002-cron.md", "---\nsupersedes: ADR-4\nsuperseded-by: 4\n---\n# Cron\n")
    base.run()
    assert related(base, "adr/0002-cron.md") == {
        ("supersedes", "out", "0004-queues.md"),
        ("supersedes", "in", "0004-queues.md"),
    }


def test_metadata_by_hand_relate_at_once(base: Stages) -> None:
    base.knowledge.change_document(base.uri("adr/0001-rows.md"), metadata={"implements": "0002-cron"})
    assert ("implements", "out", "0002-cron.md") in related(base, "adr/0001-rows.md")
    base.knowledge.change_document(base.uri("adr/0001-rows.md"), metadata={"implements": None})
    assert related(base, "adr/0001-rows.md", kinds=["implements"]) == set()
    assert not base.pending().work


def test_a_removed_document_is_not_named(base: Stages) -> None:
    base.knowledge.remove_document(base.uri("adr/0002-cron.md"))
    assert ("supersedes", "out", "0002-cron.md") not in related(base, "adr/0004-queues.md", dangling=True)


def test_another_rule_reads_the_stored_text_again(base: Stages) -> None:
    """Nothing is parsed or embedded, and without a change nothing is read."""
    rule = "{kind: implements, match: 'State is (rows)', target: '0002-cron'}"
    base.configure(f"collections: {{handbook: {{files: [{{root: ./docs}}], relations: {{patterns: [{rule}]}}}}}}")
    pending = base.pending()
    assert (pending.unrelated, pending.needs_model) == (3, False)
    reports = base.run()
    assert not any(report.worked for report in reports.values())
    assert related(base, "adr/0001-rows.md", kinds=["implements"]) == {("implements", "out", "0002-cron.md")}
    assert not base.pending().work
    with base.connection() as connection:
        assert update_relations(connection, base.collection) == 0
        assert update_relations(connection, base.collection, thorough=True) == 3


def test_attachments_are_parts_of_their_message(base: Stages) -> None:
    message = EmailMessage()
    message["Subject"] = "Plans"
    message.set_content("See the file.")
    message.add_attachment("# Plan\n\nDo it.", subtype="markdown", filename="plan.md")
    base.write("mail.eml", message.as_bytes())
    base.run()
    assert related(base, "mail.eml") == {("part_of", "in", "plan.md")}
    assert related(base, "mail.eml/plan.md") == {("part_of", "out", "mail.eml")}


def test_a_search_looks_relations_up_by_indexes(base: Stages) -> None:
    with base.connection() as connection:
        connection.execute("SET enable_seqscan = off")
        statement = sql.SQL("EXPLAIN ") + queries["superseding_documents"]
        plan = "\n".join(row[0] for row in connection.execute(statement, {"documents": [1, 2], "most": 20}))
    assert len(re.findall(r"(?:using|on) document_relation_\w+", plan)) >= 2  # one for each end of a relation
    assert "Seq Scan" not in plan


def test_every_face_answers_alike_and_a_key_sees_its_collections_alone(base: Stages) -> None:
    base.configure("collections: {handbook: {files: [{root: ./docs}]}, other: {files: [{root: ./other}]}}")
    here = base.knowledge.related(base.uri("adr/0004-queues.md"), dangling=True)
    with base.connection() as connection:
        _, blind = create_key(connection, "blind", ("read",), ["other"], actor="test")
    number = base.knowledge.show(base.uri("adr/0004-queues.md")).item.document_id
    with serving(base.knowledge, requires_key=False) as client:
        assert ">Queues</a></p>" in client.get("/?q=cron&all=1").content.decode()
        narrowed = client.get("/?q=cron&all=1&doctype=adr").content.decode()
        assert ">Queues</a></p>" in narrowed
        assert "<h2>Type</h2>" in narrowed
        assert ">Queues</a></p>" not in client.get("/?q=cron&all=1&doctype=spec").content.decode()
        with RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}/") as remote:
            assert remote.related("0004-queues.md", dangling=True) == here
            assert remote.related("0004-queues.md", kinds="supersedes")[0].title == "Cron"
            made = remote.context("queues", min_relevance=0, passages=1, expand=["references"], superseded="behind")
            assert [(source.title, source.is_linked) for source in made.sources][:2] == [
                ("Queues", False),
                ("Rows", True),
            ]
            with pytest.raises(QueryError, match="direction"):
                remote.related("0004-queues.md", direction="up")  # type: ignore[arg-type]

        async def ask(agent: Agent) -> None:
            (found,) = (await agent.ask("find_related", document="0002-cron.md"))["related"]
            assert (found["kind"], found["direction"], found["title"]) == ("supersedes", "in", "Queues")
            asked = {"question": "queues", "passages": 1, "min_relevance": 0, "expand": "references"}
            assert "State is rows." in (await agent.ask("get_context", **asked))["text"]
            diff = await agent.ask("diff_documents", first="0002-cron.md", second="0004-queues.md")
            assert (diff["first"].rpartition("/")[2], diff["unchanged"]) == ("0002-cron.md", 0)
            assert diff["sections"] or diff["fields"]
            cut = await agent.ask("find_related", document="0004-queues.md", dangling=True, max_tokens=FEWEST_TOKENS)
            assert len(cut["related"]) + ("how_to_go_on" in cut) >= 1

        over_http(client.port, ask)
    with serving(base.knowledge, requires_key=True) as client:
        answer = client.get(f"/v1/documents/{number}/related", Authorization=f"Bearer {blind}")
        assert answer.status == 404


def test_a_search_says_what_supersedes_and_puts_it_first(base: Stages) -> None:
    base.write("adr/0002-cron.md", "# Cron\n\nWork of the queues is done by cron, cron and cron, for queues.\n")
    base.run()
    options = {"mode": "keyword", "min_relevance": 0}
    plain = base.search("queues cron", **options)
    assert [Path(hit.uri).name for hit in plain] == ["0002-cron.md", "0004-queues.md"]
    assert [[each.title for each in hit.superseded_by] for hit in plain] == [["Queues"], []]
    behind = base.search("queues cron", superseded="behind", expand="references", **options)
    assert [Path(hit.uri).name for hit in behind] == ["0004-queues.md", "0002-cron.md"]
    assert [(each.title, each.kind) for each in behind.linked] == [("Rows", "references")]
    assert plain.linked == ()
    with pytest.raises(QueryError, match="expand"):
        base.search("queues", expand="likes")


def test_a_result_names_some_of_the_many_that_supersede_it(base: Stages) -> None:
    for number in range(MOST_SUPERSEDING + 3):
        base.write(f"many/{number:03}.md", "---\nreplaces: ADR-0001\n---\n# Another\n\nOther words.\n")
    base.run()
    (found,) = base.search("rows", limit=1, **BY_WORD)
    assert [Path(each.uri).name for each in found.superseded_by] == [
        f"{each:03}.md" for each in range(MOST_SUPERSEDING)
    ]


def test_a_context_follows_relations_within_a_share_of_its_budget(base: Stages) -> None:
    """Of the search that finds one passage at a time, the linked document comes before those further behind."""
    asked: dict[str, Any] = {"question": "Queues, as the first says", "min_relevance": 0, "passages": 1}
    made = base.knowledge.context(**asked, expand="references")
    assert [(source.title, source.is_linked) for source in made.sources][:2] == [("Queues", False), ("Rows", True)]
    assert "State is rows." in made.text
    wide = base.knowledge.context("Queues, as the first says", min_relevance=0, expand="references")
    assert {source.title: source.is_linked for source in wide.sources} == dict.fromkeys(
        ["Queues", "Rows", "Cron"], False
    )
    for filters in ({"paths": ["0004*"]}, {"documents": ["0004-queues.md"]}):
        kept = base.knowledge.context(**asked, expand="references", filters=filters)
        assert [source.title for source in kept.sources] == ["Queues"]
    work = [f"Queues hold {each} pieces of work in turn, as the first says.\n" for each in range(400)]
    base.write("adr/0004-queues.md", NEW + " ".join(work))
    base.run()
    full = base.knowledge.context(**asked | {"passages": 9}, expand="references", max_tokens=600)
    assert {source.title for source in full.sources} == {"Queues", "Rows"}
    assert 0.9 * full.budget <= full.tokens <= full.budget
    with pytest.raises(QueryError, match="expand"):
        base.knowledge.context("queues", expand=5)  # type: ignore[arg-type]


def test_a_context_puts_superseded_documents_behind(base: Stages) -> None:
    base.write("adr/0002-cron.md", "# Cron\n\nWork of the queues is done by cron, cron and cron, for queues.\n")
    base.run()
    shown = base.knowledge.context("queues cron", **BY_WORD)
    behind = base.knowledge.context("queues cron", **BY_WORD, superseded="behind")
    assert [source.title for source in shown.sources] == ["Cron", "Queues"]
    assert [source.title for source in behind.sources] == ["Queues", "Cron"]


def test_titles_and_targets_are_redacted_where_the_collection_asks_for_it(base: Stages) -> None:
    base.write("adr/0002-cron.md", "# Ask ana@example.org\n\nWork is done by cron.\n")
    base.write(
        "adr/0005-more.md", "---\nsupersedes: 2\nrequires: ask-bob@example.org\n---\n# Mail bob@example.org\n\nMore.\n"
    )
    base.configure("collections: {handbook: {files: [{root: ./docs}], redaction: {categories: [email]}}}")
    base.run()
    (new,) = base.knowledge.related(base.uri("adr/0005-more.md"), kinds="supersedes")
    assert new.title == "Ask [EMAIL_1]"
    found = base.knowledge.related(base.uri("adr/0005-more.md"), kinds="requires", dangling=True)
    assert "example" not in found[0].written
    (hit, *_) = base.search("cron", mode="keyword", min_relevance=0, expand="supersedes").results
    assert {each.title for each in hit.superseded_by} == {"Queues", "Mail [EMAIL_2]"}  # as its text numbers them
    linked = base.search("more", mode="keyword", min_relevance=0, expand="supersedes").linked
    assert [each.title for each in linked] == ["Ask [EMAIL_1]"]
