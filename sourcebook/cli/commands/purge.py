"""`sourcebook purge`: permanent deletion of removed documents."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_duration, duration
from sourcebook.cli.output import console, print_json, say_waiting
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.documents import Purged

_NOUNS = {
    "collections": ("collection", "collections"),
    "sources": ("source", "sources"),
    "files": ("file", "files"),
    "pages": ("page", "pages"),
    "documents": ("document", "documents"),
    "chunks": ("chunk", "chunks"),
    "parsed_contents": ("parsed content", "parsed contents"),
    "transcripts": ("transcript", "transcripts"),
    "embeddings": ("embedding", "embeddings"),
    "uploads": ("version of an upload", "versions of uploads"),
}


def purge(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            callback=as_duration,
            help="Only what was removed longer ago than this, such as 30d.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Delete removed documents from the database permanently, with the texts and vectors that only they need.

    This covers documents that were removed or whose files are gone, and collections and sources that left the
    configuration. Files in the sources are never touched. A document that returns later is parsed and embedded again.

    **Example:** `sourcebook purge --dry-run`, then `sourcebook purge --yes`; `sourcebook purge --older-than 30d`
    """
    if as_json and not (yes or dry_run):
        raise typer.BadParameter("--json cannot ask for confirmation: add --yes, or --dry-run to count only")
    context = CommandContext.of(ctx)
    from sourcebook.contract.documents import Purged

    counts = Purged()
    age = duration(older_than) if older_than else None
    if not context.is_empty():
        from sourcebook.operations import upkeep

        with context.own_knowledge() as knowledge:
            counts = upkeep.purgeable(knowledge, age)
            if not dry_run and counts.total:
                if not yes:
                    console().print(f"This deletes {_listed(counts)} from the database permanently.", soft_wrap=True)
                    typer.confirm("Delete them?", abort=True)
                counts = upkeep.purge(knowledge, age, waiting=say_waiting)
    if as_json:
        print_json({"purged": counts.as_dict(), "dry_run": dry_run})
    elif not counts.total:
        console().print("There is nothing to delete.")
    else:
        console().print(f"{'Would delete' if dry_run else 'Deleted'} {_listed(counts)}.", soft_wrap=True)


def _listed(counts: "Purged") -> str:
    parts = [counted(number, *_NOUNS[name]) for name, number in counts.as_dict().items() if number]
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
