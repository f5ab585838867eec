"""Texts and comments that people put on a page."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.annotated_pdf import annotated, appearance, lines
from tests.unit.parsing.pdf.pdf_writer import Shown

PROSE = lines(
    "The crane lifts four tonnes at a radius of six metres and no more than that in any wind.",
)
BELOW = Shown(72, 400, "A second part of the plan says how the cranes are moved in winter.")


def paragraphs(content: bytes) -> list[str]:
    document = parse_pdf(content, settings=ParsingSettings(ocr=False))
    return [paragraph for paragraph in document.markdown.strip().split("\n\n") if paragraph]


def test_texts_on_the_page() -> None:
    """A text typed over the page is read once, at its place, with or without an appearance; so is a stamp."""
    typed, rejected = "Freight office: limit is now 3.25 tonnes", "REJECTED 2024"
    annotations = [
        f"/Subtype /FreeText /F 4 /Rect [72 600 372 620] /Contents ({typed}) /AP << /N 10 0 R >>",
        "/Subtype /FreeText /F 4 /Rect [72 560 372 580] /Contents (Typed: 42 t)",
        "/Subtype /FreeText /F 4 /Rect [72 520 372 540] /RC (<body><p>Rich <b>note</b> 7</p></body>)",
        (
            "/Subtype /Stamp /F 4 /Rect [200 480 500 500] /Name /Draft /Contents (See my letter.) /T (Chief) "
            "/AP << /N 11 0 R >>"
        ),
        "/Subtype /Stamp /F 4 /Rect [200 440 500 460] /Name /SBNotApproved",
    ]
    content = annotated(
        [*PROSE, BELOW], annotations, objects=[appearance(typed, 300, 20), appearance(rejected, 300, 20)]
    )
    assert paragraphs(content)[1:] == [
        typed,
        "Typed: 42 t",
        "Rich note 7",
        rejected,
        "Comment by Chief: See my letter.",
        "Not Approved",
        BELOW.text,
    ]


def test_comments_follow_the_text_that_they_are_about() -> None:
    """An answer follows what it answers, wherever it is; comments without a place on the page are kept."""
    annotations = [
        "/Subtype /Text /Rect [500 700 520 715] /Contents (The port does.) /T (B) /IRT {11}",
        "/Subtype /Text /Rect [30 395 50 415] /Contents (Who pays?) /T (A) /M (D:20240311120000Z)",
        "/Subtype /Highlight /Rect [72 720 300 735] /Contents (Also after rain.)",
        "/Subtype /Underline /Rect [72 720 300 735]",
        "/Subtype /StrikeOut /Rect [72 735 150 752] /QuadPoints [72 752 131 752 72 735 131 735] /T (C)",
        "/Subtype /Text /Rect [5000 -5000 5020 -4980] /Contents (Far away) /T (Z)",
        "/Subtype /Text /Rect [30 395 50 415] /Contents (one) /IRT {17}",
        "/Subtype /Text /Rect [30 395 50 415] /Contents (two) /IRT {16}",
    ]
    found = paragraphs(annotated([*PROSE, BELOW], annotations))
    below = found.index(BELOW.text)
    assert found[1:below] == ["Comment: Also after rain.", 'Comment by C, on "The crane lifts": struck out']
    assert found[below + 1 : below + 3] == ["Comment by A, 2024-03-11: Who pays?", "Comment by B: The port does."]
    assert set(found[below + 3 :]) == {"Comment: one", "Comment: two", "Comment by Z: Far away"}


def test_places_on_a_rotated_page() -> None:
    """They are turned with the page."""
    turned = [Shown(100, 72, PROSE[0].text, angle=90), Shown(500, 72, BELOW.text, angle=90)]
    annotations = ["/Subtype /FreeText /F 4 /Rect [300 72 320 372] /Contents (Between both: 7)"]
    found = paragraphs(annotated(turned, annotations, page="/Rotate 90"))
    assert found == [PROSE[0].text, "Between both: 7", BELOW.text]
