"""Old binary office files: workbooks are rewritten in the newer format, all others read as they are."""

import re
from dataclasses import replace
from typing import Any, Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.media_types import DOC, DOCX, OLE, OUTLOOK, PPT, XLS, XLSX
from sourcebook.parsing.markup.xml_tree import elements, first_of, local_name, words_of, xml_root
from sourcebook.parsing.text.picture_marks import count_embedded_pictures

_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PROTECTED = "it is protected by a password; save a copy without one"
_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_PROPERTIES: Final = {
    "Title": "title",
    "Author": "author",
    "Created": "created",
    "LastSaved": "modified",
    "Subject": "subject",
    "Description": "description",
    "Keywords": "keywords",
    "Category": "category",
}
"""Names in the file, each with the name in a document's metadata."""


def parse_legacy(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse a document in an older format; the streams of an OLE file decide its format.

    Workbooks (.xls) are read by xlrd, all others by anydoc: no program of this machine decides on the text.

    Raises:
        ParseError: the file is damaged, protected or no document.
    """
    if content.startswith(_OLE_MARK):
        media_type = _ole_type(content, media_type)
    if media_type == OUTLOOK:
        from sourcebook.parsing.mail.read_mail import parse_mail

        return parse_mail(content, media_type=OUTLOOK)
    if media_type == DOC and is_xml(content):
        from sourcebook.parsing.office.legacy.word_2003 import docx_of_xml

        root = xml_root(content)
        return _rewritten(docx_of_xml(root), xml_properties(root), name=name, media_type=DOCX)
    if media_type == XLS:
        return _parse_xls(content, name=name)
    from sourcebook.parsing.office.legacy.binary import parse_binary

    return parse_binary(content, media_type=media_type)


def _parse_xls(content: bytes, *, name: str) -> ParsedDocument:
    from sourcebook.parsing.office.legacy.excel import ole_properties, xlsx_of_xls

    if is_xml(content):
        from sourcebook.parsing.office.legacy.excel_2003 import xlsx_of_xml

        root = xml_root(content)
        return _rewritten(xlsx_of_xml(root), xml_properties(root), name=name, media_type=XLSX)
    count_embedded_pictures(content)
    return _rewritten(xlsx_of_xls(content), ole_properties(content), name=name, media_type=XLSX)


def _rewritten(content: bytes, properties: dict[str, JsonValue], *, name: str, media_type: str) -> ParsedDocument:
    """Parse a file that was rewritten, with the properties of the original."""
    from sourcebook.parsing.office.read_office import parse_office

    document = parse_office(content, name=name, media_type=media_type)
    title = properties.pop("title", None)
    left_out = {name: value for name, value in document.metadata.items() if name == "left_out"}
    held = document.title if media_type == DOCX else None
    return replace(document, title=title if isinstance(title, str) else held, metadata=properties | left_out)


def _ole_type(content: bytes, named: str) -> str:
    """Return the media type of an OLE file by its streams."""
    import olefile  # type: ignore[import-untyped] # it has no types

    try:
        with olefile.OleFileIO(content) as ole:
            if ole.exists("EncryptedPackage") or ole.exists("EncryptedSummary"):
                raise ParseError(_PROTECTED, FailureClass.PASSWORD)
            if ole.exists("WordDocument"):
                with ole.openstream("WordDocument") as stream:
                    head = stream.read(12)
                if len(head) == 12 and head[11] & 1:  # fEncrypted of the file information block
                    raise ParseError(_PROTECTED, FailureClass.PASSWORD)
                return DOC
            if ole.exists("PowerPoint Document"):
                return PPT
            if ole.exists("Workbook") or ole.exists("Book"):
                return XLS
            if ole.exists("__properties_version1.0"):
                return OUTLOOK
    except (OSError, ValueError, IndexError) as error:  # of olefile, for a damaged file
        raise ParseError(
            "the file is damaged or cut off; copy it again, or open and save it", FailureClass.CORRUPT
        ) from error
    if named != OLE:
        raise ParseError(
            "it holds no document of the format in its file name; check that name", FailureClass.UNSUPPORTED
        )
    raise ParseError(
        "it is an OLE file of a program whose documents are not read; save it as .docx, .xlsx or .pdf",
        FailureClass.UNSUPPORTED,
    )


def is_xml(content: bytes) -> bool:
    """Tell whether a file is XML, and no binary file of Office."""
    return content.startswith(_WIDE_MARKS) or _XML.match(content) is not None


def xml_properties(root: Any) -> dict[str, JsonValue]:
    """Return the properties of a document by the names that `ole_properties` uses."""
    held = first_of(root, "DocumentProperties")
    stated = {} if held is None else {local_name(each): words_of(each) for each in elements(held)}
    found: dict[str, JsonValue] = {ours: stated[theirs] for theirs, ours in _PROPERTIES.items() if stated.get(theirs)}
    if isinstance(words := found.get("keywords"), str):
        found["keywords"] = [word.strip() for word in re.split("[;,]", words) if word.strip()]
    return found
