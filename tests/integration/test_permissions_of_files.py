"""Who may see what, as owner, group, mode and ACL of files say it."""

import grp
import json
import os
import pwd
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from orchestration.watch import FolderWatch
from sourcebook.files.watching import WatchedSource, changes_at_rest
from sourcebook.stages.raw_files import collection_sources
from tests.integration.stages import Stages
from tests.permissions.counts import wrong_counts
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
DAEMON, BIN = pwd.getpwnam("daemon").pw_uid, grp.getgrnam("bin").gr_gid
UNKNOWN = 61_234
ACL = "system.posix_acl_access"


@pytest.fixture
def base(stages: Stages) -> Iterator[Stages]:
    """A folder that everyone may enter."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    stages.root = place / "docs"
    stages.root.mkdir(mode=0o755)
    configure(stages)
    yield stages
    shutil.rmtree(place)


def configure(stages: Stages, **permissions: Any) -> None:
    folder = {"root": str(stages.root), "allowed": "posix", **permissions}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))


def give(path: Path, owner: int, group: int, mode: int) -> None:
    os.chown(path, owner, group)
    path.chmod(mode)


def seen(stages: Stages, *principals: str) -> set[str | None]:
    return {item.title for item in stages.knowledge.seen_by(principals).documents()}


def look(stages: Stages) -> None:
    """Look at the folder as the sensor does, or `sourcebook status`: nothing is ingested."""
    stages.pending()


def sound(stages: Stages) -> None:
    with stages.connection() as connection:
        assert not list(wrong_counts(connection))


def test_modes_owners_and_groups_are_in_force_at_the_next_look(base: Stages) -> None:
    """No file is parsed and no passage embedded for them; folders above count, too, and unknown numbers have names."""
    for name in ("open.md", "hr/pay.md", "own.md", "none.md"):
        path = base.write(name, f"# {name}\n\nThe barnacle of {name}.")
        give(path, 0, 0, 0o644)
    (base.root / "hr").chmod(0o755)
    give(base.root / "hr/pay.md", 0, BIN, 0o640)
    give(base.root / "own.md", DAEMON, BIN, 0o600)
    give(base.root / "none.md", UNKNOWN, UNKNOWN, 0o440)
    base.run()
    assert seen(base) == {"open.md"}
    assert seen(base, "group:bin") == {"open.md", "hr/pay.md"}
    assert seen(base, "user:daemon") == {"open.md", "own.md"}
    assert seen(base, f"user:uid:{UNKNOWN}") == seen(base, f"group:gid:{UNKNOWN}") == {"open.md", "none.md"}
    hashes = "SELECT uri, hashed_at, touched FROM raw_file ORDER BY uri"
    before = base.rows(hashes)

    (base.root / "open.md").chmod(0o600)
    (base.root / "own.md").chmod(0o644)
    os.chown(base.root / "none.md", 0, BIN)
    look(base)
    assert seen(base) == {"own.md"}
    assert seen(base, "group:bin") == {"own.md", "hr/pay.md", "none.md"}
    (base.root / "hr").chmod(0o700)
    look(base)
    assert seen(base, "group:bin") == {"own.md", "none.md"}
    base.root.parent.chmod(0o700)
    look(base)
    assert seen(base, "group:bin", "user:daemon") == set()
    assert len(seen(base, "user:root")) == 4
    base.root.parent.chmod(0o755)
    look(base)
    assert seen(base) == {"own.md"}
    after = base.rows(hashes)
    assert [row["hashed_at"] for row in after] == [row["hashed_at"] for row in before]
    assert [row["touched"] for row in after] != [row["touched"] for row in before]
    report = base.run()
    assert report["embeddings"].extra["computed"] == 0
    (found,) = base.knowledge.permissions("own.md")
    assert (found.allowed, [each.kind for each in found.reasons]) == (("everyone",), ["file"])
    sound(base)


def test_acls_name_users_and_groups(base: Stages) -> None:
    path = base.write("a.md", "# A\n\nThe barnacle.")
    give(path, 0, 0, 0o600)
    base.run()
    assert seen(base, "user:daemon", "group:bin") == set()
    entries = [(1, 6, 0), (2, 4, DAEMON), (4, 0, 0), (8, 4, BIN), (16, 4, 0), (32, 0, 0)]
    os.setxattr(path, ACL, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries))
    look(base)
    assert seen(base, "user:daemon") == seen(base, "group:bin") == {"A"}
    assert seen(base, "group:daemon") == set()
    path.chmod(0o614)  # the mask lets nobody read: those whom the ACL names read less than others
    look(base)
    assert seen(base) == {"A"}
    assert seen(base, "user:daemon") == seen(base, "group:bin") == set()


def test_until_a_look_nobody_sees_anything(base: Stages) -> None:
    """Settings that change open nothing that the file system has not said; `denied` is denied beside it."""
    path = base.write("a.md", "# A\n\nThe barnacle.")
    give(path, 0, BIN, 0o640)
    configure(base, allowed=["everyone"])
    base.run()
    assert seen(base) == {"A"}
    configure(base)
    assert seen(base, "group:bin", "user:root") == set()
    look(base)
    assert seen(base, "group:bin") == {"A"}
    configure(base, denied=["user:eve"])
    assert seen(base, "group:bin", "user:eve") == set()
    assert seen(base, "group:bin") == {"A"}
    settled = "SELECT 1 FROM listed_folder WHERE digest IS NOT NULL"
    base.raw_files()
    assert base.rows(settled)
    configure(base, allowed=["everyone"])
    assert base.rows(settled) == [], "the next look asks for each file, though the listing is as it was"
    configure(base, allowed=["group:board"])
    path.chmod(0o600)
    configure(base)
    assert seen(base, "group:bin", "group:board") == set()
    look(base)
    assert seen(base, "group:bin") == set()


def test_an_edit_is_read_whatever_the_mode(base: Stages) -> None:
    """A change of mode explains no other content: what was replaced under the same time is found."""
    path = base.write("a.md", "# A\n\nThe barnacle.")
    give(path, 0, 0, 0o644)
    base.run()
    other = base.write("b.md", "# B\n\nThe walruses.")
    status = path.stat()
    other.chmod(0o600)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    base.run()
    assert seen(base, "user:root") == {"B"}
    assert seen(base) == set()


def test_an_edit_in_place_is_read_behind_another_mode(base: Stages) -> None:
    """Size, modification time and inode are as they were: the content alone tells."""
    path = base.write("a.md", "# A\n\nThe barnacle.")
    give(path, 0, 0, 0o644)
    base.run()
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"# B")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    path.chmod(0o600)
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    base.run()
    assert seen(base, "user:root") == {"B"}
    assert seen(base) == set()


def test_links_and_attachments(base: Stages) -> None:
    """A link is read by who may read its target; a file in a message by who may read the message."""
    mail = (
        "From: a@example.com\nSubject: Pay\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nThe barnacle.\n"
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=pay.txt\n\nThe limpet.\n--b--\n"
    )
    give(base.write("hidden/pay.eml", mail), 0, 0, 0o644)
    (base.root / "hidden").chmod(0o755)
    (base.root / "pay.eml").symlink_to("hidden/pay.eml")
    base.run()
    everything = len(base.knowledge.documents())
    assert len(base.knowledge.seen_by([]).documents()) == everything > 2
    (base.root / "hidden").chmod(0o700)
    look(base)
    assert base.knowledge.seen_by([]).documents() == []
    assert len(base.knowledge.seen_by(["user:root"]).documents()) == everything
    sound(base)


def test_the_watch_hears_of_other_modes(base: Stages) -> None:
    """Of a file, and of a folder with files: its comparison of the source is a look."""
    for name in ("a.md", "hr/b.md"):
        give(base.write(name, f"# {name}\n\nThe barnacle."), 0, 0, 0o644)
    (base.root / "hr").chmod(0o755)
    base.run()
    stop = Event()
    heard: set[str] = set()
    with base.connection() as connection:
        (source,) = collection_sources(connection, base.collection)
    watched = WatchedSource(base.collection, source)
    try:
        changes = changes_at_rest([str(base.root)], stop, {})
        next(changes)
        (base.root / "a.md").chmod(0o600)
        (base.root / "hr").chmod(0o700)

        def hear() -> bool:
            heard.update(uri for path in next(changes) for uri in watched.changed_files(path) or ())
            return {base.uri("a.md"), base.uri("hr/b.md")} <= heard

        wait_until(hear)
    finally:
        stop.set()
        changes.close()
    selection = FolderWatch(base.root.parent / "sourcebook.yaml", base.database, Event())._selection(
        base.collection, sorted(heard)
    )
    assert selection is not None
    assert seen(base) == set()
    assert len(seen(base, "user:root")) == 2
