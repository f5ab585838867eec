"""`sourcebook rename`: another name for a collection of the API."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import as_text


def rename(
    ctx: typer.Context,
    collection: Annotated[str, typer.Argument(help="The collection.", metavar="COLLECTION", show_default=False)],
    new_name: Annotated[str, typer.Argument(help="Its new name.", metavar="NAME", show_default=False)],
) -> None:
    """Give a collection that was made over the API, on the page or by an agent another name.

    Documents, keys, judgments, logs and requests of work follow. A collection of sourcebook.yaml is renamed there: the
    other name is another collection, of the same files, whose vectors are there already.

    **Example:** `sourcebook rename uploads contracts`
    """
    with CommandContext.of(ctx, may_be_served=True).knowledge() as knowledge:
        renamed = knowledge.rename_collection(as_text(collection), as_text(new_name))
    typer.echo(f"{as_text(collection)} is {renamed.name} now.")
