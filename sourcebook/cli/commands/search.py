"""`sourcebook search`: search of the knowledge base."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import print_json, without_controls
from sourcebook.cli.request_options import Asked, with_options
from sourcebook.contract.search import SearchRequest


@with_options(SearchRequest)
def search(
    ctx: typer.Context,
    asked: Asked,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show the passages also where none is relevant.", rich_help_panel="What is shown"),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the passages that answer a question, best first, with their positions.

    Every collection is searched unless some are named. The relevance of a passage, 0 to 1, is how likely it answers;
    where no passage is relevant, the command says so, and `--all` shows what was found all the same.

    Any word of a query may match. A passage must contain `"a phrase"` and must not contain `-word` or `-"a phrase"`;
    `title:word` must be in the title of the document. The shell removes double quotes, and the command reads a dash as
    an option: put such a query into single quotes, and `--` before one that begins with a dash.

    **Example:** `sourcebook search "How long do the batteries last?" -c handbook -n 3`

    - `sourcebook search '"power cut" -diesel title:manual'`: a phrase, an excluded word, a word of the title

    - `sourcebook search -- '-diesel generator'`: a query that begins with a dash

    - `sourcebook search "carry over leave" --filter kind=page --filter 'date>=2024-05'`: only some documents

    - `sourcebook search "survey marks" --group-by document --offset 5`: the second page of documents

    - `sourcebook search "survey marks" --neighbours 1 --explain`: with the passages around it, and the explanation
    """
    context = CommandContext.of(ctx, may_be_served=True)
    if everything:
        asked["min_relevance"] = asked["min_relevance"] or 0.0
    SearchRequest.of(**asked)  # reports errors before anything is opened
    if context.is_empty(asked["collections"] or ()):
        _show_nothing(context, as_json=as_json)
        return
    with context.knowledge() as knowledge:
        results = knowledge.search(**asked)
    if as_json:
        print_json(results.as_dict())
    else:
        from sourcebook.cli.passages import show_results

        show_results(results)


def _show_nothing(context: CommandContext, *, as_json: bool) -> None:
    """Say that there is no knowledge base yet, and what to do."""
    begin = "sourcebook ingest" if context.configuration_path.exists() else "sourcebook ingest FOLDER"
    line = f"Nothing was ingested into {context.home} yet. Begin with  {begin}"
    if as_json:
        from sourcebook.contract.search_results import SearchResults

        print_json(SearchResults((), 0.0, {}, notes=(line,)).as_dict())
    else:
        typer.echo(without_controls(line))
