"""Limits of requests and pages of other origins, over HTTP."""

import json

import pytest

from sourcebook.admin.access_keys import create_key, revoke_key
from sourcebook.server.rate_limits import RateLimits
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import key

ORIGIN = "https://intranet.example"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries last fourteen months.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook}]}\n")
    stages.run()
    return stages


def limited(base: Stages, limit: int) -> str:
    with base.connection() as connection:
        return create_key(connection, "limited", limit=limit, actor="test")[1]


def test_a_key_is_told_its_limit_and_refused_beyond_it(base: Stages) -> None:
    text, free = limited(base, 3), key(base, "free")
    with serving(base.knowledge, requires_key=True, limits=RateLimits(600)) as anyone:
        client = Client(anyone.port, text)
        answers = [client.get("/v1/collections") for _ in range(5)]
        assert [each.status for each in answers] == [200, 200, 200, 429, 429]
        assert [each.headers["ratelimit-remaining"] for each in answers] == ["2", "1", "0", "0", "0"]
        assert {each.headers["ratelimit-policy"] for each in answers} == {'"key";q=3;w=60'}
        refused = answers[-1]
        assert refused.headers["content-type"] == "application/problem+json"
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert refused.json["status"] == 429
        assert client.post("/mcp", {}).status == 429
        other = Client(anyone.port, free).get("/v1/collections")
        assert (other.status, other.headers["ratelimit-limit"]) == (200, "600")
        tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        listed = Client(anyone.port, free).post("/mcp", tools, Accept="application/json, text/event-stream")
        assert listed.headers["ratelimit-limit"] == "600"
        missing = Client(anyone.port, free).get("/v1/collections/nothing")
        assert (missing.status, missing.headers["ratelimit-limit"]) == (404, "600")


def test_a_refused_request_asks_the_database_nothing(base: Stages) -> None:
    text = limited(base, 1)
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, text)
        assert client.get("/v1/collections").status == 200
        with base.connection() as connection:
            connection.execute("ALTER TABLE sourcebook.access_key RENAME TO key_away")
        try:
            assert client.get("/v1/collections").status == 429
        finally:
            with base.connection() as connection:
                connection.execute("ALTER TABLE sourcebook.key_away RENAME TO access_key")


def test_callers_without_a_key_have_no_limit_of_their_own(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False, limits=RateLimits(1)) as client:
        answers = [client.get("/v1/collections") for _ in range(5)]
        assert {each.status for each in answers} == {200}
        assert not any(name.startswith("ratelimit") for each in answers for name in each.headers)
    with serving(base.knowledge, requires_key=False, limits=RateLimits(1, local=1)) as client:
        assert [client.get("/v1/collections").status for _ in range(2)] == [200, 429]


def test_wrong_keys_are_refused_after_some(base: Stages) -> None:
    valid, later = key(base, "valid"), key(base, "later")
    with serving(base.knowledge, requires_key=True) as anyone:
        assert Client(anyone.port, valid).get("/v1/collections").status == 200
        statuses = [Client(anyone.port, f"sb_{number}").get("/v1/collections").status for number in range(35)]
        assert statuses[:30] == [401] * 30
        assert statuses[-1] == 429
        assert anyone.get("/v1/collections").status == 401  # nothing was guessed
        assert anyone.get("/health").status == 200
        token = "a" * 43
        form, cookie = f"token={token}&key=sb_1".encode(), f"sourcebook_form={token}"
        tried = [anyone.request("POST", "/sign-in", form, {"Cookie": cookie}).status for _ in range(8)]
        assert tried[-1] == 429  # one more is free in two seconds
        page = anyone.request("POST", "/sign-in", form, {"Accept": "text/html", "Cookie": cookie})
        assert (page.status, page.headers["content-type"]) == (429, "text/html; charset=utf-8")
        for right in (valid, later):  # of colleagues behind the same proxy
            assert Client(anyone.port, right).get("/v1/collections").status == 200
        same = [Client(anyone.port, "sb_0").get("/v1/collections").status for _ in range(32)]
        assert same[-1] == 429


def test_a_revoked_key_is_refused_although_it_was_known(base: Stages) -> None:
    text = limited(base, 100)
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, text)
        assert client.get("/v1/collections").status == 200
        with base.connection() as connection:
            revoke_key(connection, "limited", actor="test")
        assert [client.get("/v1/collections").status for _ in range(2)] == [401, 401]


def test_pages_of_other_origins_ask_where_they_may(base: Stages) -> None:
    asking = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    body = json.dumps({"query": "batteries", "mode": "keyword"}).encode()
    sent = {"Origin": ORIGIN, "Content-Type": "application/json"}
    with serving(base.knowledge, requires_key=False) as client:
        assert client.request("OPTIONS", "/v1/search", headers=asking).status == 405
        assert "access-control-allow-origin" not in client.request("POST", "/v1/search", body, sent).headers
    with serving(base.knowledge, requires_key=False, origins=[ORIGIN]) as client:
        asked = client.request("OPTIONS", "/v1/search", headers=asking)
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (200, ORIGIN)
        assert "access-control-allow-credentials" not in asked.headers
        found = client.request("POST", "/v1/search", body, sent)
        assert (found.status, found.headers["access-control-allow-origin"]) == (200, ORIGIN)
        for other in ("https://intranet.example.evil.example", "http://intranet.example", "null"):
            refused = client.request("OPTIONS", "/v1/search", headers={**asking, "Origin": other})
            assert refused.status == 400
            assert "access-control-allow-origin" not in refused.headers
        tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = "application/json, text/event-stream"
        assert client.post("/mcp", tools, Accept=accept, Origin=ORIGIN).status != 403
        assert client.post("/mcp", tools, Accept=accept, Origin="https://other.example").status == 403
