"""What principals find on the page and over REST beside documents: their conversations, and names of collections."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from psycopg import sql

from sourcebook.admin.access_keys import create_key
from sourcebook.config.principals import PRINCIPALS_HEADER
from sourcebook.database.queries import queries
from sourcebook.operations.overviews import seen_collection_names
from tests.chat_server import Chat, ChatServer
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages

QUESTION = "What is the barnacle sold for?"
SOLD = "The barnacle is sold for nine guilders"
ASKED = "/ask?" + urlencode({"q": QUESTION, "whole": 1})


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
        yield chat


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """A collection with a document for everyone and one for the board, and one of the board alone."""
    stages.write("handbook/open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("handbook/sale.md", f"# Sale\n\n{SOLD}.")
    stages.write("treasury/gold.md", "# Gold\n\nThe barnacle of gold lies in the cellar.")
    allow(stages, chat)
    stages.run_all("handbook", "treasury")
    return stages


def allow(stages: Stages, chat: ChatServer, *sale: str) -> None:
    """Let the board, or somebody else, see the sale."""
    model = {"base_url": chat.url, "model": "reader", "timeout": "20s", "sessions": "7d"}
    allowed = {"sale.md": list(sale) or ["group:board"], "**": ["everyone"]}
    collections = {
        "handbook": {"files": [{"root": "./docs/handbook", "allowed": allowed}], "answering": model},
        "treasury": {"files": [{"root": "./docs/treasury", "allowed": ["group:board"]}], "answering": model},
    }
    stages.configure(json.dumps({"collections": collections}))


def key(base: Stages, name: str, **options: Any) -> str:
    with base.connection() as connection:
        return create_key(connection, name, **options, actor="test")[1]


def test_conversations_belong_to_the_very_principals(base: Stages, chat: ChatServer) -> None:
    """They list, continue, export and delete their own; another person has none of them, by no name."""
    with serving(base.knowledge, requires_key=True) as client:
        board = Browser(client, key(base, "board", principals=["user:anna", "group:board"]))
        other = Browser(client, key(base, "other", principals=["user:anna"]))
        assert "There is none yet" in board.open("/ask/conversations").text
        chat.script(Chat(f"{SOLD} [1]."))
        assert SOLD in board.open(f"{ASKED}&collection=handbook").text
        listed = board.open("/ask/conversations")
        assert QUESTION in listed.text
        (kept,) = {each for each in listed.links if each.startswith("/ask?session=")}
        name = kept.partition("=")[2]
        assert SOLD in board.open(kept).text
        exported = board.get(f"/ask/conversations/{name}/export?form=json")
        assert json.loads(exported.content)["turns"][0]["answer"].startswith(SOLD)
        chat.script(Chat(QUESTION), Chat("NO_ANSWER"))
        chat.asked.clear()
        board.send("/ask", {"q": "And today?", "session": name, "collection": "handbook"})
        assert SOLD in chat.asked[0].text, "the model reads what was said before"

        assert QUESTION not in other.open("/ask/conversations").text
        for path in (kept, f"/ask/conversations/{name}/export"):
            assert other.get(path).status == 404
        assert other.send(f"/ask/conversations/{name}/delete").status == 303
        assert QUESTION in board.open("/ask/conversations").text, "it was not theirs to delete"
        assert board.send(f"/ask/conversations/{name}/delete").status == 303
        assert "There is none yet" in board.open("/ask/conversations").text


def test_a_front_end_reads_the_conversations_of_those_it_asks_for(base: Stages, chat: ChatServer) -> None:
    text = key(base, "portal", on_behalf="optional")
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, text)
        anna, bo = ({PRINCIPALS_HEADER: f"user:{name}, group:board"} for name in ("anna", "bo"))
        chat.script(Chat(f"{SOLD} [1]."))
        asked = {"question": QUESTION, "collections": "handbook", "session": "trip"}
        assert client.post("/v1/ask", asked, **anna).json["turns"] == 1
        assert [each["session"] for each in client.get("/v1/ask/sessions", **anna).json["sessions"]] == ["trip"]
        for others in (bo, {}):
            assert client.get("/v1/ask/sessions", **others).json == {"sessions": []}
            assert client.get("/v1/ask/sessions/trip", **others).json == {"turns": []}
            assert client.request("DELETE", "/v1/ask/sessions/trip", headers=others).json == {"turns": 0}
        assert client.request("DELETE", "/v1/ask/sessions/trip", headers=anna).json == {"turns": 1}


def test_an_answer_is_shown_as_long_as_its_sources_are_seen(base: Stages, chat: ChatServer) -> None:
    """A change of permissions holds for what was said before, too, to the reader and to the model."""
    with serving(base.knowledge, requires_key=True) as client:
        board = Browser(client, key(base, "board", principals=["group:board"]))
        chat.script(Chat(f"{SOLD} [1]."))
        board.open(f"{ASKED}&collection=handbook")
        (kept,) = {each for each in board.open("/ask/conversations").links if each.startswith("/ask?session=")}
        allow(base, chat, "user:anna")
        base.run_all("handbook", "treasury")
        shown = board.open(kept).text
        assert "guilders" not in shown
        assert "is not shown any more" in shown
        assert QUESTION in shown, "what they have asked themselves is theirs"
        exported = board.get(f"/ask/conversations/{kept.partition('=')[2]}/export").content.decode()
        assert ("guilders" in exported, "sale.md" in exported) == (False, False)
        chat.script(Chat("NO_ANSWER"))
        chat.asked.clear()
        board.send(
            "/ask", {"q": "What does the barnacle mark?", "session": kept.partition("=")[2], "collection": "handbook"}
        )
        assert "guilders" not in "".join(each.text for each in chat.asked)


def test_in_python_the_conversations_of_principals_are_none_of_the_accounts(base: Stages, chat: ChatServer) -> None:
    """Nor does the model of the one read what the other was told under the same name."""
    whole, anna = base.knowledge, base.knowledge.seen_by(["user:anna"])
    chat.script(Chat(f"{SOLD} [1]."))
    whole.ask(QUESTION, "handbook", session="trip")
    assert (anna.ask_sessions(), anna.ask_session("trip")) == ([], [])
    chat.script(Chat("NO_ANSWER"))
    chat.asked.clear()
    assert anna.ask("What does the barnacle mark?", "handbook", session="trip").turns == 1
    assert "guilders" not in "".join(each.text for each in chat.asked)
    assert [each.turns for each in anna.ask_sessions()] == [1]
    assert (anna.forget_ask_session("trip"), len(whole.ask_session("trip"))) == (1, 1)


def test_collections_exist_in_which_principals_see_a_document(base: Stages, chat: ChatServer) -> None:
    """The name of another one is told nowhere, and asking for it is answered as for one that is not there."""
    with serving(base.knowledge, requires_key=True) as client:
        texts = {name: key(base, name, principals=[f"group:{name}"]) for name in ("board", "staff")}
        board, staff = Browser(client, texts["board"]), Browser(client, texts["staff"])
        for path in ("/", "/ask", "/documents"):
            assert "treasury" in board.open(path).text, path
            page = staff.get(path).content.decode()
            assert ("handbook" in page, "treasury" in page) == (True, False), path
        for path in ("/?q=barnacle&collection={}", "/documents?collection={}", "/ask?q=barnacle&collection={}"):
            hidden, missing = (staff.get(path.format(name)) for name in ("treasury", "nowhere"))
            assert hidden.status == missing.status == 404, path
            assert Page(hidden.content).text == Page(missing.content).text
            assert board.get(path.format("treasury")).status == 200
        models = {name: Client(client.port, text).get("/v1/models").json["data"] for name, text in texts.items()}
        assert {each["id"] for each in models["board"]} == {"sourcebook", "sourcebook/handbook", "sourcebook/treasury"}
        assert {each["id"] for each in models["staff"]} == {"sourcebook", "sourcebook/handbook"}
        hidden, missing = (
            Client(client.port, texts["staff"]).post("/v1/search", {"query": "barnacle", "collections": [name]})
            for name in ("treasury", "nowhere")
        )
        assert (hidden.status, hidden.json) == (missing.status, missing.json) == (404, missing.json)
        chat.script(Chat("NO_ANSWER"))
        chat.asked.clear()
        answer = Client(client.port, texts["staff"]).post("/v1/ask", {"question": QUESTION}).json
        assert "treasury" not in json.dumps(answer)


def test_names_of_collections_cost_a_probe_of_an_index_however_many_documents_are_hidden(
    base: Stages, chat: ChatServer
) -> None:
    with base.connection() as connection:
        connection.execute("SET session_replication_role = replica")  # no triggers: they are hidden as they come
        connection.execute(
            "INSERT INTO document (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash,"
            "                      audience_id)"
            " SELECT collection, source_id, uri || n, kind, media_type, tags, input_hash, config_hash, audience_id"
            " FROM document, generate_series(1, 20000) n WHERE collection = 'treasury'"
        )
        connection.execute("RESET session_replication_role")
        connection.execute("ANALYZE document")
    seen = base.knowledge.seen_by(["group:staff"])
    with seen.database.connection() as connection:
        explained = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ") + queries["seen_collections"]
        connection.execute(explained)  # plans the function's statement
        row = connection.execute(explained).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 60, "of nearly a thousand"
    assert seen_collection_names(seen) == ["handbook"]
