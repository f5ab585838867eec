"""Parsing of HTML of any quality into a tree."""

import re
from collections.abc import Callable, Iterator, MutableMapping
from functools import cache, partial
from html import escape
from typing import Any, Protocol

from sourcebook.parsing.html.html5 import as_browsers_read, is_misread

HEADING_START = "\ue000"
HEADING_END = "\ue001"
CODE_NEWLINE = "\ue002"
OWN_START = "\ue003"
OWN_END = "\ue004"
"""Private-use characters, removed from parsed pages, that mark places during the conversion."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

_CONTROLS = bytes((*range(9), 0x0B, *range(0x0E, 0x20), 0x7F))
_MARKS = (HEADING_START, HEADING_END, CODE_NEWLINE, OWN_START, OWN_END)
_DIGITS_OF_MARKS = ("e00", "E00", "5734")
# Two patterns, because a choice between a character and `&#` takes three times as long.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ue000-\ue004]")
_REFUSED = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNWANTED_REFERENCE = re.compile(r"&#(?:x0*e00[0-4]|0*5734[4-8])(?:;|(?![0-9a-f]))", re.IGNORECASE)
# libxml2 puts content after these tags outside <body> or drops it.
_DOCTYPE_START = re.compile("<!DOCTYPE", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_CDATA = "<![CDATA["
_PAGE_END = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
_IN_HEAD = frozenset({"base", "link", "meta", "noscript", "object", "script", "style", "template", "title"})
# Elements kept where deeply nested elements are flattened; the others only group or format.
_KEPT_TAGS = (
    r"html|head|body|title|meta|link|base|script|style|h[1-6]|p|br|hr|pre|li|a|img|main|article|nav"
    r"|header|footer|aside"
)
_BLOCK_TAG = re.compile(r"</?(?:main|article|nav|header|footer|aside|h[1-6]|pre|li|a)(?:\s[^<>]*|/)?>", re.IGNORECASE)
_NESTING_TAG = re.compile(rf"</?(?!(?:{_KEPT_TAGS})[\s/>])([a-z][^\s/<>]*)(?:\s[^<>]*|/)?>", re.IGNORECASE)
# libxml2 takes quadratic time in the attributes of an element.
_TAG = re.compile(r"""<([a-z][^\s/>]*+)((?>(?:[^"'>]++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*))(?:>|\Z)""", re.IGNORECASE)
_DEEPEST = 500
"""Depth of elements that is converted; html-to-markdown drops the text of elements that are more than 1,023 deep."""
_LONG_PAGE = 100_000
_MOST_OF_THE_TEXT = 0.9
_WHOLE = re.compile(
    r"<(?:a|b|code|dd|div|dt|em|h[1-6]|i|iframe|li|p|pre|script|span|style|t[dhr]|textarea|title)\b[^<>]*/>"
)
_RAW = frozenset({"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"})
_MOST_ATTRIBUTES = 2000
_INLINE = re.compile(r"a|b|big|code|em|font|i|small|span|strong|su[bp]|tt|u", re.IGNORECASE)


class Element(Protocol):
    """Part of the interface of lxml's elements, which have no type stubs."""

    tag: str
    text: str | None
    tail: str | None
    attrib: MutableMapping[str, str]

    def __iter__(self) -> Iterator["Element"]: ...
    def __len__(self) -> int: ...
    def addprevious(self, element: "Element") -> None: ...
    def append(self, element: "Element") -> None: ...
    def __getitem__(self, index: int) -> "Element": ...
    def clear(self, keep_tail: bool = False) -> None: ...
    def get(self, name: str) -> str | None: ...
    def getnext(self) -> "Element | None": ...
    def getparent(self) -> "Element | None": ...
    def getprevious(self) -> "Element | None": ...
    def insert(self, index: int, element: "Element") -> None: ...
    def items(self) -> list[tuple[str, str]]: ...
    def iter(self, *tags: str) -> Iterator["Element"]: ...
    def iterchildren(self, *tags: str) -> Iterator["Element"]: ...
    def iterancestors(self, *tags: str) -> Iterator["Element"]: ...
    def itersiblings(self, tag: str, *, preceding: bool = False) -> Iterator["Element"]: ...
    def itertext(self) -> Iterator[str]: ...
    def remove(self, element: "Element") -> None: ...
    def set(self, name: str, value: str) -> None: ...


def parse_page(text: str, *, xml: bool = False) -> Element | None:
    """Parse decoded HTML or XHTML; None where there is no element.

    HTML with faults is read as browsers read it: `<h2>…</h1>` is a heading, and what follows is not part of it.

    Comments, processing instructions and the document type are dropped. Where elements are nested more than 256 deep,
    as in pages that never close their <font>, elements that only group or format are dropped and their text is kept.

    Args:
        text: the page, decoded.
        xml: whether it is XHTML for XML parsers, in which `<title/>` is a whole element; a page with an XML declaration
            and such elements always is.
    """
    xml = xml or (text.lstrip().startswith("<?xml") and _WHOLE.search(text) is not None)
    text = _PAGE_END.sub("", _without_doctype(_with_character_data(_without_unwanted(text))))
    if len(text) > _LONG_PAGE:
        text = _with_fewer_attributes(text)
    tree, complete, has_errors = _parse(text)
    if complete and tree is not None and not xml and (has_errors or is_misread(tree)):
        least = _MOST_OF_THE_TEXT * _readable(tree)
        tree = None  # two trees of a large page would be the peak of a crawl's memory
        tree = _as_browsers_read(text, least)
        if tree is None:
            tree, complete, _ = _parse(text)
    if not complete:
        text = _NESTING_TAG.sub(_flat, text)
        tree, complete, _ = _parse(text, huge=True)
        complete = complete and not _is_deep(tree)
    if not complete:
        tree, *_ = _parse(_BLOCK_TAG.sub("<p>", text), huge=True)
    if tree is not None:
        _empty_head(tree)
    return tree


def body_of(tree: Element) -> Element:
    """Return the page's <body>, or the whole tree of a page without one, such as a frameset."""
    return next(tree.iter("body"), tree)


def subelement(parent: Element, tag: str, text: str = "") -> Element:
    """Append a new element to `parent` and return it."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    element: Element = etree.SubElement(parent, tag)
    set_text(element, text)
    return element


def set_text(element: Element, text: str) -> None:
    """Set the text of an element, without the characters that a tree refuses: a page may name them by number."""
    try:
        element.text = text
    except ValueError:
        element.text = _REFUSED.sub("", text)


def drop(element: Element) -> None:
    """Remove an element with its content; the text after it stays."""
    parent = element.getparent()
    if parent is not None:
        _add_text(parent, element.getprevious(), element.tail)
        parent.remove(element)


def unwrap(element: Element) -> None:
    """Replace an element by its content."""
    parent = element.getparent()
    if parent is None:
        return
    _add_text(parent, element.getprevious(), element.text)
    for child in list(element):
        element.addprevious(child)
    element.text = None
    drop(element)


def all_text(element: Element) -> str:
    """Return the text of an element and of all elements in it."""
    return _text_writer()(element)


@cache
def _text_writer() -> Callable[[Element], str]:
    """Return the function behind `all_text`; an import statement would take four times as long as most of its calls."""
    from lxml import etree

    return partial(etree.tostring, method="text", encoding="unicode", with_tail=False)


def plain_text(element: Element) -> str:
    """Return an element's text with white space collapsed."""
    text = all_text(element) if len(element) else element.text or ""
    return " ".join(text.split())


def replace_content(element: Element, text: str) -> None:
    """Replace the content of an element by text and drop its attributes; the text after it stays."""
    element.clear(keep_tail=True)
    set_text(element, text)


def _without_unwanted(text: str) -> str:
    """Drop control characters and our own marks, which are looked for in ways that are quicker than a pattern."""
    encoded = text.encode()
    if len(encoded.translate(None, _CONTROLS)) < len(encoded) or any(mark in text for mark in _MARKS):
        text = _UNWANTED.sub("", text)
    if "&#" in text and any(digits in text for digits in _DIGITS_OF_MARKS):
        text = _UNWANTED_REFERENCE.sub("", text)
    return text


def _with_character_data(text: str) -> str:
    """Write the text of XML's CDATA sections as that of HTML, which knows none."""
    pieces: list[str] = []
    end = 0
    while (start := text.find(_CDATA, end)) >= 0 and (after := text.find("]]>", start)) >= 0:
        pieces += (text[end:start], escape(text[start + len(_CDATA) : after], quote=False))
        end = after + 3
    return "".join((*pieces, text[end:])) if pieces else text


def _without_doctype(text: str) -> str:
    """Drop the document type, which is sought once: thousands of them that do not end would take quadratic time."""
    start = _DOCTYPE_START.search(text)
    doctype = start and _DOCTYPE.match(text, start.start())
    return text if doctype is None else text[: doctype.start()] + text[doctype.end() :]


def _as_browsers_read(text: str, least: float) -> Element | None:
    """Return the tree that an HTML5 parser makes of a page; None where it is too large, too deep, or loses text.

    Browsers take a whole page for a script where `<script/>` does not end.

    Args:
        text: the page.
        least: characters that are readable in the tree.
    """
    html = as_browsers_read(text)
    mended, complete, _ = _parse(html) if html is not None else (None, False, False)
    return mended if mended is not None and complete and _readable(mended) >= least else None


def _readable(tree: Element) -> int:
    """Count the characters of a tree outside scripts, styles and form controls, white space aside."""
    everything = len("".join(all_text(tree).split()))
    return everything - sum(len("".join((element.text or "").split())) for element in tree.iter(*_RAW))


def _parse(text: str, *, huge: bool = False) -> tuple[Element | None, bool, bool]:
    """Return libxml2's tree, whether it is complete, and whether an end tag fits no element that is open."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=huge)
    try:
        tree: Element | None = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError:  # lxml's error for a document without elements
        tree = None
    # The error log is empty for most pages; an exceeded limit is its last entry.
    log = parser.error_log
    mismatch = etree.ErrorTypes.ERR_TAG_NAME_MISMATCH
    complete = not log or log[-1].type != etree.ErrorTypes.ERR_RESOURCE_LIMIT
    # An end tag </p> too many is frequent, and changes nothing.
    return tree, complete, any(entry.type == mismatch and not entry.message.endswith(": p") for entry in log)


def _is_deep(tree: Element | None) -> bool:
    """Whether elements are nested so deeply that html-to-markdown would leave out their text."""
    depth, level = 0, [tree] if tree is not None else []
    while level and depth <= _DEEPEST:
        depth += 1
        level = [child for element in level for child in element]
    return bool(level)


def _empty_head(tree: Element) -> None:
    """Move body elements out of the head, where libxml2 puts them on pages without a <body> tag."""
    head = next(tree.iter("head"), None)
    if head is None:
        return
    strays = [position for position, element in enumerate(head) if element.tag not in _IN_HEAD]
    if strays:
        body = next(tree.iter("body"), None)
        body = subelement(tree, "body") if body is None else body
        moved = list(head)[strays[0] :]
        moved[-1].tail = (moved[-1].tail or "") + (body.text or "")
        body.text = None
        for place, element in enumerate(moved):
            body.insert(place, element)


def _add_text(parent: Element, previous: Element | None, text: str | None) -> None:
    if text:
        if previous is None:
            parent.text = (parent.text or "") + text
        else:
            previous.tail = (previous.tail or "") + text


def _with_fewer_attributes(text: str) -> str:
    """Drop the attributes of tags with thousands; a closing tag among them reveals a stray quote instead."""
    if max(map(len, text.split("</"))) <= 2 * _MOST_ATTRIBUTES:
        return text
    pieces: list[str] = []
    end = 0
    for tag in _TAG.finditer(text):
        first, after = tag.span(2)
        if after - first <= 2 * _MOST_ATTRIBUTES or "</" in tag[2] or len(tag[2].split()) <= _MOST_ATTRIBUTES:
            continue
        pieces += (text[end : tag.start()], f"<{tag[1]}>")
        end = tag.end()
    return "".join((*pieces, text[end:])) if pieces else text


def _flat(tag: re.Match[str]) -> str:
    return " " if _INLINE.fullmatch(tag[1]) else "<p>"


def text_length(element: Element) -> int:
    """Return the number of characters of an element, with white space collapsed."""
    return int(_compiled("string-length(normalize-space(.))")(element))


def prose_length(element: Element) -> int:
    """Return the number of characters of an element outside links."""
    length = text_length(element)
    within: set[Element] = set()
    is_in_link = next(element.iterancestors("a"), None) is not None
    for link in element.iter("a") if not is_in_link else ():
        if not len(link):
            length -= len(link.text or "") if not within or link not in within else 0
        elif link not in within:
            length -= len(all_text(link))
            within.update(link.iter("a"))
    return length


def make_label(element: Element, *, longest: int) -> None:
    """Turn a title of up to `longest` characters into a bold paragraph: the text after it is not its section."""
    text = plain_text(element)
    if 0 < len(text) <= longest:
        replace_content(element, "")
        element.tag = "p"
        subelement(element, "strong", text)


def found(element: Element, path: str) -> list[Any]:
    """Return what an XPath finds: elements, or texts; quicker than a walk where there is little."""
    elements: list[Any] = _compiled(path)(element)
    return elements


@cache
def _compiled(path: str) -> Callable[[Element], Any]:
    from lxml import etree

    compiled: Callable[[Element], Any] = etree.XPath(path, smart_strings=False)
    return compiled
