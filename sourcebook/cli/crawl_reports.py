"""The tables of `sourcebook crawl --report` and `--dry-run`, and the lines on dead links after an ingest."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sourcebook.cli.output import console, one_line, safe
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.admin.crawl_reports import CrawlNotes
    from sourcebook.web.crawl_report import CrawlReport
    from sourcebook.web.left_out import LeftOutLinks

_MOST_ROWS = 20
"""Rows of a table; `--json` has all of them."""
_MOST_LINES = 10
"""Dead links that an ingest prints."""
_MOST_REFERRERS = 3
_WIDEST_URL = 300

_COUNTED = {
    "fetched": "stored pages",
    "redirected": "URLs that lead to another one",
    "refused": "URLs that a rule excludes",
    "dead": "URLs that do not exist",
    "failed": "URLs that could not be fetched or read",
    "duplicates": "stored pages that are no documents, because another one has their content",
    "left_out": "URLs of the site that were never requested",
    "lists": "sitemaps and files llms.txt that were read",
    "queued": "URLs that wait for the rest of the crawl",
    "beyond": "URLs beyond `max_pages`",
}


def show_reports(reports: Sequence["CrawlReport"]) -> None:
    """Print the tables of each site."""
    for report in reports:
        _show(report)
    if not reports:
        console().print("There is no site.")


def _show(report: "CrawlReport") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = report.url if report.collection is None else f"{report.collection}  {report.url}"
    console().print(safe(one_line(title, _WIDEST_URL), "bold"))
    if report.error is not None:
        console().print(safe(one_line(report.error, 1000), "yellow"))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("URLs", justify="right", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("", overflow="fold")
    for kind, number in report.counts.items():
        table.add_row(f"{number:,}", kind, safe(_COUNTED[kind]))
    console().print(table)
    for group in report.refused:
        _rows(f"refused: {group.rule}", ("URL", "reason"), group.urls.items())
    _rows("dead", ("URL", "linked from"), ((each.url, _some(each.referrers)) for each in report.dead))
    _rows("failed", ("URL", "reason"), ((each.url, each.reason) for each in report.failed))
    _rows("redirected", ("URL", "to"), ((each.url, each.target or "") for each in report.redirected))
    _rows("duplicates", ("URL", "of"), ((each.url, f"{each.of} (by its {each.by})") for each in report.duplicates))
    for links in report.left_out:
        _rows(f"left out: {_by(links)}", ("URL", "first linked from"), links.urls.items(), number=links.number)
    _rows("lists that were cut", ("URL", "notice"), ((url, cut) for url, cut in report.lists.items() if cut))
    _rows("slowest", ("URL", "seconds"), ((each.url, f"{each.seconds:.2f}") for each in report.slow))


def _by(links: "LeftOutLinks") -> str:
    """Return the rule of left out links, with the setting and the pattern of patterns."""
    pattern = None if links.setting is None else f"{links.setting}: {links.pattern}" if links.pattern else links.setting
    return links.rule if pattern is None else f"{links.rule} (`{pattern}`)"


def _rows(title: str, headings: tuple[str, str], rows: Iterable[tuple[str, str]], *, number: int | None = None) -> None:
    """Print a table of the first rows, of all `number` of them; nothing without any."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    found = list(rows)
    if not found:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=f"{title} ({number or len(found):,})", title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in found[:_MOST_ROWS]:
        table.add_row(*(safe(one_line(cell, _WIDEST_URL)) for cell in row))
    console().print(table)
    if len(found) > _MOST_ROWS:
        console().print(f"… and {len(found) - _MOST_ROWS:,} more; `--json` has all of them")


def note_lines(notes: "CrawlNotes | None") -> list[str]:
    """Return the lines on dead links, each with the pages that link to it, and on lists that were cut."""
    if notes is None:
        return []
    lines = list(notes.notices)
    if notes.dead_links:
        lines.append(f"{counted(len(notes.dead_links), 'dead link')}:")
    lines += [f"  {each.url}, linked from {_some(each.referrers)}" for each in notes.dead_links[:_MOST_LINES]]
    if len(notes.dead_links) > _MOST_LINES:
        lines.append(f"  and {len(notes.dead_links) - _MOST_LINES:,} more; see  sourcebook crawl --report")
    return lines


def _some(referrers: Sequence[str]) -> str:
    """Return the first pages that link to a URL."""
    named = ", ".join(referrers[:_MOST_REFERRERS]) or "no page"
    left = len(referrers) - _MOST_REFERRERS
    return named if left <= 0 else f"{named} and {counted(left, 'other')}"
