"""Who may see what: documents, statistics and operations for principals."""

import asyncio

import pytest
from psycopg.types.json import Jsonb

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.errors import AccessError, SourcebookError
from sourcebook.operations.seen import OPEN
from sourcebook.operations.table import OPERATIONS
from tests.chat_server import ChatServer
from tests.integration.stages import Stages


def allow(stages: Stages, *rules: dict[str, object], denied: tuple[str, ...] = ()) -> None:
    """Write the permissions of the stages' source."""
    with stages.connection() as connection:
        connection.execute("UPDATE source SET permissions = %s", [Jsonb({"rules": rules, "denied": denied})])


def rule(path: str | None, *allowed: str) -> dict[str, object]:
    """Return a rule on paths."""
    return {"path": path, "allowed": allowed}


def test_principals_find_what_they_may_see(stages: Stages) -> None:
    """In both legs, in counts and in what is read one by one; a change is in force at once and embeds nothing."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("board.md", "# Board\n\nThe barnacle is sold for nine guilders.")
    stages.write("anna.md", "# Anna\n\nThe barnacle of Anna has a name.")
    stages.configure()
    allow(stages, rule("board", "group:board"), rule("anna", "user:anna"), rule(None, "everyone"), denied=("user:eve",))
    stages.run()

    def titles(*principals: str) -> set[str]:
        seen = stages.knowledge.seen_by(principals)
        found = [
            {hit.title for hit in seen.search("barnacle", mode=mode, limit=9)}
            for mode in ("hybrid", "vector", "keyword")
        ]
        assert found[0] == found[1] == found[2] == {item.title for item in seen.documents()}
        assert seen.count_documents() == len(found[0])
        return found[0]

    assert titles() == {"Open"}
    assert titles("group:board") == {"Open", "Board"}
    assert titles("group:board", "user:eve") == set()
    assert titles("user:anna", "group:board") == {"Open", "Board", "Anna"}
    assert titles("user:Anna") == {"Open"}
    allow(stages, rule(None, "group:board"))
    assert titles("user:anna") == set()
    assert titles("group:board") == {"Open", "Board", "Anna"}


def test_answers_are_those_of_a_base_without_what_is_hidden(stages: Stages) -> None:
    """Scores, totals, facets and suggestions are as they were when documents that a viewer may not see come and go."""
    stages.write("one.md", "# One\n\nThe barnacle marks high water. Limpets sit on rocks.")
    stages.write("two.md", "# Two\n\nThe limpet moves at night, and the whelk drills.")
    stages.configure()
    allow(stages, rule("hidden", "group:board"), rule(None, "everyone"))
    stages.run()
    seen = stages.knowledge.seen_by(["user:anna"])

    def answers() -> list[object]:
        found: list[object] = []
        for query in (
            "barnacle limpet",
            "whelks at night",
            "barnacel",
            "Kuckuck",
            "the zebra fish (ZF)",
            "ZF",
            '"high water"',
        ):
            for mode in ("hybrid", "vector", "keyword"):
                results = seen.search(query, mode=mode, facets=True, literal=mode == "keyword")
                hits = [(hit.title, round(hit.score, 9), hit.relevance) for hit in results]
                found.append(
                    (query, mode, hits, results.total_candidates, results.facets, results.suggestion, results.notes)
                )
        return found

    before = answers()
    text = "# Hidden\n\nDer Kuckuck ruft nachts. The barnacel is a zebra fish (ZF). Limpets, limpets and water.\n\n"
    for number in range(5):
        stages.write(f"hidden{number}.md", f"{text * (number + 1)}{number}")
    stages.run()
    assert answers() == before
    assert len(stages.knowledge.seen_by(["group:board"]).search("Kuckuck", limit=9)) > 0
    assert stages.rows("SELECT sum(entries) AS held FROM lexeme_audience WHERE token = 'kuckuck'")[0]["held"] >= 5
    with stages.connection() as connection:
        connection.execute("DELETE FROM document WHERE uri LIKE '%hidden%'")
    assert answers() == before
    assert {row["entries"] for row in stages.rows("SELECT entries FROM lexeme_audience")} == {0}


def test_each_operation_is_open_to_principals_or_refused(stages: Stages, chat: ChatServer) -> None:
    """What is open answers for visible documents, and says of hidden ones what it says of unknown ones."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water. See [board](board.md) and [other](other.md).")
    stages.write("other.md", "# Other\n\nThe barnacle is a crustacean. Version two.")
    stages.write("board.md", "# Board\n\nThe barnacle is sold for nine guilders. See [open](open.md).")
    stages.configure()
    allow(stages, rule("board", "group:board"), rule(None, "everyone"))
    stages.run()
    whole, seen = stages.knowledge, stages.knowledge.seen_by(["user:anna"])
    hidden = whole.show(stages.uri("board.md")).item.document_id
    visible = seen.show(stages.uri("open.md")).item.document_id
    assert hidden is not None
    assert visible is not None
    assert {hit.title for hit in seen.similar(visible)} == {"Other"}
    assert "guilders" not in seen.context("What is a barnacle sold for?").text
    assert {each.title for each in seen.related(visible)} == {"Other"}
    assert seen.diff(visible, stages.uri("other.md")).sections
    with seen.original(visible) as original:
        assert b"high water" in original.stream.read()
    answering = {"base_url": chat.url, "model": "smollm2"}
    assert seen.ask("Where is the barnacle found?", answering=answering).citations
    assert not seen.ask("What is a barnacle sold for?", answering=answering, document=visible).text.count("guilders")
    for wrong in (hidden, stages.uri("board.md")):
        unknown = wrong + 1000 if isinstance(wrong, int) else wrong.replace("board", "nothing")
        for ask in (seen.show, seen.similar, seen.related, seen.original, lambda name: seen.diff(visible, name)):
            said = []
            for name in (wrong, unknown):
                with pytest.raises(SourcebookError) as caught:
                    ask(name)
                said.append((type(caught.value), str(caught.value).replace(str(name), "X")))
            assert said[0] == said[1]
    for name in OPERATIONS.keys() - OPEN:
        with pytest.raises(AccessError, match="not open to principals"):
            getattr(seen, name)()


def test_principals_are_asked_for_in_asyncio(stages: Stages) -> None:
    """With the same answers, and the same refusals."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("board.md", "# Board\n\nThe barnacle is sold.")
    stages.configure()
    allow(stages, rule("board", "group:board"), rule(None, "everyone"))
    stages.run()

    async def titles() -> list[str]:
        seen = await AsyncKnowledgeBase(stages.knowledge).seen_by(["user:anna"])
        with pytest.raises(AccessError, match="not open to principals"):
            await seen.status()
        return [hit.title for hit in await seen.search("barnacle")]

    assert asyncio.run(titles()) == ["Open"]
