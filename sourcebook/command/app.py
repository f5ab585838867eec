"""The app of the `sourcebook` command: global options, and the commands of the library and of the pipeline."""

import io
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperCommand

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import GuardedGroup
from sourcebook.cli.logs import show_logs
from sourcebook.command.pipeline import add_pipeline_commands
from sourcebook.contract.faces import asked_by
from sourcebook.installation import installed_version

_BEFORE_THE_PIPELINE: Final = "init add"
_BEHIND_IT: Final = """
apply plan search context similar ask ask_sessions related diff judge queries audit evaluate bakeoff status usage
permissions llm_log generations documents show tag curate remove rename upload upload.uploads purge export redact
import_ backup backup.restore tenants upgrade serve serve_embeddings requests mcp key doctor completion
"""
"""Modules of `cli/commands` whose function has their name, or `module.function`, in the order of the help."""


class _Commands(Mapping[str, TyperCommand]):
    """The commands by name; the module of one of the library is imported when that command is asked for."""

    def __init__(self, made: dict[str, TyperCommand]) -> None:
        before, behind = (
            {each.rpartition(".")[2].strip("_").replace("_", "-"): each for each in listed.split()}
            for listed in (_BEFORE_THE_PIPELINE, _BEHIND_IT)
        )
        self._made = made
        self._places = before | behind
        self._order = [*before, *made, *behind]

    def __getitem__(self, name: str) -> TyperCommand:
        """Return a command."""
        if name not in self._made:
            module, _, function = self._places[name].partition(".")
            alone = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False, add_completion=False)
            alone.command(name)(getattr(import_module(f"sourcebook.cli.commands.{module}"), function or module))
            self._made[name] = cast("TyperCommand", typer.main.get_command(alone))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names in the order of the help."""
        return iter(self._order)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._order)


class _Group(GuardedGroup):
    """The group of all commands."""

    def __init__(self, *, commands: dict[str, TyperCommand], **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands(commands)  # type: ignore[assignment] # nothing is added to it

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, without importing the commands."""
        return list(self.commands)


app = typer.Typer(
    name="sourcebook",
    cls=_Group,
    invoke_without_command=True,
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

    Begin with `sourcebook ingest ./docs`, then ask: `sourcebook search "your question"`. `sourcebook` alone says how
    things stand, and what comes next.

    Exit codes: 0 all well, 3 finished with failed items, 2 wrong usage or configuration, 1 anything else.
    """
    show_logs()
    ctx.obj = CommandContext(config, server or None)
    ctx.with_resource(asked_by("command"))
    if ctx.invoked_subcommand is None:
        from sourcebook.cli.next_step import show_next_step

        show_next_step(ctx.obj)


add_pipeline_commands(app)


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
