"""The mirror of a repository in the state folder: bare, without history, and with the commits of its sources alone.

One process at a time writes a mirror. Nobody else does, so that what a killed process has left there may be deleted.
"""

import fcntl
import hashlib
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from sourcebook.config.git_types import repository_uri
from sourcebook.config.paths import make_private_folder
from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.command import GitFailedError, run_git
from sourcebook.git.remote import Remote, Target, listing_error
from sourcebook.git.tree import DAMAGED

FOLDER: Final = "git"
"""Name of the folder of the mirrors within the state folder."""
_REFERENCES: Final = "refs/sourcebook"
_SECONDS_FOR_A_LOCK: Final = 600.0
_DIGITS: Final = 16
_OUTSIDE: Final = frozenset(
    {
        FailureClass.NETWORK,
        FailureClass.FORBIDDEN,
        FailureClass.SERVER,
        FailureClass.TIMEOUT,
        FailureClass.MISSING,
    }
)
"""Classes of failures that say nothing about the mirror."""
_FETCH: Final = (
    *("fetch", "--progress", "--no-tags", "--force", "--no-recurse-submodules", "--no-write-fetch-head"),
    "--no-auto-gc",
)
_TIDY: Final = (
    *("-c", "gc.auto=2000", "-c", "gc.autoPackLimit=20", "-c", "gc.autoDetach=false"),
    *("gc", "--auto", "--prune=1.day.ago"),
)


class Mirror:
    """The mirror of one repository.

    Args:
        home: the state folder.
        url: the URL of the repository.
    """

    def __init__(self, home: Path, url: str) -> None:
        digest = hashlib.sha256(repository_uri(url).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        self.path = home / FOLDER / digest
        self._home = home

    def has(self, commit: str) -> bool:
        """Return whether the mirror is sound, as far as is known, and has the files of a commit."""
        if not (self.path / "HEAD").is_file() or (self.path / DAMAGED).exists():
            return False
        try:
            run_git(["rev-parse", "--verify", "--quiet", f"{_REFERENCES}/{commit}^{{tree}}"], mirror=self.path)
        except GitFailedError:
            return False
        return True

    def fetch(self, remote: Remote, target: Target, kept: Collection[str] = ()) -> str:
        """Bring the files of a revision into the mirror, and return their commit.

        Args:
            remote: the repository.
            target: what its revision names.
            kept: commits that other sources read from this mirror.

        Raises:
            ListingError: the repository or the state folder cannot be read or written.
        """
        try:
            with self._locked() as lock:
                if self.has(target.commit):
                    return target.commit
                return self._fetch(remote, target, kept, lock)
        except OSError as error:
            reason = f"the mirror {self.path} cannot be written: {error.strerror or error}"
            raise ListingError(reason, FailureClass.UNREADABLE) from error

    def is_whole(self) -> bool:
        """Return whether every object of the mirror has its hash; this reads all of them."""
        try:
            run_git(["fsck", "--no-dangling", "--no-progress", "--connectivity-only"], mirror=self.path, seconds=3600)
            run_git(["fsck", "--no-dangling", "--no-progress"], mirror=self.path, seconds=3600)
        except GitFailedError:
            return False
        return True

    def _fetch(self, remote: Remote, target: Target, kept: Collection[str], lock: IO[bytes]) -> str:
        is_new = self._prepare()
        try:
            return self._bring(remote, target, kept, lock)
        except GitFailedError as error:
            if is_new or error.stalled or listing_error(remote, error).failure_class in _OUTSIDE:
                raise listing_error(remote, error) from None
        shutil.rmtree(self.path)  # it may be damaged: the sources' commits come again as they are asked for
        self._prepare()
        try:
            return self._bring(remote, target, (), lock)
        except GitFailedError as error:
            raise listing_error(remote, error) from None

    def _prepare(self) -> bool:
        """Make the mirror where there is none or a damaged one; delete what killed processes have left in it."""
        if (self.path / DAMAGED).exists():
            shutil.rmtree(self.path)
        if (self.path / "HEAD").is_file():
            for left in (*self.path.glob("*.lock"), *self.path.glob("refs/**/*.lock")):
                left.unlink(missing_ok=True)
            for left in self.path.glob("objects/**/tmp_*"):
                left.unlink(missing_ok=True)
            return False
        draft = self.path.with_name(f"{self.path.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            run_git(["init", "--quiet", "--bare", "--template=", str(draft)])
        except GitFailedError as error:
            raise OSError(error.said.strip()[:300]) from None
        draft.rename(self.path)
        return True

    def _bring(self, remote: Remote, target: Target, kept: Collection[str], lock: IO[bytes]) -> str:
        url, login = remote.address
        incoming = f"{_REFERENCES}/incoming"

        def fetch(*what: str) -> None:
            run_git(
                [*_FETCH, *what],
                mirror=self.path,
                scheme=remote.scheme,
                login=login,
                anonymous=remote.anonymous,
                seconds=remote.seconds,
                kept_open=lock,
            )

        try:
            fetch("--depth=1", "--", url, f"+{target.reference}:{incoming}")
        except GitFailedError as error:
            if not _is_refused(error, target):
                raise
            # A server without shallow clones, or one that gives no commit by its hash: all branches and tags.
            fetch("--", url, "+refs/heads/*:refs/remotes/all/*", "+refs/tags/*:refs/remotes/tags/*")
            wanted = target.commit
        else:
            wanted = incoming
        try:
            found = run_git(["rev-parse", "--verify", f"{wanted}^{{commit}}"], mirror=self.path).decode().strip()
        except GitFailedError:
            message = f"the repository {remote.name} has no commit {target.commit} in its branches and tags"
            raise ListingError(message, FailureClass.MISSING) from None
        run_git(["update-ref", f"{_REFERENCES}/{found}", found], mirror=self.path)
        self._tidy({found, *kept}, lock)
        return found

    def _tidy(self, kept: Collection[str], lock: IO[bytes]) -> None:
        """Forget the commits that no source reads any more; a mirror that cannot be tidied is as good as before."""
        listed = run_git(["for-each-ref", "--format=%(refname)"], mirror=self.path).decode().splitlines()
        for name in listed:
            if name.removeprefix(f"{_REFERENCES}/") not in kept:
                run_git(["update-ref", "-d", name], mirror=self.path)
        with suppress(GitFailedError):
            run_git(_TIDY, mirror=self.path, seconds=1800, kept_open=lock)

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """Hold the lock of the mirror. A git that outlives a killed process inherits it."""
        make_private_folder(self._home / FOLDER)
        deadline = time.monotonic() + _SECONDS_FOR_A_LOCK
        with self.path.with_name(f"{self.path.name}.lock").open("ab") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        message = f"another process has been fetching into {self.path} for too long"
                        raise ListingError(message, FailureClass.TIMEOUT) from None
                    time.sleep(0.1)
            yield lock


def _is_refused(error: GitFailedError, target: Target) -> bool:
    said = error.said.lower()
    return "shallow" in said or (
        target.reference == target.commit
        and any(
            hint in said for hint in ("unadvertised", "not our ref", "no such remote ref", "couldn't find remote ref")
        )
    )


def remove_unused_mirrors(home: Path, urls: Collection[str]) -> None:
    """Delete the mirrors of repositories that are no source any more; one that is in use meanwhile is left."""
    used = {Mirror(home, url).path.name for url in urls}
    folder = home / FOLDER
    if not folder.is_dir():
        return
    for place in folder.iterdir():
        if place.is_dir() and place.name.partition(".")[0] not in used:
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):
                place.with_name(f"{place.name}.lock").unlink()
