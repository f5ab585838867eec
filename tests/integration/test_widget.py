"""The search widget of other sites: what its key opens, to whom, and what browsers are told."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from sourcebook.admin.access_keys import create_key, list_keys
from sourcebook.admin.audit import audit_events
from sourcebook.errors import QueryError
from sourcebook.operations.access_keys import sign_in
from sourcebook.server.page.script_texts import STATIC
from tests.chat_server import Chat, ChatServer
from tests.integration.event_stream import events
from tests.integration.http_server import Answer, Client, serving
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages

ORIGIN = "https://docs.example.com"
OTHER = "https://handbook.example.org:8443"
SENTENCE = "The batteries of the tide gauge last fourteen months"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
        yield chat


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """A handbook that a model answers from, a collection that board members see, and one beside it."""
    stages.write(
        "handbook/power.md", f"---\ntitle: Power {HOSTILE}\n---\n# Power\n\nEvery gauge.\n\n## Life\n\n{SENTENCE}.\n"
    )
    stages.write("board/minutes.md", "# Minutes\n\nThe batteries of the tide gauge were bought with the black fund.\n")
    stages.write("plans/plan.md", "# Plans\n\nThe batteries of the lighthouse are to last a century.\n")
    stages.configure(
        "collections:\n"
        "  handbook: {files: [{root: ./docs/handbook}], retention: {queries: 30d}, answering: "
        f"{{base_url: '{chat.url}', model: reader, timeout: 20s}}}}\n"
        "  board: {files: [{root: ./docs/board, allowed: ['group:board']}]}\n"
        "  plans: {files: [{root: ./docs/plans}]}\n"
    )
    stages.run_all("handbook", "board", "plans")
    return stages


def key(stages: Stages, *origins: str, only: list[str] | None = None, limit: int | None = None) -> tuple[int, str]:
    """Make a key; return its id and its text."""
    with stages.connection() as connection:
        name = f"key {len(list_keys(connection))}"
        made, text = create_key(connection, name, collections=only, origins=origins, limit=limit, actor="test")
    return made.id, text


def asked(
    client: Client, text: str, origin: str | None = ORIGIN, path: str = "/widget/search", **body: object
) -> Answer:
    headers = {"Authorization": f"Bearer {text}", **({} if origin is None else {"Origin": origin})}
    return client.post(path, {"query": "batteries", **body} if path.startswith("/widget/search") else body, **headers)


def preflight(
    client: Client, origin: str, method: str = "POST", headers: str = "authorization, content-type"
) -> Answer:
    asked_for = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return client.request("OPTIONS", "/widget/search", headers={"Origin": origin, **asked_for})


def test_a_page_of_the_origin_finds_what_everyone_may_see(base: Stages) -> None:
    """Passages with their place, no address of a file, nothing of the board; the log keeps what is not being typed."""
    _, text = key(base, ORIGIN, OTHER)
    with serving(base.knowledge, requires_key=True) as client:
        for origin in (ORIGIN, OTHER):
            answer = asked(client, text, origin)
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, origin)
            assert "Origin" in answer.headers["vary"]
            assert "access-control-allow-credentials" not in answer.headers
        found = {each["title"]: each for each in answer.json["documents"]}
        assert set(found) == {f"Power {HOSTILE}", "Plans"}
        power = found[f"Power {HOSTILE}"]
        assert power["url"] is None
        assert power["passages"][0]["place"] == "Power › Life"
        assert ["batteries", True] in power["passages"][0]["snippet"]
        assert str(base.root).encode() not in answer.content
        assert b"black fund" not in answer.content
        assert asked(client, text, query="seals", typed=True).status == 200
        assert [each["title"] for each in asked(client, text, collections=["plans"]).json["documents"]] == ["Plans"]
        assert asked(client, text, collections=["board"]).status == 404
        assert asked(client, text, query=" ").json == {"documents": [], "asks": True}
        assert asked(client, text, query="", collections=["plans"]).json == {"documents": [], "asks": False}
        assert asked(client, text, query="x" * 1_001).status == 422
        _, narrow = key(base, ORIGIN, only=["plans"])
        assert [each["title"] for each in asked(client, narrow).json["documents"]] == ["Plans"]
    base.knowledge.release()  # writes the log
    assert {row["query"] for row in base.rows("SELECT query FROM logged_query")} == {"batteries"}


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "",
        f"{ORIGIN}.evil.org",
        "https://evil.org",
        "http://docs.example.com",
        f"{ORIGIN}:444",
        "https://docs.example.co",
        "https://DOCS.example.com",
        f"{ORIGIN}/",
        f"https://evil.org {ORIGIN}",
        "*",
    ],
)
def test_no_other_page_uses_the_key(base: Stages, origin: str | None) -> None:
    number, text = key(base, ORIGIN)
    with serving(base.knowledge, requires_key=False, origins=["https://intranet.example"]) as client:
        refused = asked(client, text, origin)
        assert (refused.status, refused.json["status"]) == (403, 403)
        assert "access-control-allow-origin" not in refused.headers
        assert asked(client, text, origin, f"/widget/search?embed={number}").status == 403
        if origin is not None:
            told = preflight(client, origin)
            assert (told.status, "access-control-allow-origin" in told.headers) == (403, False)


def test_preflights_allow_what_the_widget_does_and_nothing_else(base: Stages) -> None:
    number, text = key(base, ORIGIN)
    with serving(base.knowledge, requires_key=True, origins=["https://intranet.example"]) as client:
        allowed = preflight(client, ORIGIN)
        assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (204, ORIGIN)
        assert allowed.headers["access-control-allow-methods"] == "POST"
        assert "access-control-allow-credentials" not in allowed.headers
        for method, headers in (
            ("DELETE", ""),
            ("GET", "authorization"),
            ("PUT", "authorization"),
            ("POST", "authorization, x-sourcebook-principals"),
            ("POST", "idempotency-key"),
        ):
            refused = preflight(client, ORIGIN, method, headers)
            assert (refused.status, "access-control-allow-origin" in refused.headers) == (403, False)
        elsewhere = client.request(
            "OPTIONS", "/v1/search", headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
        )
        assert (elsewhere.status, "access-control-allow-origin" in elsewhere.headers) == (400, False)
        asked_for = {"Authorization": f"Bearer {text}", "X-Sourcebook-Principals": "group:board", "Origin": ORIGIN}
        assert client.post("/widget/search", {"query": "batteries"}, **asked_for).status == 403
        connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
        connection.putrequest("POST", "/widget/search")
        for name, value in {**asked_for, "Content-Length": "2", "X-Sourcebook-Principals": ""}.items():
            if value:
                connection.putheader(name, value)
        connection.putheader("Origin", "https://evil.org")
        connection.endheaders(b"{}")
        assert connection.getresponse().status == 403
        connection.close()
        with base.connection() as connection_:
            connection_.execute("UPDATE access_key SET revoked_at = now() WHERE id = %s", (number,))
        assert preflight(client, ORIGIN).status == 403
        assert asked(client, text).status == 401


def test_the_key_opens_nothing_else(base: Stages) -> None:
    """No route, page, tool or session; and no other key opens the widget."""
    _, text = key(base, ORIGIN, limit=10_000)
    with base.connection() as connection:
        others = [
            create_key(connection, "reader", ("read",), actor="test")[1],
            create_key(connection, "admin", ("admin",), actor="test")[1],
            create_key(connection, "anna", ("read",), principals=["user:anna"], actor="test")[1],
        ]
    with serving(base.knowledge, requires_key=False) as client:
        description = client.get("/openapi.json").json
        sent = {"Authorization": f"Bearer {text}", "Origin": ORIGIN, "Content-Type": "application/json"}
        places = [(method.upper(), path) for path, each in description["paths"].items() for method in each]
        places += [("POST", "/mcp"), ("GET", "/"), ("GET", "/ask?q=batteries"), ("GET", "/documents/1")]
        places += [("GET", "/documents/1/original"), ("GET", "/keys"), ("GET", "/home"), ("POST", "/ask/events")]
        tried = 0
        for method, path in places:
            if path.startswith(("/health", "/ready", "/metrics", "/.well-known")):
                continue
            body = json.dumps({"query": "batteries", "question": "batteries"}).encode()
            filled = path.replace("{document}", "1").replace("{collection}", "handbook").replace("{key}", "1")
            answer = client.request(method, filled, body if method != "GET" else None, sent)
            assert answer.status in {403, 404, 422}, (method, path, answer.status, answer.content)
            assert SENTENCE.encode() not in answer.content
            assert "access-control-allow-origin" not in answer.headers
            tried += answer.status == 403
        assert tried > 60
        assert sign_in(base.knowledge, text, "a browser") is None
        browser = Browser(client)
        browser.open("/sign-in")
        assert browser.send("/sign-in", {"key": text}).status != 303
        for other in others:
            assert asked(client, other).status == 403
        assert asked(client, "sb_" + "x" * 43).status == 401
        assert client.post("/widget/search", {"query": "batteries"}, Origin=ORIGIN).status == 401


def test_answers_stream_to_the_page_from_what_everyone_may_see(base: Stages, chat: ChatServer) -> None:
    _, text = key(base, ORIGIN)
    question = "How long do the batteries of the tide gauge last?"
    turn = {"question": "Which gauge?", "answer": "The tide gauge."}
    chat.script(Chat(question), Chat(f"{SENTENCE} {HOSTILE} [1]."))
    with serving(base.knowledge, requires_key=True) as client:
        connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
        body = json.dumps({"question": question, "history": [turn]})
        headers = {"Authorization": f"Bearer {text}", "Origin": ORIGIN, "Content-Type": "application/json"}
        connection.request("POST", "/widget/ask", body, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("access-control-allow-origin")) == (200, ORIGIN)
        told = list(events(answer))
        connection.close()
        whole = told[-1].data
        assert told[-1].name == "answer"
        assert SENTENCE in whole["text"]
        assert [(each["number"], each["title"], each["url"]) for each in whole["sources"]] == [
            (1, f"Power {HOSTILE}", None)
        ]
        assert "black fund" not in "".join(each.text for each in chat.asked)
        assert "The tide gauge." in chat.asked[0].text
        refused = asked(client, text, path="/widget/ask", question="?", collections=["plans"])
        assert refused.status == 404
        assert asked(client, text, path="/widget/ask", question="?", history=[turn] * 6).status == 422
        for _ in range(9):
            limited = asked(client, text, path="/widget/ask", question="?", collections=["plans"])
        assert (limited.status, limited.headers["access-control-allow-origin"]) == (429, ORIGIN)


def test_requests_are_counted_by_address_and_a_page_can_read_the_refusal(base: Stages) -> None:
    _, text = key(base, ORIGIN, limit=3)
    with serving(base.knowledge, requires_key=True) as client:
        assert [asked(client, text, query="").status for _ in range(4)] == [200, 200, 200, 429]
        refused = asked(client, text)
        assert refused.headers["access-control-allow-origin"] == ORIGIN
        assert refused.headers["access-control-expose-headers"] == "Retry-After"
        assert int(refused.headers["retry-after"]) > 0
        assert client.post("/v1/search", {}, Authorization=f"Bearer {text}").status == 429  # nor elsewhere without end
        assert asked(client, text, "https://evil.org").status == 429
        assert "an address may send 3 requests a minute" in refused.json["detail"]


def test_the_frame_is_shown_by_pages_of_the_origins_alone(base: Stages) -> None:
    number, text = key(base, ORIGIN, OTHER)
    elsewhere, other = key(base, "https://evil.org")
    with serving(base.knowledge, requires_key=True) as client:
        page = client.get(f"/embed?key={number}", Accept="text/html")
        policy = page.headers["content-security-policy"]
        assert page.status == 200
        assert policy.endswith(f"frame-ancestors {ORIGIN} {OTHER}")
        assert "x-frame-options" not in page.headers
        assert text.encode() not in page.content
        assert client.get("/sign-in", Accept="text/html").headers["x-frame-options"] == "DENY"
        for wrong in ("0", "999", str(1 << 70), "x", "1;script-src *"):
            assert client.get("/embed?key=" + wrong.replace(" ", "%20")).status in {404, 422}
        own = f"http://127.0.0.1:{client.port}"
        assert asked(client, text, own, f"/widget/search?embed={number}").status == 200
        assert asked(client, text, own).status == 403
        assert asked(client, text, own, f"/widget/search?embed={elsewhere}").status == 403
        assert asked(client, other, own, f"/widget/search?embed={number}").status == 403


def test_the_script_is_small_and_any_page_may_load_it(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        script = client.get("/widget.js")
        assert (script.status, script.content) == (200, (STATIC / "widget.js").read_bytes())
        assert script.headers["cross-origin-resource-policy"] == "cross-origin"
        assert script.headers["content-type"].startswith("text/javascript")
        assert len(script.content) <= 30_000
        assert client.get("/widget.js", If_None_Match=script.headers["etag"]).status == 304
    for word in (b"innerHTML", b"insertAdjacentHTML", b"eval(", b"document.write", b"outerHTML", b".style", b"srcdoc"):
        assert word not in script.content


def test_a_key_of_pages_has_no_other_scope_and_no_principals(base: Stages) -> None:
    with base.connection() as connection:
        for wrong, said in (
            ({"scopes": ("write",)}, "no other scope"),
            ({"scopes": ("read", "unredacted")}, "no other scope"),
            ({"principals": ["user:anna"]}, "no principals"),
            ({"on_behalf": "optional"}, "no principals"),
            ({"origins": ["https://docs.example.com/"]}, "is no origin"),
            ({"origins": ["https://*.example.com"]}, "is no origin"),
            ({"origins": ["null"]}, "is no origin"),
            ({"origins": [f"https://{number}.example" for number in range(21)]}, "at most 20 origins"),
        ):
            with pytest.raises(QueryError, match=said):
                create_key(connection, "docs", actor="test", **{"origins": [ORIGIN], **wrong})  # type: ignore[arg-type]
        assert list_keys(connection) == []
    with serving(base.knowledge, requires_key=False) as client:
        made = client.post("/v1/keys", {"name": "docs", "origins": [OTHER, ORIGIN, ORIGIN]}).json
        assert (made["key"]["scopes"], made["key"]["origins"]) == (["search"], [ORIGIN, OTHER])
        assert client.post("/v1/keys", {"name": "two", "origins": [ORIGIN], "scopes": ["admin"]}).status == 400
        browser = Browser(client)
        browser.open("/keys")
        sent = browser.send("/keys", {"name": "three", "scope": "read", "days": "", "origins": f"{ORIGIN}\r\n{OTHER}"})
        assert b"widget.js&#34; data-key=&#34;sb_" in sent.content.replace(b"&quot;", b"&#34;").replace(b'"', b"&#34;")
        assert f"for pages of {ORIGIN}" in browser.open("/keys").text
    with base.connection() as connection:
        assert audit_events(connection)[0].details["origins"] == [ORIGIN, OTHER]
