"""The app of the `sourcebook` command: global options, and the commands of one module each."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from sourcebook.cli import pipeline
from sourcebook.cli.commands import (
    add,
    apply,
    ask,
    backup,
    completion,
    context,
    doctor,
    documents,
    evaluate,
    export,
    generations,
    import_,
    init,
    judge,
    key,
    llm_log,
    mcp,
    plan,
    purge,
    queries,
    redact,
    related,
    remove,
    requests,
    search,
    serve,
    serve_embeddings,
    show,
    similar,
    status,
    tag,
    upload,
    usage,
)
from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import GuardedGroup
from sourcebook.cli.logs import show_logs
from sourcebook.installation import installed_version

app = typer.Typer(
    name="sourcebook",
    cls=GuardedGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # cli/errors.py shows them without local variables, which may contain secrets
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _sourcebook(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            envvar="SOURCEBOOK_CONFIG",
            metavar="PATH",
            help="The configuration; by default `sourcebook.yaml` in the current folder.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=lambda on: _version(on))
    ] = False,
) -> None:
    """Turn folders of documents and web sites into one searchable knowledge base, and keep it up to date.

    Begin with `sourcebook ingest ./docs`, then ask: `sourcebook search "your question"`.

    Exit codes: 0 all well, 3 finished with failed items, 2 wrong usage or configuration, 1 anything else.
    """
    show_logs()
    ctx.obj = CommandContext(config)


init.register(app)
add.register(app)
pipeline.register(app)
apply.register(app)
plan.register(app)
search.register(app)
context.register(app)
similar.register(app)
ask.register(app)
related.register(app)
judge.register(app)
queries.register(app)
evaluate.register(app)
status.register(app)
usage.register(app)
llm_log.register(app)
generations.register(app)
documents.register(app)
show.register(app)
tag.register(app)
remove.register(app)
upload.register(app)
purge.register(app)
export.register(app)
redact.register(app)
import_.register(app)
backup.register(app)
serve.register(app)
serve_embeddings.register(app)
requests.register(app)
mcp.register(app)
key.register(app)
doctor.register(app)
completion.register(app)


def run() -> None:
    """Run the command with the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # so that a character unknown to the terminal does not end the command
    app()


def _version(wanted: bool) -> None:
    if wanted:
        found = installed_version()
        typer.echo(f"sourcebook {found}" if found else "sourcebook, not installed, run from its folder")
        raise typer.Exit
