"""Scans in letters that RapidOCR does not know, read by Tesseract where a collection names their language."""

import os
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError
from sourcebook.parsing.pdf.ocr import more_scripts
from sourcebook.parsing.pdf.ocr.recognise import recognise
from sourcebook.parsing.registry import parser_identity

RUSSIAN = ("Все люди рождаются свободными и равными", "в достоинстве и правах друг друга", "Server: PostgreSQL 15")
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def page(lines: tuple[str, ...]) -> Image.Image:
    picture = Image.new("RGB", (1200, 60 * len(lines) + 80), "white")
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((40, 40 + 60 * number), line, fill="black", font=ImageFont.truetype(FONT, 30))
    return picture


@pytest.mark.skipif(not FONT.is_file(), reason="there is no font with Cyrillic letters")
@pytest.mark.parametrize("turned", [0, 180])
def test_reads_cyrillic_beside_latin_letters(turned: int) -> None:
    """Each line has the reading that knows more of its letters, also on a page that is upside down."""
    pytest.importorskip("tesserocr")
    try:
        recognised = recognise(page(RUSSIAN).rotate(turned), ("rus",))
    except MissingDependencyError as error:
        pytest.skip(str(error))
    lines = [line.text for line in sorted(recognised.lines, key=lambda line: line.top)]
    assert lines == list(RUSSIAN)
    assert (recognised.rotation, recognised.unread) == (turned, 0)


def test_a_language_without_data_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message names the package of the system, or the package of Python where that is missing, too."""
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"tesseract-ocr-zzz-vert|sourcebook\[ocr\]"):
        recognise(page(("Server",)), ("zzz_vert",))


def test_data_are_found_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`TESSDATA_PREFIX`, as of Tesseract itself, comes before the folders of the system."""
    (tmp_path / "rus.traineddata").touch()
    monkeypatch.setenv("TESSDATA_PREFIX", os.fspath(tmp_path))
    assert more_scripts.data_folder("rus") == tmp_path


def test_languages_parse_scans_again() -> None:
    """Other languages may give other text; files that need no OCR keep their parser."""
    named = ParsingSettings(ocr_languages=("rus",))
    for media_type in ("application/pdf", "image/png"):
        assert parser_identity(media_type, named) != parser_identity(media_type)
    assert parser_identity("text/plain", named) == parser_identity("text/plain")
    without = ParsingSettings(ocr=False, ocr_languages=("rus",))
    assert parser_identity("image/png", without) == parser_identity("image/png", ParsingSettings(ocr=False))


@pytest.mark.parametrize("name", ["../rus", "rus+ara", "", "script/"])
def test_names_of_languages_are_no_paths(name: str) -> None:
    with pytest.raises(ValueError, match="ocr_languages"):
        ParsingSettings(ocr_languages=(name,))
