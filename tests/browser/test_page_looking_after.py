"""Looking after a base in a real Chromium: by keyboard, with and without scripts, found accessible by axe.

`TEST_SCREENSHOTS=docs/images` has it take the pictures of docs/page.md again (CONTRIBUTING.md).
"""

import io
import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.page_tab import Tabs
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

PICTURES = os.environ.get("TEST_SCREENSHOTS")
HOSTILE = "<img src=x onerror=alert(1)>"
MANY = 10_000
ROWS = """
    WITH source AS (SELECT id FROM source WHERE collection = 'handbook'), made AS (
        INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash,
                              config_hash, content_hash, version)
        SELECT 'handbook', source.id, 'file:///many/' || lpad(n::text, 6, '0'), 'file', 'text/markdown', '{bulk}',
               'Bulk ' || n, 'en', sha256('a'), 'x', sha256('a'), 1
        FROM source, generate_series(1, 10000) n RETURNING source_id, uri), listed AS (
        INSERT INTO raw_file (source_id, uri, size, modified, sha256, media_type)
        SELECT source_id, uri, 1, '1', sha256('a'), 'text/markdown' FROM made)
    SELECT count(*) FROM made"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    """A handbook, and folders that may become collections."""
    for name, text in (
        ("power", "The batteries of the tide gauge last fourteen months."),
        ("visiting", "Visitors come on Tuesdays, with a guide of the harbour office."),
        ("winter", "In winter the stairs of the station are salted before seven."),
    ):
        stages.write(f"handbook/{name}.md", f"# {name.title()}\n\n{text}")
    stages.write("notes/a.md", f"# A {HOSTILE} buoy\n\nMarmalade.")
    stages.collection = "handbook"
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook, tags: [station]}]}\n")
    stages.run()
    stages.knowledge.is_owners = True
    return stages


def names(base: Stages, text: str = "station") -> set[str]:
    return {hit.uri.rpartition("/")[2] for hit in base.knowledge.search(text, "handbook", min_relevance=0)}


def press(page: Page, name: str) -> None:
    """Press a button by the keyboard."""
    page.get_by_role("button", name=name, exact=True).first.focus()
    page.keyboard.press("Enter")


def test_ten_thousand_documents_are_walked_ticked_removed_and_restored_by_keyboard(base: Stages, tabs: Tabs) -> None:
    base.rows(ROWS)
    with base.connection() as connection:
        connection.execute("ANALYZE document")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        page.goto("/documents?sort=title&tag=bulk")
        expect(page.locator(".count")).to_have_text("10,000 documents, 50 on this page")
        page.get_by_role("link", name="Next").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="First page")).to_be_visible()
        page.goto("/documents?text=station&sort=title")
        expect(page.locator(".count")).to_have_count(0)  # none is called so
        page.goto("/documents?tag=station&sort=title")
        page.keyboard.press("j")
        page.keyboard.press("x")
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(page.locator(".bar [role=status]")).to_have_text("2 ticked")
        press(page, "Remove the ticked ones")
        expect(page.locator(".notice[role=status]")).to_contain_text("2 documents removed.")
        assert names(base) == {"winter.md"}
        press(page, "Undo")
        expect(page.locator(".notice[role=status]")).to_contain_text("2 documents restored.")
        page.goto("/documents?tag=bulk")
        press(page, "Tick all on this page")
        expect(page.locator(".bar [role=status]")).to_have_text("50 ticked")
        page.get_by_label("A tag for the ticked ones").focus()
        page.keyboard.type(HOSTILE)
        page.keyboard.press("Enter")
        expect(page.locator(".notice[role=status]")).to_contain_text("50 documents given the tag.")
        assert base.knowledge.count_documents(tags=[HOSTILE]) == 50
        press(page, "Remove all…")
        expect(page.get_by_role("heading", level=1)).to_have_text("Remove 10,000 documents?")
        assert Axe().run(page).response["violations"] == []
        press(page, "Remove 10,000 documents")
        expect(page.locator(".notice[role=status]")).to_contain_text("10,000 documents removed.")
        assert base.knowledge.count_documents(tags=["bulk"]) == 0
        press(page, "Undo")
        expect(page.locator(".notice[role=status]")).to_contain_text("10,000 documents restored.")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_document_is_hidden_and_a_collection_made_with_a_preview(base: Stages, tabs: Tabs, scripts: bool) -> None:
    (item,) = base.knowledge.documents(text="power")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=scripts, refused=400) as page:
        page.goto(f"/documents/{item.document_id}")
        page.get_by_text("Hide or boost it").focus()
        page.keyboard.press("Enter")
        page.get_by_label("In searches").select_option("Hide it")
        page.get_by_label("Reason").fill(f"withdrawn {HOSTILE}")
        page.keyboard.press("Enter")
        expect(page.locator(".about")).to_contain_text("By local caller")
        expect(page.locator(".about")).to_contain_text(f"withdrawn {HOSTILE}")
        assert "power.md" not in names(base, "batteries")
        page.goto("/documents?state=hidden+or+boosted")
        expect(page.locator(".documents li")).to_have_count(1)
        page.locator("a.title").press("Enter")
        press(page, "Show it in searches again")
        expect(page.locator(".about")).not_to_contain_text("withdrawn")
        assert "power.md" in names(base, "batteries")

        page.goto("/new-collection")
        page.get_by_label("Name").fill("notes")
        folder = page.get_by_label("Folder", exact=True).first
        folder.fill("notes")
        press(page, "Show what would change")
        expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
        folder = page.get_by_label("Folder", exact=True).first
        expect(folder).to_have_attribute("aria-invalid", "true")
        folder.fill(str(base.root / "notes"))
        press(page, "Show what would change")
        preview = page.locator(".preview")
        expect(preview).to_contain_text(re.compile(r"1\s*new|new\s*1"))
        press(page, "Make the collection")
        expect(page.locator(".standing")).to_contain_text("waiting")
        assert [each.name for each in base.knowledge.collections()] == ["handbook", "notes"]


def test_the_pages_of_looking_after_are_accessible_in_both_themes_and_fit_a_narrow_window(
    base: Stages, tabs: Tabs
) -> None:
    knowledge = base.knowledge
    one, two, three = (item.document_id or 0 for item in knowledge.documents("handbook"))
    knowledge.curate_document(one, boost=0, reason="withdrawn in May", actor="key anna")
    knowledge.curate_document(two, boost=2, reason="the one to read first", actor="key anna")
    knowledge.remove_document(three)
    site = {"url": "https://docs.example.com/", "tags": ["docs"], "max_pages": 200}
    knowledge.create_collection("website", {"sites": [site], "description": "Pages", "retention": {"removed": "30d"}})
    pages = {
        "documents": "/documents",
        "removed": f"/documents?done=remove&id={three}&state=removed",
        "curated": f"/documents/{one}",
        "upload": "/collections/website/upload",
        "new": "/new-collection?kind=site",
        "settings": "/collections/website/settings",
        "yaml": "/collections/handbook/settings",
        "compare": "/collections/handbook/compare",
        "collections": "/collections",
    }
    shots = Path(os.environ["LOOK"]) if "LOOK" in os.environ else None
    with serving(knowledge, requires_key=False) as client:
        for theme in ("light", "dark"):
            with tabs.open(client, theme, refused=400) as page:
                for name, path in {**pages, "wrong": "/new-collection"}.items():
                    page.set_viewport_size({"width": 1280, "height": 860})
                    page.goto(path)
                    if name == "wrong":
                        page.get_by_label("Name").fill("new")
                        page.get_by_label("Address").first.fill("ftp")
                        page.get_by_label("Tokens of a passage").fill("3")
                        press(page, "Show what would change")
                        expect(page.get_by_role("alert")).to_be_visible()
                    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                    violations = Axe().run(page).response["violations"]
                    assert [(name, each["id"], each["nodes"][0]["html"]) for each in violations] == []
                    for width in (1280, 640, 390, 320):
                        page.set_viewport_size({"width": width, "height": 860})
                        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
                        if shots and width in {1280, 390}:
                            page.screenshot(path=shots / f"{name}-{width}-{theme}.png", full_page=True)
    if PICTURES is not None:
        with serving(knowledge, requires_key=False) as client, tabs.open(client) as page:
            page.goto("/collections/website/settings")
            shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
            shot.quantize(96).save(CHECKOUT / PICTURES / "page-settings.png", optimize=True)
