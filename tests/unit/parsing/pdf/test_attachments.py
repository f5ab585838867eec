"""Files attached to a PDF are documents of their own."""

import zlib
from hashlib import sha256

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import PDF
from sourcebook.parsing.pdf.attachments import attachment_content
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.worker import AttachmentPlace, member_content
from tests.unit.parsing.pdf.annotated_pdf import annotated, lines, stream
from tests.unit.parsing.pdf.pdf_writer import pdf

REPORT = lines("The readings of the year are in the attached table, and the note says how they were made.")
MEMORY = 4_000_000_000


def holding(
    files: dict[str, bytes], *, at_place: tuple[str, bytes] | None = None, catalog: str = "", entries: str = ""
) -> bytes:
    """Return a PDF with attached files, one of them at a place on its page."""
    held = [*files.items(), *([at_place] if at_place else [])]
    objects: list[str | bytes] = []
    for number, (name, content) in enumerate(held):
        objects.append(f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F {11 + 2 * number} 0 R >> >>")
        objects.append(stream(content, entries))
    names = " ".join(f"({number:04}) {10 + 2 * number} 0 R" for number in range(len(files)))
    place = f"/Subtype /FileAttachment /Rect [400 700 420 720] /FS {8 + 2 * len(held)} 0 R"
    return annotated(
        REPORT,
        [place] if at_place else [],
        catalog=f"/Names << /EmbeddedFiles << /Names [{names}] >> >> {catalog}",
        objects=objects,
    )


def parsed(content: bytes) -> ParsedDocument:
    return parse_pdf(content, settings=ParsingSettings(ocr=False))


def held_by(document: ParsedDocument) -> list[str]:
    return [attachment.name for attachment in document.attachments]


def test_attachments_of_the_document_and_of_a_place() -> None:
    """Each has its own bytes, and the text names it."""
    table, note = b"meter,street\nK-771,Lindholm Lane\n", b"# Method\n\nBy a drone.\n"
    content = holding({"readings.csv": table}, at_place=("method.md", note))
    document = parsed(content)
    assert [(one.name, one.media_type) for one in document.attachments] == [
        ("readings.csv", "text/csv"),
        ("method.md", "text/markdown"),
    ]
    assert document.markdown.endswith("Attachments: readings.csv, method.md\n")
    for number, expected in enumerate((table, note)):
        place = AttachmentPlace(PDF, number, document.attachments[number].sha256)
        assert member_content(content, place, MEMORY) == expected
    with pytest.raises(ParseError, match="no attachment"):
        attachment_content(content, 2)
    with pytest.raises(ParseError, match="file that it is in has changed"):
        member_content(content, AttachmentPlace(PDF, 0, sha256(b"other").digest()), MEMORY)


def test_names_lead_nowhere_and_are_told_apart() -> None:
    """A name is one part of a path, and the second of one name has a number."""
    content = holding({"../../x.csv": b"a,b\n1,2\n", "c:\\\\x.csv": b"a,b\n3,4\n", "..": b"a,b\n5,6\n"})
    assert held_by(parsed(content)) == ["x.csv", "x (2).csv", "attachment-3.txt"]


def test_attached_pdfs_are_followed_by_their_attachments() -> None:
    """One that is attached twice, or holds the PDF that it is in, is read once."""
    inner = holding({"deep.csv": b"a,b\n1,2\n"})
    document = parsed(content := holding({"one.pdf": inner}, at_place=("one.pdf", inner)))
    assert held_by(document) == ["one.pdf", "deep.csv"]
    assert attachment_content(content, 1) == b"a,b\n1,2\n"


def test_a_portfolio_is_the_list_of_its_files() -> None:
    """Its cover asks for another viewer, and is counted; without attachments it would be all that there is."""
    document = parsed(
        holding({"lease.pdf": pdf([lines("The miller pays ninety crowns.")])}, catalog="/Collection << >>")
    )
    assert document.markdown == "Attachments: lease.pdf\n"
    assert document.metadata["left_out"] == {"unseen_words": len(REPORT[0].text.split())}
    assert "readings" in parsed(annotated(REPORT, catalog="/Collection << >>")).markdown


def test_a_bomb_is_counted_and_not_read() -> None:
    """It unpacks to more than 200 times the file."""
    bomb = zlib.compress(b"\0" * (16 << 20), 9)
    document = parsed(holding({"zeros.txt": bomb}, entries="/Filter /FlateDecode"))
    assert document.attachments == ()
    assert document.metadata["left_out"] == {"attachments": 1}


def test_more_than_a_thousand_are_counted() -> None:
    """The first are read."""
    document = parsed(holding({f"{number}.txt": b"%d" % number for number in range(1002)}))
    assert len(document.attachments) == 1000
    assert document.metadata["left_out"] == {"attachments": 2}
    assert "Of 1,002 attachments only these 1,000 are read" in document.markdown
