"""Old office formats: identified by their streams, refused with a reason."""

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.media_types import DOC, OLE, PPT
from sourcebook.parsing.office.legacy.read_legacy import parse_legacy
from tests.unit.parsing.office.office_files import ole_file, word_file


@pytest.mark.parametrize(
    ("streams", "reason"),
    [
        (("WordDocument",), "damaged or cut off; open it in its program or in LibreOffice and save it as .docx"),
        (("Workbook",), "the file is damaged or cut off"),
        (("Book",), "the file is damaged or cut off"),
        (("EncryptedPackage", "EncryptionInfo"), "protected by a password; save a copy without one"),
        (("Contents",), "OLE file of a program whose documents are not read"),
    ],
)
def test_streams_say_what_an_ole_file_is(streams: tuple[str, ...], reason: str) -> None:
    """Whatever its name was, the reason is the right one."""
    with pytest.raises(ParseError, match=reason):
        parse_legacy(ole_file(*streams), name="a.bin", media_type=OLE)


@pytest.mark.parametrize(("media_type", "target"), [(DOC, "docx"), (PPT, "pptx")])
def test_it_says_what_to_do(media_type: str, target: str) -> None:
    """A file of another format than its name says, and one that is damaged, are to be saved again."""
    content = word_file()
    with pytest.raises(ParseError, match=f"in LibreOffice and save it as .{target}"):
        parse_legacy(content, name="a", media_type=media_type)


@pytest.mark.parametrize("length", [8, 100, 600, 1100])
def test_damaged_ole_files_say_so(length: int) -> None:
    """A file that is cut off has a reason too."""
    with pytest.raises(ParseError, match=r"damaged or cut off|programs? whose documents"):
        parse_legacy(ole_file("WordDocument")[:length], name="a.doc", media_type=OLE)
