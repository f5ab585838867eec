"""`sourcebook similar`: documents like one of the knowledge base."""

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json
from sourcebook.cli.output import print_json
from sourcebook.cli.request_options import Asked, with_options
from sourcebook.contract.similar import SimilarRequest


@with_options(SimilarRequest, only=("collections", "limit", "filters", "unredacted", "passage"))
def similar(
    ctx: typer.Context,
    document: Document,
    asked: Asked,
    as_json: Json = False,
) -> None:
    """Find the documents most similar to one, best first, each with its nearest passage.

    Similar is what the embedding model has near vectors for; no word need be the same. `-c` names the collections to
    look in.

    **Example:** `sourcebook similar leave.md -n 3`
    """
    with CommandContext.of(ctx, may_be_served=True).knowledge(document) as knowledge:
        results = knowledge.similar(document, **asked)
    if as_json:
        print_json(results.as_dict())
    else:
        from sourcebook.cli.passages import show_results

        show_results(results, are_similar=True)
