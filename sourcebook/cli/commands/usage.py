"""`sourcebook usage`: what models were used for, and what that cost."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_duration, duration
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.contract.usage import DIMENSIONS, Usage, summed

Dimension = StrEnum("Dimension", "day collection provider model operation")

NUMBERS: Final = (
    Column("texts", "right"),
    Column("cached", "right", leaves=2),
    Column("tokens", "right"),
    Column("seconds", "right", leaves=1),
    Column("cost in $", "right"),
)
OF_ANSWERS: Final = Column("tokens written", "right")
"""Column that is shown where a language model answered."""
OF_SOUND: Final = (Column("s of sound", "right"), Column("processor s", "right", leaves=3))
"""Columns that are shown where recordings were transcribed."""


def usage(
    ctx: typer.Context,
    collection: Collections = None,
    since: Annotated[
        str,
        typer.Option("--since", metavar="DURATION", callback=as_duration, help="Only days of this last time."),
    ] = "30d",
    by: Annotated[
        list[Dimension] | None,
        typer.Option("--by", help="Sum up by this alone; may be given several times.", show_default="all of them"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what models were used for: texts and recordings, from the cache, tokens, seconds and cost.

    Models of this machine have the provider `local` and cost nothing. Other costs go by the list of the package
    genai-prices, or by the prices that a collection sets (`usage.prices`, and `answering.prices` of answers, in US
    dollars per million tokens). A sum that nobody knows is `?`, and `null` with `--json`: never 0.

    **Examples:**

    - `sourcebook usage --by model --by operation`: what each model did in the last 30 days
    - `sourcebook usage -c handbook --since 7d --by day`: one collection, day by day
    """
    context = CommandContext.of(ctx, may_be_served=True)
    names = collection or []
    chosen = [name for name in DIMENSIONS if not by or name in by]
    found: list[Usage] = []
    total: list[Usage] = []
    if not context.is_empty(names):
        with context.knowledge() as knowledge:
            found = knowledge.usage(names or None, since=duration(since), by=chosen)
        total = summed(found, ())
    if as_json:
        print_json({"usage": [each.as_dict() for each in found], "total": total[0].as_dict() if total else None})
    elif found:
        _show(found, total[0], chosen)
    else:
        say(f"No model was used in the last {since}.")


def _show(found: list[Usage], total: Usage, names: Sequence[str]) -> None:
    has_sound = any(each.sound_seconds for each in found)
    has_answers = any(each.answer_tokens != 0 for each in found)
    columns = (*NUMBERS, *(OF_SOUND if has_sound else ()), *([OF_ANSWERS] if has_answers else []))

    def numbers_of(each: Usage) -> tuple[str, ...]:
        every = zip((*NUMBERS, *OF_SOUND, OF_ANSWERS), _numbers(each), strict=True)
        return tuple(number for column, number in every if column in columns)

    rows = [Row((*(str(getattr(each, name)) for name in names), *numbers_of(each))) for each in found]
    if len(found) > 1:
        labels = ["all", *("" for _ in names[1:])]
        rows.append(Row((*labels, *numbers_of(total)), dict.fromkeys(range(len(labels) + len(columns)), "bold")))
    show_table((*(Column(name) for name in names), *columns), rows)
    if total.cost is None:
        from sourcebook.embedding.prices import has_list
        from sourcebook.installation import install_command

        remedy = "set  usage.prices  of the collection (answering.prices of answers)"
        if not has_list():
            remedy += f", or install the list of prices:  {install_command('server')}"
        say(f"?: the price or the number of tokens is not known; for the price, {remedy}")


def _numbers(each: Usage) -> tuple[str, ...]:
    return (
        f"{each.texts:,}",
        f"{each.cached:,}",
        "?" if each.tokens is None else f"{each.tokens:,}",
        f"{each.seconds:,.1f}",
        dollars(each.cost),
        f"{each.sound_seconds:,.1f}",
        "?" if each.processor_seconds is None else f"{each.processor_seconds:,.1f}",
        "?" if each.answer_tokens is None else f"{each.answer_tokens:,}",
    )


def dollars(cost: float | None) -> str:
    """Return a cost for people: at least two digits that say something, `?` where it is unknown."""
    if cost is None:
        return "?"
    return f"{cost:,.2f}" if cost == 0 or cost >= 1 else f"{cost:.2g}" if cost >= 0.0001 else f"{cost:.1e}"
