"""Text of rich text beside plain paragraphs: what Word shows is kept, what was deleted is gone."""

import pytest

from sourcebook.parsing.office.rtf import parse_rtf
from tests.unit.parsing.covering import assert_blocks_cover, texts


def read(body: bytes, *, head: bytes = rb"\ansi") -> list[str]:
    document = parse_rtf(rb"{\rtf1" + head + rb" " + body + rb"\par}")
    assert_blocks_cover(document)
    return texts(document)


def test_deleted_words_are_gone() -> None:
    """Words that a reviewer deleted do not appear, until the property ends or in their group."""
    assert read(rb"Kept {\deleted gone}words \deleted lost\deleted0 stay") == ["Kept words stay"]


def test_boxes_follow_the_paragraph_that_holds_them() -> None:
    """The text of a box is read once, though it is written for new and for old readers; in the text and in a table."""
    new = rb"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt\pard Boxed\par}}{\shprslt{\*\do{\dptxbxtext -}}}}"
    old = rb"{\*\do\dptxbx{\dptxbxtext\pard Old box\par}}"
    assert read(rb"One" + new + rb" two\par Three" + old) == ["One two", "Boxed", "Three", "Old box"]
    table = rb"\trowd\cellx1\cellx2\intbl a" + new + rb"\cell b\cell\row\pard after"
    assert read(table) == ["| a | b |\n| --- | --- |", "Boxed", "after"]


def test_remarks_name_their_author() -> None:
    """A comment is a quotation behind its paragraph."""
    remark = rb"{\*\atnid AB}{\*\atnauthor Ada}\chatn{\*\annotation{\*\atndate 1}\pard Why?\par}"
    assert read(rb"Text" + remark + rb" more\par Next") == ["Text more", "> Comment by Ada: Why?", "Next"]


def test_what_is_left_out_is_counted() -> None:
    """Headers, footers and hidden words are left out, and the metadata say so."""
    document = parse_rtf(
        rb"{\rtf1{\headerf Company\par paper\par}{\footer Page 3}Shown {\v hidden words}text\par Next\par}"
    )
    assert texts(document) == ["Shown text", "Next"]
    left_out = document.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert (left_out["rows"], left_out["words"]) == (4, 6)
    assert left_out["texts"] == ["Company", "paper", "Page 3", "hidden words"]


@pytest.mark.parametrize(
    ("head", "body", "shown"),
    [
        (rb"\mac", rb"caf\'8e", "café"),
        (rb"\pca", rb"caf\'82", "café"),
        (rb"\ansi\ansicpg932", rb"\'93\'fa{\b\'96}{\b0\'7b}", "日本"),
        (rb"\ansi{\fonttbl{\f0 Arial;}{\f1\fcharset128 Gothic;}}", rb"\f1 \'93\'fa\'96\'7b\f0  a", "日本 a"),
        (rb"\ansi{\fonttbl{\f1\fcharset2 Symbol;}}", rb"a {\f1 a}", "a α"),
        (rb"\ansi", rb"{\uc2 \u20013\'d6\'d0}\uc1 \u233\'e9", "中é"),
        (rb"\ansi", rb"{\upr{ascii}{\*\ud{unicode}}}", "unicode"),
        (rb"\ansi", rb"E{\mmath{\*\moMath{\mr\mscr0 =m}{\msSup{\msSupPr x}{\me{\mr c}}{\msup{\mr 2}}}}}", "E=mc2"),
    ],
)
def test_letters_are_those_that_word_shows(head: bytes, body: bytes, shown: str) -> None:
    """Code pages of the file and of its fonts, letters of two bytes over several groups, Unicode beside substitutes."""
    assert read(body, head=head) == [shown]


def test_tables_in_cells_and_first_items_of_lists_are_kept() -> None:
    """A table in a cell is text of the cell, not glued; the first item of a list keeps its number."""
    nested = (
        rb"\trowd\cellx1\cellx2\intbl A\par\itap2 n1\nestcell n2\nestcell{\*\nesttableprops\trowd\nestrow}"
        rb"{\nonesttables\par}\itap1\cell B\cell\row\pard "
    )
    assert read(nested + rb"{\pntext 1.\tab}first\par{\listtext 2.\tab}second") == [
        "| A n1 n2 | B |\n| --- | --- |",
        "1. first\n2. second",
    ]


def test_a_style_makes_a_heading() -> None:
    """The level of a heading may be in its style alone."""
    styles = rb"\ansi{\stylesheet{\s0 Normal;}{\s1\outlinelevel1 heading 2;}}"
    assert read(rb"\pard\s1 Scope\par\pard\s0 Text", head=styles) == ["## Scope", "Text"]


@pytest.mark.parametrize(
    "style",
    [rb"{\s1 heading 1;}", rb"{\s1\sbasedon0 Heading 1;}", rb"{\s7 heading 1;}{\s1\sbasedon7 Own;}", rb"{\s1 Title;}"],
)
def test_headings_by_the_names_of_their_styles(style: bytes) -> None:
    """LibreOffice writes the name of a heading's style and no level; a style may be based on one."""
    numbered = rb"\pard\s1{\listtext\pard\plain 2.\tab}\ilvl0\ls1 Costs\par"
    body = rb"{\stylesheet{\s0 Normal;}" + style + rb"}\pard\s1 Plan\par\pard\s0 Text\par" + numbered + rb"\pard more"

    assert read(body) == ["# Plan", "Text", "# 2. Costs", "more"]


def test_nested_lists_keep_levels_and_marks() -> None:
    """Numbers of several levels, letters and bullets are as the program shows them; `o` is a bullet of Word."""
    items = (
        rb"\pard{\listtext\pard\plain 1.\tab}\ilvl0\ls1 Hire\par"
        rb"\pard{\listtext\pard\plain 1.1\tab}\ilvl1\ls1 noon\par"
        rb"\pard{\listtext\pard\plain (a)\tab}\ilvl2\ls1 owner\par"
        rb"\pard{\listtext\pard\plain 2.\tab}\ilvl0\ls1 Duties\par"
        rb"\pard Remark\par"
        rb"\pard{\listtext\pard\plain\f1 o\tab}\ilvl1\ls2 oil\par"
        rb"\pard{\pntext\pard\plain iv.\tab}tar\par\pard End"
    )

    assert read(items) == [
        "1. Hire\n    - 1.1 noon\n        - (a) owner\n2. Duties",
        "Remark",
        "- oil\n- iv. tar",
        "End",
    ]


def test_raised_and_lowered_words() -> None:
    """An exponent, an index and a note's mark keep their meaning, however programs raise them."""
    body = (
        rb"10{\super 6} t of CO{\sub 2} in 1815{\up8\fs16 3}, x{\dn2 i}{\super 2}, 5\super 1\nosupersub /{\sub 2} and"
        rb" 10{\super 1}{\super\b 2}\par Word{\super\chftn{\footnote 10{\super 3} kg}} end"
    )

    assert read(body) == ["10^6 t of CO2 in 1815[3], xi^2, 5 1/2 and 10^12", "Word[^1] end", "[^1]: 10^3 kg"]


def test_deleted_row_of_a_table_is_gone() -> None:
    """A row whose words a reviewer deleted is no row of empty cells."""
    row = rb"\trowd\cellx1\cellx2\intbl %s\cell %s\cell\row"
    table = row % (b"Car", b"80") + row % (rb"{\deleted Cart}", rb"{\deleted 55}") + row % (b"Van", b"90")

    assert read(table + rb"\pard after") == ["| Car | 80 |\n| --- | --- |\n| Van | 90 |", "after"]
