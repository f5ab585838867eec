"""Documents of Word 2003 in one XML file (WordprocessingML), rewritten as .docx for the reader of Word."""

from copy import deepcopy
from io import BytesIO
from typing import Any, Final
from xml.sax.saxutils import quoteattr
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.markup.xml_tree import descendants, elements, first_of, local_name, words_of

_OLD: Final = "{http://schemas.microsoft.com/office/word/2003/wordml}"
_AUXILIARY: Final = "{http://schemas.microsoft.com/office/word/2003/auxHint}"
_ANNOTATION: Final = "{http://schemas.microsoft.com/aml/2001/core}"
_MAIN: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_LINKS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W, _R = f"{{{_MAIN}}}", f"{{{_LINKS}}}"
_PREFIXES: Final = {"w": _OLD[1:-1], "r": _LINKS}
_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_NUMBERS: Final = (
    "decimal", "upperRoman", "lowerRoman", "upperLetter", "lowerLetter", "ordinal", "cardinalText", "ordinalText",
)  # fmt: skip
"""Names of number formats by their number in Word 2003."""
_BULLET, _NO_NUMBER = "23", "255"
_HEADS: Final = {"odd": "default", "even": "even", "first": "first"}


def docx_of_xml(root: Any) -> bytes:
    """Rewrite a document: its text with styles, numbered lists, tables, links, notes, headers and comments.

    Pictures are left out, and what was deleted while changes were tracked.

    Raises:
        ParseError: it is no document of Word.
    """
    body = next(descendants(root, "body"), None)
    if local_name(root) != "wordDocument" or body is None:
        raise ParseError("it is XML, but no document of Word; check its file name", FailureClass.UNSUPPORTED)
    package = _Package()
    _write_annotations(body)
    etree.strip_tags(body, f"{_AUXILIARY}sect", f"{_AUXILIARY}sub-section", f"{_AUXILIARY}pBdrGroup")
    for data in list(root.iter(f"{_OLD}binData")):
        data.getparent().remove(data)
    for kind in ("footnote", "endnote"):
        _move_notes(package, body, kind)
    for head in list(body.iter(f"{_OLD}hdr", f"{_OLD}ftr")):
        _move_head(package, head)
    for number in body.iter(f"{_OLD}listPr"):
        number.tag = f"{_OLD}numPr"
    for number in body.iter(f"{_OLD}ilfo"):
        number.tag = f"{_OLD}numId"
    for link in body.iter(f"{_OLD}hlink"):
        link.tag = f"{_OLD}hyperlink"
        if address := link.get(f"{_OLD}dest"):
            link.set(f"{_R}id", package.related("hyperlink", address, mode="External"))
    for name, part in (("styles", first_of(root, "styles")), ("numbering", _numbering(first_of(root, "lists")))):
        if part is not None:
            package.add(name, part)
    document = etree.Element(f"{_OLD}document", nsmap=_PREFIXES)
    document.append(body)
    return package.closed(document)


class _Package:
    """Parts of a .docx that grow, with the types and relationships that name them."""

    def __init__(self) -> None:
        self._parts: dict[str, bytes] = {}
        self._types: list[str] = []
        self._links: list[str] = []

    def add(self, name: str, root: Any, *, kind: str = "") -> str:
        """Add a part, and return the id of the relationship to it."""
        self._parts[f"word/{name}.xml"] = _written(root)
        self._types.append(f'<Override PartName="/word/{name}.xml" ContentType="{_WORD}.{kind or name}+xml"/>')
        return self.related(kind or name, f"{name}.xml")

    def related(self, kind: str, target: str, *, mode: str = "Internal") -> str:
        """Add a relationship of the document, and return its id."""
        name = f"rId{len(self._links) + 1}"
        self._links.append(
            f'<Relationship Id="{name}" Type="{_LINKS}/{kind}" Target={quoteattr(target)} TargetMode="{mode}"/>'
        )
        return name

    def closed(self, document: Any) -> bytes:
        """Return the file with its main part."""
        links = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
        main = f'<Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="word/document.xml"/>'
        types = (
            f'<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>{"".join(self._types)}'
        )
        self._parts["word/document.xml"] = _written(document)
        self._parts["word/_rels/document.xml.rels"] = links.format("".join(self._links)).encode()
        self._parts["_rels/.rels"] = links.format(main).encode()
        self._parts["[Content_Types].xml"] = (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels"'
            f' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>'
        ).encode()
        file = BytesIO()
        with ZipFile(file, "w") as archive:
            for name, part in self._parts.items():
                archive.writestr(name, part)
        return file.getvalue()


def _written(root: Any) -> bytes:
    """Return a part with the namespace of today's Word."""
    xml: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return xml.replace(_OLD[1:-1].encode(), _MAIN.encode())


def _write_annotations(body: Any) -> None:
    """Remove deleted words, keep inserted ones, and write comments behind their paragraph."""
    for note in list(body.iter(f"{_ANNOTATION}annotation")):
        kind = note.get(f"{_OLD}type") or ""
        if kind == "Word.Comment":
            _add_comment(note)
        if kind in {"Word.Comment", "Word.Deletion"} and note.getparent() is not None:
            note.getparent().remove(note)
    etree.strip_tags(body, f"{_ANNOTATION}annotation", f"{_ANNOTATION}content")


def _add_comment(note: Any) -> None:
    place = next(note.iterancestors(f"{_OLD}p"), None)
    text, author = words_of(note), note.get(f"{_ANNOTATION}author") or ""
    if place is not None and text:
        paragraph = etree.Element(f"{_OLD}p")
        run = etree.SubElement(etree.SubElement(paragraph, f"{_OLD}r"), f"{_OLD}t")
        run.text = f"Comment by {author}: {text}" if author else f"Comment: {text}"
        place.addnext(paragraph)


def _move_notes(package: _Package, body: Any, kind: str) -> None:
    notes = etree.Element(f"{_OLD}{kind}s", nsmap=_PREFIXES)
    for number, note in enumerate(list(body.iter(f"{_OLD}{kind}")), start=1):
        if next(note.iterancestors(f"{_OLD}r"), None) is None:  # it sets the line above notes
            note.getparent().remove(note)
            continue
        moved = deepcopy(note)
        moved.tail = None
        moved.set(f"{_OLD}id", str(number))
        notes.append(moved)
        note.clear(keep_tail=True)
        note.tag = f"{_OLD}{kind}Reference"
        note.set(f"{_OLD}id", str(number))
    if len(notes):
        package.add(f"{kind}s", notes)


def _move_head(package: _Package, head: Any) -> None:
    """Move a header or footer into a part of its own, where it is left out and counted as that of any document."""
    kind = "header" if head.tag.endswith("hdr") else "footer"
    place = head.get(f"{_OLD}type") or ""
    moved = deepcopy(head)
    moved.tail = None
    name = package.add(f"{kind}{id(head)}", moved, kind=kind)
    head.clear(keep_tail=True)
    head.tag = f"{_OLD}{kind}Reference"
    head.set(f"{_R}id", name)
    head.set(f"{_OLD}type", _HEADS.get(place, "default"))


def _numbering(lists: Any | None) -> Any | None:
    """Return the definitions of lists as today's Word has them."""
    if lists is None:
        return None
    numbering = etree.Element(f"{_OLD}numbering", nsmap=_PREFIXES)
    for each in elements(lists):
        if local_name(each) == "listDef":
            each.tag = f"{_OLD}abstractNum"
            each.set(f"{_OLD}abstractNumId", each.get(f"{_OLD}listDefId") or "0")
            for kind in list(each.iter(f"{_OLD}nfc")):
                number = kind.get(f"{_OLD}val") or "0"
                kind.tag = f"{_OLD}numFmt"
                kind.set(f"{_OLD}val", _number_format(number))
        elif local_name(each) == "list":
            each.tag = f"{_OLD}num"
            each.set(f"{_OLD}numId", each.get(f"{_OLD}ilfo") or "0")
            for definition in each.iter(f"{_OLD}ilst"):
                definition.tag = f"{_OLD}abstractNumId"
        else:
            continue
        numbering.append(each)
    for level in numbering.iter(f"{_OLD}lvl"):
        if level.find(f"{_OLD}numFmt") is None:  # decimal numbers are not written
            etree.SubElement(level, f"{_OLD}numFmt").set(f"{_OLD}val", "decimal")
    return numbering


def _number_format(number: str) -> str:
    if number == _BULLET:
        return "bullet"
    known = number.isdecimal() and int(number) < len(_NUMBERS)
    return "none" if number == _NO_NUMBER else _NUMBERS[int(number)] if known else "decimal"
