"""Who may see what, over REST, on the page and for agents: a server over a base with hidden documents."""

import json

import pytest

from sourcebook.admin.access_keys import create_key
from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import over_http
from tests.integration.stages import Stages

HIDDEN = ("guilders", "Secret sale")
"""Words of the document that Anna may not see."""


@pytest.fixture
def base(stages: Stages) -> Stages:
    """One document for everyone, and one for the board."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water. See [it](board/secret-sale.md).")
    stages.write(
        "board/secret-sale.md", "# Secret sale\n\nThe barnacle is sold for nine guilders. See [it](../open.md)."
    )
    folder = {"root": str(stages.root), "allowed": {"board/**": ["group:board"], "**": ["everyone"]}}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))
    stages.run()
    return stages


def key(base: Stages, name: str, *principals: str) -> str:
    """Return a new key of principals."""
    with base.connection() as connection:
        return create_key(connection, name, principals=list(principals), actor="test")[1]


def test_no_face_shows_what_is_hidden(base: Stages) -> None:
    """The board finds the document in each face, and Anna in none; her address of it is that of nothing."""
    anna, board = key(base, "anna", "user:anna"), key(base, "board", "group:board")
    number = base.knowledge.show(base.uri("board/secret-sale.md")).item.document_id
    paths = (
        "/v1/documents",
        f"/v1/documents/{number}",
        f"/v1/documents/{number}/original",
        f"/v1/documents/{number}/related",
        "/documents",
        "/?q=barnacle+sold",
        f"/documents/{number}",
    )
    queries = {
        "/v1/search": {"query": "What is a barnacle sold for?", "facets": True, "limit": 9},
        "/v1/context": {"question": "What is a barnacle sold for?"},
        "/v1/similar": {"document": base.uri("open.md")},
        "/retrieval": {
            "knowledge_id": base.collection,
            "query": "sold",
            "retrieval_setting": {"top_k": 5, "score_threshold": 0},
        },
    }
    with serving(base.knowledge, requires_key=True) as anyone:
        for path in paths:
            hers, theirs = (Client(anyone.port, each).get(path, Accept="text/html, */*") for each in (anna, board))
            assert not any(word in hers.content.decode() for word in HIDDEN), path
            assert any(word in theirs.content.decode() for word in HIDDEN) or "related" in path, path
        for path, body in queries.items():
            hers, theirs = (Client(anyone.port, each).post(path, body) for each in (anna, board))
            assert (hers.status, theirs.status) == (200, 200), path
            assert not any(word in hers.content.decode() for word in HIDDEN), path
            assert any(word in theirs.content.decode() for word in HIDDEN), path
        said = over_http(anyone.port, lambda agent: agent.ask("search_documents", query="barnacle sold"), key=anna)
        assert not any(word in str(said) for word in HIDDEN)
        assert "guilders" in str(
            over_http(anyone.port, lambda agent: agent.ask("search_documents", query="barnacle sold"), key=board)
        )
        for path in ("/v1/collections", "/v1/statistics", "/v1/queries", "/v1/usage", "/v1/status"):
            assert Client(anyone.port, anna).get(path).status == 403
