"""Raised and lowered text says what it is: an exponent, the end of a word, a fraction, the mark of a note."""

import pytest

from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, without_marks

_MARKS = {"<sup>": RAISED, "<sub>": LOWERED, "</sup>": LEVEL, "</sub>": LEVEL}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("10<sup>6</sup> units", "10^6 units"),
        ("4.2 × 10<sup>-3</sup> of 2<sup>−3</sup>", "4.2 × 10^-3 of 2^−3"),
        ("1024<sup>3</sup> bytes, 3.5<sup>2</sup>", "1024^3 bytes, 3.5^2"),
        ("12 m<sup>2</sup>, 3 mol L<sup>-1</sup>, 5 kWh<sup>2</sup>", "12 m^2, 3 mol L^-1, 5 kWh^2"),
        ("x<sup>n+1</sup> and (a + b)<sup>2</sup> and |x|<sup>2</sup>", "x^(n+1) and (a + b)^2 and |x|^2"),
        ("Ca<sup>2+</sup> and SO<sub>4</sub><sup>2−</sup>", "Ca^2+ and SO4^2−"),
        ("CO<sub>2</sub>, V<sub>max</sub>, 1011<sub>2</sub>, x<sub>i+1</sub>", "CO2, Vmax, 1011_2, x_(i+1)"),
        ("1<sup>st</sup>, 2<sup>nd</sup>, XIX<sup>e</sup>, 1.<sup>o</sup>", "1st, 2nd, XIXe, 1.o"),
        ("M<sup>lle</sup> and D<sup>r</sup>, Foo<sup>TM</sup>, Bar<sup>®</sup>", "Mlle and Dr, FooTM, Bar®"),
        ("5<sup>1</sup>/<sub>2</sub> inches, <sup>3</sup>⁄<sub>4</sub> cup", "5 1/2 inches, 3⁄4 cup"),
        ("$19<sup>99</sup> or 19<sup>99</sup> €", "$19.99 or 19.99 €"),
        ("<sup>14</sup>C and <sup>238</sup>U", "14C and 238U"),
        ("Search<sup>beta</sup>", "Search beta"),
    ],
)
def test_raised_and_lowered_text_keeps_its_value(written: str, shown: str) -> None:
    """An exponent, an index, a fraction and the end of a word say what the page shows."""
    assert without_marks(_marked(written)) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("the Act of 1815<sup>3</sup>.", "the Act of 1815[3]."),
        ("in 1815–20<sup>3</sup>, 1,815<sup>4</sup>, $42<sup>5</sup>", "in 1815–20[3], 1,815[4], $42[5]"),
        ("barnacle<sup>4</sup>, it<sup>5</sup>, UK<sup>6</sup>", "barnacle[4], it[5], UK[6]"),
        ("the end.<sup>3</sup> (see above)<sup>12</sup>", "the end.[3] (see above)[12]"),
        ("words<sup>1,2</sup> and words<sup>3–5</sup> and words<sup>a</sup>", "words[1,2] and words[3–5] and words[a]"),
        ("CO<sub>2</sub><sup>3</sup> and 港湾<sup>7</sup>", "CO2[3] and 港湾[7]"),
        ("<sup>3</sup>See the report", "[3] See the report"),
        ("barnacle<sup>[4]</sup> and heron<sup>†</sup>", "barnacle[4] and heron†"),
    ],
)
def test_note_mark_stays_apart(written: str, shown: str) -> None:
    """The mark of a note is no digit of the year and no letter of the word before it."""
    assert without_marks(_marked(written)) == shown


def _marked(written: str) -> str:
    for tag, mark in _MARKS.items():
        written = written.replace(tag, mark)
    return written
