"""The account that PostgreSQL runs under: this one, or one of its own where this one is root."""

import fcntl
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from sourcebook.errors import DatabaseError

NAME: Final = "pgserver"
"""Name of the account where this process is root's: PostgreSQL refuses to run as root."""
_KEPT: Final = ("PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that the server needs; it gets no secret, and no PG* variable changes its settings."""
# Python starts a process with another user by fork, which runs the fork handlers of libraries such as gRPC in the new
# process; they have crashed it. This starts by vfork, and the new process changes its user itself.
_AS_ACCOUNT: Final = """
import os, sys
uid, gid = int(sys.argv[1]), int(sys.argv[2])
os.setgroups([]); os.setgid(gid); os.setuid(uid)
os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """A user of the system, and programs that run as it."""

    uid: int
    gid: int

    @classmethod
    def find(cls) -> "ServerAccount":
        """Return the account, made on the first use where this process is root's.

        Raises:
            DatabaseError: the account cannot be made.
        """
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        try:
            entry = pwd.getpwnam(NAME)
        except KeyError:
            entry = _create()
        return cls(entry.pw_uid, entry.pw_gid)

    @property
    def is_other(self) -> bool:
        """Whether it differs from the account of this process."""
        return self.uid != os.geteuid()

    def start(self, command: Sequence[str], output: IO[bytes], folder: Path = Path("/")) -> "subprocess.Popen[bytes]":
        """Start a program as this account, in a folder, with its output in a file.

        Raises:
            OSError: no process can be created.
        """
        if self.is_other:
            command = [sys.executable, "-ISc", _AS_ACCOUNT, str(self.uid), str(self.gid), *command]
        environment = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )

    def own(self, folder: Path) -> None:
        """Make a folder with its contents the account's, where it is not."""
        if self.is_other and folder.stat().st_uid != self.uid:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def let_through(self, path: Path) -> None:
        """Let the account enter the folders above a path, without the right to list them."""
        if self.is_other:
            for parent in path.absolute().parents:
                found = parent.stat()
                needed = stat.S_IXUSR if found.st_uid == self.uid else stat.S_IXOTH
                if not found.st_mode & needed:
                    parent.chmod(stat.S_IMODE(found.st_mode) | needed)

    def let_read(self, folder: Path) -> None:
        """Let the account read a folder of programs where they were installed for this account alone."""
        if not self.is_other:
            return
        self.let_through(folder)
        if folder.stat().st_mode & stat.S_IROTH and (folder / "bin" / "postgres").stat().st_mode & stat.S_IXOTH:
            return
        for path in (folder, *folder.rglob("*")):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))


def _create() -> pwd.struct_passwd:
    """Make the account, one process at a time: of two useradd at once, one can take back the other's user id."""
    users = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(users, fcntl.LOCK_EX)
        with suppress(KeyError):
            return pwd.getpwnam(NAME)
        subprocess.run(["useradd", "--system", "--no-create-home", NAME], check=True, capture_output=True)
        return pwd.getpwnam(NAME)
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        raise DatabaseError(
            f"PostgreSQL does not run as root, and the user {NAME} cannot be created: run Sourcebook as another user, "
            f"or create it with  useradd --system {NAME}"
        ) from error
    finally:
        os.close(users)
