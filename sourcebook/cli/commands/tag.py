"""`sourcebook tag`: tags and metadata given to a document by hand."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe

if TYPE_CHECKING:
    from sourcebook.contract.documents import Document as DocumentDetails
    from sourcebook.operations.documents import Labels


def tag(
    ctx: typer.Context,
    document: Document,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="[TAG]...", help="Tags to give it. Without any, show them.")
    ] = None,
    collection: Annotated[str | None, collection_option("The collection, where several have the document.")] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="TAG", help="Take back a tag given by hand."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Give metadata by hand; a VALUE that is JSON is taken as JSON."
        ),
    ] = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="NAME", help="Take back metadata given by hand.")
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Title in place of its own; an empty one takes it back."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Give a document tags, metadata and a title by hand, which stay whatever its file says later.

    **Example:** `sourcebook tag power.md winter`

    - `sourcebook tag power.md --set owner="Harbour office" --set year=2024`

    - `sourcebook tag power.md --remove winter --unset owner`

    - `sourcebook tag scan-0042.pdf --title "Lease of the harbour office"`
    """
    metadata: dict[str, Any] = dict(_setting(as_text(each)) for each in settings or ())
    metadata |= {as_text(name): None for name in unset or ()}
    taken = {as_text(each).strip() for each in remove or ()}

    def labels(found: "DocumentDetails") -> "Labels":
        added = [*found.given_tags, *(as_text(each).strip() for each in tags or ())]
        return [each for each in added if each not in taken] if tags or remove else None, metadata or None

    name = as_text(collection) if collection else None
    with CommandContext.of(ctx, may_be_served=True).knowledge(document) as knowledge:
        changes = tags or remove or metadata or title is not None
        given_title = None if title is None else as_text(title)
        found = (
            knowledge.relabel(document, labels, name, title=given_title) if changes else knowledge.show(document, name)
        )
    if as_json:
        given = {name: getattr(found, name) for name in ("given_tags", "given_metadata", "given_title")}
        print_json({"document_id": found.item.document_id, "uri": found.item.uri, "tags": found.tags, **given})
        return
    out = console()
    out.print(safe(one_line(found.item.title or found.item.uri, 500), "bold"), soft_wrap=True)
    out.print(safe(f"tags        {', '.join(found.tags) or 'none'}"), soft_wrap=True)
    out.print(safe(f"by hand     {', '.join(found.given_tags) or 'none'}"), soft_wrap=True)
    if found.given_title is not None:
        out.print(safe(f"title       {one_line(found.given_title, 500)} (by hand)"), soft_wrap=True)
    for name, value in found.given_metadata.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        out.print(safe(f"            {one_line(name, 100)}: {one_line(text, 300)}"), soft_wrap=True)


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a setting; null is no value."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise typer.BadParameter("write NAME=VALUE, such as owner=Jansen", param_hint="--set")
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return name, value
    return name, value if found is None else found
