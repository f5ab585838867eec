"""`sourcebook bakeoff`: ways to cut, embed and order a collection, compared on its own questions."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option, listed_names
from sourcebook.cli.output import console, print_json, safe
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from rich.text import Text

    from sourcebook.evaluation import Estimate
    from sourcebook.evaluation.bakeoff import Bakeoff, BakeoffPlan, Line

Ranking = StrEnum("Ranking", "hybrid rrf vector keyword")
_MEGABYTE = 1_000_000
_KINDS = {
    "judged": ("judged question", "judged questions"),
    "pair": ("question with its answer in the documents", "questions with their answers in the documents"),
    "heading": ("heading", "headings"),
}
_OPTIONS = {"hybrid": "", "rrf": " --fusion rrf", "vector": " --mode vector", "keyword": " --mode keyword"}


def bakeoff(
    ctx: typer.Context,
    collection: Annotated[str, collection_option("The collection.")],
    queries: Annotated[
        Path | None, typer.Option("--queries", metavar="FILE", help="Judged questions, as `evaluate` reads them.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option("--qrels", metavar="FILE", help="The judgments.")] = None,
    tokens: Annotated[
        list[str] | None,
        typer.Option(
            "--tokens", metavar="SIZE,…", help="Sizes of passages, such as 128,256,512; 256+32 has an overlap of 32."
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="A model's name or folder, or a mapping as in `embedding:`, such as "
            "'{provider: openai, model: text-embedding-3-small}'; may be repeated.",
        ),
    ] = None,
    contexts: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="PARTS",
            help="What is embedded before a passage: some of title,headings,previous, or none; may be repeated.",
        ),
    ] = None,
    rankings: Annotated[
        list[Ranking] | None,
        typer.Option("--ranking", help="Order of results; may be repeated. Default: hybrid and rrf."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="NUMBER", help="The most documents. Default: 1,000.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", metavar="NUMBER", help="The most questions. Default: 300.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether to begin.")] = False,
    as_json: Json = False,
) -> None:
    """Compare sizes of passages, models, contexts and rankings on a sample of the collection and its own questions.

    The questions are the judged ones: of the files, of the `evaluation` settings, or recorded by `sourcebook judge`.
    Where there are fewer than 30, questions with their answers and headings in the documents are asked, too; their
    words are taken out of the document first.

    Without choices, one setting is changed at a time. With some, every combination of them is tried beside the present
    settings. The plan with its time is shown first, and nothing begins before you agree, or without `--yes`.

    Candidates are built in a database of their own, which is dropped at the end, also after an interruption. Searches
    see nothing of it. New vectors are kept, so that neither the next bakeoff nor the ingest computes them again.

    **Example:** `sourcebook bakeoff -c handbook --tokens 128,256,512 --model multilingual-e5-small`
    """
    from sourcebook.evaluation.bakeoff import QUESTIONS, SAMPLE, Choices, prepare_bakeoff, run_bakeoff

    context = CommandContext.of(ctx)
    name = as_text(collection)
    context.is_empty([name])
    choices = Choices(
        tokens=tuple(listed_names(tokens)),
        models=tuple(map(_model, models or ())),
        contexts=tuple(as_text(each) for each in contexts or ()),
        rankings=tuple(each.value for each in dict.fromkeys(rankings or ())) or Choices().rankings,  # type: ignore[misc]
    )
    with context.own_knowledge() as knowledge:
        prepared = prepare_bakeoff(
            knowledge,
            name,
            choices,
            queries_file=queries,
            qrels=qrels,
            sample=SAMPLE if sample is None else sample,
            limit=QUESTIONS if limit is None else limit,
        )
        if as_json and not yes:
            print_json({"plan": prepared.plan.as_dict()})
            return
        if not as_json:
            _show_plan(prepared.plan)
        if not yes:
            if not sys.stdin.isatty():
                console().print("Nothing is begun: --yes begins it.", soft_wrap=True)
                return
            typer.confirm("Begin?", abort=True)
        from sourcebook.cli.progress_bar import passage_bar

        with passage_bar("candidate", quiet=as_json) as show:
            found = run_bakeoff(prepared, show)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _model(text: str) -> "str | dict[str, Any]":
    """Return a name, or the mapping that is written in YAML."""
    written = as_text(text).strip()
    if not written.startswith("{"):
        return written
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        read = YAML(typ="safe").load(written)
    except YAMLError:
        read = None
    if not isinstance(read, dict):
        raise typer.BadParameter(
            f"{written!r} is no mapping such as {{provider: openai, model: NAME}}", param_hint="--model"
        )
    return read


def _show_plan(plan: "BakeoffPlan") -> None:
    from sourcebook.cli.commands.plan import duration

    out = console()
    questions = ", ".join(counted(number, *_KINDS[kind]) for kind, number in plan.questions.items())
    documents = f"{plan.documents:,} of {counted(plan.live_documents, 'document')}"
    out.print(safe(f"{plan.collection}: {questions}; {documents}"), soft_wrap=True)
    for number, index in enumerate(plan.indexes, start=1):
        price = "" if index.cost == 0 else ", price unknown" if index.cost is None else f", about ${index.cost:.2f}"
        work = (
            f"{counted(index.texts, 'text')} to embed, {index.cached:,} from the cache, about {duration(index.seconds)}"
        )
        out.print(safe(f"{number:>3}  {index.indexing.describe()}: {work}{price}"), soft_wrap=True)
    for reason in plan.left_out:
        out.print(safe(f"  –  {reason}", "red"), soft_wrap=True)
    total = f"About {duration(plan.seconds)} in all, each asked by {' and '.join(plan.rankings)}."
    out.print(safe(total, "bold"), soft_wrap=True)


def _show(found: "Bakeoff") -> None:
    from rich.table import Table

    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    for heading in ("nDCG@10", "hit@1", "recall@10", "in 1,000 tokens", "passages", "MB", "s", "ms"):
        table.add_column(heading, justify="right")
    best = found.best
    for line in found.lines:
        style = "bold green" if line is best else "bold" if line.is_present else ""
        mark = "best: " if line is best else "present: " if line.is_present else ""
        cells = [_cell(line, estimate, line.differences[name]) for name, estimate in line.estimates.items()]
        size = (line.vector_bytes + line.text_bytes) * found.share / _MEGABYTE
        table.add_row(
            safe(f"{mark}{line.indexing.describe()}, {line.ranking}", style),
            *cells,
            f"{line.passages * found.share:,.0f}",
            f"{size:,.1f}",
            f"{line.seconds * found.share:,.0f}",
            f"{line.ms_per_query:.0f}",
        )
    out.print(table)
    legend = (
        "Means, and below them the interval of the difference from the present settings, at 95 % for all lines at "
        "once. In 1,000 tokens: the answer is in so many tokens of the results. Passages, MB of vectors and text, and "
        f"seconds to embed are for all {counted(found.plan.live_documents, 'document')}; ms is the median of a search "
        "in the sample."
    )
    out.print(safe(legend, "dim"), soft_wrap=True)
    for note in found.notes:
        out.print(safe(f"Note: {note}."), soft_wrap=True)
    _advise(found)


def _advise(found: "Bakeoff") -> None:
    """Print what to write and to run for the best line."""
    out, best = console(), found.best
    if best is None:
        out.print("No line is better than the present settings by more than chance.", soft_wrap=True)
        return
    if best.yaml:
        out.print("Write into sourcebook.yaml, in place of the same sections:", soft_wrap=True)
        out.print(safe(best.yaml), soft_wrap=True)
        out.print(safe(f"and build the generation: sourcebook ingest {found.plan.collection}"), soft_wrap=True)
    if option := _OPTIONS[best.ranking]:
        out.print(safe(f"Search with this ranking: sourcebook search{option} …"), soft_wrap=True)


def _cell(line: "Line", estimate: "Estimate", difference: "Estimate") -> "Text":
    """Return a mean with the interval of its difference, or of itself for the present settings, below."""
    cell = safe(f"{estimate.mean:.3f}")
    shown, form = (estimate, ".3f") if line.is_present else (difference, "+.3f")
    low, high = (format(value, form).replace("0.", ".", 1) for value in (shown.low, shown.high))
    return cell.append_text(safe(f"\n{low}{'–' if line.is_present else ' '}{high}", "dim"))
