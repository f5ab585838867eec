"""The work of one of a server's processes, from its first message to its end."""

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from sourcebook.database.database import Database
from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.bucket_table import TABLES, SharedBuckets
from sourcebook.server.serving import serve_on
from sourcebook.server.workers.link import Link
from sourcebook.server.workers.messages import Setup


def serve_part(descriptor: int, begun: Callable[[int], None]) -> None:
    """Answer requests beside the other processes of a server, until it is told to end or whoever watches has ended.

    Args:
        descriptor: open pipe to the process that watches, which has sent a `Setup`.
        begun: called with the number of this process before the rest.
    """
    os.set_inheritable(descriptor, False)
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        setup: Setup = connection.recv()
    except EOFError:  # whoever started this process has ended
        return
    for each in (setup.listening, setup.limits):
        os.set_inheritable(each, False)
    begun(setup.number)
    link = Link(connection, lambda: os.kill(os.getpid(), signal.SIGTERM))
    link.listen()
    try:
        shared = SharedBuckets(TABLES, setup.limits)
        with (
            socket.socket(fileno=setup.listening) as listening,
            KnowledgeBase(Database(setup.location, max_connections=setup.max_connections)) as knowledge,
        ):
            # One of them looks for work: that of the others would find nothing left.
            settings = setup.settings if setup.number == 1 else replace(setup.settings, works_by=None)
            serve_on(knowledge, listening, settings, shared=shared, totals=link.totals, started=link.ready)
            link.tell()
    except SourcebookError as error:
        link.failed(str(error))
        raise SystemExit(1) from None
