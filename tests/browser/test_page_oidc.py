"""Signing in at a provider in a real Chromium, from another site and back: cookies, what is found, signing out, axe."""

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sourcebook.server.identity.sign_in_settings import RETURN_PATH
from tests.acceptance.processes import free_port
from tests.browser.page_tab import Tabs
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.login_provider import CLIENT, LoginProvider, providing
from tests.token_issuer import rsa_key


@pytest.fixture
def base(stages: Stages) -> Stages:
    """A document for everyone, and one for Anna."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("sale.md", "# Secret sale\n\nThe barnacle is sold for nine guilders.")
    folder = {"root": str(stages.root), "allowed": {"sale.md": ["user:anna"], "**": ["everyone"]}}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))
    stages.run()
    return stages


@pytest.fixture
def provider() -> Iterator[LoginProvider]:
    """Another site to the browser, which sends no strict cookie with what comes from there."""
    with providing(rsa=rsa_key()) as provider:
        provider.issuer.url = provider.issuer.url.replace("127.0.0.1", "localhost")
        provider.prepare()
        provider.asks_for_name = True
        yield provider


def sign_in(page: Page, name: str) -> None:
    page.get_by_role("link", name="Sign in with Tide House").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_person_signs_in_finds_what_it_may_see_and_signs_out(
    base: Stages, provider: LoginProvider, tabs: Tabs
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    provider.clients[CLIENT] = [f"{url}{RETURN_PATH}"]
    tokens = provider.issuer.settings(sign_in={"client_id": CLIENT, "url": url, "name": "Tide House"})
    with serving(base.knowledge, requires_key=True, tokens=tokens, port=port) as client, tabs.open(client) as page:
        page.goto("/documents?text=a")
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert Axe().run(page).response["violations"] == []
        page.set_viewport_size({"width": 1280, "height": 860})
        for name, finds in (("anna", True), ("bo", False)):
            sign_in(page, name)
            expect(page).to_have_url(f"{url}/documents?text=a")
            expect(page.get_by_text("Secret sale")).to_have_count(int(finds))
            page.goto("/")
            page.get_by_role("searchbox").fill("What is the barnacle sold for?")
            page.get_by_role("button", name="Search").click()
            expect(page.get_by_role("link", name="Open", exact=True)).to_be_visible()
            expect(page.get_by_role("link", name="Secret sale")).to_have_count(int(finds))
            held = {each["name"]: each for each in page.context.cookies(url)}
            assert (held["sourcebook_session"]["httpOnly"], held["sourcebook_session"]["sameSite"]) == (True, "Strict")
            assert "sourcebook_sign_in" not in held
            assert page.evaluate("document.cookie") == ""
            page.get_by_role("button", name="Sign out").click()
            expect(page).to_have_url(f"{url}/sign-in")
            assert len(provider.ended) == (1 if finds else 2), "the browser was at the provider, too"
            page.goto("/documents?text=a")
            expect(page.get_by_role("link", name="Sign in with Tide House")).to_be_visible()
