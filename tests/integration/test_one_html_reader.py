"""One reader of HTML: a page gives the same passages from a file, its site, a book and a message."""

import json
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import get_args

import pytest

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.media_types import EMAIL, EPUB, HTML
from sourcebook.model.selection import Selection
from sourcebook.parsing.parse import parse
from tests.checkout import EXAMPLES, SHARED_DATA
from tests.integration.stages import Row, Stages
from tests.unit.parsing.epub.epub_writer import epub, package

PAGES = Path(__file__).parents[1] / "unit" / "parsing" / "html" / "pages"
DUCK = SHARED_DATA / "documents" / "html" / "wiki_duck.html"
SAVED = [
    *(PAGES / f"{name}.html" for name in ("docusaurus", "mkdocs_material", "wordpress", "news_with_banner")),
    PAGES / "bare_1990s.html",
    EXAMPLES / "site" / "faq.html",
    EXAMPLES / "site" / "live" / "index.html",
    DUCK,
]
EVERYTHING = ParsingSettings(html="everything")
CHAPTER = (EXAMPLES / "site" / "live" / "reading-a-tide-table.html").read_text(encoding="utf-8")


def passages(stages: Stages, kind: str) -> list[Row]:
    """Return what search returns of the only document of a kind."""
    return stages.rows(
        "SELECT document.title, document.language, chunk.text, chunk.heading_path, chunk.anchor, chunk.start_char, "
        "chunk.end_char FROM chunk JOIN document ON document.id = chunk.document_id WHERE document.kind = %(kind)s "
        "AND document.removed_at IS NULL ORDER BY chunk.ordinal",
        kind=kind,
    )


def contents(stages: Stages, kind: str) -> Row:
    """Return the parsed content of the only document of a kind."""
    (row,) = stages.rows(
        "SELECT content.markdown, content.blocks, content.title, content.language, content.content_hash "
        "FROM document JOIN parsed_content content "
        "ON content.sha256 = document.input_hash AND content.parser = document.config_hash "
        "WHERE document.kind = %(kind)s AND document.removed_at IS NULL",
        kind=kind,
    )
    return row


@pytest.mark.parametrize("part", get_args(HtmlPart))
@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_saved_page_and_a_crawled_page_give_the_same_passages(stages: Stages, path: Path, part: str) -> None:
    """Markdown, blocks, title, language, headings and anchors are equal, whichever part of the page is kept.

    What follows the passages knows nothing of where they are from.
    """
    if not path.is_file():
        pytest.skip(f"the shared data is not at {SHARED_DATA}")
    body = path.read_bytes()
    stages.web.page(f"/{path.name}", body, content_type="text/html")
    url = stages.address(f"/{path.name}")
    stages.write("page.html", f"<!-- saved from url=({len(url):04}){url} -->\n".encode() + body)
    site = {
        "url": url,
        "politeness": {"requests_per_second": "unlimited", "respect_robots": False},
        "render": "never",
        "max_depth": 0,
    }
    collection = {"files": [{"root": f"./{stages.root.name}"}], "sites": [site], "parsing": {"html": part}}
    stages.configure(json.dumps({"collections": {stages.collection: collection}}))
    stages.raw_files()
    stages.crawl()
    stages.chunks()
    assert stages.problems() == {}
    assert contents(stages, "file") == contents(stages, "page")
    assert passages(stages, "file") == passages(stages, "page")
    assert len(passages(stages, "file")) > 0


def test_the_kept_part_goes_by_the_origin_where_no_setting_names_one(stages: Stages) -> None:
    """A saved page keeps its body, a crawled one its main content."""
    path = PAGES / "news_with_banner.html"
    stages.web.page(f"/{path.name}", path.read_bytes(), content_type="text/html")
    url = stages.address(f"/{path.name}")
    stages.write("page.html", path.read_bytes())
    site = {
        "url": url,
        "politeness": {"requests_per_second": "unlimited", "respect_robots": False},
        "render": "never",
        "max_depth": 0,
    }
    collection = {"files": [{"root": f"./{stages.root.name}"}], "sites": [site]}
    found = {}
    for part in ("auto", *get_args(HtmlPart)):
        stages.configure(json.dumps({"collections": {stages.collection: {**collection, "parsing": {"html": part}}}}))
        stages.run(Selection(force=True))
        found[part] = {kind: contents(stages, kind)["markdown"] for kind in ("file", "page")}
    assert len({markdown["page"] for markdown in found.values()}) == 3
    assert found["auto"] == {"file": found["body"]["file"], "page": found["main"]["page"]}


def parsed(content: bytes, media_type: str) -> ParsedDocument:
    return parse(content, name="page", media_type=media_type, settings=EVERYTHING)


def placed(document: ParsedDocument, start: int) -> list[tuple[str, Block]]:
    """Return the text and the block of each block from `start` on, counted from there."""
    return [
        (document.markdown[block.start : block.end], replace(block, start=block.start - start, end=block.end - start))
        for block in document.blocks
        if block.start >= start
    ]


@pytest.mark.parametrize("page", [CHAPTER, (PAGES / "wordpress.html").read_text(encoding="utf-8")])
def test_a_chapter_and_a_message_read_as_the_whole_saved_page(page: str) -> None:
    """Text, headings with their ids, tables and code are equal; links within a site become text in book and mail."""
    for local in ('href="', "href='"):
        page = page.replace(local, f"{local}https://site.example/")
    page = page.replace("https://site.example/http", "http")
    saved = parsed(page.encode(), HTML)
    members = {"OEBPS/book.opf": package({"a.xhtml": ""}), "OEBPS/a.xhtml": page}
    book = parsed(epub(members), EPUB)
    message = EmailMessage()
    message["Subject"] = "A page"
    message.set_content(page, subtype="html")
    mail = parsed(message.as_bytes(), EMAIL)
    assert book.markdown == saved.markdown
    assert placed(book, 0) == placed(saved, 0)
    assert mail.markdown == f"# A page\n\n{saved.markdown}"
    assert placed(mail, len("# A page\n\n")) == placed(saved, 0)
    assert any(block.anchor for block in saved.blocks)
