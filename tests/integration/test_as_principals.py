"""`as_principals` of each reading operation: in Python, asyncio and through a server, by a key that asks for others."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client.remote_knowledge_base import RemoteKnowledgeBase
from sourcebook.errors import AccessError, UnknownDocumentError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.seen import READING
from tests.checkout import EXAMPLES
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.integration.test_permissions import allow, rule

BOARD = ["group:Gründe, intern"]
"""A name that a header holds percent-encoded alone."""


def fill(stages: Stages) -> None:
    """Two documents for everyone, two for the board."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water. See [board](board.md) and [other](other.md).")
    stages.write("other.md", "# Other\n\nThe barnacle is a crustacean.")
    stages.write("board.md", "# Board\n\nThe barnacle is sold for nine guilders. See [open](open.md).")
    stages.write("board.pdf", (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes())
    stages.configure()
    allow(stages, rule("board", *BOARD), rule(None, "everyone"))
    stages.run()


def titles(knowledge: Any, **options: Any) -> dict[str, set[str]]:
    """Return the titles that each operation finds among documents."""
    found = {
        "search": knowledge.search("barnacle guilders", limit=9, **options).results,
        "similar": knowledge.similar(knowledge.show("open.md").item.document_id, **options).results,
        "context": knowledge.context("What is a barnacle sold for?", **options).sources,
        "documents": knowledge.documents(kinds=["file"], **options),
        "related": knowledge.related("open.md", **options),
    }
    return {name: {each.title for each in answer} & {"Open", "Other", "Board"} for name, answer in found.items()}


def check(knowledge: Any) -> None:
    """Assert that each operation answers the board with the documents of the board, and others without."""
    everyone, board = titles(knowledge, as_principals=["user:anna"]), titles(knowledge, as_principals=BOARD)
    assert all("Board" not in found for found in everyone.values())
    assert all("Board" in found for found in board.values())
    assert board == titles(knowledge)
    assert knowledge.count_documents(as_principals=("user:anna",)) == 2
    assert knowledge.count_documents(as_principals=frozenset(BOARD)) == 4
    with knowledge.original("board.md", as_principals=BOARD) as original:
        assert b"guilders" in original.stream.read()
    reads: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (knowledge.show, ("board.md",)),
        (knowledge.page_image, ("board.pdf", 1)),
        (knowledge.diff, ("open.md", "board.md")),
    ]
    for read, names in reads:
        assert read(*names, as_principals=BOARD)
        with pytest.raises(UnknownDocumentError):
            read(*names, as_principals=[])
    with pytest.raises(UnknownDocumentError):
        knowledge.original("board.md", as_principals=[])
    with pytest.raises(AccessError, match="no principal"):
        knowledge.search("barnacle", as_principals="group:board")  # a list of letters
    with pytest.raises(TypeError):
        knowledge.status(as_principals=BOARD)


@pytest.fixture
def knowledge(filled: Stages) -> KnowledgeBase:
    return filled.knowledge


def test_operations_are_asked_as_principals_see_them(knowledge: KnowledgeBase) -> None:
    check(knowledge)
    assert {
        *("search", "similar", "context", "ask", "documents", "count_documents", "show", "related", "diff"),
        *("original", "page_image"),
    } == READING
    with pytest.raises(AccessError, match="not open"):
        knowledge.seen_by(BOARD).search("barnacle", as_principals=BOARD)


def test_operations_are_awaited_as_principals_see_them(knowledge: KnowledgeBase) -> None:
    async def found() -> list[set[str]]:
        awaited = AsyncKnowledgeBase(knowledge)
        hits = [await awaited.search("guilders", as_principals=each) for each in ([], BOARD)]
        return [{hit.title for hit in each} for each in hits]

    everyone, board = asyncio.run(found())
    assert "Board" not in everyone
    assert "Board" in board


def test_a_key_that_may_ask_for_others_asks_a_server_as_principals_see_it(filled: Stages) -> None:
    """Any other key is refused, and not answered with more or less than was asked for."""
    with filled.connection() as connection:
        _, portal = create_key(connection, "portal", on_behalf="optional", actor="test")
        _, plain = create_key(connection, "plain", actor="test")
    with serving(filled.knowledge, requires_key=True) as client:
        url = f"http://127.0.0.1:{client.port}"
        with RemoteKnowledgeBase(url, key=portal) as knowledge:
            check(knowledge)
        with RemoteKnowledgeBase(url, key=plain) as knowledge, pytest.raises(AccessError):
            knowledge.search("barnacle", as_principals=BOARD)
