"""What changes something on the page, in a real Chromium: files dropped and picked, tags, pages with marks."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.page_tab import Tabs
from tests.checkout import EXAMPLES
from tests.integration.http_server import serving
from tests.integration.stages import Stages

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
HOSTILE = "<img src=x onerror=alert(1)>.md"
LARGE = 24 << 20
"""Bytes of a file whose progress can be seen."""


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("report.pdf", REPORT)
    stages.configure("collections:\n  handbook: {files: [{root: ./docs}]}\n")
    stages.collection = "handbook"
    stages.run()
    return stages


def drop(page: Page, name: str, text: str, place: str = ".drop") -> None:
    """Drop a file on the form or elsewhere, as a person with a mouse does."""
    dropped = page.evaluate_handle(
        "([name, text]) => { const held = new DataTransfer(); held.items.add(new File([text], name)); return held; }",
        [name, text],
    )
    for kind in ("dragenter", "dragover", "drop"):
        page.locator(place).dispatch_event(kind, {"dataTransfer": dropped})


def test_two_hundred_files_and_a_folder_are_renamed_left_out_and_added_by_keyboard(
    base: Stages, tabs: Tabs, tmp_path: Path
) -> None:
    folder = tmp_path / "minutes"
    for number in range(199):
        place = folder / f"{2000 + number % 20}" / f"{number:03}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# Minutes {number}\n\nMarmalade {number}.")
    (folder / ".DS_Store").write_bytes(b"x")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        page.goto("/documents?collection=handbook")
        drop(page, "dropped.md", "# Dropped", "body")
        page.get_by_label("A folder with all that is in it").set_input_files(str(folder))
        expect(page.get_by_role("alert")).to_have_text("1 hidden file is left out, such as minutes/.DS_Store.")
        expect(page.locator(".chosen li")).to_have_count(200)
        page.get_by_role("button", name="Rename dropped.md").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(f"letters/{HOSTILE}")
        page.keyboard.press("Enter")
        expect(page.locator(".chosen")).to_contain_text(f"letters/{HOSTILE}, 9 bytes")
        page.get_by_role("button", name="Leave out minutes/2000/000.md").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Add", exact=True)).to_be_focused()
        page.get_by_label("Tags").fill("mine, of winter")
        page.keyboard.press("Enter")
        expect(page.locator(".standing")).to_contain_text("waiting")
        expect(page.locator(".outcomes li")).to_have_count(199)
        expect(page.locator(".outcomes")).to_contain_text(HOSTILE)
        kept = base.knowledge.uploads(limit=1_000)
        assert {each.tags for each in kept} == {("mine", "of winter")}
        assert {f"letters/{HOSTILE}", "minutes/2001/001.md"} < {each.name for each in kept}
        assert len(kept) == 199


def throttle(page: Page, bytes_a_second: int) -> None:
    """Limit how fast the tab sends; not at all with -1."""
    conditions = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_a_second}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", conditions)


def test_files_are_dropped_and_picked_with_their_progress(base: Stages, tabs: Tabs, tmp_path: Path) -> None:
    large = tmp_path / "large.md"
    large.write_bytes(b"# Large\n\n" + b"Marmalade. " * (LARGE // 11))
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, refused=422) as page:
        page.goto("/collections/handbook/upload")
        drop(page, HOSTILE, "# Dropped")
        expect(page.locator(".chosen")).to_contain_text(f"{HOSTILE}, 9 bytes")
        page.get_by_label("Tag").fill("mine")
        page.get_by_role("button", name="Add").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".standing")).to_contain_text("waiting")
        (dropped,) = base.knowledge.uploads()
        assert (dropped.name, dropped.tags) == (HOSTILE, ("mine",))

        page.goto("/collections/handbook/upload")
        throttle(page, 4 << 20)
        page.locator("#files").set_input_files([str(large)])
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("button", name="Add")).to_be_disabled()
        expect(page.locator(".sending")).to_contain_text(re.compile(r"[1-9]\d? % sent"))
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("Cancelled. Nothing was added.")
        assert len(base.knowledge.uploads()) == 1
        throttle(page, -1)
        page.get_by_role("button", name="Add").click()
        expect(page.locator(".standing")).to_contain_text("waiting")
        assert {each.name for each in base.knowledge.uploads()} == {dropped.name, "large.md"}

        page.goto("/collections/handbook/upload")
        page.locator("#files").set_input_files(FilePayload(name="empty.md", mimeType="text/plain", buffer=b""))
        with page.expect_response(lambda answer: answer.status == 422):
            page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing was added: file 1 has no bytes.")
        sent = ((HOSTILE, b""), ("some.md", b"# Some"))
        page.locator("#files").set_input_files(
            [FilePayload(name=name, mimeType="text/plain", buffer=content) for name, content in sent]
        )
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert")).to_have_text(f"1 added; not added: {HOSTILE}: has no bytes.")
        page.get_by_role("link", name="1 added").click()
        expect(page.locator(".standing")).to_contain_text("waiting")


def test_a_document_is_tagged_removed_and_opened_at_its_page_without_scripts(base: Stages, tabs: Tabs) -> None:
    (item,) = base.knowledge.documents(text="report")
    passage = next(each for each in base.knowledge.show(item.document_id or 0).passages if each.page == 2)
    path = f"/documents/{item.document_id}"
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client, scripts=False) as page:
        page.goto(path)
        page.get_by_label("A tag to give").fill("winter")
        page.keyboard.press("Enter")
        expect(page.locator(".given")).to_contain_text("winter")
        page.get_by_role("button", name="Take back the tag winter").press("Enter")
        expect(page.locator(".given")).to_have_count(0)
        page.get_by_role("button", name="Remove", exact=True).click()
        page.get_by_role("button", name="Restore").click()
        expect(page.locator(".standing")).to_contain_text("waiting")
        base.run()
        page.goto("/collections/handbook/upload")
        page.locator("#files").set_input_files(FilePayload(name="a.md", mimeType="text/plain", buffer=b"# A"))
        page.get_by_role("button", name="Add").click()
        expect(page.locator(".standing")).to_contain_text("waiting")
    with serving(base.knowledge, requires_key=False) as client, tabs.open(client) as page:
        page.goto(f"{path}?view=passages")
        page.locator(f"#passage-{passage.ordinal}").get_by_role("link", name="on the page").click()
        picture, marks = page.locator(".sheet img"), page.locator(".marks rect")
        expect(marks.first).to_be_attached()
        assert picture.evaluate("each => each.complete || each.decode().then(() => true)")
        assert picture.evaluate("each => each.naturalWidth") > 500
        outer, inner = picture.bounding_box(), marks.first.bounding_box()
        assert outer is not None
        assert inner is not None
        assert outer["x"] <= inner["x"] < inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert outer["y"] <= inner["y"] < inner["y"] + inner["height"] <= outer["y"] + outer["height"]
        assert inner["height"] < outer["height"] / 20  # a line of text
