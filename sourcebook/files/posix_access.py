"""POSIX permissions as principals: who may read a file by owner, group, mode and ACL of it and of the folders above it.

A person may read a file who may enter every folder on the way (search permission) and read the file itself. What cannot
be said with principals shows less, never more: a group whose entry withholds what others have is denied as a whole.
"""

import os
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

READ: Final = 4
"""Permission to read a file."""
SEARCH: Final = 1
"""Permission to enter a folder."""
_VERSION: Final = 2
_HEADER: Final = struct.Struct("<I")
_ENTRY: Final = struct.Struct("<HHI")
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20


class Access(NamedTuple):
    """Users and groups who may do one thing with one file or folder."""

    owner: int
    owner_may: bool
    users: tuple[tuple[int, bool], ...]
    """Users that the ACL names."""
    groups: tuple[tuple[int, bool], ...]
    """The owning group, and those that the ACL names."""
    others_may: bool

    def user_may(self, user: int, groups: frozenset[int]) -> bool:
        """Return what the kernel grants a user who belongs to groups."""
        if user == self.owner:
            return self.owner_may
        if user in (named := dict(self.users)):
            return named[user]
        matching = [may for group, may in self.groups if group in groups]
        return any(matching) if matching else self.others_may

    def group_may(self, group: int) -> bool:
        """Return what is granted to somebody of whom nothing is known but one group."""
        matching = [may for each, may in self.groups if each == group]
        return any(matching) if matching else self.others_may


class Accounts(Protocol):
    """Users and groups of the machine."""

    def groups_of(self, user: int) -> frozenset[int]:
        """Return the groups of a user."""

    def members_of(self, group: int) -> Iterable[int]:
        """Return the users of a group."""


class Readers(NamedTuple):
    """Users and groups, by their numbers, who may read a file."""

    everyone: bool
    users: frozenset[int]
    groups: frozenset[int]
    denied_users: frozenset[int]
    denied_groups: frozenset[int]


NOBODY: Final = Readers(False, frozenset(), frozenset(), frozenset(), frozenset())


def access_of(status: os.stat_result, acl: bytes | None, wanted: int) -> Access:
    """Return who may do something with a file or folder.

    Args:
        status: its owner, group and mode.
        acl: value of its extended attribute `system.posix_acl_access`; None where it has none.
        wanted: `READ` or `SEARCH`.

    Raises:
        ValueError: the ACL is of an unknown form.
    """
    mode = status.st_mode
    if acl is None or not mode & stat.S_IRWXG:  # Linux asks no ACL whose mask is empty
        group = ((status.st_gid, bool(mode >> 3 & wanted)),)
        return Access(status.st_uid, bool(mode >> 6 & wanted), (), group, bool(mode & wanted))
    entries = list(_entries(acl))
    mask = next((allowed for tag, allowed, _ in entries if tag == _MASK), 7)
    plain = {tag: bool(allowed & wanted) for tag, allowed, _ in entries if tag in (_USER_OBJ, _OTHER)}
    return Access(
        status.st_uid,
        plain[_USER_OBJ],
        tuple((number, bool(allowed & mask & wanted)) for tag, allowed, number in entries if tag == _USER),
        tuple(
            (status.st_gid if tag == _GROUP_OBJ else number, bool(allowed & mask & wanted))
            for tag, allowed, number in entries
            if tag in (_GROUP_OBJ, _GROUP)
        ),
        plain[_OTHER],
    )


def _entries(acl: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield tag, permissions and number of each entry of an ACL of Linux: a version, then eight bytes each."""
    size = _HEADER.size
    if len(acl) < size or _HEADER.unpack(acl[:size])[0] != _VERSION or (len(acl) - size) % _ENTRY.size:
        raise ValueError("an ACL of an unknown form")
    tags = [tag for tag, _, _ in _ENTRY.iter_unpack(acl[size:])]
    single = (_USER_OBJ, _GROUP_OBJ, _OTHER)
    if {*tags} - {*single, _USER, _GROUP, _MASK} or any(tags.count(tag) != 1 for tag in single):
        raise ValueError("an ACL of an unknown form")
    yield from _ENTRY.iter_unpack(acl[size:])


def readers(way: Sequence[Access], accounts: Accounts) -> Readers:
    """Return who may read a file.

    Args:
        way: who may enter each folder on the way, and who may read the file.
        accounts: users and groups, for those who pass one folder by one group and the next by another.
    """
    users = {user for access in way for user in (access.owner, *dict(access.users))}
    groups = {group for access in way for group, _ in access.groups}
    everyone = all(access.others_may for access in way)
    open_groups = {group for group in groups if all(access.group_may(group) for access in way)}
    named: set[int] = set()
    if not everyone:
        some = {group for access in way for group, may in access.groups if may} - open_groups
        more = {member for group in some for member in accounts.members_of(group)}
        named = {user for user in users if _passes(way, user, accounts)}
        named |= {user for user in more if _passes(way, user, accounts) and not accounts.groups_of(user) & open_groups}
    if not everyone and not open_groups:
        return Readers(False, frozenset(named), frozenset(), frozenset(), frozenset())
    return Readers(
        everyone,
        frozenset(named),
        frozenset() if everyone else frozenset(open_groups),
        frozenset(user for user in users if any(_withholds(access, user) for access in way)),
        frozenset(
            group for access in way for group, _ in access.groups if access.others_may and not access.group_may(group)
        ),
    )


def _passes(way: Sequence[Access], user: int, accounts: Accounts) -> bool:
    return all(access.user_may(user, accounts.groups_of(user)) for access in way)


def _withholds(access: Access, user: int) -> bool:
    """Return whether the entry of a user itself gives nothing."""
    return not access.owner_may if user == access.owner else not dict(access.users).get(user, True)
