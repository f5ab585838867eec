"""The page in German and Chinese in a real Chromium: narrow windows, axe, texts of scripts, the choice without scripts.

`TEST_SCREENSHOTS=FOLDER` takes a picture of each page at 390 pixels.
"""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.page_tab import Tabs
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

LIBRARY = CHECKOUT / "examples" / "library"
LISTS = ("/documents", "/collections", "/work", "/usage", "/keys")
PATHS = (
    "/",
    "/?q=gauge&all=1",
    "/ask",
    "/home",
    "/new-collection",
    "/collections/letters/upload",
    "/documents/1",
    *LISTS,
)
CLIPPED = """() => [...document.querySelectorAll("main :is(.card, .wide, table, dl, form)")]
    .filter((each) => each.offsetParent && each.scrollWidth > each.clientWidth + 1 && !each.closest(".text"))
    .map((each) => `${each.tagName} ${each.className}: ${each.scrollWidth} in ${each.clientWidth}`)"""
SAID = {
    "de": (
        "die PDF-Datei ist beschädigt oder abgeschnitten",
        "die Sammlung letters hat noch nichts Durchsuchbares",
        "erlaubt: eine Zeitspanne wie 30m, 12h, 1d oder 1w",
    ),
    "zh": ("PDF 已损坏或被截断", "文档集 letters 还没有可搜索的内容", "允许：时长，例如 30m、12h、1d 或 1w"),
}
"""What pages say of a file, a search and a setting, in sentences from below them."""
TICKED = {"de": "1 ausgewählt", "zh": "已勾选 1 个"}


@pytest.fixture
def base(stages: Stages) -> Stages:
    for name in ("station-handbook.md", "procedures/daily-round.md"):
        stages.write(f"library/{name}", (LIBRARY / name).read_bytes())
    stages.write("library/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.collection = "tide-station"
    stages.configure("collections:\n  tide-station:\n    files: [{root: ./docs/library}]\n")
    stages.run()
    stages.knowledge.create_collection("letters", {})
    return stages


@pytest.mark.parametrize("language", ["de", "zh"])
def test_the_page_fits_a_narrow_window_in_another_language(base: Stages, tabs: Tabs, language: str) -> None:
    shots = os.environ.get("TEST_SCREENSHOTS")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, width=390, refused=400) as page:
        page.set_extra_http_headers({"Accept-Language": language})
        for path in PATHS:
            page.goto(path)
            expect(page.locator("html")).to_have_attribute("lang", language)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            assert page.evaluate(CLIPPED) == [], path
            tops = page.evaluate("[...document.querySelectorAll('.top nav a')].map((each) => each.offsetTop)")
            assert len(set(tops)) == 1, path
            if path in PATHS[:4]:
                assert [each["id"] for each in Axe().run(page).response["violations"]] == [], path
            if shots:
                name = path.strip("/").replace("/", "-").partition("?")[0] or ("results" if "?" in path else "search")
                page.screenshot(path=Path(shots) / f"{language}-{name}.png", full_page=True)
        lost, nothing, wrong = SAID[language]
        page.goto("/home")
        expect(page.locator(".needs")).to_contain_text(lost)
        page.goto("/?q=gauge&all=1")
        expect(page.locator(".notice").filter(has_text=nothing)).to_be_visible()
        page.goto("/collections/letters/settings")
        page.evaluate("document.querySelectorAll('main details').forEach((each) => (each.open = true))")
        page.locator("[name='sites.0.url']").fill("https://docs.example.com/")
        page.locator("[name='sites.0.refresh']").fill("soon")
        page.locator("button[value=save]").click()
        expect(page.locator("#wrong-sites-0-refresh")).to_contain_text(wrong)
        page.goto("/documents")
        page.locator("input[name=item]").first.check()
        expect(page.locator(".bar [role=status]")).to_have_text(TICKED[language])


def test_a_language_is_chosen_without_scripts(base: Stages, tabs: Tabs) -> None:
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto("/home")
        page.get_by_role("button", name="Français").click()
        expect(page).to_have_url(f"http://127.0.0.1:{client.port}/home")
        expect(page.get_by_role("heading", name="Ce qu’il y a")).to_be_visible()
        page.goto("/work")
        expect(page.locator("html")).to_have_attribute("lang", "fr")
