"""`sourcebook init`: a first `sourcebook.yaml`, with comments."""

from pathlib import Path
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import as_text
from sourcebook.cli.output import console, safe
from sourcebook.errors import ConfigurationError


def init(
    ctx: typer.Context,
    place: Annotated[
        str | None, typer.Argument(metavar="[PATH|URL]", help="A folder, a file or a web site; asked for by default.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("-c", "--collection", metavar="NAME", help="Name of the collection.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take ./docs, or else the current folder.")] = False,
) -> None:
    """Write a first `sourcebook.yaml` with comments, after three questions; an existing file is never overwritten.

    **Example:** `sourcebook init`, `sourcebook init ./docs --yes`
    """
    from sourcebook.admin.additions import is_site, name_of_place
    from sourcebook.admin.first_configuration import first_configuration

    context = CommandContext.of(ctx)
    path = context.configuration_path
    if path.exists():
        raise ConfigurationError(f"{path} exists already and was not changed; add to it: sourcebook add PATH")
    place = place or _ask("Which folder or web site?", "./docs" if Path("docs").is_dir() else ".", yes=yes)
    name = collection or _ask("Name of the collection?", name_of_place(place), yes=yes)
    question, default = ("At most how many pages?", "1000") if is_site(place) else ("Which files, as patterns?", "**/*")
    limit = _ask(question, default, yes=yes)
    first_configuration(path, as_text(place), as_text(name), as_text(limit), home=context.home)
    console().print(safe(f"Wrote {path} with the collection {name}"), soft_wrap=True)
    console().print("Next: sourcebook ingest", soft_wrap=True)


def _ask(question: str, default: str, *, yes: bool) -> str:
    if yes:
        return default
    answer: str = typer.prompt(question, default=default, err=True)
    return answer.strip() or default
