"""Names of uploads, and the store of their bytes."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import fsspec
import pytest

from sourcebook.errors import UploadError, UploadNameError, UploadSpaceError
from sourcebook.files.reading import file_name
from sourcebook.files.upload_store import (
    UploadStore,
    open_upload,
    remove_upload_bytes,
    store_location,
    upload_path,
)
from sourcebook.model.upload_names import upload_name, upload_tags, upload_uri

BYTES = b"The batteries last fourteen months. " * 1_000
DIGEST = hashlib.sha256(BYTES).digest()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UploadStore:
    monkeypatch.delenv("SOURCEBOOK_UPLOADS", raising=False)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path))
    return UploadStore(store_location(tmp_path))


def files(store: UploadStore) -> list[str]:
    root = Path(store.location)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def sizes(store: UploadStore) -> list[int]:
    return [Path(store.location, name).stat().st_size for name in files(store)]


@pytest.mark.parametrize(
    "name", ["leave.md", "policies/leave.md", "Ümläute & Zeichen?.md", "a" * 255, "..a", "<script>alert(1)</script>x"]
)
def test_a_path_is_a_name(name: str) -> None:
    assert upload_name(name).casefold() == name.casefold()


@pytest.mark.parametrize(
    "name",
    [
        *("", "/etc/passwd", "../secret", "a/../b", "a//b", "a/", "./a", ".", "..", "a/ /b", " .. /a"),
        *("a" * 256, "é" * 128, "a\0b", "a\nb", "a\x7fb", "\ud800", "a\u2028b"),
    ],
)
def test_other_names_are_refused_without_being_repeated(name: str) -> None:
    with pytest.raises(UploadNameError) as refused:
        upload_name(name)
    assert len(name) < 3 or name not in str(refused.value)


def test_a_name_is_one_in_every_form_of_unicode() -> None:
    """A Mac sends the letter and its accent apart."""
    assert upload_name("re\u0301sume\u0301.md") == "r\u00e9sum\u00e9.md"


def test_tags_are_checked() -> None:
    assert upload_tags(["policy", " policy ", "draft"]) == ("policy", "draft")
    for tags in ([""], ["a" * 101], ["a\0"], [str(n) for n in range(51)]):
        with pytest.raises(UploadNameError):
            upload_tags(tags)


def test_the_uri_of_an_upload_keeps_its_name() -> None:
    uri = upload_uri("upload://handbook", "a b/50%#?.md")
    assert uri == "upload://handbook/a%20b/50%25%23%3F.md"
    assert file_name(uri) == "50%#?.md"


def test_bytes_get_one_place_by_their_content(store: UploadStore) -> None:
    for _ in range(2):
        with store.begin() as incoming:
            incoming.write(BYTES[:700])
            incoming.write(BYTES[700:])
            assert (incoming.sha256, incoming.size) == (DIGEST, len(BYTES))
            incoming.publish()
    text = DIGEST.hex()
    assert files(store) == [f"{text[:2]}/{text[2:4]}/{text}"]
    with open_upload(DIGEST, "/nowhere") as file:
        assert file.read() == BYTES
    path = upload_path(DIGEST, "/nowhere")
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    remove_upload_bytes(DIGEST, store.location)
    remove_upload_bytes(DIGEST, store.location)
    assert files(store) == []
    with pytest.raises(FileNotFoundError):
        open_upload(DIGEST, store.location)


def test_a_store_that_others_read_stays_so(tmp_path: Path) -> None:
    """A folder that a person has made for several accounts keeps its mode, and passes it on."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o750)
    store = UploadStore(str(folder))
    with store.begin() as incoming:
        incoming.write(BYTES)
        incoming.publish()
    (path,) = folder.rglob(DIGEST.hex())
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, path.parent, path)] == [0o750, 0o750, 0o640]


def test_bytes_that_are_not_whole_leave_nothing(store: UploadStore) -> None:
    with store.begin() as incoming:
        incoming.write(BYTES)
        assert len(files(store)) == 1
    assert files(store) == []


def test_what_a_killed_process_left_is_deleted_later(store: UploadStore) -> None:
    incoming = store.begin()
    incoming.write(BYTES)
    incoming.finish()
    assert store.remove_abandoned() == 0
    (left,) = Path(store.location).rglob("incoming/*/*")
    os.utime(left, (0, 0))
    assert store.remove_abandoned() == 1
    assert files(store) == []


KILLED = """\
import os, signal, sys
from sourcebook.files.upload_store import UploadStore
UploadStore(sys.argv[1]).begin().write(b"half")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_deleted_by_the_next_upload(store: UploadStore) -> None:
    with store.begin() as own:
        own.write(BYTES)
        assert subprocess.run([sys.executable, "-c", KILLED, store.location], check=False).returncode == -signal.SIGKILL
        assert len(files(store)) == 2
        assert store.remove_unheld() == 1
        own.publish()
    subprocess.run([sys.executable, "-c", KILLED, store.location], check=False)
    subprocess.run([sys.executable, "-c", KILLED, store.location], check=False)
    assert [size for size in sizes(store) if size != len(BYTES)] == [4]


def test_damaged_bytes_are_replaced_by_the_same_upload(store: UploadStore) -> None:
    with store.begin() as incoming:
        incoming.write(BYTES)
        incoming.publish()
    path = upload_path(DIGEST, store.location)
    assert path is not None
    path.write_bytes(b"damaged")
    with store.begin() as incoming:
        incoming.write(BYTES)
        incoming.publish()
    assert path.read_bytes() == BYTES


def test_the_same_bytes_at_once_are_whole(store: UploadStore) -> None:
    def write() -> None:
        with store.begin() as incoming:
            for start in range(0, len(BYTES), 100):
                incoming.write(BYTES[start : start + 100])
            incoming.publish()

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files(store)) == 1
    with open_upload(DIGEST, store.location) as file:
        assert file.read() == BYTES


def test_a_full_disk_is_named_and_leaves_nothing(store: UploadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/full answers every write as a full disk does."""
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, *more: real("/dev/full" if flags & os.O_CREAT else path, flags & ~os.O_EXCL)
    )
    with pytest.raises(UploadSpaceError, match="no space"), store.begin() as incoming:
        incoming.write(BYTES)
    monkeypatch.undo()
    assert files(store) == []


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UploadError, match="SOURCEBOOK_UPLOADS"):
        UploadStore(str(tmp_path / "file")).begin()


def test_bytes_at_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system of fsspec in memory stands for an object store."""
    location = "memory://uploads-of-test"
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", location)
    store = UploadStore(store_location(Path("/unused")))
    assert store.location == location
    for _ in range(2):
        with store.begin() as incoming:
            incoming.write(BYTES)
            incoming.publish()
    with store.begin() as incoming:
        incoming.write(BYTES)

    found = fsspec.filesystem("memory").find("/uploads-of-test")
    assert [path.rpartition("/")[2] for path in found] == [DIGEST.hex()]
    with open_upload(DIGEST, location) as file:
        assert file.read() == BYTES
    fsspec.filesystem("memory").pipe_file(found[0], bytes(len(BYTES)))
    with store.begin() as incoming:
        incoming.write(BYTES)
        incoming.publish()
    with open_upload(DIGEST, location) as file:
        assert file.read() == BYTES  # damaged ones are replaced
    remove_upload_bytes(DIGEST, location)
    with pytest.raises(OSError, match="not in the store"):
        open_upload(DIGEST, location)


def test_a_file_url_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", f"file://{tmp_path}/uploads")
    assert store_location(Path("/unused")) == f"{tmp_path}/uploads"
