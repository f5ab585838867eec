"""The main content of a page, without navigation, banners and other boilerplate."""

import re
from collections.abc import Callable
from itertools import chain, islice

from sourcebook.parsing.html.names import Meaning, meaning_of_names
from sourcebook.parsing.html.tree import (
    HEADINGS,
    Element,
    drop,
    make_label,
    plain_text,
    prose_length,
    replace_content,
    text_length,
    unwrap,
)

UNREADABLE = (
    "script", "style", "template", "noscript", "svg", "iframe", "object", "embed", "canvas", "audio", "video",
    "input", "select", "textarea", "datalist", "dialog", "clipboard-copy",
)  # fmt: skip
"""Elements without text of the page; a <dialog> is hidden until a script opens it."""

NAVIGATION_ROLES = frozenset(
    {"alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar", "navigation", "search"}
)
_NOTE_ROLES = frozenset({"note", "doc-footnote", "doc-endnote", "doc-endnotes"})
_SECTIONING = frozenset({"article", "blockquote", "figure", "main", "section"})
_NAMED_BY_ID = frozenset({"aside", "div", "footer", "form", "header", "ol", "p", "table", "ul"})
_LISTING = frozenset({"aside", "details", "div", "nav", "ol", "section", "table", "ul"})
_JUDGED_BY_TAG = frozenset({"a", "aside", "footer", "form", "header", "nav"})
"""Elements that are judged without a class, an id or another attribute, too."""
_LONGEST_LABEL = 120
_SIBLINGS = 20
"""Siblings before and after a header among which another one is looked for."""
_NO_WORD = re.compile(r"[\W_]+")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TAB = re.compile(r"\btab-?(?:content|item|pane|panel)", re.IGNORECASE)
_FOOTNOTES = re.compile(r"\b(?:foot|end)notes?\b", re.IGNORECASE)
_SECTION_MARK = re.compile(r"[a-z]{1,2}-")
"""Beginning of a section's id before its heading's words, such as the `s-` of Django's documentation."""
_LINK_TO_SOURCE = re.compile(
    r"(?:edit (?:this page|on git(?:hub|lab))|(?:view|show|page) source|suggest (?:an )?edits?"
    r"|improve this (?:page|doc)|(?:report|raise) (?:a bug|an issue)|(?:view|open|source) (?:on|in) git(?:hub|lab)"
    r"|skip (?:to|past|over) .{3,40}|back to (?:the )?top)",
    re.IGNORECASE,
)

# Classes and ids that documentation generators and content systems give to an author's text, the surest first.
_SURE_CONTAINERS = frozenset(
    {"markdown-body", "theme-doc-markdown", "md-content__inner", "vp-doc", "sl-markdown-content"}
)
_CONTAINERS = frozenset(
    {
        "document", "rst-content", "entry-content", "post-content", "article-content", "article-body",
        "devsite-article-body", "mw-parser-output", "main-content", "page-content",
    }
)  # fmt: skip
_NEARLY_ALL = 0.8
_CONTAINER_IDS = frozenset({"content", "main-content", "mw-content-text", "bodyContent", "main", "readme"})


def main_content(body: Element) -> Element:
    """Return the element that holds the main content, <body> where none is recognised.

    The element holds most of the text outside links, so an empty <main> does not hide a page.
    """
    root = body
    prose = prose_length(body)
    for wanted, tags, least in _STEPS:
        found = [
            element
            for element in root.iter(*tags)
            if element is not root and wanted(element) and not is_hidden(dict(element.items()))
        ]
        if not found:
            continue
        best, best_prose = max(((element, prose_length(element)) for element in found), key=lambda pair: pair[1])
        # Several candidates, such as the comments of a thread, are content together, unless one is nearly all of it.
        share = least if len(found) == 1 else max(least, _NEARLY_ALL)
        holds_most = best_prose >= share * prose
        # A page says itself what its main part is, which has few words in an index.
        if not holds_most and wanted is _is_main:
            holds_most = best_prose >= share * (prose - _prose_of_footers(root))
        if best_prose and holds_most:
            root, prose = best, best_prose
    return root


def _prose_of_footers(root: Element) -> int:
    """Count the characters outside links in the site's footers; one with a heading may be a part of the page."""
    footers = [
        element
        for element in root.iter("footer", "div", "section", "table", "p")
        if _is_footer(element) and next(element.iter("main", "article", *HEADINGS), None) is None
    ]
    within = set(footers)
    return sum(prose_length(footer) for footer in footers if within.isdisjoint(footer.iterancestors()))


def _is_footer(element: Element) -> bool:
    """Whether an element is by its name a footer of the site, and not that of an article or a quotation."""
    if element.tag != "footer" and element.get("role") != "contentinfo":
        names = [element.get("class"), element.get("id")]
        if not any(name and "footer" in name.lower() and meaning_of_names(name) is not None for name in names):
            return False
    return not _in_section(element)


def prune(root: Element) -> None:
    """Remove navigation, banners, forms and hidden elements below `root`.

    An element with more than half of the text outside links is kept, whatever its name.
    """
    most = prose_length(root) // 2
    contents: list[Element] = []
    within_body = root.tag == "body"
    elements = list(root.iter())
    place = 0
    while (place := place + 1) < len(elements):
        element = elements[place]
        tag = element.tag
        if tag == "button":
            # The button of a collapsible section is its heading; one within a sentence is a word of it.
            is_text = next(element.iterancestors(*HEADINGS), None) is not None or _is_within_sentence(element)
            (unwrap if is_text else drop)(element)
            continue
        items = element.items()
        if tag not in _JUDGED_BY_TAG and (
            not items or (len(items) == 1 and items[0][0] == "class" and meaning_of_names(items[0][1]) is None)
        ):
            continue  # most elements: nothing but a class, which says nothing
        attributes = dict(items)
        verdict = _verdict(element, attributes, within_body=within_body)
        if verdict == "contents":
            contents.append(element)
        elif verdict == "label":
            make_label(element, longest=_LONGEST_LABEL)
        elif verdict == "boilerplate" and not _holds_more(element, most):
            if _is_permalink_of_heading(element):
                replace_content(element, "")  # its target says which id is the heading's
                element.set("href", attributes["href"])
            else:
                place += sum(1 for _ in element.iter()) - 1  # what goes with it needs no look of its own
                drop(element)
    length = len(plain_text(root)) if contents else 0
    for element in contents:
        # A table of contents that is most of the page is its content.
        if len(plain_text(element)) * 2 < length:
            drop(element)


def _is_within_sentence(element: Element) -> bool:
    previous, parent = element.getprevious(), element.getparent()
    before = previous.tail if previous is not None else parent.text if parent is not None else None
    is_paragraph = parent is not None and parent.tag in {"p", "dd"}
    return is_paragraph and all(text and any(map(str.isalpha, text)) for text in (before, element.tail))


def drop_site_frame(body: Element) -> None:
    """Remove what a site puts around its pages: menus and banners above the first heading, and footers.

    An element with a heading or with more than half of the text outside links is kept. A page without headings loses
    its footers only.
    """
    most = prose_length(body) // 2
    elements = list(body.iter())[1:]
    first = next((place for place, element in enumerate(elements) if element.tag in HEADINGS), 0)
    for place, element in enumerate(elements):
        if element.tag == "footer" or element.get("role") == "contentinfo":
            is_frame = not _in_section(element)
        else:
            is_frame = place < first and _verdict(element, dict(element.items()), within_body=True) == "boilerplate"
        if is_frame and next(element.iter(*HEADINGS), None) is None and not _holds_more(element, most):
            drop(element)


def demote(content: Element) -> None:
    """Turn the content of a frame into a plain part of the page around it.

    Without its landmarks and containers, it does not count as the main content of that page; without ids, its headings
    have no anchors, because a browser would not scroll to them.
    """
    for element in content.iter():
        if element.tag in {"article", "body", "main"}:
            element.tag = "div"
        for name in ("id", "name"):
            element.attrib.pop(name, None)
        if element.get("role") == "main":
            element.attrib.pop("role")
        if not (_SURE_CONTAINERS | _CONTAINERS).isdisjoint((element.get("class") or "").split()):
            element.attrib.pop("class")


def strip_unreadable(tree: Element) -> None:
    """Remove scripts, styles, form controls and embedded objects from a page."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    etree.strip_elements(tree, *UNREADABLE, with_tail=False)


def _verdict(element: Element, attributes: dict[str, str], *, within_body: bool) -> Meaning | None:
    tag = element.tag
    if attributes and is_hidden(attributes):
        return "boilerplate"
    said = meaning_of_names(attributes["class"]) if "class" in attributes else None
    if said is None and tag in _NAMED_BY_ID and "id" in attributes:
        said = meaning_of_names(attributes["id"])
        if said and _is_section_of_its_own(element, attributes["id"]):
            said = None
    if said == "label":
        return said if tag in {"p", "div", "span"} else None
    if tag in HEADINGS or tag == "main" or (said == "contents" and tag not in _LISTING):
        return None
    if tag == "a":
        said = said or _link_verdict(element, attributes)
    elif tag == "nav" or attributes.get("role") in NAVIGATION_ROLES:
        said = said or "boilerplate"
    elif tag == "aside":
        said = said or ("boilerplate" if _is_mostly_links(element) and not _is_note(attributes) else None)
    elif tag == "form":
        said = said or ("boilerplate" if next(element.iter("p", "pre", "table", *HEADINGS), None) is None else None)
    elif tag in {"header", "footer"}:
        said = said or ("page header" if tag == "header" else "page footer")
    if said == "boilerplate" and len(element) and "sidebar-title" in (element[0].get("class") or ""):
        return None  # the directive `.. sidebar::` of Sphinx and docutils
    if said == "page header":
        is_content = not within_body or _in_section(element) or _begins_page(element) or _is_one_of_many(element)
        return None if is_content else "boilerplate"
    if said == "page footer":
        return None if _in_section(element) else "boilerplate"
    return said


def _link_verdict(element: Element, attributes: dict[str, str]) -> Meaning | None:
    if len(element) > 3 or len(element.text or "") > 60:
        return None
    leads_back = attributes.get("role") == "doc-backlink" or attributes.get("rel") in {"next", "prev"}
    if leads_back or _LINK_TO_SOURCE.fullmatch(plain_text(element)):
        return "boilerplate"
    return None


def _is_permalink_of_heading(element: Element) -> bool:
    return (
        element.tag == "a"
        and (element.get("href") or "").startswith("#")
        and next(element.iterancestors(*HEADINGS), None) is not None
    )


def is_hidden(attributes: dict[str, str]) -> bool:
    """Whether the attributes of an element hide it from readers."""
    hidden = (
        ("hidden" in attributes and attributes["hidden"].lower() != "until-found")
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDDEN_STYLE.search(attributes["style"]) is not None)
    )
    # A hidden tab panel is content for the reader.
    return hidden and attributes.get("role") != "tabpanel" and not _TAB.search(attributes.get("class", ""))


def _in_section(element: Element) -> bool:
    return any(ancestor.tag in _SECTIONING for ancestor in element.iterancestors())


def _is_section_of_its_own(element: Element, name: str) -> bool:
    """Whether the id repeats the element's heading, as in `<div id="s-pagination"><h2>Pagination</h2>`."""
    heading = next(element.iter(*HEADINGS), None)
    if heading is None:
        return False
    title = _slug(plain_text(heading))
    return any(part and part in title for part in (_slug(name), _SECTION_MARK.sub("", _slug(name), count=1)))


def _slug(text: str) -> str:
    return _NO_WORD.sub("-", text.lower()).strip("-")


def _begins_page(element: Element) -> bool:
    """Whether a header holds a section below the title of the page, as those of AsciiDoc's manual pages do."""
    headings = list(element.iter(*HEADINGS))
    text = headings[1].getnext() if len(headings) > 1 else None
    return text is not None and text.tag in {"p", "div"} and bool(prose_length(text)) and not _is_mostly_links(text)


def _is_one_of_many(element: Element) -> bool:
    """Whether an element is the header of a section beside others, as Bootstrap's class `page-header` is used."""
    if element.tag == "header":
        return False
    beside = chain(
        islice(element.itersiblings(element.tag), _SIBLINGS),
        islice(element.itersiblings(element.tag, preceding=True), _SIBLINGS),
    )
    name = element.get("class")
    return name is not None and any(
        other.get("class") == name and next(other.iter(*HEADINGS), None) is not None for other in beside
    )


def _is_note(attributes: dict[str, str]) -> bool:
    """Whether an element is a footnote, or holds footnotes, which may be mostly links."""
    return attributes.get("role") in _NOTE_ROLES or _FOOTNOTES.search(attributes.get("class", "")) is not None


def _is_mostly_links(element: Element) -> bool:
    return 2 * prose_length(element) < len(plain_text(element))


def _holds_more(element: Element, most: int) -> bool:
    """Whether an element has more than `most` characters of text outside links."""
    return text_length(element) > most and prose_length(element) > most


def _is_article(element: Element) -> bool:
    return element.tag == "article" and next(element.iterancestors("article"), None) is None


def _is_main(element: Element) -> bool:
    return element.tag == "main" or element.get("role") == "main"


def _is_sure_container(element: Element) -> bool:
    return not _SURE_CONTAINERS.isdisjoint((element.get("class") or "").split())


def _is_container(element: Element) -> bool:
    return element.get("id") in _CONTAINER_IDS or not _CONTAINERS.isdisjoint((element.get("class") or "").split())


_BLOCKS = ("main", "article", "div", "section", "td")
_STEPS: tuple[tuple[Callable[[Element], bool], tuple[str, ...], float], ...] = (
    (_is_main, _BLOCKS, 0.2),
    (_is_sure_container, _BLOCKS, 0.3),
    (_is_article, ("article",), 0.6),
    (_is_container, _BLOCKS, 0.8),
)
"""Tests for the main content among elements, each within the one found before, with the least share of its text."""
