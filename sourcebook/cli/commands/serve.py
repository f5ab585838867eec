"""`sourcebook serve`: the knowledge base over HTTP."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from sourcebook.cli.commands.mcp import AllOptions, ChatGpt, NoWork, Rerank
from sourcebook.cli.context import CommandContext
from sourcebook.cli.logs import show_logs
from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command

_WORKER: Final = (sys.executable, "-P", "-m", "sourcebook.cli.server_worker")
"""Program of a worker, in which no module of the current folder takes the place of a library's."""


def serve(
    ctx: typer.Context,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for every one.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="Port to listen on; 0 for a free one.")] = 8320,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", metavar="NUMBER", min=1, max=64, help="Processes that answer requests, on the same port."
        ),
    ] = 1,
    rerank: Rerank = None,
    chatgpt: ChatGpt = False,
    all_options: AllOptions = False,
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
            help="Address of Dagster's page, which the page links runs to.",
        ),
    ] = None,
    request_log: Annotated[
        str | None,
        typer.Option(
            "--request-log",
            metavar="FILE",
            envvar="SOURCEBOOK_REQUEST_LOG",
            help="File of a JSON line for each request, without what was sent; - for standard error.",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            envvar="SOURCEBOOK_TOKENS",
            help="File with the issuer of signed tokens (OIDC, JWT), taken beside keys; every caller then sends one.",
        ),
    ] = None,
    no_work: NoWork = False,
) -> None:
    """Serve the knowledge base over HTTP until Ctrl-C: a page for people, a REST API, and `/mcp` for agents.

    On this machine's own address, which no other machine reaches, callers need no key. On any other address every
    caller sends one, which `sourcebook key create` makes. The description of the API stands at `/openapi.json`.

    What is asked for, such as an ingest, the server does in a process beside it, unless `sourcebook up` runs.

    **Example:** `sourcebook serve`, then  `curl -s localhost:8320/v1/search --json '{"query": "batteries"}'`

    - `sourcebook serve --host 0.0.0.0`: for other machines; put a proxy with TLS before it
    - `sourcebook serve --workers 4`: on four cores; limits and metrics are those of all four processes together
    """
    from importlib.util import find_spec

    from sourcebook.admin.access_keys import FIRST_KEY
    from sourcebook.admin.doctor.packages import SERVING

    for module in (*SERVING, "starlette"):
        if find_spec(module) is None:
            raise MissingDependencyError(f"{module} is not installed: run  {install_command('server')}")
    from sourcebook.knowledge_base import KnowledgeBase
    from sourcebook.operations.access_keys import create_first_key
    from sourcebook.server.identity.token_settings import load_token_settings
    from sourcebook.server.own_worker import can_work
    from sourcebook.server.serve_settings import ServeSettings
    from sourcebook.server.starting import serve as serve_until_told

    show_logs(default_level="warning")
    context = CommandContext.of(ctx)
    settings = ServeSettings(
        rerankers=tuple(rerank or ()),
        chatgpt=chatgpt,
        all_options=all_options,
        limit=limit,
        origins=tuple(allow_origin or ()),
        dagster_url=dagster or None,
        folders=tuple(folder) if folder else None,
        request_log=request_log or None,
        tokens=None if tokens is None else load_token_settings(tokens),
        works_by=None if no_work or not can_work() else context.configuration_path,
    )
    with KnowledgeBase(context.open_database(max_connections=32)) as knowledge:
        if first_key := os.environ.get(FIRST_KEY, "").strip():
            create_first_key(knowledge, first_key)
        serve_until_told(knowledge, settings, host=host, port=port, workers=workers, program=_WORKER, started=_tell)


def _tell(address: str, requires_key: bool) -> None:
    who = "every caller sends a key: sourcebook key create" if requires_key else "from this machine, without a key"
    typer.echo(f"Serving at {address} ({who}). The API: {address}/openapi.json. Ctrl-C ends it.", err=True)
