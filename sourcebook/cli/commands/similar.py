"""`sourcebook similar`: documents like one of the knowledge base."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Document, Json, Unredacted, as_text
from sourcebook.cli.output import print_json


def similar(
    ctx: typer.Context,
    document: Document,
    collections: Collections = None,
    passage: Annotated[
        int | None,
        typer.Option("--passage", metavar="NUMBER", help="Like this passage; `show` lists them, counted from 0."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="KEY=VALUE", help="Only documents that match; see `search`."),
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", help="Maximum number of documents.")] = 5,
    unredacted: Unredacted = False,
    as_json: Json = False,
) -> None:
    """Find the documents most similar to one, best first, each with its nearest passage.

    Similar is what the embedding model has near vectors for; no word need be the same. `-c` names the collections to
    look in.

    **Example:** `sourcebook similar leave.md -n 3`
    """
    from sourcebook.errors import UnknownDocumentError

    context = CommandContext.of(ctx)
    if context.is_empty():
        raise UnknownDocumentError(f"there is no document {document}: nothing was ingested yet")
    from sourcebook.cli.filter_options import parse_filters
    from sourcebook.cli.passages import show_results
    from sourcebook.knowledge_base import KnowledgeBase

    with KnowledgeBase(context.open_database()) as knowledge:
        results = knowledge.similar(
            document,
            passage=passage,
            collections=collections or None,
            limit=limit,
            filters=parse_filters(as_text(text) for text in filters or ()),
            unredacted=unredacted,
        )
    if as_json:
        print_json(results.as_dict())
    else:
        show_results(results, are_similar=True)
