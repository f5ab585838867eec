"""Letters in place of the glyphs that some PDFs give for them."""

import pytest

from sourcebook.model.media_types import PDF
from sourcebook.parsing.parse import parse
from sourcebook.parsing.pdf.presentation_forms import as_letters
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf


@pytest.mark.parametrize(
    ("shown", "letters"),
    [
        ("\ufeb3\ufefc\ufee1", "\u0633\u0644\u0627\u0645"),  # salam, with the ligature of lam and alef
        ("\ufb8f\ufe98\ufe8e\ufb8f", "\u06a9\u062a\u0627\u06a9"),  # Persian's own kaf
        ("\u0628\ufe76", "\u0628\u064e"),  # a vowel mark alone, without the space of its form
        ("\ufb2a\ufb4f", "\u05e9\u05c1\u05d0\u05dc"),  # Hebrew: shin with its dot, alef and lamed in one
        ("e\ufb03cient", "efficient"),
        ("\ufb29", "\ufb29"),  # a plus sign
        ("\u0633\u0644\u0627\u0645", "\u0633\u0644\u0627\u0645"),
    ],
)
def test_forms_become_letters(shown: str, letters: str) -> None:
    """The letters are those that people type, so that keywords find them."""
    assert as_letters(shown) == letters


def test_the_text_of_a_page_holds_letters() -> None:
    """A page with joined forms gives the letters, and none of the forms."""
    text = parse(pdf([[Shown(72, 700, "\ufeb3\ufea8\ufee6", font="unicode")]]), name="a.pdf", media_type=PDF).markdown
    assert set(text.strip()) == set("\u0633\u062e\u0646")
