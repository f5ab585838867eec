"""Headings and their levels."""

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import takewhile

from sourcebook.parsing.pdf.layout.elements import Element, Part, Row
from sourcebook.parsing.pdf.layout.headings.unlikely_titles import is_formula, is_no_title
from sourcebook.parsing.pdf.layout.lines.rows import direction
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.measures import ONE_SIZE
from sourcebook.parsing.pdf.layout.page_parts import Line, OutlineEntry
from sourcebook.parsing.pdf.layout.words.list_marks import list_mark
from sourcebook.parsing.pdf.layout.words.section_numbers import (
    begins_with_chapter,
    is_chapter_number,
    is_number_within,
    section_number,
    without_chapter,
)

_LARGER = 1.1
"""Smallest size of a heading, in font sizes of the running text [library]."""
_LARGE = 1.6
"""Smallest size of a heading on a page without running text, in font sizes of the running text [first]."""
_LEAST_NUMBERED = 0.93
"""Size above which a title is known by its number alone, in font sizes of the running text [0080]."""
_MOST_LINES = 4
"""Most lines of a heading [first]."""
_LONGEST = 200
"""Most characters of a heading [first]."""
_MOST_BEFORE_TITLE = 600
"""Most characters before the document's title [first]."""
_DEEPEST = 6
"""Deepest level of a heading [first]."""
_LONGEST_CHAPTER_TITLE = 80
"""Most characters of the line that is a chapter's title below its number [first]."""
_BELOW_CHAPTER = 5.0
"""Largest distance of a chapter's title below its number, in font sizes of the number [first]."""
_BELOW_AT_RIGHT = 9.0
"""Largest such distance where both are at the column's right edge, with nothing on their left [0080]."""
_LIKE_CHAPTER = 0.8
"""Smallest size of a heading that is a chapter's title, in font sizes of the chapter's number [library]."""
_CAPTION = re.compile(
    r"(?:\[?(?:fig(?:ure|\.)?|table|tab\.|listing|example|algorithm|scheme|chart|plate|exhibit|abbildung|abb\."
    r"|tabelle|figura|tabla|tableau|рис\.?|рисунок|таблица|그림|표|図|表|图)\s?"
    r"(?:[A-Z]?\d+(?:[.\-–]\d+)*|(?-i:[IVXL]+))\]?)(?:[.:\s]|$)",
    re.IGNORECASE,
)
_OF_FIGURE = re.compile(r"\[?(?:fig|abb|chart|plate|рис|그림|図|图)", re.IGNORECASE)
_NO_HEADING_END = re.compile(r"[.,;:。，、；：．،؛۔।]$")
_WITHIN_SENTENCE = re.compile(r"[,;。，、；：．،؛۔।]")
"""Punctuation of sentences; titles in scripts without capitals that only their number tells have none."""
_YEARS = re.compile(r"\d{4}(?:\s?[-–/]\s?\d{2,4})?")
_LEADERS = re.compile(r"(?:[.·…]\s?){5,}")


def is_caption(text: str) -> bool:
    """Tell whether a text begins like the caption of a figure or table, with a number."""
    return _CAPTION.match(text) is not None


def is_figure_caption(one: Part) -> bool:
    """Tell whether an element is the caption of a figure."""
    return one.kind == "caption" and _OF_FIGURE.match(one.text) is not None


def indexed_headings(found: Sequence[Part]) -> list[tuple[int, Element]]:
    """Return the headings, each with its index."""
    return [(index, one) for index, one in enumerate(found) if one.kind == "heading"]


def is_heading(
    lines: Sequence[Line],
    text: str,
    style: TextStyle,
    *,
    column: tuple[float, float],
    right: float = 0.0,
    outline: AbstractSet[str] = frozenset(),
    cover: bool = False,
    from_right: bool = False,
) -> bool:
    """Tell whether lines differ from running text as a heading does, or are in the outline.

    Args:
        lines: lines of one paragraph.
        text: text of the paragraph.
        style: style of the running text.
        column: left and right edge of the column's text.
        right: right edge of the column with its tables.
        outline: plain titles of the file's outline.
        cover: whether the page has no running text to compare with.
        from_right: whether the column runs from right to left, and its lines are mirrored.
    """
    if len(lines) > _MOST_LINES or len(text) > _LONGEST:
        return False
    if not any(letter.isalpha() for letter in text):
        return is_set_apart(lines[0], style) and _is_numbered_year(text)
    if lines[0].turned or _LEADERS.search(text):
        return False
    if title_letters(text) in outline:
        return True
    mark = list_mark(text)
    size = min(line.size for line in lines)
    set_right = not from_right and _set_right(lines, text, (column[0], max(column[1], right)))
    if (set_right and not is_chapter_number(text)) or (mark is not None and mark.number is None):
        return False
    number = section_number(text)
    title = text if number is None else number.title
    letters = sum(letter.isalpha() for letter in title)
    if letters < 2 or letters < 0.3 * len(title.replace(" ", "")) or is_no_title(lines, text, style):
        return False
    if cover and size < _LARGE * style.size:
        return len(lines) == 1 and is_titled_by_number(lines[0], column)
    as_elsewhere = abs(size - style.elsewhere) < 0.05 * style.elsewhere and not lines[0].bold
    if size > _LARGER * style.size and not as_elsewhere:
        return not _NO_HEADING_END.search(text) or len(text) < 60
    bold = lines[0].bold and not style.bold
    if bold and size > 0.88 * style.size:
        numbered = len(lines) == 1 and text[-1] in ".:" and _is_numbered_within(text)
        return (numbered or not _NO_HEADING_END.search(text)) and len(lines) <= 3
    if len(lines) > 1 or size <= _LEAST_NUMBERED * style.size:
        return False
    chapter = is_chapter_number(text) and _is_short(lines[0], column)
    return chapter or is_titled_by_number(lines[0], column)


def is_set_apart(line: Line, style: TextStyle) -> bool:
    """Tell whether a line is larger than the running text, or bold where that is not."""
    return line.size > _LARGER * style.size or (line.bold and not style.bold)


def extends_number(line: str, above: str) -> bool:
    """Tell whether a line begins with the number of a section within the one that the line above begins: 3.2, 3.2.1."""
    outer, inner = section_number(above), section_number(line)
    return outer is not None and inner is not None and inner.text.startswith(f"{outer.text}.")


def is_section_title(line: Line, column: tuple[float, float]) -> bool:
    """Tell whether a line is a heading by its number alone: 3.2.1 and a few words, the first with a capital."""
    return _is_numbered_within(line.text) and _is_short(line, column)


def is_titled_by_number(line: Line, column: tuple[float, float]) -> bool:
    """Tell whether a line of its own is a heading by its number alone, also where its script has no capitals."""
    if is_section_title(line, column):
        return True
    number = section_number(line.text)
    if number is None or not number.depth or not _is_short(line, column) or _WITHIN_SENTENCE.search(number.title):
        return False
    first = number.title[:1]
    return first.isalpha() and first.lower() == first.upper()


def is_numbered_in_bold(row: Row, style: TextStyle, column: tuple[float, float]) -> bool:
    """Tell whether a line of its own is a short text in any type, such as a command's name, behind a bold number."""
    ordered = sorted(row.runs, key=lambda run: run.left)
    if len(ordered) < 2 or style.bold or not ordered[0].bold or not is_number_within(ordered[0].text):
        return False
    return _is_short(row.line, column) and sum(map(str.isalpha, row.line.text)) > 1 and not is_formula(row.line.text)


def _is_numbered_year(text: str) -> bool:
    """Tell whether a text is a year behind the number of a section within another, as histories have."""
    number = section_number(text)
    return number is not None and number.depth > 0 and _YEARS.fullmatch(number.title) is not None


def _is_numbered_within(text: str) -> bool:
    """Tell whether a text begins with the number of a section within another, and a capital."""
    number = section_number(text)
    return number is not None and number.depth > 0 and number.title[:1].isupper()


def _is_short(line: Line, column: tuple[float, float]) -> bool:
    return line.width < 0.7 * (column[1] - column[0]) and not _NO_HEADING_END.search(line.text)


def _set_right(lines: Sequence[Line], text: str, column: tuple[float, float]) -> bool:
    """Tell whether all lines are at the column's right edge, as dates and authors are."""
    left, right = column
    return direction(text) >= 0 and min(line.left for line in lines) > left + 0.6 * (right - left)


def is_numbered(text: str) -> bool:
    """Tell whether a text begins with the number of a section or chapter."""
    return section_number(text) is not None or begins_with_chapter(text)


def title_letters(text: str) -> str:
    """Return the letters and digits of a title in lower case; outlines and pages differ in spaces and punctuation."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def with_levels(found: Sequence[Part], outline: Sequence[OutlineEntry]) -> list[Part]:
    """Return the elements with the levels of headings: 1 for the title, 2 to 6 for all others.

    The level comes from the outline, else from numbers such as 3.2.1, else from font size and weight.
    """
    found = _with_chapter_titles(found)
    headings = [one for _, one in indexed_headings(found)]
    if not headings:
        return list(found)
    title = _title(found, headings)
    others = [one for one in headings if one is not title]
    entries = {title_letters(entry.title): entry.level for entry in outline}
    known = {id(one): level for one in others if (level := _known(one, entries, title)) is not None}
    levels = _style_levels(others, known)
    result: list[Part] = []
    for one in found:
        if one.kind == "heading":
            level = 1 if one is title else known.get(id(one)) or levels[style_of(one)]
            one = replace(one, level=min(level, _DEEPEST))
        result.append(one)
    return result


def _with_chapter_titles(found: Sequence[Part]) -> list[Part]:
    """Return the elements, with `Chapter 3` and the title below it as one heading; that title may be in any style."""
    result: list[Part] = []
    for one in found:
        before = result[-1] if result else None
        if not isinstance(before, Element) or not isinstance(one, Element):
            result.append(one)
        elif _is_chapter_title(before, one) or _is_number_of(before, one):
            text = f"{before.text} {one.text}"
            result[-1] = replace(
                one, kind="heading", text=text, places=(*before.places, *one.places), lines=before.lines + one.lines
            )
        else:
            result.append(one)
    return result


def _is_number_of(before: Element, one: Element) -> bool:
    """Tell whether an element is the number below the word `Chapter`, both on lines of their own."""
    if before.lines > 1 or one.lines > 1 or one.kind not in ("heading", "paragraph") or one.page != before.page:
        return False
    parted = before.text.isalpha() and is_chapter_number(f"{before.text} {one.text}")
    return parted and 0 < one.first.top - before.last.top < _BELOW_CHAPTER * before.first.size


def _is_chapter_title(before: Element, one: Element) -> bool:
    """Tell whether an element is the title of the chapter whose number is the heading before it."""
    if before.kind != "heading" or not is_chapter_number(before.text):
        return False
    if one.page != before.page or is_numbered(one.text):
        return False
    size = before.first.size
    at_right = abs(one.first.right - before.last.right) < size and one.first.left > one.column[0] + 2 * size
    if one.kind == "heading":
        alike = one.first.size > _LIKE_CHAPTER * size
    else:
        short = len(one.text) < _LONGEST_CHAPTER_TITLE and not _NO_HEADING_END.search(one.text)
        alike = one.kind == "paragraph" and one.lines == 1 and short
    return alike and 0 < one.first.top - before.last.top < (_BELOW_AT_RIGHT if at_right else _BELOW_CHAPTER) * size


def _title(found: Sequence[Part], headings: Sequence[Element]) -> Element | None:
    """Return the largest heading of the first page, unless another is as large or much text comes before it."""
    largest = max((one for one in headings if one.page == headings[0].page), key=lambda one: one.first.size)
    as_large = [one for one in headings if one.first.size * ONE_SIZE > largest.first.size]
    if len(as_large) > 1 or section_number(largest.text) is not None:
        return None
    before = takewhile(lambda one: one is not largest, found)
    letters = sum(len(one.text) for one in before if isinstance(one, Element))
    return largest if letters < _MOST_BEFORE_TITLE else None


def _known(heading: Element, entries: dict[str, int], title: Element | None) -> int | None:
    level = entries.get(title_letters(heading.text)) or entries.get(title_letters(without_chapter(heading.text)))
    if level is not None:
        # Where the outline contains the title itself, its other entries are one level down already.
        return level + (0 if title is not None and title_letters(title.text) in entries else 1)
    number = section_number(heading.text)
    if number is not None:
        return 2 + number.depth
    return 2 if begins_with_chapter(heading.text) else None


def style_of(heading: Element) -> tuple[int, bool]:
    """Return a heading's font size in half points, and whether it is bold."""
    return round(heading.first.size * 2), heading.first.bold


def _style_levels(headings: Sequence[Element], known: dict[int, int]) -> dict[tuple[int, bool], int]:
    """Return the level of each style: the level of most headings with a known one, else one below the larger style."""
    counts: dict[tuple[int, bool], Counter[int]] = {}
    for one in headings:
        counter = counts.setdefault(style_of(one), Counter())
        if id(one) in known:
            counter[known[id(one)]] += 1
    levels: dict[tuple[int, bool], int] = {}
    level, previous = 1, None
    for style in sorted(counts, key=lambda style: (-style[0], not style[1])):
        size, bold = style
        if counts[style]:
            level = counts[style].most_common(1)[0][0]
        elif previous is None or previous[0] > size * ONE_SIZE or previous[1] != bold:
            level += 1
        levels[style] = max(2, min(level, _DEEPEST))
        previous = style
    return levels
