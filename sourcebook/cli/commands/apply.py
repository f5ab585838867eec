"""`sourcebook apply`: record the configuration in the database."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import console, print_json, safe

if TYPE_CHECKING:
    from sourcebook.admin.collections import Applied


def apply(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A configuration to use instead of the default one.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; record nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Record the collections and sources of the configuration in the database, without reading any document.

    `ingest` includes this step; `apply` alone shows whether the file is valid and what it changes. It refuses settings
    that no ingest can use, such as a model that does not exist, and warns of missing folders. A collection that
    left the file is no longer searched, but kept until `sourcebook purge`.

    **Example:** `sourcebook apply ./sourcebook.yaml`
    """
    from sourcebook.admin.usability import check_usable
    from sourcebook.knowledge_base import KnowledgeBase
    from sourcebook.operations import upkeep

    context = CommandContext.of(ctx)
    context = context if file is None else CommandContext(file)
    configuration = context.configuration
    warnings = check_usable(configuration)
    with context.open_unchanged() if dry_run else context.open_database() as database:
        applied = upkeep.apply(KnowledgeBase(database), configuration, dry_run=dry_run)
    if as_json:
        print_json({**asdict(applied), "warnings": warnings})
    else:
        _show(applied, file, dry_run=dry_run)
        for warning in warnings:
            console().print(safe(f"Warning: {warning}", "yellow"), soft_wrap=True)


def _show(applied: "Applied", file: Path | None, *, dry_run: bool) -> None:
    for word, names in asdict(applied).items():
        if names:
            console().print(safe(f"{word:<10}{', '.join(names)}"), soft_wrap=True)
    for name, changes in applied.rebuilt.items():
        line = f"{name}: the next ingest builds a generation beside the active one, for {'; '.join(changes)}"
        console().print(safe(line), soft_wrap=True)
    if applied.removed:
        console().print("Removed collections are kept, but not searched. Delete them: sourcebook purge", soft_wrap=True)
    if dry_run:
        console().print("Nothing was recorded. The work of an ingest: sourcebook plan", soft_wrap=True)
        return
    command = "sourcebook" if file is None else f"sourcebook --config {file}"
    console().print(safe(f"Next: {command} ingest"), soft_wrap=True)
