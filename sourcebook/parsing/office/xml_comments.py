"""Comments and processing instructions in the XML of office files, which docling's readers take for elements."""

import re

_FIRST = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml[\s?]")
_MARKS = tuple(mark.encode(encoding) for mark in ("<!--", "<?") for encoding in ("utf-16-le", "utf-16-be"))


def may_hold_comments(piece: bytes, *, is_first: bool) -> bool:
    """Tell whether a piece of XML may hold a comment, or a processing instruction other than the declaration."""
    if b"<!--" in piece or any(mark in piece for mark in _MARKS):
        return True
    return piece.count(b"<?") > (1 if is_first and _FIRST.match(piece) else 0)


def without_comments(xml: bytes) -> bytes:
    """Return XML without comments and processing instructions; XML that is not well-formed stays as it is."""
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return xml
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return written
