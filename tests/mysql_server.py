"""A MariaDB of a test's own on loopback, over a folder of its own, and the driver by which it is read."""

import getpass
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.checkout import CHECKOUT
from tests.waiting import wait_until

DRIVER: Final = CHECKOUT / "tests" / "mysql_packages.txt"
PROGRAMS: Final = ("mariadb-install-db", "mariadbd")
PASSWORD: Final = "s3cret@w/rd"
"""Password of the user `reader`, who may read and write the database `notes`."""


def missing_programs() -> list[str]:
    """Return the programs of MariaDB that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


@contextmanager
def running(folder: Path) -> Iterator[tuple[int, Any]]:
    """Run a server until the end of the block; yield its port, and a cursor of its administrator."""
    data, user = folder / "data", f"--user={getpass.getuser()}"
    options = ("--no-defaults", f"--datadir={data}", user)
    made = ("--auth-root-authentication-method=normal", "--skip-test-db")
    subprocess.run([PROGRAMS[0], *options, *made], check=True, capture_output=True, timeout=120)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
    place = (f"--socket={folder / 'socket'}", f"--port={port}", "--bind-address=127.0.0.1")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [PROGRAMS[1], *options, *place, f"--pid-file={folder / 'pid'}", "--innodb-buffer-pool-size=32M"], stderr=log
        )
    try:
        with wait_until(lambda: _connected(port, server), what="MariaDB answers") as connection:
            yield port, connection.cursor()
    finally:
        server.terminate()
        server.wait(60)


def _connected(port: int, server: "subprocess.Popen[bytes]") -> Any:
    pymysql = import_module("pymysql")  # of the driver's folder
    assert server.poll() is None, "MariaDB has ended"
    with suppress(pymysql.err.OperationalError):
        return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    return None
