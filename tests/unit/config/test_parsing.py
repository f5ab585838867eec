"""What `parsing:` of a collection promises to the person who writes it."""

from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.loading import load_configuration
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ConfigurationError
from sourcebook.model.media_types import DOCX, HTML, PDF, PLAIN_TEXT
from sourcebook.parsing.registry import parser_identities

MINIMAL = """\
collections:
  papers:
    files:
      - root: ./papers
"""


def read(tmp_path: Path, line: str = "") -> ParsingSettings:
    """Return the settings of the only collection."""
    path = tmp_path / "sourcebook.yaml"
    path.write_text(MINIMAL + (f"    parsing:\n      {line}\n" if line else ""))
    (collection,) = load_configuration(path).collections.values()
    return collection.parsing


def test_nothing_has_to_be_set(tmp_path: Path) -> None:
    """The default needs no models and reads scans too."""
    parsing = read(tmp_path)
    assert (parsing.parser, parsing.models, parsing.ocr) == ("sourcebook", None, True)
    assert parsing.html == "auto"
    assert (parsing.timeout, parsing.longest) == (timedelta(minutes=2), timedelta(hours=1))
    assert parsing.memory_limit == 2_000_000_000


def test_models_have_memory(tmp_path: Path) -> None:
    """docling's models get more, unless the setting says otherwise."""
    assert read(tmp_path, "parser: docling").memory_limit == 4_000_000_000
    assert ParsingSettings(parser="docling", memory=3_000_000_000).memory_limit == 3_000_000_000


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("parser: docling", "parser", "docling"),
        ("html: main", "html", "main"),
        ("html: body", "html", "body"),
        ("html: everything", "html", "everything"),
        ("ocr: false", "ocr", False),
        ("timeout: 10m", "timeout", timedelta(minutes=10)),
        ("longest: 3h", "longest", timedelta(hours=3)),
        ("memory: 8GB", "memory", 8_000_000_000),
        ("models: /opt/models", "models", "/opt/models"),
    ],
)
def test_each_setting_is_read(tmp_path: Path, line: str, name: str, value: object) -> None:
    """Each key of `parsing` arrives typed."""
    assert getattr(read(tmp_path, line), name) == value


def test_a_folder_of_models_is_relative_to_the_file(tmp_path: Path) -> None:
    """It is found from wherever a command runs, as the roots of files are."""
    assert read(tmp_path, "models: ./models") == ParsingSettings(models=str((tmp_path / "models").resolve()))


@pytest.mark.parametrize(
    ("line", "place", "allowed"),
    [
        ("parser: tika", "papers.parsing.parser", "sourcebook or docling"),
        ("html: all", "papers.parsing.html", "auto, main, body or everything"),
        ("ocr: maybe", "papers.parsing.ocr", "true or false"),
        ("timeout: soon", "papers.parsing.timeout", "a duration such as 120s"),
        ("timeout: 0s", "papers.parsing.timeout", "a duration such as 120s"),
        ("memory: 1MB", "papers.parsing.memory", "a size from 500MB"),
        ("pages: 3", "papers.parsing.pages", "parser, models, ocr"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(
    tmp_path: Path, line: str, place: str, allowed: str
) -> None:
    """The message names file, line, column, key and what may stand there."""
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, line)
    message = str(caught.value)
    assert "sourcebook.yaml, line 6, column" in message
    assert place in message
    assert allowed in message


def test_what_a_setting_changes_is_read_again() -> None:
    """The parser's identity follows the settings, for the formats that they concern and for no others."""
    default = parser_identities(ParsingSettings())
    without = parser_identities(ParsingSettings(ocr=False))
    models = parser_identities(ParsingSettings(parser="docling"))
    elsewhere = parser_identities(ParsingSettings(parser="docling", models="/opt/models"))
    patient = parser_identities(ParsingSettings(timeout=timedelta(hours=1), memory=10_000_000_000))
    assert len({default[PDF], without[PDF], models[PDF], elsewhere[PDF]}) == 4
    assert default["image/png"] != without["image/png"]
    assert patient == default
    parts = {part: parser_identities(ParsingSettings(html=part))[HTML] for part in get_args(HtmlPart)}
    assert len(set(parts.values())) == 3
    assert default[HTML] == parts["body"]
    assert default[DOCX] == models[DOCX] != without[DOCX]  # OCR reads its pictures
    assert default[PLAIN_TEXT] == without[PLAIN_TEXT] == models[PLAIN_TEXT]
