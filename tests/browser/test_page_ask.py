"""The page that asks in a real Chromium: the stream, the passage beside the answer, stop, conversations, axe."""

import io
import os
import wave
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.page_tab import Tabs
from tests.chat_server import Chat, ChatServer, Silence
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

LIBRARY = CHECKOUT / "examples" / "library"
QUESTION = "How often is the tide gauge read in winter?"
PICTURES = os.environ.get("TEST_SCREENSHOTS")


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
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


def look(page: Page, name: str) -> None:
    folder = os.environ.get("LOOK")
    if folder:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 860})
            page.screenshot(path=f"{folder}/{name}-{width}.png", animations="disabled")
        page.set_viewport_size({"width": 1280, "height": 860})


def test_look(base: Stages, tabs: Tabs, chat: ChatServer) -> None:
    (report,) = base.knowledge.documents(text="annual-review")
    print([(p.page, p.text[:300]) for p in base.knowledge.show(report.document_id or 0).passages])
    with serving(base.knowledge, requires_key=False) as client:
        for theme in ("light", "dark"):
            with tabs.open(client, theme) as page:
                page.goto("/ask")
                look(page, f"fresh-{theme}")
                page.get_by_label("A question").fill(QUESTION)
                page.keyboard.press("Enter")
                expect(page.locator("#told")).to_contain_text("The answer is there")
                look(page, f"answer-{theme}")
                page.locator(".text a.cite").first.click()
                expect(page.locator("#beside")).to_be_visible()
                look(page, f"beside-{theme}")
                page.keyboard.press("Escape")
                page.get_by_label("Ask further").fill("What was the highest water level in 2024?")
                page.keyboard.press("Enter")
                expect(page.locator("#told")).to_contain_text("The answer is there")
                page.locator(".text a.cite").last.click()
                expect(page.locator("#beside")).to_be_visible()
                page.wait_for_timeout(1500)
                look(page, f"further-{theme}")
                page.goto("/ask/conversations")
                look(page, f"conversations-{theme}")
