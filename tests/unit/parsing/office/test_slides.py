"""Presentations: each slide is a section."""

from io import BytesIO

import pptx
from PIL import Image
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import parse_named, saved

_LONG = "The survey of the meadows found more kinds of orchids than in the year before, and fewer on dry ground."
_AREA = (Inches(1), Inches(2), Inches(4), Inches(2))


def test_every_slide_begins_a_section() -> None:
    """Its title comes first wherever it stands, else its first short text or its number; an empty one is left out."""
    presentation = pptx.Presentation()
    untitled = presentation.slides.add_slide(presentation.slide_layouts[6])
    untitled.shapes.add_textbox(*_AREA).text_frame.text = "What we saw"
    numbered = presentation.slides.add_slide(presentation.slide_layouts[6])
    numbered.shapes.add_textbox(*_AREA).text_frame.text = _LONG
    presentation.slides.add_slide(presentation.slide_layouts[6])
    low_title = presentation.slides.add_slide(presentation.slide_layouts[5])
    low_title.shapes.add_textbox(0, 0, Inches(4), Inches(0.3)).text_frame.text = "above the title"
    low_title.shapes.title.text = "The plan"
    parsed = parse_named("a.pptx", saved(presentation))
    assert [(text, block.page) for text, block in zip(texts(parsed), parsed.blocks, strict=True)] == [
        ("# What we saw", 1),
        ("# Slide 2", 2),
        (_LONG, 2),
        ("# The plan", 4),
        ("above the title", 4),
    ]
    assert (parsed.page_count, parsed.title) == (4, "What we saw")


def test_descriptions_of_pictures_are_text() -> None:
    """In the picture's place; the name of a file says nothing."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Tides"
    for description in ("A curve of the spring tide", "image1.png"):
        picture = BytesIO()
        Image.new("RGB", (9, 9)).save(picture, "PNG")
        shape = slide.shapes.add_picture(picture, 0, 0)
        shape._element.nvPicPr.cNvPr.set("descr", description)
    assert parse_named("a.pptx", saved(presentation)).markdown == "# Tides\n\nA curve of the spring tide\n"


def test_the_number_of_a_slide_is_no_title_of_a_document() -> None:
    """A presentation without titles has none, rather than an invented one or that of its program."""
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[6]).shapes.add_textbox(*_AREA).text_frame.text = _LONG
    presentation.core_properties.title = "PowerPoint-Präsentation"
    assert parse_named("a.pptx", saved(presentation)).title is None


def test_notes_are_labelled() -> None:
    """The speaker's notes are a quote at the end of their slide, on that slide's page."""
    presentation = pptx.Presentation()
    for name in ("one", "two"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = "point"
        slide.notes_slide.notes_text_frame.text = f"say {name}\nslowly"
    parsed = parse_named("a.pptx", saved(presentation))
    notes = [(block.page, parsed.markdown[block.start : block.end]) for block in parsed.blocks if block.kind == "quote"]
    assert notes == [(1, "> Speaker notes: say one\n> slowly"), (2, "> Speaker notes: say two\n> slowly")]
    assert parsed.blocks[2].kind == "quote"


def test_hidden_slides_are_kept_and_marked() -> None:
    """They are shown to nobody, but say something."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Reserve"
    slide.placeholders[1].text = "more"
    slide._element.set("show", "0")
    assert texts(parse_named("a.pptx", saved(presentation))) == ["# Reserve (hidden)", "- more"]


def test_lists_nest_and_charts_give_their_data() -> None:
    """A chart is its kind, its title with that of its values, and a table with a header row."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Sales"
    body = slide.placeholders[1].text_frame
    body.text = "all"
    part = body.add_paragraph()
    part.text, part.level = "east", 1
    data = CategoryChartData()  # type: ignore[no-untyped-call] # its library has few types
    data.categories = ["east", "west"]
    data.add_series("2024", (1.5, 2))  # type: ignore[no-untyped-call]
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, *_AREA, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "By region"
    chart.value_axis.axis_title.text_frame.text = "crowns"
    parsed = parse_named("a.pptx", saved(presentation))
    assert "- all\n    - east" in texts(parsed)
    assert texts(parsed)[-2:] == [
        "Line chart: By region (crowns)",
        "|  | 2024 |\n| --- | --- |\n| east | 1.5 |\n| west | 2 |",
    ]
    assert parsed.blocks[-1].kind == "table"


def test_shapes_for_new_programs_are_kept() -> None:
    """PowerPoint writes a text with an equation as a choice between it and a picture, also within a group."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Energy"
    for shapes, text in ((slide.shapes, "of mass"), (slide.shapes.add_group_shape().shapes, "of light")):
        box = shapes.add_textbox(*_AREA)
        box.text_frame.text = text
        shape = box.element
        choice = parse_xml(
            '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
            f'<mc:Choice Requires="a14"/><mc:Fallback><p:sp {nsdecls("p")}/></mc:Fallback></mc:AlternateContent>'
        )
        shape.addprevious(choice)
        choice[0].append(shape)
    assert sorted(texts(parse_named("a.pptx", saved(presentation)))) == ["# Energy", "of light", "of mass"]


def test_footers_and_hidden_shapes_are_left_out_and_counted() -> None:
    """The metadata name them; the number of a slide counts for nothing."""
    presentation = pptx.Presentation()
    layout = presentation.slide_layouts[5]
    slide = presentation.slides.add_slide(layout)
    slide.shapes.title.text = "Energy"
    for number, text in ((11, "Company"), (12, "1")):  # footer and number of the slide
        slide.shapes.clone_placeholder(layout.placeholders.get(number))
        slide.placeholders[number].text_frame.text = text
    box = slide.shapes.add_textbox(*_AREA)
    box.text_frame.text = "unseen words"
    box.element.nvSpPr.cNvPr.set("hidden", "1")
    parsed = parse_named("a.pptx", saved(presentation))
    assert texts(parsed) == ["# Energy"]
    left_out = parsed.metadata["left_out"]
    assert isinstance(left_out, dict)
    texts_left_out = left_out["texts"]
    assert isinstance(texts_left_out, list)
    assert (left_out["words"], sorted(map(str, texts_left_out))) == (3, ["Company", "unseen words"])
