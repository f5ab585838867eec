"""Hostile and broken office files: a reason each, nothing is expanded, run, fetched or read."""

import struct
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sourcebook.errors import ParseError
from tests.unit.parsing.office.office_files import (
    Change,
    changed,
    ole_file,
    parse_named,
    slides_file,
    word_file,
    workbook_file,
)

FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a.docx": (word_file, "word/document.xml"),
    "a.pptx": (slides_file, "ppt/slides/slide1.xml"),
    "a.xlsx": (workbook_file, "xl/worksheets/sheet1.xml"),
}


def declaring(entities: bytes) -> Change:
    def change(xml: bytes) -> bytes:
        head, mark, rest = xml.partition(b"?>")
        if not mark:
            head, mark, rest = b'<?xml version="1.0"', b"?>", xml
        return head + mark + b"<!DOCTYPE x [" + entities + b"]>" + rest.replace(b"hello", b"&e;")

    return change


LAUGHS = b'<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %s "%s">' % (name, b"&%s;" % before * 10)
    for before, name in zip((b"a", b"b", b"c", b"d", b"f"), (b"b", b"c", b"d", b"f", b"e"), strict=True)
)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *((name, part) for name, (_, part) in FILES.items()),
        ("a.docx", "docProps/core.xml"),
        ("a.docx", "[Content_Types].xml"),
        ("a.docx", "word/media/drawing.svg"),
        ("a.xlsx", "xl/sharedStrings.xml"),
    ],
)
def test_entities_are_refused_unread(name: str, part: str) -> None:
    """Office programs never write a DTD; a file with one is not parsed at all, in whichever part it is."""
    content = changed(FILES[name][0](), {part: declaring(LAUGHS)})
    with pytest.raises(ParseError, match="declares XML entities"):
        parse_named(name, content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-7"])
def test_no_local_file_is_read_by_an_entity(tmp_path: Path, encoding: str) -> None:
    """Not in an odd encoding either."""
    secret = tmp_path / "secret.txt"
    secret.write_text("sesame")

    def change(xml: bytes) -> bytes:
        text = declaring(f'<!ENTITY e SYSTEM "{secret.as_uri()}">'.encode())(xml).decode()
        return text.replace("UTF-8", encoding.upper(), 1).encode(encoding)

    with pytest.raises(ParseError, match=r"declares XML entities|is in an encoding"):
        parse_named("a.docx", changed(word_file(), {"word/document.xml": change}))


def test_zip_bombs_are_refused() -> None:
    """By what they declare; and what they do not declare is not inflated."""
    bomb = changed(word_file(), {"word/more.xml": lambda _: b"<x>" + b" " * (129 << 20)})
    with pytest.raises(ParseError, match="128 MiB of XML"):
        parse_named("a.docx", bomb)
    lying = bytearray(changed(word_file(), {"word/media/x.bin": lambda _: b"\0" * (8 << 20)}))
    entry = lying.rindex(b"word/media/x.bin") - 46
    lying[entry + 24 : entry + 28] = struct.pack("<I", 100)
    with pytest.raises(ParseError, match="damaged or cut off"):
        parse_named("a.docx", bytes(lying))
    lying[entry + 24 : entry + 28] = struct.pack("<I", 600 << 20)
    with pytest.raises(ParseError, match="unpacks to more than the 512 MiB"):
        parse_named("a.docx", bytes(lying))


def reason_against(name: str, content: bytes) -> str | None:
    try:
        parse_named(name, content)
    except ParseError as error:
        return str(error)
    return None


def replaced_by(part: bytes) -> Change:
    return lambda _: part


@pytest.mark.parametrize("name", FILES)
def test_broken_files_say_so(name: str) -> None:
    """Cut off, empty parts, flipped bytes: a reason, or what can still be read."""
    make, part = FILES[name]
    content = make()
    for length in (30, len(content) // 3, len(content) - 40):
        with pytest.raises(ParseError, match=r"damaged or cut off|archives are not opened"):
            parse_named(name, content[:length])
    for broken in (b"", b"<", b"<x/>"):
        reason = reason_against(name, changed(content, {part: replaced_by(broken)}))
        assert reason is None or "save" in reason
    for place in range(40, len(content), len(content) // 25):
        flipped = bytearray(content)
        flipped[place] ^= 0xFF
        assert reason_against(name, bytes(flipped)) != ""


@pytest.mark.parametrize(
    ("name", "make", "plain", "special"),
    [
        (
            "a.docm",
            word_file,
            b"openxmlformats-officedocument.wordprocessingml.document.main",
            b"ms-word.document.macroEnabled.main",
        ),
        ("a.dotx", word_file, b"wordprocessingml.document.main", b"wordprocessingml.template.main"),
        ("a.dotm", word_file, b"openxmlformats-officedocument.wordprocessingml.document.main",
         b"ms-word.template.macroEnabledTemplate.main"),
        ("a.pptm", slides_file, b"openxmlformats-officedocument.presentationml.presentation.main",
         b"ms-powerpoint.presentation.macroEnabled.main"),
        ("a.ppsx", slides_file, b"presentationml.presentation.main", b"presentationml.slideshow.main"),
        ("a.potx", slides_file, b"presentationml.presentation.main", b"presentationml.template.main"),
        ("a.xlsm", workbook_file, b"openxmlformats-officedocument.spreadsheetml.sheet.main",
         b"ms-excel.sheet.macroEnabled.main"),
    ],
)  # fmt: skip
def test_templates_shows_and_files_with_macros_are_read(
    name: str, make: Callable[[], bytes], plain: bytes, special: bytes
) -> None:
    """For their text; the macros are left where they are."""
    content = changed(
        make(),
        {"[Content_Types].xml": lambda xml: xml.replace(plain, special), "word/vbaProject.bin": lambda _: b"Auto_Open"},
    )
    document = parse_named(name, content)
    assert "hello" in document.markdown
    assert "Auto_Open" not in document.markdown


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "report.pptx"])
def test_a_password_is_named(name: str) -> None:
    """A protected .docx is no zip archive but an OLE file with the document encrypted in it."""
    with pytest.raises(ParseError, match="protected by a password; save a copy without one"):
        parse_named(name, ole_file("EncryptedPackage", "EncryptionInfo"))


@pytest.fixture
def listening() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_GET  # noqa: N815 - the server's name for it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parameter's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def related(kind: str, target: str) -> Change:
    """Add a relationship `rIdX` of this kind to something outside."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    relationship = f'<Relationship Id="rIdX" Type="{kinds}{kind}" Target="{target}" TargetMode="External"/>'
    empty = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>'

    def change(xml: bytes) -> bytes:
        return (xml or empty).replace(b"</Relationships>", relationship.encode() + b"</Relationships>")

    return change


@pytest.mark.parametrize("kind", ["attachedTemplate", "image", "oleObject", "frame", "externalLinkPath", "hyperlink"])
@pytest.mark.parametrize("where", ["web", "file"])
def test_nothing_outside_is_fetched_or_read(
    listening: tuple[str, list[str]], tmp_path: Path, kind: str, where: str
) -> None:
    """Linked pictures, objects and templates stay links, whether they lie on the web or on this machine."""
    address, asked = listening
    secret = tmp_path / "secret.txt"
    secret.write_text("sesame")
    target = f"{address}/{kind}" if where == "web" else secret.as_uri()
    picture = (
        b'<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        b'<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="x"><a:blip '
        b'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:link="rIdX" r:embed="rIdX"/>'
        b"</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
    files = {
        "a.docx": changed(
            word_file(),
            {
                "word/_rels/document.xml.rels": related(kind, target),
                "word/document.xml": lambda xml: xml.replace(b"<w:p>", picture + b"<w:p>", 1),
            },
        ),
        "a.pptx": changed(slides_file(), {"ppt/slides/_rels/slide1.xml.rels": related(kind, target)}),
        "a.xlsx": changed(workbook_file(), {"xl/worksheets/_rels/sheet1.xml.rels": related(kind, target)}),
    }
    for name, content in files.items():
        markdown = parse_named(name, content).markdown
        assert "hello" in markdown
        assert "sesame" not in markdown
    assert asked == []
