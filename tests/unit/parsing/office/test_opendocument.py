"""OpenDocument files without LibreOffice."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ODP, ODS, ODT
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.office.office_files import changed

FILES = Path(__file__).parent.parent / "files"
TEXT, SHEETS, SLIDES = ((FILES / name).read_bytes() for name in ("lock.odt", "levels.ods", "lock.odp"))


def read(content: bytes, name: str) -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


def rewritten(content: bytes, change: Callable[[str], str], *, part: str = "content.xml") -> bytes:
    """Return an archive with one part changed."""
    file = BytesIO()
    with ZipFile(BytesIO(content)) as source, ZipFile(file, "w") as target:
        for member in source.infolist():
            held = source.read(member)
            target.writestr(member, change(held.decode()).encode() if member.filename == part else held)
    return file.getvalue()


def test_a_text_keeps_its_structure() -> None:
    """Headings with levels, nested lists, tables, links, notes next to their references."""
    document = read(TEXT, "lock.odt")
    assert document.title == "Lock manual"
    assert document.language == "en"
    assert document.metadata["author"] == "Ada Byron"
    headings = [(block.level, block.title) for block in document.blocks if block.kind == "heading"]
    assert headings == [(1, "Lock manual"), (2, "Gates"), (3, "Order of work"), (2, "Keeper’s house")]
    held = texts(document)
    assert (
        "Never open the *upper* gates before the **paddles** are down.[^1] See [the rules](https://example.org/rules)."
        in held
    )
    assert held[held.index("[^1]: They weigh three tons.") - 1].startswith("Never open")
    assert "1. Close the lower gates.\n2. Raise the upper paddles.\n    - left first\n    - then right" in held
    assert "| Gate | Width (m) |\n| --- | --- |\n| Äpper | 4.5 |\n| Lower | 5.25 |" in held
    assert held[-1] == "Last paragraph with ünïcödé — and 中文."


def test_a_spreadsheet_shows_what_its_program_shows() -> None:
    """A section a sheet; 50% and not 0.5; the empty grid costs nothing; hidden sheets are marked."""
    document = read(SHEETS, "levels.ods")
    assert (document.title, document.page_count) == ("Water levels", 2)
    assert texts(document) == [
        "## Levels",
        "| Day | Level (m) | Keeper |\n| --- | --- | --- |\n| Monday | 1.25 | Ada |\n| Tuesday | 50% | Ben Cleo |",
        "| Gate | State | Since |\n| --- | --- | --- |\n| upper | open | 2024-05-01 |",
        "## Archive (hidden)",
        "| Year | Ships |\n| --- | --- |\n| 1999 | 1,200 |",
    ]
    assert [block.page for block in document.blocks] == [1, 1, 1, 2, 2]


def test_slides_are_sections_with_pages() -> None:
    """The title first, the speaker's notes labelled, the number of the slide as page."""
    document = read(SLIDES, "lock.odp")
    assert (document.title, document.page_count) == ("Opening the lock", 2)
    assert texts(document) == [
        "# Opening the lock",
        "- Paddles down\n- Gates open",
        "> Speaker notes: Ask who has the windlass.",
        "# Closing the lock",
        "- Gates closed\n- Paddles up",
    ]
    assert [block.page for block in document.blocks] == [1, 1, 1, 2, 2]


def test_merged_cells_and_comments_of_a_sheet() -> None:
    """A merged cell stands in each of its places; a comment names its cell and author."""

    def merge(xml: str) -> str:
        note = "<office:annotation><dc:creator>Ada</dc:creator><text:p>Check the gauge</text:p></office:annotation>"
        first = re.search(r"<table:table-cell[^>]*>(?=<text:p>Monday)", xml)
        assert first is not None
        wide = first[0].replace("<table:table-cell", '<table:table-cell table:number-columns-spanned="2"')
        covered = re.sub(r"<table:table-cell[^>]*><text:p>1.25</text:p></table:table-cell>",
                         "<table:covered-table-cell/>", xml)  # fmt: skip
        return covered.replace(first[0], wide + note)

    held = texts(read(rewritten(SHEETS, merge), "levels.ods"))
    assert "| Monday | Monday | Ada |" in held[1]
    assert "> Comment on A2 by Ada: Check the gauge" in held


@pytest.mark.parametrize(("content", "media_type"), [(TEXT, ODT), (SHEETS, ODS), (SLIDES, ODP)])
def test_the_content_decides_over_the_name(content: bytes, media_type: str) -> None:
    """A template, or a file with the name of another kind, is read as what it is."""
    assert detect_media_type("a.bin", content[:4096]) == media_type
    assert parse(content, name="a.odt", media_type=ODT).markdown.strip()
    template = rewritten(content, lambda text: f"{text}-template", part="mimetype")
    assert read(template, "a.ott").markdown == read(content, "a.odt").markdown


@pytest.mark.parametrize(
    ("change", "reason", "failure_class"),
    [
        (lambda xml: re.sub(r"<office:body>", '<!DOCTYPE a [<!ENTITY b "c">]><office:body>', xml),
         "declares XML entities", FailureClass.CORRUPT),
        (lambda xml: xml[: len(xml) // 2], "content.xml is damaged", FailureClass.CORRUPT),
        (lambda xml: xml.replace("office:text", "office:drawing"), "holds no text, sp", FailureClass.UNSUPPORTED),
    ],
    ids=["entities", "cut off", "drawing"],
)  # fmt: skip
def test_bad_xml_has_a_reason(change: Callable[[str], str], reason: str, failure_class: FailureClass) -> None:
    """An entity bomb is refused before anything expands it."""
    with pytest.raises(ParseError, match=reason) as caught:
        read(rewritten(TEXT, change), "a.odt")
    assert caught.value.failure_class == failure_class


def test_protected_and_damaged_files_have_a_reason() -> None:
    """Encryption is named in the manifest; half an archive is no archive."""
    sealed = rewritten(TEXT, lambda xml: xml.replace("</manifest:manifest>", "<encryption-data/></manifest:manifest>"),
                       part="META-INF/manifest.xml")  # fmt: skip
    with pytest.raises(ParseError, match="protected by a password"):
        read(sealed, "a.odt")
    with pytest.raises(ParseError, match="damaged or cut off"):
        read(TEXT[: len(TEXT) // 2], "a.odt")


def test_an_old_manifest_may_name_its_document_type() -> None:
    """OpenOffice 2 wrote one into every file."""
    doctype = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">'
    manifest = "META-INF/manifest.xml"
    old = rewritten(
        TEXT, lambda xml: xml.replace("<manifest:manifest", f"{doctype}<manifest:manifest", 1), part=manifest
    )
    assert read(old, "a.odt").title == "Lock manual"


def test_macros_take_no_document_from_anyone() -> None:
    """LibreOffice writes a document type into each of their parts, which are not read."""
    macro = (
        b'<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd"><script:module/>'
    )
    held = changed(TEXT, dict.fromkeys(("Basic/Standard/Module1.xml", "Dialogs/Standard/One.xml"), lambda _: macro))
    assert read(held, "lock.odt").markdown == read(TEXT, "lock.odt").markdown
    with pytest.raises(ParseError, match="declares XML entities"):
        read(changed(TEXT, {"Other/Module1.xml": lambda _: macro}), "lock.odt")


def flat(content: bytes, media_type: str) -> bytes:
    """Return a document as LibreOffice saves it in one XML file: the elements of its parts below one root."""
    with ZipFile(BytesIO(content)) as archive:
        roots = [etree.fromstring(archive.read(name)) for name in ("meta.xml", "styles.xml", "content.xml")]
    document = etree.Element("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}document", nsmap=roots[-1].nsmap)
    document.set("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}mimetype", media_type)
    for part in (part for root in roots for part in list(root)):
        same = document.find(part.tag)
        if same is None:
            document.append(part)
        else:
            same.extend(list(part))
    return bytes(etree.tostring(document, encoding="utf-8", xml_declaration=True))


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [(TEXT, "lock.fodt", ODT), (SHEETS, "levels.fods", ODS), (SLIDES, "lock.fodp", ODP)],
)
def test_a_document_in_one_xml_file_is_read_like_its_archive(content: bytes, name: str, media_type: str) -> None:
    """Its title and all else."""
    one, other = read(flat(content, media_type), name), read(content, name.replace(".f", "."))
    assert (one.markdown, one.title, one.metadata) == (other.markdown, other.title, other.metadata)


@pytest.mark.parametrize(
    ("begin", "reason"),
    [(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", "it is XML, but no OpenDocument"), (b"<a>", "its XML is damaged")],
)
def test_xml_that_is_no_sound_document_has_a_reason(begin: bytes, reason: str) -> None:
    """Entities could grow without end."""
    document = flat(TEXT, ODT).replace(b"?>", b"?>" + begin, 1)
    with pytest.raises(ParseError, match=reason):
        parse(document, name="lock.fodt", media_type=ODT)


def test_comments_in_the_first_paragraph_and_headers_of_lists_are_kept() -> None:
    """docling has a comment below its paragraph, which made the whole file fail, and no headers of lists."""
    comment = "<office:annotation><dc:creator>Ben</dc:creator><text:p>Who?</text:p></office:annotation>"

    def change(xml: str) -> str:
        xml = re.sub(r"(<text:p [^>]*>)(Last)", rf"\1{comment}\2", xml)
        return xml.replace(
            "<text:list-item>", "<text:list-header><text:p>Before work</text:p></text:list-header><text:list-item>", 1
        )

    markdown = read(rewritten(TEXT, change), "lock.odt").markdown
    assert "Comment by Ben: Who?" in markdown
    assert "Before work" in markdown


_DRAWN = (
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
)


def test_boxes_and_shapes_follow_the_paragraph_that_holds_them() -> None:
    """docling glues their words to those around them, and drops boxes that are anchored to a page."""
    boxes = (
        f"<text:p {_DRAWN}>Before <draw:frame><draw:text-box><text:h text:outline-level='2'>Inner</text:h>"
        "<text:p>First <draw:frame><draw:text-box><text:p>nested</text:p></draw:text-box></draw:frame>of box.</text:p>"
        "</draw:text-box></draw:frame>and after.<draw:rect><text:p>A shape</text:p></draw:rect></text:p>"
        f"<draw:g {_DRAWN}><draw:frame><draw:text-box><text:p>On a page</text:p></draw:text-box></draw:frame></draw:g>"
        f"<text:p {_DRAWN}>Figure:<draw:frame><svg:title>A gate</svg:title></draw:frame></text:p>"
    )
    document = read(rewritten(TEXT, lambda xml: xml.replace("</office:text>", f"{boxes}</office:text>")), "a.odt")
    assert texts(document)[-9:] == [
        "Last paragraph with ünïcödé — and 中文.",
        "Before and after.",
        "### Inner",
        "First of box.",
        "nested",
        "A shape",
        "On a page",
        "Figure:",
        "A gate",
    ]


def test_text_drawn_on_a_sheet_follows_its_cells() -> None:
    """A box may hang on the sheet or on a cell."""
    frame = "<draw:frame {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    on_sheet = f"<table:shapes>{frame.format(_DRAWN, 'On the sheet')}</table:shapes>"
    on_cell = f"</text:p>{frame.format(_DRAWN, 'On a cell')}"

    def drawn(xml: str) -> str:
        first = xml.index("<table:table-row")
        return xml[:first] + on_sheet + xml[first:].replace("</text:p>", on_cell, 1)

    held = texts(read(rewritten(SHEETS, drawn), "a.ods"))
    assert held[held.index("On the sheet") :][:2] == ["On the sheet", "On a cell"]
    assert held[: held.index("On the sheet")] == texts(read(SHEETS, "a.ods"))[: held.index("On the sheet")]


def test_hidden_rows_and_columns_of_a_sheet_are_marked_and_formulas_without_a_value_counted() -> None:
    """As in a workbook; a filter hides rows, too, and a cell may show nothing of its value."""

    def hide(xml: str) -> str:
        column = '<table:table-column table:number-columns-repeated="16384"/>'
        xml = xml.replace(column, '<table:table-column/><table:table-column table:visibility="collapse"/>', 1)
        row = '<table:table-row><table:table-cell office:value-type="string"><text:p>Tuesday'
        xml = xml.replace(row, row.replace("<table:table-row", '<table:table-row table:visibility="filter"'), 1)
        xml = xml.replace('office:value="1.25"><text:p>1.25</text:p>', 'office:value="1.25"><text:p/>', 1)
        return xml.replace('<table:table-cell office:value-type="string"><text:p>Ada</text:p>',
                           '<table:table-cell table:formula="of:=[.A1]">', 1)  # fmt: skip

    parsed = read(rewritten(SHEETS, hide), "levels.ods")
    assert texts(parsed)[1].splitlines() == [
        "| Day | Level (m) (hidden) | Keeper |",
        "| --- | --- | --- |",
        "| Monday |  |  |",
        "| Tuesday (hidden) | 50% | Ben Cleo |",
    ]
    assert parsed.metadata["left_out"] == {"hidden_words": 1, "formulas": 1}


def test_repetitions_are_bounded() -> None:
    """A file of a few kB that says a billion spaces, rows or cells is read, or refused at once."""
    spaces = rewritten(TEXT, lambda xml: xml.replace("They weigh", 'They<text:s text:c="1000000000"/>weigh'))
    assert "They weigh three tons." in read(spaces, "a.odt").markdown
    endless = '<table:table-row table:number-rows-repeated="99999999"'
    rows = rewritten(TEXT, lambda xml: xml.replace("<table:table-row", endless))
    assert 100 < read(rows, "a.odt").markdown.count("\n") < 1000
    many = 'table:number-columns-repeated="16384" office:value-type="string"'
    cells = rewritten(SHEETS, lambda xml: re.sub(
        r'<table:table-row>(<table:table-cell)[^>]*(?=><text:p>Monday)',
        rf'<table:table-row table:number-rows-repeated="1000000">\1 {many}', xml))  # fmt: skip
    with pytest.raises(ParseError, match="more than the 2,000,000 filled cells") as caught:
        read(cells, "a.ods")
    assert caught.value.failure_class == FailureClass.TOO_LARGE
