"""Every reader either reads a file's words or counts what it leaves out."""

import base64
import io
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from email.message import EmailMessage

import openpyxl  # type: ignore[import-untyped] # has no types
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlwt  # type: ignore[import-untyped] # has no types
from docx import Document
from openpyxl.drawing.image import Image as SheetImage  # type: ignore[import-untyped] # has no types
from pptx import Presentation

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model import media_types as media
from sourcebook.model.left_out import left_out_counts
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import PAGE, PARSERS, TRANSCRIPT
from tests.unit.parsing.archives.archive_writer import zipped
from tests.unit.parsing.drawn_pictures import drawn_pictures
from tests.unit.parsing.epub.epub_writer import chapter, epub, package
from tests.unit.parsing.office.binary_office_files import binary_document
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

PICTURE = drawn_pictures()["lock.jpg"]
DATA = base64.b64encode(PICTURE).decode()
WEAVER = "The weaver on the towpath counts the herons of each lock and writes their number into a long book at night."
"""Text beside which no picture is read."""


def _saved(document: object) -> bytes:
    file = io.BytesIO()
    document.save(file)  # type: ignore[attr-defined] # what each of these libraries has
    return file.getvalue()


def _docx() -> bytes:
    document = Document()
    document.sections[0].header.paragraphs[0].text = "upper edge"
    document.add_paragraph(WEAVER).add_run(" veiled").font.hidden = True
    document.add_picture(io.BytesIO(PICTURE))
    return _saved(document)


def _pptx() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Lock"
    slide.placeholders[1].text = WEAVER
    slide.shapes.add_picture(io.BytesIO(PICTURE), 0, 0)
    return _saved(presentation)


def _xlsx() -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["A1"], sheet["A2"] = "Weaver", WEAVER
    sheet.oddHeader.center.text = "upper edge"
    sheet.add_image(SheetImage(io.BytesIO(PICTURE)), "C3")
    workbook.create_sheet("Vault")["A1"] = "veiled"
    workbook["Vault"].sheet_state = "veryHidden"
    return _saved(workbook)


def _xls() -> bytes:
    book = xlwt.Workbook()
    book.add_sheet("Lock").write(0, 0, WEAVER)
    return _saved(book)


def _odt() -> bytes:
    spaces = {name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "text")}
    spaces |= {"draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0", "xlink": "http://www.w3.org/1999/xlink"}
    declared = " ".join(f'xmlns:{name}="{space}"' for name, space in spaces.items())
    frame = '<draw:frame><draw:image xlink:href="Pictures/a.jpg"/></draw:frame>'
    hidden = '<text:section text:name="a" text:display="none"><text:p>veiled</text:p></text:section>'
    body = f"<office:body><office:text><text:p>{WEAVER}{frame}</text:p>{hidden}</office:text></office:body>"
    content = f"<office:document-content {declared}>{body}</office:document-content>"
    return zipped({"mimetype": media.ODT.encode(), "content.xml": content.encode(), "Pictures/a.jpg": PICTURE})


def _epub() -> bytes:
    part = 'media-type="application/xhtml+xml"'
    members: dict[str, str | bytes] = {"OEBPS/book.opf": package({"one.xhtml": part, "cover.xhtml": part})}
    members["OEBPS/one.xhtml"] = chapter(f'<h1>One</h1><p>{WEAVER}</p><p><img src="a.jpg" alt="A gate"/></p>')
    members["OEBPS/cover.xhtml"] = chapter("<p>upper edge</p>", attributes='epub:type="cover"')
    return epub(members | {"OEBPS/a.jpg": PICTURE})


def _mail() -> bytes:
    written = EmailMessage()
    written["Subject"] = "Lock"
    written.set_content(f"veiled {WEAVER}")
    written.add_alternative(f'<p>{WEAVER} Two boats.</p><img src="cid:a">', subtype="html")
    written.get_payload()[1].add_related(PICTURE, "image", "jpeg", cid="<a>")  # type: ignore[union-attr, index]
    return written.as_bytes()


def _archive() -> bytes:
    return zipped({"gate.md": b"Gate", "../out.md": b"veiled"})


def _database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE lock (gate TEXT)")
        connection.executemany("INSERT INTO lock VALUES (?)", [("weaver",)] * 20 + [("veiled",)] * 3)
        return connection.serialize()


def _parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"gate": ["weaver"] * 20 + ["veiled"] * 3}), file)
    return file.getvalue()


def _pdf() -> bytes:
    pages = [[Shown(72, 760, "upper edge"), Shown(72, 600, WEAVER[:60]), Shown(72, 580, f"Gate {n}")] for n in range(4)]
    return pdf(pages)


def _source_record() -> bytes:
    zipped_gates = zipped({"weaver.md": b"Weaver", "gate.md": b"veiled"})
    held = {"base64": base64.b64encode(zipped_gates).decode(), "type": "gates.zip"}
    return json.dumps({"title": "Lock", "language": None, "metadata": {}, **held}).encode()


def _mhtml() -> bytes:
    page = f'<h1>Lock</h1><p>{WEAVER}</p><img src="a.jpg"><iframe src="x"></iframe>'
    head = 'MIME-Version: 1.0\nContent-Type: multipart/related; type="text/html"; boundary="B"\n\n'
    first = f"--B\nContent-Type: text/html\nContent-Location: https://x.example/p\n\n{page}\n"
    coded = "Content-Transfer-Encoding: base64\nContent-Location: https://x.example/a.jpg"
    return f"{head}{first}--B\nContent-Type: image/jpeg\n{coded}\n\n{DATA}\n--B--\n".encode()


_HTML = f"""<html><body><nav><a href="/">upper edge</a></nav><h1>Lock</h1><p>{WEAVER}</p>
<img src="data:image/jpeg;base64,{DATA}"><iframe src="x"></iframe>
<object data="y"></object><svg hidden><text>veiled</text></svg></body></html>"""
_NOTEBOOK = f"""{{"nbformat": 4, "metadata": {{}}, "cells": [{{"cell_type": "markdown", "source": "{WEAVER}"}},
{{"cell_type": "code", "source": "1", "outputs": [{{"output_type": "display_data",
"data": {{"image/jpeg": "{DATA}"}}}}]}}]}}"""
_BOOK = f"""<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<body><section><p>{WEAVER}</p><image l:href="#a"/></section></body>
<binary id="a" content-type="image/jpeg">{DATA}</binary></FictionBook>"""
_DRAWN = rf"{{\*\shppict{{\pict\jpegblip {PICTURE.hex()}}}}}"
_RTF = rf"{{\rtf1\ansi{{\header upper edge\par}}{WEAVER} {{\v veiled}}{_DRAWN}\par}}"
_SVG = f"""<svg xmlns="http://www.w3.org/2000/svg"><text>{WEAVER}</text><text display="none">veiled</text>
<image href="data:image/jpeg;base64,{DATA}"/></svg>"""
_CARD = f"BEGIN:VCARD\nVERSION:3.0\nFN:Weaver\nNOTE:{WEAVER}\nPHOTO;ENCODING=b:{DATA}\nEND:VCARD\n"
_EVENT = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lock\nCOMMENT:{WEAVER}\nATTACH:https://x.example/a\nEND:VEVENT\nEND:VCALENDAR\n"
_VTT = f"WEBVTT\n\nNOTE veiled\n\n00:01.000 --> 00:02.000\n{WEAVER}\n"

Case = tuple[str, Callable[[], bytes] | bytes | str, Mapping[str, int]]
CASES: Mapping[str, Case] = {
    "markdown": (media.MARKDOWN, f"{WEAVER}\n\n![A gate](data:image/jpeg;base64,{DATA})\n", {"pictures": 1}),
    "text": (media.PLAIN_TEXT, WEAVER, {}),
    "csv": (media.CSV, f"name,note\nWeaver,{WEAVER}\n", {}),
    "code": ("text/x-python", f"# {WEAVER}\n", {}),
    "json": (media.JSON, f'{{"note": "{WEAVER}"}}', {}),
    "jsonl": (media.JSON_LINES, f'{{"note": "{WEAVER}"}}\n', {}),
    "yaml": (media.YAML, f"note: {WEAVER}  # a gate\n", {}),
    "toml": (media.TOML, f'note = "{WEAVER}"\n', {}),
    "record": (media.RECORD, f'{{"id": 7, "note": "{WEAVER}"}}', {}),
    "source record": (media.SOURCE_RECORD, _source_record, {"attachments": 2}),
    "notebook": (media.NOTEBOOK, _NOTEBOOK, {"pictures": 1}),
    "timed text": (media.WEBVTT, _VTT, {"hidden_words": 1}),
    "html": (media.HTML, _HTML, {"words": 2, "pictures": 1, "hidden_words": 1, "objects": 1, "frames": 1}),
    "asciidoc": (media.ASCIIDOC, f"= Lock\n\n{WEAVER}\n", {}),
    "latex": (media.LATEX, f"\\begin{{document}}\n{WEAVER}\n\\end{{document}}\n", {}),
    "rst": (media.RST, f"Lock\n====\n\n{WEAVER}\n", {}),
    "org": (media.ORG, f"* Lock\n{WEAVER}\n", {}),
    "xml": (media.DOCBOOK, f'<article xmlns="http://docbook.org/ns/docbook"><para>{WEAVER}</para></article>', {}),
    "docx": (media.DOCX, _docx, {"words": 3, "pictures": 1}),
    "pptx": (media.PPTX, _pptx, {"pictures": 1}),
    "xlsx": (media.XLSX, _xlsx, {"words": 3, "pictures": 1}),
    "xls": (media.XLS, _xls, {}),
    "legacy": (media.DOC, lambda: binary_document(WEAVER), {}),
    "drawing": (media.SVG, _SVG, {"pictures": 1, "hidden_words": 1}),
    "rtf": (media.RTF, _RTF, {"words": 3, "pictures": 1}),
    "opendocument": (media.ODT, _odt, {"words": 1, "pictures": 1}),
    "epub": (media.EPUB, _epub, {"words": 2, "pictures": 1}),
    "fictionbook": (media.FICTIONBOOK, _BOOK, {"pictures": 1}),
    "mail": (media.EMAIL, _mail, {"pictures": 1, "other_part_words": 1}),
    "mailbox": (
        media.MBOX,
        lambda: b"From a@x.example Mon May  6 10:30:00 2024\n" + _mail(),
        {"pictures": 1, "other_part_words": 1},
    ),
    "archive": (media.ZIP, _archive, {"attachments": 1}),
    "database": (media.SQLITE, _database, {"records": 3}),
    "parquet": (media.PARQUET, _parquet, {"records": 3}),
    "calendar": (media.CALENDAR, _EVENT, {"attachments": 1}),
    "contacts": (media.CONTACTS, _CARD, {"pictures": 1}),
    "web archive": (media.MHTML, _mhtml, {"pictures": 1, "frames": 1}),
    "pdf": (media.PDF, _pdf, {"words": 6}),
    "image": ("image/jpeg", PICTURE, {}),
}
"""A file of each parser with what it may leave out, and the counts of that."""
NOT_HERE = {
    "docling": "its models are not on this machine",
    PAGE: "a crawl has read the page",
    TRANSCRIPT: "all that was heard is in it",
}


def test_every_parser_has_a_file() -> None:
    """A new parser comes with what it leaves out."""
    assert CASES.keys() | NOT_HERE.keys() == {parser.name for parser in PARSERS}


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_read_is_counted(name: str) -> None:
    """Each word of a file is in the text, or is counted, by its kind; what is hidden is not read."""
    media_type, made, counts = CASES[name]
    content = made() if callable(made) else made.encode() if isinstance(made, str) else made
    document = parse(content, name="lock", media_type=media_type, settings=ParsingSettings(ocr=name == "image"))
    assert left_out_counts(document.metadata) == counts
    assert {"image": "gates", "archive": "gate", "pdf": "Gate"}.get(name, "weaver") in document.markdown
    assert "veiled" not in document.markdown
    assert DATA[:50] not in document.markdown
