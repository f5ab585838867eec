"""The start of `sourcebook serve`: a socket that listens, and one process or several that answer.

Imports no framework: a process that only watches others needs none.
"""

from collections.abc import Callable, Sequence

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.web_origins import check_origin
from sourcebook.server.listening import DEFAULT_PORT, is_local, listen
from sourcebook.server.serve_settings import ServeSettings


def serve(
    knowledge: KnowledgeBase,
    settings: ServeSettings,
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    workers: int = 1,
    program: Sequence[str] = (),
    started: Callable[[str, bool], None],
) -> None:
    """Serve a knowledge base until SIGINT or SIGTERM.

    Args:
        knowledge: the knowledge base, which the caller closes.
        settings: the choices of whoever starts the server.
        host: the address to listen on; on any but this machine's own every caller needs a key.
        port: the port; 0 for a free one.
        workers: number of processes that answer requests; where it is 1, this process answers them.
        program: program and arguments of such a process, to which the descriptor of its pipe is added.
        started: called with the address of the server, and whether callers need a key, once it listens; with several
            processes once all of them answer.

    Raises:
        ServingError: the port is taken, the address is none of this machine, or a process cannot serve.
        QueryError: an origin is none.
    """
    for origin in settings.origins:
        check_origin(origin)
    with listen(host, port) as listening:
        address, taken = listening.getsockname()[:2]
        requires_key = settings.tokens is not None or not is_local(str(address))
        named = f"[{address}]" if ":" in str(address) else address

        def tell() -> None:
            started(f"http://{named}:{taken}", requires_key)

        if workers == 1:
            from sourcebook.server.serving import serve_on

            tell()
            serve_on(knowledge, listening, settings)
        else:
            from sourcebook.server.workers.watching import watch_workers

            watch_workers(knowledge.database, listening, settings, workers, program, tell)
