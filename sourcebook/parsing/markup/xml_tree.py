"""Trees of XML files: nothing is fetched, and no entity is resolved but the names of characters."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from html.entities import html5
from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError

_DECLARED_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")
_DECLARATION = re.compile(rb"<\?xml[^>]{0,200}\?>")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_DOCTYPE = b"<!DOCTYPE any SYSTEM 'none'>"


def xml_root(content: bytes) -> Any:
    """Return the root of an XML file, an element of lxml.

    Raises:
        ParseError: the file is damaged, or holds entities that grow.
    """
    content = content.removeprefix(BOM_UTF8).lstrip()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=is_free_of_entities(content)
    )
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ParseError("it is damaged or cut off; open and save it again", FailureClass.CORRUPT) from error


def text_root(content: bytes) -> Any:
    """Return the root of an XML file of running text, without comments and instructions to programs.

    The name of a character (`&mdash;`) is that character, and another entity is its name as it is written.

    Raises:
        ParseError: the file is damaged, or holds entities that grow.
    """
    root = xml_root(_with_doctype(content.removeprefix(BOM_UTF8).lstrip()))
    for entity in list(root.iter(etree.Entity)):
        shown = etree.Element("span")
        shown.text = html5.get(f"{entity.name};", entity.text)
        shown.tail = entity.tail
        entity.getparent().replace(entity, shown)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    return root


def is_free_of_entities(content: bytes) -> bool:
    """Return whether nothing in a file can grow, so that large embedded pictures and deep groups need no limit."""
    declared = _DECLARED_ENCODING.match(content)
    readable = content.startswith(b"<") and (declared is None or declared[1].lower() in {b"utf-8", b"iso-8859-1"})
    return readable and b"<!ENTITY" not in content.replace(b"\0", b"")


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(etree.QName(element).localname)


def elements(element: Any) -> list[Any]:
    """Return the elements directly below an element."""
    return list(element.iterchildren(etree.Element))


def first_of(element: Any, *names: str) -> Any | None:
    """Return the first element directly below an element that has one of the names, None where none has."""
    return next((child for child in elements(element) if local_name(child) in names), None)


def descendants(element: Any, *names: str) -> Iterator[Any]:
    """Yield the elements below an element that have one of the names."""
    yield from (child for child in element.iter(etree.Element) if local_name(child) in names and child is not element)


def words_of(element: Any | None) -> str:
    """Return the text of an element with white space collapsed, "" for None."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _with_doctype(content: bytes) -> bytes:
    """Give a file without a document type one, without which an unknown entity would be an error."""
    if not content.startswith(b"<") or b"<!DOCTYPE" in _COMMENT.sub(b"", content[:100_000]):
        return content
    declaration = _DECLARATION.match(content)
    end = declaration.end() if declaration else 0
    return content[:end] + _DOCTYPE + content[end:]
