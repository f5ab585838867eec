"""Search and Home in a real Chromium: preview, thumbs, recent searches, texts from right to left, axe."""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sourcebook.admin.work_requests import ask_for_work, claim_work, record_progress
from tests.browser.page_tab import Tabs
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

LIBRARY = CHECKOUT / "examples" / "library"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"
HEBREW = "# מצברים של תחנת הגאות\n\nהמצברים של התחנה מחזיקים ארבעה עשר חודשים, ובחורף פחות.\n\n- טעינה\n- בדיקה\n"
ARABIC = "# بطاريات محطة المد\n\nتدوم بطاريات المحطة أربعة عشر شهرًا، وأقل من ذلك في الشتاء.\n"
CONFIGURATION = f"""\
collections:
  tide-station:
    files: [{{root: ./docs/library, tags: [example]}}, {{root: ./docs/away}}]
    retention: {{queries: 30d}}
    description: "{HOSTILE}"
"""
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Some of the example library, texts in Hebrew and Arabic, failures, a folder that is away, and work that waits."""
    for name in ("station-handbook.md", "procedures/daily-round.md", "reports/annual-review-2024.pdf"):
        stages.write(f"library/{name}", (LIBRARY / name).read_bytes())
    stages.write("library/hebrew.md", HEBREW)
    stages.write("library/arabic.md", ARABIC)
    stages.write("library/buoy.md", f"---\ntags: ['{HOSTILE}']\n---\n# A {HOSTILE} buoy\n\nMarmalade {HOSTILE}")
    stages.write("library/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.write("away/a.md", "# Away\n\nA folder that goes away.")
    stages.collection = "tide-station"
    stages.configure(CONFIGURATION)
    stages.run()
    for query in ('"quantum chromodynamics"', HOSTILE):
        stages.knowledge.search(query)
    stages.knowledge.judge(f"{HOSTILE} gauge", stages.uri("library/arabic.md"), 0)
    stages.knowledge.release()  # writes the log
    with stages.connection() as connection:
        running = ask_for_work(connection, "tide-station", {"documents": ["file:///b.md"]}, asked_by=HOSTILE)
        claim_work(connection, worker="host:4711")
        record_progress(connection, running.id, "embeddings", 1_312, 5_200, 3)
        for number in range(300):
            ask_for_work(connection, "tide-station", {"documents": [f"file:///{number}.md"]}, asked_by="key website")
        connection.execute(
            "UPDATE source SET next_crawl_at = now() + interval '2 hours' WHERE location LIKE '%%library'"
        )
        connection.execute("UPDATE source SET listing_error = %s WHERE location LIKE '%%away'", [f"no {HOSTILE}"])
    return stages


def faults(page: Page, name: str) -> list[tuple[str, str, str]]:
    """Return what axe finds, where a window is too narrow, and where the navigation takes a second line."""
    found = [(name, each["id"], each["nodes"][0]["html"]) for each in Axe().run(page).response["violations"]]
    for width in (640, 390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append((name, "too wide", str(width)))
        tops = page.evaluate("[...document.querySelectorAll('nav[aria-label=Pages] a')].map((each) => each.offsetTop)")
        if len(set(tops)) != 1:
            found.append((name, "navigation in several lines", str(width)))
    page.set_viewport_size({"width": 1280, "height": 860})
    return found


@pytest.mark.parametrize("theme", THEMES)
def test_home_shows_what_needs_somebody_and_what_runs(
    base: Stages, tabs: Tabs, theme: Literal["light", "dark"]
) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, theme) as page:
        page.goto("/home")
        assert faults(page, "home") == []
        needs = page.get_by_role("region", name="What needs somebody")
        expect(needs).to_contain_text('"quantum chromodynamics"')
        expect(needs).to_contain_text("lost.pdf")
        waiting = page.locator("#running li", has_text="waiting")
        expect(waiting).to_have_count(1)
        expect(waiting).to_contain_text("300 requests")
        expect(page.locator("#running li", has_text="embedding passages, 1,312 of 5,200")).to_have_count(1)
        with base.connection() as connection:
            record_progress(
                connection, base.knowledge.work_requests(states=["running"])[0].id, "embeddings", 5_000, 5_200, 3
            )
        expect(page.locator("#running")).to_contain_text("5,000 of 5,200")  # it looks again by itself
        page.get_by_role("button", name=re.compile("Try again *: damaged")).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".standing")).to_contain_text("waiting")
        page.goto("/work")
        assert faults(page, "work") == []
        expect(page.locator(".requests li")).to_have_count(3)
        page.goto("/usage/calls")
        assert faults(page, "log of language models") == []


@pytest.mark.parametrize("theme", THEMES)
def test_results_are_read_beside_the_list_and_judged_by_keyboard(
    base: Stages, tabs: Tabs, theme: Literal["light", "dark"]
) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, theme) as page:
        page.goto("/?q=gauge+plate&all=1")
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert faults(page, "results") == []
        page.keyboard.press("j")
        page.keyboard.press("p")
        beside = page.locator("#beside")
        expect(beside).to_be_focused()
        first = page.locator(".result h2 a").first.text_content() or ""
        expect(beside.get_by_role("link").first).to_have_text(first)
        assert faults(page, "preview") == []
        page.keyboard.press("Escape")
        expect(beside).to_be_hidden()
        yes = page.locator(".result").first.get_by_role("button", name="Answers it")
        yes.focus()
        page.keyboard.press("Enter")
        expect(yes).to_have_attribute("aria-pressed", "true")
        (judged,) = [each for each in base.knowledge.judgments() if each.grade > 0]
        assert judged.query == "gauge plate"
        page.keyboard.press("Enter")
        expect(yes).to_have_attribute("aria-pressed", "false")
        assert [each for each in base.knowledge.judgments() if each.grade > 0] == []


def test_a_browser_remembers_its_searches_until_they_are_forgotten(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        for query in ("gauge plate", HOSTILE):
            page.goto("/")
            page.get_by_role("searchbox").fill(query)
            page.keyboard.press("Enter")
            expect(page.locator(".hits")).to_be_visible()
        page.goto("/")
        recent = page.locator("#recent")
        expect(recent.get_by_role("link")).to_have_text([HOSTILE, "gauge plate"])
        assert faults(page, "recent searches") == []
        page.get_by_role("searchbox").press_sequentially("buo")
        expect(page.get_by_role("navigation", name="Documents with this title")).to_contain_text("buoy")
        assert faults(page, "suggestions") == []
        page.get_by_role("searchbox").fill("")
        recent.get_by_role("button", name="Forget them").click()
        expect(recent).to_be_hidden()
        page.reload()
        expect(recent).to_be_hidden()


def test_texts_from_right_to_left_stand_on_their_side_and_times_are_local(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        context = tabs.browser.new_context(timezone_id="Asia/Tokyo", base_url=f"http://127.0.0.1:{client.port}")
        page = context.new_page()
        for name, word in (("hebrew", "המצברים"), ("arabic", "بطاريات")):
            page.goto(f"/?q={word}&all=1")
            result = page.locator(".result", has_text=word).first
            for part in ("h2", ".snippet"):
                assert result.locator(part).first.evaluate("(each) => getComputedStyle(each).direction") == "rtl", part
            (item,) = base.knowledge.documents(text=f"{name}.md")
            page.goto(f"/documents/{item.document_id}")
            assert page.locator("h1").evaluate("(each) => getComputedStyle(each).direction") == "rtl"
            paragraph = page.locator(".text p").first
            starts = paragraph.evaluate(
                "(each) => { const range = document.createRange(); range.selectNodeContents(each);"
                " const drawn = range.getBoundingClientRect(), whole = each.getBoundingClientRect();"
                " return Math.abs(whole.right - drawn.right) < 2; }"
            )
            assert starts, name
        came = page.locator("#about time").first
        utc = datetime.strptime(came.get_attribute("title") or "", "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
        assert came.text_content() == f"{utc + timedelta(hours=9):%Y-%m-%d %H:%M}"
        context.close()


def test_without_scripts_a_form_judges_and_times_are_those_of_utc(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto("/?q=gauge+plate&all=1")
        page.get_by_role("button", name="Does not").first.click()
        expect(page.get_by_role("button", name="Does not").first).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".where time").first).to_contain_text("UTC")
        expect(page.locator("#recent")).to_be_hidden()
        page.goto("/home")
        expect(page.get_by_role("region", name="What needs somebody")).to_contain_text("gauge plate")
