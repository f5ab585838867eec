"""Pictures of every page at 1280 and 390 pixels, light and dark: `page-NAME-WIDTH-THEME.png`.

    TEST_SCREENSHOTS=docs/images .venv/bin/python -m pytest tests/browser/test_page_pictures.py

takes them; without the variable nothing is done.
"""

import io
import os
from datetime import date, timedelta
from pathlib import Path
from typing import Final, Literal

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.work_requests import claim_work, record_progress
from tests.browser.page_tab import Tabs
from tests.browser.test_page_ask import LIBRARY, QUESTION, reading
from tests.chat_server import ChatServer
from tests.checkout import CHECKOUT
from tests.integration.http_server import serving
from tests.integration.stages import Stages

PICTURES = os.environ.get("TEST_SCREENSHOTS")
COLOURS: Final = 48
WIDTHS: Final = (1280, 390)
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
USAGE: Final = """
    INSERT INTO usage (day, collection, provider, model, operation, texts, cached, tokens, seconds)
    VALUES (%(day)s, 'tide-station', 'openai', 'text-embedding-3-small', 'embed_passages', %(texts)s, 0,
            %(texts)s * 240, 1)"""
LETTERS: Final = """
    INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                          content_hash, version, created_at, updated_at)
    SELECT collection, id, 'file:///srv/letters/' || lpad(n::text, 4, '0') || '.md', 'file', 'text/markdown',
           '{letter}', 'Letter ' || n, 'en', sha256('a'), 'x', sha256('a'), 1,
           now() - (n * n / 640) * interval '1 day', now() - (n * n / 640) * interval '1 day'
    FROM source, generate_series(2, 240) n WHERE collection = 'letters'"""
RENAME: Final = """(root) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(root, "/srv/station");
}"""
HEBREW = "# מצברים של תחנת הגאות\n\nהמצברים של התחנה מחזיקים ארבעה עשר חודשים, ובחורף פחות.\n"
ARABIC = "# بطاريات محطة المد\n\nتدوم بطاريات المحطة أربعة عشر شهرًا، وأقل من ذلك في الشتاء.\n"

pytestmark = pytest.mark.skipif(PICTURES is None, reason="TEST_SCREENSHOTS names no folder for pictures")


@pytest.fixture
def base(stages: Stages) -> Stages:
    """The example library, texts from right to left, a file that cannot be read, and what months leave behind."""
    for path in sorted(each for each in LIBRARY.rglob("*") if each.suffix in {".md", ".html", ".pdf"}):
        stages.write(f"library/{path.relative_to(LIBRARY)}", path.read_bytes())
    stages.write("library/hebrew.md", HEBREW)
    stages.write("library/arabic.md", ARABIC)
    stages.write("library/reports/lost.pdf", b"%PDF-1.7\nthe rest was lost\n")
    stages.write("letters/0000.md", "# Letter 1\n\nTo the harbour master, about the first berth.")
    stages.collection = "tide-station"
    return stages


def configure(stages: Stages, chat: ChatServer, tokens: int = 256) -> None:
    model = f"{{base_url: '{chat.url}', model: reader, timeout: 20s, sessions: 7d, log: true}}"
    stages.configure(
        "collections:\n  tide-station:\n    description: Handbook, reports and procedures of the tide station\n"
        "    files: [{root: ./docs/library, tags: [station]}]\n    retention: {queries: 30d}\n"
        f"    answering: {model}\n    chunking: {{tokens: {tokens}}}\n    generations: {{activate: manual}}\n"
        "  letters: {files: [{root: ./docs/letters, tags: [letter]}]}\n"
    )
    stages.run_all("tide-station", "letters")


def left_behind(stages: Stages) -> None:
    """Leave documents of some weeks, queries, judgments, usage and work."""
    knowledge = stages.knowledge
    for query in ("spare batteries", '"quantum chromodynamics"', "When is the gauge read?"):
        knowledge.search(query, "tide-station")
    knowledge.judge("tide curve", stages.uri("library/arabic.md"), 0)
    knowledge.release()
    knowledge.create_collection(
        "website",
        {
            "description": "Pages of the harbour office",
            "sites": [{"url": "https://docs.example.com/", "tags": ["docs"], "max_pages": 200}],
            "allowed": [{"internal/**": ["group:board", "user:anna@example.org"]}, {"**": ["everyone"]}],
            "retention": {"removed": "30d"},
        },
    )
    with stages.connection() as connection:
        connection.execute(LETTERS)
        connection.execute("UPDATE source SET next_crawl_at = now() + interval '2 hours' WHERE kind = 'files'")
        for ago in range(28):
            day = date.today() - timedelta(days=ago)  # noqa: DTZ011 - a day of a picture
            connection.execute(USAGE, {"day": day, "texts": 40 + ago * 37 % 210})
    work = knowledge.request_work("tide-station", actor="anna")
    with stages.connection() as connection:
        claim_work(connection, worker="host:4711", run_id="0b6f2c1a")
        record_progress(connection, work.id, "embeddings", 1_312, 5_200, 3)
    knowledge.request_work("letters", documents=["file:///a.md"], actor="key website")


def test_pictures_of_every_page_are_taken(base: Stages, tabs: Tabs) -> None:
    folder, root = CHECKOUT / str(PICTURES), str(base.root)
    with ChatServer() as chat:
        chat.answer = reading
        configure(base, chat)
        configure(base, chat, tokens=128)
        left_behind(base)
        with base.connection() as connection:
            key = create_key(connection, "administrator", ("admin",), actor="test")[1]
        with serving(base.knowledge, requires_key=True) as client:
            for theme in THEMES:
                with tabs.open(client, theme, refused=404) as page:
                    take(page, folder, "sign-in", "/sign-in", theme, root)
                    page.get_by_label("Key").fill(key)
                    page.get_by_role("button", name="Sign in").click()
                    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
                    for name, path in pages(base).items():
                        take(page, folder, name, path, theme, root)
                    page.set_viewport_size({"width": WIDTHS[0], "height": 860})
                    page.goto("/documents?collection=letters")
                    page.get_by_role("button", name="Remove all…").click()
                    take(page, folder, "all-matching", None, theme, root)
    small = sum(each.stat().st_size for each in folder.glob("page-*-*.png"))
    assert small < 5_000_000, f"the pictures have {small:,} bytes"


def pages(stages: Stages) -> dict[str, str]:
    """Return the addresses of the pages by their names."""
    knowledge = stages.knowledge
    found = knowledge.search("When must the gauge be read?", "tide-station", limit=1)[0]
    (report,) = knowledge.documents(text="annual-review")
    marked = next(each for each in knowledge.show(report.document_id or 0).passages if each.page == 2)
    (work,) = knowledge.work_requests(states=["running"])
    left, right = [state.id for state in knowledge.generations("tide-station")]
    asked = QUESTION.replace(" ", "+")
    return {
        "search": "/",
        "results": "/?q=When+must+the+gauge+be+read",
        "right-to-left": "/?q=بطاريات&all=1",
        "ask": "/ask",
        "answer": f"/ask?q={asked}&collection=tide-station",
        "conversations": "/ask/conversations",
        "home": "/home",
        "documents": "/documents?collection=letters",
        "failed": "/documents?state=failed",
        "document": f"/documents/{found.document_id}?passage={found.ordinal}#passage-{found.ordinal}",
        "passages": f"/documents/{found.document_id}?view=passages",
        "pdf": f"/documents/{report.document_id}/pages/{marked.page}?passage={marked.ordinal}",
        "collections": "/collections",
        "collection": "/collections/tide-station",
        "settings": "/collections/website/settings",
        "permissions": "/collections/website/settings#permissions",
        "file-settings": "/collections/tide-station/settings",
        "new-collection": "/new-collection?kind=folder",
        "compare": f"/collections/tide-station/compare?q={asked}&first={left}&second={right}&answers=1",
        "upload": "/collections/website/upload",
        "work": "/work",
        "request": f"/work/{work.id}",
        "usage": "/usage",
        "calls": "/usage/calls",
        "keys": "/keys",
        "sessions": "/sessions",
        "missing": "/documents/99999",
    }


def test_pictures_of_an_empty_base_are_taken(stages: Stages, tabs: Tabs) -> None:
    with serving(stages.knowledge, requires_key=False) as client:
        for theme in THEMES:
            with tabs.open(client, theme) as page:
                take(page, CHECKOUT / str(PICTURES), "beginning", "/home", theme, str(stages.root))


def take(page: Page, folder: Path, name: str, path: str | None, theme: str, root: str) -> None:
    """Take the pictures of a page in windows as wide as a desk's and a telephone's, with a folder of any server.

    Without a path it is the page that is there.
    """
    if path is not None:
        page.goto(path)
    if name == "answer":
        expect(page.locator(".turn .sources")).to_be_visible()
    page.evaluate(RENAME, root)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 860})
        page.evaluate("location.hash && document.querySelector(location.hash).scrollIntoView()")
        shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
        shot.quantize(COLOURS).save(folder / f"page-{name}-{width}-{theme}.png", optimize=True)
