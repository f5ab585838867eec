"""The walk through a local folder and the folders below it.

Folders come first under their own paths, in the order of their names. Symbolic links to folders follow at the end, in
the order of their paths: a link to a folder whose files are listed already adds nothing. Device and inode identify a
folder, so that links and mounts that lead back to a folder end there.
"""

import os
import stat
import struct
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from sourcebook.errors import FailureClass, ListingError
from sourcebook.files.confinement import LEADS_OUT, is_inside, real_path, target_of
from sourcebook.files.source import PathFilter, Source
from sourcebook.model.file_state import file_state

FOLDER = "folder"
"""Modification mark in the line of a link to a folder."""
_BROKEN = "broken symbolic link"
_LOOP = "symbolic link to a parent folder: a loop"
_LISTED = "symbolic link to a folder that is listed already"
_SPECIAL = "not a regular file"

Identity = tuple[int, int | str]
"""Device and inode of a folder; its real path where the file system has no inodes."""


class Status(NamedTuple):
    """The state of a file: `file_state`, with times as far as 64 bits reach."""

    size: int
    modified: int
    """Modification time in nanoseconds."""
    changed: int
    """Change time in nanoseconds, which no program sets."""
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the status of a file."""
        size, modified, changed, inode = file_state(status)
        return cls(size, _within(modified), _within(changed), inode)

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """Return the status of which `packed` gave the bytes."""
        return cls._make(_PACKED.unpack(packed))

    @property
    def packed(self) -> bytes:
        """The status as 32 bytes, made three times as fast as a text of these numbers."""
        return _PACKED.pack(*self)

    @property
    def touched(self) -> str:
        """Change time and inode, which an edit that keeps size and modification time changes."""
        return f"{self.changed} {self.inode}"


_PACKED = struct.Struct("=QqqQ")


def _within(nanoseconds: int) -> int:
    return min(max(nanoseconds, -(2**63)), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class WalkedFolder:
    """One folder with a line for each file in it.

    A line is `name/` and the `Status` of a file in hexadecimal, `name///reason` of one that is not read, and
    `name//folder/reason` of a link to a folder that is not followed: a name has no slash.
    """

    path: str
    lines: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Names of the symbolic links to files."""
    above: tuple[Identity, ...] = ()
    """The folder itself and its parents on the way from the root."""


@dataclass(frozen=True, slots=True, order=True)
class _FolderLink:
    path: str
    folder: WalkedFolder = field(compare=False)
    """The folder that the link is in."""


def walk(source: Source, patterns: PathFilter, errors: list[str]) -> Generator[WalkedFolder, bool, None]:
    """Yield every folder once; send back whether the source includes any file of it.

    Args:
        source: a folder of this machine.
        patterns: the patterns of the source.
        errors: receives a sentence for each folder that cannot be listed.

    Raises:
        ListingError: the root is no folder.
    """
    if not Path(source.location).is_dir():
        raise ListingError(f"the folder {source.location} does not exist or is not mounted", FailureClass.MISSING)
    if source.is_fixed and os.path.realpath(source.location) != source.location:
        message = f"the folder {source.location} has become a link, and leads out of what the API was allowed to read"
        raise ListingError(message, FailureClass.FORBIDDEN)
    return _Walk(source, patterns, errors).folders()


class _Walk:
    def __init__(self, source: Source, patterns: PathFilter, errors: list[str]) -> None:
        self._root = source.location
        self._real_root = os.path.realpath(source.location)
        self._prefix = len(source.location.rstrip("/")) + 1
        self._follow_links = source.follow_links
        self._patterns = patterns
        self._errors = errors
        self._links: list[_FolderLink] = []
        self._visited: set[Identity] = set()
        """Folders visited in this phase: under their own paths first, through links then."""
        self._listed: set[Identity] = set()
        """Folders with an included file in them or below them."""

    def folders(self) -> Generator[WalkedFolder, bool, None]:
        unfinished: dict[str, WalkedFolder] = {}
        yield from self._tree(self._root, (), unfinished)
        self._visited = set()
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                try:
                    identity = _identity(os.stat(link.path), link.path)  # noqa: PTH116 - the path may be no UTF-8
                except OSError:
                    continue  # it vanished since its folder was read
                if identity in self._listed or identity in self._visited:
                    link.folder.lines.append(f"{link.path.rpartition('/')[2]}//{FOLDER}/{_LISTED}")
                else:
                    yield from self._tree(link.path, link.folder.above, unfinished, is_link=True)
        for folder in unfinished.values():
            _ = yield folder

    def _tree(
        self, top: str, above: tuple[Identity, ...], unfinished: dict[str, WalkedFolder], *, is_link: bool = False
    ) -> Generator[WalkedFolder, bool, None]:
        pending = [(top, above, is_link or top == self._root)]
        while pending:
            path, parents, follows = pending.pop()
            links = len(self._links)
            try:
                folder, names = self._read(path, parents, follows=follows)
            except OSError as error:
                self._errors.append(f"the folder {path} cannot be listed: {error.strerror}")
                continue
            if folder is None:
                continue
            if len(self._links) > links:
                unfinished[path] = folder  # its lines depend on what the rest of the walk finds
                includes = any(self._takes(folder, line) for line in folder.lines)
            else:
                includes = yield folder
            if includes:
                self._listed.update(folder.above)
            base = path.rstrip("/") + "/"
            pending += [(base + name, folder.above, False) for name in sorted(names, reverse=True)]

    def _takes(self, folder: WalkedFolder, line: str) -> bool:
        return self._patterns.takes(f"{folder.path.rstrip('/')}/{line.partition('/')[0]}"[self._prefix :])

    def _read(self, path: str, above: tuple[Identity, ...], *, follows: bool) -> tuple[WalkedFolder | None, list[str]]:
        """Return a folder with the names of the folders in it; None where it was visited before.

        Args:
            path: path of the folder.
            above: its parents.
            follows: whether the path may be a symbolic link.

        Raises:
            OSError: the folder cannot be read, or is outside the root by now.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
        descriptor = os.open(path, flags)
        try:
            real = real_path(descriptor, path)
            identity = _identity(os.fstat(descriptor), real)
            if identity in self._visited or identity in self._listed:
                return None, []
            if not self._follow_links and not is_inside(real, self._real_root):
                raise OSError(0, "it was replaced by a symbolic link that leads out of the root")
            self._visited.add(identity)
            folder = WalkedFolder(path, above=(*above, identity))
            return folder, self._read_lines(descriptor, folder)
        finally:
            os.close(descriptor)

    def _read_lines(self, descriptor: int, folder: WalkedFolder) -> list[str]:
        lines, names = folder.lines, []
        pack = _PACKED.pack
        with os.scandir(descriptor) as children:
            for child in children:
                name = child.name
                try:
                    if child.is_file(follow_symlinks=False):
                        status = child.stat(follow_symlinks=False)
                        try:
                            mark = pack(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                        except struct.error:
                            mark = Status.of(status).packed
                        lines.append(f"{name}/{mark.hex()}")
                    elif child.is_symlink():
                        line = self._link_line(child, folder)
                        if line is not None:
                            lines.append(line)
                    elif child.is_dir(follow_symlinks=False):
                        names.append(name)
                    else:
                        lines.append(f"{name}///{_SPECIAL}")
                except FileNotFoundError:
                    continue  # it vanished since the folder was read
                except OSError as error:
                    lines.append(f"{name}///{error.strerror}")
        base = folder.path.rstrip("/") + "/"
        return [name for name in names if self._patterns.enters((base + name)[self._prefix :], name)]

    def _link_line(self, link: "os.DirEntry[str]", folder: WalkedFolder) -> str | None:
        """Return the line of a symbolic link; None where it adds nothing, or is decided at the end of the walk."""
        path = f"{folder.path.rstrip('/')}/{link.name}"
        try:
            status = link.stat()
        except OSError:
            return f"{link.name}///{_BROKEN}"
        if stat.S_ISREG(status.st_mode):
            reason = self._leads_out(path)
            folder.links.append(link.name)
            return f"{link.name}///{reason}" if reason else f"{link.name}/{Status.of(status).packed.hex()}"
        if not stat.S_ISDIR(status.st_mode):
            return f"{link.name}///{_SPECIAL}"
        if not self._patterns.enters(path[self._prefix :], link.name):
            return None
        reason = _LOOP if _identity(status, path) in folder.above else self._leads_out(path)
        if reason:
            return f"{link.name}//{FOLDER}/{reason}"
        self._links.append(_FolderLink(path, folder))
        return None

    def _leads_out(self, path: str) -> str | None:
        if self._follow_links or is_inside(target_of(path), self._real_root):
            return None
        return LEADS_OUT


def _identity(status: os.stat_result, path: str) -> Identity:
    return status.st_dev, status.st_ino or os.path.realpath(path)
