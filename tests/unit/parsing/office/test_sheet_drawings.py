"""Text boxes, shapes and diagrams over the cells of a workbook: people write remarks and legends into them."""

from io import BytesIO

import xlsxwriter  # type: ignore[import-untyped] # python-pptx needs it
from PIL import Image

from tests.unit.parsing.office.office_files import changed, parse_named
from tests.unit.parsing.office.test_strict import DIAGRAM, TEXTS, strict

_DRAWING = "xl/drawings/drawing1.xml"


def workbook() -> bytes:
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Harbour")
        sheet.write_row(0, 0, ["hour", "level"])
        sheet.write_row(1, 0, ["6", "2.4 m"])
        sheet.insert_textbox(20, 0, "Second remark: the gauge\nwas replaced in May.")
        sheet.insert_textbox(5, 3, "# First remark")
        sheet.insert_textbox(6, 3, "6", {"textlink": "=$A$2"})
        book.add_worksheet("Alone").insert_textbox(0, 0, "A sheet of one shape")
    return buffer.getvalue()


def test_text_boxes_follow_the_cells_of_their_sheet_from_the_top_down() -> None:
    """One that shows a cell says nothing new; a sheet that has nothing else is a section, too."""
    expected = (
        "## Harbour\n\n| hour | level |\n| --- | --- |\n| 6 | 2.4 m |\n\n\\# First remark\n\n"
        "Second remark: the gauge\n\nwas replaced in May.\n\n## Alone\n\nA sheet of one shape\n"
    )
    content = workbook()
    assert parse_named("tides.xlsx", content).markdown == expected
    assert parse_named("tides.xlsx", strict(content)).markdown == expected


def test_descriptions_of_pictures_are_text() -> None:
    """In the picture's place; decoration and the name of a file say nothing."""
    picture = BytesIO()
    Image.new("RGB", (9, 9)).save(picture, "PNG")
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Harbour")
        for row, (description, decorative) in enumerate((("A plan of the quay", 0), ("a.png", 0), ("waves", 1))):
            options = {"image_data": picture, "description": description, "decorative": decorative}
            sheet.insert_image(row, 0, "a.png", options)
    assert parse_named("a.xlsx", buffer.getvalue()).markdown == "## Harbour\n\nA plan of the quay\n"


def test_a_shape_for_older_programs_is_not_read_twice_and_diagrams_are_read() -> None:
    """Newer programs wrap a shape with its replacement; a diagram's text is in a part of its own."""

    def wrapped(part: bytes) -> bytes:
        end = b"</xdr:twoCellAnchor>"
        before, _, rest = part.partition(b"<xdr:twoCellAnchor")
        inside, _, after = rest.partition(end)
        shape = b"<xdr:twoCellAnchor" + inside + end
        both = b"<mc:Choice Requires='a14'>%b</mc:Choice><mc:Fallback>%b</mc:Fallback>" % (shape, shape)
        compatible = b"<mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        diagram = (
            b"<xdr:absoluteAnchor><dgm:relIds xmlns:dgm='http://schemas.openxmlformats.org/drawingml/2006/diagram' "
            b"xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' r:dm='rId7'/>"
            b"</xdr:absoluteAnchor>"
        )
        return before + compatible + both + b"</mc:AlternateContent>" + diagram + after

    relationships = (
        b"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='rId7' "
        b"Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData' "
        b"Target='../diagrams/data1.xml'/></Relationships>"
    )
    content = changed(
        workbook(),
        {
            _DRAWING: wrapped,
            "xl/drawings/_rels/drawing1.xml.rels": lambda _: relationships,
            "xl/diagrams/data1.xml": lambda _: DIAGRAM,
        },
    )
    markdown = parse_named("tides.xlsx", content).markdown
    assert markdown.count("Second remark") == 1
    assert all(text in markdown for text in ("First remark", *TEXTS))
