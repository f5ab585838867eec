"""Documents in a font of one width: prose is not code, and code stays code."""

from textwrap import wrap

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.words import is_monospaced
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

PROSE = (
    "The sender sends a segment and starts a timer.  If no acknowledgement arrives before the timer ends, the segment "
    "is sent again.  A receiver keeps segments that arrive early.  It answers each of them with the number that it "
    "expects next.  Two equal answers are no sign of loss.  Three of them are.  A window is never empty."
)
DRAWING = ["      +--------+--------+", "      | source | target |", "      +--------+--------+"]
CODE = ["int main(void) {", "    int i = 0;", "    while (i < 9) { i += 1; }", "    return i;", "}"]


def read(lines: list[str]) -> ParsedDocument:
    marks = [Shown(72, 740 - 12 * n, line, font="mono") for n, line in enumerate(lines) if line]
    return parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False))


def paragraph() -> list[str]:
    return [f"   {line}" for line in wrap(PROSE, 69, fix_sentence_endings=True)]


def test_lines_of_prose_stay_whole() -> None:
    """Two spaces behind a full stop are no gutter between columns."""
    text = " ".join(read([*paragraph(), "", *paragraph()]).markdown.split())
    assert text.count(" ".join(PROSE.split())) == 2


def test_prose_is_paragraphs_and_sections() -> None:
    """A monospaced document has paragraphs at its empty lines, headings at its numbers, and its drawing as code."""
    document = read(["1.  Introduction", "", *paragraph(), "", *DRAWING, "", "2.  Windows", "", *paragraph()])
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "code", "heading", "paragraph"]
    assert "+--------+--------+\n| source | target |" in document.markdown


def test_code_stays_code() -> None:
    """Source text keeps its lines and indents, also where nothing else is in the document."""
    document = read(CODE)
    assert [block.kind for block in document.blocks] == ["code"]
    assert "\n".join(CODE) in document.markdown


def test_few_words_of_one_mean_width_are_no_code() -> None:
    """Words with narrow and wide letters may have one mean width by chance, as a name and a date on a title page."""
    body = [Shown(72, 600 - 12 * n, "The text of the page goes on here in its own font.") for n in range(6)]
    names = [Shown(250, 700, "tomato water", font="unicode"), Shown(270, 680, "month", font="unicode")]
    document = parse_pdf(pdf([[*names, *body]]), settings=ParsingSettings(ocr=False))
    assert "```" not in document.markdown


def test_bold_typewriter_of_tex_is_code() -> None:
    """Names of fonts that hold few words decide: those of the TX fonts, too."""
    assert all(map(is_monospaced, ("/AAAAAA+t1xtt", "/AAAAAA+t1xbtt", "/AAAAAA+txtt")))
