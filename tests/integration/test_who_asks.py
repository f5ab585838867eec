"""For whom a request asks, over HTTP: keys of principals, front ends that ask on behalf of others, signed tokens."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
)
from mcp.shared.auth import ProtectedResourceMetadata

from sourcebook.admin.access_keys import create_key
from sourcebook.config.principals import PRINCIPALS_HEADER
from sourcebook.errors import QueryError
from sourcebook.server import page, routes
from sourcebook.server.adapters import chat, dify, open_webui
from sourcebook.server.app import create_app, routers
from sourcebook.server.identity.open_operations import OPEN
from sourcebook.server.mcp.catalogue import CHATGPT_TOOLS, TOOLS
from sourcebook.server.rate_limits import RateLimits
from sourcebook.server.routes.plain import plain_routes
from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.noting import Noting
from tests.integration.stages import Stages
from tests.integration.test_page_access import open_form, post
from tests.token_issuer import Issuer, issuing, rsa_key, unsigned

ANNA = frozenset({"everyone", "user:anna@example.org", "group:board"})
SENT = "user:anna@example.org, group:board"
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"Accept": "application/json, text/event-stream"}


CLOSED = ("collections", "collections/handbook", "status", "statistics", "sources", "generations", "plan", "usage")
OPEN_TOOLS = [
    *("search_documents", "get_context", "fetch_document", "find_related", "diff_documents"),
    "list_documents",
]


def fill(stages: Stages) -> None:
    """One collection."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook}]}\n")
    stages.run_all("handbook")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def noting(base: Stages) -> Noting:
    return Noting(base.database, query_embedder=base.embedder)


def made(base: Stages, name: str, **options: Any) -> str:
    with base.connection() as connection:
        return create_key(connection, name, **options, actor="test")[1]


def ask_everywhere(port: int, key: str, **headers: str) -> list[int]:
    """Ask each face that reads with a key, and return the statuses."""
    client = Client(port, key)
    asked = client.post("/v1/search", {"query": "batteries"}, **headers)
    listed = client.get("/v1/documents", **headers)
    shown = client.get("/documents", Accept="text/html", **headers)
    tool = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    called = client.post("/mcp", {**tool, "params": {"name": "list_documents", "arguments": {}}}, **JSON, **headers)
    dify = client.post(
        "/retrieval",
        {"knowledge_id": "handbook", "query": "batteries", "retrieval_setting": {"top_k": 1, "score_threshold": 0}},
        **headers,
    )
    return [each.status for each in (asked, listed, shown, called, dify)]


def test_a_key_of_principals_asks_for_them_in_every_face(base: Stages, noting: Noting) -> None:
    key = made(base, "anna", principals=["user:anna@example.org", "Group:board"])
    with serving(noting, requires_key=True) as anyone:
        assert ask_everywhere(anyone.port, key) == [200] * 5
        assert noting.asked == [ANNA] * 5
        over_http(anyone.port, lambda agent: agent.ask("search_documents", query="batteries"), key=key)
        assert set(noting.asked) == {ANNA}
        assert noting.asked.count(ANNA) == 6


def test_a_page_that_is_signed_in_with_a_key_of_principals_asks_for_them(base: Stages, noting: Noting) -> None:
    key = made(base, "anna", principals=["user:anna@example.org", "group:board"])
    with serving(noting, requires_key=True) as client:
        form, token = open_form(client)
        cookie = post(client, "/sign-in", form, key=key, token=token).headers["set-cookie"].partition(";")[0]
        for path in ("/", "/documents", "/documents?collection=handbook", "/?q=batteries"):
            assert client.get(path, Accept="text/html", Cookie=f"{form}; {cookie}").status == 200
        assert set(noting.asked) == {ANNA}
        for path in ("/collections", "/work", "/usage", "/sessions", "/collections/handbook/upload"):
            assert client.get(path, Accept="text/html", Cookie=f"{form}; {cookie}").status == 403
        refused = client.get("/", Accept="text/html", Cookie=f"{form}; {cookie}", **{PRINCIPALS_HEADER: SENT})
        assert refused.status == 403


def test_who_asks_for_principals_changes_nothing(base: Stages, noting: Noting) -> None:
    keys = {
        made(base, "anna", principals=["user:anna"]): {},
        made(base, "portal", scopes=("admin",), on_behalf="optional"): {PRINCIPALS_HEADER: "user:anna"},
    }
    with serving(noting, requires_key=True) as anyone:
        for key, headers in keys.items():
            client = Client(anyone.port, key)
            refused = [
                client.post("/v1/collections/handbook/sync", {}, **headers),
                client.request("DELETE", "/v1/documents/1", headers=headers),
                client.patch("/v1/documents/1", {"tags": ["x"]}, **headers),
                client.post("/v1/collections", {"name": "more", "settings": {}}, **headers),
                client.post("/v1/keys", {"name": "more"}, **headers),
                client.post("/v1/judgments", {}, **headers),
                client.get("/v1/keys", **headers),
                client.get("/v1/queries", **headers),
                client.get("/v1/audit", **headers),
                client.get("/metrics", **headers),
                *(client.get(f"/v1/{path}", **headers) for path in CLOSED),
            ]
            assert {each.status for each in refused} == {403}
            assert "principals" in refused[0].json["detail"]
            tools = client.post("/mcp", LIST_TOOLS, **JSON, **headers).json["result"]["tools"]
            assert [tool["name"] for tool in tools] == OPEN_TOOLS
            called = {"name": "list_sources", "arguments": {}}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
            told = client.post("/mcp", asked, **JSON, **headers)
            assert "there is no tool" in told.json["error"]["message"]


def test_each_route_and_tool_that_is_open_to_principals_exists(noting: Noting) -> None:
    """A name that no route has would open nothing, and a new route is closed until somebody names it."""
    app = create_app(noting, chatgpt=True)
    names = {getattr(route, "operation_id", None) or getattr(route, "name", "") for route in app.routes}
    by_hand = list(routers(routes))
    for router in (*routers(page), *by_hand, plain_routes(by_hand), chat.router, dify.router, open_webui.router):
        names |= {getattr(route, "operation_id", None) or getattr(route, "name", "") for route in router.routes}
    assert {tool.name for tool in (*TOOLS, *CHATGPT_TOOLS)} | names >= OPEN


def test_a_front_end_says_for_whom_it_asks(base: Stages, noting: Noting) -> None:
    key = made(base, "portal", on_behalf="required")
    with serving(noting, requires_key=True) as anyone:
        assert ask_everywhere(anyone.port, key, **{PRINCIPALS_HEADER: SENT}) == [200] * 5
        assert set(noting.asked) == {ANNA}

        async def search(agent: Agent) -> Any:
            return await agent.ask("search_documents", query="batteries")

        over_http(anyone.port, search, key=key, **{PRINCIPALS_HEADER: "user:bo"})
        assert noting.asked[-1] == {"everyone", "user:bo"}


def test_a_front_end_that_forgets_to_say_so_is_refused_in_every_face(base: Stages, noting: Noting) -> None:
    key = made(base, "portal", on_behalf="required")
    with serving(noting, requires_key=True) as anyone:
        assert ask_everywhere(anyone.port, key) == [403] * 5
        assert PRINCIPALS_HEADER in Client(anyone.port, key).get("/v1/documents").json["detail"]
        form, token = open_form(anyone)
        assert post(anyone, "/sign-in", form, key=key, token=token).status == 401
        assert noting.asked == []


def test_a_front_end_may_be_let_to_ask_for_itself(base: Stages, noting: Noting) -> None:
    key = made(base, "portal", on_behalf="optional")
    with serving(noting, requires_key=True) as anyone:
        assert ask_everywhere(anyone.port, key) == [200] * 5
        assert noting.asked == []


def test_the_header_is_refused_from_whoever_has_no_right_to_it(base: Stages, noting: Noting) -> None:
    plain, anna = made(base, "plain", scopes=("admin",)), made(base, "anna", principals=["user:anna"])
    with serving(noting, requires_key=False) as anyone:
        for key in (plain, anna):
            assert ask_everywhere(anyone.port, key, **{PRINCIPALS_HEADER: SENT}) == [403] * 5
        assert anyone.get("/v1/documents", **{PRINCIPALS_HEADER: SENT}).status == 403, "a local caller, without a key"
        assert anyone.get("/documents", Accept="text/html", **{PRINCIPALS_HEADER: SENT}).status == 403
    assert noting.asked == []


def test_a_malformed_header_is_answered_with_the_place_of_its_item(base: Stages, noting: Noting) -> None:
    client_key = made(base, "portal", on_behalf="optional")
    with serving(noting, requires_key=True) as anyone:
        client = Client(anyone.port, client_key)
        for sent, place in (("", 1), ("user:a,", 2), ("user:a, secretboard", 2), ("user:%ff", 1)):
            refused = client.get("/v1/documents", **{PRINCIPALS_HEADER: sent})
            assert (refused.status, f"item {place} is no principal" in refused.json["detail"]) == (400, True)
            assert "secretboard" not in refused.json["detail"]
            assert client.post("/mcp", LIST_TOOLS, **JSON, **{PRINCIPALS_HEADER: sent}).status == 400
        with httpx2.Client(base_url=f"http://127.0.0.1:{anyone.port}") as http:
            twice = [(PRINCIPALS_HEADER, "user:a"), (PRINCIPALS_HEADER, "user:b")]
            answer = http.get("/v1/documents", headers=[("Authorization", f"Bearer {client_key}"), *twice])
            assert (answer.status_code, "more than once" in answer.json()["detail"]) == (400, True)
    assert noting.asked == []


def test_an_answer_of_documents_is_never_repeated(base: Stages, noting: Noting) -> None:
    """Two persons behind one front end send the same request with the same idempotency key, one of them twice."""
    key = made(base, "portal", on_behalf="optional")
    with serving(noting, requires_key=True) as anyone:
        client = Client(anyone.port, key)
        asked = {"question": "How long do the batteries last?"}
        first, again, other, nobody = (
            client.post("/v1/context", asked, **{"Idempotency-Key": "one", **headers})
            for headers in (
                {PRINCIPALS_HEADER: "user:a"},
                {PRINCIPALS_HEADER: "user:a"},
                {PRINCIPALS_HEADER: "user:b"},
                {},
            )
        )
        assert [each.status for each in (first, again, other, nobody)] == [200] * 4
        replayed = ["idempotency-replayed" in each.headers for each in (first, again, other, nobody)]
        assert replayed == [False, False, False, False]


def test_keys_are_made_and_listed_with_their_principals(base: Stages, noting: Noting) -> None:
    admin = made(base, "admin", scopes=("admin",))
    with serving(noting, requires_key=True) as anyone:
        client = Client(anyone.port, admin)
        created = client.post("/v1/keys", {"name": "anna", "principals": ["USER:anna", "group:b"]})
        assert (created.status, created.json["key"]["principals"]) == (201, ["everyone", "group:b", "user:anna"])
        portal = client.post("/v1/keys", {"name": "portal", "on_behalf": "required"})
        assert (portal.status, portal.json["key"]["on_behalf"]) == (201, "required")
        listed = {each["name"]: each for each in client.get("/v1/keys").json["keys"]}
        assert (listed["admin"]["principals"], listed["admin"]["on_behalf"]) == (None, None)
        assert listed["portal"]["on_behalf"] == "required"
        wrong = [
            {"name": "x", "principals": ["anna"]},
            {"name": "x", "principals": []},
            {"name": "x", "principals": ["user:anna"], "scopes": ["write"]},
            {"name": "x", "principals": ["user:anna"], "on_behalf": "required"},
            {"name": "x", "on_behalf": "yes"},
        ]
        assert {client.post("/v1/keys", each).status for each in wrong} <= {400, 422}
        listing = client.get("/keys", Accept="text/html").content.decode()
        assert "for everyone, group:b, user:anna" in listing
        assert "for others (required)" in listing
    with base.connection() as connection, pytest.raises(QueryError, match="on behalf"):
        create_key(connection, "y", on_behalf="always", actor="test")  # type: ignore[arg-type]


@pytest.fixture
def issuer() -> Any:
    with issuing(rsa=rsa_key()) as issuer:
        yield issuer


def test_a_signed_token_asks_for_its_user_and_groups_in_every_face(
    base: Stages, noting: Noting, issuer: Issuer, tmp_path: Path
) -> None:
    log = tmp_path / "requests.log"
    with serving(noting, requires_key=True, tokens=issuer.settings(), request_log=log) as anyone:
        assert ask_everywhere(anyone.port, issuer.token(groups=["board"])) == [200] * 5
        assert noting.asked == [ANNA] * 5
        assert ask_everywhere(anyone.port, issuer.token(), **{PRINCIPALS_HEADER: SENT}) == [403] * 5
        assert ask_everywhere(anyone.port, made(base, "plain")) == [200] * 5, "keys go on beside tokens"
    assert "anna" not in log.read_text()


def test_a_token_opens_the_collections_of_the_settings_alone(base: Stages, noting: Noting, issuer: Issuer) -> None:
    with serving(noting, requires_key=True, tokens=issuer.settings(collections=["other"])) as anyone:
        client = Client(anyone.port, issuer.token())
        assert client.get("/v1/documents?collection=handbook").status == 404
        assert client.get("/v1/documents").status == 404


def test_a_forged_token_is_refused_in_every_face_and_told_no_more_than_its_fault(
    base: Stages, noting: Noting, issuer: Issuer
) -> None:
    forged = {
        "expired": issuer.token(exp=1),
        "another audience": issuer.token(aud="elsewhere"),
        "algorithm": unsigned({"alg": "none", "kid": "rsa"}, issuer.claims()),
        "signature": issuer.token()[:-6] + "AAAAAA",
        "overage": issuer.token(_claim_names={"groups": "src1"}),
    }
    with serving(noting, requires_key=True, tokens=issuer.settings(), limits=RateLimits(wrong_keys=None)) as anyone:
        for said, token in forged.items():
            answer = Client(anyone.port, token).get("/v1/documents")
            assert (answer.status, said in answer.json["detail"]) == (401, True)
            assert answer.headers["www-authenticate"] == 'Bearer realm="sourcebook", error="invalid_token"'
            assert Client(anyone.port, token).post("/mcp", LIST_TOOLS, **JSON).status == 401
            assert Client(anyone.port, token).get("/documents", Accept="text/html").status == 303, "to sign in"
    with serving(noting, requires_key=True) as anyone:
        assert Client(anyone.port, issuer.token()).get("/v1/documents").status == 401, "no issuer was named"
    assert noting.asked == []


def test_nothing_opens_while_the_issuer_does_not_tell_its_keys(base: Stages, noting: Noting, issuer: Issuer) -> None:
    issuer.status = 503
    with serving(noting, requires_key=True, tokens=issuer.settings()) as anyone:
        client = Client(anyone.port, issuer.token())
        answers = [client.get("/v1/documents"), client.post("/mcp", LIST_TOOLS, **JSON)]
        answers.append(client.get("/documents", Accept="text/html"))
        assert [each.status for each in answers] == [503] * 3
        assert "the issuer answers with status 503" in answers[0].json["detail"]
        assert answers[0].headers["retry-after"] == "10"
    assert noting.asked == []


def test_the_tokens_of_a_person_share_one_limit(base: Stages, noting: Noting, issuer: Issuer) -> None:
    with serving(noting, requires_key=True, tokens=issuer.settings(), limits=RateLimits(3)) as anyone:
        tokens = [issuer.token(jti=str(number)) for number in range(5)]
        assert [Client(anyone.port, each).get("/v1/documents").status for each in tokens] == [200] * 3 + [429] * 2
        other = Client(anyone.port, issuer.token(sub="bo")).get("/v1/documents")
        assert (other.status, other.headers["ratelimit-remaining"]) == (200, "2")


def test_agents_learn_whose_tokens_are_taken(base: Stages, noting: Noting, issuer: Issuer) -> None:
    """The SDK's own client finds the metadata from the refusal, and takes it for this server's."""
    with serving(noting, requires_key=True, tokens=issuer.settings()) as anyone:
        assert anyone.get("/.well-known/oauth-protected-resource/mcp").status == 404, "the settings name no resource"
    resource = "https://search.example.org/mcp"
    with serving(noting, requires_key=True, tokens=issuer.settings(resource=resource)) as anyone:
        for key in (None, "sb_wrong", issuer.token(exp=1), issuer.token(aud="another")):
            with httpx2.Client(base_url=f"http://127.0.0.1:{anyone.port}") as http:
                refused = http.post(
                    "/mcp", json=LIST_TOOLS, headers=JSON | ({"Authorization": f"Bearer {key}"} if key else {})
                )
            assert refused.status_code == 401
            told = extract_resource_metadata_from_www_auth(refused)
            assert told == "https://search.example.org/.well-known/oauth-protected-resource/mcp"
        urls = build_protected_resource_metadata_discovery_urls(told, resource)
        for url in urls:
            found = anyone.get(url.removeprefix("https://search.example.org"))
            metadata = ProtectedResourceMetadata.model_validate_json(found.content)
            assert str(metadata.resource) == resource
            assert [str(each) for each in metadata.authorization_servers] == [issuer.url]
            assert metadata.bearer_methods_supported == ["header"]
            assert found.headers["access-control-allow-origin"] == "*"
        assert anyone.get("/.well-known/oauth-protected-resource/other").status == 404
        for audience in (resource, "sourcebook"):
            answer = Client(anyone.port, issuer.token(aud=audience)).post("/mcp", LIST_TOOLS, **JSON)
            assert answer.status == 200
