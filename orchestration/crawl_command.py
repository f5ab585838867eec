"""`sourcebook crawl`: add a web site to a collection, and take it in."""

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
        str, typer.Option("-c", "--collection", metavar="NAME", help="The collection; made where it does not exist.")
    ],
    max_pages: Annotated[int | None, typer.Option("--max-pages", help="At most so many pages.")] = None,
    max_depth: Annotated[int | None, typer.Option("--max-depth", help="At most so many links from the start.")] = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="GLOB", help="Only such paths; give it again for more.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="No such paths; give it again for more.")
    ] = None,
    follow_links: Annotated[
        bool | None,
        typer.Option("--follow-links/--no-follow-links", help="Whether links lead on, or only what is listed counts."),
    ] = None,
    scope: Annotated[
        Literal["same_host", "same_domain"] | None, typer.Option("--scope", help="How far the site reaches.")
    ] = None,
    requests_per_second: Annotated[
        str | None, typer.Option("--requests-per-second", metavar="NUMBER", help="For each host; or `unlimited`.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", help="Requests at once.")] = None,
    render: Annotated[
        Literal["never", "auto", "always"] | None, typer.Option("--render", help="Whether a browser runs its scripts.")
    ] = None,
    refresh: Annotated[
        str | None, typer.Option("--refresh", metavar="DURATION", help="How often to look again, such as 12h.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="WORD", help="Give it again for more.")] = None,
    as_json: Json = False,
) -> None:
    """Add a web site to a collection in `sourcebook.yaml`, and take its pages in.

    A site that is there already is looked at again now, and what is given here is set. Only what changed is fetched,
    parsed and embedded anew. A crawl that was broken off goes on where it was.

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
    """Return a number as such: the file shows what a person would write."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
