"""Who may read a file, against the kernel that decides it."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from sourcebook.files.posix_access import READ, SEARCH, Access, Readers, access_of, readers

ACL = "system.posix_acl_access"
MEMBERS = {61001: {62001}, 61002: {62001, 62002}, 61003: {62002, 62003}, 61004: {62003}, 61005: {62004}}
"""Users with their groups."""
GROUPS = (62001, 62002, 62003, 62004)


class Accounts:
    """The users above."""

    def groups_of(self, user: int) -> frozenset[int]:
        return frozenset(MEMBERS.get(user, ()))

    def members_of(self, group: int) -> list[int]:
        return [user for user, groups in MEMBERS.items() if group in groups]


def sees(found: Readers, user: int) -> bool:
    """Return what principals say, for somebody whose sign-in says all groups."""
    groups = MEMBERS[user]
    if user in found.denied_users or groups & found.denied_groups:
        return False
    return found.everyone or user in found.users or bool(groups & found.groups)


def acl(*entries: tuple[int, int, int]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in sorted(entries))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everyone may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def permit(path: Path, random: Random, *, most: int) -> None:
    """Give a file or folder an owner, a group, and a mode or an ACL; the usual ones more often than not."""
    os.chown(path, random.choice(tuple(MEMBERS)), random.choice(GROUPS))
    mode = random.choice((0o755, 0o750, 0o711, 0o700, 0o644, 0o640, 0o604, 0o071, random.randrange(0o1000)))
    path.chmod(mode | (0o111 if most == SEARCH and random.random() < 0.6 else 0))
    if random.random() < 0.4:
        named = [(2, random.randrange(8), user) for user in random.sample(tuple(MEMBERS), random.randrange(3))]
        named += [(8, random.randrange(8), group) for group in random.sample(GROUPS, random.randrange(3))]
        plain = [(tag, random.choice((0, 1, 4, 5, 7)), 0xFFFFFFFF) for tag in (1, 4, 32)]
        mask = [(16, random.choice((0, 5, 7)), 0xFFFFFFFF)] if named else []
        os.setxattr(path, ACL, acl(*named, *plain, *mask))


def of(path: Path, wanted: int) -> Access:
    try:
        found = os.getxattr(path, ACL)
    except OSError:
        found = None
    return access_of(path.stat(), found, wanted)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_nobody_reads_in_principals_what_the_kernel_refuses(place: Path) -> None:
    """Of 400 random files below two folders each; what the kernel grants is missing for denied groups alone."""
    random = Random(47)
    files: dict[str, Readers] = {}
    try:
        os.setxattr(place, ACL, acl((1, 7, 0xFFFFFFFF), (4, 5, 0xFFFFFFFF), (32, 5, 0xFFFFFFFF)))
    except OSError:
        pytest.skip("the file system of temporary files has no ACLs")
    for number in range(400):
        folder = place / f"a{number}" / "b"
        folder.mkdir(parents=True)
        file = folder / "c.md"
        file.write_text("The barnacle.")
        for path in (folder.parent, folder):
            permit(path, random, most=SEARCH)
        permit(file, random, most=READ)
        folders = [of(each, SEARCH) for each in (place, folder.parent, folder)]
        files[str(file)] = readers([*folders, of(file, READ)], Accounts())
    script = 'while read -r file; do if true < "$file"; then echo "$file"; fi; done'
    without_right, missing, right = [], [], 0
    for user, groups in MEMBERS.items():
        answer = subprocess.run(
            ["/bin/sh", "-c", script],
            input="\n".join(files) + "\n",
            capture_output=True,
            text=True,
            check=True,
            user=user,
            group=min(groups),
            extra_groups=sorted(groups),
            cwd="/",
        )
        granted = set(answer.stdout.split())
        right += len(granted)
        for name, found in files.items():
            if sees(found, user) and name not in granted:
                without_right.append((user, name, found))
            elif name in granted and not sees(found, user) and not groups & found.denied_groups:
                missing.append((user, name, found))
    assert not without_right, without_right[:3]
    assert not missing, missing[:3]
    assert right > 200


def test_an_acl_of_an_unknown_form_is_none() -> None:
    """Nothing is read out of it."""
    status = Path(sys.executable).stat()
    plain = [(1, 7, 0xFFFFFFFF), (4, 5, 0xFFFFFFFF), (32, 5, 0xFFFFFFFF)]
    whole = acl(*plain)
    assert access_of(status, whole, READ).others_may
    wrong = [b"", whole[:-1], struct.pack("<I", 3) + whole[4:]]
    wrong += [acl(*plain[:2]), acl(*plain, plain[0]), acl(*plain, (64, 7, 0))]
    for each in wrong:
        with pytest.raises(ValueError, match="unknown form"):
            access_of(status, each, READ)


def test_the_mask_limits_named_users_and_groups_and_not_the_owner() -> None:
    status = Path(sys.executable).stat()
    entries = acl((1, 7, 0), (2, 7, 61001), (4, 7, 0), (8, 7, 62001), (16, 1, 0), (32, 0, 0))
    found = access_of(status, entries, READ)
    assert (found.owner_may, found.users, found.others_may) == (True, ((61001, False),), False)
    assert found.groups == ((status.st_gid, False), (62001, False))


def test_who_passes_by_two_groups_is_named() -> None:
    """A folder of one group and a file of another: members of both, by the machine's accounts."""
    folder = Access(0, True, (), ((62001, True),), False)
    file = Access(0, True, (), ((62002, True),), False)
    found = readers([folder, file], Accounts())
    assert found == Readers(False, frozenset({0, 61002}), frozenset(), frozenset(), frozenset())
