"""The content of a file decides what it is; its name only where the content cannot."""

import gzip
import re
from importlib import import_module
from inspect import signature

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.media_types import is_recording, media_type_of_name
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import PARSERS, Parser, is_taken, parser_for, parser_identity, skip_reason

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ZIP_HEAD = b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + b"\x00" * 16 + b"\x13\x00\x00\x00"
XLSB = "application/vnd.ms-excel.sheet.binary"
FLAT = (
    b'<?xml version="1.0"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    b'office:mimetype="application/vnd.oasis.opendocument.%s">'
)
OLE_HEAD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 100


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("notes.md", b"# Notes\n", "text/markdown"),
        ("NOTES.MD", b"# Notes\n", "text/markdown"),
        ("https://example.org/a/notes.txt", b"text", "text/plain"),
        ("notes.txt", b"AC1000 is the model of the pump\n", "text/plain"),
        ("notes.txt", b"8BPS and MThd are signatures\n", "text/plain"),
        ("book", b"\0\0\0\x20ftypM4B \0\0\0\0M4B mp41", "audio/mp4"),
        ("photo", b"\0\0\0\x20ftypmif1\0\0\0\0mif1heic", "image/heic"),
        ("scan.tif", b"\xff" * 3_000 + b"\xfb\xcf" * 500, "image/tiff"),
        ("scan", b"\xff" * 3_000 + b"\xfb\xcf" * 500, "application/octet-stream"),
        ("notes.txt", b"\xe4\xe4\xe4\xe4 h\xf6rt!", "text/plain"),
        ("report.pdf", b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        ("report.txt", b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        ("report.pdf", b"only text\n", "text/plain"),
        ("report.docx", b"only text\n", "text/plain"),
        ("picture.png", b"only text\n", "text/plain"),
        ("picture.md", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"),
        ("letter.docx", ZIP_HEAD, DOCX),
        ("letter", ZIP_HEAD + b"[Content_Types].xml" + b"\x00" * 40 + b"word/document.xml", DOCX),
        ("letter.zip", ZIP_HEAD + b"data.txt", "application/zip"),
        ("letter.doc", OLE_HEAD, "application/msword"),
        ("letter.docx", OLE_HEAD, "application/x-ole-storage"),
        ("plan.vsd", OLE_HEAD, "application/vnd.ms-visio"),
        ("leaflet.pub", OLE_HEAD, "application/vnd.ms-publisher"),
        ("levels.xlsb", ZIP_HEAD + b"[Content_Types].xml" + b"\x00" * 40 + b"xl/workbook.bin", XLSB),
        ("levels.gnumeric", b"\x1f\x8b\x08", "application/x-gnumeric"),
        ("letter.sxw", ZIP_HEAD + b"mimetype", "application/vnd.openoffice"),
        ("letter.abw", b'<?xml version="1.0"?>\n<abiword>', "application/x-abiword"),
        ("letter.wpd", b"\xffWPC\x10\x00\x00\x00", "application/vnd.wordperfect"),
        ("photo.heic", b"\0\0\0\x18ftyp    \0\0\0\0    heic", "image/heic"),
        ("letter.fodt", FLAT % b"text", "application/vnd.oasis.opendocument.text"),
        ("levels", FLAT % b"spreadsheet-template", "application/vnd.oasis.opendocument.spreadsheet"),
        ("letter.fodt", b"only text\n", "text/plain"),
        ("book.epub", ZIP_HEAD + b"mimetypeapplication/epub+zip", "application/epub+zip"),
        ("page", b"<!DOCTYPE html><html>", "text/html"),
        ("page.txt", b"<html><body>", "text/html"),
        ("page.md", b"<html> is a tag\n", "text/markdown"),
        ("talk.wav", b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"),
        ("talk", b"ID3\x03\x00", "audio/mpeg"),
        ("talk.mp3", b"only text\n", "audio/mpeg"),
        ("talk.mp4", b"<html><body>404", "video/mp4"),
        ("talk.mp3", b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        ("talk.mp3", bytes(range(256)), "audio/mpeg"),
        ("talk.mp3", b"\xff\xfb\x90\x44", "audio/mpeg"),
        ("talk.aac", b"\xff\xf1\x50\x80", "audio/aac"),
        ("talk", b"\xff\xf9\x50\x80\x00\x00\x00", "audio/aac"),
        ("data.bin.xyz", b"\xff\xfb\x90\x44\x00\x00\x00", "audio/mpeg"),
        ("talk.m4a", b"\x00\x00\x00\x1cftypM4A ", "audio/mp4"),
        ("talk", b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "video/webm"),
        ("talk.webm", b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska", "video/x-matroska"),
        ("talk.mka", b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska", "audio/x-matroska"),
        ("talk.ogv", b"OggS\x00\x02", "video/ogg"),
        ("talk.opus", b"OggS\x00\x02", "audio/ogg"),
        ("talk.wma", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "audio/x-ms-wma"),
        ("talk", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
        ("talk", b"FORM\x00\x00\x00\x00AIFFCOMM", "audio/aiff"),
        ("talk", b"#!AMR\n\x0c", "audio/amr"),
        ("talk", b"caff\x00\x01\x00\x00", "audio/x-caf"),
        ("talk", b"FLV\x01\x05", "video/x-flv"),
        ("main.ts", b"export const x = 1\n", "text/x-typescript"),
        ("film.m2ts", b"\x00\x00\x00\x01G\x40\x00\x10\x00\x00\x00", "video/mp2t"),
        ("tool", b"\x7fELF\x02\x01\x01", "application/x-executable"),
        ("dump.gz", b"\x1f\x8b\x08\x00", "application/gzip"),
        ("unknown", b"just words", "text/plain"),
        ("cars", b"BMW builds cars", "text/plain"),
        ("initials.txt", b"MZ, FWS and others", "text/plain"),
        ("README", b"SQLite for Debian\n", "text/plain"),
        ("greek", "βρήκα ένα βιβλίο".encode(), "text/plain"),
        ("moving", b"\x00\x00\x00\x18ftypavis\x00\x00\x00\x00avismsf1", "image/avif"),
        ("photo.heif", b"\x00\x00\x00\x18ftypmsf1\x00\x00\x00\x00msf1hevc", "image/heic"),
        ("letter.pages", ZIP_HEAD, "application/vnd.apple.pages"),
        ("still.avif", b"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00avifmif1", "image/avif"),
        ("unknown.xyz", b"just words", "text/plain"),
        ("unknown.xyz", bytes(range(256)), "application/octet-stream"),
        ("broken.txt", bytes(range(256)), "application/octet-stream"),
        ("old.txt", "Grüße aus Köln".encode("latin-1"), "text/plain"),
        ("wide.txt", "Grüße".encode("utf-16"), "text/plain"),
        ("wide.txt", "no mark here".encode("utf-16-le"), "text/plain"),
        ("stray.txt", b"one NUL \x00 in a text", "text/plain"),
        ("cut.txt", ("x" * 4094 + "ü")[:4095].encode()[:4095], "text/plain"),
        ("Makefile", b"all:\n", "text/x-makefile"),
        ("main.rs", b"fn main() {}", "text/x-rust"),
        ("report.xls", b"<table border=1><tr><td>Code", "text/html"),
        ("report.xls", b"\xef\xbb\xbf<html><head>", "text/html"),
        ("report.xls", "<html><body>Zähler".encode("utf-16"), "text/html"),
        ("report.doc", b"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "text/html"),
        ("report.csv", b"<!DOCTYPE html><title>Sign in", "text/html"),
        ("report.xls", b"Name\tWeight\r\nAnchor\t412 kg\r\n", "text/csv"),
        ("report.xls", b"Name;Weight\r\nAnchor;412 kg\r\n", "text/csv"),
        ("report.xls", "Name\tGröße\r\n".encode("utf-16"), "text/csv"),
        ("report.xls", b"no table at all\n", "text/plain"),
        ("page.txt", b"<table> is an element\n", "text/plain"),
        ("page.py", b"<html> is a tag\n", "text/x-python"),
        (
            "wiki.doc",
            b"Date: x\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=a\n\n",
            "multipart/related",
        ),
        (
            "page.txt",
            b"From: <Saved by Blink>\nContent-Type: multipart/related;\n\tboundary=a\n\n",
            "multipart/related",
        ),
        ("note.txt", b"From: a@b.example\nMessage-ID: <1@b>\nSubject: Tar\n\nText", "message/rfc822"),
        ("note.eml", b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=a\n\n", "message/rfc822"),
        ("note.txt", b"From: the harbour\nTo: the smith\n\nBring tar.", "text/plain"),
        ("letter.doc", b"{\\rtf1\\ansi Text}", "application/rtf"),
        ("letter.txt", b"\n{\\rtf1\\ansi Text}", "application/rtf"),
        ("days.txt", b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "text/calendar"),
        ("people.txt", b"BEGIN:VCARD\r\nVERSION:3.0\r\n", "text/vcard"),
        ("film.txt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello", "text/vtt"),
        ("film.txt", b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHello", "application/x-subrip"),
        ("model.json", b'{\n "cells": [\n  {\n   "cell_type": "code",', "application/x-ipynb+json"),
        ("table.json", b'{"cells": [{"id": 1}]}', "application/json"),
        ("part.html", b"<svg><path/></svg><p>Words", "text/html"),
        ("book.xml", b"<?xml version='1.0'?><FictionBook xmlns='x'>", "application/x-fictionbook+xml"),
        ("plan.txt", b"<svg xmlns='http://www.w3.org/2000/svg'>", "image/svg+xml"),
        ("report.txt", b"\r\n\xef\xbb\xbf%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf"),
        ("notes.txt.gz", gzip.compress(b"The quay is paved.", mtime=0), "text/plain"),
        ("notes.txt", gzip.compress(b"The quay is paved.", mtime=0), "text/plain"),
        ("log.gz", gzip.compress(b"The quay is paved.", mtime=0), "text/plain"),
        ("film.mp4.gz", gzip.compress(bytes(range(256)), mtime=0), "application/gzip"),
        ("", gzip.compress(b"<html><body>", mtime=0), "application/gzip"),
        ("empty.docx", b"", DOCX),
        ("empty", b"", "text/plain"),
    ],
)
def test_detects(name: str, head: bytes, expected: str) -> None:
    """Signatures win over names, names over guesses, and what looks like text is never called a document."""
    assert detect_media_type(name, head) == expected


def test_comments_before_markup_take_no_time() -> None:
    """A head of comments only is looked at once: each way to divide them would take years."""
    assert detect_media_type("a.xml", b"<!-- a -->" * 400) == "text/x-xml"
    assert detect_media_type("a", b"<?a?><!-- a -->" * 270) == "text/plain"


def test_packed_text_is_read() -> None:
    """A text that gzip compressed is read as it was before, also of several parts; a damaged one says so."""
    packed = gzip.compress(b"The quay is paved. ", mtime=0) + gzip.compress(b"The mole is not.", mtime=0)

    assert parse(packed, name="notes.txt.gz", media_type="text/plain").markdown == "The quay is paved. The mole is not."
    with pytest.raises(ParseError, match="damaged"):
        parse(packed[:-12], name="notes.txt.gz", media_type="text/plain")


def test_markup_is_compared_with_no_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of pages of a crawl would each be compared with eighty."""
    monkeypatch.setattr("filetype.guess_mime", lambda _: pytest.fail("the head is compared"))
    assert detect_media_type("", b"\n<!DOCTYPE html><html><body>Ducks.") == "text/html"
    assert detect_media_type("feed.xml", b"<?xml version='1.0'?><rss/>") == media_type_of_name("feed.xml")


def test_recordings_are_taken_and_no_parser_reads_them() -> None:
    """Whatever its name or its bytes say is sound or video is transcribed."""
    for name in ("a.mp3", "a.m4b", "a.aac", "a.mka", "a.wma", "a.aif", "a.amr", "a.caf", "a.3gp", "a.mpeg", "a.wmv"):
        media_type = detect_media_type(name, b"")
        assert is_recording(media_type)
        assert is_taken(media_type)
        assert parser_for(media_type) is None


def test_every_supported_type_names_a_parser_with_its_versions() -> None:
    """A parser's identity changes with its own revision and with the libraries it uses."""
    assert re.match(r"docx/\d+\+docling-slim-", parser_identity(DOCX) or "")
    assert "markdown-it-py-" in (parser_identity("text/markdown") or "")


@pytest.mark.parametrize(
    ("media_type", "words"),
    [
        ("image/x-icon", "ICON images are not read in this version; open it in an image viewer"),
        ("application/vnd.apple.pages", "open it in Pages"),
        ("application/x-mobipocket-ebook", "Calibre"),
        ("application/vnd.ms-outlook-pst", "Outlook"),
        ("application/gzip", "archives of this kind are not opened"),
        ("application/octet-stream", "binary file of unknown type"),
        ("application/x-something", "application/x-something"),
    ],
)
def test_says_why_a_type_is_skipped(media_type: str, words: str) -> None:
    """Each type without a parser has a reason in plain words."""
    assert parser_for(media_type) is None
    assert words in skip_reason(media_type)


@pytest.mark.parametrize("name", ["a.doc", "a.ppt"])
def test_old_office_formats_are_taken(name: str) -> None:
    """Without any program that this machine may have."""
    media_type = media_type_of_name(name)
    assert media_type is not None
    assert is_taken(media_type)


@pytest.mark.parametrize("parser", [parser for parser in PARSERS if parser.media_types or parser.name == "docling"])
def test_the_table_of_formats_names_functions_that_are_there(parser: Parser) -> None:
    """Each parser is a function of the file's content and of the keyword arguments that the table states."""
    module, _, function = parser.function.partition(":")
    parameters = signature(getattr(import_module(f"sourcebook.parsing.{module}"), function)).parameters
    assert tuple(parameters) == ("content", *parser.arguments)


@pytest.mark.parametrize("mark", [b"PK\x03\x06", b"PK\x03\x08"])
def test_an_office_file_with_a_damaged_mark_is_no_archive(mark: bytes) -> None:
    """Its content.xml is no document of its own; the office parser reads it or says why not."""
    head = mark + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.presentation" + bytes(100)
    assert detect_media_type("slides.odp", head) == detect_media_type("slides.odp", b"PK\x03\x04" + head[4:])
    assert detect_media_type("report.docx", mark + bytes(200)).endswith("wordprocessingml.document")
