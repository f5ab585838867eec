"""Numbers before titles, in the scripts that number chapters and sections."""

import pytest

from sourcebook.parsing.pdf.layout.headings.headings import is_heading
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark
from sourcebook.parsing.pdf.layout.words.section_numbers import (
    begins_with_chapter,
    is_chapter_number,
    section_number,
    without_chapter,
)

STYLE = TextStyle(10.0, False, {})


@pytest.mark.parametrize(
    ("text", "number", "depth", "title"),
    [
        ("3.2.1 Sizes", "3.2.1", 2, "Sizes"),
        ("§1.4 正文字体", "1.4", 1, "正文字体"),
        ("１．２　概要", "１.２", 1, "概要"),
        ("1.1概要", "1.1", 1, "概要"),
        ("٢.١ مقدمة", "٢.١", 1, "مقدمة"),
        ("A.1 Tables", "A.1", 1, "Tables"),
    ],
)
def test_numbers_of_sections(text: str, number: str, depth: int, title: str) -> None:
    """Digits of every script number sections; before ideographs, kana and Hangul they need no space."""
    found = section_number(text)
    assert found is not None
    assert (found.text, found.depth, found.title) == (number, depth, title)


@pytest.mark.parametrize("text", ["3人", "2024年", "1.5em", "3.14", "第 3 章"])
def test_other_numbers(text: str) -> None:
    """Amounts, years and chapters are no sections."""
    assert section_number(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Chapter 3",
        "第三章",
        "第 12 章",
        "第 II 部",
        "제 1 장",
        "제2절",
        "Глава 4",
        "الفصل ٣",
        "פרק ג",
        "附录 A",
        "부록 가",
    ],
)
def test_numbers_of_chapters(text: str) -> None:
    """A chapter's number alone, above its title or before it."""
    assert is_chapter_number(text)
    assert begins_with_chapter(f"{text} x")


def test_a_chapter_within_a_sentence() -> None:
    """`In chapter 3 …` begins no chapter, and a title is the same without its number."""
    assert not begins_with_chapter("第3章で述べたように")
    assert without_chapter("第一章 概要").strip() == "概要"


def heading(text: str, *, size: float = 10.0, bold: bool = False, from_right: bool = False) -> bool:
    """Tell whether a line alone in a column of 400 points is a heading."""
    line = Line(text, 72, 72 + 0.6 * size * len(text), 100, 110, size, bold)
    return is_heading([line], text, STYLE, column=(72, 472), from_right=from_right)


@pytest.mark.parametrize(("text", "true"), [("1.3.4 강조", True), ("2.1 标题", True), ("3.2 所示，其中", False)])
def test_titles_in_scripts_without_capitals(text: str, true: bool) -> None:
    """A number within another tells a title, where no comma tells a sentence."""
    assert heading(text) is true


def test_years_as_titles() -> None:
    """Histories have them; a number and a year in the size of running text may be of a table."""
    assert heading("10.1 2014", size=14)
    assert not heading("10.1 2014")
    assert not heading("14 2014", size=14)


def test_text_in_brackets_is_no_title() -> None:
    """Labels of pictures are, however they are set."""
    assert not heading("（横組）", size=14)
    assert heading("（一）概要", size=14)


def test_a_latin_title_on_a_page_from_right_to_left() -> None:
    """Its lines are mirrored, so that a title at the left edge has the farthest right one."""
    line = Line("1 Package option", -172, -72, 100, 110, 14.0, True)
    assert is_heading([line], line.text, STYLE, column=(-472, -72), from_right=True)


def test_bullets_without_a_space() -> None:
    """Chinese and Japanese have none behind a bullet; elsewhere a dot or star before a letter is no bullet."""
    mark = list_mark("•脚注の設定")
    assert mark is not None
    assert mark.text == "脚注の設定"
    assert list_mark("*args") is None
    assert list_mark("·text") is None
