"""Lines that only date a page are no content; dates that belong to the content are."""

import pytest

from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.html.cleaner import CleanedPage, clean_page

URL = "https://site.example/docs/page"
FILLER = "<p>The ferry leaves at nine and takes an hour to the island, weather permitting.</p>"


def clean(body: str) -> CleanedPage:
    return clean_page(f"<!doctype html><body>{body}</body>".encode(), url=URL, content_type="text/html; charset=utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "Last updated: 21 Nov 2026",
        "Last updated on Nov 21, 2026",
        "Generated on 2026-11-21 14:03:07 UTC",
        "Published 3 minutes ago",
        "<em>This page was last modified on 3 March 1999, at 10:15.</em>",
        "2026-11-21T10:00:00Z",
        "Saturday, 21 November 2026",
        "Zuletzt geändert: 21.11.2026, 14:03 Uhr",
        "Dernière mise à jour : 21 novembre 2026",
        "Updated <time>yesterday</time>",
        "© 2026 Example Inc. All rights reserved.",
        "Copyright (c) 1999-2026 Example",
    ],
)
def test_date_lines_go(line: str) -> None:
    """A line that only says when a page was made does not change its content."""
    assert clean(f"{FILLER}<p>{line}</p>").markdown == clean(FILLER).markdown


@pytest.mark.parametrize(
    "line",
    [
        "Updated 3 functions in the module",
        "The page was updated on 21 Nov 2026 by Ada.",
        "In 1999 we moved.",
        "Version 2 of 2026",
        "<code>Last updated: 21 Nov 2026</code>",
        "Published works",
        "Today",
        "Copyright is a right.",
    ],
)
def test_other_lines_stay(line: str) -> None:
    """A sentence with a date is content."""
    assert clean(f"{FILLER}<p>{line}</p>").markdown != clean(FILLER).markdown


def test_dates_that_belong_to_the_content_stay() -> None:
    """The dates of a list of releases, the rights of a licence, and what stands in code are kept."""
    releases = clean("<h2>2.0</h2><p>2026-11-21</p><p>New.</p><h2>1.0</h2><p>2025-01-01</p><p>First.</p>").markdown
    assert "2026-11-21" in releases
    assert "2025-01-01" in releases
    licence = clean("<p>Copyright 1991 One Corp.</p><p>Copyright 2001 Two Corp.</p>").markdown
    assert licence.count("Copyright") == 2
    mails = clean("".join(f"<p>Date: Fri, {day} Jan 2017 10:00:00 +0100</p><p>Dear all.</p>" for day in (6, 13, 20)))
    assert mails.markdown.count("Date:") == 3
    assert not mails.metadata
    code = "```\nLast updated: 21 Nov 2026\n\n\n\nx\n```\n"
    assert clean("<pre>Last updated: 21 Nov 2026\n\n\n\nx</pre><p>Last updated: 21 Nov 2026</p>").markdown == code


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T14:03:07Z", "2026-11-21T14:03:07+00:00"),
        ("2026/1/2", "2026-01-02"),
        ("21 Nov 2026", "2026-11-21"),
        ("Saturday, November 21st, 2026", "2026-11-21"),
        ("Sat, 21 Nov 2026 14:03:07 GMT", "2026-11-21T14:03:07+00:00"),
        ("03/04/2026", None),
        ("2026-13-45", None),
        ("soon", None),
        ("", None),
        ("9" * 1000, None),
    ],
)
def test_iso_date(text: str, moment: str | None) -> None:
    """A date is given in ISO 8601, or not at all where it cannot be told for sure."""
    assert iso_date(text) == moment
