"""A word ends near where the line below begins: the decoder joins both where a font, as those of TeX, has no space."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import assembled

_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CM{} /FirstChar 65 /LastChar 122 /Widths [{}] >>"


def read(*operators: str) -> str:
    """Return the Markdown of a page of text in two fonts whose letters are all half as wide as high."""
    fonts = [_FONT.format(name, " ".join(["500"] * 58)) for name in ("BX10", "R10")]
    content = "\n".join(f"BT {each} ET" for each in operators)
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R "
        "/Resources << /Font << /bold 4 0 R /plain 5 0 R >> >> >>"
    )
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, *fonts]
    stream = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
    return parse_pdf(assembled([*objects, stream]), settings=ParsingSettings(ocr=False)).markdown


def words(text: str) -> list[str]:
    return text.replace("*", " ").replace("#", " ").split()


def test_a_term_ends_where_its_description_begins() -> None:
    text = read(
        "/bold 10 Tf 72 700 Td [(name)]TJ /plain 10 Tf 18 -15.5 Td [(The)-500(name)-500(of)-500(the)-500(shop)]TJ",
        "/plain 10 Tf 72 640 Td [(Text)-500(below)-500(it)-500(in)-500(the)-500(usual)-500(size)]TJ",
    )
    assert words(text)[:3] == ["name", "The", "name"]


def test_a_large_letter_above_the_entries_of_an_index() -> None:
    text = read(
        "/bold 14 Tf 72 700 Td [(F)]TJ /plain 10 Tf 0 -16 Td [(foreign)-500(free)]TJ",
        "/plain 10 Tf 72 640 Td [(Text)-500(below)-500(it)-500(in)-500(the)-500(usual)-500(size)]TJ",
    )
    assert words(text)[:3] == ["F", "foreign", "free"]


def test_a_title_of_narrow_letters_is_one_word() -> None:
    """It is far higher than the text, and all its letters are in one line."""
    line = "[(Text)-500(below)-500(it)-500(in)-500(the)-500(usual)-500(size)]TJ"
    text = read("/bold 30 Tf 40 Tz 72 700 Td [(fill)]TJ", f"/plain 10 Tf 100 Tz 72 640 Td {line} 0 -12 Td {line}")
    assert words(text)[0] == "fill"
