"""Titles that tell a document from others."""

import pytest

from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.titles import is_title


@pytest.mark.parametrize(
    "text",
    [
        "Enscript Output",
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "Présentation PowerPoint",
        "PowerPoint-bemutató",
        "PowerPoint 演示文稿",
        "Prezentacja programu PowerPoint",
        "Kein Folientitel",
        "Microsoft Word - Document1",
        "Microsoft PowerPoint - talk.ppt",
        "Document 2",
        "Slide 1",
        "untitled",
        "Untitled Document",
        "NAME",
        "--",
    ],
)
def test_what_programs_write_into_every_file_is_no_title(text: str) -> None:
    """The first heading stands in for it."""
    assert not is_title(text)


@pytest.mark.parametrize(
    "text",
    [
        "Presentation of the budget",
        "PowerPoint basics",
        "Page layout",
        "Document management",
        "1984",
        "Namen",
        "京都",
        "Output",
        "Slides",
    ],
)
def test_titles_that_look_like_them(text: str) -> None:
    """A word more, and it says something."""
    assert is_title(text)


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("# NAME\n\nls - list directory contents\n\n# SYNOPSIS\n\nls [OPTION]\n", "ls - list directory contents"),
        ("# Name\n\n**git-add** — Add file contents\n", "git-add — Add file contents"),
        ("# NAME\n\nNames are chosen by the city.\n\n# OTHER\n", None),
        ("# NAME\n\n# OTHER\n", None),
        ("# Names\n\na - b\n", "Names"),
    ],
)
def test_a_manual_page_is_named_by_what_it_names(markdown: str, title: str | None) -> None:
    """Its first heading is NAME, as that of every other manual page."""
    assert parse(markdown.encode(), name="a.md", media_type="text/markdown").title == title
