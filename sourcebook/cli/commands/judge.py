"""`sourcebook judge`: results called right or wrong, as questions of an evaluation."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.judgments import RecordedJudgment


def judge(
    ctx: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="The question that was asked. Without it, list the judgments.")
    ] = None,
    document: Annotated[
        str | None, typer.Argument(metavar="DOCUMENT", help="A result: its id, URI, path, or the end of its path.")
    ] = None,
    collection: Annotated[str | None, collection_option("The collection, where several have the document.")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="The document does not answer the question.")] = False,
    grade: Annotated[
        int | None,
        typer.Option("--grade", metavar="NUMBER", help="How well it answers: 0 not at all, above 0 the more."),
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the judgment.")] = False,
    as_json: Json = False,
) -> None:
    """Record that a result was right, or wrong, for a question; `sourcebook evaluate -c NAME` asks these questions.

    **Example:** `sourcebook judge "How long do the batteries last?" power.md`

    - `sourcebook judge "How long do the batteries last?" leave.md --wrong`

    - `sourcebook judge`: all judgments
    """
    if (query is None) != (document is None):
        raise typer.BadParameter("a question and a document belong together", param_hint="DOCUMENT")
    if wrong + (grade is not None) + forget > 1 or (query is None and (wrong or forget or grade is not None)):
        raise typer.BadParameter("--wrong, --grade and --forget exclude each other, and need a question and a document")
    context = CommandContext.of(ctx, may_be_served=True)
    context.is_empty([collection] if collection else [])
    name = as_text(collection) if collection else None
    with context.knowledge() as knowledge:
        if query is not None and document is not None:
            value = 0 if wrong else 1 if grade is None else grade
            knowledge.judge(as_text(query), document, None if forget else value, collection=name)
        found = knowledge.judgments(name)
    if as_json:
        print_json({"judgments": [each.as_dict() for each in found]})
    elif query is None:
        _show(found)
    else:
        judged = next((each.collection for each in found if each.query == as_text(query).strip()), name or "NAME")
        number = sum(each.collection == judged for each in found)
        typer.echo(f"{counted(number, 'judgment')} in {judged}. Measure:  sourcebook evaluate -c {judged}")


def _show(judgments: "list[RecordedJudgment]") -> None:
    out = console()
    for each in judgments:
        word = f"right ({each.grade})" if each.grade > 0 else "wrong"
        out.print(safe(f"{word}  {one_line(each.query, 200)}  →  {each.uri}, {each.collection}"), soft_wrap=True)
    if not judgments:
        out.print('Nothing was judged yet. Begin with  sourcebook judge "QUERY" DOCUMENT', soft_wrap=True)
