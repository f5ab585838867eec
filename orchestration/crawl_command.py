"""`sourcebook crawl`: adds a web site to a collection and crawls it."""

from typing import Annotated, Any, Literal

import typer

from orchestration.ingest_display import run_and_show
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text
from sourcebook.model.selection import Selection


def crawl(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page, a sitemap, or an llms.txt.")],
    collection: Annotated[
        str, typer.Option("-c", "--collection", metavar="NAME", help="The collection; created where it does not exist.")
    ],
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

    Example: `sourcebook crawl https://docs.example.com/ -c handbook --max-pages 200`
    """
    from sourcebook.admin.collections import apply
    from sourcebook.config.edit import add_site
    from sourcebook.config.loading import configuration_path
    from sourcebook.config.sites import SiteSource
    from sourcebook.database.queries import queries

    context = CommandContext.of(ctx)
    given: dict[str, Any] = {
        "max_pages": max_pages,
        "max_depth": max_depth,
        "include": include or None,
        "exclude": exclude or None,
        "follow_links": follow_links,
        "scope": scope,
        "requests_per_second": _rate(requests_per_second),
        "concurrency": concurrency,
        "render": render,
        "refresh": refresh,
        "tags": tags or None,
    }
    path = configuration_path(context.config_path)
    add_site(
        path, as_text(collection), as_text(url), {name: value for name, value in given.items() if value is not None}
    )
    configuration = context.configuration
    location = SiteSource(url=as_text(url)).location
    with context.open_database() as database:
        with database.connection() as connection:
            apply(connection, configuration)
            connection.execute(queries["request_crawl"], {"collection": collection, "location": location})
        run_and_show(
            configuration, database, collections=[collection], selection=Selection(sources=(location,)), as_json=as_json
        )


def _rate(text: str | None) -> float | str | None:
    """Return a rate as a number where it is one, so that the file shows no quotes."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
