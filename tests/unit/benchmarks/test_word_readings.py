"""Word files are scored by their own XML."""

from io import BytesIO

from docx import Document

from benchmarks.harness.word_readings import WordScore, score


def test_words_out_of_order_and_lost_cells_cost() -> None:
    """Words that are not the body's, such as addresses of links, do not."""
    document = Document()
    document.add_paragraph("one two three four")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "five", "six"
    file = BytesIO()
    document.save(file)
    whole = "one two (address) three four\n\n| five | six |\n| - | - |\n"
    assert score(file.getvalue(), whole) == WordScore(1.0, 1.0)
    assert score(file.getvalue(), "three four one two\n\n| five | seven |\n| - | - |\n") == WordScore(3 / 6, 0.5)
