"""All parsers together stay within `parsing.memory`, and no document fails that fits into it."""

import base64
from io import BytesIO
from typing import Final

import pytest
from PIL import Image

from benchmarks.harness.child_memory import ChildMemory
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import MARKDOWN, PDF
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.parser_processes import Turn, parser_memory
from sourcebook.processes.worker_pool import WorkerPool
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf
from tests.unit.parsing.pdf.tiny_giants import packed_lines

MAIL: Final = "message/rfc822"
GIGABYTE: Final = 1_000_000_000
_SLACK: Final = 50_000_000
"""Bytes that processes may take between documents, when no limit holds."""


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parsers work at once, whatever the machine."""
    monkeypatch.setattr("sourcebook.parsing.parser_pool.usable_cores", lambda: 2)


def large_mail(megabytes: int) -> bytes:
    """Return a message whose attachment takes fourteen times its size in memory while it is read."""
    attachment = base64.b64encode(bytes(megabytes * 1_000_000))
    return (
        b"Subject: Large\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n"
        b"--b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename=a.bin\n"
        b"Content-Transfer-Encoding: base64\n\n" + attachment + b"\n--b--\n"
    )


def test_parsers_stay_within_the_memory_together() -> None:
    """Two messages that need 700 MB each are parsed one after the other in 1 GB, and both are read."""
    content = large_mail(46)
    with ParserPool() as parsers, ChildMemory() as memory:
        settings = ParsingSettings(memory=GIGABYTE)
        started = [parsers.start(content, name="a.eml", media_type=MAIL, settings=settings) for _ in range(2)]
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=settings)
        assert [parsing.result().title for parsing in (*started, small)] == ["Large", "Large", "Small"]
    assert 6 * _SLACK < memory.peak_data < GIGABYTE + _SLACK


def test_a_tiny_file_that_takes_gigabytes_is_refused_for_it() -> None:
    """It stays within the memory, and fails with the remedy; the document beside it is read."""
    settings = ParsingSettings(memory=GIGABYTE)
    content = packed_lines(400)
    assert len(content) < 1_000
    with ParserPool() as parsers, ChildMemory() as memory:
        giant = parsers.start(content, name="a.pdf", media_type=PDF, settings=settings)
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=settings)
        assert small.result().title == "Small"
        with pytest.raises(ParseError, match=r"more than 1,000 MB of memory; raise parsing\.memory") as failed:
            giant.result()
    assert failed.value.failure_class is FailureClass.MEMORY
    assert 6 * _SLACK < memory.peak_pss < GIGABYTE


@pytest.mark.parametrize(
    ("machine", "settings", "memory"),
    [
        (64 * GIGABYTE, ParsingSettings(), 2 * GIGABYTE),
        (3 * GIGABYTE, ParsingSettings(), 1_500_000_000),
        (GIGABYTE, ParsingSettings(), 1_400_000_000),
        (GIGABYTE, ParsingSettings(memory=3 * GIGABYTE), 3 * GIGABYTE),
        (6 * GIGABYTE, ParsingSettings(parser="docling"), 3 * GIGABYTE),
        (0, ParsingSettings(), 2 * GIGABYTE),
    ],
)
def test_a_small_machine_gives_half_of_its_memory(
    machine: int, settings: ParsingSettings, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has enough for OCR in any case, and a setting is obeyed."""
    monkeypatch.setattr("sourcebook.parsing.parser_processes.usable_memory", lambda: machine)
    assert parser_memory(settings) == memory


def test_a_document_beyond_the_whole_memory_fails() -> None:
    """The sentence names all of the memory and not a share of it, and the documents beside it are read."""
    with ParserPool() as parsers:
        settings = ParsingSettings(memory=GIGABYTE)
        large = parsers.start(large_mail(90), name="a.eml", media_type=MAIL, settings=settings)
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=settings)
        with pytest.raises(ParseError, match=r"needs more than 1,000 MB of memory; raise parsing\.memory"):
            large.result()
        assert small.result().title == "Small"


def test_pages_without_text_are_read_alone() -> None:
    """OCR takes more than half of the memory: a scan does not begin within a share that it would exceed."""
    buffer = BytesIO()
    Image.new("RGB", (200, 100), "white").save(buffer, "PNG")
    page = pdf([[Shown(72, 700, "words that nobody has to recognise")]])
    with ParserPool() as parsers:
        submit = parsers.processes.submit
        widths: list[int] = []

        def recorded(turn: Turn) -> None:
            widths.append(turn.width)
            if turn.width > 1:
                submit(turn)
            else:
                turn.document.set_result(ParsedDocument(markdown="", blocks=()))  # the models need not be loaded

        parsers.processes.submit = recorded  # type: ignore[method-assign] # observes
        for content, media_type in ((page, PDF), (buffer.getvalue(), "image/png"), (page, PDF)):
            parsers.start(content, name="a", media_type=media_type, settings=ParsingSettings()).result()
        assert widths == [2, 2, 1, 2]


@pytest.mark.parametrize(
    ("settings", "cores", "width"),
    [
        (ParsingSettings(), 2, 2),
        (ParsingSettings(), 4, 4),
        (ParsingSettings(), 64, 4),
        (ParsingSettings(memory=GIGABYTE), 4, 2),
        (ParsingSettings(memory=GIGABYTE // 2), 4, 1),
        (ParsingSettings(parser="docling"), 4, 2),
        (ParsingSettings(parser="docling", memory=GIGABYTE), 4, 1),
    ],
)
def test_a_share_is_enough_for_most_documents(
    settings: ParsingSettings, cores: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the parsers at once has 500 MB, or 2 GB with docling's models, at least."""
    monkeypatch.setattr("sourcebook.parsing.parser_pool.usable_cores", lambda: cores)
    assert ParserPool().width(settings) == width


def test_documents_that_wait_when_the_processes_end_are_not_left_waiting() -> None:
    """Also one that none of the processes has received."""
    with ParserPool() as parsers:
        turn = Turn(1, hold)
        waiting = Turn(2, hold)
        parsers.processes.submit(turn)
        parsers.processes.submit(waiting)
    assert waiting.document.done()
    assert waiting.document.exception() is not None


def hold(_pool: WorkerPool, turn: Turn) -> None:
    """Keep the document's place for ever."""
    del turn


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the document's remedy; it is no end of the run."""

    def none(*_: object, **__: object) -> ParsedDocument:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("sourcebook.parsing.parser_processes.WorkerPool", none)
    with ParserPool() as parsers:
        parsing = parsers.start(b"words", name="a.md", media_type=MARKDOWN, settings=ParsingSettings())
        with pytest.raises(ParseError, match=r"no process can be started.*Resource temporarily unavailable.*ingest"):
            parsing.result()
