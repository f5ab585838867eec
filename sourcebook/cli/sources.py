"""Folders, files and URLs on a command line: added to the configuration, and said in one line each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from sourcebook.cli.options import as_text
from sourcebook.cli.output import without_controls
from sourcebook.errors import ConfigurationError

if TYPE_CHECKING:
    from sourcebook.admin.additions import Named
    from sourcebook.cli.context import CommandContext


def named_collections(context: "CommandContext", arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the collections to ingest, with the paths and URLs among the arguments added to the configuration.

    Args:
        context: the global options.
        arguments: names of collections, paths and URLs.
        options: names from `--collection`: the collection of new sources, or collections to ingest.

    Raises:
        ConfigurationError: an argument names nothing.
        typer.BadParameter: paths or URLs shall be added to several collections.
    """
    if not arguments:
        return list(options)
    if len(options) > 1:
        raise typer.BadParameter("paths and URLs are added to one collection: name one", param_hint="--collection")
    made = _made_over_the_api(context, arguments)
    places = [each for each in arguments if each not in made]
    named = add_places(context, places, options[0] if options else None) if places else []
    for each in named:
        if each.source is not None:
            typer.echo(without_controls(added_line(context, each)), err=True)
    return list(dict.fromkeys([*made, *(each.collection for each in named), *options]))


def refuse_made_over_the_api(context: "CommandContext", collection: str) -> None:
    """Refuse to write a source of a collection of the API into the file, which would then be a mistake.

    Raises:
        ConfigurationError: the API has made the collection.
    """
    if collection in _made_over_the_api(context, [collection]):
        raise ConfigurationError(
            f"the API has made the collection {collection}: add sources to it over the API, "
            "or choose another name with -c"
        )


def _made_over_the_api(context: "CommandContext", names: Sequence[str]) -> list[str]:
    """Return those of some names that are collections of the API; the database is opened where one may be."""
    from sourcebook.admin.additions import is_place
    from sourcebook.config.loading import load_configuration

    path = context.configuration_path
    declared = load_configuration(path).collections if path.exists() else {}
    asked = [name for name in names if not is_place(name) and name not in declared]
    if not asked or not context.is_named or context.is_empty():
        return []
    from sourcebook.operations.overviews import collections_of_the_api

    with context.own_knowledge() as knowledge:
        made = collections_of_the_api(knowledge)
    return [name for name in asked if name in made]


def add_places(context: "CommandContext", arguments: Sequence[str], collection: str | None) -> "list[Named]":
    """Add paths and URLs to the configuration, and return the collection of each.

    Raises:
        ConfigurationError: an argument names nothing, the file would become invalid, or the API has made the
            collection.
    """
    from sourcebook.admin.additions import add_named

    path = context.configuration_path
    if collection is not None:
        refuse_made_over_the_api(context, collection)
    return add_named(path, [as_text(each) for each in arguments], home=context.home, collection=collection)


def add_sites(context: "CommandContext", urls: Sequence[str], collection: str | None) -> "list[Named]":
    """Add web sites to collections of a server, which are made where they are missing; return the collection of each.

    Raises:
        ConfigurationError: an argument is no URL of a site.
        ConflictError: the file of the server declares the collection.
    """
    from sourcebook.admin.additions import Named, is_site, name_of_place
    from sourcebook.config.edit import NewSource
    from sourcebook.config.sites import site_location

    unread = next((as_text(each) for each in urls if not is_site(each)), None)
    if unread is not None:
        raise ConfigurationError(
            f"{unread} is no web site, and a server reads no folder of this machine: sourcebook upload  sends files"
        )
    named = []
    with context.knowledge() as knowledge:
        for url in map(as_text, urls):
            site = NewSource(collection or name_of_place(url), "sites", url, site_location(url))
            known = {each.name: [source.location for source in each.sources] for each in knowledge.sources()}
            has = site.location in known.get(site.collection, ())
            if site.collection not in known:
                knowledge.create_collection(site.collection, {"sites": [{"url": url}]})
            elif not has:
                knowledge.add_source(site.collection, "site", {"url": url})
            named.append(Named(site.collection, None if has else site))
    return named


def added_line(context: "CommandContext", named: "Named") -> str:
    """Return the line on a source that was added."""
    written = named.source.written if named.source is not None else ""
    return f"Added {written} to the collection {named.collection} in {context.server or context.configuration_path}"
