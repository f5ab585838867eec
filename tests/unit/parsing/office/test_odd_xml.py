"""Office files whose XML is allowed, and which no office program writes: all of their text is read."""

import errno
import pickle
import re

import docx
import pptx
import pytest

from sourcebook.errors import ParseError, TemporaryParseError
from sourcebook.parsing import parse as parsing
from sourcebook.parsing.hidden_errors import log_cause
from sourcebook.parsing.parse import parse
from tests.unit.parsing.office.office_files import (
    Change,
    changed,
    parse_named,
    saved,
    slides_file,
    word_file,
    workbook_file,
)

REMARKS = [b"<!-- hello -->", b"<?hello there?>"]


def before(tag: bytes, remark: bytes) -> Change:
    """Put a remark before and after each opening tag."""
    return lambda xml: re.sub(rb"<" + tag + rb"(?: [^>]*)?>", lambda opening: remark + opening[0] + remark, xml)


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize("tag", [b"w:body", b"w:p", b"w:t", b"w:tbl", b"w:tr", b"w:tc"])
def test_comments_in_word_files(tag: bytes, remark: bytes) -> None:
    """A comment or processing instruction of XML costs neither the file nor a table."""
    document = docx.Document()
    document.add_paragraph("before")
    document.add_table(1, 1).cell(0, 0).text = "hello"
    content = changed(saved(document), {"word/document.xml": before(tag, remark)})
    assert parse_named("a.docx", content).markdown == "before\n\nhello\n"


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize("part", ["ppt/presentation.xml", "ppt/slides/slide1.xml"])
def test_comments_in_presentations(part: str, remark: bytes) -> None:
    """The list of slides and a slide may hold them."""
    change = before(rb"(?:p:sldId|p:sp|a:p|p:txBody)", remark)
    assert parse_named("a.pptx", changed(slides_file(), {part: change})).markdown == "# hello\n"


def test_comments_in_workbooks() -> None:
    """A sheet may hold them, too."""
    change = before(rb"(?:row|c|v)", REMARKS[0])
    read = parse_named("a.xlsx", changed(workbook_file(), {"xl/worksheets/sheet1.xml": change}))
    assert "| hello | b |" in read.markdown


def test_a_presentation_without_slides_is_skipped() -> None:
    """It is no failure; the reason is told."""
    read = parse_named("a.pptx", saved(pptx.Presentation()))
    assert (read.markdown, read.blocks, read.nothing_to_read) == ("", (), "it has no slides")


def test_a_presentation_without_size() -> None:
    """PowerPoint shows it in the usual size; it is read."""
    content = changed(slides_file(), {"ppt/presentation.xml": lambda xml: re.sub(rb"<p:sldSz[^>]*>", b"", xml)})
    assert parse_named("a.pptx", content).markdown == "# hello\n"


def test_a_part_that_is_missing_costs_no_document() -> None:
    """Programs leave the name of a picture behind that they took out."""
    relations = "word/_rels/document.xml.rels"
    lost = b'<Relationship Id="rId99" Type="http://x/image" Target="media/a%20b.gif"/></Relationships>'
    content = changed(word_file(), {relations: lambda own: own.replace(b"</Relationships>", lost)})
    assert parse_named("a.docx", content).markdown == "hello\n"


def test_a_slide_whose_part_is_missing() -> None:
    """The other slides are read."""
    presentation = pptx.Presentation()
    for title in ("hello", "lost"):
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title
    relation = re.compile(rb"<Relationship [^>]*slides/slide2.xml[^>]*>")
    content = changed(saved(presentation), {"ppt/_rels/presentation.xml.rels": lambda xml: relation.sub(b"", xml)})
    assert parse_named("a.pptx", content).markdown == "# hello\n"


def test_messages_hold_no_errors_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person reads that the file cannot be read and what to do, not `'NoneType' object has no attribute 'x'`."""

    let_parsers_raise(AttributeError("'NoneType' object has no attribute 'rId'"), monkeypatch)
    with pytest.raises(ParseError) as raised:
        parse(word_file(), name="a.txt", media_type="text/plain")
    assert str(raised.value) == "the text parser cannot read it; open and save it again, or convert it"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("zhang@example.com"), "builtins.KeyError"),
        (FileNotFoundError(2, "No such file", "/zhang@example.com"), "builtins.FileNotFoundError (No such file)"),
    ],
)
def test_the_log_names_the_error_of_python_and_its_place(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where it happened in a child process; what the error says may be the file's text, and is left out."""
    let_parsers_raise(error, monkeypatch)
    with pytest.raises(ParseError) as raised:
        parse(word_file(), name="a.txt", media_type="text/plain")
    log_cause("a.txt", pickle.loads(pickle.dumps(raised.value)))  # noqa: S301 - its own
    place = rf"in sourcebook\.parsing\.parse:\d+ > {re.escape(__name__)}:\d+"
    assert re.fullmatch(rf"a\.txt: its parser raised {re.escape(said)} {place}", caplog.messages[0])


def test_a_lack_of_the_machine_is_no_damage_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again later."""
    let_parsers_raise(OSError(errno.ENOSPC, "No space left on device"), monkeypatch)
    with pytest.raises(TemporaryParseError, match=r"No space left on device\); mend that, then ingest again"):
        parse(word_file(), name="a.txt", media_type="text/plain")


def let_parsers_raise(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(content: bytes, **arguments: object) -> None:
        raise error

    monkeypatch.setattr(parsing, "_imported", lambda _: read)
