"""Drawings (.svg, .svgz): their title, descriptions and text."""

import re
import zlib
from collections.abc import Iterator
from typing import Any

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.xml_tree import descendants, elements, local_name, xml_root
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.picture_marks import embedded_picture, picture_mark

_NOT_SHOWN = frozenset({"defs", "metadata", "script", "style", "symbol"})
_TEXTS = frozenset({"title", "desc", "text", "foreignObject"})

_LINES = frozenset({"br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "pre", "td", "th"})
"""HTML elements inside a drawing that begin and end a line."""

_GRAPHVIZ_CLASSES = frozenset({"cluster", "graph", "node"})

_GZIP = b"\x1f\x8b"
_MOST_BYTES = 64 << 20
"""Bytes that a compressed drawing may unpack to."""
_HIDDEN = re.compile(r"(?:^|;)\s*display\s*:\s*none\b")


def parse_svg(content: bytes) -> ParsedDocument:
    """Parse a drawing: a paragraph for each title, description and text, in the order of the file.

    Entities are not resolved, and nothing is fetched. Of the alternatives in a `switch`, one is read.

    Raises:
        ParseError: the file is no drawing, or it is damaged.
    """
    root = xml_root(_unpacked(content))
    if local_name(root) != "svg":
        raise ParseError("it is no SVG drawing; check its file name", FailureClass.CORRUPT)
    title = next((_words(child) for child in elements(root) if local_name(child) == "title"), "")
    joined = JoinedBlocks()
    for text in _texts(root):
        joined.add(clean(text), "paragraph")
    for image in descendants(root, "image"):
        address = image.get("href") or image.get("{http://www.w3.org/1999/xlink}href") or ""
        joined.add(picture_mark(embedded_picture(address) or b""), "paragraph")
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    language = detect_language(markdown, blocks)
    metadata = with_left_out({}, {"hidden_words": len(" ".join(_hidden_texts(root)).split())})
    return ParsedDocument(markdown, blocks, title=title or None, language=language, metadata=metadata)


def _hidden_texts(root: Any) -> Iterator[str]:
    """Yield the texts of the outermost hidden elements."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if _is_hidden(element):
            yield " ".join(element.itertext())
        else:
            waiting.extend(elements(element))


def _unpacked(content: bytes) -> bytes:
    """Return the XML of a drawing, also of a compressed one (.svgz)."""
    if not content.startswith(_GZIP):
        return content
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacking.decompress(content, _MOST_BYTES)
    except zlib.error as error:
        raise ParseError("it is damaged or cut off; open and save it again", FailureClass.CORRUPT) from error
    if unpacking.unconsumed_tail:
        raise ParseError(f"it unpacks to more than {_MOST_BYTES >> 20} MiB; split it", FailureClass.TOO_LARGE)
    return unpacked


def _texts(root: Any) -> Iterator[str]:
    """Yield the titles, descriptions and texts of a drawing that are not blank."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        name = local_name(element)
        if name in _NOT_SHOWN or _is_hidden(element) or (name == "title" and _names_a_node(element)):
            continue
        if name in _TEXTS:
            if words := _words(element):
                yield words
        elif name == "switch":
            waiting.extend(_chosen(element))
        else:
            waiting.extend(reversed(elements(element)))


def _words(element: Any) -> str:
    """Return the text of an element, with a space where a line begins."""
    pieces: list[str] = []
    waiting: list[Any] = [element]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        if item is not element:
            waiting.append(item.tail or "")
        if not isinstance(item.tag, str) or local_name(item) in _NOT_SHOWN or _is_hidden(item):
            continue
        between = " " if _begins_line(item) else ""
        waiting += [between, *reversed(list(item)), item.text or "", between]
    return " ".join("".join(pieces).split())


def _begins_line(element: Any) -> bool:
    """Return whether an element stands apart from the text before it: by its position, or as a block of HTML."""
    return local_name(element) in _LINES or any(element.get(position) for position in ("x", "y", "dy"))


def _chosen(switch: Any) -> list[Any]:
    """Return the alternative that viewers show, in a list: the first one that asks for no extension and no language."""
    children = elements(switch)
    plain = [child for child in children if not child.get("requiredExtensions")]
    general = [child for child in plain if not child.get("systemLanguage")]
    return (general or plain or children)[:1]


def _names_a_node(title: Any) -> bool:
    """Return whether a title is the name that Graphviz gives a node or a group of nodes, which is not what it shows."""
    group = title.getparent()
    return local_name(group) == "g" and group.get("class") in _GRAPHVIZ_CLASSES


def _is_hidden(element: Any) -> bool:
    return element.get("display") == "none" or bool(_HIDDEN.search(element.get("style", "")))
