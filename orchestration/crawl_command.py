"""`sourcebook crawl`: adds a web site to a collection and crawls it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestration.ingest_display import run_and_show
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.web.crawl_report import CrawlReport


def crawl(
    ctx: typer.Context,
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="A page, a sitemap, or an llms.txt; not needed for a report.")
    ] = None,
    collection: Annotated[
        str | None,
        collection_option("The collection; by default one named after the host."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Crawl nothing, and report on the last crawl of the site, or of all sites.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Crawl the site, report on it, and keep nothing.")] = False,
    max_pages: Annotated[int | None, typer.Option("--max-pages", help="Maximum number of pages.")] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Maximum number of links from the start URL.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="GLOB", help="Only matching paths; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="No matching paths; may be repeated.")
    ] = None,
    follow_links: Annotated[
        bool | None,
        typer.Option("--follow-links/--no-follow-links", help="Follow links, or crawl only the listed pages."),
    ] = None,
    scope: Annotated[
        Literal["same_host", "same_domain"] | None, typer.Option("--scope", help="Extent of the site.")
    ] = None,
    requests_per_second: Annotated[
        str | None, typer.Option("--requests-per-second", metavar="NUMBER", help="Per host; or `unlimited`.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", help="Concurrent requests.")] = None,
    render: Annotated[
        Literal["never", "auto", "always"] | None, typer.Option("--render", help="Render pages in a browser.")
    ] = None,
    refresh: Annotated[
        str | None, typer.Option("--refresh", metavar="DURATION", help="Interval between crawls, such as 12h.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="WORD", help="A tag; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Add a web site to a collection in `sourcebook.yaml`, and ingest its pages.

    A known site is crawled again now, with the given options as its new settings. Only changed pages are parsed and
    embedded again. An interrupted crawl continues where it stopped.

    `--dry-run` tries settings before anything is kept: it fetches the pages that a first crawl would fetch, and reports
    what was fetched, redirected, refused by which rule, dead with the pages that link to it, duplicate, slow, or left
    out by the patterns. `--report` gives the same report on the last crawl, without a request.

    **Example:** `sourcebook crawl https://docs.example.com/ -c handbook --max-pages 200`,
    `sourcebook crawl https://docs.example.com/ --dry-run --include '/guide/**'`,
    `sourcebook crawl --report -c handbook`
    """
    context = CommandContext.of(ctx)
    given: dict[str, Any] = {
        "max_pages": max_pages,
        "max_depth": max_depth,
        "include": include or None,
        "exclude": exclude or None,
        "follow_links": follow_links,
        "scope": scope,
        "render": render,
        "refresh": refresh,
        "tags": tags or None,
    }
    politeness = {"requests_per_second": _rate(requests_per_second), "concurrency": concurrency}
    given["politeness"] = {name: value for name, value in politeness.items() if value is not None} or None
    settings = {name: value for name, value in given.items() if value is not None}
    name = None if collection is None else as_text(collection)
    if report:
        if dry_run or settings:
            raise typer.BadParameter("a report takes no settings of a site; --dry-run does", param_hint="--report")
        _report(context, url, name, as_json=as_json)
    elif url is None:
        raise typer.BadParameter("name the URL of the site", param_hint="URL")
    elif dry_run:
        _dry_run(context, as_text(url), name, settings, as_json=as_json)
    else:
        _crawl(context, as_text(url), name, settings, as_json=as_json)


def _crawl(context: CommandContext, url: str, named: str | None, settings: dict[str, Any], *, as_json: bool) -> None:
    from sourcebook.admin.additions import host_collection
    from sourcebook.admin.collections import apply
    from sourcebook.cli.output import without_controls
    from sourcebook.cli.sources import refuse_made_over_the_api
    from sourcebook.config.edit import add_site
    from sourcebook.config.sites import site_location
    from sourcebook.database.queries import queries

    collection = named or host_collection(context.configuration_path, url)
    refuse_made_over_the_api(context, collection)
    location = site_location(url)
    before = _known(context, collection, location) if context.configuration_path.exists() else {}
    add_site(context.configuration_path, collection, url, settings)
    configuration = context.configuration
    after = _known(context, collection, location)
    for name in settings if before else ():
        if before[name] != after[name]:
            line = f"Changed {name} of {location} in {context.configuration_path}: {before[name]} → {after[name]}"
            typer.echo(without_controls(line), err=True)
    with context.open_database() as database:
        with database.connection() as connection:
            apply(connection, configuration)
            connection.execute(queries["request_crawl"], {"collection": collection, "location": location})
        run_and_show(
            configuration, database, collections=[collection], selection=Selection(sources=(location,)), as_json=as_json
        )


def _known(context: CommandContext, collection: str, location: str) -> dict[str, Any]:
    """Return the settings of a site in the configuration; none where it is not there."""
    from sourcebook.config.loading import load_configuration

    known = load_configuration(context.configuration_path).collections.get(collection)
    found = (site for site in (known.sites if known else ()) if site.location == location)
    return next((site.model_dump(mode="json") for site in found), {})


def _report(context: CommandContext, url: str | None, collection: str | None, *, as_json: bool) -> None:
    """Print the report on the last crawl of a site, or of every site of a collection."""
    from sourcebook.cli.crawl_reports import show_reports
    from sourcebook.cli.output import print_json

    names = [] if collection is None else [collection]
    reports: list[CrawlReport] = []
    if not context.is_empty(names):
        from sourcebook.admin.crawl_reports import crawl_reports

        with context.open_database() as database, database.connection() as connection:
            reports = crawl_reports(connection, names, None if url is None else as_text(url))
    if as_json:
        print_json({"sites": [report.as_dict() for report in reports]})
    else:
        show_reports(reports)


def _dry_run(
    context: CommandContext, url: str, collection: str | None, settings: dict[str, Any], *, as_json: bool
) -> None:
    """Crawl a site with the settings that it would have, print the report and keep nothing.

    Raises:
        typer.Exit: the site could not be crawled; exit code 3.
    """
    from sourcebook.cli.crawl_reports import show_reports
    from sourcebook.cli.errors import FAILED_ITEMS
    from sourcebook.cli.output import print_json
    from sourcebook.cli.progress_bar import passage_bar
    from sourcebook.config.edit import with_site
    from sourcebook.web.dry_run import dry_run

    of_collection, site = with_site(context.configuration_path, collection, url, settings)
    keep = "main" if of_collection.parsing.html == "auto" else of_collection.parsing.html
    with _knowledge_base(context) as connection, passage_bar("crawling", quiet=as_json) as show:
        report = dry_run(
            site,
            lambda done, total, failed=0: show(site.location, done, total),
            keep=keep,
            connection=connection,
            waiting=_waiting,
        )
    if as_json:
        print_json({"sites": [report.as_dict()]})
    else:
        show_reports([report])
    if report.error is not None:
        raise typer.Exit(FAILED_ITEMS)


def _waiting(domain: str) -> None:
    typer.echo(f"Waiting for another crawl of {domain}.", err=True)


@contextmanager
def _knowledge_base(context: CommandContext) -> "Iterator[Connection | None]":
    """Yield a connection to the knowledge base, whose crawls a dry run waits for; None where there is none."""
    from sourcebook.cli.errors import print_error
    from sourcebook.errors import ConfigurationError, DatabaseError

    with ExitStack() as stack:
        connection = None
        try:
            if not context.is_empty():
                connection = stack.enter_context(stack.enter_context(context.open_database()).connection())
        except ConfigurationError:
            pass  # nothing says where a knowledge base would be
        except DatabaseError as error:
            print_error(DatabaseError(f"other crawls of the domain are not waited for: {error}"))
        yield connection


def _rate(text: str | None) -> float | str | None:
    """Return a rate as a number where it is one, so that the file shows no quotes."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
