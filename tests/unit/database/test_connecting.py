"""A command whose database is gone says one sentence, whatever psycopg meets as it gives up."""

import os
import subprocess
import sys

from tests.checkout import CHECKOUT

_PROGRAM = """\
import psycopg
from psycopg.transaction import logger
import sourcebook.database.connecting
logger.warning("error ignored in rollback of %s: %s", "a transaction", "the connection is closed")
"""


def test_warnings_of_psycopg_are_not_written_on_stderr() -> None:
    """Where the program has no log handler, as the `sourcebook` command."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
