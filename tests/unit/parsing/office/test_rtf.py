"""Rich text without LibreOffice."""

from pathlib import Path

import pytest

from sourcebook.errors import ParseError
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.office.rich_text import RichText, read_rich_text
from sourcebook.parsing.office.rtf import parse_rtf
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

LOCK = (Path(__file__).parent.parent / "files" / "lock.rtf").read_bytes()


def read(content: bytes) -> list[str]:
    document = parse_rtf(content)
    assert_blocks_cover(document)
    return texts(document)


def test_rich_text_keeps_its_structure() -> None:
    """Headings with levels, lists, tables, and the footnote in its place."""
    document = parse(LOCK, name="lock.rtf", media_type=detect_media_type("lock.rtf", LOCK))
    assert_blocks_cover(document)
    assert document.language == "en"
    assert texts(document) == [
        "Lock manual",
        "Ada Byron",
        "2024-05-01",
        "# Gates",
        "Never open the upper gates before the paddles are down.[^1] See the rules.",
        "## Order of work",
        "1. Close the lower gates.\n2. Raise the upper paddles.\n- left first\n- then right\n- ropes\n- windlass",
        "| Gate | Width (m) |\n| --- | --- |\n| Äpper | 4.5 |\n| Lower | 5.25 |",
        "Widths of gates",
        "# Keeper’s house",
        "Mind the sill.",
        "def open_gate(side):",
        'return f"{side} is open"',
        "Last paragraph with ünïcödé — and 中文.",
        "[^1]: They weigh three tons.",
    ]


def test_properties_and_code_pages() -> None:
    """The title of the file, and letters of its code page."""
    content = (
        rb"{\rtf1\ansi\ansicpg1250{\info{\title The \u8220?sill\u8221?}{\author Ada}{\keywords locks; water}}"
        rb"{\pard Za\'bf\'f3\'b3\'e6\par}\pard\trowd\cellx1 a\cell b\cell\row\pard after\par}"
    )
    document = parse_rtf(content)
    assert document.title == "The “sill”"
    assert document.metadata == {"author": "Ada", "keywords": ["locks", "water"]}
    assert texts(document) == ["Za\u017c\u00f3\u0142\u0107", "| a | b |\n| --- | --- |", "after"]


def test_characters_of_two_surrogates_are_one() -> None:
    """A lone surrogate could not be stored."""
    assert read(rb"{\rtf1 a \u-10179?\u-8704? b \u-10179? c\par}") == ["a \U0001f600 b \ufffd c"]


def test_pictures_and_binary_data_are_no_text() -> None:
    """Whether in hexadecimal digits or as bytes; a brace within the bytes ends nothing."""
    data = b"{\\pict\\bin6 {}{}}}}"
    content = b"{\\rtf1 before" + data + b"{\\pict\\pngblip " + b"89504e47" * 100_000 + b"} after\\par}"
    assert read(content) == ["before after"]


@pytest.mark.parametrize("word", [b"\\binsxn", b"\\binfsxn7", b"\\bin"])
def test_text_behind_a_picture_and_the_tray_of_a_printer_is_kept(word: bytes) -> None:
    """Such words are no binary data, and a group within a picture does not end it."""
    picture = b"{\\pict{\\*\\picprop{\\sp{\\sn a}{\\sv 1}}}{\\*\\blipuid 00ff}\\pngblip ffd8}"
    assert read(b"{\\rtf1\\sectd" + word + b" before" + picture + b" middle\\par after\\par}") == [
        "before middle",
        "after",
    ]


def test_words_of_the_format_in_a_text_are_text() -> None:
    """As in a description of the format; an escaped backslash before a word makes no word of it."""
    content = rb"{\rtf1 A \\cell or \\row, \\bin3 and \\pict\par {\pict ffd8} after\par}"
    assert read(content) == [r"A \cell or \row, \bin3 and \pict", "after"]


def test_the_data_of_pictures_are_not_gone_over_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scans within letters are megabytes of digits."""
    given: list[int] = []

    def noted(source: str, *, page: str = "cp1252") -> RichText:
        given.append(len(source))
        return read_rich_text(source, page=page)

    monkeypatch.setattr("sourcebook.parsing.office.rtf.read_rich_text", noted)
    digits = (b"89504e47" * 16 + b"\n") * 1_000
    assert read(b"{\\rtf1 before{\\pict\\pngblip " + digits + b"} after\\par}") == ["before after"]
    assert max(given) < 1_000


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.95])
def test_cut_off_rich_text_is_read_as_far_as_it_goes(kept: float) -> None:
    """A document that ends within a group or a footnote raises nothing but reasons."""
    assert_blocks_cover(parse_rtf(LOCK[: int(len(LOCK) * kept)]))


def test_other_text_is_refused() -> None:
    """A file that only has the ending."""
    with pytest.raises(ParseError, match="it is no rich text"):
        parse_rtf(b"<html>")


def test_what_a_document_includes_from_this_machine_is_not_read(tmp_path: Path) -> None:
    """A field that names a file stays what it was when the document was saved."""
    secret = tmp_path / "secret.txt"
    secret.write_text("sesame")
    field = '{\\field{\\*\\fldinst INCLUDETEXT "' + secret.as_posix() + '"}{\\fldrslt saved}}'
    assert read(b"{\\rtf1 hello " + field.encode() + b"}") == ["hello saved"]
