"""From the bytes of an HTML page to its main content as Markdown, and to what the page says of itself."""

from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice

from sourcebook.model.http_types import CleanedPage
from sourcebook.parsing.html.anchors import anchor_of
from sourcebook.parsing.html.boilerplate import main_content, prune, strip_unreadable
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.html.code_blocks import flatten_code
from sourcebook.parsing.html.head import PageHead, is_site_name, page_title, read_head
from sourcebook.parsing.html.links import base_url, links
from sourcebook.parsing.html.markdown import WrittenPage, write_markdown
from sourcebook.parsing.html.scripts import has_scripts, lacks_text
from sourcebook.parsing.html.tree import Element, body_of, parse_page, plain_text, subelement
from sourcebook.parsing.text.titles import document_title

CLEANER = f"cleaner/1+html-to-markdown-{version('html-to-markdown')}"
"""What cleaned a page; it changes when the same page may come out differently."""


def clean_page(body: bytes, *, url: str, content_type: str = "") -> CleanedPage:
    """Find the main content of an HTML page; never fails, whatever the bytes are.

    Args:
        body: the decompressed body.
        url: where the page was found; what its relative links are relative to, unless it says otherwise.
        content_type: the header Content-Type; for what a browser rendered, `text/html; charset=utf-8`.
    """
    text = decode_page(body, content_type).text
    tree = parse_page(text)
    if tree is None:
        return CleanedPage(markdown="", blocks=(), title=None, links=())
    base = base_url(tree, url)
    head = read_head(tree, base=base)
    targets = links(tree, base)
    scripted = has_scripts(tree)
    strip_unreadable(tree)
    written = _main_content(body_of(tree), head, base)
    needs_scripts = scripted and lacks_text(body_of(tree), written.markdown)
    if not _says_something(written.markdown):
        written = _everything(text, base)
    blocks = written.blocks()
    return CleanedPage(
        markdown=written.markdown,
        blocks=blocks,
        title=page_title(head, document_title(blocks) or ""),
        links=targets,
        canonical=head.canonical,
        language=head.language,
        metadata={**written.dates, **head.metadata},
        noindex=head.noindex,
        nofollow=head.nofollow,
        needs_scripts=needs_scripts,
    )


def _main_content(body: Element, head: PageHead, base: str) -> WrittenPage:
    root = main_content(body)
    headings = list(_page_headings(body, head))
    flatten_code(root)
    prune(root)
    if headings and next(root.iter("h1"), None) is None:
        _put_first(root, *headings[0])
    return write_markdown(root, base_url=base)


def _everything(text: str, base: str) -> WrittenPage:
    """Write a page of which nothing would be left, such as one that is all navigation, without leaving anything out."""
    tree = parse_page(text)
    assert tree is not None, "it was parsed before"  # noqa: S101
    strip_unreadable(tree)
    body = body_of(tree)
    flatten_code(body)
    return write_markdown(body, base_url=base)


def _page_headings(body: Element, head: PageHead) -> Iterator[tuple[str, str]]:
    """Yield text and anchor of the first H1s of a page, but for one that is the site's name."""
    for heading in islice(body.iter("h1"), 3):
        text = plain_text(heading)
        if text and not is_site_name(head, text):
            yield text, anchor_of(heading)


def _put_first(root: Element, text: str, anchor: str) -> None:
    """Give the main content the page's H1, which stood outside it."""
    heading = subelement(root, "h1", text)
    heading.tail = root.text
    root.text = None
    root.insert(0, heading)
    if anchor:
        heading.set("id", anchor)


def _says_something(markdown: str) -> bool:
    return any(letter.isalnum() for letter in markdown)
