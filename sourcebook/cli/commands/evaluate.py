"""`sourcebook evaluate`: measures of the search in a collection on judged questions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import FAILED
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from rich.text import Text

    from sourcebook.evaluation import Estimate, Evaluation, Floor, MissedFloor
    from sourcebook.evaluation.question_changes import QuestionChange
    from sourcebook.model.progress import Progress

_SHOWN_QUESTIONS = 5
"""Questions that are shown as worse, and as better, at most."""

Mode = StrEnum("Mode", "hybrid vector keyword")


def evaluate(
    ctx: typer.Context,
    collection: Annotated[str, collection_option("The collection to search.")],
    queries: Annotated[
        Path | None,
        typer.Option("--queries", metavar="FILE", help='The questions, one per line: {"id": "q1", "text": "…"}.'),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels", metavar="FILE", help="The judgments, one per line: query id, document, grade, separated by tabs."
        ),
    ] = None,
    modes: Annotated[
        list[Mode] | None,
        typer.Option("--mode", help="Only this mode of search; may be repeated. Default: all three."),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", metavar="NUMBER", help="Documents of a ranking that count, 10 to 1,000.")
    ] = 100,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", metavar="NUMBER", help="Only the first questions.")
    ] = None,
    floors: Annotated[
        list[str] | None,
        typer.Option(
            "--floor",
            metavar="MEASURE=VALUE",
            help="Exit with code 1 where the mean is lower, such as ndcg@10=0.6; may be repeated. Applies to the "
            "first --mode, or to hybrid.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Compare with an earlier output of --json on the same questions."
        ),
    ] = None,
    generations: Annotated[
        list[int] | None,
        typer.Option(
            "--generation",
            metavar="ID",
            help="Ask this generation instead of the active one; a second one is compared with it, query by query.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the search on judged questions: nDCG@10, MRR, recall, precision.

    Without files, the questions are those that `sourcebook judge` has recorded.

    A document is named by its URI, by the end of its URI after a `/` (`handbook/power.md`), or by its file name without
    the extension (`power`). Grades above 0 are relevant, higher ones more so. Files of BEIR and TREC are read
    unchanged. The rank of a document is the rank of its best passage.

    Each figure has the 95 % confidence interval of its mean. Where the interval of a difference between two modes
    contains 0, the questions do not show which mode is better.

    **Example:** `sourcebook evaluate --queries queries.jsonl --qrels qrels.tsv -c handbook --floor ndcg@10=0.6`
    """
    from sourcebook.evaluation import (
        check_floors,
        compare_generations,
        compare_with_baseline,
        missed_floors,
        read_baseline,
    )
    from sourcebook.evaluation import evaluate as run
    from sourcebook.evaluation.question_changes import question_changes

    demanded = [_floor(text) for text in floors or ()]
    check_floors(demanded, depth)
    earlier = read_baseline(baseline) if baseline is not None else None
    context = CommandContext.of(ctx)
    name = as_text(collection)
    context.is_empty([name])
    asked: list[int | None] = [*dict.fromkeys(generations)] if generations else [None]
    if len(asked) > 2:
        raise typer.BadParameter("two generations are compared at a time", param_hint="--generation")
    with context.own_knowledge() as knowledge, _bar(quiet=as_json) as progress:
        found, *others = [
            run(
                knowledge,
                name,
                queries,
                qrels,
                modes=[mode.value for mode in dict.fromkeys(modes or Mode)],  # type: ignore[misc] # they are these
                depth=depth,
                limit=limit,
                progress=_part(progress, number, len(asked)),
                generation=generation,
            )
            for number, generation in enumerate(asked)
        ]
    changes = [change for other in others for change in question_changes(found, other)]
    for other in others:
        found = replace(
            found,
            differences=found.differences + compare_generations(found, other),
            unfinished=found.unfinished + other.unfinished,
        )
    if earlier is not None:
        found = replace(found, differences=found.differences + compare_with_baseline(found, earlier))
    missed = missed_floors(found.modes[0], demanded)
    if as_json:
        print_json(
            found.as_dict()
            | {"missed_floors": [str(each) for each in missed], "questions": [each.as_dict() for each in changes]}
        )
    else:
        _show(found, missed)
        _show_changes(changes, found.modes[0].mode)
    if missed:
        raise typer.Exit(FAILED)


def _part(progress: "Progress", number: int, parts: int) -> "Progress":
    """Return the progress of one of several evaluations as a part of the whole."""
    return lambda done, total, failed=0: progress(number * total + done, parts * total, failed)


def _floor(text: str) -> "Floor":
    from sourcebook.evaluation import Floor

    try:
        return Floor.parse(as_text(text))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--floor") from None


@contextmanager
def _bar(*, quiet: bool) -> Iterator["Progress"]:
    """Show the progress on stderr."""
    from sourcebook.cli.progress_bar import passage_bar

    with passage_bar("asking", quiet=quiet) as show:
        yield lambda done, total, failed=0: show("", done, total)


def _show(found: "Evaluation", missed: Sequence["MissedFloor"]) -> None:
    from rich.table import Table

    from sourcebook.evaluation.measures import LABELS

    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    measures = list(found.modes[0].estimates)
    for measure in measures:
        table.add_column(LABELS[measure], justify="right")
    table.add_column("ms", justify="right")
    for scores in found.modes:
        cells = [_cell(scores.estimates[measure]) for measure in measures]
        table.add_row(safe(scores.mode, "bold"), *cells, f"{scores.ms_per_query:.1f}")
    for each in found.differences:
        cells = [_cell(each.estimates.get(measure), signed=True) for measure in measures]
        table.add_row(safe(f"{each.mode}\n− {_narrow(each.against)}"), *cells, "")
    out.print(table)
    asked = f"{counted(found.queries, 'query', 'queries')} asked of {found.collection}, {found.depth:,} documents each."
    legend = f"Means with 95 % intervals, from {found.samples:,} bootstrap samples"
    legend += "; differences query by query." if found.differences else "."
    out.print(safe(f"{asked} {legend}", "dim"), soft_wrap=True)
    for note in found.notes:
        out.print(safe(f"Note: {note}."), soft_wrap=True)
    for floor in missed:
        out.print(safe(f"Missed: {floor}.", "red"), soft_wrap=True)


def _show_changes(changes: "Sequence[QuestionChange]", mode: str) -> None:
    """Show the questions that the first generation answers worst and best in comparison with the second."""
    worse = [str(each) for each in changes[:_SHOWN_QUESTIONS] if each.gain < 0]
    better = [str(each) for each in reversed(changes[-_SHOWN_QUESTIONS:]) if each.gain > 0]
    for word, some in (("Worse", worse), ("Better", better)):
        if some:
            console().print(safe(f"{word} by nDCG@10 ({mode}): {', '.join(some)}."), soft_wrap=True)


def _narrow(against: str) -> str:
    """Return a mode, a file name or `generation 12` in at most 11 characters a line, the whole number included."""
    word, _, number = against.partition(" ")
    return f"{word}\n  {number}" if word == "generation" and number.isdigit() else one_line(against, 11)


def _cell(estimate: "Estimate | None", *, signed: bool = False) -> "Text":
    """Return a mean with its interval below, narrow enough for five cells in 80 columns."""
    if estimate is None:
        return safe("")
    form = "+.3f" if signed else ".3f"
    low, high = (format(value, form).replace("0.", ".", 1) for value in (estimate.low, estimate.high))
    cell = safe(format(estimate.mean, form))
    return cell.append_text(safe(f"\n{low}{' ' if signed else '–'}{high}", "dim"))
