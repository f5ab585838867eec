"""`sourcebook diff`: what changed from one document to another."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.cli.output import one_line, print_json, safe, say
from sourcebook.contract.search_results import printable

if TYPE_CHECKING:
    from sourcebook.contract.differences import Change, DocumentDifferences

_STYLES = {"same": "", "removed": "red strike", "added": "green"}
_SIGNS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
_NAME = "A document's id, its URI, the path of its file, or the end of one."


def diff(
    ctx: typer.Context,
    first: Annotated[str, typer.Argument(metavar="FIRST", help=f"The earlier version. {_NAME}")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The later version, named likewise.")],
    collection: Annotated[str | None, collection_option("Collection of both, where several have them.")] = None,
    unredacted: Annotated[
        bool, typer.Option("--unredacted", help="Show personal data and secrets also of collections that redact them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what changed from one document to another, section by section, with the place in both.

    Removed words are `[-marked-]`, added ones `{+marked+}`. A section that stands elsewhere moved, and is neither gone
    nor new.

    **Example:** `sourcebook diff contract_v1.docx contract_v2.docx`
    """
    with CommandContext.of(ctx, may_be_served=True).knowledge(first) as knowledge:
        name = as_text(collection) if collection else None
        found = knowledge.diff(first, second, name, unredacted=unredacted)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _show(found: "DocumentDifferences") -> None:
    for sign, item in (("-", found.first), ("+", found.second)):
        say(safe(f"{sign} {item.document_id} {one_line(item.title or item.uri, 200)}  {item.uri}", "dim"))
    for field in found.fields:
        say(safe(one_line(f"{field.name}: {_value(field.before)} → {_value(field.after)}", 1_000)))
    for section in found.sections:
        said = ", ".join(found.said(section))
        say("")
        say(safe(one_line(section.title or "Beginning", 300), "bold").append_text(safe(f" ({said})", "dim")))
        sides = [side for side in (section.before, section.after) if side is not None]
        say(safe(" → ".join(dict.fromkeys(side.address for side in sides)), "cyan"), indent="  ")
        for change in section.changes:
            say(_changed(change), indent="  ", hanging="    ")
    if not found.sections and not found.fields:
        say("Nothing differs.")
    for note in found.notes:
        say(safe(f"Note: {note}.", "dim"))


def _changed(change: "Change") -> Text:
    sides = (change.before, change.after)
    places = dict.fromkeys(side.words for side in sides if side is not None and side.words)
    line = safe(f"{' → '.join(places)}: " if places else "", "dim")
    if change.kind == "moved":
        line.append_text(safe("moved: ", "dim"))
    for piece in change.pieces:
        text = " ".join(printable(piece.text).split())
        line.append_text(safe(_SIGNS[piece.kind].format(text), _STYLES[piece.kind])).append(" ")
    return line


def _value(value: object) -> str:
    return "nothing" if value is None else str(value)
