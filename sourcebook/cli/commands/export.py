"""`sourcebook export`: collections as files."""

from enum import StrEnum
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, Unredacted
from sourcebook.cli.output import console, print_json, safe
from sourcebook.model.counted import counted

Format = StrEnum("Format", "markdown parquet jsonl")


def export(
    ctx: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="The folder or URL (s3://bucket/name) to write: empty, or not there yet."),
    ],
    collections: Collections = None,
    formats: Annotated[
        list[Format] | None,
        typer.Option(
            "--format", help="Only this format; may be repeated. Default: markdown and parquet, which `import` reads."
        ),
    ] = None,
    unredacted: Unredacted = False,
    as_json: Json = False,
) -> None:
    """Write collections as files: Markdown with the original files, and passages with their vectors as Parquet.

    The export shows one moment of the knowledge base; ingests and searches go on meanwhile. The folder appears whole,
    with the SHA-256 of every file in it, or not at all. pandas, DuckDB and others read the Parquet files.

    A collection that redacts what leaves it is written as redacted Markdown alone, and only where nothing else is asked
    for; `--unredacted` writes everything as it is.

    **Example:** `sourcebook export ./handbook-2026 -c handbook`
    """
    from sourcebook.cli.progress_bar import passage_bar
    from sourcebook.errors import QueryError

    context = CommandContext.of(ctx)
    if context.is_empty(collections or ()):
        raise QueryError("there is nothing to export: nothing was ingested yet")
    from sourcebook.operations import upkeep

    chosen = [each.value for each in dict.fromkeys(formats or ())]
    with context.own_knowledge() as knowledge, passage_bar("exporting", quiet=as_json) as progress:
        exported = upkeep.export(knowledge, folder, collections or (), chosen, progress=progress, unredacted=unredacted)
    if as_json:
        print_json(exported.as_dict())
        return
    console().print(
        safe(
            f"{exported.folder}: {counted(exported.documents, 'document')}, {counted(exported.originals, 'original')}, "
            f"{counted(exported.passages, 'passage')} of {', '.join(exported.collections) or 'no collection'}; "
            f"{counted(exported.files, 'file')}, {exported.bytes / 1_000_000:,.1f} MB"
        ),
        soft_wrap=True,
    )
