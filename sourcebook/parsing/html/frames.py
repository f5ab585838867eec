"""Frames of a page, `<iframe>` and `<frame>`: found, read, and joined into the page's tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urldefrag

from sourcebook.config.html_part import HtmlPart
from sourcebook.parsing.html.boilerplate import demote, is_hidden, main_content
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.html.head import read_head
from sourcebook.parsing.html.links import absolute, base_url, links
from sourcebook.parsing.html.tree import Element, body_of, drop, parse_page

_UNSEEN = frozenset({"0", "1", "0px", "1px"})
"""Widths and heights of frames that only serve scripts."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A page that another page shows in a frame."""

    url: str
    body: bytes
    """Decompressed body."""
    content_type: str = ""
    """Value of the header Content-Type."""
    follow: bool = True
    """Whether its links are links of the page."""


@dataclass(frozen=True, slots=True)
class FrameHead:
    """Head of a frame's page, which decides whether the frame is joined."""

    frames: tuple[str, ...] = ()
    """Absolute URLs of its own frames, without fragments."""
    redirect: str | None = None
    """Absolute URL to which it leads at once (meta refresh)."""
    noindex: bool = False
    nofollow: bool = False
    named_robots: str = ""


def read_frame_head(frame: Frame) -> FrameHead:
    """Return the frames and directives of a frame's page."""
    tree = parse_page(decode_page(frame.body, frame.content_type).text)
    if tree is None:
        return FrameHead()
    base = base_url(tree, frame.url)
    head = read_head(tree, base=base)
    return FrameHead(frame_urls(tree, base), head.redirect, head.noindex, head.nofollow, head.named_robots)


def frame_urls(tree: Element, base: str) -> tuple[str, ...]:
    """Return the absolute URLs of a page's visible frames, without fragments, in order and without repetition."""
    found = (_target(element, base) for element in tree.iter("frame", "iframe"))
    return tuple(dict.fromkeys(url for url in found if url is not None))


def join_frames(tree: Element, base: str, frames: Mapping[str, Frame], keep: HtmlPart) -> tuple[str, ...]:
    """Put the content of frames in the place of their elements, each once; a frameset becomes a body.

    Args:
        tree: tree of the page, which is changed.
        base: base of its relative URLs.
        frames: frames by the URL that the page or one of the frames gives them.
        keep: the part of each frame that is kept; `main` leaves out what is around its main content.

    Returns:
        The links of the joined frames as absolute URLs.
    """
    return _join(tree, base, dict(frames), keep)


def show_own_parts(tree: Element, keep: HtmlPart) -> None:
    """Show what a browser shows of the page's own source beside its elements.

    That is the shadow trees of web components, as saved pages have them, dialogs that are open within the main part,
    and the text of frames that is in the page itself, except where only the main content is kept: such frames of web
    sites are mostly advertisements.

    Args:
        tree: tree of the page, which is changed.
        keep: the part of the page that is kept.
    """
    _show_shadow_trees(tree)
    for element in list(tree.iter("dialog")):
        if element.get("open") is not None and next(element.iterancestors("article", "main"), None) is not None:
            element.tag = "div"
    for element in list(tree.iter("iframe")) if keep != "main" else ():
        if not _is_unseen(element):
            _put_page(element, element.get("srcdoc") or "")
    for element in list(tree.iter("noframes")):  # its text is raw, as that of scripts
        _put_page(element, "".join(element.itertext()))


def _show_shadow_trees(tree: Element) -> None:
    for element in list(tree.iter("template")):
        if element.get("shadowrootmode") is not None:
            _fill_slots(element)
            element.attrib.clear()
            element.tag = "div"


def _fill_slots(template: Element) -> None:
    """Move what stands in a web component to the places that its shadow tree has for it."""
    host = template.getparent()
    children = [] if host is None else [each for each in host if each is not template]
    for slot in [each for each in template.iter("slot") if next(each.iterancestors("template"), None) is template]:
        name = slot.get("name") or ""
        taken = [each for each in children if (each.get("slot") or "") == name]
        text = "" if name else template.tail or ""
        if taken or text.strip():
            slot.clear(keep_tail=True)
            slot.text = text
            template.tail = template.tail if name else None
            for each in taken:
                slot.append(each)
                children.remove(each)


def _put_page(element: Element, text: str) -> None:
    """Put the body of a page, without the frames in it, in the place of an element; nothing where the text is none."""
    page = parse_page(text) if text.strip() else None
    if page is None:
        return
    _show_shadow_trees(page)
    body = body_of(page)
    demote(body)
    body.tail = None
    body.tag = "div"
    element.clear(keep_tail=True)
    element.tag = "div"
    element.append(body)


def _join(tree: Element, base: str, left: dict[str, Frame], keep: HtmlPart) -> tuple[str, ...]:
    found: list[str] = []
    joined = False
    for element in list(tree.iter("frame", "iframe")):
        frame = left.pop(_target(element, base) or "", None)
        content = None if frame is None else _content(frame, left, keep, found)
        if content is not None:
            joined = True
            element.clear(keep_tail=True)
            element.tag = "div"
            element.append(content)
    if joined:
        _make_body(tree)
    return tuple(dict.fromkeys(found))


def _content(frame: Frame, left: dict[str, Frame], keep: HtmlPart, found: list[str]) -> Element | None:
    """Return the content of a frame as an element, and add its links to `found`."""
    tree = parse_page(decode_page(frame.body, frame.content_type).text)
    if tree is None:
        return None
    base = base_url(tree, frame.url)
    if frame.follow:
        found += links(tree, base)
    found += _join(tree, base, left, keep)
    body = body_of(tree)
    content = main_content(body) if keep == "main" else body
    for link in content.iter("a"):
        href = link.get("href")
        if href is not None and (target := absolute(base, href)) is not None:
            link.set("href", target)
    demote(content)
    content.tail = None
    return content


def _make_body(tree: Element) -> None:
    """Turn the framesets of a page into its body; the text for browsers without frames is dropped."""
    for element in list(tree.iter("noframes", "frame")):
        drop(element)
    for frameset in list(tree.iter("frameset")):
        frameset.tag = "body" if next(tree.iter("body"), None) is None else "div"


def _target(element: Element, base: str) -> str | None:
    source = (element.get("src") or "").strip()
    if not source or _is_unseen(element):
        return None
    target = absolute(base, source)
    return urldefrag(target)[0] if target is not None else None


def _is_unseen(element: Element) -> bool:
    attributes = dict(element.items())
    return element.tag == "iframe" and (
        is_hidden(attributes) or not _UNSEEN.isdisjoint({attributes.get("width"), attributes.get("height")})
    )
