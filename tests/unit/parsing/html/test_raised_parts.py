"""Raised and lowered parts of a page keep their meaning in plain text."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page, readable_body, write_everything


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("10<sup>6</sup> of 12 m<sup>2</sup>", "10^6 of 12 m^2"),
        ("e<sup>x<sup>2</sup></sup> and x<sub>i</sub><sup>2</sup>", "e^(x^2) and xi^2"),
        ("<i>E</i> = <b>m</b><i>c</i><sup>2</sup>", "*E* = **m***c*^2"),
        ("5<sup>1</sup>/<sub>2</sub> inches", "5 1/2 inches"),
        ('10<span style="font-size: 8pt; vertical-align: super">-3</span>', "10^-3"),
        ("1815<sup>3</sup> and CO<sub>2</sub>", "1815[3] and CO2"),
        ('1815<sup><a href="#n3">3</a></sup> and 1815<a href="#n3"><sup>3</sup></a>', "1815[3](#n3) and 1815[3](#n3)"),
        ("<sup>3</sup>See the report", "[3] See the report"),
        ("1<sup>st</sup> of <sup>14</sup>C", "1st of 14C"),
    ],
)
def test_raised_parts(markup: str, shown: str) -> None:
    """An exponent is no digit of its base, and the mark of a note no digit of a year; a link has brackets already."""
    assert clean_page(f"<p>{markup}</p>".encode(), keep="body").markdown.strip() == shown


def test_notes_without_links_have_brackets() -> None:
    """Where links within a book are text, as in an e-book, the mark of a note stays apart from the word before it."""
    body = readable_body('<p>by 1815<sup><a href="notes.xhtml#n3">3</a></sup> and 10<sup>6</sup></p>')

    assert body is not None
    assert write_everything(body, base_url=None).markdown.strip() == "by 1815[3] and 10^6"


def test_title_and_code_have_signs() -> None:
    """The title of a section and code say the exponent, too."""
    page = clean_page(b"<h1>Area in m<sup>2</sup></h1><pre>x<sup>2</sup>\ny</pre>", keep="body")

    assert page.title == "Area in m^2"
    assert "```\nx^2\ny\n```" in page.markdown


@pytest.mark.parametrize("inside", ["", " ", "&shy;", '<img src="/a.png" alt="">', "<a name=x></a>"])
@pytest.mark.parametrize("tag", ["sup", "sub"])
def test_what_holds_no_text_is_no_raised_text_and_fails_no_page(tag: str, inside: str) -> None:
    page = clean_page(f"<p>The gauge<{tag}>{inside}</{tag}> is green.</p>".encode(), keep="body")
    assert " ".join(page.markdown.replace("\u00ad", "").split()) == "The gauge is green."
