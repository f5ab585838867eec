"""Archives as folders: each file is an attachment, and nothing that is left out goes without a count."""

import random
import tarfile
import time
from collections.abc import Callable

import pytest

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import TAR, ZIP
from sourcebook.parsing.archives import members
from sourcebook.parsing.archives.read_archive import member_content
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.archives.archive_writer import encrypted, tarred, zipped
from tests.unit.parsing.covering import assert_blocks_cover

FILES: dict[str, str | bytes] = {"read me.md": "# Locks\n", "plans/gate.txt": "the gate", "plans/": ""}


def read(content: bytes, name: str) -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


def contents(content: bytes, name: str) -> dict[str, bytes]:
    """Return the bytes of the files that can be read, by their paths."""
    media_type = detect_media_type(name, content[:4096])
    found = {}
    for number, attachment in enumerate(read(content, name).attachments):
        found[attachment.name] = member_content(content, media_type=media_type, number=number)
    return found


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.zip", lambda: zipped(FILES)),
        ("a.tar", lambda: tarred({path: text for path, text in FILES.items() if text})),
        *(
            (f"a.{ending}", lambda kind=kind: tarred({path: text for path, text in FILES.items() if text}, kind=kind))
            for ending, kind in {"tar.gz": "gz", "tgz": "gz", "TAR.BZ2": "bz2", "tar.xz": "xz"}.items()
        ),
    ],
)
def test_each_file_is_an_attachment_with_its_path(name: str, pack: Callable[[], bytes]) -> None:
    """The document of the archive is the list of its files; folders are none."""
    archive = pack()
    document = read(archive, name)
    assert [(each.name, each.media_type, each.size) for each in document.attachments] == [
        ("read me.md", "text/markdown", 8),
        ("plans/gate.txt", "text/plain", 8),
    ]
    assert contents(archive, name) == {"read me.md": b"# Locks\n", "plans/gate.txt": b"the gate"}
    assert document.markdown == "- read me.md\n- plans/gate.txt\n"
    assert document.metadata == {"files": 2}


def test_the_hash_of_a_file_is_that_of_its_bytes() -> None:
    """A file that is the same in another archive is the same document."""
    first, second = read(zipped({"a.md": "same"}), "a.zip"), read(tarred({"b/c.md": "same"}, kind="xz"), "b.txz")
    assert first.attachments[0].sha256 == second.attachments[0].sha256


def test_what_leads_out_of_the_archive_is_left_out_and_counted() -> None:
    """Paths above it, absolute ones, links and devices; hidden files are left out as in a folder."""
    outside = {"../up.txt": "x", "/etc/passwd": "x", "C:\\boot.ini": "x", "a/../../b.txt": "x"}
    hidden = {".git/config": "x", "__MACOSX/._a.md": "x", "a/.DS_Store": "x"}
    kept = {"dir\\file.txt": "kept", "./b.txt": "kept"}
    document = read(zipped({**outside, **hidden, **kept}, links={"link.txt": "/etc/passwd"}), "a.zip")
    assert [each.name for each in document.attachments] == ["dir/file.txt", "b.txt"]
    reasons = ["4 with a path out of the archive", "3 that are hidden", "1 that are links or devices"]
    assert document.metadata == {"files": 2, "unread": reasons, "left_out": {"attachments": 8}}
    assert document.markdown.endswith(f"Files left out: {', '.join(reasons)}.\n")
    kinds = {"s": tarfile.SYMTYPE, "h": tarfile.LNKTYPE, "c": tarfile.CHRTYPE, "f": tarfile.FIFOTYPE}
    document = read(tarred({"../x": "x", "a.txt": "y"}, others=kinds), "a.tar")
    assert [each.name for each in document.attachments] == ["a.txt"]
    assert document.metadata["left_out"] == {"attachments": 5}


def test_names_are_unique_and_letters_are_read() -> None:
    """Two files of one path are told apart; a name in UTF-8 is one although the archive does not say so."""
    archive = tarred({"a/b.txt": "1", "A/B.txt": "2"})
    assert list(contents(archive, "a.tar")) == ["a/b.txt", "A/B (2).txt"]
    named = zipped({"Gr\u00f6\u00dfe.txt": "x"})
    unmarked = bytearray(named)
    for mark, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        unmarked[named.index(mark) + offset] &= ~0x8
    assert [each.name for each in read(bytes(unmarked), "a.zip").attachments] == ["Gr\u00f6\u00dfe.txt"]


def test_archives_in_archives_are_folders() -> None:
    """Down to three levels; a deeper one is counted, and a damaged one fails by itself."""
    deepest = zipped({"x.txt": "x"})
    third = tarred({"fourth.zip": deepest, "c.txt": "3"}, kind="gz")
    second = zipped({"third.tgz": third, "b.txt": "2", "broken.zip": b"PK\x03\x04 no"})
    archive = zipped({"second.zip": second, "a.txt": "1"})
    document = read(archive, "a.zip")
    names = ["second.zip/third.tgz/c.txt", "second.zip/b.txt", "second.zip/broken.zip", "a.txt"]
    assert [each.name for each in document.attachments] == names
    assert document.metadata["unread"] == ["1 that are archives nested more than 3 deep"]
    assert member_content(archive, media_type=ZIP, number=0) == b"3"
    assert member_content(archive, media_type=ZIP, number=3) == b"1"
    with pytest.raises(ParseError, match="archive is damaged"):
        member_content(archive, media_type=ZIP, number=2)


def test_an_encrypted_or_damaged_file_fails_by_itself() -> None:
    """It is an attachment, whose content is refused with the reason."""
    archive = zipped({"a.txt": "secret " * 50})
    for spoilt, failure_class in (
        (encrypted(archive), FailureClass.PASSWORD),
        (archive.replace(archive[40:44], b"\xff\xff\xff\xff", 1), FailureClass.CORRUPT),
    ):
        (attachment,) = read(spoilt, "a.zip").attachments
        assert (attachment.name, attachment.media_type) == ("a.txt", "text/plain")
        with pytest.raises(ParseError) as raised:
            member_content(spoilt, media_type=ZIP, number=0)
        assert raised.value.failure_class is failure_class


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.xz"])
def test_a_damaged_archive_fails_with_its_reason(name: str) -> None:
    """Bytes that are no archive, behind a signature of one."""
    marks = {"a.zip": b"PK\x03\x04", "a.tar.gz": b"\x1f\x8b\x08", "a.tar.xz": b"\xfd7zXZ\x00"}
    with pytest.raises(ParseError, match="the archive is damaged or cut off; copy it again") as raised:
        read(marks.get(name, b"") + b"\x01\x02\x03\x00" * 300, name)
    assert raised.value.failure_class is FailureClass.CORRUPT


def test_what_is_behind_a_damaged_place_is_counted() -> None:
    """tarfile takes a damaged header for the end of the archive."""
    archive = tarred({f"{number}.txt": "x" * 600 for number in range(4)})
    for spoilt in (archive[:3200] + b"?" * 300 + archive[3500:], archive[:4000]):
        document = read(spoilt, "a.tar")
        assert [each.name for each in document.attachments] == ["0.txt", "1.txt"] + ["2.txt"] * (
            spoilt == archive[:4000]
        )
        assert document.metadata["unread"] == ["1 or more behind the place where the archive is damaged or cut off"]


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_files_before_the_place_where_a_compressed_archive_is_cut_off_are_read(kind: str) -> None:
    """They are as many as were unpacked until there."""
    noise = random.Random(0).randbytes(200_000).hex()
    archive = tarred({f"{number}.txt": noise[number * 20_000 :][:20_000] for number in range(20)}, kind=kind)
    document = read(archive[: len(archive) * 3 // 4], f"a.tar.{kind}")
    assert len(document.attachments) >= 10
    assert document.metadata["unread"] == ["1 or more behind the place where the archive is damaged or cut off"]


def test_archives_without_files() -> None:
    """An archive of nothing fails with that reason."""
    for archive, name in ((zipped({}), "a.zip"), (tarred({}), "a.tar")):
        with pytest.raises(ParseError, match="holds no files"):
            read(archive, name)


def test_bombs_are_not_unpacked() -> None:
    """Neither a file that grows a thousandfold, nor a TAR archive of gigabytes of zeros, nor archives in archives."""
    begun = time.process_time()
    bomb = zipped({"zeros.txt": bytes(8 << 20), "small.txt": bytes(1 << 19)})
    document = read(zipped({"bomb.zip": bomb, "a.txt": "a"}), "a.zip")
    assert [each.name for each in document.attachments] == ["bomb.zip/small.txt", "a.txt"]
    assert document.metadata["unread"] == ["1 that unpack to more than 200 times their size"]
    document = read(tarred({"zeros.txt": bytes(8 << 20), "a.txt": "a"}, kind="xz"), "a.tar.xz")
    assert [each.name for each in document.attachments] == ["a.txt"]
    assert time.process_time() - begun < 10


def test_limits_count_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files, and files too large alone or together; numbers stay those of the attachments."""
    files: dict[str, str | bytes] = {f"{number}.txt": f"text {number}" for number in range(5)}
    for name, budget in (("members", members.Budget(members=3)), ("bytes", members.Budget(bytes=15))):
        monkeypatch.setattr(
            "sourcebook.parsing.archives.read_archive.Budget",
            lambda budget=budget: members.Budget(members=budget.members, bytes=budget.bytes),
        )
        document = read(zipped(files), "a.zip")
        assert [each.name for each in document.attachments] == [
            f"{n}.txt" for n in range(3 if name == "members" else 2)
        ]
        assert document.metadata["left_out"] == {"attachments": 5 - len(document.attachments)}
        assert member_content(zipped(files), media_type=ZIP, number=1) == b"text 1"
    monkeypatch.undo()
    monkeypatch.setattr("sourcebook.parsing.archives.tar_members._MOST_UNPACKED", 30_000)
    document = read(tarred({"a.txt": "x" * 9_000, "b.txt": "y" * 90_000, "c.txt": "z"}, kind="gz"), "a.tgz")
    assert [each.name for each in document.attachments] == ["a.txt", "b.txt"]
    assert document.metadata["unread"] == ["1 or more behind the first 1 GiB"]


def test_files_are_read_from_the_archive_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next file of an archive opens it no more, in any order; another archive takes its place."""
    first = tarred({f"{number}.txt": f"text {number}" for number in range(20)}, kind="xz")
    assert member_content(first, media_type=TAR, number=19) == b"text 19"
    with monkeypatch.context() as patched:
        patched.setattr("sourcebook.parsing.archives.read_archive.tar_members", None)
        assert member_content(first, media_type=TAR, number=3) == b"text 3"
    assert member_content(zipped({"a.txt": "other"}), media_type=ZIP, number=0) == b"other"
    monkeypatch.setattr("sourcebook.parsing.archives.read_archive._MOST_KEPT", -1)
    assert member_content(first, media_type=TAR, number=4) == b"text 4"
    monkeypatch.setattr("sourcebook.parsing.archives.tar_members._IN_MEMORY", 100)
    assert member_content(first, media_type=TAR, number=5) == b"text 5"


def test_formats_that_are_packed_alike_are_no_folders() -> None:
    """Only archives by name or without any are opened: a Java program is none, and an app is of an unknown format."""
    archive = zipped({"a.txt": "a"})
    found = {
        name: detect_media_type(name, archive[:4096]) for name in ("a.zip", "a", "a.jar", "a.apk", "a.txt", "a.tar")
    }
    assert found == {
        "a.zip": ZIP,
        "a": ZIP,
        "a.jar": "application/java-archive",
        "a.apk": "application/x-packed",
        "a.txt": ZIP,
        "a.tar": ZIP,
    }
    compressed = tarred({"a.txt": "a"}, kind="gz")
    assert detect_media_type("notes.txt.gz", compressed) == "application/gzip"
    assert detect_media_type("notes.tar.gz", compressed) == TAR
