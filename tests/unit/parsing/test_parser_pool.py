"""Parsers in child processes: one document's trouble is its own."""

import re
import resource
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.media_types import CSV, DOCX, MARKDOWN, PDF
from sourcebook.parsing.parser_pool import ParserPool
from tests.unit.parsing.office.office_files import changed, word_file
from tests.unit.parsing.parsers_at_work import SETTINGS, SLOW


def test_documents_come_back_as_parse_returns_them() -> None:
    """What crosses the processes is the same document, whether its bytes go through the pipe or a file."""
    from sourcebook.parsing.parse import parse

    small, large = b"# One\n\nwords\n", b"# Two\n\n" + (b"many words here " * 40 + b"\n\n") * 2_500
    with ParserPool() as parsers:
        started = [
            parsers.start(content, name="a.md", media_type=MARKDOWN, settings=SETTINGS) for content in (small, large)
        ]
        for content, parsing in zip((small, large), started, strict=True):
            assert parsing.result() == parse(content, name="a.md", media_type=MARKDOWN)


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large content lies in a temporary file, which goes with its document, whether that fails or not."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ParserPool(documents=1) as parsers:
        good = parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        bad = parsers.start(b"PK\x03\x04" * 300_000, name="a.docx", media_type="application/zip", settings=SETTINGS)
        assert len(list(tmp_path.glob("sourcebook-*/*"))) == 2
        good.result()
        with pytest.raises(ParseError):
            bad.result()
        assert not list(tmp_path.glob("sourcebook-*/*"))
        parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)  # nobody waits for it
    assert not list(tmp_path.iterdir())


def test_content_lies_once_however_many_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large message with many attachments is not copied for each, and lies there until the last has been read."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ParserPool(documents=1) as parsers:
        started = [
            parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS) for _ in range(3)
        ]
        assert len(list(tmp_path.glob("sourcebook-*/*"))) == 1
        assert len({parsing.result().markdown for parsing in started}) == 1
        assert not list(tmp_path.glob("sourcebook-*/*"))


def test_a_temporary_folder_without_room_fails_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the folder and what to do; what is small is parsed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ParserPool(documents=1) as parsers:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
            with pytest.raises(ParseError, match=rf"temporary folder {tmp_path} \(File too large\); make room"):
                parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not list(tmp_path.glob("sourcebook-*/*"))
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        assert small.result().title == "Small"


def test_no_temporary_folder_at_all_fails_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where no folder can be made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with ParserPool(documents=1) as parsers:
        with pytest.raises(ParseError, match="set TMPDIR"):
            parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        assert small.result().title == "Small"


def test_a_document_that_takes_too_long_fails_alone() -> None:
    """Its sentence names the limit and the setting, and the document behind it is parsed."""
    with ParserPool(documents=1) as parsers:
        slow = parsers.start(
            SLOW * 4, name="slow.csv", media_type=CSV, settings=ParsingSettings(timeout=timedelta(seconds=2))
        )
        quick = parsers.start(b"# Quick\n", name="quick.md", media_type=MARKDOWN, settings=SETTINGS)
        with pytest.raises(ParseError, match=r"not done after 2 seconds; raise parsing\.timeout"):
            slow.result()
        assert quick.result().title == "Quick"


def test_a_document_that_takes_too_much_memory_fails_alone() -> None:
    """Its sentence names the setting, and the document behind it is parsed."""
    with ParserPool(documents=1) as parsers:
        settings = ParsingSettings(memory=500_000_000)
        large = parsers.start(SLOW * 2, name="large.csv", media_type=CSV, settings=settings)
        small = parsers.start(b"# Small\n", name="small.md", media_type=MARKDOWN, settings=SETTINGS)
        with pytest.raises(ParseError, match=r"parsing\.memory"):
            large.result()
        assert small.result().title == "Small"


def test_a_file_larger_than_the_memory_fails_alone() -> None:
    """Also where its pages have to be counted first."""
    with ParserPool(documents=1) as parsers:
        settings = ParsingSettings(memory=500_000_000)
        content = b"%PDF-1.7\n" + bytes(600_000_000)
        large = parsers.start(content, name="a.pdf", media_type=PDF, settings=settings)
        with pytest.raises(ParseError, match=r"parsing\.memory"):
            large.result()


def test_what_a_document_leaves_in_memory_is_no_other_ones_trouble() -> None:
    """A scan loads so much that it does not fit; what comes after it is parsed within the same limit."""
    settings = ParsingSettings(memory=500_000_000)
    with ParserPool(documents=1) as parsers:
        scan = parsers.start(_scan(), name="scan.png", media_type="image/png", settings=settings)
        table = parsers.start(b"1,2,3,4\n" * 100_000, name="a.csv", media_type=CSV, settings=settings)
        with pytest.raises(ParseError, match=r"needs more than 500 MB of memory; raise parsing\.memory"):
            scan.result()
        assert table.result().blocks


def test_a_document_is_tried_again_where_others_left_too_little_memory() -> None:
    """What a process keeps of those before does not count against it."""
    with ParserPool(documents=1) as parsers:
        scan = parsers.start(_scan(), name="scan.png", media_type="image/png", settings=SETTINGS)
        table = parsers.start(
            b"1,2,3,4\n" * 400_000, name="a.csv", media_type=CSV, settings=ParsingSettings(memory=500_000_000)
        )
        scan.result()
        assert table.result().blocks


def test_the_log_says_which_error_of_code_a_child_met(caplog: pytest.LogCaptureFixture) -> None:
    """What the sentence about the file leaves out."""
    without_body = changed(
        word_file(), {"word/document.xml": lambda xml: re.sub(rb"<w:body>.*</w:body>", b"", xml, flags=re.DOTALL)}
    )
    with ParserPool(documents=1) as parsers:
        parsing = parsers.start(without_body, name="a.docx", media_type=DOCX, settings=SETTINGS)
        with pytest.raises(ParseError, match="cannot read it; open and save it again"):
            parsing.result()
    (message,) = caplog.messages
    assert re.match(r"a\.docx: its parser raised builtins\.\w+Error in \w", message)


def _scan() -> bytes:
    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (1_000, 1_400), "white").save(file, "PNG")
    return file.getvalue()
