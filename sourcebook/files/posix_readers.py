"""Readers of the files of a folder of this machine, as the file system says it now."""

import errno
import grp
import os
import pwd
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple

from sourcebook.config.principals import EVERYONE, GROUP, USER, parse_principal
from sourcebook.files.posix_access import NOBODY, READ, SEARCH, Access, Readers, access_of, readers

_ACL = "system.posix_acl_access"
_NO_ACL = {errno.ENODATA, errno.EOPNOTSUPP, errno.ENOSYS}
_RACY_NANOSECONDS = 2_000_000_000
"""Nanoseconds after a change within which another one may leave the change time as it is."""


class FilePermission(NamedTuple):
    """Principals who may read a file."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    state: str
    """Digest of owner, group, mode and ACL of the file itself."""


class PosixReaders:
    """Readers of files during one look: accounts and folders are looked up once."""

    def __init__(self) -> None:
        self._accounts = _Accounts()
        self._folders: dict[str, tuple[str, Access | None]] = {}
        """Mark of each folder that was looked at, and who may enter it; None for nobody."""
        self._ways: dict[str, tuple[Access | None, ...]] = {}
        self._readers: dict[tuple[Access, ...], FilePermission] = {}

    def mark(self, folder: str, changed: Iterable[int], links: Iterable[str] = ()) -> str:
        """Return a text that differs where somebody else may enter a folder, or anything on the way to it, now.

        A change so recent that a further one could have the same time makes it differ at the next look in any case.

        Args:
            folder: path of the folder.
            changed: change times of its files in nanoseconds.
            links: paths of symbolic links to files in it.
        """
        now = time.time_ns()
        ways = [self._marks(folder), *(self._marks(os.path.dirname(os.path.realpath(each))) for each in links)]  # noqa: PTH120
        is_racy = any(each > now - _RACY_NANOSECONDS for each in changed)
        return f"{self._accounts.mark} {ways}{f' {now}' if is_racy else ''}"

    def permissions(self, paths: Sequence[str]) -> list[FilePermission]:
        """Return who may read each file; nobody where the file system does not say."""
        return [self._permission(path) for path in paths]

    def _permission(self, path: str) -> FilePermission:
        try:
            status = os.stat(path)  # noqa: PTH116 - the path may be no UTF-8
            acl = _acl_of(path)
            access = access_of(status, acl, READ)
        except (OSError, ValueError):
            return FilePermission((), (), "")
        own = f"{status.st_uid} {status.st_gid} {stat.S_IMODE(status.st_mode)} {(acl or b'').hex()}"
        way = (*self._way(os.path.dirname(path)), access)  # noqa: PTH120
        if (real := os.path.realpath(path)) != path:
            way = (*self._way(os.path.dirname(real)), *way)  # noqa: PTH120
        return self._named(way)._replace(state=blake2b(own.encode(), digest_size=8).hexdigest())

    def _named(self, way: tuple[Access | None, ...]) -> FilePermission:
        known = tuple(each for each in way if each is not None)
        if len(known) < len(way):
            return FilePermission((), (), "")
        distinct = tuple(dict.fromkeys(known))
        if distinct not in self._readers:
            self._readers[distinct] = self._accounts.permission(readers(distinct, self._accounts))
        return self._readers[distinct]

    def _way(self, folder: str) -> tuple[Access | None, ...]:
        if folder not in self._ways:
            self._ways[folder] = tuple(self._folder(each)[1] for each in _upwards(folder))
        return self._ways[folder]

    def _marks(self, folder: str) -> str:
        return " ".join(self._folder(each)[0] for each in _upwards(folder))

    def _folder(self, path: str) -> tuple[str, Access | None]:
        if path not in self._folders:
            self._folders[path] = _folder(path)
        return self._folders[path]


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, by the path as it is written and by the real one."""
    paths = dict.fromkeys((folder, os.path.realpath(folder)))
    yield from dict.fromkeys(str(each) for path in paths for each in (path, *PurePosixPath(path).parents))


def _folder(path: str) -> tuple[str, Access | None]:
    """Return the mark of a folder, and who may enter it."""
    try:
        status = os.stat(path)  # noqa: PTH116 - the path may be no UTF-8
        acl = _acl_of(path)
        mark = f"{status.st_uid}:{status.st_gid}:{stat.S_IMODE(status.st_mode)}:{(acl or b'').hex()}"
        return mark, access_of(status, acl, SEARCH)
    except (OSError, ValueError) as error:
        return type(error).__name__, None


def _acl_of(path: str) -> bytes | None:
    """Return the ACL of a file or folder; None where it has none, or its file system knows none.

    Raises:
        OSError: the file system does not say.
    """
    getxattr: Callable[[str, str], bytes] | None = getattr(os, "getxattr", None)
    if getxattr is None:
        return None
    try:
        return getxattr(path, _ACL)
    except OSError as error:
        if error.errno in _NO_ACL:
            return None
        raise


class _Accounts:
    """Users and groups of the machine, as its name services know them during one look."""

    def __init__(self) -> None:
        self.groups_of = cache(self._groups_of)
        self.members_of = cache(self._members_of)

    @cached_property
    def mark(self) -> str:
        """A text that differs where other users and groups, or members of these, are listed."""
        listed = repr(([(each[0], each[2], each[3]) for each in pwd.getpwall()], grp.getgrall()))
        return blake2b(listed.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def permission(self, found: Readers) -> FilePermission:
        """Return readers by their names."""
        if found == NOBODY:
            return FilePermission((), (), "")
        allowed = [*map(_user, found.users), *map(_group, found.groups), *([EVERYONE] if found.everyone else ())]
        denied = [*map(_user, found.denied_users), *map(_group, found.denied_groups)]
        return FilePermission(tuple(sorted(allowed)), tuple(sorted(denied)), "")

    def _groups_of(self, user: int) -> frozenset[int]:
        try:
            account = pwd.getpwuid(user)
        except KeyError:
            return frozenset()
        return frozenset(os.getgrouplist(account.pw_name, account.pw_gid))

    def _members_of(self, group: int) -> frozenset[int]:
        members = {each.pw_uid for each in pwd.getpwall() if each.pw_gid == group}
        try:
            names = grp.getgrgid(group).gr_mem
        except KeyError:
            names = []
        for name in names:
            try:
                members.add(pwd.getpwnam(name).pw_uid)
            except KeyError:
                continue  # it is listed in a group, and is no account
        return frozenset(members)


def _user(number: int) -> str:
    try:
        return parse_principal(f"{USER}:{pwd.getpwuid(number).pw_name}")
    except (KeyError, ValueError):
        return f"{USER}:uid:{number}"


def _group(number: int) -> str:
    try:
        return parse_principal(f"{GROUP}:{grp.getgrgid(number).gr_name}")
    except (KeyError, ValueError):
        return f"{GROUP}:gid:{number}"
