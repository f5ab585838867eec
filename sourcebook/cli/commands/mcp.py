"""`sourcebook mcp`: the knowledge base for an agent on this machine, over standard input and output."""

import gc
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections
from sourcebook.errors import DatabaseError, MissingDependencyError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sourcebook.knowledge_base import KnowledgeBase
_log = logging.getLogger(__name__)
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
            help="A folder that the agent may add to a collection; repeatable. Else those of SOURCEBOOK_FOLDERS.",
        ),
    ] = None,
    chatgpt: ChatGpt = False,
    unredacted: Annotated[
        bool, typer.Option("--unredacted", help="Let the agent ask for what collections redact.")
    ] = False,
) -> None:
    """Let an agent on this machine use the knowledge base, over the Model Context Protocol.

    The agent starts the command and talks to it over standard input and output. Over HTTP `sourcebook serve` answers
    the same at `/mcp`.

    **Example:** `claude mcp add sourcebook -- sourcebook --config ~/docs/sourcebook.yaml mcp`

    - `sourcebook mcp -c handbook --read-only`: the agent changes nothing, and other collections do not exist for it
    """
    from sourcebook.server.mcp.wire import take_wire

    wire = take_wire()  # before anything else is imported, which might print

    context = CommandContext.of(ctx)
    knowledge = _OpenedOnce(lambda: _open(context, folder))
    loaded = threading.Event()
    threading.Thread(target=_prepare, args=(knowledge, collections, loaded), daemon=True).start()
    try:
        serve_stdio = _load_server()
        loaded.set()
        names = collections or []
        serve_stdio(knowledge, wire, collections=names, read_only=read_only, chatgpt=chatgpt, unredacted=unredacted)
    finally:
        knowledge.close()


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


def _open(context: CommandContext, folders: list[str] | None) -> "KnowledgeBase":
    from sourcebook.knowledge_base import KnowledgeBase

    if context.is_empty():
        raise DatabaseError("there is no knowledge base yet", remedy="run  sourcebook ingest")
    knowledge = KnowledgeBase(context.open_database())
    knowledge.folders = folders or None
    return knowledge


def _prepare(knowledge: _OpenedOnce, collections: list[str] | None, loaded: threading.Event) -> None:
    """Open the knowledge base, and load its models, so that the first search does not wait for them.

    Opening mostly waits for the embedded server to start, so it may go on beside the import of the SDK. Loading models
    would take the interpreter from it.
    """
    try:
        opened = knowledge()
        loaded.wait()
        opened.prewarm(collections or None)
    except Exception as error:  # noqa: BLE001 - the request that meets it is told
        _log.warning("the knowledge base cannot be searched yet: %s", error)
