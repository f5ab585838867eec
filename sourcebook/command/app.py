"""The app of the `sourcebook` command: global options, and the commands of the library and of the pipeline."""

import io
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import GuardedGroup
from sourcebook.cli.logs import show_logs
from sourcebook.command.pipeline import add_pipeline_commands
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
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            envvar="SOURCEBOOK_SERVER",
            metavar="URL",
            help="Ask the knowledge base of this server; its key is SOURCEBOOK_KEY. By default that of this machine.",
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
    ctx.obj = CommandContext(config, server or None)


def _add_commands(listed: str) -> None:
    """Add commands of the library: modules of `cli/commands` whose function has their name, or `module.function`."""
    for command in listed.split():
        module, _, function = command.partition(".")
        name = function or module
        app.command(name.strip("_").replace("_", "-"))(
            getattr(import_module(f"sourcebook.cli.commands.{module}"), name)
        )


# In the order of `sourcebook --help`.
_add_commands("init add")
add_pipeline_commands(app)
_add_commands("apply plan search context similar ask related judge queries evaluate status usage llm_log generations")
_add_commands("documents show tag remove upload upload.uploads purge export redact import_ backup backup.restore")
_add_commands("serve serve_embeddings requests mcp key doctor completion")


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
