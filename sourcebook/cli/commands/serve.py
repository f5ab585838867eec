"""`sourcebook serve`: the knowledge base over HTTP."""

from typing import Annotated

import typer

from sourcebook.cli.commands.mcp import ChatGpt
from sourcebook.cli.context import CommandContext
from sourcebook.cli.logs import show_logs
from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    ctx: typer.Context,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for every one.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="Port; 0 for a free one.")] = 8320,
    rerank: Annotated[
        list[str] | None,
        typer.Option(
            "--rerank",
            metavar="MODEL",
            help="A model that searches may be reranked with: a name or folder; repeatable.",
        ),
    ] = None,
    chatgpt: ChatGpt = False,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="A folder that collections made over the API may read; repeatable. Else those of SOURCEBOOK_FOLDERS.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="NUMBER",
            min=0,
            max=1_000_000,
            help="Requests a minute of each key without a limit of its own; 0 for none.  [default: 600]",
            show_default=False,
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="URL",
            help="A site whose pages may ask from a browser (CORS), such as https://intranet.example; repeatable.",
        ),
    ] = None,
    dagster: Annotated[
        str | None,
        typer.Option(
            "--dagster",
            metavar="URL",
            envvar="SOURCEBOOK_DAGSTER_URL",
            help="Address of Dagster's page, which the page links runs to.",
        ),
    ] = None,
) -> None:
    """Serve the knowledge base over HTTP until Ctrl-C: a page for people, a REST API, and `/mcp` for agents.

    On this machine's own address, which no other machine reaches, callers need no key. On any other address every
    caller sends one, which `sourcebook key create` makes. The description of the API stands at `/openapi.json`.

    **Example:** `sourcebook serve`, then  `curl -s localhost:8320/v1/search --json '{"query": "batteries"}'`

    - `sourcebook serve --host 0.0.0.0`: for other machines; put a proxy with TLS before it
    """
    try:
        from sourcebook.server.serving import serve as serve_until_told
    except ModuleNotFoundError as error:
        from sourcebook.admin.doctor.packages import MODULES

        if (error.name or "").partition(".")[0] not in {*MODULES["server"], "starlette"}:
            raise
        message = f"{error.name} is not installed: run  {install_command('server')}"
        raise MissingDependencyError(message) from error
    from sourcebook.knowledge_base import KnowledgeBase

    show_logs(default_level="warning")
    with KnowledgeBase(CommandContext.of(ctx).open_database(max_connections=32)) as knowledge:
        knowledge.folders = folder or None
        serve_until_told(
            knowledge,
            host=host,
            port=port,
            rerankers=rerank or (),
            chatgpt=chatgpt,
            limit=limit,
            origins=allow_origin or (),
            dagster_url=dagster or None,
            started=_tell,
        )


def _tell(address: str, requires_key: bool) -> None:
    who = "every caller sends a key: sourcebook key create" if requires_key else "from this machine, without a key"
    typer.echo(f"Serving at {address} ({who}). The API: {address}/openapi.json. Ctrl-C ends it.", err=True)
