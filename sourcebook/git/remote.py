"""The references of a remote repository: which commit a revision names now."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sourcebook.config.git_types import shown_url
from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.command import GitFailedError, Login, run_git, split_login

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{4,63}")
_TIMES: Final = re.compile(r" after \d+ ms")
_LABEL: Final = re.compile(r"^(?:fatal|error|remote|ssh|warning):\s*(?:error:\s*|fatal:\s*)?", re.IGNORECASE)
_LOGIN: Final = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/@\s']+@", re.IGNORECASE)
_FORBIDDEN: Final = (
    r"could not read (username|password)|authentication failed|permission denied|access denied|"
    r"terminal prompts disabled|host key verification|returned error: 40[13]|dubious ownership|not allowed"
)
_NETWORK: Final = (
    r"could not resolve|couldn't resolve|connection refused|connection reset|timed out|failed to connect|"
    r"couldn't connect|unreachable|early eof|hung up|unexpected disconnect|rpc failed|no route|\bssl\b|\btls\b|"
    r"operation too slow"
)
_MISSING: Final = (
    r"not found|does not exist|does not appear to be|no such|returned error: 404|not a git repo|couldn't find remote"
)
_CLASSES: Final = (
    (_FORBIDDEN, FailureClass.FORBIDDEN),
    (r"no space left|read-only file system|unable to create|cannot mkdir|disk quota", FailureClass.UNREADABLE),
    (_NETWORK, FailureClass.NETWORK),
    (r"returned error: 5\d\d", FailureClass.SERVER),
    (_MISSING, FailureClass.MISSING),
)
_UNTOLD: Final = re.compile(
    r"please make sure you have the correct access|and the repository exists|^warning: permanently added|^\s*$|"
    r"could not read from remote repository|^\s*git config",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository elsewhere, as a source names it."""

    url: str
    """The URL of the configuration, with references to variables in place of secrets."""
    revision: str | None
    """A branch, a tag or a commit; None for the default branch."""
    seconds: float = 120.0
    """Longest time without progress."""
    anonymous: bool = False
    """Whether git asks without the logins of whoever runs this."""

    @property
    def name(self) -> str:
        """The URL as messages show it."""
        return shown_url(self.url)

    @property
    def address(self) -> tuple[str, Login | None]:
        """The URL as git takes it, and the login.

        Raises:
            ListingError: a variable of the login is not set.
        """
        return split_login(self.url)

    @property
    def scheme(self) -> str:
        """Scheme of the URL; `ssh` for its short form, `file` for a path."""
        scheme, separator, _ = self.url.partition("://")
        if separator:
            return scheme.lower()
        return "file" if self.url.startswith("/") else "ssh"

    @property
    def is_commit(self) -> bool:
        """Whether the revision is the whole hash of a commit, which never names another one."""
        return self.revision is not None and COMMIT.fullmatch(self.revision) is not None


@dataclass(frozen=True, slots=True)
class Target:
    """The commit that a revision names."""

    commit: str
    reference: str
    """Name that a fetch asks for: a full one such as `refs/heads/main`, or the commit."""


def find_target(remote: Remote) -> Target:
    """Ask a remote repository which commit a revision names now; a whole commit is not asked for.

    Raises:
        ListingError: the repository cannot be read, or has no such revision.
    """
    revision = remote.revision
    if revision is not None and remote.is_commit:
        return Target(revision, revision)
    if revision is None or revision == "HEAD":
        found = _references(remote, ("HEAD",))
        if "HEAD" not in found:
            raise ListingError(f"the repository {remote.name} has no commit yet", FailureClass.MISSING)
        return Target(found["HEAD"], "HEAD")
    names = [revision] if revision.startswith("refs/") else [f"refs/heads/{revision}", f"refs/tags/{revision}"]
    found = _references(remote, [form for name in names for form in (name, f"{name}^{{}}")])
    for name in names:
        if name in found:
            return Target(found.get(f"{name}^{{}}", found[name]), name)
    raise ListingError(_unknown(remote, revision), FailureClass.MISSING)


def ask(remote: Remote, arguments: Sequence[str]) -> bytes:
    """Run `git ls-remote`.

    Raises:
        ListingError: the repository cannot be read.
    """
    url, login = remote.address
    try:
        return run_git(
            ["ls-remote", *arguments[:-1], "--", url, *arguments[-1].split()],
            scheme=remote.scheme,
            login=login,
            anonymous=remote.anonymous,
            seconds=remote.seconds,
        )
    except GitFailedError as error:
        raise listing_error(remote, error) from None


def listing_error(remote: Remote, error: GitFailedError) -> ListingError:
    """Return the error of a repository that cannot be read, in one line without any login."""
    if error.stalled:
        reason = f"git made no progress for {remote.seconds:.0f} s"
        return ListingError(f"the repository {remote.name} cannot be read: {reason}", FailureClass.TIMEOUT)
    lines = [line.strip() for line in re.split(r"[\r\n]+", error.said) if not _UNTOLD.search(line)]
    told = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))] or lines[-1:]
    reason = _LOGIN.sub(r"\1", "; ".join(dict.fromkeys(_LABEL.sub("", line) for line in told[-3:])))
    reason = _TIMES.sub("", reason)[:500] or "git ended without a reason"
    failure_class = next((each for pattern, each in _CLASSES if re.search(pattern, error.said, re.IGNORECASE)), None)
    if failure_class is FailureClass.FORBIDDEN and "dubious" not in reason:
        reason += "; does it exist, and does git have a login for it? See docs/git.md"
    return ListingError(
        f"the repository {remote.name} cannot be read: {reason}", failure_class or FailureClass.UNREADABLE
    )


def _references(remote: Remote, names: Sequence[str]) -> dict[str, str]:
    """Return the hashes of references by their full names."""
    lines = ask(remote, (" ".join(names),)).decode("utf-8", "replace").splitlines()
    return {name: commit for commit, _, name in (line.partition("\t") for line in lines) if COMMIT.fullmatch(commit)}


def _unknown(remote: Remote, revision: str) -> str:
    lines = ask(remote, ("--heads", "--tags", "")).decode("utf-8", "replace").splitlines()
    names = [line.partition("\t")[2].split("/", 2)[-1] for line in lines if not line.endswith("^{}")]
    from difflib import get_close_matches  # only a wrong revision needs it

    near = get_close_matches(revision, names, n=3, cutoff=0.4)
    said = f"the repository {remote.name} has no branch or tag {revision!r}"
    if _HEXADECIMAL.fullmatch(revision):
        return f"{said}; a commit is given with all of its 40 digits"
    if near:
        return f"{said}; near it: {', '.join(near)}"
    return f"{said}; it has {', '.join(sorted(names)[:5]) or 'none'}{', …' if len(names) > 5 else ''}"
