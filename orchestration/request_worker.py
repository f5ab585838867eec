"""The child process of a server that does what is asked for: `sourcebook mcp` and `sourcebook serve` start it."""

import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

from orchestration.configuration_in_force import configuration_in_force
from orchestration.ingest import IngestEvents
from orchestration.requested_work import do_one_request
from sourcebook.admin.claimed_work import recover_work
from sourcebook.admin.workers import listen_for_work
from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import FAILED, print_error
from sourcebook.cli.logs import show_logs
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.errors import SourcebookError

_SECONDS_WITHOUT_WORK: Final = 60.0
"""Seconds after the last request until the process, and the models in it, leave the memory."""
_SECONDS_TO_STOP: Final = 4.0
"""Seconds in which the work may stop in order when the server has ended."""


def main(configuration: str, home: str) -> None:
    """Do the requests that wait and those that come, until none came for a minute, or the server has ended."""
    gc.freeze()
    gc.enable()
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    try:
        show_logs(default_level="warning")
        _work(Path(configuration), Path(home))
    except KeyboardInterrupt:
        pass
    except SourcebookError as error:
        print_error(error)
        sys.stderr.flush()
        os._exit(FAILED)
    os._exit(0)  # taking Dagster's objects apart takes a tenth of a second


def _work(configuration: Path, home: Path) -> None:
    with Database(DatabaseLocation.find(home)) as database, database.own_connection() as connection:
        embedders = EmbedderPool()
        try:
            since = time.monotonic()
            for waits in listen_for_work(database, connection):
                recover_work(connection)
                if waits:
                    context = CommandContext(configuration)
                    while do_one_request(
                        configuration_in_force(context), database, events=IngestEvents(), embedders=embedders
                    ):
                        since = time.monotonic()
                if time.monotonic() - since > _SECONDS_WITHOUT_WORK:
                    return
        finally:
            embedders.close()


def _end_with_the_server() -> None:
    """Interrupt the work when the server's end of standard input is closed, as it is when the server has ended."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_SECONDS_TO_STOP)
    os._exit(1)
