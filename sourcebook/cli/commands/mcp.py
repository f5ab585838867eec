"""`sourcebook mcp`: the knowledge base for an agent on this machine, over standard input and output."""

import gc
import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections
from sourcebook.database.location import DATABASE_VARIABLE
from sourcebook.errors import DatabaseError, MissingDependencyError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sourcebook.knowledge_base import KnowledgeBase
_log = logging.getLogger(__name__)
Rerank = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank", metavar="MODEL", help="A model that searches may be reranked with: a name or folder; repeatable."
    ),
]
AllOptions = Annotated[
    bool,
    typer.Option("--all-options", help="Describe every argument and answer in the list of tools: five times as long."),
]
NoWork = Annotated[
    bool, typer.Option("--no-work", help="Leave what is asked for to `sourcebook up`, Dagster, or `ingest --requests`.")
]
ChatGpt = Annotated[
    bool, typer.Option("--chatgpt", help="Offer the tools `search` and `fetch` in ChatGPT's shape as well.")
]


class _OpenedOnce:
    """A knowledge base that is opened by the first request, or before it in a thread of its own.

    Each request that meets a failure gets it; the next one tries again.

    Args:
        open_base: opens it.
    """

    def __init__(self, open_base: "Callable[[], KnowledgeBase]") -> None:
        self._open = open_base
        self._lock = threading.Lock()
        self._knowledge: KnowledgeBase | None = None

    def __call__(self) -> "KnowledgeBase":
        """Return the knowledge base.

        Raises:
            SourcebookError: it cannot be opened.
        """
        with self._lock:
            if self._knowledge is None:
                self._knowledge = self._open()
            return self._knowledge

    def close(self) -> None:
        """Close it where it was opened."""
        with self._lock:
            if self._knowledge is not None:
                self._knowledge.close()
                self._knowledge = None


def mcp(
    ctx: typer.Context,
    collections: Collections = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that changes anything.")] = False,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="A folder to take in, into the collection `default`; the agent may add what is in it, and no other. "
            "Repeatable. Else those of SOURCEBOOK_FOLDERS, or any of yours.",
        ),
    ] = None,
    private_hosts: Annotated[
        bool, typer.Option("--private-hosts", help="Let the agent crawl sites of this machine and of its network.")
    ] = False,
    rerank: Rerank = None,
    chatgpt: ChatGpt = False,
    all_options: AllOptions = False,
    unredacted: Annotated[
        bool, typer.Option("--unredacted", help="Let the agent ask for what collections redact.")
    ] = False,
    no_work: NoWork = False,
) -> None:
    """Let an agent on this machine use the knowledge base, over the Model Context Protocol.

    The agent starts the command and talks to it over standard input and output. Over HTTP `sourcebook serve` answers
    the same at `/mcp`. A knowledge base is made where there is none, without a configuration in the home folder. What
    the agent adds is taken in by a process beside it, unless `sourcebook up` runs.

    **Example:** `claude mcp add sourcebook -- sourcebook mcp --folder ~/notes`

    - `sourcebook --config ~/docs/sourcebook.yaml mcp`: for the collections of that file
    - `sourcebook mcp -c handbook --read-only`: the agent changes nothing, and other collections do not exist for it
    """
    from sourcebook.server.mcp.wire import take_wire

    wire = take_wire()  # before anything else is imported, which might print

    context = _own_context(CommandContext.of(ctx))
    folders = [str(Path(each).expanduser().absolute()) for each in folder or ()]
    knowledge = _OpenedOnce(
        lambda: _open(context, folders, may_make=not read_only, is_owners=not read_only, private_hosts=private_hosts)
    )
    names = collections or []
    loaded = threading.Event()
    taken = [] if read_only or names else folders
    threading.Thread(target=_prepare, args=(knowledge, names, taken, loaded), daemon=True).start()
    try:
        serve_stdio = _load_server()
        loaded.set()
        with _working(knowledge, context, wanted=not (no_work or read_only)):
            serve_stdio(
                knowledge,
                wire,
                collections=names,
                read_only=read_only,
                chatgpt=chatgpt,
                unredacted=unredacted,
                rerankers=tuple(rerank or ()),
                all_options=all_options,
            )
    finally:
        knowledge.close()


def _own_context(context: CommandContext) -> CommandContext:
    """Return the context; that of the home folder where nothing says which knowledge base is meant.

    An agent starts the command in any folder, and is to find the same knowledge base in each.
    """
    if context.is_named or context.config_path is not None:
        return context
    return CommandContext(Path.home() / "sourcebook.yaml")


def _working(knowledge: _OpenedOnce, context: CommandContext, *, wanted: bool) -> "AbstractContextManager[None]":
    """Return what does the requested work as long as it is open; nothing where it is not wanted or not installed."""
    from sourcebook.server.own_worker import can_work, is_of_this_machine, own_worker

    works = wanted and can_work() and is_of_this_machine(os.environ.get(DATABASE_VARIABLE))
    return own_worker(knowledge, context.configuration_path) if works else nullcontext()


def _load_server() -> "Callable[..., None]":
    """Import the SDK, and return what serves with it."""
    gc.disable()  # the classes of the SDK are many and stay; looking for garbage among them is a fifth of its import
    try:
        from sourcebook.server.mcp.stdio import serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingDependencyError(f"{error.name} is not installed: run  {install_command('server')}") from error
    finally:
        gc.freeze()
        gc.enable()
    return serve_stdio


def _open(
    context: CommandContext, folders: list[str], *, may_make: bool, is_owners: bool, private_hosts: bool
) -> "KnowledgeBase":
    from sourcebook.database.database import Database
    from sourcebook.database.location import DatabaseLocation
    from sourcebook.knowledge_base import KnowledgeBase

    if not may_make and context.is_empty():
        raise DatabaseError("there is no knowledge base yet", remedy="run  sourcebook ingest")
    knowledge = KnowledgeBase(Database(DatabaseLocation.find(context.home)))
    knowledge.folders, knowledge.is_owners, knowledge.private_hosts = folders or None, is_owners, private_hosts
    return knowledge


def _prepare(knowledge: _OpenedOnce, collections: list[str], folders: list[str], loaded: threading.Event) -> None:
    """Open the knowledge base, and load its models, so that the first search does not wait for them.

    Opening mostly waits for the embedded server to start, so it may go on beside the import of the SDK. Loading models
    would take the interpreter from it.
    """
    try:
        opened = knowledge()
        loaded.wait()
        if folders:
            from sourcebook.server.mcp.stdio import local_grant
            from sourcebook.server.mcp.tools.writing import take_folders

            take_folders(opened, local_grant((), read_only=False), folders)
        opened.prewarm(collections or None)
    except Exception as error:  # noqa: BLE001 - the request that meets it is told
        _log.warning("the knowledge base cannot be searched yet: %s", error)
