"""The page in a real Chromium: accessibility in both themes, narrow windows, the keyboard, search as you type.

`TEST_SCREENSHOTS=docs/images` has it take the pictures of docs/page.md again (CONTRIBUTING.md).
"""

import io
import os
import re
import time
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Route, expect

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.work_requests import claim_work, end_work, record_progress
from tests.browser.page_tab import Tabs
from tests.checkout import CHECKOUT
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages

LIBRARY = CHECKOUT / "examples" / "library"
FILES = (
    "station-handbook.md",
    "visiting.html",
    "procedures/daily-round.md",
    "procedures/winterdienst.md",
    "reference/harmonic-constants.csv",
    "reports/annual-review-2024.pdf",
)
QUERY = "When must the gauge be read?"
HOSTILE = "# A <img src=x onerror=alert(1)> buoy\n\nMarmalade <script>alert(1)</script> <svg onload=alert(1)></svg>"
PICTURES = os.environ.get("TEST_SCREENSHOTS")


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Some of the example library, a page that would act, and a file that cannot be read."""
    for name in FILES:
        stages.write(f"library/{name}", (LIBRARY / name).read_bytes())
    stages.write("library/buoy.md", HOSTILE)
    stages.write("library/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.collection = "tide-station"
    stages.configure("collections:\n  tide-station: {files: [{root: ./docs/library, tags: [example]}]}\n")
    stages.run()
    return stages


def test_every_page_is_accessible_in_both_themes_and_fits_a_narrow_window(base: Stages, tabs: Tabs) -> None:
    found = base.knowledge.search(QUERY, limit=1)[0]
    work = base.knowledge.request_work("tide-station", actor="anna")
    with base.connection() as connection:
        key = create_key(connection, "administrator", ("admin",), actor="test")[1]
        claim_work(connection, worker="host:4711", run_id="0b6f2c1a")
        record_progress(connection, work.id, "embeddings", 1_312, 5_200, 3)
    (report,) = base.knowledge.documents(text="annual-review")
    marked = next(each for each in base.knowledge.show(report.document_id or 0).passages if each.page == 2)
    (removed,) = base.knowledge.documents(text="harmonic")
    base.knowledge.change_document(report.document_id or 0, tags=["winter"], metadata={"owner": "Pilot"})
    base.knowledge.remove_document(removed.document_id or 0)
    base.knowledge.create_collection("notes", {"sites": [{"url": "https://docs.example.com/"}]})
    base.knowledge.request_work("tide-station", documents=["file:///a.md"], only_failed=True, actor="key website")
    pages = {
        "home": "/",
        "search": f"/?q={QUERY.replace(' ', '+')}&tag=example&explain=1&all=1",
        "nothing": "/?q=quantum+chromodynamics",
        "document": f"/documents/{found.document_id}?passage={found.ordinal}#passage-{found.ordinal}",
        "passages": f"/documents/{found.document_id}?view=passages",
        "report": f"/documents/{report.document_id}?view=passages",
        "page": f"/documents/{report.document_id}/pages/{marked.page}?passage={marked.ordinal}",
        "removed": f"/documents/{removed.document_id}",
        "upload": "/collections/notes/upload",
        "upload to": "/upload",
        "own collection": "/collections/notes",
        "hostile": f"/documents/{base.knowledge.documents(text='buoy')[0].document_id}",
        "documents": "/documents",
        "failed": "/documents?state=failed",
        "collections": "/collections",
        "collection": "/collections/tide-station",
        "all work": "/work",
        "work": f"/work/{work.id}",
        "usage": "/usage",
        "log of language models": "/usage/calls",
        "what is there": "/home",
        "keys": "/keys",
        "sign-in": "/sign-in",
    }
    with serving(base.knowledge, requires_key=True) as client:
        for theme in ("light", "dark"):
            with tabs.open(client, theme) as page:
                page.goto("/sign-in")
                page.get_by_label("Key").fill(key)
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("button", name="Sign out")).to_be_visible()
                for name, path in pages.items():
                    page.set_viewport_size({"width": 1280, "height": 860})
                    page.goto(path)
                    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                    violations = Axe().run(page).response["violations"]
                    assert [(name, each["id"], each["nodes"][0]["html"]) for each in violations] == []
                    for width in (640, 320):  # a window of 1,280 pixels at a zoom of 200 %, and a narrow one
                        page.set_viewport_size({"width": width, "height": 700})
                        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        error = client.get("/nothing", Accept="text/html")
        assert error.status == 404


def test_the_keyboard_alone_searches_and_opens_a_result(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        page.goto("/documents")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.className") == "title"
        page.goto("/")
        field = page.get_by_role("searchbox")
        expect(field).to_be_focused()
        page.keyboard.type("gauge plate", delay=20)
        results = page.locator(".result h2 a")
        expect(results.first).to_be_visible()
        expect(page).to_have_url(f"http://127.0.0.1:{client.port}/?q=gauge+plate")
        page.keyboard.press("ArrowDown")
        expect(results.first).to_be_focused()
        page.keyboard.press("j")
        expect(results.nth(1)).to_be_focused()
        page.keyboard.press("k")
        expect(results.first).to_be_focused()
        page.keyboard.press("/")
        expect(field).to_be_focused()
        page.keyboard.type("marmalade", delay=20)
        expect(page).to_have_url(f"http://127.0.0.1:{client.port}/?q=marmalade")
        expect(page.locator(".snippet").first).to_contain_text("Marmalade")
        page.get_by_text("Cite").first.click()
        page.get_by_role("button", name="Copy").first.click()
        copy = page.locator(".result").first.locator("[data-copy]").first
        expect(copy).to_have_text(re.compile("Copied|Selected"))
        page.keyboard.press("Escape")
        results.first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".passage.found")).to_contain_text("Marmalade")
        page.go_back()
        expect(field).to_have_value("marmalade")
        expect(page.locator(".snippet").first).to_contain_text("Marmalade")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto("/")
        page.get_by_role("searchbox").fill("marmalade")
        page.keyboard.press("Enter")
        page.locator(".result h2 a").first.click()
        expect(page.locator(".passage.found")).to_contain_text("Marmalade")


def test_work_is_asked_for_followed_live_and_cancelled_by_keyboard(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        page.route("**/hx-sse.min.js*", _come_late)
        page.goto("/documents?state=failed")
        page.get_by_role("checkbox").first.focus()
        page.keyboard.press("Space")
        page.get_by_role("button", name="Retry the ticked ones").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".standing")).to_contain_text("waiting")
        (work,) = base.knowledge.work_requests()
        assert [uri.rpartition("/")[2] for uri in work.arguments["documents"]] == ["lost.pdf"]
        cancel = page.get_by_role("button", name="Cancel")
        cancel.focus()
        with base.connection() as connection:
            claim_work(connection, worker="host:7")
            record_progress(connection, work.id, "documents", 1, 4, 0)
            expect(page.locator(".standing")).to_contain_text("reading documents, 1 of 4")
            expect(page.get_by_role("progressbar")).to_have_attribute("value", "1")
            connection.execute("ALTER TABLE work_request RENAME TO work_away")
            page.wait_for_timeout(1_500)  # the server asks for the row again, and what is shown stays
            expect(page.locator(".standing")).to_contain_text("reading documents, 1 of 4")
            connection.execute("ALTER TABLE work_away RENAME TO work_request")
            record_progress(connection, work.id, "documents", 3, 4, 1)
            expect(page.locator(".standing")).to_contain_text("3 of 4, 1 failed")
            expect(cancel).to_be_focused()  # what changes leaves the keyboard where it is
            page.keyboard.press("Enter")
            expect(page.locator(".standing")).to_contain_text("stopping")
            end_work(connection, work.id, "cancelled")
        expect(page.locator(".standing")).to_contain_text("cancelled")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(2_500)
        assert asked == []  # it has ended: nothing asks any more
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto("/collections")
        page.get_by_role("button", name="Bring up to date").click()
        expect(page.locator(".standing")).to_contain_text("waiting")
        with base.connection() as connection:
            claim_work(connection, worker="host:7")
        page.get_by_role("link", name="Look again").click()
        expect(page.locator(".standing")).to_contain_text("running")
        page.goto("/keys")
        page.get_by_label("Name").fill("website")
        page.get_by_role("button", name="Make the key").click()
        expect(page.locator(".secret")).to_contain_text("sb_")
    if PICTURES is not None:
        _take_pictures(base, tabs)


def _come_late(route: Route) -> None:
    """Let a script come after those that are before it in the page have run."""
    time.sleep(0.5)  # the delay is what is tested
    route.continue_()


def _take_pictures(base: Stages, tabs: Tabs) -> None:
    found = base.knowledge.search(QUERY, limit=1)[0]
    running = base.knowledge.request_work("tide-station", actor="key website")
    with base.connection() as connection:
        claim_work(connection, worker="host:4711", run_id="0b6f2c1a")
        record_progress(connection, running.id, "embeddings", 1_312, 5_200, 3)
    with serving(base.knowledge, requires_key=False, dagster_url="http://127.0.0.1:3000") as client:
        _take_picture(tabs, client, "light", f"/?q={QUERY.replace(' ', '+')}", "page-search")
        passage = f"passage={found.ordinal}#passage-{found.ordinal}"
        _take_picture(tabs, client, "dark", f"/documents/{found.document_id}?{passage}", "page-document")
        _take_picture(tabs, client, "light", "/work", "page-work")
        _take_picture(tabs, client, "light", "/home", "page-home")
        (report,) = base.knowledge.documents(text="annual-review")
        marked = next(each for each in base.knowledge.show(report.document_id or 0).passages if each.page == 2)
        _take_picture(tabs, client, "dark", "/collections/tide-station/upload", "page-upload")
        path = f"/documents/{report.document_id}/pages/2?passage={marked.ordinal}"
        _take_picture(tabs, client, "light", path, "page-of-a-pdf")


def _take_picture(tabs: Tabs, client: Client, theme: Literal["light", "dark"], path: str, name: str) -> None:
    """Take a picture for the documentation, in few colours so that it stays small."""
    assert PICTURES is not None
    with tabs.open(client, theme) as page:
        page.goto(path)
        shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
        shot.quantize(96).save(CHECKOUT / PICTURES / f"{name}.png", optimize=True)
