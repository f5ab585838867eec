"""Sites behind a login without a form: stored logins, cookies, HTTP authentication."""

import json
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html
from tests.integration.test_site_login import SECRET, Account


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_USER", "ada")
    monkeypatch.setenv("TEST_PASSWORD", SECRET)


def state(folder: Path, port: int, *, expires: float = -1) -> Path:
    path = folder / "state.json"
    cookies = [
        {"name": "session", "value": "open", "domain": "127.0.0.1", "path": "/", "expires": expires, "httpOnly": True,
         "secure": False, "sameSite": "Lax"},
        {"name": "other", "value": "x", "domain": ".example.com", "path": "/", "expires": -1},
    ]  # fmt: skip
    stored = [{"origin": f"http://127.0.0.1:{port}", "localStorage": [{"name": "token", "value": "t"}]}]
    path.write_text(json.dumps({"cookies": cookies, "origins": stored}))
    return path


def test_a_stored_login(stages: Stages) -> None:
    """Playwright's storage state by its path, relative to the configuration; cookies of other sites stay out of it."""
    Account(stages.web)
    state(stages.root.parent, stages.web.port)
    stages.configure_site(login={"state": "state.json"})
    stages.run()
    assert stages.pages() == {"/", "/a", "/b"}
    assert {arrival.headers.get("Cookie") for arrival in stages.web.requests} == {"session=open"}


def test_a_stored_login_that_is_over_or_no_login(stages: Stages) -> None:
    """The sentence names the file and how it is made."""
    Account(stages.web)
    path = stages.root.parent / "state.json"
    stages.configure_site(login={"state": "state.json"})
    stages.crawl()
    assert f"{path} cannot be read" in (stages.site_error() or "")
    for content, reason in (
        (json.dumps({"cookies": [{"name": SECRET, "value": 7}]}), "is no storage state of Playwright"),
        (json.dumps({"cookies": []}), "holds nothing for 127.0.0.1"),
    ):
        path.write_text(content)
        stages.crawl(Selection(force=True))
        assert reason in (stages.site_error() or "")
        assert SECRET not in (stages.site_error() or "")
    path.unlink()
    state(stages.root.parent, 1, expires=time.time() - 60)
    path.write_text(json.dumps({**json.loads(path.read_text()), "origins": []}))
    stages.crawl(Selection(force=True))
    assert "that have expired" in (stages.site_error() or "")
    assert stages.web.paths() == []


def test_cookies_are_kept_within_a_crawl_where_asked(stages: Stages) -> None:
    """As for a site that shows its pages to those who have seen its start."""

    def start(_: web.BaseRequest) -> web.Response:
        response = web.Response(text=html("Start", links=["/a"]), content_type="text/html")
        response.set_cookie("seen", "yes")
        return response

    def page(request: web.BaseRequest) -> str:
        return html("A", "The gauge is green." if request.cookies.get("seen") else "See the start first.")

    stages.web.route("/", start)
    stages.web.route("/a", page)
    stages.configure_site()
    stages.run()
    assert stages.found("green") == set()
    stages.configure_site(request={"cookies": True})
    stages.run()
    assert stages.found("green") == {"a"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"login": {"basic": "${TEST_USER}:${TEST_PASSWORD}"}},
            f"Basic {b64encode(f'ada:{SECRET}'.encode()).decode()}",
        ),
        ({"request": {"headers": {"Authorization": "Bearer ${TEST_PASSWORD}"}}}, f"Bearer {SECRET}"),
    ],
)
def test_basic_and_bearer(stages: Stages, settings: dict[str, Any], expected: str) -> None:
    def page(request: web.BaseRequest) -> web.Response:
        if request.headers.get("Authorization") == expected:
            return web.Response(text=html("Start", "The gauge is green."), content_type="text/html")
        return web.Response(status=401)

    stages.web.route("/", page)
    stages.configure_site()
    stages.crawl()
    assert "see `login` and `request.headers` of the site" in (stages.site_error() or "")
    stages.configure_site(**settings)
    stages.crawl()
    assert stages.pages() == {"/"}
