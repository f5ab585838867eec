"""Content controls of Word documents: what a person chose or wrote in them, and no text that only asks for it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

_WORD_2010: Final = "{http://schemas.microsoft.com/office/word/2010/wordml}"
CHECKBOX: Final = f"{_WORD_2010}checkbox"
_TEXT, _RUN, _STYLE = qn("w:t"), qn("w:r"), qn("w:rStyle")
_VALUE: Final = qn("w:val")
_PATH: Final = re.compile(r"(?:/@?\w[\w.-]*(?::[\w.-]+)?(?:\[\d{1,6}\])?)+(?:/text\(\))?")
_NAMESPACES: Final = re.compile(r"xmlns:([\w.-]+)=[\"']([^\"']+)[\"']")
_MIDNIGHT: Final = re.compile(r"(\d{4}-\d\d-\d\d)T00:00:00(?:\.0+)?Z?")
_PROPERTIES: Final = {
    "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}": "core-properties",
    "{6668398D-A668-4E3E-A5EB-62B293D839F1}": "extended-properties",
}
"""Stores that Word itself keeps, by the last part of their relationship's type."""


@dataclass(frozen=True)
class Controls:
    """The content controls of a document, with the data that some of them show."""

    document: Document

    def write_value(self, control: Any) -> bool:
        """Write the state of a check box and the bound data of a field; tell whether the field is empty.

        Text that asks for a value ("Click here to enter text") is removed. A program that filled a field may have left
        the mark of such text on it: the text decides where the document says what it asks for.
        """
        properties, content = control.find(qn("w:sdtPr")), control.find(qn("w:sdtContent"))
        if properties is None or content is None:
            return False
        if (box := properties.find(CHECKBOX)) is not None:
            _write(content, "☒" if is_checked(box.find(f"{_WORD_2010}checked")) else "☐")
            return False
        asks = self._asks(properties, content)
        if asks or properties.find(qn("w:text")) is not None or not _text(content).strip():
            value = self._bound(properties)
            if value or asks:
                _write(content, value)
                return not value
        return False

    def _asks(self, properties: Any, content: Any) -> bool:
        mark = properties.find(qn("w:showingPlcHdr"))
        if mark is None or mark.get(_VALUE, "1") in {"0", "false", "off"}:
            return False
        if any(style.get(_VALUE) in self._asking_styles for style in content.iter(_STYLE)):
            return True
        part = properties.find(f"{qn('w:placeholder')}/{qn('w:docPart')}")
        asked = None if part is None else self._asking_texts.get(part.get(_VALUE, ""))
        return asked is None or asked == _text(content)

    def _bound(self, properties: Any) -> str:
        """Return the text of the data that a field is bound to; "" where it is bound to none."""
        binding = properties.find(qn("w:dataBinding"))
        path = "" if binding is None else binding.get(qn("w:xpath"), "")
        root = None if binding is None else self._stores.get(binding.get(qn("w:storeItemID"), "").upper())
        if root is None or not _PATH.fullmatch(path):
            return ""
        names = dict(_NAMESPACES.findall(binding.get(qn("w:prefixMappings"), "")))
        try:
            found = root.getroottree().xpath(path, namespaces=names or None)
        except etree.XPathError:
            return ""
        first = found[0] if isinstance(found, list) and found else ""
        value = (first if isinstance(first, str) else "".join(first.itertext())).strip()
        entries = (entry for entry in properties.iter(qn("w:listItem")) if entry.get(qn("w:value")) == value)
        shown = next((entry.get(qn("w:displayText")) for entry in entries), None)
        return shown or _MIDNIGHT.sub(r"\1", value)

    @cached_property
    def _stores(self) -> Mapping[str, Any]:
        return {identity: root for identity, root in self._all_stores() if root is not None}

    def _all_stores(self) -> Iterator[tuple[str, Any]]:
        for part in _related(self.document.part, "customXml"):
            for described in _related(part, "customXmlProps"):
                root = _root(described.blob)
                for name, identity in () if root is None else root.attrib.items():
                    if etree.QName(name).localname == "itemID":
                        yield identity.upper(), _root(part.blob)
        for identity, kind in _PROPERTIES.items():
            for part in _related(self.document.part.package, kind):
                yield identity, _root(part.blob)

    @cached_property
    def _asking_styles(self) -> frozenset[str]:
        named = self.document.styles.element.iterfind(f"{qn('w:style')}/{qn('w:name')}")
        styles = (name.getparent() for name in named if name.get(_VALUE, "").lower() == "placeholder text")
        return frozenset({"PlaceholderText", *(style.get(qn("w:styleId"), "") for style in styles)})

    @cached_property
    def _asking_texts(self) -> Mapping[str, str]:
        texts = {}
        for part in _related(self.document.part, "glossaryDocument"):
            root = _root(part.blob)
            for each in () if root is None else root.iter(qn("w:docPart")):
                name, body = each.find(f"{qn('w:docPartPr')}/{qn('w:name')}"), each.find(qn("w:docPartBody"))
                if name is not None and body is not None:
                    texts[name.get(_VALUE, "")] = _text(body)
        return texts


def is_checked(state: Any) -> bool:
    """Tell whether an element of a check box says that it is checked."""
    return state is not None and (state.get(_VALUE) or state.get(f"{_WORD_2010}val", "1")) not in {"0", "false", "off"}


def run_of(text: str) -> Any:
    """Return a run with a text."""
    run = OxmlElement("w:r")
    words = OxmlElement("w:t")
    words.text = text
    run.append(words)
    return run


def _related(part: Any, kind: str) -> list[Any]:
    """Return the parts that a part names as of a kind, the last part of the relationship's type."""
    relationships = part.rels.values()
    return [each.target_part for each in relationships if not each.is_external and each.reltype.endswith(f"/{kind}")]


def _root(content: bytes) -> Any:
    try:
        return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None


def _text(content: Any) -> str:
    return "".join(text.text or "" for text in content.iter(_TEXT))


def _write(content: Any, text: str) -> None:
    """Put a text in the place of all texts of a control's content, which keeps its paragraph, cell or row."""
    for old in list(content.iter(_TEXT, qn("w:sym"), qn("w:br"))):
        old.getparent().remove(old)
    run = next(content.iter(_RUN), None)
    paragraph = next(content.iter(qn("w:p")), None)
    if run is not None:
        run.extend(run_of(text))
    elif paragraph is not None:
        paragraph.append(run_of(text))
    elif len(content) == 0:
        content.append(run_of(text))
