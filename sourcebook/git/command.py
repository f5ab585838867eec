"""The `git` command and its login, run so that no repository or URL can make it ask, hang or execute anything."""

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from sourcebook.errors import FailureClass, ListingError

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_HELPER: Final = (
    '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$GIT_LOGIN_USER" "$GIT_LOGIN_PASSWORD"; }; f'
)
"""A credential helper that says what two variables hold."""


@dataclass(frozen=True, slots=True)
class Login:
    """User and password for one host."""

    host: str
    """Scheme and host, such as `https://git.example.com`."""
    user: str
    password: str = field(repr=False)

    def environment(self, first: int) -> dict[str, str]:
        """Return the variables that make git use the login.

        Args:
            first: number of configuration entries that the environment has already.
        """
        name = f"credential.{self.host}.helper"
        entries = {f"GIT_CONFIG_KEY_{first}": name, f"GIT_CONFIG_VALUE_{first}": ""}  # no other helper
        entries |= {f"GIT_CONFIG_KEY_{first + 1}": name, f"GIT_CONFIG_VALUE_{first + 1}": _HELPER}
        return {
            **entries,
            "GIT_CONFIG_COUNT": str(first + 2),
            "GIT_LOGIN_USER": self.user,
            "GIT_LOGIN_PASSWORD": self.password,
        }


def split_login(url: str) -> tuple[str, Login | None]:
    """Return a URL without the login in it, and the login with the values of its variables.

    A user without a password stays in the URL, for git's own helpers and for ssh.

    Args:
        url: a URL with references such as `${TOKEN}` in its user and password.

    Raises:
        ListingError: a variable is not set.
    """
    if "://" not in url:
        return url, None
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    if not at or (not colon and not _VARIABLE.search(user)):
        return url, None
    plain = urlunsplit((parts.scheme, host, parts.path, "", ""))
    # A token alone is a password: the services ignore the user beside it.
    found = Login(f"{parts.scheme}://{host}", _filled(user) if colon else "git", _filled(password if colon else user))
    return plain, found


def _filled(text: str) -> str:
    def variable(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            reason = f"the repository's login needs the environment variable {match[1]}, which is not set"
            raise ListingError(reason, FailureClass.FORBIDDEN)
        return found.strip()

    filled = _VARIABLE.sub(variable, text) if _VARIABLE.search(text) else unquote(text)
    if any(ord(letter) < 32 for letter in filled):
        raise ListingError("the repository's login holds characters that no password may have", FailureClass.FORBIDDEN)
    return filled


INSTALL: Final = "install git, such as with apt-get install git"
"""The remedy where the command is missing."""
_SAFE: Final = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "submodule.recurse=false"),
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)
_PROTOCOLS: Final = {
    "https": "https:ssh",
    "http": "http:https:ssh",
    "ssh": "ssh:https",
    "git": "git:https:ssh",
    "file": "file",
}
"""Transports by the scheme of a URL: its own, and those that `url.<base>.insteadOf` usually leads to."""
_DROPPED: Final = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|COMMON_DIR|PREFIX|"
    r"SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|TRACE\w*|QUARANTINE_PATH)|"
    r"SSH_ASKPASS|SOURCEBOOK_\w*(URL|PASSWORD|TOKEN|SECRET|KEY)|PG\w+"
)
"""Variables that would lead git to another repository, and the secrets of the database."""
_OF_A_PERSON: Final = re.compile(
    r"GIT_(CONFIG\w*|ASKPASS|SSH\w*|PROXY_COMMAND|SSL_CERT\w*|SSL_KEY)|SSH_\w+|XDG_CONFIG_HOME"
)
"""Variables that hold, or lead to, the logins of whoever runs Sourcebook."""
_ANONYMOUS: Final = {
    "HOME": os.devnull,  # where .netrc would be
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "https",
}
_MOST_ERRORS: Final = 65_536
"""Bytes kept of what git says."""
_HEARTBEAT: Final = 0.5


class GitFailedError(Exception):
    """The git command ended with an error; `said` is what it said."""

    def __init__(self, said: str, *, stalled: bool = False) -> None:
        super().__init__(said)
        self.said = said
        self.stalled = stalled


def find_git() -> str:
    """Return the path of the git command.

    Raises:
        ListingError: there is none.
    """
    found = shutil.which("git")
    if found is None:
        raise ListingError(f"the command git is not found; {INSTALL}", FailureClass.MODEL)
    return found


def run_git(
    arguments: Sequence[str | bytes],
    *,
    mirror: Path | None = None,
    scheme: str = "",
    login: Login | None = None,
    anonymous: bool = False,
    seconds: float = 120.0,
    kept_open: IO[bytes] | None = None,
) -> bytes:
    """Run git to its end and return what it printed.

    Args:
        arguments: the command and its arguments.
        mirror: the bare repository to work in; None for none.
        scheme: scheme of the URL in the arguments; without one no transport is allowed.
        login: user and password for the host of the URL.
        anonymous: whether git uses no settings and no logins of whoever runs this.
        seconds: longest time without any output, after which git and its children are killed.
        kept_open: a file that git inherits, such as a lock that is to be held until git ends.

    Raises:
        GitFailedError: git failed, or made no progress.
        ListingError: there is no git.
    """
    command = [find_git(), *_SAFE, *(("--git-dir", str(mirror)) if mirror else ()), *arguments]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(scheme, login, anonymous=anonymous),
        cwd="/",
        start_new_session=True,  # no terminal to ask on, and one group to kill
        pass_fds=() if kept_open is None else (kept_open.fileno(),),
    )
    try:
        printed, said, stalled = _read(process, seconds)
        code = process.wait()
    except BaseException:
        _kill(process)
        raise
    finally:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if stalled or code != 0:
        raise GitFailedError(said.decode("utf-8", "replace"), stalled=stalled)
    return printed


def _read(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[bytes, bytes, bool]:
    """Read both outputs until they end; return them, and whether git was killed because it made no progress."""
    printed: list[bytes] = []
    said = b""
    last = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(_HEARTBEAT):
                piece = os.read(key.fd, 1 << 20)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    printed.append(piece)
                else:
                    said = (said + piece)[-_MOST_ERRORS:]
                last = time.monotonic()
            if time.monotonic() - last > seconds:
                _kill(process)
                return b"", said, True
            if process.poll() is not None and time.monotonic() - last > 2 * _HEARTBEAT:
                break  # a helper that outlives git keeps the pipes open
    return b"".join(printed), said, False


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment(scheme: str, login: Login | None, *, anonymous: bool = False) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _DROPPED.fullmatch(name)}
    if anonymous:
        kept = {name: value for name, value in kept.items() if not _OF_A_PERSON.fullmatch(name)}
    found = {
        **kept,
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_ALLOW_PROTOCOL": _PROTOCOLS.get(scheme, "none"),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
    if "GIT_SSH" not in kept:
        found["GIT_SSH_COMMAND"] = f"{kept.get('GIT_SSH_COMMAND', 'ssh')} -oBatchMode=yes -oConnectTimeout=20"
    if login is not None:
        first = int(kept["GIT_CONFIG_COUNT"]) if kept.get("GIT_CONFIG_COUNT", "").isdigit() else 0
        found |= login.environment(first)
    return {**found, **_ANONYMOUS} if anonymous else found
