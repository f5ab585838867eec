"""The files of a commit, read from a mirror without a checkout: nothing of the repository is ever executed."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NamedTuple

from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.command import GitFailedError, run_git

LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"
"""Beginning of a file whose content Git LFS keeps elsewhere."""
DAMAGED: Final = "sourcebook-damaged"
"""Name of the file by which a reader marks a mirror that is to be made anew."""
_LINK: Final = "symbolic link, which is not followed in a repository"
_SUBMODULE: Final = "submodule, which is not read"
_UNFIT: Final = "a path that no checkout would have"
_REGULAR: Final = (b"100644", b"100755", b"100664")


class TreeFile(NamedTuple):
    """One file of a commit."""

    path: str
    """Path below the folder that is read; bytes outside UTF-8 as `os.fsdecode` gives them."""
    size: int
    blob: str
    """Hash that Git has for the content."""
    skip_reason: str | None


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder of a commit in a mirror."""

    mirror: str
    commit: str
    folder: str
    """Path of the folder within the repository; empty for the whole."""

    def files(self) -> Iterator[TreeFile]:
        """Yield every file.

        Raises:
            ListingError: the commit cannot be read from the mirror, or has no such folder.
        """
        try:
            listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", f"{self.commit}:{self.folder}")
        except GitFailedError as error:
            raise self._listing_error(error) from None
        for line in listed.split(b"\0"):
            if line:
                yield _tree_file(line)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: the commit has no such file.
            OSError: the mirror cannot be read.
        """
        full = f"{self.folder}/{path}" if self.folder else path
        try:
            return self._run("cat-file", "blob", os.fsencode(f"{self.commit}:{full}"))
        except (GitFailedError, ListingError) as error:
            if isinstance(error, GitFailedError) and _is_absent(error.said):
                raise FileNotFoundError(full) from None
            mark_damaged(Path(self.mirror))
            raise OSError(f"the mirror of its repository cannot be read ({_last_line(error)})") from None

    def _run(self, *arguments: str | bytes) -> bytes:
        return run_git(arguments, mirror=Path(self.mirror))

    def _listing_error(self, error: GitFailedError) -> ListingError:
        if self.folder and self._type_of(""):
            found = self._type_of(self.folder)
            if found == "blob":
                return ListingError(f"{self.folder!r} is a file at {self.commit[:12]}, no folder", FailureClass.MISSING)
            if not found:
                return ListingError(self._no_folder(), FailureClass.MISSING)
        mark_damaged(Path(self.mirror))
        return ListingError(
            f"the mirror of the repository cannot be read ({_last_line(error)}); the next ingest makes it anew",
            FailureClass.UNREADABLE,
        )

    def _type_of(self, folder: str) -> str:
        """Return the type of what is at a path of the commit; an empty text where nothing is."""
        try:
            return self._run("cat-file", "-t", f"{self.commit}:{folder}").decode().strip()
        except GitFailedError:
            return ""

    def _no_folder(self) -> str:
        listed = self._run("ls-tree", "-r", "-d", "-z", "--name-only", self.commit)
        folders = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        near = get_close_matches(self.folder, folders, n=3, cutoff=0.4)
        hint = f"; near it: {', '.join(near)}" if near else ""
        return f"the repository has no folder {self.folder!r} at {self.commit[:12]}{hint}"


def mark_damaged(mirror: Path) -> None:
    """Mark a mirror that the next fetch is to make anew; one that cannot be written stays as it is."""
    try:
        (mirror / DAMAGED).touch()
    except OSError:
        return


def _tree_file(line: bytes) -> TreeFile:
    facts, _, name = line.partition(b"\t")
    mode, kind, blob, size = facts.split()
    reason = None
    if kind == b"commit":
        reason = _SUBMODULE
    elif mode not in _REGULAR:
        reason = _LINK
    if {b"", b".", b".."} & {*name.split(b"/")}:
        reason = _UNFIT
    return TreeFile(os.fsdecode(name), int(size) if size.isdigit() else 0, blob.decode(), reason)


def _is_absent(said: str) -> bool:
    return "does not exist in" in said or "exists on disk, but not in" in said


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1][:300]
