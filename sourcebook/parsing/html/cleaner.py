"""The page cleaner: the one reader of HTML for saved files, crawled pages, chapters of e-books and mail."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from sourcebook.config.html_part import HtmlPart
from sourcebook.model import revisions
from sourcebook.model.document import Block, JsonValue
from sourcebook.model.left_out import LeftOutKind, with_left_out
from sourcebook.parsing.html.anchors import anchor_of
from sourcebook.parsing.html.boilerplate import drop_site_frame, main_content, prune, strip_unreadable
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.html.code_blocks import flatten_code
from sourcebook.parsing.html.drawings import show_drawings, show_formulas
from sourcebook.parsing.html.fallbacks import show_fallbacks
from sourcebook.parsing.html.folded import unfold
from sourcebook.parsing.html.frames import Frame, frame_urls, join_frames, show_own_parts
from sourcebook.parsing.html.head import PageHead, is_site_name, page_address, page_title, read_head
from sourcebook.parsing.html.left_out import number_of_words, unreadable_parts
from sourcebook.parsing.html.links import base_url, links, next_pages
from sourcebook.parsing.html.markdown import WrittenPage, write_markdown
from sourcebook.parsing.html.raised_parts import write_raised_parts
from sourcebook.parsing.html.scripts import has_scripts, lacks_text
from sourcebook.parsing.html.storage_format import html_of_storage
from sourcebook.parsing.html.tidying import mark_images, unwrap_local_links
from sourcebook.parsing.html.tree import Element, body_of, drop, parse_page, plain_text, subelement
from sourcebook.parsing.text.picture_marks import embedded_picture
from sourcebook.parsing.text.titles import document_title

CLEANER = f"cleaner/{revisions.CLEANER}+html-to-markdown-{version('html-to-markdown')}"
"""Identity of the cleaner; it changes when the output for an unchanged page may change."""
_SITE_FRAME = ("header", "nav", "aside", "footer")


@dataclass(frozen=True, slots=True)
class CleanedPage:
    """Text, title, links and metadata of an HTML page."""

    markdown: str
    blocks: tuple[Block, ...]
    title: str | None
    links: tuple[str, ...]
    """Absolute URLs of `<a href>` in page order, without fragments and repetitions, not normalised."""
    next_pages: tuple[str, ...] = ()
    """Absolute URLs that the page calls its next page, not normalised."""
    canonical: str | None = None
    """Absolute URL of `<link rel=canonical>`."""
    language: str | None = None
    """Declared language (`<html lang>`), an ISO 639-1 code."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """Some of `description`, `author`, `keywords`, `published`, `modified`; dates in ISO 8601."""
    noindex: bool = False
    """Whether the page asks not to be indexed (meta robots)."""
    nofollow: bool = False
    """Whether the page asks crawlers not to follow its links (meta robots)."""
    named_robots: str = ""
    """Directives for crawlers that the page names (`<meta name=googlebot>`), as in a header X-Robots-Tag."""
    needs_scripts: bool = False
    """Whether the page has scripts but no readable text."""
    redirect: str | None = None
    """Absolute URL to which the page leads at once (meta refresh)."""
    feeds: tuple[str, ...] = ()
    """Absolute URLs of the RSS and Atom feeds that the page names."""
    frames: tuple[str, ...] = ()
    """Absolute URLs of its visible frames, without fragments and repetitions."""
    own_links: tuple[tuple[int, int], ...] = ()
    """Spans of the Markdown with the page's own URL, in links to the page itself."""
    asks_password: bool = False
    """Whether the page has a field for a password, outside its header, menus and footer."""
    left_out: Mapping[LeftOutKind, int] = field(default_factory=dict)
    """Counts of content of the page that the Markdown lacks, by kind."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A decoded page, to be parsed as often as a part of it is written."""

    text: str
    url: str
    """URL of the page, "" where it has none."""
    base: str
    """Base of its relative URLs."""
    frames: Mapping[str, Frame]
    keep: HtmlPart
    xml: bool = False
    """Whether it is XHTML for XML parsers."""
    load: Callable[[str], bytes | None] = embedded_picture
    """Bytes of an image by its address in the page."""
    counts: bool = False
    """Whether the words of the part that is written are counted."""
    fallbacks: bool = True
    """Whether the text for browsers without scripts counts."""

    def body(self) -> Element | None:
        """Return the body with its frames, without scripts and styles; None where there is no element."""
        tree = parse_page(self.text, xml=self.xml)
        if tree is None:
            return None
        if self.frames:
            join_frames(tree, self.base, self.frames, self.keep)
        return _readable(tree, self).body


class _Readable(NamedTuple):
    """The readable part of a page."""

    body: Element
    left_out: Mapping[LeftOutKind, int]
    """Counts of what went with scripts, frames and controls."""
    hidden_words: int
    """Words that stay hidden."""
    shows_fallbacks: bool
    """Whether the body says what is there for browsers without scripts."""


def clean_page(
    body: bytes,
    *,
    url: str = "",
    content_type: str = "",
    keep: HtmlPart = "main",
    frames: Mapping[str, Frame] = MappingProxyType({}),
    load: Callable[[str], bytes | None] = embedded_picture,
    counts: bool = True,
) -> CleanedPage:
    """Convert an HTML page to Markdown; never fails, whatever the bytes are.

    Elements nested more than 256 deep are flattened, so the time stays linear in the size of the page.

    Args:
        body: the decompressed body.
        url: address of the page, the base of its relative links; where empty, the address from which a browser saved
            it; without either, links stay as written.
        content_type: value of the header Content-Type; `text/html; charset=utf-8` for a rendered page.
        keep: the part that is kept. A page whose main content is empty, or only a title, keeps its body; one whose
            body is no more than that is kept whole.
        frames: frames to join, by their URL in the page.
        load: returns the bytes of an image by its address in the page, None where they are not in the file.
        counts: whether `left_out` is wanted, which takes a twentieth of the time.
    """
    text = html_of_storage(decode_page(body, content_type).text)
    xml = "xhtml" in content_type
    tree = parse_page(text, xml=xml)
    if tree is None:
        return CleanedPage(markdown="", blocks=(), title=None, links=())
    url = url or page_address(tree, text)
    source = _Source(text, url, base_url(tree, url), frames, keep, xml, load, counts)
    head = read_head(tree, base=source.base)
    targets = links(tree, source.base)
    following = next_pages(tree, source.base)
    framed = frame_urls(tree, source.base)
    scripted = has_scripts(tree)
    has_password = _asks_password(tree)
    if frames:
        targets = tuple(dict.fromkeys((*targets, *join_frames(tree, source.base, frames, keep))))
    page_body, left_out, hidden_words, shows_fallbacks = _readable(tree, source)
    words = number_of_words(page_body) if counts else 0
    if keep == "main":
        written = _main_content(page_body, head, source)
        needs_scripts = scripted and lacks_text(page_body, written.markdown)
    else:
        written = _write_part(page_body, source, keep, split_dates=False)
        needs_scripts = scripted and not shows_fallbacks and _lacks_main_content(source, head)
    if shows_fallbacks:
        needs_scripts = scripted and _lacks_main_content(replace(source, fallbacks=False), head)
    if keep != "everything" and _is_title(written.markdown):
        written = _write_more(written, source, split_dates=keep == "main")
    blocks = written.blocks()
    return CleanedPage(
        markdown=written.markdown,
        blocks=blocks,
        title=page_title(head, document_title(blocks) or ""),
        links=targets,
        next_pages=following,
        canonical=head.canonical,
        language=head.language,
        metadata=with_left_out({**written.dates, **head.metadata}, {"hidden_words": hidden_words}),
        noindex=head.noindex,
        nofollow=head.nofollow,
        named_robots=head.named_robots,
        needs_scripts=needs_scripts,
        redirect=head.redirect,
        feeds=head.feeds,
        frames=framed,
        own_links=tuple(written.own_links),
        asks_password=has_password,
        left_out={**left_out, "words": max(0, words - written.words)} if counts else {},
    )


def _readable(tree: Element, source: _Source) -> _Readable:
    """Return the body without scripts, with marks of images, fallbacks, and what its controls open."""
    show_own_parts(tree, source.keep)
    body = body_of(tree)
    shown, too_long = show_fallbacks(tree, body) if source.fallbacks else (0, 0)
    show_drawings(tree)
    show_formulas(tree)
    left_out = unreadable_parts(tree) if source.counts else {}
    mark_images(tree, source.load)
    strip_unreadable(tree)
    folded = unfold(body) if source.keep == "main" else 0
    return _Readable(body, left_out, too_long + folded, bool(shown))


def cleaner_identity(keep: HtmlPart) -> str:
    """Return the identity of the cleaner with a setting."""
    return CLEANER if keep == "main" else f"{CLEANER}+{keep}"


def readable_body(
    text: str, *, xml: bool = False, load: Callable[[str], bytes | None] = embedded_picture
) -> Element | None:
    """Parse decoded HTML, or XHTML for XML parsers, and return its body without scripts; None without an element."""
    return _Source(text, "", "", {}, "everything", xml, load).body()


def write_everything(body: Element, *, base_url: str | None) -> WrittenPage:
    """Convert all text of a body, which is changed on the way.

    Args:
        body: as `readable_body` returns it.
        base_url: base of relative links; "" leaves them relative; None, for a body without an address such as a
            chapter or a message, keeps only their text.
    """
    if base_url is None:
        write_raised_parts(body, local_links=False)
        unwrap_local_links(body)
    return _write_part(body, _Source("", "", base_url or "", {}, "everything"), "everything", split_dates=False)


def _write_part(body: Element, source: _Source, part: HtmlPart, *, split_dates: bool) -> WrittenPage:
    """Convert a body, without its site frame where only that is wanted."""
    if part == "body":
        drop_site_frame(body)
    write_raised_parts(body)
    flatten_code(body)
    return write_markdown(
        body, base_url=source.base, split_dates=split_dates, page_url=source.url, counts=source.counts
    )


def _write_more(written: WrittenPage, source: _Source, *, split_dates: bool) -> WrittenPage:
    """Return a wider part of a page of which nothing but a title was written, such as a page of navigation.

    A page that has no more than its title keeps it; one that has only a date keeps the date.
    """
    parts: tuple[HtmlPart, ...] = ("body", "everything")
    for part in parts:
        body = source.body()
        wider = written if body is None else _write_part(body, source, part, split_dates=split_dates)
        if not _is_title(wider.markdown):
            return wider
    body = None if _has_words(written.markdown) else source.body()
    return written if body is None else _write_part(body, source, "everything", split_dates=False)


def _main_content(body: Element, head: PageHead, source: _Source) -> WrittenPage:
    root = main_content(body)
    headings = list(_page_headings(body, head))
    write_raised_parts(root)
    flatten_code(root)
    prune(root)
    _drop_banner(root, head)
    if headings and next(root.iter("h1"), None) is None:
        _put_first(root, *headings[0])
    return write_markdown(root, base_url=source.base, split_dates=True, page_url=source.url, counts=source.counts)


def _page_headings(body: Element, head: PageHead) -> Iterator[tuple[str, str]]:
    """Yield text and anchor of the first H1s of a page, without the site's name."""
    for heading in islice(body.iter("h1"), 3):
        text = plain_text(heading)
        if text and not is_site_name(head, text):
            yield text, anchor_of(heading)


def _drop_banner(root: Element, head: PageHead) -> None:
    """Remove the first H1 where it is the site's name in a link, and the page has an H1 of its own after it."""
    headings = list(islice(root.iter("h1"), 2))
    if len(headings) < 2:
        return
    banner, title = (plain_text(heading) for heading in headings)
    link = next(headings[0].iter("a"), None)
    is_link = link is not None and plain_text(link) == banner
    if is_link and is_site_name(head, banner) and title and not is_site_name(head, title):
        drop(headings[0])


def _put_first(root: Element, text: str, anchor: str) -> None:
    """Insert the page's H1, which is outside the main content, at its beginning."""
    heading = subelement(root, "h1", text)
    heading.tail = root.text
    root.text = None
    root.insert(0, heading)
    if anchor:
        heading.set("id", anchor)


def _lacks_main_content(source: _Source, head: PageHead) -> bool:
    """Whether the main content is empty; menus around it do not count, even where they are kept."""
    body = source.body()
    return body is None or lacks_text(body, _main_content(body, head, source).markdown)


def _is_title(markdown: str) -> bool:
    """Whether Markdown has no words, or those of one heading only."""
    return not _has_words(markdown) or (markdown.startswith("#") and "\n" not in markdown.strip())


def _has_words(markdown: str) -> bool:
    return any(letter.isalnum() for letter in markdown)


def _asks_password(tree: Element) -> bool:
    """Return whether a page has a field for a password; one in the site's frame is there on every page."""
    return any(
        (field.get("type") or "").strip().lower() == "password"
        and next(field.iterancestors(*_SITE_FRAME), None) is None
        for field in tree.iter("input")
    )
