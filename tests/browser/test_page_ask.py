"""The page that asks in a real Chromium: an answer as it comes, the passage beside it, stop, conversations, axe.

`TEST_SCREENSHOTS=docs/images` has it take the picture of docs/page.md again (CONTRIBUTING.md).
"""

import io
import os
from collections.abc import Iterator
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.page_tab import Tabs
from tests.chat_server import AskedChat, Chat, ChatServer, Silence
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

LIBRARY = CHECKOUT / "examples" / "library"
QUESTION = "How long did the station run from its batteries during the power cut?"
SENTENCE = "During the power cut of 22 January the station ran from its batteries for 31 hours"
ROUND = "How are the readings against the pole written down?"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"
WRITTEN = f"Take **five readings half a minute apart**, and write down the median to the nearest centimetre {HOSTILE}"
PICTURES = os.environ.get("TEST_SCREENSHOTS")
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
        chat.answer = reading
        yield chat


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """Some of the example library, answered by a model, in conversations that are kept."""
    for name in ("station-handbook.md", "procedures/daily-round.md", "reports/annual-review-2024.pdf"):
        stages.write(f"library/{name}", (LIBRARY / name).read_bytes())
    stages.collection = "tide-station"
    stages.configure(
        "collections:\n  tide-station:\n    files: [{root: ./docs/library}]\n"
        f"    answering: {{base_url: '{chat.url}', model: reader, timeout: 20s, sessions: 7d}}\n"
    )
    stages.run()
    return stages


def reading(asked: AskedChat) -> Chat:
    """Answer from the source that says it; a follow-up is read as it stands."""
    for wanted, said in (("22 January", SENTENCE), ("five readings", WRITTEN)):
        number = next((number for number, text in asked.sources.items() if wanted in text), None)
        if number and ("power" in asked.question) == (said is SENTENCE):
            return Chat(f"{said} [{number}].")
    return Chat(ROUND)


def faults(page: Page, name: str) -> list[tuple[str, str, str]]:
    """Return what axe finds, and where a window is too narrow."""
    found = [(name, each["id"], each["nodes"][0]["html"]) for each in Axe().run(page).response["violations"]]
    for width in (640, 390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append((name, "too wide", str(width)))
    page.set_viewport_size({"width": 1280, "height": 860})
    return found


@pytest.mark.parametrize("theme", THEMES)
def test_a_question_is_asked_and_its_sources_are_read_by_keyboard(
    base: Stages, tabs: Tabs, theme: Literal["light", "dark"]
) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, theme) as page:
        page.goto("/ask")
        assert faults(page, "fresh") == []
        expect(page.get_by_label("A question")).to_be_focused()
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        expect(page.locator("#told")).to_have_text("The answer is there, with 1 source.")
        expect(page.locator(".turn .text").first).to_contain_text(SENTENCE)
        page.locator(".text a.cite").focus()
        page.keyboard.press("Enter")
        beside = page.locator("#beside")
        expect(beside).to_be_focused()
        expect(beside.locator(".sheet .marks rect").first).to_be_attached()
        expect(beside.get_by_role("link")).to_have_text("Annual review 2024")
        picture = beside.get_by_role("img")
        expect(picture).to_have_js_property("complete", value=True)
        assert picture.evaluate("(each) => each.naturalWidth") > 500
        assert faults(page, "page of a PDF beside") == []
        if PICTURES is not None and theme == "light":
            _take_picture(page, PICTURES)
        page.keyboard.press("Escape")
        expect(beside).to_be_hidden()
        expect(page.locator(".text a.cite")).to_be_focused()
        page.get_by_label("Ask further").fill("And how is it written down?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn h2:visible")).to_have_count(2)
        expect(page.locator("#told")).to_contain_text("The answer is there")
        page.locator(".text a.cite").last.click()
        expect(beside.locator(".passage.found")).to_contain_text("half a minute apart")
        assert faults(page, "document beside") == []
        page.get_by_role("button", name="Close").click()
        expect(page).to_have_url(
            f"http://127.0.0.1:{client.port}/ask?session={base.knowledge.ask_sessions(owner='local caller')[0].session}"
        )
        page.reload()
        expect(page.locator(".turn h2:visible")).to_have_count(2)
        page.get_by_role("link", name="Conversations").click()
        expect(page.get_by_role("link", name=QUESTION)).to_be_visible()
        assert faults(page, "conversations") == []
        page.get_by_role("button", name="Delete").click()
        expect(page.locator(".empty")).to_contain_text("There is none yet")


def test_an_answer_is_stopped_and_a_failure_is_said(base: Stages, tabs: Tabs, chat: ChatServer) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        chat.script(Silence(f"{SENTENCE} [1]. And so"))
        page.goto(f"/?q={QUESTION.replace(' ', '+')}")
        page.get_by_role("link", name="Ask this").click()  # it asks by itself
        expect(page.locator("#live .text")).to_contain_text("31 hours")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#told")).to_contain_text("Stopped. What stands above is not the whole answer.")
        assert chat.left.wait(15)  # before the model's timeout
        chat.script(Chat(f"{SENTENCE} [1]. And th", ends=False, breaks=True))
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#told")).to_contain_text("refuses or fails")
        assert faults(page, "failed") == []
        chat.answer = reading
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#told")).to_contain_text("The answer is there")
    chat.answer = reading
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto("/ask")
        page.get_by_label("A question").fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.locator(".turn .text").first).to_contain_text(SENTENCE)
        page.get_by_label("Ask further").fill("And how is it written down?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn h2:visible")).to_have_count(2)
        page.locator(".text a.cite").last.click()
        expect(page.locator(".passage.found")).to_contain_text("half a minute apart")


def _take_picture(page: Page, folder: str) -> None:
    """Take a picture for the documentation, in few colours so that it stays small."""
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    shot.quantize(96).save(CHECKOUT / folder / "page-ask.png", optimize=True)
