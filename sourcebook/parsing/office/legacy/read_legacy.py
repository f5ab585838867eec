"""Old binary office files: rewritten in the newer format and read by the office parser, or read as they are."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import DOC, DOCX, OLE, OUTLOOK, PPT, PPTX, XLS, XLSX
from sourcebook.parsing.office.office_archive import OfficeFormat
from sourcebook.parsing.text.picture_marks import count_embedded_pictures


@dataclass(frozen=True, slots=True)
class _Kind:
    ending: Literal["doc", "ppt"]
    target: OfficeFormat


_KINDS: Final = {
    DOC: _Kind("doc", "docx"),
    PPT: _Kind("ppt", "pptx"),
}
_TARGETS: Final[dict[OfficeFormat, str]] = {"docx": DOCX, "pptx": PPTX, "xlsx": XLSX}
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PROTECTED = "it is protected by a password; save a copy without one"


def parse_legacy(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Parse a document in an older format; the streams of an OLE file decide its format.

    Workbooks (.xls) are read by xlrd, all others are converted by LibreOffice, or read by anydoc where that is not
    installed.

    Raises:
        ParseError: libreOffice takes too long or refuses the file, or the file is damaged, protected or no document.
    """
    if content.startswith(_OLE_MARK):
        media_type = _ole_type(content, media_type)
    if media_type == OUTLOOK:
        from sourcebook.parsing.mail.read_mail import parse_mail

        return parse_mail(content, media_type=OUTLOOK)
    if media_type == XLS:
        return _parse_xls(content, name=name)
    return _converted(content, name=name, media_type=media_type)


def _parse_xls(content: bytes, *, name: str) -> ParsedDocument:
    from sourcebook.parsing.office.legacy.excel import ole_properties, xlsx_of_xls
    from sourcebook.parsing.office.read_office import parse_office

    count_embedded_pictures(content)
    document = parse_office(xlsx_of_xls(content), name=name, media_type=XLSX)
    properties = ole_properties(content)
    title = properties.pop("title", None)
    left_out = {name: value for name, value in document.metadata.items() if name == "left_out"}
    return replace(document, title=title if isinstance(title, str) else None, metadata=properties | left_out)


def _converted(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    from sourcebook.parsing.office.legacy.conversion import convert
    from sourcebook.parsing.office.read_office import parse_office
    from sourcebook.parsing.registry import libreoffice

    kind = _KINDS[media_type]
    program = libreoffice()
    if program is None:
        from sourcebook.parsing.office.legacy.binary import parse_binary

        return parse_binary(content, ending=kind.ending, target=kind.target)
    converted = convert(content, program=program, ending=kind.ending, target=kind.target)
    return parse_office(converted, name=name, media_type=_TARGETS[kind.target])


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
