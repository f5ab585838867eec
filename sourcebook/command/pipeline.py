"""The commands of the pipeline, which are part of the code location, or placeholders where it is missing."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from sourcebook.cli.errors import FAILED
from sourcebook.installation import code_location, install_command

_COMMANDS = {
    "ingest": "Bring the knowledge base up to date with its sources (needs the pipeline).",
    "crawl": "Add a web site to a collection and crawl it (needs the pipeline).",
    "up": "Start the web page that shows the pipeline, and its daemon (needs the pipeline).",
    "watch": "Ingest small changes of local folders within seconds (needs the pipeline).",
}
_NOT_HERE = (
    "this command runs the pipeline, which this copy of the library lacks: get the Sourcebook checkout, run "
    "`make install` in it, and use its .venv/bin/sourcebook; or install a wheel that was built from it"
)


def add_pipeline_commands(app: typer.Typer) -> None:
    """Add the commands of the pipeline, or commands with their names that print how to install it."""
    folder = code_location()
    reason = _NOT_HERE
    if folder is not None:
        # First on the path, so that no other package of the same name is imported. Child processes of
        # `multiprocessing` inherit the path.
        sys.path.insert(0, str(folder))
        try:
            from orchestration.commands import COMMANDS
        except ModuleNotFoundError as error:
            reason = f"the package {error.name} is not installed: run  {install_command('pipeline')}"
        else:
            for command in COMMANDS:
                app.command()(command)
            return
    for name, summary in _COMMANDS.items():
        app.command(
            name,
            help=summary,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_placeholder(name, reason))


def _placeholder(name: str, reason: str) -> Callable[..., None]:
    def refuse(arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        typer.echo(f"sourcebook: {name}: {reason}", err=True)
        raise typer.Exit(FAILED)

    return refuse
