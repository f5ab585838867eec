"""The search widget on a page of another origin with a strict policy: search, answers, keyboard, failures, a frame."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal

import pytest
from aiohttp import web
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from sourcebook.admin.access_keys import create_key
from tests.browser.page_tab import PATIENCE, Tabs
from tests.chat_server import Chat, ChatServer, Silence
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages

HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"
SENTENCE = "The batteries of the tide gauge last fourteen months"
QUESTION = "How long do the batteries of the tide gauge last?"
GUIDE = f"""<!doctype html><html lang="en"><title>Power {HOSTILE.replace("<", "&lt;")}</title><main>
<h1>Power</h1><p>Every gauge of the harbour has two batteries in a box below the pier.</p>
<h2 id="life">Life</h2><p>{SENTENCE}. &lt;b&gt;In winter&lt;/b&gt; it is less.</p></main>"""
ARABIC = """<!doctype html><html lang="ar" dir="rtl"><title>بطاريات محطة المد</title><main><h1>بطاريات محطة المد</h1>
<p>تدوم بطاريات المحطة أربعة عشر شهرًا، وأقل من ذلك في الشتاء.</p></main>"""
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
        yield chat


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """A site of two pages, answered by a model."""
    stages.web.page("/", '<a href="/guide">Guide</a> <a href="/arabic">Arabic</a>')
    stages.web.page("/guide", GUIDE)
    stages.web.page("/arabic", ARABIC)
    site = {
        "url": stages.address("/"),
        "render": "never",
        "politeness": {"requests_per_second": "unlimited"},
        "request": {"timeout": "20s"},
    }
    answering = {"base_url": chat.url, "model": "reader", "timeout": "20s"}
    stages.configure(json.dumps({"collections": {"handbook": {"sites": [site], "answering": answering}}}))
    with ThreadPoolExecutor(1) as pool:  # the loop of the browser's driver runs in this thread
        pool.submit(stages.run).result()
    return stages


def key(base: Stages, limit: int | None = None) -> tuple[int, str]:
    with base.connection() as connection:
        name = f"limit {limit}"
        made, text = create_key(connection, name, origins=[base.web.url], limit=limit, actor="test")
    return made.id, text


def show(base: Stages, client: Client, body: str, attributes: str = "", html: str = 'lang="en"') -> None:
    """Serve `/docs`, a page whose policy allows the widget's script and requests, and nothing else."""
    server = f"http://127.0.0.1:{client.port}"
    policy = (
        f"default-src 'none'; script-src {server}; connect-src {server}; frame-src {server}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    script = f'<script src="{server}/widget.js" {attributes} defer></script>' if attributes else ""
    page = (
        f'<!doctype html><html {html}><head><meta name="viewport" content="width=device-width"><title>Docs</title>'
        f'<link rel="icon" href="data:,">{script}</head><body><main><h1>Docs</h1>{body}</main></body></html>'
    )
    headers = {"Content-Security-Policy": policy.replace("default-src 'none'", "default-src 'none'; img-src data:")}
    base.web.route("/docs", lambda _: web.Response(text=page, content_type="text/html", headers=headers))


@contextmanager
def opened(base: Stages, client: Client, tabs: Tabs, theme: Literal["light", "dark"] = "light") -> Iterator[Page]:
    with tabs.open(client, theme, refused=404) as page:  # the guide has no icon
        page.goto(f"{base.web.url}/docs")
        yield page


def faults(page: Page, name: str) -> list[tuple[str, str, str]]:
    """Return what axe finds, also at 390 px, and where a window is too narrow."""
    found = [(name, each["id"], each["nodes"][0]["html"]) for each in Axe().run(page).response["violations"]]
    page.set_viewport_size({"width": 390, "height": 700})
    found += [(f"{name}, 390 px", each["id"], "") for each in Axe().run(page).response["violations"]]
    if page.evaluate("document.documentElement.scrollWidth") > 390:
        found.append((name, "too wide", "390"))
    page.set_viewport_size({"width": 1280, "height": 860})
    return found


@pytest.mark.parametrize("theme", THEMES)
def test_a_reader_searches_and_asks_by_keyboard(
    base: Stages, tabs: Tabs, chat: ChatServer, theme: Literal["light", "dark"]
) -> None:
    _, text = key(base)
    with serving(base.knowledge, requires_key=True) as client:
        show(base, client, '<input aria-label="Name"><p>Text</p>', f'data-key="{text}" data-placeholder="Find it"')
        with opened(base, client, tabs, theme) as page:
            dialog, search = page.get_by_role("dialog"), page.get_by_role("combobox")
            assert faults(page, "closed") == []
            page.get_by_label("Name").press("/")
            expect(page.get_by_label("Name")).to_have_value("/")
            expect(dialog).to_be_hidden()
            page.keyboard.press("Control+k")
            expect(search).to_be_focused()
            expect(search).to_have_attribute("placeholder", "Find it")
            page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            expect(page.get_by_label("Name")).to_be_focused()
            page.locator("h1").click()
            page.keyboard.press("/")
            expect(search).to_be_focused()
            expect(search).to_have_value("")
            page.keyboard.type("batteries winter")
            first = page.get_by_role("option").filter(has=page.locator("mark")).first
            expect(first).to_have_attribute("aria-selected", "true")
            expect(page.locator(".title").first).to_have_text(f"Power {HOSTILE}")
            expect(first.locator("mark").filter(has_text="batteries").first).to_be_visible()
            assert page.locator("img, b, iframe").count() == 0
            assert faults(page, "found") == []
            for _ in range(8):  # what is behind the dialog is never reached
                page.keyboard.press("Tab")
                assert page.evaluate("document.activeElement.localName") in {"div", "body"}
            search.focus()
            ask = page.get_by_role("option", name="Ask")
            page.keyboard.press("ArrowUp")
            expect(ask).to_have_attribute("aria-selected", "true")
            expect(search).to_have_attribute("aria-activedescendant", str(ask.get_attribute("id")))
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile(rf"{base.web.url}/guide(#\w+)?$"))

            page.go_back()
            page.get_by_role("button", name="Search").click()
            expect(search).to_be_focused()
            chat.script(Chat(f"**{SENTENCE}** [1]: `{HOSTILE}` [2]."))
            page.keyboard.type(QUESTION)
            expect(ask).to_be_visible()
            page.keyboard.press("ArrowUp")
            page.keyboard.press("Enter")
            expect(page.get_by_role("status")).to_contain_text("The answer is there.")
            answer = page.locator(".turn")
            expect(answer.locator("strong")).to_have_text(SENTENCE)
            expect(answer.get_by_role("link", name="Source 1")).to_have_attribute(
                "href", re.compile(f"^{base.web.url}/guide")
            )
            expect(answer.locator("ol.sources li")).to_have_count(1)
            search.fill("And in winter, batteries?")
            expect(ask).to_have_attribute("aria-selected", "true")  # the next question
            search.press("Enter")
            expect(answer).to_have_count(2)
            expect(page.get_by_role("status")).to_contain_text("The answer is there.")
            assert SENTENCE in chat.asked[1].text  # the first answer is its history
            assert page.locator("img, script[src=x], iframe").count() == 0
            assert faults(page, "answered") == []
            page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            expect(page.get_by_role("button", name="Search")).to_be_focused()


def test_addresses_that_act_become_no_links(base: Stages, tabs: Tabs) -> None:
    """Whatever the server sends: texts are texts, and only addresses of the web are links."""
    _, text = key(base)
    passage = {"place": HOSTILE, "snippet": [[HOSTILE, False], ["batteries", True]]}
    documents = [
        {"title": HOSTILE, "url": None, "passages": [{**passage, "url": url}]}
        for url in (
            "javascript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "data:text/html,x",
            " javascript:alert(1)",
            "/x",
            None,
        )
    ]
    documents.append({"title": "Good", "url": "https://docs.example.com/", "passages": [{**passage, "url": None}]})

    asked: list[object] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json={"documents": documents, "asks": False}, headers={"Access-Control-Allow-Origin": "*"})

    with serving(base.knowledge, requires_key=True) as client:
        show(
            base,
            client,
            "",
            f'data-key="{text}" data-collection="handbook, a b"',
            'lang="ar" dir="rtl" data-theme="dark"',
        )
        with opened(base, client, tabs) as page:
            page.route("**/widget/search", answer)
            page.keyboard.press("Control+k")
            page.keyboard.type("batteries")
            expect(page.get_by_role("option")).to_have_count(7)
            links = page.locator("a.option").evaluate_all("(all) => all.map((each) => each.href)")
            assert links == ["https://docs.example.com/"]
            page.keyboard.press("Enter")  # opens nothing
            assert asked[-1] == {"query": "batteries", "typed": True, "collections": ["handbook", "a b"]}
            expect(page.locator(".place").first).to_have_text(HOSTILE)
            assert page.locator("img, script[src=x]").count() == 0
            assert page.locator(".panel").evaluate("(each) => getComputedStyle(each).direction") == "rtl"
            dark = page.get_by_role("dialog").evaluate("(each) => getComputedStyle(each).backgroundColor")
            assert dark == "rgb(22, 25, 29)"
            assert faults(page, "from right to left") == []


def test_what_goes_wrong_is_said_in_the_dialog(base: Stages, tabs: Tabs, chat: ChatServer) -> None:
    _, text = key(base, limit=4)
    _, whole = key(base)
    with serving(base.knowledge, requires_key=True) as client:
        show(base, client, '<div id="here"></div>', f'data-key="{text}" data-lang="de" data-target="#here"')
        page = tabs.browser.new_page()  # a policy, a limit and a way that is cut off: the console tells each of them
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        told = page.get_by_role("status")
        page.goto(f"{base.web.url}/docs")
        page.locator("#here").get_by_role("button", name="Suchen").click()
        page.context.set_offline(True)
        expect(told).to_contain_text("Sie sind offline")
        page.context.set_offline(False)
        expect(told).to_be_empty()
        for letter in "batteries":
            page.keyboard.type(letter, delay=300)
        expect(told).to_contain_text("Zu viele Anfragen. Versuchen Sie es in ")
        page.goto(f"http://localhost:{base.web.port}/docs")  # a page that the key does not belong to
        page.keyboard.press("Control+k")
        expect(told).to_contain_text("Die Suche ist gerade nicht erreichbar.")
        show(base, client, "", f'data-key="{whole}"')
        page.goto(f"{base.web.url}/docs")
        chat.script(Silence(f"{SENTENCE} [1]. And so"))
        page.keyboard.press("Control+k")
        page.keyboard.type(QUESTION)
        page.get_by_role("option", name="Ask").click()
        expect(page.locator(".answer")).to_contain_text(SENTENCE)
        page.get_by_role("button", name="Stop").click()
        expect(told).to_have_text("Stopped. This is not the whole answer.")
        expect(page.get_by_role("combobox")).to_be_focused()
        assert chat.left.wait(15)  # before the model's timeout
        page.close()


def test_a_frame_searches_on_pages_of_the_origin_alone(base: Stages, tabs: Tabs) -> None:
    number, text = key(base)
    with serving(base.knowledge, requires_key=True) as client:
        source = f"http://127.0.0.1:{client.port}/embed?key={number}&amp;lang=fr#{text}"
        show(base, client, f'<iframe src="{source}" title="Search" width="340" height="500"></iframe>')
        with opened(base, client, tabs) as page:
            frame = page.frame_locator("iframe")
            frame.get_by_role("combobox", name="Rechercher").fill("batteries")
            link = frame.locator("a.option").first
            expect(link).to_have_attribute("href", re.compile(f"^{base.web.url}/guide"))
            expect(link).to_have_attribute("target", "_blank")
            assert faults(page, "frame") == []
        page = tabs.browser.new_page()
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(f"http://localhost:{base.web.port}/docs")
        page.close()
