"""Workbooks without what openpyxl refuses and no reader of text needs."""

from typing import Final

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.office.office_archive import opened_archive, with_parts

_STYLES: Final = frozenset({"cellStyles", "dxfs", "tableStyles", "colors", "extLst"})
_WORKBOOK: Final = frozenset({"externalReferences", "definedNames", "pivotCaches", "customWorkbookViews", "extLst"})
_SHEET: Final = frozenset(
    {
        "autoFilter", "sortState", "conditionalFormatting", "dataValidations", "protectedRanges", "scenarios",
        "tableParts", "extLst",
    }
)  # fmt: skip


def without_extras(content: bytes) -> bytes:
    """Return a workbook without names of styles, filters, validations, pivot tables and links to other workbooks.

    openpyxl refuses a whole file for one of these that it does not expect, though cells and their formats are sound.

    Raises:
        ParseError: the archive is damaged.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    parts: dict[str, bytes] = {}
    with opened_archive(content, named="xlsx") as archive:
        for name in archive.namelist():
            extras = _extras(name)
            if not extras or not name.endswith((".xml", ".rels")):
                continue
            try:
                root = etree.fromstring(archive.read(name), parser)
            except etree.XMLSyntaxError:  # for which openpyxl will refuse it again
                continue
            for element in [child for child in root if isinstance(child.tag, str)]:
                if etree.QName(element).localname in extras or element.get("Type", "").endswith("/pivotTable"):
                    root.remove(element)
            for fill in root.iter("{*}fill"):
                if len(fill) == 0:  # a fill that says nothing, as some libraries write it
                    etree.SubElement(fill, fill.tag.replace("}fill", "}patternFill"))
            parts[name] = etree.tostring(root, encoding="utf-8", xml_declaration=True)
        return with_parts(archive, parts)


def _extras(name: str) -> frozenset[str]:
    match name:
        case "xl/styles.xml":
            return _STYLES
        case "xl/workbook.xml":
            return _WORKBOOK
        case part if part.startswith("xl/worksheets/"):
            return _SHEET
    return frozenset()
