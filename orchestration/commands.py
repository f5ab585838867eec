"""The commands that run the pipeline, for the `sourcebook` command. Dagster is imported only when one of them runs."""

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from orchestration.configuration_in_force import configuration_in_force
from orchestration.crawl_command import crawl
from orchestration.ingest_display import run_and_show
from orchestration.reconcile_command import reconcile
from orchestration.request_commands import ask_and_show, do_requests_and_show
from orchestration.schedules_command import schedules
from sourcebook.cli.completion import complete_collections
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, listed_names

if TYPE_CHECKING:
    from sourcebook.database.database import Database


def ingest(
    ctx: typer.Context,
    collections: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COLLECTION|PATH|URL]...",
            help="Collections, or folders, files and web sites to add; every collection where none is named.",
            autocompletion=complete_collections,
        ),
    ] = None,
    named: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            "--collection",
            metavar="NAME",
            callback=listed_names,
            autocompletion=complete_collections,
            help="As the argument; with paths and URLs, the collection to add them to.",
        ),
    ] = None,
    documents: Annotated[
        list[str] | None, typer.Option("--document", metavar="URI", help="Only this document; may be repeated.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only documents of this type, such as adr; may be repeated."),
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="LOCATION", help="Only this source; may be repeated."),
    ] = None,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="Only failed items, without waiting for their retry time.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 for items that had failed before, too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Redo documents even where nothing changed.")] = False,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Let documents go although a source loses many of them at once."),
    ] = False,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Do nothing here: ask for the work, as the server does, and print the request."),
    ] = False,
    requests: Annotated[
        bool, typer.Option("--requests", help="Do the work that was asked for, until no request waits.")
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=1, max=64, help="Processes that bring the shards of a collection up to date at once."
        ),
    ] = 1,
    shards: Annotated[
        list[str] | None,
        typer.Option("--shard", metavar="KEY", help="Only this shard, such as handbook:2of4; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring collections up to date with their sources: list, crawl, parse, chunk, embed, publish.

    Applies the configuration first. Only changed items are processed; without any change no run starts. The run is
    shown in the UI (`sourcebook up`) like any other.

    A folder, a file or a URL becomes a source in `sourcebook.yaml`, in a collection of the folder's or the host's name.
    Where a collection has the same name as a folder, the collection is meant; `./` says folder.

    Exit code 3 says that items failed that had not failed before; with `--strict` and `--only-failed`, any item.

    **Example:** `sourcebook ingest ./docs`, `sourcebook ingest handbook`

    - `sourcebook ingest --requests`: do what was asked for over the API, by an agent, or with `--ask`
    """
    from sourcebook.cli.sources import named_collections
    from sourcebook.model.selection import Selection
    from sourcebook.model.shard import Shard

    context = CommandContext.of(ctx)
    if requests:
        if collections or named or documents or types or sources or only_failed or strict or force or accept or ask:
            raise typer.BadParameter("--requests does what each request says: leave out every other argument")
        do_requests_and_show(context, as_json=as_json)
        return
    wanted = tuple(as_text(uri) for uri in documents or ())
    # Before anything is started or created.
    chosen = named_collections(context, collections or [], named or [])
    if types:
        chosen, of_types = documents_by_type(context, chosen, [as_text(name) for name in types])
        wanted += of_types
    selection = Selection(wanted, tuple(sources or ()), only_failed, force, accept=accept)
    only = [shard for _, shard in map(Shard.of_key, shards or ()) if shard is not None]
    if len(only) < len(shards or ()):
        raise typer.BadParameter("--shard names a shard by its collection, number and their number: handbook:2of4")
    chosen = chosen or sorted({shard.collection for shard in only})
    if ask:
        ask_and_show(context, chosen, selection, as_json=as_json)
        return
    configuration = configuration_in_force(context)
    with open_or_create_database(context) as database:
        run_and_show(
            configuration,
            database,
            collections=chosen,
            selection=selection,
            as_json=as_json,
            records_beside=True,
            strict=strict or only_failed,
            workers=workers,
            shards=only,
        )


def up(
    ctx: typer.Context,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of the web page on 127.0.0.1.")] = 3000,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=0,
            max=65535,
            help="Port of the Prometheus metrics on 127.0.0.1; 0 for none.",
            show_default="9464",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the web page that shows the pipeline, and the daemon that keeps collections up to date; Ctrl-C stops both.

    Sensors ingest changed files automatically; a schedule checks every collection at night. A process that ends is
    started again.

    Example: `sourcebook up --port 3000`
    """
    from orchestration.up import up as run_up
    from sourcebook.cli.output import print_json

    context = CommandContext.of(ctx)

    def ready(address: str, metrics: str | None) -> None:
        if as_json:
            print_json({"address": address, "metrics": metrics})
        else:
            metered = f"\nMetrics for Prometheus: {metrics}" if metrics else ""
            typer.echo(
                f"Sourcebook is up: {address}{metered}\nChanged files are ingested automatically. Press Ctrl-C to stop."
            )

    mistake = mistake_beside_last_good(context)
    if mistake is not None:
        typer.echo(f"The configuration has a mistake; the last good one stays in force:\n{mistake}", err=True)
    if not as_json:
        typer.echo("Starting the database, the code server, the web server, the daemon and the watch …")
    with context.open_database() as database:
        run_up(context.configuration_path, database, port=port, metrics_port=metrics_port, ready=ready)
    if not as_json:
        with suppress(OSError):  # the terminal may have been closed
            typer.echo("Stopped.")


def watch(ctx: typer.Context) -> None:
    """Ingest small changes of local folders within seconds; part of `sourcebook up`.

    A file is ingested once nothing has been written to it for two seconds. Large changes, recordings and sites are left
    to the sensors of `sourcebook up`. Ctrl-C stops the watch.

    Example: `sourcebook watch`
    """
    import gc
    import os
    import signal
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    from orchestration.watch import FolderWatch
    from sourcebook.cli.logs import LEVEL_VARIABLE, show_logs
    from sourcebook.processes.interrupts import result_of

    gc.freeze()
    gc.enable()
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stop.set())
    os.environ.setdefault(LEVEL_VARIABLE, "info")
    show_logs()
    context = CommandContext.of(ctx)
    # In a thread of its own, where Dagster does not take the signals for itself: a run that has begun is finished.
    with context.open_database() as database, ThreadPoolExecutor(1) as thread:
        result_of(thread.submit(FolderWatch(context.configuration_path, database, stop).run))


def mistake_beside_last_good(context: CommandContext) -> str | None:
    """Return the mistake in the configuration where the knowledge base has a last good one, and None without a mistake.

    Raises:
        ConfigurationError: the file has a mistake, and no collection is known yet.
    """
    from sourcebook.admin.collections import collection_names
    from sourcebook.errors import ConfigurationError

    try:
        _ = configuration_in_force(context)
    except ConfigurationError as error:
        if not context.configuration_path.exists() or context.is_empty():
            raise
        with context.open_database() as database, database.connection() as connection:
            if not collection_names(connection):
                raise
        return str(error)
    return None


def documents_by_type(
    context: CommandContext, collections: list[str], types: list[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the collections that have documents or new files of some types, and the URIs of these.

    Args:
        context: the global options.
        collections: names; every collection where empty.
        types: types of documents, such as `adr`.

    Raises:
        QueryError: a collection does not exist, or none has such a document.
    """
    from sourcebook.admin.collections import collection_names
    from sourcebook.admin.typed_items import items_of_types
    from sourcebook.errors import QueryError

    found: dict[str, list[str]] = {}
    if not context.is_empty(collections):
        with context.open_database() as database, database.connection() as connection:
            for name in collections or collection_names(connection):
                if uris := items_of_types(connection, name, types):
                    found[name] = uris
    if not found:
        where = ", ".join(collections) if collections else "any collection"
        raise QueryError(
            f"there is no document of the type {' or '.join(types)} in {where}, and no new file; see  types  in its "
            "settings"
        )
    return list(found), tuple(uri for uris in found.values() for uri in uris)


def open_or_create_database(context: CommandContext) -> "Database":
    """Open the database of an ingest. Where it does not exist yet, import Dagster meanwhile: everything is new to it.

    The import ends before this returns, so that no two threads import modules that need each other.
    """
    if not context.is_empty():
        return context.open_database()
    loading = Thread(target=_import_dagster, daemon=True)
    loading.start()
    try:
        return context.open_database()
    finally:
        loading.join()


def _import_dagster() -> None:
    with suppress(Exception):  # the run imports it again, and reports what fails
        import dagster_postgres  # noqa: F401 - Dagster's settings name it

        import orchestration.run  # noqa: F401
        import sourcebook.stages.documents.update
        import sourcebook.stages.embeddings
        import sourcebook.stages.words_first  # noqa: F401 - what a first run needs for files


COMMANDS = (ingest, crawl, reconcile, up, watch, schedules)
"""In the order of `sourcebook --help`."""
