"""`ingest`, `crawl` and `up` run the pipeline; they join the command where the checkout with it is installed."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import sourcebook
from sourcebook.cli.errors import FAILED

_COMMANDS = {
    "ingest": "Bring the knowledge base up to date with its sources (needs the checkout with the pipeline).",
    "crawl": "Add a web site to a collection and take it in (needs the checkout with the pipeline).",
    "up": "Start the web page that shows the pipeline, and its daemon (needs the checkout with the pipeline).",
}


def is_here() -> bool:
    """Return whether the pipeline's folders lie beside this library. A foreign package `orchestration` is not ours."""
    try:
        spec = find_spec("orchestration")
    except (ImportError, ValueError):
        return False
    places = [Path(place).resolve() for place in (spec.submodule_search_locations or ())] if spec else []
    root = Path(sourcebook.__file__).resolve().parent.parent
    return root / "orchestration" in places and (root / "orchestration" / "commands.py").is_file()


def register(app: typer.Typer) -> None:
    """Add the pipeline's commands, or else commands of the same names that say what is missing."""
    reason = (
        "this command runs the pipeline, which is not part of the installed library: get the Sourcebook checkout, run "
        "`make install` in it, and use its .venv/bin/sourcebook"
    )
    if is_here():
        try:
            import_module("orchestration.commands").register(app)
        except ModuleNotFoundError as error:
            reason = f"the package {error.name} is not installed: run `make install` in the checkout"
        else:
            return
    for name, summary in _COMMANDS.items():
        app.command(
            name,
            help=summary,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_placeholder(name, reason))


def _placeholder(name: str, reason: str):  # type: ignore[no-untyped-def]
    def refuse(arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        typer.echo(f"sourcebook: {name}: {reason}", err=True)
        raise typer.Exit(FAILED)

    return refuse
