"""Lists of a page keep the marks that a browser shows, and a table in a cell is a line of pairs."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.text.list_numbers import list_number


def _written(markup: str) -> str:
    return clean_page(f"<body>{markup}</body>".encode(), keep="body").markdown.strip()


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<ol type=a><li>first<li><p>second</p></ol>", "- a. first\n\n- b. second"),
        ("<ol type=I start=3><li>third part</ol>", "- III. third part"),
        ("<ol style='list-style-type: lower-roman'><li>one<li>two</ol>", "- i. one\n- ii. two"),
        ("<ol class='upperalpha simple'><li>one</ol>", "- A. one"),
        ("<ol><li value=7>seven<li>eight</ol>", "7. seven\n8. eight"),
        ("<ol><li>one<li value=5>five</ol>", "- 1. one\n- 5. five"),
        ("<ol reversed><li>three<li>two<li>one</ol>", "- 3. three\n- 2. two\n- 1. one"),
        ("<ol style='list-style: none'><li>(a) duty</ol>", "- (a) duty"),
        ("<ol start=4><li>four<li>five</ol>", "4. four\n5. five"),
        ("<ol start=x><li value=y>one</ol>", "1. one"),
        ("<ol><li>clause<ol type=a><li>duty</ol></ol>", "1. clause\n   - a. duty"),
    ],
)
def test_marks_of_lists(markup: str, shown: str) -> None:
    """An item has the letter or number that stands before it on the page."""
    assert _written(markup) == shown


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<ol start=3><li>tar</li><li>oil</li></ol>", "3. tar 4. oil"),
        ("<ol type=a><li>tar</li><li>oil</li></ol>", "- a. tar - b. oil"),
        ("<table><tr><td>Jar</td><td>Litres</td></tr><tr><td>blue</td><td>9</td></tr></table>", "Jar: blue, Litres: 9"),
        (
            "<table><tr><th>Length</th><td>11 m</td></tr><tr><th>Beam</th><td>3 m</td></tr></table>",
            "Length: 11 m; Beam: 3 m",
        ),
    ],
)
def test_lists_and_tables_in_cells(markup: str, shown: str) -> None:
    """Numbers and pairs within a cell stay what they are on the line of the cell."""
    table = f"<table><tr><th>Room</th><th>Goods</th></tr><tr><td>Cellar</td><td>{markup}</td></tr></table>"

    assert _written(table) == f"| Room | Goods |\n| --- | --- |\n| Cellar | {shown} |"


def test_tables_that_arrange_a_page_are_no_grid() -> None:
    """A table around a page's parts stays plain blocks, also where it holds a table of data."""
    inner = "<table><tr><th>Ship</th><th>Load</th></tr><tr><td>Skarv</td><td>97</td></tr></table>"
    page = f"<table><tr><td>Menu</td></tr><tr><td><p>{'The harbour tells. ' * 20}</p>{inner}</td></tr></table>"

    assert "| Ship | Load |\n" in _written(page)


@pytest.mark.parametrize(
    ("number", "kind", "shown"),
    [
        (4, "i", "iv"),
        (1994, "I", "MCMXCIV"),
        (28, "a", "ab"),
        (3, "A", "C"),
        (7, "01", "07"),
        (0, "i", "0"),
        (5, "", ""),
    ],
)
def test_list_number(number: int, kind: str, shown: str) -> None:
    """Numbers are written as formats name their ways."""
    assert list_number(number, kind) == shown
