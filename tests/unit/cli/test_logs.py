"""Log lines: none by default, text or JSON on request, with run and trace id, and never with a password."""

import json
import logging
from collections.abc import Iterator
from typing import NoReturn

import pytest

from sourcebook.cli.logs import show_logs
from sourcebook.errors import ConfigurationError
from sourcebook.telemetry.log_context import log_context


@pytest.fixture(autouse=True)
def _logger() -> Iterator[None]:
    """The library's logger, put back afterwards."""
    logger = logging.getLogger("sourcebook")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers, logger.level, logger.propagate = before[0], before[1], before[2]


def test_the_library_says_nothing_by_itself(capfd: pytest.CaptureFixture[str]) -> None:
    show_logs({})
    logging.getLogger("sourcebook.search").error("search ended with an error")
    assert capfd.readouterr().err == ""


def test_json_lines_carry_run_collection_and_fields(capfd: pytest.CaptureFixture[str]) -> None:
    show_logs({"SOURCEBOOK_LOG_FORMAT": "json"})
    with log_context(run="8f2c", collection="handbook"):
        logging.getLogger("sourcebook.stages").warning("%s failed", "a.md", extra={"documents": [4, 7]})
    line = json.loads(capfd.readouterr().err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "message": "a.md failed",
        "level": "warning",
        "logger": "sourcebook.stages",
        "run": "8f2c",
        "collection": "handbook",
        "documents": [4, 7],
    }


def test_no_password_reaches_a_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the message, nor in a field at any depth, nor in a traceback; also where JSON would escape it."""
    password = 'qu"{}\\tide'.format("ote")  # not as it stands in a line of the traceback
    monkeypatch.setenv("PGPASSWORD", password)
    url = "postgresql://tide:harbour@db/books"
    for wanted in ("json", "text"):
        logging.getLogger("sourcebook").handlers.clear()
        show_logs({"SOURCEBOOK_LOG_FORMAT": wanted})
        try:
            _fail(f"{url} refused {password}")
        except RuntimeError:
            logging.getLogger("sourcebook.database").exception(
                "no answer from %s", url, extra={"tried": [{"url": url}], "password": password}
            )
        said = capfd.readouterr().err
        assert "no answer from postgresql://tide:***@db/books" in said
        assert "RuntimeError" in said
        assert "harbour" not in said
        assert "ote" not in said


def _fail(reason: str) -> NoReturn:
    raise RuntimeError(reason)


def test_text_lines_are_plain(capfd: pytest.CaptureFixture[str]) -> None:
    show_logs({"SOURCEBOOK_LOG_LEVEL": "info"})
    logging.getLogger("sourcebook.stages").info("documents: 3 added", extra={"stage": "documents"})
    logging.getLogger("sourcebook.stages").debug("not this")
    (line,) = capfd.readouterr().err.splitlines()
    assert "documents: 3 added" in line
    assert "stage=documents" in line
    assert "\x1b" not in line


def test_two_calls_show_each_line_once(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        show_logs({"SOURCEBOOK_LOG_FORMAT": "json"})
    logging.getLogger("sourcebook").info("once")
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_value_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="SOURCEBOOK_LOG_FORMAT is 'xml'; it must be one of text, json"):
        show_logs({"SOURCEBOOK_LOG_FORMAT": "xml"})


@pytest.mark.parametrize(
    ("environment", "shown"),
    [({}, ["WARNING", "ERROR"]), ({"SOURCEBOOK_LOG_LEVEL": "error"}, ["ERROR"])],
)
def test_a_server_shows_what_its_answers_refer_to(
    capfd: pytest.CaptureFixture[str], environment: dict[str, str], shown: list[str]
) -> None:
    show_logs(environment, default_level="warning")
    logger = logging.getLogger("sourcebook.server")
    for level in ("INFO", "WARNING", "ERROR"):
        logger.log(getattr(logging, level), "a request said %s", level)
    said = capfd.readouterr().err
    assert [level for level in ("INFO", "WARNING", "ERROR") if f"said {level}" in said] == shown
