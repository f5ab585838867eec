"""`sourcebook plan`: what the next ingest would do, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, collection_argument
from sourcebook.cli.output import console, one_line, print_json, safe
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.plans import CollectionPlan

MOST_SHOWN = 20
"""Items of a collection that are listed without --all."""
_MINUTE, _HOUR = 60.0, 3600.0


def plan(
    ctx: typer.Context,
    names: Annotated[list[str] | None, collection_argument("Collections; every one by default.")] = None,
    collections: Collections = None,
    every_item: Annotated[bool, typer.Option("--all", help="List every item.")] = False,
    as_json: Json = False,
) -> None:
    """Show what the next ingest would do and why, how many texts it would embed, and how long it would take.

    The plan is made for the configuration file as it is now, whether it was applied or not; with `--server`, for the
    settings as applied last. Sources are compared by
    name, size and time, and nothing is changed. Git repositories are fetched into their mirrors. Texts and seconds are
    estimates from the documents and the past runs of this machine.

    **Example:** `sourcebook plan handbook`
    """
    context = CommandContext.of(ctx, may_be_served=True)
    chosen = [*(names or ()), *(collections or ())] or None
    if context.server is not None:
        with context.knowledge() as knowledge:
            plans = knowledge.plan(chosen)
    else:
        from sourcebook.knowledge_base import KnowledgeBase

        path = context.configuration_path
        with context.open_unchanged() as database:
            plans = KnowledgeBase(database).plan(
                chosen, configuration=path if path.exists() else None, home=context.home
            )
    if as_json:
        print_json({"collections": [each.as_dict() for each in plans]})
        return
    if not plans:
        console().print("There is no collection. Name a folder or a site in sourcebook.yaml.", soft_wrap=True)
    for each in plans:
        _show(each, most=None if every_item else MOST_SHOWN)


def _show(found: "CollectionPlan", *, most: int | None) -> None:
    if found.changed_settings:
        console().print(safe(f"{found.name}: changed settings: {', '.join(found.changed_settings)}"), soft_wrap=True)
    for reason in found.unlisted:
        console().print(safe(f"{found.name}: {one_line(reason, 500)}", "red"), soft_wrap=True)
    if found.givers:
        names = " and ".join(found.givers)
        line = f"{found.name}: takes documents of {names}, whose changes come first and are not counted here"
        console().print(safe(line), soft_wrap=True)
    if not found.items:
        console().print(safe(f"{found.name}: nothing to do"), soft_wrap=True)
        return
    basis = "" if found.has_past_runs else " (no past runs on this machine yet)"
    seconds = f"about {duration(found.seconds)}{basis}"
    summary = f"{found.name}: {counted(len(found.items), 'item')}, {found.texts}, {seconds}"
    console().print(safe(summary, "bold"), soft_wrap=True)
    for reason, number in found.counts.items():
        console().print(safe(f"  {number:>7,}  {reason}"), soft_wrap=True)
    for item in found.items[:most]:
        detail = f" ({one_line(item.detail, 200)})" if item.detail else ""
        console().print(safe(f"  {item.reason.value:<16} {one_line(item.uri, 500)}{detail}"), soft_wrap=True)
    more = len(found.items) - (most or len(found.items))
    if more > 0:
        console().print(f"  … and {more:,} more: --all lists them", soft_wrap=True)


def duration(seconds: float) -> str:
    """Return seconds as a person says them: `40 s`, `3 min`, `1.5 h`."""
    if seconds < _MINUTE:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
