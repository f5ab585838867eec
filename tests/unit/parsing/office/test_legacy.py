"""Old office formats: identified by their streams, converted by LibreOffice, refused with a reason without it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.media_types import DOC, OLE, PPT, XLS
from sourcebook.parsing.office.legacy.conversion import convert
from sourcebook.parsing.office.legacy.read_legacy import parse_legacy
from sourcebook.parsing.registry import libreoffice
from tests.unit.parsing.office.office_files import ole_file, slides_file, word_file, workbook_file
from tests.waiting import seconds_until_gone, wait_until

needs_libreoffice = pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")
linux = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")


@pytest.fixture
def without_libreoffice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("without_libreoffice")
@pytest.mark.parametrize(
    ("streams", "reason"),
    [
        (("WordDocument",), "damaged or cut off; open it in its program or in LibreOffice and save it as .docx"),
        (("Workbook",), "the file is damaged or cut off"),
        (("Book",), "the file is damaged or cut off"),
        (("EncryptedPackage", "EncryptionInfo"), "protected by a password; save a copy without one"),
        (("Contents",), "OLE file of a program whose documents are not read"),
    ],
)
def test_streams_say_what_an_ole_file_is(streams: tuple[str, ...], reason: str) -> None:
    """Whatever its name was, and without LibreOffice, the reason is the right one."""
    with pytest.raises(ParseError, match=reason):
        parse_legacy(ole_file(*streams), name="a.bin", media_type=OLE)


@pytest.mark.usefixtures("without_libreoffice")
@pytest.mark.parametrize(("media_type", "target"), [(DOC, "docx"), (PPT, "pptx")])
def test_without_libreoffice_it_says_what_to_do(media_type: str, target: str) -> None:
    """A file of another format than its name says, and one that is damaged, are to be saved again."""
    content = word_file()
    with pytest.raises(ParseError, match=f"in LibreOffice and save it as .{target}"):
        parse_legacy(content, name="a", media_type=media_type)


@pytest.mark.parametrize("length", [8, 100, 600, 1100])
def test_damaged_ole_files_say_so(length: int) -> None:
    """A file that is cut off has a reason too."""
    with pytest.raises(ParseError, match=r"damaged or cut off|programs? whose documents"):
        parse_legacy(ole_file("WordDocument")[:length], name="a.doc", media_type=OLE)


def sleeper(folder: Path) -> tuple[Path, Path]:
    """A program that starts another and waits for it, and the file that takes the number of that one."""
    program, number = folder / "soffice", folder / "number"
    program.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {number}.new\nmv {number}.new {number}\nwait\n")
    program.chmod(0o755)
    return program, number


@linux
def test_a_conversion_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """After its time, with a reason."""
    program, number = sleeper(tmp_path)
    with pytest.raises(ParseError, match="did not convert it within 1 s"):
        convert(b"x", program=str(program), ending="doc", target="docx", seconds=1)
    seconds_until_gone(int(number.read_text()))


@linux
def test_a_conversion_ends_with_the_process_that_asked_for_it(tmp_path: Path) -> None:
    """Even where that one is killed outright, as a parser is that took too long."""
    program, number = sleeper(tmp_path)
    code = (
        "from sourcebook.parsing.office.legacy.conversion import convert;"
        f"convert(b'x', program={str(program)!r}, ending='doc', target='docx', seconds=100)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as asker:
        wait_until(lambda: number.exists() and number.read_text().strip(), what="the program runs", seconds=60)
        asker.send_signal(signal.SIGKILL)
    seconds_until_gone(int(number.read_text()))


@linux
def test_a_refusal_is_a_sentence(tmp_path: Path) -> None:
    """A program that makes nothing of the file leaves no trace of itself."""
    program = tmp_path / "soffice"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    with pytest.raises(
        ParseError, match=r"LibreOffice cannot convert it; open it in its program and save it as \.docx"
    ):
        convert(b"x", program=str(program), ending="doc", target="docx")


@needs_libreoffice
@pytest.mark.parametrize(
    ("media_type", "ending", "kind"),
    [
        (DOC, "doc", "docx"),
        (PPT, "ppt", "pptx"),
        (XLS, "xls", "xlsx"),
    ],
)
def test_old_formats_are_read(media_type: str, ending: str, kind: str) -> None:
    """Each by way of the format that replaced it."""
    program = libreoffice() or ""
    content = {"docx": word_file, "pptx": slides_file, "xlsx": workbook_file}[kind]()
    old = convert(content, program=program, ending=kind, target=ending)
    assert "hello" in parse_legacy(old, name=f"a.{ending}", media_type=media_type).markdown
    if ending in {"doc", "ppt", "xls"}:
        assert "hello" in parse_legacy(old, name="a.bin", media_type=OLE).markdown
